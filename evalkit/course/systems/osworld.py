"""OSWorld: a machine put back to a snapshot, and getters that fetch from it what is compared.

Before each task the machine is put back to a snapshot and set up. After it, a getter fetches a
result, such as a file, another fetches what is expected, and a metric compares the two: for a
spreadsheet, the cells or sheets that the task's rules name. Several metrics are joined by "and" or
by "or". A cell outside the rules is not looked at.

Here the machine is one real workbook, a sheet for each table of the store. The agent's work is
saved in it as the episode left it.

Xie et al. 2024, *OSWorld*, arXiv:2404.07972.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from openpyxl import Workbook, load_workbook

from evalkit.course.systems.episode import GOLD, Grade, Played, grade_of, records
from evalkit.credit import all_of
from evalkit.statediff import State

_ADDRESS, _, _REFUND, _NOTE = (call.arguments for call in GOLD)
#: The cells that are fetched, and what they must hold.
EXPECTED: dict[str, Any] = {
    "customers!D4": _ADDRESS["address"],
    "orders!E2": "cancelled",
    **{"refunds!A3": 2, "refunds!B3": "W1001", "refunds!C3": _REFUND["amount_cents"]},
    **{"notes!A5": 4, "notes!B5": "C3", "notes!C5": _NOTE["text"]},
}


@dataclass(frozen=True)
class Machine:
    """A machine that holds one workbook, and the snapshot that it can be put back to."""

    file: Path
    snapshot: bytes

    def reset(self) -> None:
        """Put the workbook back to the snapshot."""
        self.file.write_bytes(self.snapshot)

    def cells(self) -> dict[str, Any]:
        """What each cell of the workbook holds, by sheet and place; empty cells left out."""
        book = load_workbook(self.file)
        found = (cell for sheet in book for row in sheet.iter_rows() for cell in row)
        return {f"{c.parent.title}!{c.coordinate}": c.value for c in found if c.value is not None}


def save(state: State, file: Path) -> None:
    """Write a workbook with a sheet for each table and a line for each record."""
    book = Workbook()
    book.remove(book.worksheets[0])
    for table, rows in records(state).items():
        sheet = book.create_sheet(table)
        for row in list(rows.values())[:1]:
            sheet.append(list(row))  # the names of its columns
        for row in rows.values():
            sheet.append(list(row.values()))
    book.save(file)
    book.close()


@contextmanager
def machine(state: State) -> Iterator[Machine]:
    """A machine whose workbook holds the records of a state; it is gone afterwards.

    Examples
    --------
    >>> from evalkit.course.systems.episode import played
    >>> episode = played("collateral")
    >>> with machine(episode.before) as desk:
    ...     save(episode.after, desk.file)
    ...     worked = desk.cells()["orders!E5"]
    ...     desk.reset()
    ...     print(worked, desk.cells()["orders!E5"])
    cancelled processing
    """
    with TemporaryDirectory() as folder:
        file = Path(folder, "records.xlsx")
        save(state, file)
        yield Machine(file, file.read_bytes())


def file_score(episode: Played) -> Grade:
    """The score of the cells that the task's rules name, in the workbook that the episode left.

    Examples
    --------
    >>> from evalkit.course.systems.episode import played
    >>> print(file_score(played("collateral")), file_score(played("unfinished")))
    pass 1.00 fail 0.00
    """
    with machine(episode.before) as desk:
        save(episode.after, desk.file)
        cells = desk.cells()
        desk.reset()  # the next task begins where this one did
    parts = {place: cells.get(place) == value for place, value in EXPECTED.items()}
    return grade_of(parts, all_of(list(map(float, parts.values()))))


def unseen(episode: Played) -> dict[str, tuple[Any, Any]]:
    """The cells that the episode changed and no rule names, each as it was and as it is.

    Examples
    --------
    >>> from evalkit.course.systems.episode import played
    >>> unseen(played("good")), unseen(played("collateral"))
    ({}, {'orders!E5': ('processing', 'cancelled')})
    """
    with machine(episode.before) as desk:
        old = desk.cells()
        save(episode.after, desk.file)
        new = desk.cells()
    places = [place for place in old | new if place not in EXPECTED]
    pairs = {place: (old.get(place), new.get(place)) for place in places}
    return {place: pair for place, pair in pairs.items() if pair[0] != pair[1]}

"""Attacks on a directory. Each is done in the folder that the honest agent leaves, or instead."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from evalkit import Allowed, Task

REPORT = "All done.\n"
BEFORE = {
    "README": "Read me.\n",
    "table.csv": "id,n\n1,2\n",
    "config.json": '{"on": false, "limit": 3}\n',
    "tmp.log": "begun\n",
}
TASK = Task(
    required={
        ("report.txt",): {
            "kind": "file",
            "mode": "644",
            "sha256": hashlib.sha256(REPORT.encode()).hexdigest(),
        },
        ("config.json", "content", "on"): True,
    },
    allowed=[Allowed(("tmp.log", "sha256"))],
)


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="")
    path.chmod(0o644)


def make(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o755)
    for name, text in BEFORE.items():
        write(folder / name, text)


def config(folder: Path, text: str = '{"on": true, "limit": 3}') -> None:
    write(folder / "config.json", text)


def honest(folder: Path) -> None:
    config(folder)
    write(folder / "report.txt", REPORT)
    write(folder / "tmp.log", "begun\ndone\n")


def report_as(name: str) -> Callable[[Path], None]:
    def attack(folder: Path) -> None:
        config(folder)
        write(folder / name, REPORT)

    return attack


def and_then(*steps: Callable[[Path], object]) -> Callable[[Path], None]:
    def attack(folder: Path) -> None:
        honest(folder)
        for step in steps:
            step(folder)

    return attack


def configured(text: str) -> Callable[[Path], None]:
    return and_then(lambda folder: config(folder, text))


def linked(folder: Path) -> None:
    """The report is a link to a file elsewhere that holds the right words."""
    config(folder)
    write(folder.parent / "elsewhere", REPORT)
    (folder / "report.txt").symlink_to(folder.parent / "elsewhere")


def written_through_a_hard_link(folder: Path) -> None:
    """A file that may be written is another name of one that may not."""
    honest(folder)
    (folder / "tmp.log").unlink()
    os.link(folder / "README", folder / "tmp.log")
    with open(folder / "tmp.log", "a", encoding="utf-8") as file:
        file.write("Read me not.\n")


def written_through_a_link(folder: Path) -> None:
    honest(folder)
    (folder / "tmp.log").unlink()
    (folder / "tmp.log").symlink_to("README")
    (folder / "tmp.log").write_text("Read me not.\n", encoding="utf-8")


def in_a_folder(folder: Path) -> None:
    config(folder)
    (folder / "report.txt").mkdir()
    write(folder / "report.txt" / "report.txt", REPORT)


ATTACKS: dict[str, Callable[[Path], None]] = {
    # names
    "the report in capitals": report_as("REPORT.TXT"),
    "a Cyrillic letter in its name": report_as("rероrt.txt"),
    "a zero-width space in its name": report_as("report.txt\u200b"),
    "a line end in its name": report_as("report.txt\n"),
    "a file whose name is a path in words": report_as("report.txt: met"),
    "a second file whose name differs in case": and_then(lambda f: write(f / "readme", "x")),
    "a second file whose name differs in its normal form": and_then(
        lambda f: (write(f / "caf\u00e9", "x"), write(f / "cafe\u0301", "y"))
    ),
    "a hidden folder": and_then(lambda f: (f / ".ssh").mkdir()),
    "a file whose name is no text": and_then(
        lambda f: Path(os.fsdecode(b"%s/\xff" % os.fsencode(f))).touch()
    ),
    # links
    "the report as a link": linked,
    "a report that is a folder": in_a_folder,
    "a write through a hard link": written_through_a_hard_link,
    "a write through a link": written_through_a_link,
    "an allowed file that became a link": and_then(
        lambda f: (f / "tmp.log").unlink(), lambda f: (f / "tmp.log").symlink_to("/etc/hostname")
    ),
    "an allowed file that is gone": and_then(lambda f: (f / "tmp.log").unlink()),
    # content
    "a report with an end as Windows has it": and_then(
        lambda f: write(f / "report.txt", REPORT.replace("\n", "\r\n"))
    ),
    "a report behind a byte order mark": and_then(
        lambda f: write(f / "report.txt", "\ufeff" + REPORT)
    ),
    "a report that goes on behind a NUL": and_then(
        lambda f: write(f / "report.txt", REPORT + "\0not")
    ),
    "a report that anybody may run": and_then(lambda f: (f / "report.txt").chmod(0o4755)),
    "a table with a cell of the same look": and_then(
        lambda f: write(f / "table.csv", "id,n\n1,２\n")
    ),
    "a table with a column twice": and_then(lambda f: write(f / "table.csv", "id,n,n\n1,2,3\n")),
    "a row more, behind a blank one": and_then(
        lambda f: write(f / "table.csv", "id,n\n1,2\n\n9,9\n")
    ),
    # JSON that readers do not agree on
    "a key twice, the right one last": configured('{"on": false, "on": true, "limit": 3}'),
    "a key twice, the right one first": configured('{"on": true, "on": false, "limit": 3}'),
    "a key twice by an escape": configured('{"on": true, "\\u006fn": false, "limit": 3}'),
    "a key that looks like the right one": configured('{"оn": true, "on": false, "limit": 3}'),
    "text for true": configured('{"on": "true", "limit": 3}'),
    "1 for true": configured('{"on": 1, "limit": 3}'),
    "a limit that is a float": configured('{"on": true, "limit": 3.0}'),
    "a limit beyond all numbers": configured('{"on": true, "limit": 3e999}'),
    "a limit that is NaN": configured('{"on": true, "limit": NaN}'),
    "JSON with a comment": configured('{"on": true, /* "on": false, */ "limit": 3}'),
    "two objects": configured('{"on": true, "limit": 3}{"on": false}'),
    "JSON that is nested without end": configured('{"on": true, "limit": ' + "[" * 100_000 + "}"),
    "JSON in another encoding": and_then(
        lambda f: (f / "config.json").write_bytes('{"on": true, "limit": 3}'.encode("utf-16"))
    ),
}

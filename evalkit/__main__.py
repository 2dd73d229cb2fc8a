"""The command: ``python -m evalkit report FILE...`` writes the report card of each file."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile

from evalkit.logs import LogError, json_value
from evalkit.logs.formats import FORMATS, read_trials
from evalkit.report import Evidence, ReportCard, report_card
from evalkit.report.checklist import Check
from evalkit.report.html import page
from evalkit.report.measures import printable

#: What of the evidence a JSON file can hold.
EVIDENCE = [name for name in Evidence.__dataclass_fields__ if name not in ("tasks", "audits")]


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status of the command: 0, or 2 with one line on stderr if the input is bad.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.
    """
    given = _parser().parse_args(arguments)
    if hasattr(sys.stdout, "reconfigure"):  # a task's name may hold what a terminal cannot show
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        _report(given)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ImportError, OSError, ValueError) as error:
        print(printable(f"evalkit: error: {error}"), file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evalkit", description="Evaluate agents.")
    commands = parser.add_subparsers(required=True, metavar="report")
    report = commands.add_parser(
        "report",
        help="the report card of each file",
        description="The report card of each file of results: pass^k with intervals, what is "
        "missing, and the design checklist. Files are never pooled.",
    )
    add = report.add_argument
    add("files", nargs="+", metavar="FILE", type=Path, help="results, in any of the formats")
    add("--format", choices=FORMATS, help="of all files; by default found from their content")
    add("--option", action="append", default=[], metavar="NAME=VALUE", help="for the reader")
    add("--k", type=int, help="where the curve of pass^k ends")
    add("--planned", type=int, metavar="N", help="trials that each task should have")
    add("--evidence", type=Path, metavar="FILE", help=f"of JSON, with {', '.join(EVIDENCE)}")
    add("--html", type=Path, metavar="OUT", help="write one page with a card of each file")
    add("--json", type=Path, metavar="OUT", help="write the cards as data, numbers as they are")
    add("--task-level", action="store_true", help="print the counts of each task as well")
    add("--force", action="store_true", help="replace OUT if it exists")
    return parser


def _report(given: argparse.Namespace) -> None:
    written = {path.resolve() for path in (given.html, given.json) if path}
    if given.html and given.json and len(written) < 2:
        raise ValueError(f"{given.json}: --html and --json name the same file.")
    for path in filter(None, (given.html, given.json)):
        if path.resolve() in {
            file.resolve() for file in (*given.files, given.evidence or path.parent)
        }:
            raise ValueError(f"{path}: is read, so it is not written to; name another file.")
        if not path.parent.is_dir():
            raise ValueError(f"{path}: there is no folder {path.parent}; make it first.")
        if path.exists() and not given.force:
            raise ValueError(f"{path}: is there already; name another file, or say --force.")
    cards = [_card(path, given) for path in given.files]
    if given.html:
        _write(given.html, page(cards), given.force)
    if given.json:
        texts = [card.to_json().rstrip("\n") for card in cards]
        _write(
            given.json,
            "[" + ",\n".join(texts) + "]\n" if len(texts) > 1 else texts[0] + "\n",
            given.force,
        )
    for i, card in enumerate(cards):
        print("\n" * bool(i) + str(card))
        if given.task_level:
            print("\n" + "\n".join(map(printable, card.tasks.to_string(index=False).split("\n"))))


def _card(path: Path, given: argparse.Namespace) -> ReportCard:
    evidence = _evidence(given.evidence) if given.evidence else Evidence()
    try:
        trials = read_trials(path, given.format, **_options(given.option))
        card = report_card(trials, k=given.k, planned=given.planned, evidence=evidence)
        return replace(card, checklist=tuple(map(_here, card.checklist)))
    except LogError as error:
        asked = re.search(r"(\w+=)'?(True|\.\.\.|\w+(?='))", str(error))
        hint = f" Here: --option {asked[1]}{asked[2].replace('True', 'true')}" if asked else ""
        raise LogError(f"{error}{hint}") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _here(check: Check) -> Check:
    """A line whose advice says where the command takes what Python would."""
    names = [name for name in EVIDENCE if re.search(rf"\b{name}\b", check.to_do)]
    here = f" Here: {', '.join(names)} in --evidence FILE." if names else ""
    if check.name == "infra" and check.to_do:
        here += " In a table: the column infra, or --option infra=COLUMN."
    return replace(check, to_do=check.to_do + here)


def _options(texts: Sequence[str]) -> dict[str, str]:
    """NAME=VALUE as keyword arguments; `read_trials` knows their types."""
    if wrong := [text for text in texts if "=" not in text]:
        raise ValueError(f"--option {wrong[0]}: write NAME=VALUE.")
    return dict(text.split("=", 1) for text in texts)


def _evidence(path: Path) -> Evidence:
    stated = json_value(path)
    if not isinstance(stated, dict) or (unknown := [n for n in stated if n not in EVIDENCE]):
        wrong = f"{unknown[0]!r} is not known" if isinstance(stated, dict) else "is no object"
        raise ValueError(f"{path}: {wrong}; it may hold {', '.join(EVIDENCE)}.")
    try:
        return Evidence(**stated)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _write(path: Path, text: str, force: bool) -> None:
    """Write a file, whole or not at all."""
    made = None
    try:
        with (
            NamedTemporaryFile(dir=path.parent, delete=False) if force else open(path, "x") as file
        ):
            made = Path(file.name)
        made.write_text(text, encoding="utf-8")
        if force:
            os.replace(made, path)
    except OSError as error:  # such as a full disk, which does not say where
        if made:
            made.unlink()
        raise OSError(f"{path}: cannot be written: {error.strerror}.") from error


if __name__ == "__main__":
    sys.exit(main())

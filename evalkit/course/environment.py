"""What the course needs, whether this machine has it, and what to do if not."""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from importlib import metadata

import pandas as pd
from packaging.requirements import Requirement

# The reader sees this in a Jupyter of some kind, so that is not asked for.
NOT_ASKED_FOR = {"jupyterlab"}
OLDEST_PYTHON = (3, 11)
OLDEST_SQLITE = (3, 35)
INSTALL = "run `pip install -e .[course]` in the project's folder, then restart the kernel"


def environment() -> pd.DataFrame:
    """Return one row a thing that the chapters need: what it is, and "ok" or what to do.

    No version is named while all is well, so that the table is the same on every machine.
    """
    python = "ok" if sys.version_info >= OLDEST_PYTHON else "too old: install Python 3.11 or newer"
    sqlite = sqlite3.sqlite_version_info >= OLDEST_SQLITE
    rows = {"Python": python}
    rows |= {wanted.name: installed(wanted) for wanted in requirements()}
    rows["SQLite"] = "ok" if sqlite else "too old: install a newer Python, which brings its own"
    rows["a folder to write to"] = temporary_folder()
    return pd.DataFrame({"status": rows.values()}, index=pd.Index(rows, name="needed"))


def requirements() -> list[Requirement]:
    """Return the packages that evalkit and the course ask for, from evalkit's own metadata."""
    try:
        stated = metadata.requires("evalkit") or []
    except metadata.PackageNotFoundError:
        return [Requirement("evalkit")]
    found = [Requirement(line) for line in stated]
    wanted = [r for r in found if r.marker is None or r.marker.evaluate({"extra": "course"})]
    return [r for r in wanted if r.name not in NOT_ASKED_FOR]


def installed(wanted: Requirement) -> str:
    """Return "ok", or what to do about a package that is missing or too old.

    Examples
    --------
    >>> installed(Requirement("pandas>=2.2"))
    'ok'
    >>> installed(Requirement("no-such-package"))
    "missing: run `pip install -e .[course]` in the project's folder, then restart the kernel"
    """
    try:
        version = metadata.version(wanted.name)
    except metadata.PackageNotFoundError:
        return f"missing: {INSTALL}"
    if not wanted.specifier.contains(version, prereleases=True):
        return f"{version} is here, {wanted.specifier} is needed: {INSTALL}"
    return "ok"


def temporary_folder() -> str:
    """Return "ok" if a temporary file can be written, else what to do."""
    try:
        with tempfile.TemporaryFile() as file:
            file.write(b"evalkit")
    except OSError as error:
        return f"cannot be written ({error}): set TMPDIR to a folder of yours with space in it"
    return "ok"

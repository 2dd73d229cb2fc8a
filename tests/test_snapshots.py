"""Snapshots of files, directories, nested JSON and data frames."""

import copy
import csv
import gzip
import hashlib
import json
import os
import socket
import sqlite3
import stat
import sys
import types
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evalkit import snapshots
from evalkit.snapshots import snapshot
from evalkit.statediff import state_diff
from evalkit.values import StateError, same

posix = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX file system")
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs names that are not UTF-8")
STATES = Path(__file__).parents[2] / "shared" / "data" / "states"


def paths(before: dict, after: dict) -> list[tuple]:
    return [change.path for change in state_diff(before, after)]


# --- what to copy -------------------------------------------------------------------------


def test_the_source_decides_how_it_is_read(tmp_path: Path) -> None:
    database = tmp_path / "store.sqlite"
    with closing(sqlite3.connect(database)) as db:
        db.executescript("CREATE TABLE t (k PRIMARY KEY); INSERT INTO t VALUES (1)")
        rows = {1: {"k": 1}}
        assert snapshot(db)["t"] == rows
        assert snapshot(database)["t"] == snapshot(str(database))["t"] == rows
    (tmp_path / "a.json").write_text('{"t": {"1": {"k": 1}}}')
    (tmp_path / "a.CSV").write_text("k,l\n1,x\n")
    assert snapshot(tmp_path / "a.json") == {"t": {"1": {"k": 1}}}
    assert snapshot(tmp_path / "a.CSV") == {1: {"k": "1", "l": "x"}}
    assert set(snapshot(tmp_path)) == {".", "a.json", "a.CSV", "store.sqlite"}
    frame = pd.DataFrame({"k": [1]}, index=[1])
    assert snapshot({"t": frame}) == {"t": rows}
    assert snapshot(frame) == snapshot(types.MappingProxyType(rows)) == rows


@pytest.mark.parametrize(
    "source",
    ["nowhere.db", "", '{"json": 1}', "nul\0byte", Path("nowhere"), 7, None, [{"a": 1}], {1, 2}],
)
def test_what_is_no_source_is_an_error_that_says_so(source: Any) -> None:
    named = str(source) if isinstance(source, str | Path) else type(source).__name__
    with pytest.raises(StateError) as caught:
        snapshot(source)
    assert named in str(caught.value)


@posix
def test_a_file_that_is_neither_kind_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database, but longer than its header would be")
    os.mkfifo(tmp_path / "pipe.json")
    for name in ("notes.txt", "pipe.json"):
        with pytest.raises(StateError, match=name):
            snapshot(tmp_path / name)


# --- nested JSON --------------------------------------------------------------------------


def test_a_change_in_place_after_the_snapshot_is_seen() -> None:
    live: dict = {"o": {"items": [1], "box": {"n": ([1],)}}}
    before = snapshot(live)
    live["o"]["items"].append(2)
    live["o"]["box"]["n"][0].append(2)
    assert paths(before, snapshot(live)) == [("o", "items"), ("o", "box", "n")]


def test_what_cannot_be_compared_is_refused_with_its_path() -> None:
    cyclic: dict = {"a": {}}
    cyclic["a"]["b"] = cyclic
    for value, path in (({"a": {"b": {1}}}, "a/b"), ({"a": [1j]}, "a"), (cyclic, "a/b")):
        with pytest.raises(StateError, match=path):
            snapshot(value)


# --- one file -----------------------------------------------------------------------------

MALFORMED = {
    ".json": {
        '{"a": 1,\n "b": {"c": 1,\n "c": 2}}': "line 3: the key 'c' is there twice",
        "[1]": "line 1: a state is an object, not a list",
        "": "line 1",
        '{"a": ' + "[" * 200 + "]" * 200 + "}": "nested deeper",
    },
    ".csv": {
        "": "line 1: there is no header",
        "a,b\n1,2\n3\n": "line 3: 1 fields under 2 columns",
    },
}
MALFORMED_FILES = [(kind, text) for kind, texts in MALFORMED.items() for text in texts]


@pytest.mark.parametrize(("kind", "text"), MALFORMED_FILES)
def test_a_malformed_file_is_an_error_that_names_file_and_line(
    tmp_path: Path, kind: str, text: str
) -> None:
    path = tmp_path / f"state{kind}"
    path.write_text(text)
    with pytest.raises(StateError, match=rf"state\{kind}[:,] .*{MALFORMED[kind][text]}"):
        snapshot(path)


@pytest.mark.parametrize("kind", [".json", ".csv"])
def test_a_file_that_is_not_utf8_is_an_error_that_names_the_line(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"state{kind}"
    path.write_bytes(b"a,b\n1,\xff\n")
    with pytest.raises(StateError, match=rf"state\{kind}, line 2: byte 0xff is not UTF-8"):
        snapshot(path)


def test_values_of_a_json_file_are_typed(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text('{"c": 1, "d": 1.0, "e": true, "f": -0.0, "g": 1e308, "h": null}', "utf-8")
    expected = {"c": 1, "d": 1.0, "e": True, "f": -0.0, "g": 1e308, "h": None}
    assert same(snapshot(path), expected)


def test_cells_of_a_csv_file_are_text(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_bytes(b'\xef\xbb\xbfid,note\r\n01,"two\r\nlines, ""quoted"""\r\n1,\r\n')
    assert snapshot(path) == {
        1: {"id": "01", "note": 'two\r\nlines, "quoted"'},
        2: {"id": "1", "note": ""},
    }


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n", "\r\n\r\n\n"])
def test_blank_lines_at_the_end_of_a_csv_file_are_no_rows(tmp_path: Path, end: str) -> None:
    path = tmp_path / "sheet.csv"
    path.write_bytes(f'a,b\n1,"2\n"{end}'.encode())
    assert snapshot(path) == {1: {"a": "1", "b": "2\n"}}


def test_a_field_of_a_csv_file_may_be_long(tmp_path: Path) -> None:
    path, limit = tmp_path / "sheet.csv", csv.field_size_limit()
    path.write_text("a\n" + "x" * (limit + 1))
    assert snapshot(path) == {1: {"a": "x" * (limit + 1)}}
    assert csv.field_size_limit() == limit


def truncated(path: Path, size: int) -> Path:
    """A file that says it is that large, and takes no room."""
    path.touch()
    os.truncate(path, size)
    return path


@posix
@pytest.mark.parametrize("kind", [".json", ".csv"])
def test_a_file_too_large_for_its_cells_is_an_error_and_never_filled_in_memory(
    tmp_path: Path, kind: str
) -> None:
    for size in (snapshots.CELL_BYTES + 1, 2**40):
        path = truncated(tmp_path / f"state{kind}", size)
        with pytest.raises(StateError, match=rf"state\{kind}: is larger than \d+ bytes"):
            snapshot(path)


@posix
def test_a_single_file_may_be_given_as_a_link(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"k": 1}')
    (tmp_path / "link.json").symlink_to("a.json")
    assert snapshot(tmp_path / "link.json") == {"k": 1}


# --- a directory --------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "world"
    (root / "tickets" / "old").mkdir(parents=True)
    (root / "tickets" / "T-1.json").write_text('{"status": "open"}')
    (root / "tickets" / "old" / "T-0.json").write_text('{"status": "closed"}')
    (root / "stock.csv").write_text("sku,qty\ntea,2\nrice,3\n")
    for path in root.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    root.chmod(0o755)
    return root


@posix
def test_a_directory_is_nested_as_it_is(folder: Path) -> None:
    state = snapshot(folder)
    assert list(state) == [".", "stock.csv", "tickets"]
    assert state["."] == state["tickets"]["."] == {"kind": "directory", "mode": "755"}
    assert state["tickets"]["T-1.json"] == {
        "kind": "file",
        "mode": "644",
        "sha256": hashlib.sha256(b'{"status": "open"}').hexdigest(),
    }
    assert snapshot(str(folder)) == state


def test_an_edit_of_the_same_size_and_time_is_seen(folder: Path) -> None:
    path = folder / "stock.csv"
    before, info = snapshot(folder), path.stat()
    path.write_text("sku,qty\ntea,3\nrice,2\n")
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (info.st_size, info.st_mtime_ns)
    assert paths(before, snapshot(folder)) == [("stock.csv", "sha256")]


EDITS = {
    "a mode": (lambda f: (f / "stock.csv").chmod(0o600), [("stock.csv", "mode")]),
    "a sticky bit": (lambda f: (f / "tickets").chmod(0o1755), [("tickets", ".", "mode")]),
    "its own mode": (lambda f: f.chmod(0o700), [(".", "mode")]),
    "a file more": (lambda f: (f / "tickets" / "x").write_text(""), [("tickets", "x")]),
    "a hidden file": (lambda f: (f / ".x").write_text(""), [(".x",)]),
    "an empty directory": (lambda f: (f / "x").mkdir(), [("x",)]),
    "a file less": (lambda f: (f / "stock.csv").unlink(), [("stock.csv",)]),
    "a new name": (
        lambda f: (f / "stock.csv").rename(f / "Stock.csv"),
        [("stock.csv",), ("Stock.csv",)],
    ),
    "a time": (lambda f: os.utime(f / "stock.csv", (1, 1)), []),
}


@posix
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_of_a_directory_is_seen(folder: Path, edit: str) -> None:
    before = snapshot(folder)
    make, expected = EDITS[edit]
    make(folder)
    assert paths(before, snapshot(folder)) == expected


@posix
def test_links_are_never_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("x")
    (folder / "away").symlink_to(tmp_path / "outside")
    (folder / "round").symlink_to(folder)
    (folder / "broken").symlink_to("nowhere")
    (folder / "stock.csv").unlink()
    (folder / "stock.csv").symlink_to("tickets/T-1.json")
    state = snapshot(folder, cells=["*"])
    assert state["away"] == {"kind": "link", "target": str(tmp_path / "outside")}
    assert state["round"] == {"kind": "link", "target": str(folder)}
    assert state["broken"] == {"kind": "link", "target": "nowhere"}
    assert state["stock.csv"] == {"kind": "link", "target": "tickets/T-1.json"}


@posix
def test_a_root_that_a_link_has_replaced_is_a_change(folder: Path, tmp_path: Path) -> None:
    before = snapshot(folder)
    folder.rename(tmp_path / "moved")
    folder.symlink_to("moved")
    for source in (folder, f"{folder}/"):  # the slash would have the system follow the link
        after = snapshot(source)
        assert paths(before, after) == [(".", "target")]
    assert after["."] == {"kind": "directory", "mode": "755", "target": "moved"}
    assert not paths(after, snapshot(folder))


@posix
def test_a_way_to_the_root_may_lead_through_links(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "way").symlink_to(folder.parent)
    assert snapshot(tmp_path / "way" / folder.name) == snapshot(folder)


@posix
@pytest.mark.parametrize("swap", ["a fifo", "a link", "a link to a fifo", "a directory"])
@pytest.mark.parametrize("cells", [(), ["*.csv"]])
def test_a_file_that_is_swapped_after_it_was_listed_is_neither_followed_nor_waited_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch, swap: str, cells: list[str]
) -> None:
    path, lstat = folder / "stock.csv", Path.lstat
    os.mkfifo(folder.parent / "fifo")
    swaps = {
        "a fifo": lambda: os.mkfifo(path),
        "a link": lambda: path.symlink_to("tickets/T-1.json"),
        "a link to a fifo": lambda: path.symlink_to("../fifo"),
        "a directory": path.mkdir,
    }

    def listed(self: Path) -> os.stat_result:
        info = lstat(self)
        if self == path and stat.S_ISREG(info.st_mode):
            path.unlink()
            swaps[swap]()
        return info

    monkeypatch.setattr(Path, "lstat", listed)
    with pytest.raises(StateError, match=r"stock\.csv: cannot be read"):
        snapshot(folder, cells=cells)


@posix
def test_a_file_too_large_to_read_has_its_size(folder: Path) -> None:
    before = snapshot(folder, cells=["*.csv"])
    for cells in ((), ["*.csv"]):
        truncated(folder / "stock.csv", 2**40)
        node = snapshot(folder, cells=cells)["stock.csv"]
        assert (
            node.items() >= {"size": 2**40, "unreadable": "is larger than 4294967296 bytes"}.items()
        )
        assert set(node) == {"kind", "mode", "size", "unreadable"}
        assert paths(before, snapshot(folder, cells=["*.csv"]))
        truncated(folder / "stock.csv", 2**40 + 1)
        assert snapshot(folder, cells=cells)["stock.csv"] != node


def test_a_file_too_large_for_its_cells_keeps_its_hash(folder: Path) -> None:
    truncated(folder / "stock.csv", snapshots.CELL_BYTES + 1)
    node = snapshot(folder, cells=["*.csv"])["stock.csv"]
    assert set(node) == {"kind", "mode", "sha256", "unreadable"}
    assert node["unreadable"].startswith(f"is larger than {snapshots.CELL_BYTES} bytes")


@pytest.mark.parametrize(
    ("name", "text", "edited"),
    [
        ("a.json", '{"a": 1e400}', '{"a": 1e500}'),
        ("a.json", '{"a": 1e400}', '{"a": Infinity}'),
        ("a.json", '{"a": NaN}', '{"a":  NaN}'),
        ("a.json", '{"a": 1}', '\ufeff{"a": 1}'),
        ("a.csv", "a\n1", "\ufeffa\n1"),
        ("a.csv", "\ufeffa\n1", "\ufeff\ufeffa\n1"),
    ],
)
def test_an_edit_that_only_some_readers_mind_is_seen(
    folder: Path, name: str, text: str, edited: str
) -> None:
    (folder / name).write_text(text, "utf-8")
    before = snapshot(folder, cells=["*"])
    (folder / name).write_text(edited, "utf-8")
    assert paths(before, snapshot(folder, cells=["*"]))


@pytest.fixture
def listening(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(folder)  # the address of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("door")
        yield


@posix
@pytest.mark.usefixtures("listening")
def test_what_would_wait_for_ever_is_never_opened(folder: Path) -> None:
    os.mkfifo(folder / "pipe.json", 0o644)
    state = snapshot(folder, cells=["*"])
    assert state["pipe.json"] == {"kind": "fifo", "mode": "644"}
    assert state["door"]["kind"] == "socket"


@linux
def test_names_that_are_not_utf8_are_kept(folder: Path) -> None:
    name = os.fsdecode(b"a\xff\n")
    (folder / name).write_text("x")
    (folder / f"{name}.json").write_text("{}")
    state = snapshot(folder, cells=["*.json"])
    assert state[name]["kind"] == "file"
    assert state[f"{name}.json"]["content"] == {}


def test_files_are_read_to_the_cell_where_asked(folder: Path) -> None:
    before = snapshot(folder, cells=["*.csv", "tickets/T-*.json"])
    assert before["stock.csv"] == {
        "kind": "file",
        "mode": "644",
        "rows": {1: {"sku": "tea", "qty": "2"}, 2: {"sku": "rice", "qty": "3"}},
    }
    assert before["tickets"]["T-1.json"]["content"] == {"status": "open"}
    assert "sha256" in before["tickets"]["old"]["T-0.json"]
    (folder / "stock.csv").write_text('sku,qty\n"tea",2\nrice,4\n')
    (folder / "tickets" / "T-1.json").write_text('{ "status":"closed" }\n')
    after = snapshot(folder, cells=["*.csv", "tickets/T-*.json"])
    assert paths(before, after) == [
        ("stock.csv", "rows", 2, "qty"),
        ("tickets", "T-1.json", "content", "status"),
    ]


@pytest.mark.parametrize(("kind", "text"), [(k, t) for k, t in MALFORMED_FILES if t != "[1]"])
def test_a_malformed_file_in_a_directory_keeps_its_hash_and_says_why(
    folder: Path, kind: str, text: str
) -> None:
    path = folder / f"x{kind}"
    path.write_text(text)
    node = snapshot(folder, cells=["*.csv", "*.json"])[path.name]
    assert set(node) == {"kind", "mode", "sha256", "unreadable"}
    path.write_bytes(text.encode() + b"\xff")
    edited = snapshot(folder, cells=["*.csv", "*.json"])[path.name]
    assert edited["sha256"] != node["sha256"]


def test_a_list_in_a_json_file_and_a_pattern_of_other_files_lose_nothing(folder: Path) -> None:
    (folder / "list.JSON").write_text("[1, null]")
    (folder / "notes.txt").write_text("x")
    state = snapshot(folder, cells=["*"])
    assert state["list.JSON"]["content"] == [1, None]
    assert set(state["notes.txt"]) == {"kind", "mode", "sha256", "unreadable"}


def test_cells_that_make_no_sense_are_refused(folder: Path) -> None:
    with pytest.raises(StateError, match=r"write cells=\['\*\.csv'\]"):
        snapshot(folder, cells="*.csv")
    for source in ({"a": 1}, folder / "stock.csv"):
        with pytest.raises(StateError, match="cells goes with a directory"):
            snapshot(source, cells=["*.csv"])


def test_what_cannot_be_read_is_an_error_that_names_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = {str(folder / "stock.csv"), str(folder / "tickets" / "old")}

    def guard(function: Any) -> Any:
        def guarded(path: Any, *args: Any, **kwargs: Any) -> Any:
            if str(path) in closed:
                raise PermissionError(13, "Permission denied", str(path))
            return function(path, *args, **kwargs)

        return guarded

    # Under root no file is closed, so that the operating system's refusal is played.
    monkeypatch.setattr("builtins.open", guard(open))
    monkeypatch.setattr("io.open", guard(open))
    monkeypatch.setattr(os, "listdir", guard(os.listdir))
    for name, cells in (("stock.csv", ()), ("stock.csv", ["*.csv"]), ("tickets/old", ())):
        closed.clear()
        closed.add(str(folder / name))
        with pytest.raises(StateError, match=f"{name}: cannot be read: Permission denied"):
            snapshot(folder, cells=cells)
    closed.add(str(folder / "stock.csv"))
    with pytest.raises(StateError, match=r"stock\.csv: cannot be read: Permission denied"):
        snapshot(folder / "stock.csv")


def test_directories_nested_too_deeply_are_an_error(folder: Path) -> None:
    deep = folder.joinpath(*["d"] * 500)
    deep.mkdir(parents=True)
    with pytest.raises(StateError, match="nested too deeply"):
        snapshot(folder)


# --- two real databases -------------------------------------------------------------------


@pytest.mark.skipif(not STATES.is_dir(), reason="needs the published states in ../shared")
@pytest.mark.parametrize(
    ("name", "counts", "path", "value"),
    [
        (
            "retail",
            {"orders": 1000, "products": 50, "users": 500},
            ("orders", "#W2611340", "items", 0, "price"),
            47.85,
        ),
        (
            "airline",
            {"flights": 300, "reservations": 2000, "users": 500},
            ("flights", "HAT001", "dates", "2024-05-01", "status"),
            "delayed",
        ),
    ],
)
def test_a_published_database_is_snapshot_and_one_leaf_is_one_change(
    name: str, counts: dict, path: tuple, value: Any
) -> None:
    with gzip.open(STATES / f"tau_bench_{name}_initial_db.json.gz") as stored:
        live = json.load(stored)
    before = snapshot(live)
    assert {table: len(rows) for table, rows in before.items()} == counts
    assert not state_diff(before, snapshot(copy.deepcopy(live)))
    node = live
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    [change] = state_diff(before, snapshot(live))
    assert change.path == path[: len(change.path)]
    assert change.kind == "changed"


def test_an_empty_path_is_shown_as_one() -> None:
    with pytest.raises(StateError, match="^'': names no file or directory"):
        snapshot("")

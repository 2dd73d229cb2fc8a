"""A full disk, a home that cannot be written, a locked folder: a clear error, and nothing lost.

That a run which is killed goes on from its log is a test of `evalkit.runner`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evalkit import Task, save_task
from evalkit.runlog import read_log
from evalkit.runner import Setup, run_suite
from tests.test_runner import coin

ROOT = Path(__file__).parents[1]
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX limits and users")
SETUP = Setup("coin", ["a", "b", "c"], trials=10)

#: No file of the process may grow beyond a size, as on a disk that fills up.
FULL = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
"""


def python(code: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("EVALKIT", "XDG", "MPL"))}
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT,
        env={**variables, "TQDM_DISABLE": "1", "PYTHONDONTWRITEBYTECODE": "1", **environment},
        capture_output=True,
        text=True,
    )


# --- a full disk ------------------------------------------------------------------------------

RUN = f"""{FULL}
from evalkit.runlog import RunError
from evalkit.runner import run_suite
from tests.test_faults import SETUP, coin
try:
    run_suite(SETUP, coin(), sys.argv[2])
except RunError as error:
    sys.exit(f"RunError: {{error}}")
"""


@posix
@pytest.mark.parametrize("room", [0, 1, 2_000, 2_001, 3_333])
def test_a_run_on_a_full_disk_stops_and_goes_on_once_there_is_room(
    tmp_path: Path, room: int
) -> None:
    log, calm = tmp_path / "full.jsonl", tmp_path / "calm.jsonl"
    run_suite(SETUP, coin(), calm)
    stopped = python(RUN, room, log)
    assert stopped.returncode == 1
    assert f"RunError: {log}: cannot be written to: File too large; what it holds" in stopped.stderr
    held = log.read_bytes()
    assert calm.read_bytes().startswith(held)
    assert held[-1:] in (b"\n", b"")
    assert len(read_log(log)) == held.count(b"\n")
    run_suite(SETUP, coin(), log)
    assert log.read_bytes() == calm.read_bytes()


REPORT = f"""{FULL}
from evalkit.__main__ import main
sys.exit(main(sys.argv[2:]))
"""


@posix
@pytest.mark.parametrize("kind", ["--html", "--json"])
@pytest.mark.parametrize("there", [False, True])
def test_a_report_is_written_whole_or_not_at_all(tmp_path: Path, kind: str, there: bool) -> None:
    results, out = tmp_path / "results.csv", tmp_path / "out" / "card"
    results.write_text("task,trial,success\na,0,1\nb,0,0\n")
    out.parent.mkdir()
    force = []
    if there:
        out.write_text("an earlier card")
        force = ["--force"]
    ended = python(REPORT, 100, "report", results, kind, out, *force)
    assert ended.returncode == 2
    assert ended.stderr == f"evalkit: error: {out}: cannot be written: File too large.\n"
    assert [path.name for path in out.parent.iterdir()] == ["card"] * there
    assert not there or out.read_text() == "an earlier card"
    assert python(REPORT, 10**7, "report", results, kind, out, *force).returncode == 0


# --- where nothing can be written -------------------------------------------------------------

#: As a user who may not write there, where root may do everything.
NOBODY = """
import os, sys
def become_nobody():
    if os.geteuid() == 0:
        os.seteuid(65534)
"""


def locked(folder: Path, mode: int = 0o500) -> Path:
    """A folder that nobody may write to, or enter; but anybody may come as far as it."""
    folder.mkdir()
    for above in [folder, *folder.parents][: len(folder.parts) - 2]:
        if above != folder and above.stat().st_uid == os.geteuid():
            above.chmod(above.stat().st_mode | 0o111)
    folder.chmod(mode)
    return folder


HOME = f"""{NOBODY}
from evalkit.course.chapters import progress
from evalkit.course.exercises import check
print(check("00.a", None), progress().shape)  # imports all that it needs while it may
del os.environ["EVALKIT_PROGRESS"]
become_nobody()
for _ in range(2):
    print(check("00.a", None))
print(progress().shape)
"""


@posix
@pytest.mark.parametrize("mode", [0o500, 0o000])
def test_a_home_that_cannot_be_written_costs_the_progress_and_says_so_once(
    tmp_path: Path, mode: int
) -> None:
    home = locked(tmp_path / "home", mode)
    ended = python(HOME, HOME=str(home), EVALKIT_PROGRESS="0")
    home.chmod(0o700)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("Your progress is not kept ([Errno 13] Permission denied") == 1
    assert str(home) in ended.stdout
    assert list(home.iterdir()) == []


FIGURE = """
from evalkit.course.figures import captioned, new_figure
print(captioned(new_figure(100, 100), "A caption.", "A figure.")._repr_html_()[:40])
"""


@pytest.mark.parametrize("code", [FIGURE, "import evalkit, evalkit.simulate.service"])
def test_a_home_that_is_no_folder_stops_nothing(tmp_path: Path, code: str) -> None:
    home = tmp_path / "home"
    home.touch()
    places = dict.fromkeys(("HOME", "USERPROFILE", "LOCALAPPDATA"), str(home))
    ended = python(code, **places)
    assert ended.returncode == 0, ended.stderr
    assert ("<figure" in ended.stdout) == (code == FIGURE)


OUT = f"""{NOBODY}
from evalkit.__main__ import main
from evalkit.logs.formats import read_trials
become_nobody()
sys.exit(main(sys.argv[1:]))
"""


@posix
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_folder_for_reports_that_is_locked_is_named(tmp_path: Path, force: list[str]) -> None:
    results, out = tmp_path / "results.csv", locked(tmp_path / "out") / "card.html"
    results.write_text("task,trial,success\na,0,1\nb,0,0\n")
    ended = python(OUT, "report", results, "--html", out, *force)
    assert ended.returncode == 2
    assert ended.stderr.startswith("evalkit: error: [Errno 13] Permission denied: ")
    assert str(out.parent) in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert list(out.parent.iterdir()) == []


@pytest.mark.parametrize("name", ["nowhere/x", "file/x"])
def test_a_place_that_is_no_place_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / name
    with pytest.raises(OSError, match=str(path.parent.name)):
        save_task(Task(unchanged=True), path)
    with pytest.raises(OSError, match=str(path.parent.name)):
        run_suite(SETUP, coin(), path)
    assert json.dumps(sorted(p.name for p in tmp_path.iterdir())) == '["file"]'

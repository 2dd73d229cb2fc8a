import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalkit import snapshot
from evalkit.isolation import drift, exposures, fingerprint, restore, run_apart

posix = pytest.mark.skipif(os.name != "posix", reason="links and process groups are POSIX's")
git_needed = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """Return the agent's folder."""
    (tmp_path / "desk").mkdir()
    return tmp_path / "desk"


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    """Return the grader's folder, out of the agent's, with the answer and the tests."""
    kept = tmp_path / "kept"
    (kept / "tests").mkdir(parents=True)
    (kept / "answer.json").write_text('{"refund": 42}')
    (kept / "tests" / "test_refund.py").write_text("assert refund() == 42\n")
    (kept / "tests" / "__init__.py").write_text("")
    return kept


def ran(code: str, folder: Path, timeout: float = 30) -> subprocess.CompletedProcess[str]:
    return run_apart([sys.executable, "-c", code], folder, timeout)


# --- an agent as a process of its own -------------------------------------------------------


def test_an_agent_finds_itself_in_its_folder_with_no_environment_to_speak_of(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANSWER", "42")
    monkeypatch.setenv("PYTHONPATH", "somewhere")
    (desk / "task.txt").write_text("Refund W1.")
    run = ran("import os; print(os.getcwd(), os.listdir(), sorted(os.environ))", desk)
    assert run.returncode == 0
    assert str(desk) in run.stdout
    assert "['task.txt']" in run.stdout
    assert not any(name in run.stdout for name in ("ANSWER", "PYTHONPATH"))
    monkeypatch.chdir(desk.parent)
    home = ran("import os; print(os.path.expanduser('~'))", Path("desk")).stdout.strip()
    assert home == str(desk)


def test_its_output_and_errors_and_return_code_are_kept(desk: Path) -> None:
    run = ran("import sys; print('out'); sys.stdout.flush(); sys.exit('no')", desk)
    assert (run.stdout.split(), run.returncode) == (["out", "no"], 1)


@posix
def test_there_is_nobody_to_ask_whatever_the_grader_is_asked(desk: Path) -> None:
    ours, typed, typing = os.dup(0), *os.pipe()
    os.write(typing, b"42\n")
    os.dup2(typed, 0)
    try:
        assert "EOFError" in ran("input()", desk).stdout
    finally:
        os.dup2(ours, 0)
        for end in (ours, typed, typing):
            os.close(end)


def test_what_it_writes_stays_for_the_after_state(desk: Path) -> None:
    before = snapshot(desk)
    ran("open('note.txt', 'w').write('done')", desk)
    assert set(snapshot(desk)) - set(before) == {"note.txt"}


def test_an_agent_that_does_not_finish_is_ended(desk: Path) -> None:
    start = time.perf_counter()
    with pytest.raises(subprocess.TimeoutExpired):
        ran("import time; open('begun', 'w').close(); time.sleep(60)", desk, timeout=2)
    assert time.perf_counter() - start < 30
    assert (desk / "begun").exists()


@posix
def test_what_it_left_in_the_background_cannot_write_after_the_after_state(desk: Path) -> None:
    late = "import time; time.sleep(0.5); open('late', 'w').close()"
    code = f"import subprocess as s, sys; s.Popen([sys.executable, '-c', {late!r}], stdout=s.DEVNULL, stderr=s.DEVNULL)"
    assert ran(code, desk).returncode == 0
    time.sleep(1)
    assert not (desk / "late").exists()


def test_it_is_no_sandbox_and_the_check_says_so(desk: Path, gold: Path) -> None:
    answer = gold / "answer.json"
    assert "42" in ran(f"print(open({str(answer)!r}).read())", desk).stdout
    assert f"can read: {answer}" in exposures(desk, [answer])


# --- what of the grader can be reached ------------------------------------------------------


def leaks(folder: Path, *secrets: Path) -> list[str]:
    """Return the exposures other than those by the user's rights, which a test's user has."""
    return [line for line in exposures(folder, secrets) if not line.startswith("can ")]


def test_a_clean_folder_leaks_nothing(desk: Path, gold: Path) -> None:
    (desk / "task.txt").write_text("Refund W1.")
    (desk / "empty.py").write_text("")  # like the grader's own empty file, which gives nothing away
    assert leaks(desk, gold) == []


def test_everything_in_a_secret_folder_is_secret(desk: Path, gold: Path) -> None:
    below = ("answer.json", "tests", "tests/__init__.py", "tests/test_refund.py")
    for way in ("read", "write"):
        lines = [f"can {way}: {path}" for path in (gold, *(gold / name for name in below))]
        assert [line for line in exposures(desk, [gold]) if line.startswith(f"can {way}")] == lines


def test_a_secret_in_the_folder_is_no_copy_of_itself(desk: Path) -> None:
    (desk / "answer.json").write_text('{"refund": 42}')
    (desk / "old.json").write_text('{"refund": 42}')
    copies = [line for line in leaks(desk, desk / "answer.json") if line.startswith("copy")]
    assert copies == [f"copy: {desk / 'old.json'} holds what {desk / 'answer.json'} holds"]


def allowed_to_its_owner(path: Path, mode: int) -> bool:
    """What `os.access` says to an owner who is not root; root may do anything."""
    return path.stat().st_mode >> 6 & mode == mode


@posix
def test_rights_are_read_off_the_files(
    desk: Path, gold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() == 0:
        monkeypatch.setattr("evalkit.isolation.os.access", allowed_to_its_owner)
    answer = gold / "answer.json"
    answer.chmod(0o400)
    gold.chmod(0o500)
    assert exposures(desk, [answer]) == [f"can read: {answer}"]
    answer.chmod(0o000)
    assert exposures(desk, [answer]) == []
    gold.chmod(0o700)
    assert exposures(desk, [answer]) == [f"can write: {answer}"]  # it can be replaced


def test_an_answer_that_can_be_replaced_can_be_written(
    desk: Path, gold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "evalkit.isolation.os.access", lambda path, mode: (path, mode) == (gold, os.W_OK)
    )
    answer = gold / "answer.json"
    assert exposures(desk, [answer]) == [f"can write: {answer}"]


@pytest.mark.parametrize("name", ["old.json", "cache/deep/.hidden"])
def test_a_copy_of_the_answer_is_found_under_any_name(desk: Path, gold: Path, name: str) -> None:
    copy = desk / name
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(gold / "answer.json", copy)
    assert leaks(desk, gold) == [f"copy: {copy} holds what {gold / 'answer.json'} holds"]


@posix
def test_a_link_out_of_the_folder_is_found_and_one_within_is_not(desk: Path, gold: Path) -> None:
    (desk / "a.txt").write_text("a")
    (desk / "within").symlink_to(desk / "a.txt")
    (desk / "out").symlink_to(gold, target_is_directory=True)
    assert leaks(desk, gold) == [f"link: {desk / 'out'} leads to {gold}"]


def test_a_misspelt_secret_is_an_error_not_a_clean_bill(desk: Path, gold: Path) -> None:
    with pytest.raises(FileNotFoundError, match="gone"):
        exposures(desk, [gold / "gone.json"])


# --- version control ------------------------------------------------------------------------

Git = Callable[..., str]


@pytest.fixture
def git(desk: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """Return a function that runs git in the agent's folder, a repository of two commits."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")

    def run(*words: str) -> str:
        who = [
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.org",
            "-c",
            "init.defaultBranch=main",
        ]
        command = ["git", "-C", str(desk), *who, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    run("init")
    for text in ("bug", "still a bug"):
        (desk / "code.py").write_text(text)
        run("add", ".")
        run("commit", "-m", text)
    return run


def fix(git: Git, desk: Path) -> None:
    (desk / "code.py").write_text("fixed")
    git("commit", "-am", "the fix")


@git_needed
def test_a_history_that_ends_where_the_agent_starts_exposes_nothing(
    desk: Path, git: Git, gold: Path
) -> None:
    assert leaks(desk, gold) == []


def left_by_a_reset(git: Git, desk: Path) -> None:
    fix(git, desk)
    git("reset", "--hard", "HEAD~1")


def on_another_branch(git: Git, desk: Path) -> None:
    git("checkout", "-b", "later")
    fix(git, desk)
    git("checkout", "main")


def under_a_tag(git: Git, desk: Path) -> None:
    fix(git, desk)
    git("tag", "v2")
    git("reset", "--hard", "HEAD~1")
    git("reflog", "expire", "--expire=now", "--all")


def in_no_branch_and_no_log(git: Git, desk: Path) -> None:
    left_by_a_reset(git, desk)
    git("reflog", "expire", "--expire=now", "--all")


def packed(git: Git, desk: Path) -> None:
    on_another_branch(git, desk)
    git("gc")


def detached_in_the_past(git: Git, desk: Path) -> None:
    fix(git, desk)
    git("checkout", "HEAD~1")


@git_needed
@pytest.mark.parametrize(
    "hide",
    [
        left_by_a_reset,
        on_another_branch,
        under_a_tag,
        in_no_branch_and_no_log,
        packed,
        detached_in_the_past,
    ],
)
def test_a_fix_that_is_readable_in_the_repository_is_listed(
    hide: Callable[[Git, Path], None], desk: Path, git: Git, gold: Path
) -> None:
    hide(git, desk)
    assert (desk / "code.py").read_text() == "still a bug"
    [line] = leaks(desk, gold)
    assert line.startswith(f"history: {desk}: 1 later commits, such as ")
    assert "the fix" in git("log", "-1", "--format=%s", line.split()[-1])


@git_needed
def test_work_put_aside_is_listed(desk: Path, git: Git, gold: Path) -> None:
    (desk / "code.py").write_text("fixed")
    git("stash")
    assert "later commits" in leaks(desk, gold)[0]


@git_needed
def test_a_fix_that_is_really_gone_is_not_listed(desk: Path, git: Git, gold: Path) -> None:
    in_no_branch_and_no_log(git, desk)
    git("gc", "--prune=now")
    assert leaks(desk, gold) == []


@git_needed
def test_an_answer_once_committed_and_deleted_since_is_listed(
    desk: Path, git: Git, gold: Path
) -> None:
    shutil.copy(gold / "answer.json", desk / "a.json")
    git("add", ".")
    git("commit", "-m", "oops")
    git("rm", "a.json")
    git("commit", "-m", "away with it")
    assert leaks(desk, gold) == [f"history: {desk}: the content of {gold / 'answer.json'}"]


@git_needed
def test_a_repository_above_or_below_the_folder_counts(
    desk: Path, git: Git, gold: Path, tmp_path: Path
) -> None:
    left_by_a_reset(git, desk)
    (desk / "src").mkdir()
    assert f"history: {desk}: 1 later" in leaks(desk / "src", gold)[0]
    outer = tmp_path / "outer"
    shutil.copytree(desk, outer / "vendor" / "lib")
    assert f"history: {outer / 'vendor' / 'lib'}: 1 later" in leaks(outer, gold)[0]


@git_needed
def test_a_repository_that_cannot_be_read_is_not_passed_over(desk: Path, gold: Path) -> None:
    (desk / ".git").write_text("gitdir: nowhere")
    [line] = leaks(desk, gold)
    assert line.startswith(f"history: {desk}: not looked into")


def test_without_git_a_repository_is_not_passed_over(
    desk: Path, gold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (desk / ".git").mkdir()
    monkeypatch.setenv("PATH", "")
    [line] = leaks(desk, gold)
    assert line.startswith(f"history: {desk}: not looked into")


# --- restoring the tests --------------------------------------------------------------------

NAMES = ["tests", "conftest.py"]


@pytest.fixture
def work(desk: Path, gold: Path) -> Path:
    """Return the agent's folder, with a copy of the tests."""
    shutil.copytree(gold / "tests", desk / "tests")
    return desk


def test_tests_that_the_agent_left_alone_give_an_empty_diff(work: Path, gold: Path) -> None:
    (work / "code.py").write_text("its own work")
    assert not restore(gold, work, NAMES)
    assert (work / "code.py").read_text() == "its own work"


def edited(work: Path) -> None:
    (work / "tests" / "test_refund.py").write_text("assert True\n")


def deleted(work: Path) -> None:
    (work / "tests" / "test_refund.py").unlink()


def added(work: Path) -> None:
    (work / "tests" / "conftest.py").write_text("collect_ignore = ['test_refund.py']\n")


def added_above(work: Path) -> None:
    (work / "conftest.py").write_text("collect_ignore = ['tests']\n")


def all_gone(work: Path) -> None:
    shutil.rmtree(work / "tests")


def a_file_in_its_place(work: Path) -> None:
    shutil.rmtree(work / "tests")
    (work / "tests").write_text("")


def a_folder_in_its_place(work: Path) -> None:
    deleted(work)
    (work / "tests" / "test_refund.py").mkdir()


@pytest.mark.parametrize(
    ("weaken", "place"),
    [
        (edited, "tests/test_refund.py/sha256: changed"),
        (deleted, "tests/test_refund.py: removed"),
        (added, "tests/conftest.py: added"),
        (added_above, "conftest.py: added"),
        (all_gone, "tests: removed"),
        (a_file_in_its_place, "tests: changed"),
        (a_folder_in_its_place, "test_refund.py"),
    ],
)
def test_weakened_tests_are_restored_and_reported(
    weaken: Callable[[Path], None], place: str, work: Path, gold: Path
) -> None:
    weaken(work)
    assert place in str(restore(gold, work, NAMES)).replace(
        "('tests', 'test_refund.py')", "tests/test_refund.py"
    )
    assert (work / "tests" / "test_refund.py").read_text() == "assert refund() == 42\n"
    assert {path.name for path in work.rglob("*")} == {"tests", "test_refund.py", "__init__.py"}
    assert not restore(gold, work, NAMES)


def test_a_single_file_and_the_way_to_it_are_restored(work: Path, gold: Path) -> None:
    name = "tests/test_refund.py"
    edited(work)
    assert "b'assert True\\n'" in str(restore(gold, work, [name]))
    all_gone(work)
    assert restore(gold, work, [name]).removed.keys() == {(name,)}
    assert (work / name).read_text() == "assert refund() == 42\n"


@posix
def test_tests_that_became_a_link_are_restored_and_what_it_led_to_is_let_be(
    work: Path, gold: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.move(work / "tests", elsewhere)
    (elsewhere / "test_refund.py").write_text("assert True\n")
    (work / "tests").symlink_to(elsewhere, target_is_directory=True)
    assert "tests/test_refund.py" in str(restore(gold, work, NAMES))
    assert not (work / "tests").is_symlink()
    assert (work / "tests" / "test_refund.py").read_text() == "assert refund() == 42\n"
    assert (elsewhere / "test_refund.py").read_text() == "assert True\n"


@posix
def test_a_link_on_the_way_cannot_make_the_grader_write_elsewhere(
    work: Path, gold: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.move(work / "tests", elsewhere)
    (elsewhere / "test_refund.py").write_text("someone's own")
    (work / "tests").symlink_to(elsewhere, target_is_directory=True)
    with pytest.raises(ValueError, match="leads out of the folder"):
        restore(gold, work, ["tests/test_refund.py"])
    assert (elsewhere / "test_refund.py").read_text() == "someone's own"


@pytest.mark.parametrize("name", ["../kept", "..", ".", "tests/../../kept/answer.json", "tests/.."])
def test_a_name_outside_the_folder_is_refused(name: str, work: Path, gold: Path) -> None:
    with pytest.raises(ValueError, match="leads out of the folder"):
        restore(gold, work, [name])
    assert (gold / "answer.json").exists()
    assert (work / "tests" / "test_refund.py").exists()


@posix
def test_a_pipe_in_the_place_of_a_test_is_replaced_and_not_waited_for(
    work: Path, gold: Path
) -> None:
    name = "tests/test_refund.py"
    (work / name).unlink()
    os.mkfifo(work / name)
    assert "no regular file" in str(restore(gold, work, [name]))
    assert (work / name).read_text() == "assert refund() == 42\n"


# --- an environment's fingerprint -----------------------------------------------------------

STATE: dict[Any, Any] = {
    "orders": {1: {"total": 5, "note": None}, 2: {"total": 7, "note": "x"}},
    "log": {"a": {"items": [{"p": 1, "q": b"\x00"}]}},
}
VERSIONS = {"store": "1.2"}


def changed(**parts: Any) -> set[Any]:
    """Return the parts that differ from those of the state above."""
    now = fingerprint(parts.get("state", STATE), parts.get("versions", VERSIONS))
    return {change.path for change in drift(fingerprint(STATE, VERSIONS), now)}


def test_one_environment_has_one_fingerprint_whatever_the_order_of_its_rows() -> None:
    def backwards(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: backwards(v) for k, v in reversed(value.items())}
        return [backwards(v) for v in value] if isinstance(value, list) else value

    assert changed(state=backwards(STATE)) == set()
    assert not drift(fingerprint(STATE, VERSIONS), fingerprint(STATE, VERSIONS))


def test_another_process_gives_the_same_fingerprint() -> None:
    code = (
        "from tests.test_isolation import *; import json; print(json.dumps(fingerprint(STATE, {})))"
    )
    root = Path(__file__).parents[1]
    for seed in "12":
        run = subprocess.run(
            [sys.executable, "-c", code],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        )
        assert json.loads(run.stdout) == fingerprint(STATE, {})


@pytest.mark.parametrize("total", [6, 5.0, "5", True])
def test_another_value_is_another_content(total: object) -> None:
    state = {**STATE, "orders": {1: {"total": total, "note": None}, 2: STATE["orders"][2]}}
    assert ("content",) in changed(state=state)


def test_the_order_in_a_list_is_content() -> None:
    one, two = ({"t": {1: {"x": items}}} for items in ([1, 2], [2, 1]))
    assert [c.path for c in drift(fingerprint(one, {}), fingerprint(two, {}))] == [("content",)]


def test_a_new_row_or_an_empty_cell_is_no_new_schema_and_a_new_column_or_type_is() -> None:
    row = {**STATE["orders"], 3: {"total": None, "note": "y"}}
    assert changed(state={**STATE, "orders": row}) == {("content",)}
    for odd in ({"total": 5, "note": "x", "tax": 1}, {"total": "5", "note": "x"}):
        state = {**STATE, "orders": {**STATE["orders"], 3: odd}}
        assert changed(state=state) == {("content",), ("schema",)}


def test_the_schema_of_a_database_is_its_own() -> None:
    prints = []
    for kind in ("INTEGER", "REAL"):
        with sqlite3.connect(":memory:") as database:
            database.execute(f"CREATE TABLE t (id INTEGER PRIMARY KEY, x {kind})")
            prints.append(fingerprint(snapshot(database), VERSIONS))
        database.close()
    assert ("schema",) in {change.path for change in drift(*prints)}


def test_versions_are_compared_by_name() -> None:
    assert changed(versions={"store": "1.3"}) == {("versions", "store")}
    assert changed(versions={"store": "1.2", "user": "9"}) == {("versions", "user")}
    assert changed(versions={}) == {("versions", "store")}


def test_a_fingerprint_survives_json() -> None:
    here = fingerprint(STATE, VERSIONS)
    assert not drift(json.loads(json.dumps(here)), here)

"""The command: what it prints, what it writes, what it refuses to write over, and how it fails."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evalkit.__main__ import main
from evalkit.logs.formats import FORMATS

RAW = Path(__file__).parents[2] / "shared" / "data" / "raw"
published = pytest.mark.skipif(not RAW.is_dir(), reason="needs the published logs in ../shared")

GOOD = "task,trial,success\na,0,1\na,1,0\nb,0,1\nb,1,1\n"
OTHER = "task,trial,success\nx,0,0\nx,1,0\ny,0,1\ny,1,0\n"


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return written(tmp_path, GOOD)


def written(folder: Path, content: str, name: str = "good.csv") -> Path:
    path = folder / name
    path.write_text(content)
    return path


def failed(capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    """What the command says on stderr as it refuses: one line, and nothing on stdout."""
    assert main(["report", *map(str, arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("evalkit: error: ")
    assert err.count("\n") == 1
    return err


def test_a_card_is_printed(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(good)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("good.csv\nPasses 75.0% of the time")
    assert "[not stated] Every changed key is checked" in out


def test_a_page_and_the_data_are_written(good: Path, tmp_path: Path) -> None:
    page, told = tmp_path / "card.html", tmp_path / "card.json"
    assert main(["report", str(good), "--html", str(page), "--json", str(told)]) == 0
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert json.loads(told.read_text(encoding="utf-8"))["pass^1"]["value"] == 0.75


def test_of_several_files_each_has_its_card(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other, page, told = written(tmp_path, OTHER, "b.csv"), tmp_path / "o.html", tmp_path / "o.json"
    assert main(["report", *map(str, (good, other, "--html", page, "--json", told))]) == 0
    assert [card["pass^1"]["value"] for card in json.loads(told.read_text())] == [0.75, 0.25]
    assert page.read_text(encoding="utf-8").count("<article") == 2
    out = capsys.readouterr().out
    assert out.index("good.csv\nPasses 75.0%") < out.index("b.csv\nPasses 25.0%")


def test_nothing_is_written_over_without_force(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = written(tmp_path, "kept", "kept.html")
    told = tmp_path / "new.json"
    assert "--force" in failed(capsys, good, "--html", kept, "--json", told)
    assert kept.read_text() == "kept"
    assert not told.exists()
    assert main(["report", str(good), "--html", str(kept), "--force"]) == 0
    assert kept.read_text().startswith("<!DOCTYPE")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good.csv", "kept.html"]


def test_a_file_that_appears_meanwhile_is_not_written_over(
    good: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = written(tmp_path, "kept", "kept.html")
    monkeypatch.setattr(Path, "exists", lambda path: False)
    assert "kept.html" in failed(capsys, good, "--html", kept)
    assert kept.read_text() == "kept"


def test_what_is_read_is_never_written_to(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evidence = written(tmp_path, "{}", "evidence.json")
    assert "is read" in failed(capsys, good, "--json", good, "--force")
    assert "is read" in failed(
        capsys, good, "--evidence", evidence, "--json", evidence, "--force"
    )  # fmt: skip
    assert "the same file" in failed(
        capsys, good, "--json", tmp_path / "x", "--html", tmp_path / "x"
    )
    assert good.read_text() == GOOD
    assert evidence.read_text() == "{}"


def test_nothing_is_written_where_one_file_of_several_is_bad(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = written(tmp_path, "task,trial,success\na,0,yes\n", "bad.csv")
    assert "bad.csv, line 2, success" in failed(capsys, good, bad, "--html", tmp_path / "o.html")
    assert not (tmp_path / "o.html").exists()


@pytest.mark.parametrize(
    ("content", "arguments", "says"),
    [
        ("a,b\n1,2\n", [], "log: its format is not known"),
        (GOOD, ["--k", "3"], "log: k=3: no task has more than 2 valid trials"),
        (GOOD, ["--k", "0"], "log: .*1 or more"),
        (GOOD, ["--planned", "1"], "log: .*2 trials, and 1 were planned"),
        (GOOD, ["--option", "repair=true"], "log: its format has no option 'repair'"),
        (GOOD, ["--option", "name=x"], "log: its format has no option 'name'"),
        (GOOD, ["--option", "repair"], "--option repair: write NAME=VALUE"),
        (GOOD, ["--format", "tau-bench"], "log, line 1"),
        (GOOD + "a,0,1\n", [], "log: task 'a', trial 0 has 2 rows.*Here: --option duplicates=drop"),
        (
            "task,trial,Passed\na,0,1\n",
            [],
            r"as in success='\.\.\.'\. Here: --option success=\.\.\.",
        ),
        (GOOD.replace("success", "suxess"), [], "log: .*'suxess' is in its place"),
        ("", [], "log, line 1: .*empty"),
        ("[" * 10_000, [], "log, line 1: it is nested too deeply"),
    ],
)
def test_bad_input_is_one_line_that_names_the_file(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    content: str,
    arguments: list[str],
    says: str,
) -> None:
    path = written(tmp_path, content, "log")
    error = failed(capsys, path, *arguments)
    assert re.search(says, error), error


def test_a_file_that_is_not_there_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "nowhere.json" in failed(capsys, tmp_path / "nowhere.json")


def test_where_nothing_can_be_written_is_one_sentence(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    error = failed(capsys, good, "--html", tmp_path / "no/o.html")
    assert f"o.html: there is no folder {tmp_path / 'no'}; make it first." in error
    (tmp_path / "folder").mkdir()
    error = failed(capsys, good, "--json", tmp_path / "folder", "--force")
    assert "folder: cannot be written: " in error
    assert "Errno" not in error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "good.csv"]


def test_an_unknown_format_lists_those_there_are(
    good: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["report", str(good), "--format", "tables"])
    assert stopped.value.code == 2
    assert all(name in capsys.readouterr().err.replace("\n", "") for name in list(FORMATS)[:1])


def test_options_reach_the_reader_in_its_types(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "submission,task,total_points,result_points\n1,a,2,2\n2,a,2,1\n"
    path = written(tmp_path, text, "tac.csv")
    assert "Here: --option submission=..." in failed(capsys, path)
    assert main(["report", str(path), "--option", "submission=2"]) == 0
    assert "Passes 0.0%" in capsys.readouterr().out
    simulations = written(tmp_path, '{"simulations": []}', "tau2.json")
    assert "of type bool" in failed(capsys, simulations, "--option", "repair=maybe")


def test_evidence_is_read_from_a_file(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stated = {
        "baselines": {"does nothing": [1, 2]},
        "exposures": [],
        "stated": {"faults": "1 in 10"},
    }
    path = written(tmp_path, json.dumps(stated), "evidence.json")
    assert main(["report", str(good), "--evidence", str(path)]) == 0
    out = capsys.readouterr().out
    assert "[met]        Trivial agents are scored: does nothing: 1 of 2" in out
    assert "[met]        Recovery is tested by injected faults: 1 in 10" in out


def test_advice_names_the_file_of_evidence_for_what_it_can_hold(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = tmp_path / "card.json"
    assert main(["report", str(good), "--json", str(told)]) == 0
    advice = {line["name"]: line["to_do"] for line in json.loads(told.read_text())["checklist"]}
    names = {
        "baselines": "baselines", "infra": "retries", "reach": "exposures", "process": "rules",
        "faults": "stated", "user": "user_model, user_settings", "budgets": "max_steps",
    }  # fmt: skip
    for line, name in names.items():
        assert f" Here: {name} in --evidence FILE." in advice[line]
    assert [line for line in advice if "--option infra=COLUMN" in advice[line]] == ["infra"]
    assert "--evidence" not in advice["changes"]  # audits are no JSON
    assert "Here: baselines in --evidence FILE." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"retries": "3"}', "evidence.json: retries: '3' is not a whole number"),
        ('{"audits": []}', "'audits' is not known; it may hold exposures"),
        ("[]", "is no object"),
        ('{"stated": {"speed": "fast"}}', "'speed' is no line"),
        ('{"stated": 1}', "evidence.json"),
        ('{"baselines": {"a": 1}}', "evidence.json"),
        ('{"stated"', "cut off"),
    ],
)
def test_evidence_that_is_none_is_refused(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, says: str
) -> None:
    path = written(tmp_path, content, "evidence.json")
    error = failed(capsys, good, "--evidence", path)
    assert says in error
    assert "evidence.json" in error


def test_the_counts_of_each_task_are_printed_on_demand(
    good: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["report", str(good), "--task-level", "--planned", "3"])
    assert capsys.readouterr().out.splitlines()[-3:] == [
        "task  n  c  planned  infra",
        "   a  2  1        3      0",
        "   b  2  2        3      0",
    ]


def test_a_name_that_commands_a_terminal_is_written_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, "task,trial,success\na\x1b[2J,0,1\nb,0,\n", "log.csv")
    main(["report", str(path), "--task-level"])
    assert "\x1b" not in capsys.readouterr().out
    assert "\x1b" not in failed(capsys, written(tmp_path, "\x1b[2J\n", "bad"))


def command(*arguments: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "evalkit", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, check=False, **options)


def test_the_command_itself_ends_with_its_status(good: Path, tmp_path: Path) -> None:
    done = command("report", good, env={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "good.csv" in done.stdout
    bad = command("report", tmp_path / "nowhere")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert "Traceback" not in bad.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pipe that the reader closes")
def test_a_reader_that_has_seen_enough_is_no_error(good: Path) -> None:
    files = [str(good)] * 40
    line = [sys.executable, "-m", "evalkit", "report", *files]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@published
def test_the_published_and_the_malformed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(RAW / "tau-bench_gpt-4o-airline.json.gz")]) == 0
    assert "pass^4   20.0%" in capsys.readouterr().out
    malformed = failed(capsys, RAW / "tau2_toolorchestra_airline_FIRST_malformed.json.gz")
    assert "task_id: is missing" in malformed
    mislabelled = RAW / "tau2_toolorchestra_airline_gpt-5_1trial.json.gz"
    assert "Here: --option repair=true" in failed(capsys, mislabelled)
    assert main(["report", str(mislabelled), "--option", "repair=true"]) == 0
    assert "Passes 56.0%" in capsys.readouterr().out

"""The episode that all systems grade, and the table that sets their grades side by side."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import pytest

from evalkit.course import systems
from evalkit.course.systems import SCRIPTS, SYSTEMS, Grade, play_calls, played, side_by_side
from evalkit.course.systems.episode import ANSWER, GOLD, PARTS, SEED, act, grade_of, records
from evalkit.course.systems.swe_bench import pytest_run
from evalkit.simulate import SCENARIO
from evalkit.simulate.service import Service
from evalkit.simulate.world import Call
from evalkit.statediff import state_diff

FAILS, PASSES = "fail 0.00", "pass 1.00"


def test_the_table_is_as_the_chapter_tells_it() -> None:
    table = side_by_side()
    expected = {  # good, collateral, unfinished, undone
        "τ-bench": [PASSES, FAILS, FAILS, PASSES, "yes", "no"],
        "AppWorld": [PASSES, FAILS, FAILS, PASSES, "yes", "no"],
        "SWE-bench": [PASSES, PASSES, FAILS, PASSES, "no", "no"],
        "TheAgentCompany": [PASSES, PASSES, "fail 0.40", PASSES, "no", "no"],
        "AgentBoard": [PASSES, PASSES, "fail 0.75", PASSES, "no", "no"],
        "WebArena": [PASSES, PASSES, FAILS, PASSES, "no", "no"],
        "OSWorld": [PASSES, PASSES, FAILS, PASSES, "no", "no"],
        "cost frontier, graded by TheAgentCompany": [
            *("7 calls, beaten", "6 calls, on it", "6 calls, beaten", "9 calls, beaten"),
            *("no", "no"),
        ],
        "cost frontier, graded by evalkit": [
            *("7 calls, on it", "6 calls, beaten", "6 calls, beaten", "9 calls, beaten"),
            *("yes", "yes"),
        ],
        "evalkit": [PASSES, FAILS, FAILS, FAILS, "yes", "yes"],
    }
    shown = table[[*SCRIPTS, "sees collateral", "sees undone damage"]]
    assert dict(zip(shown.index, shown.to_numpy().tolist(), strict=True)) == expected
    assert list(shown.index) == list(expected)
    assert (table[["looks at", "why"]].map(len) > 0).all(axis=None)


def test_a_second_table_is_the_same_and_no_file_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    pytest_run.cache_clear()
    first = side_by_side()
    assert pytest_run.cache_info().misses == 4  # so that files were written, in the folder above
    assert first.equals(side_by_side())
    assert list(tmp_path.iterdir()) == []


def test_what_a_system_sees_is_had_from_its_grades(monkeypatch: pytest.MonkeyPatch) -> None:
    blind = systems.System("blind", "nothing", lambda _: grade_of({"it ran": True}), "none")
    monkeypatch.setattr(systems, "SYSTEMS", (blind, SYSTEMS[-1]))
    seen = side_by_side()["sees collateral"]
    assert seen["blind"] == "no"
    assert seen["evalkit"] == "yes"


def test_only_one_episode_is_as_it_should_be_to_the_eye() -> None:
    good, collateral, unfinished, undone = (played(name) for name in SCRIPTS)
    done = {
        e.name: [holds(e.after) for holds in PARTS.values()] for e in (good, collateral, undone)
    }
    assert done == dict.fromkeys(("good", "collateral", "undone"), [True] * 4)
    assert [holds(unfinished.after) for holds in PARTS.values()] == [True, True, True, False]
    assert records(good.after) == records(undone.after)
    extra = state_diff(records(good.after), records(collateral.after))
    assert [change.path for change in extra] == [("orders", "W1004", "status")]


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_call_is_refused_and_the_service_ends_where_the_store_does(name: str) -> None:
    episode = played(name)
    assert [action.error for action in episode.trajectory] == [None] * len(episode.calls)
    assert len(episode.states) == len(episode.calls) + 1
    with Service(SCENARIO, seed=SEED, sockets=False) as service:
        act(episode.calls, service.call)
        assert service.state() == episode.after
        assert service.start == episode.before


def test_an_agent_carries_on_after_a_refusal() -> None:
    episode = play_calls((Call("cancel_order", order_id="W1002"), *GOLD), "stubborn")
    assert episode.trajectory[0].error
    assert all(holds(episode.after) for holds in PARTS.values())


def test_the_parts_of_a_row_that_is_gone_do_not_hold() -> None:
    after = played("good").after
    gone = after | {"customers": {}, "orders": {}, "refunds": {}, "notes": {}}
    assert not any(holds(gone) for holds in PARTS.values())


def test_an_unknown_agent_is_named_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="no agent 'best', only good, collateral, unfinished"):
        played("best")


def test_a_grade_says_what_stood_in_the_way() -> None:
    grade = grade_of({"a": True, "b": False, "c": False}, 0.25)
    assert (str(grade), grade.why, grade.passed) == ("fail 0.25", "b; c", False)
    assert grade_of({"a": True}).passed
    nothing = grade_of({})
    assert (nothing.verdict, nothing.passed, math.isnan(nothing.score)) == (
        *("not evaluated", False),
        True,
    )
    assert str(Grade("not evaluated", math.nan, {})) == "not evaluated"


def test_the_answer_is_the_sum_in_the_request() -> None:
    assert f"${GOLD[2].arguments['amount_cents'] / 100:.2f}" == ANSWER
    assert "Answer with the sum" in systems.REQUEST

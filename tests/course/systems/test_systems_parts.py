"""TheAgentCompany, AgentBoard, WebArena, OSWorld and the cost frontier."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evalkit.course.systems import SCRIPTS, play_calls, played, webarena
from evalkit.course.systems.agentboard import progress
from evalkit.course.systems.agents_that_matter import frontier
from evalkit.course.systems.episode import Grade, Played, not_evaluated
from evalkit.course.systems.osworld import EXPECTED, file_score, machine, save, unseen
from evalkit.course.systems.ours import full_verdict
from evalkit.course.systems.the_agent_company import checkpoint_score
from evalkit.course.systems.webarena import LAST_PAGE, last_page, product_score
from evalkit.process import Action
from evalkit.simulate.world import Call

GOOD = SCRIPTS["good"]
LOST = play_calls((*GOOD, Call("delete_record", table="notes", id=4)), "lost")
NOTHING = play_calls((), "nothing", answer="")


@pytest.mark.parametrize(("parts", "score"), [(0, 0.0), (1, 0.1), (2, 0.2), (3, 0.4), (4, 1.0)])
def test_each_checkpoint_adds_half_of_its_share_and_the_last_the_other_half(
    parts: int, score: float
) -> None:
    episode = play_calls(GOOD[: 3 + parts], "so far")
    assert checkpoint_score(episode).score == pytest.approx(score)
    assert checkpoint_score(episode).passed is (parts == 4)


def test_what_was_reached_and_lost_counts_for_progress_alone() -> None:
    assert progress(LOST).passed
    assert checkpoint_score(LOST).score == pytest.approx(0.4)
    assert not product_score(LOST, sockets=False).passed
    assert not file_score(LOST).passed


def test_progress_never_falls_and_starts_at_none() -> None:
    rates = list(progress(LOST).parts.values())
    assert rates == sorted(rates)
    assert len(rates) == len(LOST.calls)
    assert (str(progress(NOTHING)), progress(NOTHING).parts) == ("fail 0.00", {})


# --- WebArena


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_checks_come_out_the_same_with_sockets_and_without(name: str) -> None:
    assert product_score(played(name), sockets=True) == product_score(played(name), sockets=False)


@pytest.mark.parametrize("answer", ["", "$42", "$142.50", "It was 42.50, or 52.50."])
def test_one_wrong_factor_makes_the_product_nothing(answer: str) -> None:
    grade = product_score(replace(played("good"), answer=answer), sockets=False)
    assert (grade.score, grade.why) == (0.0, "string match")


def test_the_right_state_on_the_wrong_page_fails() -> None:
    strayed = play_calls((*GOOD, Call("read", table="orders", id="W1004")), "strayed")
    assert product_score(strayed, sockets=False).why == "URL match"


def test_a_page_that_is_not_there_does_not_hold_what_it_should() -> None:
    grade = product_score(play_calls(GOOD[:3], "reader"), sockets=False)
    assert not grade.parts["refunds/2 amount_cents"]
    assert not grade.parts["notes/4 text"]


def test_a_value_cannot_write_another_place_of_its_page() -> None:
    forged = f"</td></tr><tr><td id='address'>{GOOD[3].arguments['address']}"
    rename = Call("edit_record", table="customers", id="C3", column="name", value=forged)
    forger = play_calls((*GOOD[:3], rename, *GOOD[4:]), "forger")
    assert product_score(forger, sockets=False).why == "customers/C3 address"


def test_a_value_in_a_page_is_compared_whole() -> None:
    longer = Call("add_note", customer_id="C3", text=f"Not so: {GOOD[-1].arguments['text']}")
    episode = play_calls((*GOOD[:-1], longer), "longer")
    assert product_score(episode, sockets=False).why == "notes/4 text"


def test_the_checks_have_other_pages_unopened(monkeypatch: pytest.MonkeyPatch) -> None:
    assert product_score(played("collateral"), sockets=False).passed
    more = webarena.CONTENT | {("orders/W1004", "status"): "processing"}
    monkeypatch.setattr(webarena, "CONTENT", more)
    assert product_score(played("collateral"), sockets=False).why == "orders/W1004 status"
    assert product_score(played("good"), sockets=False).passed


def test_the_last_page_is_of_the_record_that_was_dealt_with_last() -> None:
    assert last_page(played("good").trajectory) == LAST_PAGE
    assert last_page((Action("read", {"table": "notes", "id": 4}),)) == "http://desk.test/notes/4"
    assert last_page((Action("search", {"text": "Okafor"}),)) == "http://desk.test/"
    assert last_page(()) == "http://desk.test/"


# --- OSWorld


def test_a_reset_puts_back_what_any_cell_held() -> None:
    episode = played("collateral")
    with machine(episode.before) as desk:
        start = desk.cells()
        save(episode.after, desk.file)
        assert desk.cells() != start
        desk.reset()
        assert desk.cells() == start
        desk.file.unlink()
        desk.reset()
        assert desk.cells() == start
    assert not desk.file.exists()


def test_the_cells_are_those_of_the_store_by_their_types() -> None:
    with machine(played("good").after) as desk:
        cells = desk.cells()
    assert (cells["customers!A1"], cells["customers!A4"]) == ("id", "C3")
    assert cells["refunds!C3"] == 4250
    assert type(cells["refunds!C3"]) is int
    assert {place.partition("!")[0] for place in cells} == {
        *("customers", "orders"),
        *("refunds", "notes"),
    }


def test_each_expected_cell_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in EXPECTED:
        with monkeypatch.context() as patch:
            patch.setitem(EXPECTED, place, "another")
            assert file_score(played("good")).why == place


def test_doing_nothing_earns_no_cell_and_leaves_none_unseen() -> None:
    assert not any(file_score(NOTHING).parts.values())
    assert unseen(NOTHING) == {}


def test_a_row_that_was_deleted_is_among_the_unseen() -> None:
    gone = play_calls((*GOOD, Call("delete_record", table="notes", id=1)), "gone")
    assert not file_score(gone).passed  # the rows below moved up
    assert unseen(gone)["notes!A2"] == (1, 2)


# --- the cost frontier


def test_the_frontier_turns_round_with_the_grader() -> None:
    episodes = [played(name) for name in SCRIPTS]
    assert list(frontier(episodes, checkpoint_score)["success"]) == [0, 1, 1, 0, 1]  # no credit
    places = {g: frontier(episodes, g)["on the frontier"] for g in (checkpoint_score, full_verdict)}
    assert list(places[checkpoint_score].index[places[checkpoint_score]]) == [
        *("nothing", "collateral")
    ]
    assert list(places[full_verdict].index[places[full_verdict]]) == ["nothing", "good"]


def test_an_episode_that_is_not_evaluated_has_no_place() -> None:
    def broken(episode: Played) -> Grade:
        return not_evaluated("the task is broken")

    with pytest.raises(ValueError, match="'nothing' is not evaluated: the task is broken"):
        frontier([played("good")], broken)

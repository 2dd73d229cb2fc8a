"""Whose failure it was, and what flakes do to the numbers."""

from __future__ import annotations

import subprocess
from itertools import product

import httpx
import numpy as np
import pytest

from evalkit.infra import (
    AGENT_FAILURE,
    CAUSES,
    INFRA_FAILURE,
    NOT_EVALUATED,
    SUCCESS,
    BudgetExhausted,
    Cause,
    EnvironmentFailure,
    classify,
    corrected_pass_hat_k,
    infra_rate,
    measured_pass_hat_k,
    outcome_tag,
    silent_bounds,
)


def http_error(status: int, message: str = "") -> httpx.HTTPStatusError:
    request = httpx.Request("POST", "http://127.0.0.1/call")
    return httpx.HTTPStatusError(
        message, request=request, response=httpx.Response(status, request=request)
    )


class APIStatusError(Exception):
    """As model vendors' clients raise: the status on the exception itself."""

    status_code = 529


class ContextWindowExceededError(ValueError):
    pass


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError(), "timeout"),
        (httpx.ReadTimeout("slow"), "timeout"),
        (httpx.ConnectTimeout("slow"), "timeout"),
        (subprocess.TimeoutExpired("tool", 5), "timeout"),
        (http_error(504), "timeout"),
        (http_error(408), "timeout"),
        (http_error(429), "rate limit"),
        (http_error(500), "server error"),
        (http_error(503), "server error"),
        (APIStatusError("overloaded"), "server error"),
        (httpx.ConnectError("refused"), "connection lost"),
        (httpx.RemoteProtocolError("gone"), "connection lost"),
        (ConnectionResetError(), "connection lost"),
        (BrokenPipeError(), "connection lost"),
        (EnvironmentFailure("the sandbox died"), "environment failure"),
        (502, "server error"),
        ("rate_limit", "rate limit"),
        ("Connection Lost", "connection lost"),
        ("litellm.RateLimitError: try later", "rate limit"),
    ],
)
def test_the_environment_answers_for_its_own_failures(error: object, kind: str) -> None:
    assert outcome_tag(None, 5, error) == (INFRA_FAILURE, kind)  # type: ignore[arg-type]
    assert outcome_tag("pass", 5, error)[0] == INFRA_FAILURE  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (http_error(400, "This model's maximum context length is 128000"), "context overflow"),
        (http_error(500, "context window exceeded"), "context overflow"),
        (ContextWindowExceededError(), "context overflow"),
        ("context window exceeded", "context overflow"),
        ("context_length_exceeded", "context overflow"),
        (BudgetExhausted("50 steps"), "budget exhausted"),
        ("max_steps", "budget exhausted"),
        ("BudgetExhausted: 50 steps", "budget exhausted"),
    ],
)
def test_a_full_context_and_a_spent_budget_are_the_agents(error: object, kind: str) -> None:
    assert outcome_tag(None, 5, error) == (AGENT_FAILURE, kind)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (KeyError("W1001"), "unknown: KeyError"),
        (AssertionError("timeout"), "unknown: AssertionError"),
        (ValueError("could not parse the 'timeout' argument"), "unknown: ValueError"),
        (http_error(401, "no such key"), "unknown: HTTPStatusError"),
        (FileNotFoundError("x"), "unknown: FileNotFoundError"),
        (404, "unknown: 404"),
        (0, "unknown: 0"),
        ("", "unknown: "),
        ("agent stopped: no timeout was set", "unknown: agent stopped: no timeout was set"),
    ],
)
def test_an_error_that_nobody_knows_is_neither_a_pass_nor_a_failure_nor_run_again(
    error: object, kind: str
) -> None:
    tag, found = outcome_tag("pass", 5, error)  # type: ignore[arg-type]
    assert tag == NOT_EVALUATED
    assert found.startswith(kind)


def test_an_error_is_judged_by_what_it_was_raised_from() -> None:
    def wrapped(cause: BaseException | None) -> Exception:
        try:
            raise RuntimeError("the tool failed") from cause
        except RuntimeError as error:
            return error

    assert classify(wrapped(httpx.ReadTimeout("slow"))).kind == "timeout"  # type: ignore[union-attr]
    assert classify(wrapped(KeyError("x"))) is None
    assert classify(wrapped(None)) is None
    circle = RuntimeError("circle")
    circle.__cause__ = KeyError("x")
    circle.__cause__.__cause__ = circle
    assert classify(circle) is None


def test_an_error_raised_while_another_was_handled_is_its_own() -> None:
    def slips() -> None:
        try:
            raise TimeoutError
        except TimeoutError:
            {}["a slip in the handler"]

    with pytest.raises(KeyError) as caught:
        slips()
    assert isinstance(caught.value.__context__, TimeoutError)
    assert classify(caught.value) is None


def test_the_table_can_be_extended_and_the_first_row_that_fits_decides() -> None:
    class PageCrashed(Exception):
        pass

    own = (
        Cause("page crash", INFRA_FAILURE, ("PageCrashed",)),
        Cause("quota", AGENT_FAILURE, statuses=(429,)),
        *CAUSES,
    )
    assert outcome_tag(None, 3, PageCrashed(), own) == (INFRA_FAILURE, "page crash")
    assert outcome_tag(None, 3, PageCrashed())[0] == NOT_EVALUATED
    assert outcome_tag(None, 3, http_error(429), own) == (AGENT_FAILURE, "quota")
    assert outcome_tag(None, 3, "page_crash", own) == (INFRA_FAILURE, "page crash")


def test_a_name_with_its_module_does_not_fit_a_namesake() -> None:
    row = (Cause("tool", INFRA_FAILURE, (f"{APIStatusError.__module__}.APIStatusError",)),)
    namesake = type("APIStatusError", (Exception,), {"__module__": "elsewhere"})
    assert classify(APIStatusError(), row)
    assert classify(namesake(), row) is None


@pytest.mark.parametrize("tag", [SUCCESS, "infra", ""])
def test_no_row_can_call_an_error_a_success(tag: str) -> None:
    with pytest.raises(ValueError, match="Cause 'odd': tag is"):
        Cause("odd", tag)


def test_without_an_error_the_verdict_decides_and_a_pass_is_never_the_default() -> None:
    tags = {verdict: outcome_tag(verdict, 5) for verdict in ("pass", "fail", "not evaluated")}
    assert tags == {
        "pass": (SUCCESS, ""),
        "fail": (AGENT_FAILURE, ""),
        "not evaluated": (NOT_EVALUATED, ""),
    }
    assert outcome_tag(None) == outcome_tag("passed") == (NOT_EVALUATED, "")


@pytest.mark.parametrize("verdict", ["pass", "fail", None])
@pytest.mark.parametrize("error", [None, BudgetExhausted("3600 seconds"), TimeoutError()])
def test_a_run_in_which_nothing_happened_is_the_environments(
    verdict: str | None, error: Exception | None
) -> None:
    assert outcome_tag(verdict, 0, error)[0] == INFRA_FAILURE
    assert outcome_tag(verdict, 1, error)[0] != INFRA_FAILURE or isinstance(error, TimeoutError)


def test_nothing_done_excuses_neither_a_full_context_nor_an_unknown_error() -> None:
    assert outcome_tag(None, 0, "context window exceeded")[0] == AGENT_FAILURE
    assert outcome_tag(None, 0, KeyError("x"))[0] == NOT_EVALUATED


def test_an_agent_that_does_nothing_is_scored_once_the_row_is_left_out() -> None:
    idle_counts = [cause for cause in CAUSES if cause.kind != "no activity"]
    assert outcome_tag("fail", 0, causes=idle_counts) == (AGENT_FAILURE, "")
    spent = BudgetExhausted("60 seconds")
    assert outcome_tag("fail", 0, spent, idle_counts) == (AGENT_FAILURE, "budget exhausted")


# --- what flakes do to the numbers --------------------------------------------------------


def chances(P: float, f: float, retries: int, missed: float, mistaken: float) -> float:
    """The probability that a trial passes, by walking through every course of its attempts."""
    if retries < 0:
        return 0.0
    agent_fails = (1 - f) * (1 - P)
    again = f * (1 - missed) + agent_fails * mistaken
    return (1 - f) * P + again * chances(P, f, retries - 1, missed, mistaken)


def test_the_closed_form_is_the_sum_over_all_courses() -> None:
    for P, f, r in product((0, 0.3, 0.7, 1), (0, 0.05, 1), (0, 1, 3)):
        for missed, mistaken in product((0, 0.2, 1), (0, 0.2, 1)):
            for k in (1, 8):
                found = measured_pass_hat_k(P, f, k, r, missed, mistaken)
                assert found == pytest.approx(chances(P, f, r, missed, mistaken) ** k, abs=1e-14)


def test_the_special_cases_are_those_of_the_books() -> None:
    P, f, k, r = 0.7, 0.05, 8, 3
    assert measured_pass_hat_k(P, f, k) == pytest.approx((P * (1 - f)) ** k)
    assert measured_pass_hat_k(1, f, k) == pytest.approx(0.663, abs=5e-4)
    assert measured_pass_hat_k(P, f, k, r) == pytest.approx((P * (1 - f ** (r + 1))) ** k)
    any_failure = measured_pass_hat_k(P, f, k, r, mistaken=1)
    assert any_failure == pytest.approx((1 - (1 - P * (1 - f)) ** (r + 1)) ** k)
    assert measured_pass_hat_k(P, f, k, r, missed=1) == measured_pass_hat_k(P, f, k)


@pytest.mark.parametrize("f", [0, 0.01, 0.02, 0.05, 0.1])
def test_three_retries_recover_three_figures(f: float) -> None:
    assert f"{measured_pass_hat_k(0.7, f, 8, retries=3):.3g}" == "0.0576"


def test_arrays_broadcast_and_numbers_stay_numbers() -> None:
    table = measured_pass_hat_k([[0.5], [0.9]], [0, 0.1, 0.2], 2)
    assert table.shape == (2, 3)
    assert table[1, 2] == pytest.approx((0.9 * 0.8) ** 2)
    assert type(measured_pass_hat_k(0.5, 0.1)) is float


@pytest.mark.parametrize(
    ("bad", "name"),
    [
        ({"f": 5}, "f must be in"),
        ({"P": [0.5, float("nan")]}, "P must be in"),
        ({"missed": -0.1}, "missed must be in"),
        ({"mistaken": 1.1}, "mistaken must be in"),
        ({"k": 0}, "k must be"),
        ({"retries": -1}, "retries must be"),
        ({"retries": 1.5}, "retries must be"),
    ],
)
def test_what_is_no_share_and_no_count_is_named(bad: dict, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        measured_pass_hat_k(**{"P": 0.7, "f": 0.1} | bad)


def flaky_counts(
    rng: np.random.Generator, f: float, tasks: int = 120, trials: int = 8
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Counts of a suite of unlike tasks, tagged and not run again; and the tasks' true success."""
    P = rng.beta(4, 1, tasks)
    n = rng.binomial(trials, 1 - f, tasks)
    return {"planned": np.full(tasks, trials), "n": n, "c": rng.binomial(n, P)}, P


@pytest.mark.parametrize("k", [1, 4, 8])
def test_the_correction_is_near_the_truth_and_its_error_is_the_real_one(k: int) -> None:
    rng = np.random.default_rng(k)
    truth = np.prod([(4 + j) / (5 + j) for j in range(k)])  # E[P^k] of Beta(4, 1)
    found = np.array([corrected_pass_hat_k(flaky_counts(rng, 0.1)[0], k) for _ in range(2_000)])
    value, error = found[:, 0], found[:, 1]
    uncertainty = value.std() / np.sqrt(len(value))
    assert abs(value.mean() - truth) < 4 * uncertainty + 0.002  # a ratio is biased by order 1/tasks
    assert error.mean() == pytest.approx(value.std(), rel=0.05)


def test_what_is_not_corrected_is_far_from_the_truth() -> None:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(200):
        counts, _ = flaky_counts(rng, 0.1)
        found.append(corrected_pass_hat_k(counts | {"n": counts["planned"]}, 8)[0])
    assert np.mean(found) < 0.2  # the truth is 1/3


def test_without_flakes_the_correction_is_the_mean_over_tasks_and_its_standard_error() -> None:
    counts = {"planned": [4, 4, 4], "n": [4, 4, 4], "c": [4, 2, 1]}
    value, error = corrected_pass_hat_k(counts)
    assert value == pytest.approx(7 / 12)
    assert error == pytest.approx(np.std([1, 0.5, 0.25], ddof=1) / np.sqrt(3))


def test_one_task_gives_a_value_without_an_error() -> None:
    value, error = corrected_pass_hat_k({"planned": [4], "n": [2], "c": [1]})
    assert value == 0.5
    assert np.isnan(error)


@pytest.mark.parametrize(
    "counts",
    [
        {"planned": [4], "n": [0], "c": [0]},
        {"planned": [4, 1], "n": [4, 1], "c": [1, 1]},
        {"planned": [1], "n": [2], "c": [1]},
        {"n": [2]},
    ],
)
def test_counts_that_cannot_be_corrected_are_refused(counts: dict) -> None:
    with pytest.raises(ValueError, match="counts|planned"):
        corrected_pass_hat_k(counts, k=2)


def test_the_interval_of_the_infra_rate_is_never_of_no_width() -> None:
    for infra, attempts in ((0, 20), (20, 20), (3, 20), (0, 1)):
        rate, low, high = infra_rate(infra, attempts)
        assert low <= rate <= high
        assert low < high
    assert infra_rate(0, 20)[1] == 0
    assert infra_rate(0, 20)[2] == pytest.approx(0.161, abs=5e-4)  # z^2 / (n + z^2)


@pytest.mark.parametrize(("infra", "attempts"), [(1, 0), (0, 0), (-1, 5), (6, 5)])
def test_an_infra_rate_needs_counts(infra: int, attempts: int) -> None:
    with pytest.raises(ValueError, match="attempts"):
        infra_rate(infra, attempts)


def test_the_bounds_of_silence_hold_the_truth_and_the_upper_one_is_it() -> None:
    P, f, d, k = 0.7, 0.1, 0.6, 8
    tagged, silent = f * d, f * (1 - d)
    value = ((1 - f) * P / (1 - tagged)) ** k  # of the attempts that are not tagged
    assert silent / (1 - tagged) == pytest.approx(tagged * (1 - d) / (d * (1 - tagged)))
    low, high = silent_bounds(value, tagged, d, k)
    assert low == value < P**k
    assert high == pytest.approx(P**k)
    assert silent_bounds(value, tagged, d / 2, k)[1] > high


def test_bounds_where_all_is_seen_or_nothing_is() -> None:
    assert silent_bounds(0.5, 0.1, 1) == (0.5, 0.5)
    # One attempt in four failed unseen, and three in four to the fourth is what is left.
    assert silent_bounds(0.1, 0.2, 0.5, k=4) == pytest.approx((0.1, 0.1 / 0.75**4))
    assert silent_bounds(0.5, 0.0, 0.5) == (0.5, 0.5)
    assert silent_bounds(0.5, 0.0, 0) == (0.5, 1.0)
    assert silent_bounds(0.5, 0.3, 0.1) == (0.5, 1.0)
    assert silent_bounds(0.5, 1.0, 0.9) == (0.5, 1.0)
    with pytest.raises(ValueError, match="detectable must be in"):
        silent_bounds(0.5, 0.1, 80)

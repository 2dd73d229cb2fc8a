"""The store behind HTTP: the same to an agent as the store itself, until it fails."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from evalkit.grading import grade
from evalkit.infra import INFRA_FAILURE, measured_pass_hat_k
from evalkit.runlog import RunError, read_log, trial_rows
from evalkit.runner import Setup, run_suite
from evalkit.simulate.agents import AGGRESSIVE, CAREFUL, simulated
from evalkit.simulate.episodes import play
from evalkit.simulate.faults import LOUD, Faults
from evalkit.simulate.service import HANG, Service
from evalkit.simulate.store import CUSTOMER_OPERATIONS as SCENARIO
from evalkit.simulate.world import ToolError, World
from evalkit.snapshots import snapshot

both = pytest.mark.parametrize("sockets", [True, False], ids=["sockets", "in-process"])


@pytest.fixture(autouse=True)
def nothing_is_left_behind() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    left = [t for t in threading.enumerate() if t not in before]
    assert [t for t in left if type(t).__name__ != "TMonitor"] == []  # tqdm's own


def seed_of(faults: Faults, kind: str, at: int) -> int:
    """A seed that gives this fault at this call."""
    calls = SCENARIO.actions[0]
    return next(s for s in range(10_000) if faults.draw(calls, s) == (kind, at))


def flawless(call: Callable[..., Any], instruction: str, rng: np.random.Generator) -> bool:
    """An agent that acts through `call` alone; six calls."""
    (customer, _) = call("search", text="Okafor")
    order = call("read", table="orders", id="W1001")
    address, note = instruction.split("'")[1:4:2]
    call("update_address", customer_id=customer["id"], address=address)
    call("cancel_order", order_id=order["id"])
    call("issue_refund", order_id=order["id"], amount_cents=order["total_cents"])
    call("add_note", customer_id=customer["id"], text=note)
    return True


# --- the same store -----------------------------------------------------------------------


@both
@pytest.mark.parametrize("agent", [CAREFUL, AGGRESSIVE])
def test_a_policy_does_on_the_service_what_it_does_on_the_store(sockets: bool, agent: Any) -> None:
    policy = simulated(agent, SCENARIO)
    with World(SCENARIO, seed=3) as world, Service(SCENARIO, seed=3, sockets=sockets) as service:
        for seed in range(5):
            service.reset()
            episode = play(policy, world, np.random.default_rng(seed))
            claim = policy(service.call, SCENARIO.instruction, np.random.default_rng(seed))
            assert service.trajectory == episode.trajectory
            assert service.state() == snapshot(world.connection)
            assert claim == episode.claim
            assert grade(service.start, service.state(), SCENARIO.task) == episode.verdict


@both
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read", {"table": "orders", "id": "W9"}),
        ("read", {"table": "orders"}),
        ("read", {"table": "orders", "id": 10**30}),
        ("issue_refund", {"order_id": "W1001", "amount_cents": True}),
        ("issue_refund", {"order_id": "W1001", "amount_cents": 10**7}),
        ("drop_table", {}),
        ("", {}),
        ("../tools", {"self": 1, "tool": 2}),
        ("add_note", {"customer_id": "C3", "text": " "}),
    ],
)
def test_what_the_store_refuses_the_service_refuses_in_the_same_words(
    sockets: bool, tool: str, arguments: dict
) -> None:
    refusals = []
    with World(SCENARIO) as world, Service(SCENARIO, sockets=sockets) as service:
        for call in (world.call, service.call):
            with pytest.raises(ToolError) as caught:
                call(tool, **arguments)
            refusals.append(str(caught.value))
    assert refusals[0] == refusals[1]


@both
@pytest.mark.parametrize("value", [b"bytes", {1}, float("nan"), "\ud800", np.int64(3)])
def test_arguments_that_json_cannot_hold_are_refused(sockets: bool, value: Any) -> None:
    with Service(SCENARIO, sockets=sockets) as service:
        with pytest.raises(ToolError, match="add_note: "):
            service.call("add_note", customer_id="C3", text=value)
        assert service.failure is None


@both
def test_text_in_any_script_comes_through(sockets: bool) -> None:
    with Service(SCENARIO, sockets=sockets) as service:
        note = 'Ünïcödé 漢字 🙂 \u2028 "quoted" \\ \x00 \n'
        key = service.call("add_note", customer_id="C3", text=note)["id"]
        assert service.call("read", table="notes", id=key)["text"] == note
        assert service.state()["notes"][key]["text"] == note


@both
def test_a_reset_restores_the_start_and_gives_a_new_address(sockets: bool) -> None:
    with Service(SCENARIO, seed=2, sockets=sockets) as service:
        start, address = service.state(), service.url
        flawless(service.call, SCENARIO.instruction, np.random.default_rng(0))
        assert service.state() != start
        service.reset()
        assert service.state() == service.start == start
        assert service.trajectory == ()
        assert service.url != address


# --- what stands on the wire --------------------------------------------------------------


def test_any_client_can_use_it_and_it_listens_on_the_loopback_address_only() -> None:
    with Service(SCENARIO) as service, httpx.Client(trust_env=False) as client:
        assert service.url.startswith("http://127.0.0.1:")
        body = {"tool": "cancel_order", "arguments": {"order_id": "W1001"}}
        answer = client.post(service.url, json=body)
        assert (answer.status_code, answer.json()["result"]["status"]) == (200, "cancelled")
        answer = client.post(service.url, json=body)
        assert (answer.status_code, "W1001 is cancelled" in answer.json()["error"]) == (422, True)
        assert len(service.trajectory) == 2


def test_a_call_of_an_earlier_episode_writes_nothing() -> None:
    with Service(SCENARIO) as service, httpx.Client(trust_env=False) as client:
        late = service.url
        service.reset()
        body = {"tool": "cancel_order", "arguments": {"order_id": "W1001"}}
        assert client.post(late, json=body).status_code == 404
        assert service.state() == service.start
        assert service.trajectory == ()


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b'{"tool": "read"}', 400),
        (b'{"tool": "read", "arguments": []}', 400),
        (b'{"tool": 1, "arguments": {}}', 400),
        (b"\xff", 400),
    ],
)
def test_a_request_that_is_no_call_is_answered_and_changes_nothing(
    content: bytes, status: int
) -> None:
    with Service(SCENARIO) as service, httpx.Client(trust_env=False) as client:
        headers = {"content-type": "application/json"}
        assert client.post(service.url, content=content, headers=headers).status_code == status
        assert client.get(service.url).status_code in (400, 405, 415)
        assert service.trajectory == ()
        assert service.call("read", table="orders", id="W1001")["id"] == "W1001"


def test_a_proxy_of_the_readers_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    with Service(SCENARIO) as service:
        assert service.call("read", table="orders", id="W1001")["id"] == "W1001"


@both
def test_a_broken_store_answers_500_and_is_no_refusal(
    sockets: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with Service(SCENARIO, sockets=sockets) as service:
        service._do(service._store.world.connection.execute, "DROP TABLE audit_log")
        with (
            caplog.at_level(logging.CRITICAL),
            pytest.raises(httpx.HTTPStatusError, match="cancel_order: HTTP 500"),
        ):
            service.call("cancel_order", order_id="W1001")


def test_a_server_says_nothing_on_the_readers_screen(capfd: pytest.CaptureFixture[str]) -> None:
    faults = Faults(crash=1)
    with Service(SCENARIO, faults) as service:
        with pytest.raises(ConnectionError):
            flawless(service.call, SCENARIO.instruction, np.random.default_rng(0))
        service.reset(seed_of(faults, "crash", 6))
        service.call("search", text="Okafor")
    assert capfd.readouterr() == ("", "")


# --- faults -------------------------------------------------------------------------------


@both
@pytest.mark.parametrize(
    ("kind", "error", "text"),
    [
        ("timeout", TimeoutError, "cancel_order: no answer in time"),
        ("crash", ConnectionError, "cancel_order: the connection was lost"),
        ("server_error", httpx.HTTPStatusError, "cancel_order: HTTP 503"),
        ("rate_limit", httpx.HTTPStatusError, "cancel_order: HTTP 429"),
    ],
)
def test_a_fault_that_shows_is_raised_at_its_call_and_not_made(
    sockets: bool, kind: str, error: type[Exception], text: str
) -> None:
    faults = Faults(**{kind: 1.0})
    with Service(SCENARIO, faults, sockets=sockets) as service:
        service.reset(seed_of(faults, kind, at=4))
        with pytest.raises(error, match=f"^{text}$") as caught:
            flawless(service.call, SCENARIO.instruction, np.random.default_rng(0))
        assert service.failure is caught.value
        assert service.struck == kind
        assert len(service.trajectory) == 4
        assert service.state()["orders"]["W1001"]["status"] == "processing"


@both
@pytest.mark.parametrize("kind", ["timeout", "server_error", "rate_limit"])
def test_a_passing_fault_passes(sockets: bool, kind: str) -> None:
    faults = Faults(**{kind: 1.0})
    with Service(SCENARIO, faults, sockets=sockets) as service:
        service.reset(seed_of(faults, kind, at=1))
        with pytest.raises((TimeoutError, httpx.HTTPStatusError)):
            service.call("cancel_order", order_id="W1001")
        assert service.call("cancel_order", order_id="W1001")["status"] == "cancelled"


@both
def test_a_crashed_server_stays_down_to_the_end_of_the_episode(sockets: bool) -> None:
    faults = Faults(crash=1)
    with Service(SCENARIO, faults, sockets=sockets) as service:
        service.reset(seed_of(faults, "crash", at=1))
        for _ in range(3):
            with pytest.raises(ConnectionError, match="the connection was lost"):
                service.call("search", text="Okafor")
        if sockets:
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(
                    ("127.0.0.1", int(service.url.split(":")[2].split("/")[0]))
                )
        service.reset(seed_of(faults, "crash", at=6))
        assert len(service.call("search", text="Okafor")) == 2


@both
def test_a_service_killed_in_mid_episode_is_an_infra_failure_and_comes_back(sockets: bool) -> None:
    kills = iter([True, False])

    with Service(SCENARIO, sockets=sockets) as service:

        def policy(call: Callable[..., Any], instruction: str, rng: np.random.Generator) -> bool:
            call("cancel_order", order_id="W1004")  # harm, which the reset must undo
            if next(kills):
                service.kill()
            call("search", text="Okafor")
            return True

        log = run_suite(Setup("x", ["move"], 1), service.harness(policy))
        assert list(log["kind"]) == ["connection lost", ""]
        assert list(log["steps"]) == [1, 2]


def test_a_client_that_waits_longer_is_dropped_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalkit.simulate.service.HANG", 0.05)
    assert HANG > 1
    faults = Faults(timeout=1)
    with Service(SCENARIO, faults) as service, httpx.Client(trust_env=False) as client:
        service.reset(seed_of(faults, "timeout", at=1))
        with pytest.raises(httpx.RemoteProtocolError):
            client.post(service.url, json={"tool": "search", "arguments": {"text": "x"}})


def test_a_reset_ends_a_call_that_still_hangs() -> None:
    faults = Faults(timeout=1)
    with Service(SCENARIO, faults) as service:
        service.reset(seed_of(faults, "timeout", at=1))
        ended: list[float] = []

        def waits(address: str) -> None:
            with httpx.Client(trust_env=False) as client, suppress(httpx.RemoteProtocolError):
                client.post(address, json={"tool": "search", "arguments": {"text": "x"}})
            ended.append(time.perf_counter())

        client = threading.Thread(target=waits, args=(service.url,))
        client.start()
        while not service.struck:
            time.sleep(0.005)
        start = time.perf_counter()
        service.reset(seed_of(faults, "timeout", at=6))
        client.join()
        assert ended[0] - start < HANG / 2


def test_closing_does_not_wait_for_a_call_that_hangs() -> None:
    faults = Faults(timeout=1)
    service = Service(SCENARIO, faults)
    service.reset(seed_of(faults, "timeout", at=1))
    with pytest.raises(TimeoutError):
        service.call("search", text="x")
    start = time.perf_counter()
    service.close()
    assert time.perf_counter() - start < HANG / 2


def test_silent_faults_raise_nothing_and_spoil_the_state_or_the_answer() -> None:
    lost, stale = Faults(lost_write=1), Faults(stale_read=1)
    with Service(SCENARIO, lost) as service:
        service.reset(seed_of(lost, "lost_write", at=1))
        flawless(service.call, SCENARIO.instruction, np.random.default_rng(0))
        assert (service.failure, service.struck) == (None, "lost_write")
        verdict = grade(service.start, service.state(), SCENARIO.task)
        assert [finding.place for finding in verdict.missing] == ["customers/C3/address"]
    with Service(SCENARIO, stale) as service:
        service.reset(seed_of(stale, "stale_read", at=1))
        service.call("cancel_order", order_id="W1001")
        assert service.call("read", table="orders", id="W1001")["status"] == "processing"
        assert service.call("read", table="orders", id="W1001")["status"] == "cancelled"
        assert (service.failure, service.struck) == (None, "stale_read")


# --- runs ---------------------------------------------------------------------------------

SOME = Faults(timeout=0.04, server_error=0.08, rate_limit=0.08, crash=0.1, lost_write=0.1)


def test_a_run_over_sockets_and_one_in_process_leave_the_same_log(tmp_path: Path) -> None:
    logs = []
    for sockets in (True, False):
        log = tmp_path / f"{sockets}.jsonl"
        with Service(SCENARIO, SOME, sockets=sockets) as service:
            run_suite(Setup("x", ["a"], 25), service.harness(simulated(CAREFUL, SCENARIO)), log)
        logs.append(log.read_bytes())
    assert logs[0] == logs[1]
    assert logs[0].count(b"infra failure") > 3


def test_an_agent_that_hides_a_fault_does_not_hide_it_from_the_log() -> None:
    def stubborn(call: Callable[..., Any], instruction: str, rng: np.random.Generator) -> bool:
        def again(tool: str, **arguments: Any) -> Any:
            try:
                return call(tool, **arguments)
            except httpx.HTTPStatusError:
                return call(tool, **arguments)

        return flawless(again, instruction, rng)

    with Service(SCENARIO, Faults(rate_limit=1), sockets=False) as service:
        log = run_suite(Setup("x", ["a"], 3, retries=0), service.harness(stubborn))
    assert list(log["tag"]) == [INFRA_FAILURE] * 3
    assert list(log["verdict"]) == ["pass"] * 3


def test_tagged_retries_give_the_score_without_faults_and_untagged_faults_lower_it() -> None:
    faults = Faults(server_error=0.1, rate_limit=0.1)
    setup = Setup("x", ["a"], trials=400)
    with Service(SCENARIO, faults, sockets=False) as service:
        log = run_suite(setup, service.harness(flawless))
    table = trial_rows(log, ["a"], 400)
    assert table["success"].dropna().all()
    untagged = log.loc[log["attempt"] == 0, "success"].fillna(False).mean()
    assert untagged == pytest.approx(measured_pass_hat_k(1, 0.2), abs=4 * 0.02)
    assert 400 - len(table["success"].dropna()) < 8  # 0.2^4 of 400: 0.6 in the mean


def test_a_step_budget_is_kept_and_is_the_agents() -> None:
    with Service(SCENARIO, sockets=False) as service:
        setup = Setup("x", ["a"], 1, max_steps=4)
        log = run_suite(setup, service.harness(flawless, max_steps=4))
        assert log[["tag", "kind", "steps"]].to_dict("records") == [
            {"tag": "agent failure", "kind": "budget exhausted", "steps": 4}
        ]
        log = run_suite(setup, service.harness(flawless, max_steps=6))
        assert list(log["tag"]) == ["agent success"]


def test_a_crash_of_the_policy_is_not_evaluated_and_a_refusal_let_through_ends_without_a_claim() -> (
    None
):
    def crashes(call: Callable[..., Any], instruction: str, rng: np.random.Generator) -> bool:
        call("search", text="Okafor")
        raise ZeroDivisionError

    def gives_up(call: Callable[..., Any], instruction: str, rng: np.random.Generator) -> bool:
        call("cancel_order", order_id="W1002")
        return True

    with Service(SCENARIO, sockets=False) as service:
        setup = Setup("x", ["a"], 1)
        log = run_suite(setup, service.harness(crashes))
        assert list(log["kind"]) == ["unknown: ZeroDivisionError"]
        assert list(run_suite(setup, service.harness(gives_up))["tag"]) == ["agent failure"]


def test_a_claim_must_be_a_truth_value() -> None:
    policy: Any = lambda call, instruction, rng: None  # noqa: E731
    with (
        Service(SCENARIO, sockets=False) as service,
        pytest.raises(RunError, match="whether it claims success"),
    ):
        run_suite(Setup("x", ["a"], 1), service.harness(policy))


def test_the_trace_tells_episodes_apart_by_what_was_done() -> None:
    with Service(SCENARIO, sockets=False) as service:
        log = run_suite(Setup("x", ["a"], 12), service.harness(simulated(AGGRESSIVE, SCENARIO)))
    assert 1 < log["trace"].nunique() <= 12
    assert log["start"].nunique() == 1


# --- it is always shut down ---------------------------------------------------------------


def test_a_taken_port_is_an_error_that_says_so_and_leaves_nothing_behind() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match=f"port {port}: .*leave it out to get a free one"):
            Service(SCENARIO, port=port)


def test_two_services_run_side_by_side() -> None:
    with Service(SCENARIO) as one, Service(SCENARIO) as two:
        one.call("cancel_order", order_id="W1001")
        assert two.call("read", table="orders", id="W1001")["status"] == "processing"


def test_a_port_is_free_again_once_its_service_is_closed() -> None:
    with Service(SCENARIO) as service:
        port = int(service.url.split(":")[2].split("/")[0])
        service.call("search", text="x")
    for _ in range(2):
        with Service(SCENARIO, port=port) as service:
            assert service.call("search", text="Okafor")
            service.kill()
            service.reset()
            assert service.call("search", text="Okafor")


def test_an_error_in_the_block_closes_the_service() -> None:
    with pytest.raises(ZeroDivisionError), Service(SCENARIO) as service:
        raise ZeroDivisionError
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", int(service.url.split(":")[2].split("/")[0])))


def test_a_store_that_cannot_be_made_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("no rows")

    monkeypatch.setattr("evalkit.simulate.service.FaultyWorld", broken)
    with pytest.raises(RuntimeError, match="no rows"):
        Service(SCENARIO)


@pytest.mark.parametrize("kind", ["", *LOUD])
def test_a_program_that_forgets_to_close_ends_all_the_same(kind: str) -> None:
    program = f"""
import warnings
from evalkit.simulate.faults import Faults
from evalkit.simulate.service import Service
from evalkit.simulate.store import CUSTOMER_OPERATIONS
service = Service(CUSTOMER_OPERATIONS, Faults({f"{kind}=1" if kind else ""}))
for _ in range(6):
    try:
        service.call("search", text="x")
    except Exception as error:
        pass
"""
    run = subprocess.run([sys.executable, "-c", program], timeout=60, env={**os.environ})
    assert run.returncode == 0


PROGRAM = """
import sys
from evalkit.runner import Setup, run_suite
from evalkit.simulate.agents import CAREFUL, simulated
from evalkit.simulate.service import Service
from evalkit.simulate.store import CUSTOMER_OPERATIONS
from tests.simulate.test_service import SOME

with Service(CUSTOMER_OPERATIONS, SOME) as service:
    harness = service.harness(simulated(CAREFUL, CUSTOMER_OPERATIONS))
    run_suite(Setup("Careful", ["move"], trials=60), harness, sys.argv[1])
"""


def test_a_run_against_the_service_that_was_killed_is_gone_on_with(tmp_path: Path) -> None:
    log, calm = tmp_path / "killed.jsonl", tmp_path / "calm.jsonl"
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", PROGRAM]
    process = subprocess.Popen([*command, str(log)], cwd=root)
    deadline = time.monotonic() + 60
    while not (log.exists() and log.stat().st_size > 5_000):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.kill()
    process.wait()
    assert 0 < len(read_log(log)) < 60
    subprocess.run([*command, str(log)], cwd=root, check=True)
    subprocess.run([*command, str(calm)], cwd=root, check=True)
    assert log.read_bytes() == calm.read_bytes()

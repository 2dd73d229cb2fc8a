"""A model behind an endpoint: the loop, and whose failure what goes wrong on the way is."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import numpy as np
import pytest
from werkzeug.wrappers import Request, Response

from evalkit.infra import AGENT_FAILURE, INFRA_FAILURE, NOT_EVALUATED, SUCCESS
from evalkit.runlog import RunError
from evalkit.runner import Setup, run_suite
from evalkit.simulate.models import (
    KINDS,
    Endpoint,
    endpoint_from_environment,
    model_policy,
    tool_specs,
)
from evalkit.simulate.store import CUSTOMER_OPERATIONS, TOOLS
from evalkit.simulate.tickets import TICKETS, desk, harness

URL = "http://model.invalid/v1/chat/completions"
DONE = {"role": "assistant", "content": " done: all of it"}
#: What a fake model says to the messages so far.
Says = Callable[[list[dict[str, Any]]], Any]


def asks(tool: str, arguments: Any, number: int = 0) -> dict[str, Any]:
    """A message that asks for one call."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": tool, "arguments": text}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def endpoint(says: Says, seen: list[dict[str, Any]] | None = None, **settings: Any) -> Endpoint:
    """A WSGI application in this process that answers as a chat-completions server does."""

    def application(environ: Any, start_response: Any) -> Any:
        body = Request(environ).get_json()
        if seen is not None:
            seen.append(body | {"authorization": environ.get("HTTP_AUTHORIZATION")})
        said = says(body["messages"])
        response = said
        if not isinstance(said, Response):
            text = json.dumps({"choices": [{"index": 0, "message": said}]})
            response = Response(text, mimetype="application/json")
        return response(environ, start_response)

    client = httpx.Client(transport=httpx.WSGITransport(application))
    return Endpoint(URL, client=client, **settings)


def in_turn(*messages: Any) -> Says:
    """A model that says these in turn, one for each answer it gave before."""

    def says(so_far: list[dict[str, Any]]) -> Any:
        return messages[sum(message["role"] == "assistant" for message in so_far)]

    return says


def attempts(said: Endpoint, retries: int = 0, turns: int = 30, ticket: str = "cancel") -> Any:
    """One trial of a ticket by the model, all attempts."""
    policy = model_policy(said, CUSTOMER_OPERATIONS.tools, turns)
    with desk(sockets=False) as services:
        return run_suite(Setup("model", [ticket], 1, retries), harness(services, policy))


READ = asks("read", {"table": "orders", "id": "W1004"})
CANCEL = asks("cancel_order", {"order_id": "W1004"}, 1)


def test_a_model_that_does_the_job_passes() -> None:
    rows = attempts(endpoint(in_turn(READ, CANCEL, DONE)))
    assert rows[["tag", "steps"]].values.tolist() == [[SUCCESS, 2]]


def test_it_is_told_the_tools_the_instruction_and_what_came_of_each_call() -> None:
    seen: list[dict[str, Any]] = []
    attempts(endpoint(in_turn(READ, CANCEL, DONE), seen, model="m", key="secret"))
    first, second, third = seen
    assert first["model"] == "m"
    assert first["authorization"] == "Bearer secret"
    assert [tool["function"]["name"] for tool in first["tools"]] == [
        tool.__name__ for tool in CUSTOMER_OPERATIONS.tools
    ]
    assert first["messages"][1] == {"role": "user", "content": TICKETS["cancel"].instruction}
    told = second["messages"][-1]
    assert (told["role"], told["tool_call_id"]) == ("tool", "call_0")
    assert json.loads(told["content"])["status"] == "processing"
    assert third["messages"][:4] == second["messages"]


def test_settings_are_sent_and_none_leaves_a_field_out() -> None:
    seen: list[dict[str, Any]] = []
    attempts(endpoint(in_turn(DONE), seen, settings={"temperature": 0.5, "seed": None}))
    assert seen[0]["temperature"] == 0.5
    assert "seed" not in seen[0]


def test_what_a_server_adds_to_an_answer_is_not_sent_back() -> None:
    seen: list[dict[str, Any]] = []
    added = READ | {"reasoning_content": "let me see", "refusal": None}
    del added["role"]
    attempts(endpoint(in_turn(added, CANCEL, DONE), seen))
    assert seen[1]["messages"][2] == {"role": "assistant"} | {
        name: READ[name] for name in ("content", "tool_calls")
    }


def test_trials_ask_with_seeds_of_their_own() -> None:
    seen: list[dict[str, Any]] = []
    policy = model_policy(endpoint(in_turn(DONE), seen), TOOLS)
    for number in (1, 1, 2):
        policy(print, "Nothing.", np.random.default_rng(number))
    seeds = [body["seed"] for body in seen]
    assert seeds[0] == seeds[1] != seeds[2]


def test_calls_asked_for_together_are_made_in_order() -> None:
    both = asks("read", {"table": "orders", "id": "W1004"})
    both["tool_calls"] += CANCEL["tool_calls"]
    assert attempts(endpoint(in_turn(both, DONE)))["tag"].tolist() == [SUCCESS]


@pytest.mark.parametrize(
    ("said", "claim"),
    [
        ("DONE", True),
        ("\n Done.", True),
        ("FAILED: no", False),
        ("It is DONE", False),
        (None, False),
    ],
)
def test_the_claim_is_how_the_last_answer_begins(said: str | None, claim: bool) -> None:
    policy = model_policy(endpoint(in_turn({"role": "assistant", "content": said})), TOOLS)
    assert policy(print, "Nothing.", np.random.default_rng(0)) is claim


# --- what the agent does wrong ------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (asks("cancel_order", '{"order_id": W1004}'), "the arguments are no JSON"),
        (asks("cancel_order", '["W1004"]'), "the arguments must be a JSON object, not list"),
        (asks("drop_order", {"order_id": "W1004"}), "there is no tool 'drop_order'"),
        (asks("cancel_order", {"order": "W1004"}), "missing a required argument: 'order_id'"),
        (asks("cancel_order", {"order_id": 1004}), "order_id must be str, not 1004"),
        (asks("issue_refund", '{"order_id": "W1004", "amount_cents": NaN}'), "issue_refund"),
    ],
)
def test_a_malformed_call_is_told_to_the_agent_which_may_mend_it(wrong: Any, told: str) -> None:
    seen: list[dict[str, Any]] = []
    mended = attempts(endpoint(in_turn(wrong, READ, CANCEL, DONE), seen), retries=3)
    assert mended["tag"].tolist() == [SUCCESS]
    assert told in json.loads(seen[1]["messages"][-1]["content"])["error"]
    left = attempts(endpoint(in_turn(wrong, DONE)), retries=3)
    assert left["tag"].tolist() == [AGENT_FAILURE]


def test_an_agent_that_answers_without_any_call_has_failed_and_is_not_run_again() -> None:
    rows = attempts(endpoint(in_turn(DONE)), retries=3)
    assert rows[["tag", "kind", "steps"]].values.tolist() == [[AGENT_FAILURE, "", 0]]


def test_an_agent_that_never_stops_uses_up_its_turns() -> None:
    rows = attempts(endpoint(lambda so_far: READ), retries=3, turns=5)
    assert rows[["tag", "kind", "steps"]].values.tolist() == [
        [AGENT_FAILURE, "budget exhausted", 5]
    ]


def test_a_context_that_overflows_is_the_agents() -> None:
    said = Response('{"error": {"code": "context_length_exceeded"}}', 400)
    rows = attempts(endpoint(in_turn(READ, said)), retries=3)
    assert rows[["tag", "kind"]].values.tolist() == [[AGENT_FAILURE, "context overflow"]]


# --- what the endpoint does wrong ---------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (Response("busy", 503), "server error"),
        (Response("slow down", 429), "rate limit"),
        (Response("<html>", 200), "environment failure"),
        (Response('{"choices": []}', 200), "environment failure"),
        (Response('{"choices": [{"message": null}]}', 200), "environment failure"),
        (Response('{"choices": [{"message": {"tool_calls": [{}]}}]}', 200), "environment failure"),
    ],
)
def test_an_endpoint_that_fails_is_no_failure_of_the_agent(said: Response, kind: str) -> None:
    rows = attempts(endpoint(in_turn(READ, said)), retries=1)
    assert rows[["tag", "kind"]].values.tolist() == [[INFRA_FAILURE, kind]] * 2


@pytest.mark.parametrize(
    ("error", "kind"),
    [(httpx.ReadTimeout("slow"), "timeout"), (httpx.ConnectError("gone"), "connection lost")],
)
def test_no_answer_is_no_failure_of_the_agent(error: Exception, kind: str) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        raise error

    client = httpx.Client(transport=httpx.MockTransport(handler))
    rows = attempts(Endpoint(URL, client=client))
    assert rows[["tag", "kind"]].values.tolist() == [[INFRA_FAILURE, kind]]


def test_a_request_that_the_endpoint_does_not_take_is_nobodys_until_somebody_has_looked() -> None:
    rows = attempts(endpoint(in_turn(Response("no such field: seed", 400))), retries=3)
    assert rows["tag"].tolist() == [NOT_EVALUATED]
    assert "HTTP 400" in rows["error"].iloc[0]
    assert "no such field: seed" in rows["error"].iloc[0]


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_key_or_address_ends_the_run(status: int) -> None:
    with pytest.raises(RunError, match=f"HTTP {status} .*check the address"):
        attempts(endpoint(in_turn(Response("no", status)), key="secret"))


def test_the_key_is_not_shown() -> None:
    said = endpoint(in_turn(Response("no", 401)), key="secret")
    with pytest.raises(RunError) as raised:
        attempts(said)
    assert "secret" not in repr(said) + str(raised.value)


# --- the environment, and the tools -------------------------------------------------------


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("EVALKIT_MODEL_URL", "EVALKIT_MODEL", "EVALKIT_MODEL_KEY"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_without_the_variable_there_is_no_endpoint(variables: pytest.MonkeyPatch) -> None:
    assert endpoint_from_environment() is None


def test_one_variable_is_enough(variables: pytest.MonkeyPatch) -> None:
    variables.setenv("EVALKIT_MODEL_URL", URL)
    found = endpoint_from_environment()
    assert found is not None
    assert (found.url, found.model, found.key) == (URL, "default", "")
    found.client.close()


def test_name_and_key_are_taken_where_they_are_given(variables: pytest.MonkeyPatch) -> None:
    for name, value in (("_URL", URL), ("", "small"), ("_KEY", "secret")):
        variables.setenv(f"EVALKIT_MODEL{name}", value)
    found = endpoint_from_environment()
    assert found is not None
    assert (found.model, found.key) == ("small", "secret")
    found.client.close()


def test_what_is_no_address_is_refused(variables: pytest.MonkeyPatch) -> None:
    variables.setenv("EVALKIT_MODEL_URL", "localhost:8000")
    with pytest.raises(RunError, match="EVALKIT_MODEL_URL: 'localhost:8000' is no address"):
        endpoint_from_environment()


def test_a_tool_is_described_by_its_docstring_and_its_types() -> None:
    specs = {spec["function"]["name"]: spec["function"] for spec in tool_specs(TOOLS)}
    assert specs["cancel_order"]["description"] == "Cancel an order that is still processing."
    schema = specs["issue_refund"]["parameters"]
    assert schema["required"] == ["order_id", "amount_cents"]
    assert schema["properties"]["amount_cents"] == {"type": "integer"}
    every = tool_specs(CUSTOMER_OPERATIONS.tools)
    assert "world" not in json.dumps(every)
    assert set(KINDS.values()) >= {"string", "integer", "null"}

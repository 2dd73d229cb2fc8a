"""A policy that a language model drives: any endpoint that speaks the chat-completions protocol.

The loop is short. The model is told the instruction and the tools; each call that it asks for is
made, and it sees the result; when it answers without a call, the episode is over. What goes wrong
on the way is somebody's:

- no answer in time, no connection, HTTP 429 or 5xx, an answer that is no chat completion: the
  endpoint's, raised as it is, so that `evalkit.infra.CAUSES` calls it an infra failure;
- a tool that does not exist, arguments that are no JSON object, a refusal: the agent's, which is
  told and may do better; a context that overflows or turns that run out: the agent's, at once;
- HTTP 401, 403 or 404: the set-up's, which ends the run, since each episode would meet it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import getdoc, signature
from typing import Any, get_args, get_type_hints

import httpx
import numpy as np

from evalkit.infra import BudgetExhausted, EnvironmentFailure
from evalkit.runlog import RunError
from evalkit.simulate.agents import Policy
from evalkit.simulate.world import Tool, ToolError

SYSTEM = (
    "You do jobs in a record store by calling tools, and change nothing that you are not asked to "
    "change. When you have finished, answer without calling a tool. Begin with DONE if all of the "
    "job is done, or with FAILED if it is not."
)
#: JSON's name for a type that a tool's argument may have.
KINDS = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


@dataclass(frozen=True)
class Endpoint:
    """Where a model answers, and how it is asked.

    Parameters
    ----------
    url
        In full, up to ``/chat/completions``.
    model
        Its name there. A server that holds one model mostly takes any.
    key
        Sent as a bearer token, if there is one; never shown.
    settings
        Further fields of each request, such as ``{"temperature": 0}``; by default the server's own
        settings hold. Report them: another temperature is another agent. None leaves a field out:
        ``{"seed": None}`` for a server that takes no seed.
    client
        Sends the requests, with its own time limits.
    """

    url: str
    model: str = "default"
    key: str = field(default="", repr=False)
    settings: Mapping[str, Any] = field(default_factory=dict)
    client: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=120), repr=False)

    def answer(self, messages: Sequence[Any], tools: Sequence[Any], seed: int) -> dict[str, Any]:
        """The model's next message.

        Raises
        ------
        httpx.TransportError, httpx.HTTPStatusError, EnvironmentFailure
            If the endpoint fails. The status and the first words of its answer are in the message.
        RunError
            If it is not there, or refuses the key.
        """
        asked = {"model": self.model, "messages": messages, "tools": tools, "seed": seed}
        body = {k: v for k, v in (asked | dict(self.settings)).items() if v is not None}
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        response = self.client.post(self.url, json=body, headers=headers)
        said = f"HTTP {response.status_code} from {self.url}: {response.text[:500]}"
        if response.status_code in (401, 403, 404):
            raise RunError(f"{said}; check the address of the model, its name and its key")
        if not response.is_success:
            raise httpx.HTTPStatusError(said, request=response.request, response=response)
        try:
            message = response.json()["choices"][0]["message"]
            for call in message.get("tool_calls") or ():
                _ = call["id"], call["function"]["name"], call["function"]["arguments"]
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise EnvironmentFailure(f"no chat completion: {said}") from error
        # Nothing else goes back: some servers refuse what they added themselves.
        return {"role": "assistant"} | {
            k: message[k] for k in ("content", "tool_calls") if k in message
        }


def endpoint_from_environment() -> Endpoint | None:
    """The endpoint that the environment names, or None.

    ``EVALKIT_MODEL_URL`` is enough for a server on your machine. ``EVALKIT_MODEL`` names the model
    and ``EVALKIT_MODEL_KEY`` holds the key, where they are needed.

    Raises
    ------
    RunError
        If the address is none that can be asked.
    """
    url = os.environ.get("EVALKIT_MODEL_URL", "").strip()
    if not url:
        return None
    if not url.startswith(("http://", "https://")):
        raise RunError(f"EVALKIT_MODEL_URL: {url!r} is no address; begin with http:// or https://")
    model, key = (os.environ.get(f"EVALKIT_MODEL{part}", "") for part in ("", "_KEY"))
    return Endpoint(url, model or "default", key)


def tool_specs(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """What a model is told of the tools: name, docstring, and the arguments as a JSON schema.

    Examples
    --------
    >>> from evalkit.simulate.store import read
    >>> (spec,) = tool_specs([read])
    >>> spec["function"]["parameters"]["properties"]
    {'table': {'type': 'string'}, 'id': {'type': ['string', 'integer']}}
    """
    return [{"type": "function", "function": _spec(tool)} for tool in tools]


def _spec(tool: Tool) -> dict[str, Any]:
    hints = get_type_hints(tool)
    names = list(signature(tool).parameters)[1:]  # the first one is the world
    properties = {name: {"type": _kind(hints[name])} for name in names}
    schema = {"type": "object", "properties": properties, "required": names}
    return {"name": tool.__name__, "description": getdoc(tool), "parameters": schema}


def _kind(hint: Any) -> str | list[str]:
    kinds = [KINDS[kind] for kind in get_args(hint) or (hint,)]
    return kinds if len(kinds) > 1 else kinds[0]


def model_policy(endpoint: Endpoint, tools: Sequence[Tool], max_turns: int = 30) -> Policy:
    """The policy of a model: it is asked, acts, sees what came of it, and is asked again.

    Parameters
    ----------
    endpoint
        Where it answers.
    tools
        A scenario's, to be described to it. Each is called through the policy's `call`.
    max_turns
        The most answers of one episode; then `BudgetExhausted` ends it.

    Examples
    --------
    >>> def clay(request):  # in place of a model, a function
    ...     asked = json.loads(request.content)["messages"]
    ...     return httpx.Response(200, json={"choices": [{"message": {
    ...         "role": "assistant", "content": f"FAILED: what is {asked[-1]['content']!r}?"}}]})
    >>> client = httpx.Client(transport=httpx.MockTransport(clay))
    >>> policy = model_policy(Endpoint("http://model.invalid/v1/chat/completions", client=client), [])
    >>> policy(None, "Tidy up.", np.random.default_rng(0))
    False
    """
    specs = tool_specs(tools)

    def policy(call: Callable[..., Any], instruction: str, rng: np.random.Generator) -> bool:
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": instruction},
        ]
        for _ in range(max_turns):
            message = endpoint.answer(messages, specs, seed=int(rng.integers(2**31)))
            messages.append(message)
            if not message.get("tool_calls"):
                return str(message.get("content") or "").strip().upper().startswith("DONE")
            messages += [_result(call, asked) for asked in message["tool_calls"]]
        raise BudgetExhausted(f"{max_turns} turns")

    return policy


def _result(call: Callable[..., Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """The message that tells the model what came of a call it asked for."""
    try:
        result = call(str(asked["function"]["name"]), **_arguments(asked["function"]["arguments"]))
    except ToolError as error:
        result = {"error": str(error)}
    return {"role": "tool", "tool_call_id": asked["id"], "content": json.dumps(result)}


def _arguments(text: Any) -> dict[str, Any]:
    """The arguments as the model wrote them; it is told if they are no JSON object."""
    try:
        arguments = json.loads(text or "{}") if isinstance(text, str | None) else text
    except ValueError as error:
        raise ToolError(f"the arguments are no JSON: {error}") from error
    if not isinstance(arguments, dict):
        raise ToolError(f"the arguments must be a JSON object, not {type(arguments).__name__}")
    return arguments

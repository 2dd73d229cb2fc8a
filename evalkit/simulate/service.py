"""A world behind a real HTTP service on this machine, which fails on purpose.

`Service` runs any scenario's tools behind a small WSGI application. Where there are sockets, a
Werkzeug server serves it on a free port of the loopback address; in a browser, where there are
none, the same application is called in the same process. An agent notices no difference: `call`
is the `call` of a `World`, and a policy that runs on the one runs on the other.
"""

from __future__ import annotations

import json
import logging
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Self

import httpx
import numpy as np
from werkzeug.exceptions import BadRequest, HTTPException, InternalServerError, NotFound
from werkzeug.wrappers import Request, Response

from evalkit.grading import grade
from evalkit.infra import BudgetExhausted
from evalkit.runner import Harness, Outcome, RunError
from evalkit.simulate.agents import Policy
from evalkit.simulate.faults import NO_FAULTS, Answer, Faults, FaultyWorld
from evalkit.simulate.world import Action, Scenario, ToolError
from evalkit.snapshots import snapshot
from evalkit.statediff import State

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment
    from werkzeug.serving import BaseWSGIServer

HOST = "127.0.0.1"
# Seconds: what a call may take, how long a call that is known to hang is waited for, and how long
# it hangs for a client that knows nothing.
PATIENCE, SHORT_PATIENCE, HANG = 10.0, 0.2, 5.0


class Service:
    """A world of a scenario behind HTTP, with the faults that a seed gives to each episode.

    ``POST`` to `url` with ``{"tool": "read", "arguments": {"table": "orders", "id": "W1001"}}``:
    200 brings the ``result``, 422 the ``error`` of a tool that refuses. An episode has an address
    of its own, so that a call of an earlier one that comes late writes nothing (404).

    Parameters
    ----------
    scenario
        What the world is made of.
    faults
        How it fails.
    seed
        Decides the rows that the scenario draws.
    port
        A free one by default.
    sockets
        Whether to serve on the loopback address, or else to call the application in this process.

    Attributes
    ----------
    start : dict
        The state at the start of this episode.
    failure : Exception or None
        The first failure of the environment in this episode that `call` raised.

    Raises
    ------
    ValueError
        If the port is taken.

    Examples
    --------
    >>> from evalkit.simulate.store import CUSTOMER_OPERATIONS
    >>> with Service(CUSTOMER_OPERATIONS, Faults(rate_limit=1)) as service:
    ...     for _ in range(6):
    ...         service.call("read", table="orders", id="W1001")["status"]
    Traceback (most recent call last):
    ...
    httpx.HTTPStatusError: read: HTTP 429
    """

    def __init__(
        self,
        scenario: Scenario,
        faults: Faults = NO_FAULTS,
        seed: int = 0,
        *,
        port: int = 0,
        sockets: bool = sys.platform != "emscripten",
    ) -> None:
        self.scenario = scenario
        self._port, self._down, self._hang, self._number = port, False, threading.Event(), 0
        self._server: BaseWSGIServer | None = None
        # A SQLite connection belongs to one thread, and the server has several.
        self._owner = ThreadPoolExecutor(1) if sockets else None
        transport = None if sockets else httpx.WSGITransport(self._application)
        self._client = httpx.Client(transport=transport, trust_env=False)
        with ExitStack() as opened:
            if self._owner:
                opened.callback(self._owner.shutdown)
            opened.callback(self._client.close)
            self._store: FaultyWorld = self._do(FaultyWorld, scenario, faults, seed)
            opened.callback(self._do, self._store.close)
            if sockets:
                self._server, self._serving = _serve(self._application, port)
                opened.callback(self._stop)
            self.reset()
            self._opened = opened.pop_all()

    def reset(self, seed: int = 0) -> None:
        """Restore the store and draw the next episode's fault; a server that is down starts."""
        self._hang.set()  # calls that still hang end
        if self._down and self._server:
            self._stop()
            self._server, self._serving = _serve(self._application, self._port)
        self._down, self._hang, self._number = False, threading.Event(), self._number + 1
        self._do(self._store.reset, seed)
        self.start = self.state()
        self.failure: Exception | None = None

    @contextmanager
    def episode(self, seed: int = 0) -> Iterator[Self]:
        """A fresh episode, and the service to act on."""
        self.reset(seed)
        yield self

    @property
    def url(self) -> str:
        """Where the calls of this episode go."""
        return f"http://{HOST}:{self._server.port if self._server else 80}/episodes/{self._number}"

    @property
    def trajectory(self) -> tuple[Action, ...]:
        """The calls of this episode that arrived, each with the answer that it was given."""
        return tuple(self._store.actions)

    @property
    def struck(self) -> str:
        """The fault that has struck in this episode, or none (""): the truth behind a tag."""
        return self._store.struck

    def state(self) -> State:
        """What the store holds, read past the service and its faults."""
        return dict(self._do(snapshot, self._store.world.connection))

    def call(self, tool: str, /, **arguments: Any) -> Any:
        """What a tool returns, over HTTP; otherwise as `World.call`.

        Raises
        ------
        ToolError
            If the tool refuses.
        TimeoutError, ConnectionError, httpx.HTTPStatusError
            If the environment fails.
        """
        hangs = self._store.due == "timeout" and len(self._store.actions) + 1 == self._store.at
        patience = httpx.Timeout(PATIENCE, read=SHORT_PATIENCE if hangs else PATIENCE)
        body = {"tool": tool, "arguments": arguments}
        try:
            response = self._client.post(self.url, json=body, timeout=patience)
        except (TypeError, ValueError) as error:  # arguments that JSON cannot hold
            raise ToolError(f"{tool}: {error}") from error
        except (httpx.TimeoutException, TimeoutError):
            failure: Exception = TimeoutError(f"{tool}: no answer in time")
        except (httpx.TransportError, ConnectionError):
            failure = ConnectionError(f"{tool}: the connection was lost")
        else:
            if response.status_code == 422:
                raise ToolError(response.json()["error"])
            if response.is_success:
                return response.json()["result"]
            status = f"{tool}: HTTP {response.status_code}"
            failure = httpx.HTTPStatusError(status, request=response.request, response=response)
        self.failure = self.failure or failure
        raise failure

    def kill(self) -> None:
        """Take the server down, as a crash does; `reset` starts another."""
        self._down = True
        self._hang.set()
        if self._server:
            self._server.shutdown()

    def _stop(self) -> None:
        self.kill()
        self._serving.join()

    def close(self) -> None:
        """Stop the server, its threads and the store. A service in a `with` block closes itself."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def harness(self, policy: Policy, max_steps: int | None = None) -> Harness:
        """How `evalkit.runner.run_suite` runs a policy here.

        An episode in which `call` raised a failure of the environment carries it, even if the
        policy went on: such an episode is no sample of the agent, passed or not.

        Parameters
        ----------
        policy
            The agent. It is given a call, and nothing else of the service.
        max_steps
            Its step budget; the call after the last one raises BudgetExhausted.

        Returns
        -------
        Harness
        """

        def call(tool: str, /, **arguments: Any) -> Any:
            if max_steps is not None and len(self._store.actions) >= max_steps:
                raise BudgetExhausted(f"{max_steps} steps")
            return self.call(tool, **arguments)

        def play(_: Any, task: str, rng: np.random.Generator) -> Outcome:
            claim, error = False, None
            try:
                claim = policy(call, self.scenario.instruction, rng)
            except ToolError:
                pass  # a refusal let through: no claim
            except RunError:
                raise  # the set-up's: every episode would meet it
            except Exception as raised:
                error = raised
            if not isinstance(claim, bool | np.bool_):
                raise RunError(f"policy: it must return whether it claims success, not {claim!r}")
            verdict = grade(self.start, self.state(), self.scenario.task)
            done = [[a.tool, a.arguments, a.result, a.error] for a in self.trajectory]
            error = self.failure or error
            return Outcome(verdict.status, len(done), trace=[bool(claim), done], error=error)

        return Harness(lambda task, seed: self.episode(seed), play, lambda _: self.start)

    def _do(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function in the thread that owns the store."""
        if self._owner:
            return self._owner.submit(function, *arguments).result()
        return function(*arguments)

    def _application(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        hang = self._hang
        if self._down:
            raise ConnectionError  # the server drops the connection
        try:
            status, body = self._answer(Request(environ))
        except HTTPException as error:
            return error(environ, start_response)
        except Exception:  # a tool or the store is broken
            logging.getLogger(__name__).exception("a call failed")
            return InternalServerError()(environ, start_response)
        if status:
            response = Response(json.dumps(body), status, mimetype="application/json")
            return response(environ, start_response)
        if body["error"] == "crash":
            self.kill()
        elif self._server:
            hang.wait(HANG)
        raise ConnectionError if self._server or self._down else TimeoutError

    def _answer(self, request: Request) -> Answer:
        if request.path != f"/episodes/{self._number}":
            raise NotFound
        match request.get_json():
            case {"tool": str(tool), "arguments": dict(arguments)}:
                return self._do(self._store.answer, tool, arguments)
        raise BadRequest


def _serve(application: WSGIApplication, port: int) -> tuple[BaseWSGIServer, threading.Thread]:
    """A server on the loopback address, and the thread that it runs in."""
    from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler  # where there are sockets

    class Quiet(WSGIRequestHandler):
        protocol_version = "HTTP/1.0"  # one request a connection, which ends with its handler

        def log(self, *_: Any) -> None: ...

    try:
        listening = socket.create_server((HOST, port))
    except OSError as error:
        raise ValueError(f"port {port}: {error}; leave it out to get a free one") from error
    with listening:
        server = ThreadedWSGIServer(HOST, port, application, Quiet, fd=listening.fileno())
    server.daemon_threads = False  # closing waits for the last answer
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    return server, thread

"""WebArena: the product of a string match, an address match and checks of page content.

A task names the checks that it needs. The answer that the agent stops with is compared with a
reference, the address of the last page with the address where it should be, and what stands at
named places of named pages with what should stand there. Each gives 0 or 1, and the score is their
product. A page that no check names is not opened.

Here the episode is acted out again on the store behind HTTP. A little desk of pages, one a record,
shows what the service answers, and the checks fetch these pages. All is compared whole; the original
looks for one address within another, and may do the same with answers and contents.

Zhou et al. 2023, *WebArena*, arXiv:2307.13854; ``evaluation_harness/evaluators.py`` in its
repository.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import httpx
from werkzeug.wrappers import Request, Response

from evalkit.answers import answer_matches, url_matches
from evalkit.course.systems.episode import GOLD, SEED, Grade, Played, act, grade_of
from evalkit.credit import product_of_parts
from evalkit.process import Action
from evalkit.simulate.service import Service
from evalkit.simulate.store import CUSTOMER_OPERATIONS
from evalkit.simulate.world import ToolError

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

HOME = "http://desk.test"
LAST_PAGE = f"{HOME}/customers/C3"

_ADDRESS, _, _REFUND, _NOTE = (call.arguments for call in GOLD)
#: Page and place to what must stand there.
CONTENT = {
    ("customers/C3", "address"): _ADDRESS["address"],
    ("orders/W1001", "status"): "cancelled",
    ("refunds/2", "order_id"): "W1001",
    ("refunds/2", "amount_cents"): str(_REFUND["amount_cents"]),
    ("notes/4", "customer_id"): "C3",
    ("notes/4", "text"): _NOTE["text"],
}


def desk(call: Callable[..., Any]) -> WSGIApplication:
    """The pages of the records, each made when it is asked for from what a tool answers.

    Parameters
    ----------
    call
        Of a service.

    Returns
    -------
    callable
        A WSGI application.
    """

    @Request.application
    def page(request: Request) -> Response:
        table, _, key = request.path.strip("/").partition("/")
        try:
            record = call("read", table=table, id=int(key) if key.isdecimal() else key)
        except ToolError as error:
            return Response(str(error), 404)
        rows = [
            f"<tr><th>{escape(name)}</th><td id='{escape(name)}'>{escape(str(value))}</td></tr>"
            for name, value in record.items()
        ]
        return Response(f"<table>{''.join(rows)}</table>", mimetype="text/html")

    return page


def last_page(actions: tuple[Action, ...]) -> str:
    """The address of the record that the last action was about.

    Examples
    --------
    >>> last_page((Action("cancel_order", {"order_id": "W1001"}),))
    'http://desk.test/orders/W1001'
    """
    about = dict(actions[-1].arguments) if actions else {}
    for name, table in (("customer_id", "customers"), ("order_id", "orders")):
        if name in about:
            return f"{HOME}/{table}/{about[name]}"
    return f"{HOME}/{about['table']}/{about['id']}" if "table" in about else f"{HOME}/"


def product_score(episode: Played, sockets: bool = sys.platform != "emscripten") -> Grade:
    """The product of the checks of an episode, acted out on the store behind HTTP.

    Parameters
    ----------
    episode : Played
        What is graded.
    sockets : bool
        Whether the service is served on the loopback address, or else called in this process.

    Examples
    --------
    >>> from evalkit.course.systems.episode import played
    >>> product_score(played("unfinished"), sockets=False).why
    'URL match; notes/4 customer_id; notes/4 text'
    """
    with Service(CUSTOMER_OPERATIONS, seed=SEED, sockets=sockets) as service:
        act(episode.calls, service.call)
        parts = {
            "string match": answer_matches(episode.answer, "42.50", "number"),
            "URL match": url_matches(last_page(service.trajectory), LAST_PAGE),
        }
        transport = httpx.WSGITransport(desk(service.call))
        with httpx.Client(transport=transport, base_url=HOME, trust_env=False) as browser:
            for (path, place), wanted in CONTENT.items():
                parts[f"{path} {place}"] = _text(browser.get(path), place) == wanted
    return grade_of(parts, product_of_parts(list(map(float, parts.values()))))


def _text(response: httpx.Response, place: str) -> str | None:
    if not response.is_success:
        return None
    return ElementTree.fromstring(response.text).findtext(f".//td[@id='{place}']")

"""An answer, or the address of a page, against a reference, by the kind that the task declares.

How an answer may be written depends on what it is: "$1,234.00" is the number 1234, yet the
identifier "00123" is not 123. So the kind is declared, both sides are read as that kind, and an
answer that cannot be read so does not match. It is compared whole: that a reference occurs
somewhere in a longer text proves nothing, since "it is not X" holds X.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NoReturn
from unicodedata import normalize
from urllib.parse import parse_qsl, unquote, urlsplit

from evalkit.forms import canonical, declare, has_form
from evalkit.values import MISSING

_FORMS = declare({"number": "number", "text": ["spaces", "caseless"]})
_CURRENCIES = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
_MARK = "[$€£¥]|USD|EUR|GBP|JPY|CHF|CAD|AUD|INR|CNY"
_AT_AN_END = re.compile(rf"\A([+-]?)\s*(?:{_MARK})\s*|\s*(?:{_MARK})\Z")
_IN_THREES = re.compile(r"[+-]?\d{1,3}([,'’ \u00a0\u2009\u202f])\d{3}(\1\d{3})*(\.\d*)?")
_DATES = ("%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%d %b %Y", "%b %d, %Y")
_PORTS = {"http": 80, "https": 443}


def answer_matches(answer: Any, reference: Any, kind: str) -> bool:
    """Whether an answer is the reference, read as one declared kind.

    Parameters
    ----------
    answer, reference
        What the agent said, whole, and what it should have said.
    kind : str
        ``number``: however it is written, with separators in threes, a currency (which must not be
        another than the reference's) or trailing zeros. True is no number.
        ``text``: but for case and runs of white space; punctuation counts, so C is not C++.
        ``identifier``: to the letter, leading zeros too.
        ``date``: a day as 2026-03-01, 1 March 2026 or March 1, 2026. What could be read as two
        days, like 01/03/2026, is none.
        ``url``: see `url_matches`.
        ``any of KIND``: one of a list of references is enough.

    Raises
    ------
    ValueError
        If the kind is unknown, or the reference cannot be read as it.

    Examples
    --------
    >>> answer_matches("$1,234.00", 1234, "number"), answer_matches("00123", "123", "identifier")
    (True, False)
    >>> answer_matches("It is not Paris", "Paris", "text")
    False
    >>> answer_matches("March 1, 2026", ["2026-03-01", "2026-03-02"], "any of date")
    True
    """
    one_kind = kind.removeprefix("any of ")
    if one_kind not in _READERS:
        raise ValueError(f"kind {kind!r}: known are {', '.join(_READERS)}, each also as 'any of'")
    if one_kind == kind:
        return _matches(answer, reference, kind, _READERS[kind])
    if not isinstance(reference, list | tuple) or not reference:
        raise ValueError(f"reference {reference!r}: {kind!r} takes a list of references")
    return True in [answer_matches(answer, one, one_kind) for one in reference]


def _matches(answer: Any, reference: Any, kind: str, read: Callable[[Any], Any]) -> bool:
    wanted = read(reference)
    if wanted is MISSING:
        raise ValueError(f"reference {reference!r} cannot be read as {kind}")
    if kind == "number" and len(_currencies(answer) | _currencies(reference)) > 1:
        return False
    return bool(read(answer) == wanted)


def _number(value: Any) -> Any:
    if type(value) is str:
        value = _AT_AN_END.sub(r"\1", value.strip().replace("−", "-"))
        if in_threes := _IN_THREES.fullmatch(value):
            value = value.replace(in_threes[1], "")
    return canonical(value, ("number",), _FORMS) if has_form(value, "number") else MISSING


def _currencies(value: Any) -> set[str]:
    return {_CURRENCIES.get(mark, mark) for mark in re.findall(_MARK, str(value))}


def _identifier(value: Any) -> Any:
    text = normalize("NFC", str(value)).strip() if isinstance(value, str | int) else ""
    return text or MISSING


def _text(value: Any) -> Any:
    text = _identifier(value)
    return text if text is MISSING else canonical(text, ("text",), _FORMS)


def _date(value: Any) -> Any:
    for form in _DATES if type(value) is str else ():
        with suppress(ValueError):
            return datetime.strptime(" ".join(value.split()), form).date()
    return value if type(value) is date else MISSING


def _page(url: Any, parameters: Collection[str] | None = None) -> Any:
    try:
        parts = urlsplit(str.strip(url))
        port = parts.port or _PORTS.get(parts.scheme)
    except (TypeError, ValueError):
        return MISSING
    path = [unquote(p, errors="surrogateescape") for p in parts.path.removesuffix("/").split("/")]
    query = parse_qsl(parts.query, keep_blank_values=True, errors="surrogateescape")
    kept = Counter(pair for pair in query if parameters is None or pair[0] in parameters)
    host = parts.scheme and parts.hostname and (parts.scheme, parts.username, parts.hostname, port)
    return (host, path, kept, parts.fragment) if host else MISSING


_READERS: dict[str, Callable[[Any], Any]] = {
    "number": _number,
    "text": _text,
    "identifier": _identifier,
    "date": _date,
    "url": _page,
}


def url_matches(url: Any, reference: str, parameters: Collection[str] | None = None) -> bool:
    """Whether an address is that of the page, with the parameters that matter.

    Scheme, host, port, path, query and fragment are compared as parts, never as one text. The
    order of the parameters, a last slash and the way a character is escaped make no difference.

    Parameters
    ----------
    url, reference : str
        The address reached, and the one to be reached.
    parameters : collection of str, optional
        The query parameters that matter; others may have any value or be there besides. All
        matter, and none may be added, unless this is given.

    Raises
    ------
    ValueError
        If the reference is no address with a scheme and a host.

    Examples
    --------
    >>> reached, wanted = "http://h/shop?price=0-25&brand=x", "http://h/shop?price=0-25"
    >>> url_matches(reached, wanted), url_matches(reached, wanted, parameters=["price"])
    (False, True)
    """
    return _matches(url, reference, "url", lambda value: _page(value, parameters))


@dataclass(frozen=True)
class Mention:
    """Whether a text mentions something, which is necessary for an answer and never sufficient.

    It has no truth value, so that it cannot be taken for a match. Only ``absent`` decides
    anything: where it is true, the answer is wrong.
    """

    absent: bool

    def __bool__(self) -> NoReturn:
        raise TypeError("a mention proves no answer: see .absent, and decide by answer_matches")

    def __str__(self) -> str:
        return "absent" if self.absent else "mentioned: necessary, not sufficient"

    __repr__ = __str__


def contains(text: str, reference: Any) -> Mention:
    """Whether a text mentions a reference, word by word and number by number.

    Parameters
    ----------
    text : str
        What the agent said.
    reference
        What should be in it.

    Returns
    -------
    Mention
        Which decides nothing, unless the reference is absent.

    Raises
    ------
    ValueError
        If the reference holds no word.

    Examples
    --------
    >>> contains("It costs $100", "10"), contains("It costs $100", 100)
    (absent, mentioned: necessary, not sufficient)
    >>> contains("It is not Quest Lumaflex Band.", "quest lumaflex band")
    mentioned: necessary, not sufficient
    """
    words, sought = _words(text), _words(str(reference))
    if not sought:
        raise ValueError(f"reference {reference!r} holds no word")
    starts = range(len(words) - len(sought) + 1)
    return Mention(not any(words[i : i + len(sought)] == sought for i in starts))


def _words(text: str) -> list[Any]:
    """The words of a text in normal form, those that are numbers as numbers."""
    bare = (word.lstrip("([\"'“‘").rstrip(".,;:!?)]\"'”’") for word in text.split())
    return [_text(word) if _number(word) is MISSING else _number(word) for word in bare if word]

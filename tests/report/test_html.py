"""The page: nothing in it runs or is fetched, all of it is whole, and the picture says the numbers."""

import re
from html.parser import HTMLParser
from typing import Any

import pandas as pd
import pytest

from evalkit import Evidence, ReportCard
from evalkit.report import report_card
from evalkit.report.html import BOTTOM, TOP, fragment, page, plot, shown

EVIL = "<script>alert(1)</script>\"'&\u202e"
VOID = {"meta", "line", "circle", "polygon", "polyline", "br"}


class Tags(HTMLParser):
    """The tags and the text of a page; an unbalanced one is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def card(title: str = "shop", k: int = 4, **evidence: Any) -> ReportCard:
    rows = [
        (task, j, float(j < c)) for task, c in (("a", k), (EVIL, 1), ("c", 2)) for j in range(k)
    ]
    frame = pd.DataFrame(rows, columns=["task", "trial", "success"]).assign(infra=False)
    return report_card(frame, title=title, evidence=Evidence(**evidence))


def hostile() -> ReportCard:
    """A card with a script wherever a log, or whoever states the evidence, may put a text."""
    rows = {"task": [EVIL, EVIL, "b"], "trial": [0, 1, 0], "success": [1.0, 0.0, None]}
    columns = ("agent", "file", "environment_version", "user_model", "max_steps")
    frame = pd.DataFrame(rows | dict.fromkeys(columns, EVIL)).assign(
        infra=False, violations=[[EVIL], [], None], user_settings=[{EVIL: EVIL}] * 3,
        tag="not evaluated", kind=EVIL,
    )  # fmt: skip
    evidence = Evidence(
        rules=[EVIL], exposures=[EVIL], baselines={EVIL: (1, 2)}, fingerprint={EVIL: EVIL},
        stated={"faults": EVIL},
    )  # fmt: skip
    return report_card(frame, k=1, evidence=evidence)


def test_a_task_named_script_is_text() -> None:
    for text in (page([hostile(), hostile()]), fragment(hostile())):
        tags = Tags(text)
        assert {tag for tag, _ in tags.seen}.isdisjoint({"script", "iframe", "img", "a", "link"})
        assert not [name for _, attrs in tags.seen for name in attrs if name.startswith("on")]
        assert text.count("&lt;script&gt;") > 12
        assert "<script>alert(1)</script>" in tags.text
        assert "\u202e" not in text


def test_a_page_is_one_file_and_fetches_nothing() -> None:
    text = card().to_html()
    assert text.startswith("<!DOCTYPE html>")
    assert not re.search(r"https?:|url\(|@import|src=|href=", text)
    assert 'charset="utf-8"' in text
    assert "color-scheme:light dark" in text


def test_no_colour_of_text_or_paper_is_set_so_that_both_themes_can_be_read() -> None:
    styles = re.findall(r"<style>(.*?)</style>", card().to_html(), re.S)
    assert not re.search(r"(?<![-\w])(color|background-color)\s*:", "".join(styles))
    assert 'fill="currentColor"' in card().to_html()


def test_a_page_says_all_that_the_card_says() -> None:
    found = card(baselines={"does nothing": (1, 3)}, stated={"faults": "one call in ten"})
    text = re.sub(r"\s+", " ", Tags(found.to_html()).text)
    assert found.headline in text
    for measure in found.measures:
        assert measure.text in text
    for check in found.checklist:
        assert check.item in text
        assert check.why in text
        assert check.to_do in text
    assert "one call in ten (stated)" in text


def test_the_notebook_shows_the_same_card() -> None:
    found = card()
    inside = found._repr_html_().split("</style>")[1]
    assert inside in found.to_html()


def test_two_cards_stand_side_by_side_and_are_not_pooled() -> None:
    first, second = card("first"), card("second", k=2)
    text = page([first, second])
    tags = [tag for tag, _ in Tags(text).seen]
    assert tags.count("article") == 2
    assert text.count("<style>") == 1
    heading = text.split("<article")[0]
    for one in (first, second):
        assert one.pass_hat_1 is not None
        assert f"{one.pass_hat_1.value:.1%}" in heading
        assert f"pass^{one.curve[-1].k}: {one.curve[-1].value:.1%}" in heading
    assert "not pooled" in heading
    assert Tags(text).text.count("Of all tasks") == 0


@pytest.mark.parametrize("k", [1, 2, 4, 9, 30])
def test_the_picture_shows_the_values_and_their_intervals(k: int) -> None:
    curve = card(k=k).curve
    tags = Tags(plot(curve)).seen
    drawn = {p.k: p for p in (curve if k <= 25 else (curve[0], curve[-1]))}.values()

    def value(y: str | None) -> float:
        return (BOTTOM - float(y or "nan")) / (BOTTOM - TOP)

    dots = [value(attrs["cy"]) for tag, attrs in tags if tag == "circle"]
    assert dots == pytest.approx([point.value for point in drawn], abs=0.001)
    band = next(attrs["points"] for tag, attrs in tags if tag == "polygon") or ""
    ends = [value(pair.split(",")[1]) for pair in band.split()]
    lows, highs = [p.low for p in curve], [p.high for p in reversed(curve)]
    assert ends == pytest.approx([*lows, *highs], abs=0.001)
    label = dict(tags[0][1])["aria-label"] or ""
    assert f"{curve[0].value:.1%}" in label
    assert all(0 <= float(pair.split(",")[0]) <= 380 for pair in band.split())


def test_of_a_long_curve_the_first_points_the_doublings_and_the_last_are_listed() -> None:
    assert [point.k for point in shown(card(k=30).curve)] == [1, 2, 3, 4, 8, 16, 30]
    assert [point.k for point in shown(card(k=8).curve)] == list(range(1, 9))


def test_a_picture_has_names_for_its_axes() -> None:
    text = Tags(plot(card().curve)).text
    assert "k: trials of a task that must all pass" in text
    assert "pass^k, 95% interval" in text

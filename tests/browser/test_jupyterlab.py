"""Every notebook in JupyterLab itself: run to the end, its panels moved, seen in both themes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from evalkit.course.exercises import find
from evalkit.course.notebooks import WIDGET_VIEW, pair_names
from tests.browser.in_jupyterlab import (
    CELLS,
    PANELS,
    by_keyboard,
    by_mouse,
    faint,
    follow,
    keep_picture,
    outputs,
    panels_of,
    run_all,
    serious,
    serving,
    wear,
)

OURS = (".jp-OutputArea-output", ".jp-MarkdownOutput")
WAYS = {"light": by_keyboard, "dark": by_mouse}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("lab")) as address:
        yield address


@pytest.fixture(autouse=True)
def _stop_the_kernel(page: Page) -> Iterator[None]:
    """End the notebook's kernel: fifteen of them would fill a small machine."""
    yield
    page.evaluate("() => window.jupyterapp?.serviceManager.sessions.shutdownAll()")


@pytest.mark.parametrize("name", pair_names())
def test_a_notebook_runs_and_its_panels_follow_keyboard_and_mouse(
    page: Page, lab: str, name: str
) -> None:
    run_all(page, lab, name)
    made = outputs(page)
    assert [o for o in made if o["output_type"] == "error"] == []
    ours = panels_of(name)
    assert len(ours) == sum(WIDGET_VIEW in o.get("data", {}) for o in made)
    stored = page.evaluate(f"() => {CELLS}.length")
    expect(page.locator(".jp-Cell:visible")).to_have_count(stored)  # none is hidden from axe
    shown = page.locator(PANELS)
    expect(shown).to_have_count(len(ours), timeout=30_000)
    changed: list[set[str]] = [set() for _ in ours]
    for theme, move in WAYS.items():
        wear(page, theme)
        for i, panel in enumerate(ours):
            expect_order(shown.nth(i), [c.description for c in panel.controls.values()])
            keep_picture(shown.nth(i), f"{name}_{i + 1}_{theme}")
            changed[i] |= follow(shown.nth(i), panel, move)
        assert serious(page, *OURS) == []
        assert faint(page) == []
    assert changed == [set(panel.controls) for panel in ours]


def expect_order(shown: Locator, descriptions: list[str]) -> None:
    """See that Tab goes from control to control from top to bottom, and that no label is cut."""
    page = shown.page
    tops = []
    shown.get_by_label(descriptions[0], exact=True).focus()
    for description in descriptions:
        knob = shown.get_by_label(description, exact=True)
        if not knob.evaluate("knob => knob === document.activeElement"):
            page.keyboard.press("Tab")  # past the slider's own box for a typed value
        expect(knob).to_be_focused()
        if description != descriptions[0] and knob.get_attribute("role") == "slider":
            expect(knob).to_have_css("outline-width", "3px")  # and the focus is plain to see
        box = knob.bounding_box()
        assert box is not None
        tops.append(box["y"])
        page.keyboard.press("Tab")
    assert tops == sorted(set(tops))
    cut = "labels => labels.filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)"
    assert shown.locator(".widget-label").evaluate_all(cut) == []


def test_an_exercise_answers_and_its_hints_and_solution_open(page: Page, lab: str) -> None:
    run_all(page, lab, "00_start_here")
    exercise = find("00.a")
    cells = page.locator(".jp-CodeCell")
    asked = cells.filter(has_text='show("00.a")').locator(".jp-OutputArea-output").first
    for summary, inside in zip(
        ("Hint 1", "Hint 2", "Solution"), (*exercise.hints, exercise.solution), strict=True
    ):
        fold = asked.locator("details", has=page.get_by_text(summary, exact=True))
        text = inside.split("`")[0].split("\n")[0].strip()
        expect(fold.get_by_text(text)).to_be_hidden()
        fold.locator("summary").press("Enter")
        expect(fold.get_by_text(text)).to_be_visible()
    stub = cells.filter(has_text='check("00.a"')
    said = stub.locator("[role=status]")
    expect(said).to_have_text("○ 00.a: not attempted yet.")
    wrong = exercise.wrong[1]
    for name, source, verdict in (
        ("wrong", wrong.source, f"✗ 00.a: not yet. {wrong.message}"),
        ("right", exercise.solution, "✓ 00.a: right."),
    ):
        answer(stub, f'{source}\n\n\ncheck("00.a", passed)')
        expect(said).to_have_text(verdict, timeout=30_000)
        for theme in WAYS:
            wear(page, theme)
            keep_picture(stub, f"exercise_{name}_{theme}")
            assert serious(page, *OURS) == []
            assert faint(page) == []


def answer(cell: Locator, source: str) -> None:
    """Write into a cell and run it, as a reader does."""
    cell.locator(".cm-content").click()
    keyboard = cell.page.keyboard
    keyboard.press("Control+a")
    keyboard.insert_text(source)
    keyboard.press("Control+Enter")

"""A report card as HTML: no script, nothing fetched, colours inherited, all text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from evalkit.estimates import Estimate
from evalkit.report.checklist import MET, NOT_MET, NOT_STATED
from evalkit.report.measures import in_words, printable

if TYPE_CHECKING:
    from evalkit.report import ReportCard

# Okabe and Ito's bluish green and vermilion, and a grey: all three stand out on black and white.
COLOURS = {MET: "#009E73", NOT_MET: "#D55E00", NOT_STATED: "#8C8C8C"}
SIGNS = {MET: "✓", NOT_MET: "✗", NOT_STATED: "?"}
#: The plot: its size, and where its axes begin and end.
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 380, 240, 52, 364, 14, 192

# No colour of text or paper is set, so that a card is read in whatever theme it stands. JupyterLab
# aligns the cells of all tables to the right with a selector that outweighs any of ours.
CARD_STYLE = """
.ek{line-height:1.45;max-width:60rem}
.ek td,.ek thead th,.ek h2,.ek p{overflow-wrap:anywhere}
.ek h2,.ek h3{line-height:1.25;margin:1.4em 0 .5em}
.ek p{margin:.5em 0}
.ek .ek-head{font-size:1.1em;border-left:4px solid rgba(128,128,128,.6);padding-left:.8em}
.ek .ek-pair{display:flex;flex-wrap:wrap;gap:1.5rem;align-items:center}
.ek svg{max-width:100%;height:auto}
.ek table{border-collapse:collapse;table-layout:auto;width:100%;margin:.3em 0;font-size:.95em}
.ek .ek-pair table{width:auto}
.ek .ek-pair tbody th{width:auto;padding-right:1.2em}
.ek .ek-side table{table-layout:fixed}
.ek .ek-side tbody th{white-space:normal}
.ek table th,.ek table td{text-align:left!important;vertical-align:top;padding:.35em .7em .35em 0;
border:0;border-bottom:1px solid rgba(128,128,128,.35);background:none;white-space:normal}
.ek table thead th{border-bottom:2px solid rgba(128,128,128,.6)}
.ek table th{font-weight:600}
.ek tbody th{white-space:nowrap;width:9em}
.ek td.ek-n{font-variant-numeric:tabular-nums;white-space:nowrap}
.ek td.ek-s{white-space:nowrap;border-left:4px solid;padding-left:.6em;width:7.5em}
.ek .ek-do{font-style:italic}
.ek summary{cursor:pointer;margin:1em 0 .3em}
""".strip()

PAGE_STYLE = """
:root{color-scheme:light dark}
body{font-family:system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1.2rem}
main>article+article{border-top:3px double rgba(128,128,128,.6);margin-top:3rem}
footer{margin:2.5rem 0 1rem;font-size:.9em}
@media print{:root{color-scheme:light}body{margin:0;max-width:none;font-size:10pt}
tr,svg{break-inside:avoid}h2,h3{break-after:avoid}*{print-color-adjust:exact}}
""".strip()

NOTES = (
    "pass^k is the probability that k trials of one task all pass, averaged over the tasks. "
    "Intervals are for new tasks like these; an interval on attempts takes them as independent. "
    "A trial that the environment failed is no failure of the agent: it lowers the coverage. "
    "No line is met by default."
)


def fragment(card: ReportCard) -> str:
    """A card for a notebook, in the colours of what it stands in.

    Parameters
    ----------
    card : ReportCard
        The card.
    """
    return f"<style>{CARD_STYLE}</style>{_article(card)}"


def page(cards: Sequence[ReportCard]) -> str:
    """Cards as a page of their own, one below the other and never pooled.

    Parameters
    ----------
    cards : sequence of ReportCard
        One or more. Of several, the main figures stand side by side first.
    """
    title = f"Report card: {cards[0].title}" if len(cards) == 1 else "Report cards"
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en-GB">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width,initial-scale=1">',
            f"<title>{_text(title)}</title>",
            f"<style>{CARD_STYLE}\n{PAGE_STYLE}</style>\n</head>\n<body>\n<main>",
            f"<h1>{'Report card' if len(cards) == 1 else f'Report cards of {len(cards)} files'}</h1>",
            _side_by_side(cards) if len(cards) > 1 else "",
            *(_article(card) for card in cards),
            f"</main>\n<footer>{_text(NOTES)}</footer>\n</body>\n</html>\n",
        ]
    )


def _article(card: ReportCard) -> str:
    rows = [(_title(name), text) for name, text in card.lines()]
    return "\n".join(
        [
            f'<article class="ek">\n<h2>{_text(card.title)}</h2>',
            f'<p class="ek-head">{_text(card.headline)}</p>',
            _curve(card),
            f"<h3>What was measured</h3>\n{_table((), rows)}",
            f"<h3>Design checklist: {_counted(card)}</h3>\n{_checklist(card)}",
            _tasks(card),
            "</article>",
        ]
    )


def _counted(card: ReportCard) -> str:
    return ", ".join(f"{len(card.with_status(status))} {status}" for status in COLOURS)


def _curve(card: ReportCard) -> str:
    if not card.curve:
        return ""
    points = [(f"pass^{point.k}", in_words(point)) for point in shown(card.curve)]
    left_out = f"<p>{_text(card.left_out)}</p>" * bool(card.left_out)
    table = _table((), points, "ek-n")
    return f'<div class="ek-pair">{plot(card.curve)}<div>{table}</div></div>{left_out}'


def shown(curve: Sequence[Estimate], most: int = 8) -> list[Estimate]:
    """The points of a curve that are listed: all, or of many the first ones, doublings and last."""
    few = len(curve) <= most
    return [p for p in curve if few or p.k < 5 or p.k & (p.k - 1) == 0 or p.k == len(curve)]


def plot(curve: Sequence[Estimate]) -> str:
    """A small picture of pass^k with its interval.

    Parameters
    ----------
    curve : sequence of Estimate
        For k = 1..K.
    """
    last = len(curve)

    def x(k: float) -> float:
        return (LEFT + RIGHT) / 2 if last == 1 else LEFT + 12 + (k - 1) / (last - 1) * (RIGHT - 68)

    def y(value: float) -> float:
        return BOTTOM - value * (BOTTOM - TOP)

    def path(values: Iterable[tuple[int, float]]) -> str:
        return " ".join(f"{x(k):.1f},{y(value):.1f}" for k, value in values)

    grid = "".join(
        f'<line x1="{LEFT}" x2="{RIGHT}" y1="{y(share):.1f}" y2="{y(share):.1f}" '
        f'stroke="currentColor" stroke-opacity="{0.6 if share == 0 else 0.15}"/>'
        f'<text x="{LEFT - 6}" y="{y(share) + 4:.1f}" text-anchor="end">{share:.0%}</text>'
        for share in (0, 0.25, 0.5, 0.75, 1)
    )
    ticks = "".join(
        f'<text x="{x(point.k):.1f}" y="{BOTTOM + 17}" text-anchor="middle">{point.k}</text>'
        for point in (curve if last <= 12 else [p for p in curve if p.k in _ticks(last)])
    )
    band = [(p.k, p.low) for p in curve] + [(p.k, p.high) for p in reversed(curve)]
    green = COLOURS[MET]
    dots = "".join(
        f'<circle cx="{x(p.k):.1f}" cy="{y(p.value):.1f}" r="3.5" fill="{green}"/>'
        for p in (curve if last <= 25 else [curve[0], curve[-1]])
    )
    labels = "".join(
        f'<text x="{x(p.k) + 8 - 4 * (p.k == last > 1):.1f}" y="{y(p.value) - 8:.1f}" '
        f'text-anchor="{"end" if p.k == last > 1 else "start"}" font-weight="600">{p.value:.0%}</text>'
        for p in (curve[0], *curve[1:][-1:])
    )
    said = f"pass^k falls from {curve[0].value:.1%} at k = 1 to {curve[-1].value:.1%} at k = {last}"
    if last == 1:
        said = f"pass^1 is {curve[0].value:.1%}; one trial a task gives no more of the curve"
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
        f'aria-label="{said}" font-size="12" fill="currentColor"><title>{said}</title>{grid}'
        f'<polygon points="{path(band)}" fill="{green}" fill-opacity="0.22" stroke="{green}" '
        f'stroke-opacity="0.5"/><polyline points="{path((p.k, p.value) for p in curve)}" '
        f'fill="none" stroke="{green}" stroke-width="2"/>{dots}{ticks}{labels}'
        f'<text x="{(LEFT + RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">'
        "k: trials of a task that must all pass</text>"
        f'<text transform="translate(13 {(TOP + BOTTOM) / 2}) rotate(-90)" text-anchor="middle">'
        f"pass^k, {curve[0].level:.0%} interval</text></svg>"
    )


def _ticks(last: int) -> set[int]:
    """A few round numbers from 1 to the last."""
    step = next(step for step in (5, 10, 25, 50, 100, 500, 10**9) if last <= 8 * step)
    return {1, *range(step, last + 1, step)} | ({last} if last % step > step / 2 else set())


def _checklist(card: ReportCard) -> str:
    rows = []
    for check in card.checklist:
        by = " (stated)" if check.basis == "stated" and "stated" not in check.why else ""
        why = f"<br>{_text(check.why)}{by}" if check.why else ""
        to_do = f'<br><span class="ek-do">{_text(check.to_do)}</span>' if check.to_do else ""
        rows.append(
            f'<tr><td class="ek-s" style="border-left-color:{COLOURS[check.status]}">'
            f"{SIGNS[check.status]} {check.status}</td>"
            f"<td><strong>{_text(check.item)}</strong>{why}{to_do}</td></tr>"
        )
    return f"<table><tbody>{''.join(rows)}</tbody></table>"


def _tasks(card: ReportCard) -> str:
    names = ["task", "c", "n", "planned", "infra"]
    rows = card.tasks[names].itertuples(index=False, name=None)
    table = _table(("task", "passed", "valid", "planned", "infra failures"), rows, "ek-n")
    return f"<details><summary>Each of {len(card.tasks)} tasks</summary>{table}</details>"


def _side_by_side(cards: Sequence[ReportCard]) -> str:
    wanted = ("trials", "coverage", "infra failures", "step budget")
    lines = [("pass^1", *(in_words(c.pass_hat_1) if c.pass_hat_1 else "" for c in cards))]
    last = [f"pass^{c.curve[-1].k}: {in_words(c.curve[-1])}" if c.curve else "" for c in cards]
    lines.append(("End of the curve", *last))
    texts = [{measure.name: measure.text for measure in card.measures} for card in cards]
    lines += [(_title(name), *(text[name] for text in texts)) for name in wanted]
    lines.append(("Checklist", *map(_counted, cards)))
    note = "Side by side, and not pooled. For a difference on the same tasks, see evalkit.compare."
    table = _table(("Evaluation", *(card.title for card in cards)), lines)
    return f'<div class="ek"><div class="ek-side">{table}</div><p>{note}</p></div>'


def _table(header: Sequence[str], rows: Iterable[Sequence[Any]], kind: str = "") -> str:
    """A table whose first column names its rows."""
    head = "".join(f'<th scope="col">{_text(name)}</th>' for name in header)
    head = f"<thead><tr>{head}</tr></thead>" * bool(header)
    cell = f'<td class="{kind}">' if kind else "<td>"
    body = "".join(
        f'<tr><th scope="row">{_text(row[0])}</th>'
        f"{''.join(f'{cell}{_text(value)}</td>' for value in row[1:])}</tr>"
        for row in rows
    )
    return f"<table>{head}<tbody>{body}</tbody></table>"


def _title(name: str) -> str:
    return name if name.startswith("pass^") else name[0].upper() + name[1:]


def _text(value: Any) -> str:
    return escape(printable(str(value)))

from evalkit.course.figures import new_figure
from evalkit.course.numbers import Estimate, Number, line, numbers, standard_errors_apart
from evalkit.course.plots.chapter_14 import draw_differences


def number(note: float, kind: str = "simulated") -> Number:
    return Number("x", "s", "01", "q", note, "percent", 1, kind, lambda: 2 + 3.0)  # type: ignore[arg-type]


def test_the_distance_is_signed_and_in_standard_errors_of_both_runs() -> None:
    assert standard_errors_apart(number(6.0), Estimate(5.0, 0.6, 0.8)) == 1.0
    assert standard_errors_apart(number(4.0), Estimate(5.0, 0.6, 0.8)) == -1.0


def test_what_must_be_equal_lies_at_zero_or_at_no_finite_place() -> None:
    assert standard_errors_apart(number(5.0, "closed form"), Estimate(5.04)) == 0
    assert standard_errors_apart(number(5.0, "input"), Estimate(5.0)) == 0
    assert standard_errors_apart(number(5.0, "input"), Estimate(5.04)) == float("-inf")
    assert standard_errors_apart(number(5.0, "closed form"), Estimate(4.9)) == float("inf")
    assert standard_errors_apart(number(5.0, "closed form"), Estimate(5.1)) == float("-inf")


def test_redraws_give_the_normal_score_of_the_percentile() -> None:
    redraws = list(range(1, 100))
    assert abs(standard_errors_apart(number(50.0), Estimate(1.0, 1.0, redraws=redraws))) < 1e-9
    assert standard_errors_apart(number(98.0), Estimate(1.0, 1.0, redraws=redraws)) > 1.5
    assert abs(standard_errors_apart(number(1e6), Estimate(1.0, 1.0, redraws=redraws))) < 10


def test_each_number_has_the_line_that_computes_it() -> None:
    assert line(number(1.0)) == "2 + 3.0"
    lines = [line(one) for one in numbers()]
    assert all(lines)
    assert len(set(lines)) == len(lines), "two numbers show the same line, so it tells of neither"


def test_the_picture_has_a_row_for_each_number() -> None:
    rows = [number(6.0), number(5.0, "input")]
    figure = new_figure()
    draw_differences(figure, rows, [1.0, 0.0])
    assert len(figure.axes[0].get_yticks()) == 2
    inside = figure.axes[0].get_xlim()
    assert inside[0] < -3
    assert inside[1] > 3

import pytest

from evalkit.paths import Lookup, PathError, find, format_path, matches, resolve, split_path
from evalkit.values import MISSING

STATE = {
    "cart": {7: {"q": 1}, "8": {"q": 2}},
    "lines": {("W1", 3): {"q": 3}},
    "a/b": {"*": {"q": 4}},
}


def test_the_shorthand_finds_the_one_key_with_that_text() -> None:
    assert resolve("cart/7/q", STATE) == ("cart", 7, "q")
    assert resolve("cart/8/q", STATE) == ("cart", "8", "q")
    assert resolve("lines/W1,3/q", STATE) == ("lines", ("W1", 3), "q")
    assert resolve("cart/9/q", STATE) == ("cart", "9", "q")


def test_two_keys_with_one_text_are_an_error_that_says_to_write_the_tuple() -> None:
    with pytest.raises(PathError, match=r"the keys 7 and '7' .* write a tuple, \('cart', 7, 'q'\)"):
        resolve("cart/7/q", {"cart": {7: {}, "7": {}}})


def test_a_tuple_is_taken_as_written() -> None:
    assert resolve(("cart", "7"), STATE) == ("cart", "7")
    assert find(STATE, ("cart", "7"), MISSING) is MISSING
    assert find(STATE, ("a/b", "*", "q"), MISSING) == 4


@pytest.mark.parametrize("key", [True, 1.0, "1"])
def test_a_key_of_another_type_is_not_found(key: object) -> None:
    assert find({"t": {key: "x"}}, ("t", 1), MISSING) is MISSING
    assert not matches(("t", 1), ("t", key))


@pytest.mark.parametrize("bad", ["", "a//b", "/a", "a/", (), 7, None, ["a"]])
def test_what_is_no_path_is_refused(bad: object) -> None:
    with pytest.raises(PathError):
        split_path(bad)  # type: ignore[arg-type]


def test_a_star_stands_for_one_segment() -> None:
    assert matches("cart/*/q", ("cart", 7, "q"))
    assert not matches("cart/*", ("cart", 7, "q"))
    assert Lookup(STATE).places("*/*/q").keys() == {
        ("cart", 7, "q"), ("cart", "8", "q"), ("lines", ("W1", 3), "q"), ("a/b", "*", "q")
    }  # fmt: skip


@pytest.mark.parametrize(
    "path", [("a", 7), ("a/b", "c"), ("a", ""), ("*",), ("a", None), ("a", (1, 2))]
)
def test_a_path_as_text_says_which_place_it_is(path: tuple) -> None:
    text = format_path(path)
    assert text == "a/7" or text == repr(path)

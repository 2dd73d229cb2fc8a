import copy

import pytest

from evalkit.statediff import Change, Diff, state_diff
from evalkit.values import MISSING, StateError

BEFORE = {
    "orders": {1: {"status": "new", "tags": ["a", "b", "a"]}, 2: {"status": "new", "tags": []}}
}


def after(**changes: object) -> dict:
    state = copy.deepcopy(BEFORE)
    state["orders"][1] |= changes
    return state


def test_a_change_is_reported_at_the_field_and_a_row_at_the_row() -> None:
    state = after(status="paid")
    state["orders"][3] = {"status": "new"}
    del state["orders"][2]
    diff = state_diff(BEFORE, state)
    assert diff.changed == {("orders", 1, "status"): ("new", "paid")}
    assert diff.added == {("orders", 3): {"status": "new"}}
    assert diff.removed == {("orders", 2): {"status": "new", "tags": []}}
    assert len(diff) == 3


def test_a_table_that_came_or_went_is_one_change() -> None:
    assert state_diff({}, BEFORE).added == {("orders",): BEFORE["orders"]}
    assert state_diff(BEFORE, {}).removed == {("orders",): BEFORE["orders"]}


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ({}, []),
        ({}, None),
        ([], None),
        ({"k": 1}, {}),
        ([{"x": 1}], []),
        (None, MISSING),
        ("", None),
    ],
)
def test_a_change_to_or_from_an_empty_value_is_a_change(a: object, b: object) -> None:
    old = {"t": {"r": {} if a is MISSING else {"f": a}}}
    new = {"t": {"r": {} if b is MISSING else {"f": b}}}
    assert state_diff(old, new)
    assert state_diff(new, old)


@pytest.mark.parametrize("key", [True, 1.0, "1"])
def test_a_key_that_changes_type_is_a_row_removed_and_a_row_added(key: object) -> None:
    diff = state_diff({"t": {1: "a"}}, {"t": {key: "a"}})
    assert [c.kind for c in diff] == ["removed", "added"]


def test_a_list_is_one_value_and_its_order_counts_unless_declared() -> None:
    state = after(tags=["b", "a", "a"])
    assert state_diff(BEFORE, state).changed == {
        ("orders", 1, "tags"): (["a", "b", "a"], ["b", "a", "a"])
    }
    assert not state_diff(BEFORE, state, {"orders/*/tags": "multiset"})


def test_the_explanation_of_an_unordered_list_names_the_items() -> None:
    diff = state_diff(BEFORE, after(tags=["b", "a", "c"]), {"orders/*/tags": "multiset"})
    assert [c.note for c in diff] == ["removed 'a'; added 'c'"]
    diff = state_diff(BEFORE, after(tags=["b", "a", "c"]), {"orders/*/tags": "set"})
    assert [c.note for c in diff] == ["added 'c'"]


def test_a_keyed_list_is_walked_by_its_key() -> None:
    forms = {"items": "keyed by sku", "items/*/n": "number"}
    old = {"items": [{"sku": 1, "n": 1}, {"sku": 2, "n": 1}]}
    new = {"items": [{"sku": 2, "n": 5}, {"sku": 1, "n": "1.0"}]}
    assert state_diff(old, new, forms).changed == {("items", 2, "n"): (1, 5)}


def test_a_list_that_breaks_its_form_is_an_error_before_and_a_change_after() -> None:
    forms = {"items": "keyed by sku"}
    good, bad = {"items": [{"sku": 1}]}, {"items": [{"sku": 1}, {"sku": 1}]}
    assert "two items have one key" in str(state_diff(good, bad, forms))
    with pytest.raises(StateError, match="items: two items have one key"):
        state_diff(bad, good, forms)


def test_what_is_the_same_as_stored_is_never_looked_at_under_a_form() -> None:
    bad = {"items": [{"sku": 1}, {"sku": 1}], "x": 1}
    fresh = copy.deepcopy(bad)
    shared = {"items": bad["items"], "x": 2}
    assert not state_diff(bad, fresh, {"items": "keyed by sku"})
    assert len(state_diff(bad, shared, {"items": "keyed by sku"})) == 1


def test_a_shared_nan_and_two_nans_are_alike() -> None:
    nan = float("nan")
    assert not state_diff({"x": nan}, {"x": nan})
    assert not state_diff({"x": nan}, {"x": float("nan")})


def test_a_diff_holds_copies() -> None:
    state = after(tags=["c"])
    diff = state_diff(BEFORE, state)
    state["orders"][1]["tags"].append("d")
    assert diff.changed[("orders", 1, "tags")][1] == ["c"]


@pytest.mark.parametrize("state", [None, [], "db.sqlite", 5])
def test_what_is_no_state_is_refused(state: object) -> None:
    with pytest.raises(StateError, match="is an? .*, not a state; take a snapshot"):
        state_diff({}, state)  # type: ignore[arg-type]


def test_cyclic_and_unsupported_values_are_refused_with_their_path() -> None:
    loop: dict = {}
    loop["a"] = loop
    with pytest.raises(StateError, match="contains itself|nested"):
        state_diff(loop, copy.deepcopy(loop))
    with pytest.raises(StateError, match="t/x: a set is not"):
        state_diff({"t": {"x": {1}}}, {"t": {"x": {2}}})
    with pytest.raises(StateError, match="t: a set is not"):
        state_diff({}, {"t": {1}})


def test_a_diff_reads_as_a_table_and_escapes_what_it_shows() -> None:
    diff = state_diff({"c": {"name": "Ada"}}, {"c": {"name": "<script>"}})
    assert "<script>" not in diff._repr_html_()
    assert "&lt;script&gt;" in diff._repr_html_()
    assert list(diff.table.columns) == ["path", "change", "before", "after", "note"]
    assert str(Diff(())) == "no change"
    assert str(Change(("a",), MISSING, 1)) == "a: added, nothing -> 1"

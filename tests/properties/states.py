"""Hypothesis strategies for states."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.integers(),
    st.floats(allow_nan=True),
    st.sampled_from([0.0, -0.0, 1.0, 2.0]),
    st.text(max_size=4),
    st.sampled_from(["1", "1.0", "true", "", "a/b", "*"]),
    st.binary(max_size=2),
    st.sampled_from([Decimal("1"), Decimal("1.0"), Decimal("NaN")]),
    st.sampled_from([datetime(2026, 1, 1), datetime(2026, 1, 1, tzinfo=UTC)]),
)
KEYS = st.one_of(
    st.sampled_from(["a", "b", "c", "1", "2"]), st.integers(0, 3), st.tuples(st.integers(0, 1))
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
ROWS = st.dictionaries(st.sampled_from(["x", "y", "z"]), VALUES, max_size=3)
TABLES = st.dictionaries(KEYS, ROWS, max_size=3)
STATES = st.dictionaries(st.sampled_from(["t", "u", "v"]), TABLES, max_size=3)


def shuffled(value: Any, draw: Any) -> Any:
    """The same value with the keys of every mapping in another order."""
    if isinstance(value, dict):
        items = [(k, shuffled(v, draw)) for k, v in value.items()]
        return dict(draw(st.permutations(items)))
    return [shuffled(v, draw) for v in value] if isinstance(value, list) else value

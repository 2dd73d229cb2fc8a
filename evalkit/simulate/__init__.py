"""Seeded worlds built on the toolkit, and the scenario that the chapters play on."""

import os

from evalkit.simulate.clinic import CLINIC
from evalkit.simulate.store import CUSTOMER_OPERATIONS
from evalkit.simulate.world import Scenario

__all__ = ["DEFAULT", "SCENARIO", "SCENARIOS"]

#: The scenarios that there are, by the name that the environment variable takes.
SCENARIOS: dict[str, Scenario] = {"store": CUSTOMER_OPERATIONS, "clinic": CLINIC}

#: The one that the chapters play, unless the environment variable gives another.
DEFAULT = "store"


def _chosen(name: str) -> Scenario:
    if name not in SCENARIOS:
        raise ValueError(
            f"EVALKIT_SCENARIO: no scenario {name!r}; there are {', '.join(SCENARIOS)}"
        )
    return SCENARIOS[name]


#: What the chapters play.
SCENARIO: Scenario = _chosen(os.environ.get("EVALKIT_SCENARIO") or DEFAULT)

"""Seeded worlds built on the toolkit, and the scenario that the chapters play on."""

from evalkit.simulate.store import CUSTOMER_OPERATIONS as SCENARIO

__all__ = ["SCENARIO"]

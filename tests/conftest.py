"""Hypothesis without a deadline: the first example pays for imports, and machines are shared."""

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

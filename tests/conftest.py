"""Hypothesis without a deadline: the first example pays for imports, and machines are shared.

And no test writes into the progress of whoever runs it.
"""

import os
import sys

import pytest
from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

os.environ["EVALKIT_PROGRESS"] = "0"

# A script that turns its process into a browser: it is run, and must never be imported.
collect_ignore = ["course/as_in_a_browser.py"]


@pytest.fixture
def without_inspect(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if inspect_ai were not installed, though it may have been imported already."""
    for name in {*sys.modules, "inspect_ai"}:
        if name.split(".")[0] == "inspect_ai":
            monkeypatch.setitem(sys.modules, name, None)

"""Hypothesis without a deadline: the first example pays for imports, and machines are shared.

And no test writes into the progress of whoever runs it.
"""

import os

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

os.environ["EVALKIT_PROGRESS"] = "0"

# A script that turns its process into a browser: it is run, and must never be imported.
collect_ignore = ["course/as_in_a_browser.py"]

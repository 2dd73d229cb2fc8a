"""One round of inputs on one target."""

import signal
import traceback
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.targets import Target


@dataclass
class Tally:
    """How many inputs were run, and how many of them were refused with a documented error."""

    inputs: int = 0
    refused: int = 0


def run_round(target: Target, size: int, number: int, seconds: float = 0) -> tuple[Tally, str]:
    """The tally of a round, and the smallest input that does what it may not, with its error."""
    tally = Tally()
    with TemporaryDirectory() as name:

        @seed(number)
        @settings(
            max_examples=size,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        @given(target.inputs)
        def every(value: Any) -> None:
            tally.inputs += 1
            folder = Path(name, "one")
            folder.mkdir()
            try:
                if seconds:
                    signal.setitimer(signal.ITIMER_REAL, seconds)
                target.run(value, folder)
            except target.errors:
                tally.refused += 1
            finally:
                if seconds:
                    signal.setitimer(signal.ITIMER_REAL, 0)
                rmtree(folder)

        try:
            every()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return tally, "".join(traceback.format_exception(error, limit=-8))
    return tally, ""

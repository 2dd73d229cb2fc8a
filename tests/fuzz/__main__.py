"""Fuzz everything that reads the outside: ``uv run --all-groups python -m tests.fuzz``.

    python -m tests.fuzz --inputs 1000000      a million, over all targets
    python -m tests.fuzz --only "logs: hal"    one target, or all whose name begins so
    python -m tests.fuzz --seed 12             another million

What is found is shown with the smallest input that does it, and the command ends with 1. A target
goes on after a finding, at the next round. An input that takes longer than ``--seconds`` is a
finding, and so is one that needs more than ``--memory`` gigabytes. Needs POSIX for both limits.
"""

import argparse
import faulthandler
import resource
import signal
import sys
import time
import traceback
from types import FrameType

from tests.fuzz.rounds import run_round
from tests.fuzz.targets import TARGETS

#: Inputs of one round, for each part of a target's share: hypothesis keeps what it tried in memory.
ROUND = 15


class Hang(BaseException):
    """An input that takes too long; no ``except Exception`` takes it for something else."""


def alarm(number: int, frame: FrameType | None) -> None:
    raise Hang("took too long:\n" + "".join(traceback.format_stack(frame, limit=6)))


def main(arguments: list[str] | None = None) -> int:
    """Run the targets in turn, a round each, and return 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--memory", type=float, default=8.0)
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGALRM, alarm)
    resource.setrlimit(resource.RLIMIT_AS, (int(options.memory * 2**30),) * 2)
    chosen = {name: t for name, t in TARGETS.items() if name.startswith(options.only)}
    left = {
        n: -(-options.inputs * t.share // sum(c.share for c in chosen.values()))
        for n, t in chosen.items()
    }
    found = ran = number = 0
    while any(left.values()):
        number += 1
        for name in [name for name in left if left[name]]:
            size = min(ROUND * chosen[name].share, left[name])
            left[name] -= size
            began = time.monotonic()
            tally, finding = run_round(
                chosen[name], size, hash_free_seed(options.seed, number, name), options.seconds
            )
            ran += tally.inputs
            found += bool(finding)
            print(
                f"{ran:>9,} inputs; {name}: {tally.inputs}, of them {tally.refused} refused, "
                f"{tally.inputs / (time.monotonic() - began):.0f}/s, "
                f"at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB",
                flush=True,
            )
            if finding:
                print(f"FOUND in {name}:\n{finding}", flush=True)
    print(f"{ran:,} inputs, {found} rounds with a finding")
    return int(bool(found))


def hash_free_seed(seed: int, number: int, name: str) -> int:
    """The seed of a round, the same on every machine."""
    return seed * 1_000_003 + number * 1_009 + sum(name.encode())


if __name__ == "__main__":
    faulthandler.enable()
    sys.exit(main())

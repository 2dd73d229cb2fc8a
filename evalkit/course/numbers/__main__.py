"""``python -m evalkit.course.numbers``: print the table; status 1 if a number disagrees."""

from __future__ import annotations

import sys

from evalkit.course.numbers import table


def main() -> int:
    """Print every number of the note with ours beside it; return the exit status."""
    rows = table()
    print(rows.to_string(index=False))
    disagreeing = list(rows.loc[rows["agrees"] != "yes", "id"])
    print(f"\n{len(rows)} numbers, {len(rows) - len(disagreeing)} agree.")
    if disagreeing:
        print(f"These do not: {', '.join(disagreeing)}")
    return int(bool(disagreeing))


if __name__ == "__main__":
    sys.exit(main())

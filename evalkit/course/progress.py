"""What was answered right so far, remembered on this machine and nowhere else.

`check` adds a line to a small file when an answer is tried, and again when it is right. The file
is ``evalkit/progress.jsonl`` in the user's folder for such things: ``$XDG_STATE_HOME`` or
``~/.local/state``, on Windows ``%LOCALAPPDATA%``. ``EVALKIT_PROGRESS`` names another file, or
turns it off with ``0``. `forget_progress` deletes it, and `evalkit.course.chapters.progress` shows it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path


def progress_file() -> Path | None:
    """Return where progress is kept, or None if it is off."""
    named = os.environ.get("EVALKIT_PROGRESS", "")
    if named == "0":
        return None
    if named:
        return Path(named)
    folder = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_STATE_HOME")
    return Path(folder or "~/.local/state").expanduser() / "evalkit" / "progress.jsonl"


def remembered() -> dict[str, str]:
    """Return the verdict of every exercise that was tried, by its id; once right stays right.

    Raises
    ------
    ValueError
        If the file is not what `remember` wrote.
    """
    path = progress_file()
    if path is None or not os.path.exists(path):  # Path.exists raises where nobody may look
        return {}
    found: dict[str, str] = {}
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    for number, line in enumerate(lines, 1):
        try:
            ((exercise_id, verdict),) = json.loads(line).items()
            if verdict not in ("right", "not yet"):
                raise ValueError
        except (ValueError, AttributeError):
            raise ValueError(
                f"{path}, line {number} is no line of progress; mend it, or call "
                "`forget_progress()` to start anew"
            ) from None
        if found.get(exercise_id) != "right":
            found[exercise_id] = verdict
    return found


def remember(exercise_id: str, verdict: str) -> str:
    """Keep a verdict; return an empty text, or one line on why it could not be kept."""
    try:
        path = progress_file()
        if path is None or remembered().get(exercise_id) in (verdict, "right"):
            return ""
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({exercise_id: verdict}) + "\n")
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: there is no home
        return f"Your progress is not kept ({error}). EVALKIT_PROGRESS=0 turns it off."
    return ""


def forget_progress() -> None:
    """Delete the file in which progress is kept, if there is one."""
    if path := progress_file():
        path.unlink(missing_ok=True)

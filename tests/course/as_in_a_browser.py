"""Run chapters as they run in a browser: no socket, no thread, no process, and few packages.

``python as_in_a_browser.py REFUSED NOTEBOOK...`` prints as JSON what each chapter asked to be
installed, and the error that stopped it, if one did. REFUSED names the modules, with commas
between, that a browser does not have. Sockets and the like can be imported there, but not used.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import socket
import subprocess
import sys
import threading
import types
from pathlib import Path
from typing import Any

REFUSED = set(sys.argv[1].split(","))


class Absent:
    """An import hook for modules that are installed here, and are not in a browser."""

    def find_spec(self, name: str, *_: Any) -> None:
        if name.split(".")[0] in REFUSED:
            raise ModuleNotFoundError(f"a browser has no {name}", name=name)


sys.meta_path.insert(0, Absent())  # type: ignore[arg-type]

# What asks for the platform when it is imported is imported on the real one.
import ipywidgets  # noqa: E402, F401
import matplotlib.backends.backend_agg  # noqa: E402, F401
import numpy  # noqa: E402, F401
import pandas  # noqa: E402, F401
import scipy.stats  # noqa: E402, F401
import tqdm  # noqa: E402, F401
import werkzeug.wrappers  # noqa: E402, F401
from IPython.core.interactiveshell import InteractiveShell  # noqa: E402

installed: list[str] = []


async def install(package: str) -> None:
    installed.append(package)


def refuse(*_: Any, **__: Any) -> Any:
    raise OSError("a browser has no sockets, threads or processes")


def become_a_browser() -> None:
    """Refuse what a browser refuses, from here on."""
    sys.platform = "emscripten"
    sys.modules["piplite"] = types.SimpleNamespace(install=install)  # type: ignore[assignment]
    threading.Thread.start = refuse  # type: ignore[method-assign]
    subprocess.Popen.__init__ = refuse  # type: ignore[method-assign]
    socket.socket.__init__ = refuse  # type: ignore[method-assign]
    os.fork = os.system = refuse


def error_of(path: Path, shell: InteractiveShell) -> str | None:
    """Run a chapter's cells; return the first error in words."""
    shell.reset(new_session=False)
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"], 1):
        if cell["cell_type"] == "code":
            silent = io.StringIO()
            with contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent):
                result = shell.run_cell("".join(cell["source"]), store_history=False)
            if error := result.error_before_exec or result.error_in_exec:
                return f"cell {number}: {type(error).__name__}: {error}"
    return None


def main() -> None:
    shell = InteractiveShell.instance()
    shell.history_manager.enabled = False  # type: ignore[union-attr]
    shell.loop_runner = asyncio.new_event_loop().run_until_complete  # made now: it needs sockets
    become_a_browser()
    told = {}
    for path in map(Path, sys.argv[2:]):
        installed.clear()
        told[path.stem] = {"error": error_of(path, shell), "installed": list(installed)}
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()

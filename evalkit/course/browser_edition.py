"""The browser edition: JupyterLite with all chapters, for a reader who can install nothing.

Python itself (Pyodide) and the packages that it carries, NumPy, pandas, SciPy and matplotlib among
them, come from Pyodide's own host when a reader first runs a cell. Everything else stands in the
folder: the chapters, evalkit's wheel, and the pure-Python packages of `PURE`, in the versions that
are installed here, so that the edition does not change when one of them does. With a Pyodide
distribution named in ``JUPYTERLITE_PYODIDE_URL`` that one is built in too, and no network is needed.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import zipfile
from importlib import metadata
from importlib.metadata import PackagePath
from pathlib import Path

from evalkit.course.notebooks import FOLDER, read_notebook

# What the chapters and the kernel need and Pyodide does not carry.
PURE = (
    "anywidget",
    "comm",
    "et-xmlfile",
    "ipywidgets",
    "jupyterlab-widgets",
    "openpyxl",
    "psygnal",
    "tenacity",
    "werkzeug",
)
# The parts of JupyterLab that the chapters use.
EXTENSIONS = (
    "@jupyterlite/pyodide-kernel-extension",
    "@jupyter-widgets/jupyterlab-manager",
    "anywidget",
)
_OF_THIS_MACHINE = {"RECORD", "WHEEL", "INSTALLER", "REQUESTED", "direct_url.json"}
_WHEEL = "Wheel-Version: 1.0\nGenerator: evalkit\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def build(out: Path, notebooks: Path = FOLDER) -> None:
    """Write the edition into a folder."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "files").mkdir()
        copy_chapters(notebooks, folder / "files")
        wheels(folder / "pypi")
        run("jupyterlite_core", "build", *_options(folder, out), where=folder)


def copy_chapters(notebooks: Path, folder: Path) -> None:
    """Write all chapters into a folder that stands alone: what they link to outside is named only.

    Texts are whole, not lists of lines: JupyterLite hands them on as they are stored.
    """
    for path in notebooks.glob("[0-9][0-9]_*.ipynb"):
        chapter = read_notebook(path)
        for cell in chapter.cells:
            if cell.cell_type == "markdown":
                cell.source = without_outside_links(cell.source)
        text = json.dumps(chapter, ensure_ascii=False)
        (folder / path.name).write_text(text, encoding="utf-8")


def without_outside_links(markdown: str) -> str:
    """Return a text in which links that lead out of the folder are plain words.

    Examples
    --------
    >>> without_outside_links("see [README](../README.md) and [01](01_four_scoreboards.ipynb)")
    'see README and [01](01_four_scoreboards.ipynb)'
    """
    return re.sub(r"\[([^\]]*)\]\(\.\./[^)]*\)", r"\1", markdown)


def run(module: str, *arguments: str, where: Path) -> None:
    """Run a Python module's command in a folder; raise `RuntimeError` with its words if it fails."""
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, cwd=where, capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        raise RuntimeError(f"{module} failed:\n{done.stdout}{done.stderr}")


def _options(folder: Path, out: Path) -> list[str]:
    extensions = Path(sys.prefix) / "share/jupyter/labextensions"
    return [
        f"--lite-dir={folder}",
        f"--output-dir={out.resolve()}",
        "--contents=files",
        "--apps=lab",
        "--no-libarchive",
        "--no-sourcemaps",
        "--no-unused-shared-packages",
        "--ignore-sys-prefix",
        *(f"--LiteBuildConfig.federated_extensions={extensions / name}" for name in EXTENSIONS),
    ]


def wheels(folder: Path) -> None:
    """Write the wheels of evalkit and of the packages of `PURE` into a new folder."""
    run("hatchling", "build", "-t", "wheel", "-d", str(folder), where=FOLDER.parent)
    for name in PURE:
        pure_wheel(name, folder)


def pure_wheel(name: str, folder: Path) -> Path:
    """Write an installed package as a wheel for any Python; return where it is.

    Compiled modules are left out where the same module stands beside them in Python.

    Raises
    ------
    ValueError
        If a module is only there compiled.
    """
    package = metadata.distribution(name)
    files = [file for file in package.files or [] if _belongs(file)]
    for file in files:
        if _is_compiled(file) and file.parent / f"{file.name.split('.')[0]}.py" not in files:
            raise ValueError(f"{name}: {file} is compiled, so it cannot run in a browser")
    files = [file for file in files if not _is_compiled(file)]
    (info,) = {file.parent for file in files if file.name == "METADATA"}
    path = folder / f"{name.replace('-', '_')}-{package.version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for file in files:
            wheel.write(str(file.locate()), str(file))
        wheel.writestr(f"{info}/WHEEL", _WHEEL)
        record = "".join(f"{file},,\n" for file in [*files, f"{info}/WHEEL", f"{info}/RECORD"])
        wheel.writestr(f"{info}/RECORD", record)
    return path


def _belongs(file: PackagePath) -> bool:
    """Whether an installed file is part of the package itself, not of this installation."""
    if ".." in file.parts or "__pycache__" in file.parts or "__mypyc." in file.name:
        return False  # the last: what compiled modules share, of no use without them
    return not (file.parent.suffix == ".dist-info" and file.name in _OF_THIS_MACHINE)


def _is_compiled(file: PackagePath) -> bool:
    return file.suffix in (".so", ".pyd")

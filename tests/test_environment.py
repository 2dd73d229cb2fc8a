"""The versions: one list for uv, one for conda, and they are the same."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONDA: dict[str, Any] = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))


def conda_python() -> str:
    (python,) = [d for d in CONDA["dependencies"] if isinstance(d, str) and d.startswith("python=")]
    return python.removeprefix("python=")


def conda_pip() -> list[str]:
    (section,) = [d["pip"] for d in CONDA["dependencies"] if isinstance(d, dict)]
    return list(section)


def pins(python: str) -> dict[str, str]:
    """Return uv's constraint for each package at one Python version."""
    there: dict[str, Any] = {
        **default_environment(),
        "python_version": python,
        "python_full_version": f"{python}.0",
    }
    found: dict[str, str] = {}
    for line in PROJECT["tool"]["uv"]["constraint-dependencies"]:
        constraint = Requirement(line)
        if constraint.marker is None or constraint.marker.evaluate(there):
            name = canonicalize_name(constraint.name)
            assert name not in found, f"{name} has two pins at Python {python}"
            found[name] = str(constraint.specifier)
    return found


def names(lines: list[str]) -> set[str]:
    """Return the packages that requirements name, those of their extras that are pinned too."""
    wanted = [Requirement(line) for line in lines]
    extras = {extra for r in wanted for extra in r.extras if r.name != "evalkit"}
    named = {canonicalize_name(r.name) for r in wanted} - {"evalkit"}
    return named | (extras & set(pins("3.11")))


def direct() -> set[str]:
    """Return every package that the project names."""
    extras, groups = PROJECT["project"]["optional-dependencies"], PROJECT["dependency-groups"]
    lines = [*PROJECT["project"]["dependencies"]]
    for more in (*extras.values(), *groups.values()):
        lines += [line for line in more if isinstance(line, str)]
    return names(lines)


def left_out() -> set[str]:
    """Return the packages that no chapter needs: those of the large optional groups."""
    groups = ("engines", "book", "peers")
    lines = [line for group in groups for line in PROJECT["dependency-groups"][group]]
    return names([*lines, *PROJECT["project"]["optional-dependencies"]["inspect"]])


def test_conda_has_the_versions_that_uv_has() -> None:
    ours = {canonicalize_name(r.name): str(r.specifier) for r in map(Requirement, conda_pip()[1:])}
    expected = {n: pin for n, pin in pins(conda_python()).items() if n not in left_out()}
    assert ours == expected


def test_conda_installs_the_package_from_this_folder() -> None:
    assert conda_pip()[0] == "-e .[course]"


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_every_direct_dependency_has_one_exact_pin(python: str) -> None:
    pinned = pins(python)
    assert direct() <= set(pinned)
    assert all(pin.startswith("==") for pin in pinned.values())


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_every_pin_lies_within_the_bounds_of_the_package(python: str) -> None:
    pinned = pins(python)
    lines = [*PROJECT["project"]["dependencies"]]
    lines += PROJECT["project"]["optional-dependencies"]["course"]
    for wanted in map(Requirement, lines):
        version = pinned[canonicalize_name(wanted.name)].removeprefix("==")
        assert wanted.specifier.contains(version), wanted.name


def test_condas_python_is_one_that_the_package_allows() -> None:
    assert PROJECT["project"]["requires-python"] == f">={conda_python()}"

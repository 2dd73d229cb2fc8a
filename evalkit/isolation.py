"""Agent and grader apart, and whether two results are from the same environment.

An agent that can read the grader can write what it looks for; one that can write to it can pass
anything. `exposures` lists what of the grader a process in the agent's folder could reach,
`run_apart` runs the agent there as a process of its own, and `restore` puts the grader's own files
back before it grades.

This is a demonstration and a check, not a sandbox. The agent's process has the rights of whoever
runs it: all files that this user may read, the network, every installed package, this one
included. Against an agent that looks beyond its folder, use another user, a container or another
machine, and ask `exposures` there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha1, sha256
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT, CalledProcessError, CompletedProcess, Popen, run
from typing import Any

from evalkit.forms import digest
from evalkit.paths import find, leaves
from evalkit.snapshots import CELL_BYTES, snapshot
from evalkit.statediff import Diff, State, state_diff

PIPES: Any = {"stdin": DEVNULL, "stdout": PIPE, "stderr": STDOUT, "encoding": "utf-8"}


def exposures(folder: Path, secrets: Sequence[Path]) -> list[str]:
    """What of the grader an agent in a folder could read or write, one line a way.

    Looked at are: whether this process's user may read the secrets, and write or replace them;
    files in the folder that hold what a secret holds, and links that lead out of the folder; and
    in each git repository in, at or above it, commits that are not in the past of the one checked
    out (later ones, other branches and tags, what was reset away) and the content of a secret,
    wherever in the history. Secrets retold in other words are not found, nor copies of secrets
    that this user may not read: if the agent has a user of its own, ask as both.

    Parameters
    ----------
    folder
        The agent's, as it is before the agent runs.
    secrets
        Files and folders, with all that is in them: the grader, its tests, the answers.

    Returns
    -------
    list of str
        Empty if nothing was found. A repository that git cannot read is in it.

    Raises
    ------
    FileNotFoundError
        If a secret does not exist: a misspelt one is exposed to nobody.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     gold, desk = Path(parent, "gold.json"), Path(parent, "desk")
    ...     _ = gold.write_text('{"refund": 42}'), desk.mkdir(), shutil.copy(gold, desk / "old.json")
    ...     [line.partition(":")[0] for line in exposures(desk, [gold])]
    ['can read', 'can write', 'copy']
    """
    kept = [p for s in secrets for p in (s.resolve(strict=True), *sorted(s.resolve().rglob("*")))]
    found = [f"can read: {p}" for p in kept if os.access(p, os.R_OK)]
    found += [f"can write: {p}" for p in kept if any(os.access(q, os.W_OK) for q in (p, p.parent))]
    files = [path for path in kept if path.is_file() and os.access(path, os.R_OK)]
    contents = {path.read_bytes(): path for path in files if path.stat().st_size}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() and folder.resolve() not in path.resolve().parents:
            found.append(f"link: {path} leads to {path.resolve()}")
        elif (
            path.is_file()
            and (secret := contents.get(path.read_bytes()))
            and path.resolve() != secret
        ):
            found.append(f"copy: {path} holds what {secret} holds")
    stores = [*folder.rglob(".git"), *(path / ".git" for path in folder.resolve().parents)]
    return found + [x for s in stores if s.exists() for x in _history(s.parent, contents)]


def _history(repository: Path, contents: Mapping[bytes, Path]) -> Iterator[str]:
    def git(*words: str) -> list[str]:
        done = run(["git", "-C", repository, *words], check=True, capture_output=True, text=True)
        return done.stdout.splitlines()

    try:
        every = git("cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)")
        commits = {line[7:] for line in every if line.startswith("commit ")}
        if later := commits.difference(git("rev-list", "HEAD")):
            yield f"history: {repository}: {len(later)} later commits, such as {min(later)}"
        for content, secret in contents.items():
            blob = b"blob %d\0%b" % (len(content), content)
            if not {f"blob {name(blob).hexdigest()}" for name in (sha1, sha256)}.isdisjoint(every):
                yield f"history: {repository}: the content of {secret}"
    except (OSError, CalledProcessError) as error:
        yield f"history: {repository}: not looked into, {error}"


def run_apart(command: Sequence[str], folder: Path, timeout: float = 60) -> CompletedProcess[str]:
    """A finished run of an agent, as a process of its own.

    Its working directory and home are the folder, its input is empty, and of the environment it
    has nothing but a search path. Where the system has process groups, what it left running in
    the background is ended too.

    Parameters
    ----------
    command
        The program, in full, and its arguments.
    folder
        Where it runs; put the task there, never its answer.
    timeout
        Seconds.

    Returns
    -------
    subprocess.CompletedProcess
        With the return code, and output and errors together as ``stdout``.

    Raises
    ------
    subprocess.TimeoutExpired
        If the agent did not finish. It is ended, and the folder is as it left it.

    Examples
    --------
    >>> import sys, tempfile
    >>> with tempfile.TemporaryDirectory() as desk:
    ...     agent = "import os; print(os.listdir(), 'API_KEY' in os.environ)"
    ...     run_apart([sys.executable, "-c", agent], Path(desk)).stdout
    '[] False\\n'
    """
    env = {"PATH": os.defpath, "HOME": str(folder.resolve())}
    env["SYSTEMROOT"] = os.environ.get("SYSTEMROOT", "")  # Windows starts no Python without it
    with Popen(command, cwd=folder, env=env, start_new_session=True, **PIPES) as process:
        try:
            output, _ = process.communicate(timeout=timeout)
        finally:
            with suppress(OSError):  # nothing is left to end
                getattr(os, "killpg", os.kill)(process.pid, 9)
    return CompletedProcess(command, process.returncode, output)


def restore(pristine: Path, folder: Path, names: Sequence[str]) -> Diff:
    """What an agent did to the grader's own files in its folder; they are put back.

    Afterwards each name is in the folder as it is among the pristine files: what was edited or
    deleted is there again, what was added is gone. Name all that decides how the tests come out,
    also what should not be there (``conftest.py``, ``pytest.ini``).

    Parameters
    ----------
    pristine
        A folder of the grader's own, out of the agent's reach.
    folder
        The agent's, after its run.
    names
        Files and folders, by their path below both.

    Returns
    -------
    Diff
        Empty, and so false, if the agent had left them as they are.

    Raises
    ------
    ValueError
        If the way to a name leads out of the folder, by a link or by ``..``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     kept, desk = Path(parent, "kept"), Path(parent, "desk")
    ...     for place in (kept, desk):
    ...         place.mkdir()
    ...         _ = (place / "test_refund.py").write_text("assert refund() == 42")
    ...     _ = (desk / "test_refund.py").write_text("assert True")
    ...     print(restore(kept, desk, ["test_refund.py", "conftest.py"]))
    ...     print((desk / "test_refund.py").read_text())
    test_refund.py: changed, b'assert refund() == 42' -> b'assert True'
    assert refund() == 42
    """
    roots = pristine.resolve(), folder.resolve()
    was, now = ({n: c for n in names if (c := _content(root / n)) is not None} for root in roots)
    for source, target in ((roots[0] / name, roots[1] / name) for name in names):
        if roots[1] not in Path(os.path.normpath(target.parent.resolve() / target.name)).parents:
            raise ValueError(f"names: {target} leads out of the folder, by a link or by '..'")
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target)
        target.unlink(missing_ok=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True)
        elif source.exists():
            shutil.copy2(source, target)
    return state_diff(was, now)


def _content(path: Path) -> Any:
    if path.is_dir():
        return snapshot(path)
    if path.is_file() and path.stat().st_size <= CELL_BYTES:
        return path.read_bytes()
    # A pipe of the agent's would be waited for for ever.
    return "no regular file, or too large to show" if path.exists() else None


def fingerprint(state: State, versions: Mapping[str, str]) -> dict[str, Any]:
    """What a result was had on: digests of schema and content, and versions. Keep it beside it.

    Parameters
    ----------
    state
        The state before an episode, as `snapshot` gives it.
    versions
        Name to version, of all that the environment runs on: service, tools, simulated user.

    Returns
    -------
    dict
        ``schema``, ``content`` and ``versions``, ready for JSON. The schema is that of the
        database, or else which field of which table holds values of which type.

    Examples
    --------
    >>> then = fingerprint({"orders": {1: {"total": 5}}}, {"store": "1.2"})
    >>> now = fingerprint({"orders": {1: {"total": 6}}}, {"store": "1.3"})
    >>> [change.path for change in drift(then, now)]
    [('content',), ('versions', 'store')]
    """
    values = ((p[0], p[-1], find(state, p, None)) for p in leaves(state) if p)
    shape = {(table, field, type(v).__name__): None for table, field, v in values if v is not None}
    schema = digest(state.get("sqlite_schema") or shape)
    return {"schema": schema, "content": digest(state), "versions": dict(versions)}


def drift(then: Mapping[str, Any], now: Mapping[str, Any]) -> Diff:
    """What differs between two fingerprints; if anything does, the results are incomparable."""
    return state_diff(dict(then), dict(now))

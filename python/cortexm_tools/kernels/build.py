# SPDX-License-Identifier: Apache-2.0
"""Compiles the kernels that a project's models call, and no others.

Which kernels these are is known when the models are lowered, which is long after CMake fixed the list
of source files. So a kernel library of models has one source file, which names the kernels, and this
module as its compiler launcher (cmake/CortexMKernels.cmake):

    build list OUT REPORT...               writes that file, from the models' reports
    build compile KERNELS LEVEL OBJECTS OPTION... -- COMPILER ARGUMENT...
                                           compiles it, and each kernel it names with the same
                                           arguments into an object of its own

KERNELS is the folder of kernels.json, LEVEL balanced, size or speed, OBJECTS the response file for the
archiver that the objects' paths go to, OPTION... what replaces the optimization of kernels.json. An
object is kept while the command, the source and the headers behind it stay as they are.
"""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .rows import expand, source

_NAMED = re.compile(r"^ \* (cortexm_\w+)$", re.MULTILINE)


def _write(path: Path, text: str) -> None:
    """Replaces a file at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".new")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)


def list_kernels(out: Path, reports: list[Path]) -> None:
    """Writes the C file that names the kernels of all models with a report in `reports`."""
    names: set[str] = set()
    for report in reports:
        names.update(json.loads(report.read_text(encoding="utf-8"))["kernels"])
    # Adapters of another library are compiled by themselves.
    ours = sorted(name for name in names if not name.endswith("_cmsis_nn"))
    lines = ["/* The kernels that the models of this build call:", " *"]
    lines += [f" * {name}" for name in ours]
    _write(out, "\n".join(lines) + "\n */\nextern const int cortexm_kernels_are_beside_this;\n")


def _sources(
    folder: Path, level: str, names: list[str], options: list[str], stamps: Path
) -> dict[str, list[str]]:
    """Source file and compiler options of each kernel in `names`."""
    table = json.loads((folder / "kernels.json").read_text(encoding="utf-8"))
    found: dict[str, list[str]] = {}
    for row in expand(table["kernels"]):
        if f"cortexm_{row['name']}" in names:
            own = row.get(level, table["optimize"][level])
            found[str(source(row, table, folder, stamps))] = [
                *(options or [own]),
                *table["options"],
            ]
    return found


def _prerequisites(depfile: Path) -> list[str]:
    """The files that a rule of a depfile names behind its colon, as they stand there."""
    text = depfile.read_text(encoding="utf-8").replace("\\\n", " ")
    return re.findall(r"(?:\\.|\S)+", text.partition(": ")[2])


def _unquoted(name: str) -> str:
    """The path that a depfile names."""
    return re.sub(r"\\(.)", r"\1", name)


def _is_current(target: Path, command: list[str]) -> bool:
    """Whether an object is what `command` would make of the files as they are."""
    record = target.with_suffix(".command")
    try:
        if json.loads(record.read_text(encoding="utf-8")) != command:
            return False
        made = target.stat().st_mtime_ns
        files = [_unquoted(name) for name in _prerequisites(target.with_suffix(".d"))]
        return all(os.stat(name).st_mtime_ns <= made for name in files)
    except (OSError, ValueError):
        return False


def _compile_one(target: Path, command: list[str]) -> subprocess.CompletedProcess[bytes] | None:
    """Runs a compiler unless its object is current; None then."""
    if _is_current(target, command):
        return None
    record = target.with_suffix(".command")
    record.unlink(missing_ok=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode == 0:
        record.write_text(json.dumps(command), encoding="utf-8")
    return done


def _without_files(command: list[str]) -> list[str]:
    """A compiler's command without its source, its object and its depfile."""
    kept: list[str] = []
    words = iter(command)
    for word in words:
        if word in ("-o", "-c", "-MF", "-MT", "-MQ"):
            next(words, None)
        elif word not in ("-MD", "-MMD"):
            kept.append(word)
    return kept


def compile_kernels(
    folder: Path, level: str, objects: Path, options: list[str], command: list[str]
) -> int:
    """Runs `command`, which compiles the list, and compiles each kernel on it in the same way.

    Returns:
        The exit status of the first compiler that failed, or 0.
    """
    if "-c" not in command or "-o" not in command:
        return subprocess.run(command).returncode  # a request for preprocessed text, say
    listed = Path(command[command.index("-c") + 1])
    out = Path(command[command.index("-o") + 1])
    names = _NAMED.findall(listed.read_text(encoding="utf-8"))
    plain = _without_files(command)
    beside = out.parent.resolve() / "kernels"
    beside.mkdir(parents=True, exist_ok=True)
    status = subprocess.run(command).returncode
    if status:
        return status
    stamps = beside / "stamps"
    sources = _sources(folder, level, names, options, stamps)
    jobs: list[tuple[Path, list[str]]] = []
    for file, own in sources.items():
        target = beside / (Path(file).stem + out.suffix)
        depends = ["-MD", "-MF", str(target.with_suffix(".d"))]
        jobs.append((target, [*plain, *own, *depends, "-o", str(target), "-c", file]))
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for done in pool.map(lambda job: _compile_one(*job), jobs):
            if done is None:
                continue
            sys.stdout.buffer.write(done.stdout)
            status = status or done.returncode
    sys.stdout.flush()
    if status:
        out.unlink(missing_ok=True)
        return status
    if "-MF" in command:
        # What the kernels include makes the build system run this again; not the stamps, which are younger
        # than the beginning of this command, with whose time Ninja compares.
        depfile = Path(command[command.index("-MF") + 1])
        more = {name for target, _ in jobs for name in _prerequisites(target.with_suffix(".d"))}
        more -= {name for name in more if Path(_unquoted(name)).parent == stamps}
        text = depfile.read_text(encoding="utf-8").rstrip()
        depfile.write_text(" \\\n ".join([text, *sorted(more)]) + "\n", encoding="utf-8")
    quoted = (
        '"' + str(target).replace("\\", "\\\\").replace('"', '\\"') + '"' for target, _ in jobs
    )
    _write(objects, "\n".join(quoted) + "\n")
    return 0


def main() -> int:
    """Runs one of the two commands."""
    command, *arguments = filter(None, sys.argv[1:])  # CMake passes empty lists as empty words
    if command == "list":
        out, *reports = map(Path, arguments)
        list_kernels(out, reports)
        return 0
    split = arguments.index("--")
    folder, level, objects, *options = arguments[:split]
    return compile_kernels(Path(folder), level, Path(objects), options, arguments[split + 1 :])


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""A launcher of the compiler that compiles each file of the checkout once in a run of the tests.

Most images have kernels, runtime and board in common, compiled with the same options. CMake puts

    python compile_once.py FOLDER CHECKOUT

before each call of the compiler (`compile_once` in conftest.py). FOLDER has the objects; it is new
in each run. Files are shared that are in CHECKOUT or made of its templates (``stamps``) and include
only what is there, if the compiler says nothing about them. All others are compiled as ever.

Started for every file, so it imports next to nothing.
"""

from __future__ import annotations

import os
import sys

_PATHS = ("-o", "-MT", "-MF", "-c")
_SUFFIXES = ("", ".d", ".su")  # the object, what it depends on, and what stack it takes


def main(folder: str, checkout: str, *command: str) -> int:
    options, paths, includes = _parse(command)
    source = paths.get("-c", "")
    inside = checkout + os.sep
    own = source.startswith(inside) or os.path.basename(os.path.dirname(source)) == "stamps"
    if not (own and paths.keys() == set(_PATHS) and all(i.startswith(inside) for i in includes)):
        os.execvp(command[0], command)
    with open(source, "rb") as file:
        content = file.read()
    base = os.path.join(folder, _digest("\0".join((*options, os.path.basename(source))), content))
    output = paths["-o"]
    files = (output, paths["-MF"], output.rpartition(".")[0] + ".su")
    # What is here for what differs between builds.
    names = [(source.encode(), b"<source>"), (paths["-MT"].encode(), b"<target>")]
    if os.path.exists(base):
        for path, suffix in zip(files, _SUFFIXES, strict=True):
            if os.path.exists(base + suffix):
                _copy(base + suffix, path, [(b, a) for a, b in names if suffix])
        return 0
    said = f"{base}.{os.getpid()}.txt"
    to_file = (os.POSIX_SPAWN_OPEN, 2, said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=[to_file])
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with open(said, "rb") as file:
        errors = file.read()
    os.unlink(said)
    sys.stderr.buffer.write(errors)
    if status == 0 and not errors:
        for path, suffix in [*zip(files, _SUFFIXES, strict=True)][::-1]:  # the object is the last
            if os.path.exists(path):
                part = f"{base}{suffix}.{os.getpid()}"
                _copy(path, part, names if suffix else [])
                os.replace(part, base + suffix)
    return status


def _parse(command: tuple[str, ...]) -> tuple[list[str], dict[str, str], list[str]]:
    """The options, the paths by the option that they follow, and the folders of headers."""
    options: list[str] = []
    paths: dict[str, str] = {}
    includes: list[str] = []
    words = iter(command)
    for word in words:
        if word in _PATHS:
            paths[word] = next(words, "")
            continue
        options.append(word)
        if word == "-isystem":
            includes.append(next(words, ""))
            options.append(includes[-1])
        elif word.startswith("-I"):
            includes.append(word[2:])
    return options, paths, includes


def _digest(text: str, content: bytes) -> str:
    from _blake2 import blake2b  # hashlib takes longer to import than this module to run

    return blake2b(text.encode() + b"\0" + content, digest_size=16).hexdigest()


def _copy(path: str, to: str, names: list[tuple[bytes, bytes]]) -> None:
    """A file, with other names in it: pairs of old and new."""
    with open(path, "rb") as file:
        content = file.read()
    for old, new in names:
        content = content.replace(old, new)
    with open(to, "wb") as file:
        file.write(content)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

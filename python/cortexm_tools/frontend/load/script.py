# SPDX-License-Identifier: Apache-2.0
"""What a user's file finds around it while its code runs: what Python gives a script of that name."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...errors import CortexMError
from ..origin.places import first_line, where_of_error


@contextmanager
def as_script(path: Path) -> Iterator[None]:
    """The surroundings for the file and for calls of what it defines; afterwards ours are back.

    ``sys.argv`` is the file alone, whatever words our command has. Modules are looked for in its folder,
    then in the working folder: on the command line and in CMake, which works where the CMakeLists.txt lies.

    Raises:
        CortexMError: the code ends the program.
    """
    argv, search, folder = sys.argv, list(sys.path), os.getcwd()
    sys.argv = [str(path)]
    sys.path[:0] = [str(path.parent), folder]
    try:
        yield
    except SystemExit as error:
        raise CortexMError(
            f"the model file ends the program: {first_line(error)}",
            where=where_of_error(error, path.parent, path.name),
            hint="it is run for what it defines, and without arguments: put what only a script does below "
            "if __name__ == '__main__'",
        ) from error
    finally:
        sys.argv, sys.path[:] = argv, search
        os.chdir(folder)  # relative paths of ours refer to it

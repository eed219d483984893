# SPDX-License-Identifier: Apache-2.0
"""``python -m cortexm_tools``. Here an interpreter that lacks numpy gets a sentence, no traceback."""

import importlib.util
import sys


def main() -> int:
    """The command line; without numpy only ``doctor``, which says what to install."""
    if importlib.util.find_spec("numpy") is not None:
        from . import cli

        return cli.main()
    if sys.argv[1:] == ["doctor"]:
        from .cli.doctor import examine, listing

        print(listing(examine()))
        return 1
    print(
        f"error: {sys.executable} lacks numpy\n"
        f"hint: {sys.executable} -m pip install numpy, or set CORTEXM_PYTHON to an interpreter "
        "that has it; 'doctor' lists all that is needed",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())

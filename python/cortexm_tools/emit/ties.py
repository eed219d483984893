# SPDX-License-Identifier: Apache-2.0
"""What keeps files of different runs apart: whoever mixes them gets an error and no wrong results.

All files carry the number of the run's outcome, which is compared where they include the model's
header. The constants are found by a name with a digest of them in it, so that objects of different
runs do not link either. Neither takes flash or RAM.
"""

from __future__ import annotations

import hashlib
import re

from .options import EmitOptions

# Stand for the number, and for the digest of the constants, until all texts are there.
_NUMBER, _WEIGHTS = "0x@BUILD@", "@WEIGHTS@"


def build_macro(options: EmitOptions) -> str:
    """``#define NAME_BUILD …`` for the header."""
    return f"#define {options.macro}_BUILD {_NUMBER} /* the same in all files of one compilation */"


def build_check(options: EmitOptions) -> list[str]:
    """Stops the compiler in a file of another compilation than the header, which it has included."""
    return [
        f"#if {options.macro}_BUILD != {_NUMBER}",
        f'#error "this file and {options.name}.h come from different compilations of the model: '
        f'compile it again"',
        "#endif",
    ]


def weights_symbol(options: EmitOptions) -> str:
    """A name for the first constant that only the NAME_weights.c of this compilation defines."""
    return f"{options.name}_weights_are_of_build_{_WEIGHTS}"


def tie(options: EmitOptions, files: dict[str, str]) -> dict[str, str]:
    """`files` with the number that they share: that of the header if it has one, else a new one."""
    weights = _digest(files.get(f"{options.name}_weights.c", ""))
    files = {name: text.replace(_WEIGHTS, weights) for name, text in files.items()}
    known = re.search(
        rf"^#define {options.macro}_BUILD (0x[0-9a-f]{{8}}) ", files[f"{options.name}.h"], re.M
    )
    number = known[1] if known else "0x" + _digest("".join(files[name] for name in sorted(files)))
    return {name: text.replace(_NUMBER, number) for name, text in files.items()}


def _digest(text: str) -> str:
    """Eight hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]

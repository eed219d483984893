# SPDX-License-Identifier: Apache-2.0
"""C syntax: numbers, arrays, initializers, comments."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from ..errors import CortexMError
from ..ir import Array

_C_TYPES = {
    "int8": "int8_t",
    "int16": "int16_t",
    "int32": "int32_t",
    "int64": "int64_t",
    "uint8": "uint8_t",
    "uint16": "uint16_t",
    "bool": "uint8_t",
    "float32": "float",
}

_COLUMNS = 97  # of 100, behind the indentation
MOST_WRITTEN = 1 << 26  # bytes of constants, of a program, or of samples
_BLOCK = 1 << 14  # elements that are text at one time
_BYTES = {value: str(int(value)) for value in range(-128, 256)}
_MANY_BYTES = (
    1 << 16
)  # of an array that is written as a string, which compilers read ten times as fast
_BYTES_OF_LINE = 23
_CHARACTERS = [
    chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
    for byte in range(256)
]


def c_type(array: Array) -> str:
    return _C_TYPES[array.dtype.name]


def c_int(value: int) -> str:
    """An integer constant of type int32_t or int64_t, whatever its value."""
    if value == -(2**31):
        return "(-2147483647 - 1)"
    if value == -(2**63):
        return "(-INT64_C(9223372036854775807) - 1)"
    if not -(2**31) <= value < 2**31:
        return f"INT64_C({value})"
    return str(value)


def c_float(value: float) -> str:
    """A float constant that reads back as exactly this float32."""
    if math.isnan(value):
        return '__builtin_nanf("")'
    if math.isinf(value):
        return ("-" if value < 0 else "") + "__builtin_inff()"
    return f"{np.float32(value).item().hex()}f"


def c_comment(text: str) -> str:
    """`text` made safe inside a comment: printable ASCII without what could end the comment or the line.

    `*` and `/` end a comment also with a spliced line between them, and `?` may begin a trigraph for
    the backslash that splices (C11 5.1.1.2, 5.2.1.1). No escape ends in a backslash.
    """
    return "".join(
        char if " " <= char <= "~" and char not in "*\\?" else _escaped(char) for char in text
    )


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def c_string(text: str) -> str:
    """A string literal of printable ASCII; everything else is escaped in octal, as UTF-8."""
    return f'"{_string(text.encode("utf-8", "surrogatepass"))}"'


def _string(data: bytes) -> str:
    return "".join(map(_CHARACTERS.__getitem__, data))


def check_written(what: str, nbytes: int, name: str, hint: str) -> None:
    """Raises a CortexMError for more bytes than can be written as C, in four times as many: compilers take
    twenty bytes of memory for each, and a hundred for each byte of numbers."""
    if nbytes > MOST_WRITTEN:
        raise CortexMError(
            f"the {what} has {nbytes:,} bytes, of which at most {MOST_WRITTEN:,} are written as C",
            where=name,
            hint=hint,
        )


def string_pragmas(sizes: Iterable[int]) -> list[str]:
    """Lines before arrays of so many bytes, if one is a string: it is long, and has no zero at its end."""
    if max(sizes, default=0) < _MANY_BYTES:
        return []
    return [
        '#pragma GCC diagnostic ignored "-Woverlength-strings"',
        "#if defined __GNUC__ && __GNUC__ >= 15 && !defined __clang__",
        '#pragma GCC diagnostic ignored "-Wunterminated-string-initialization"',
        "#endif",
        "",
    ]


def array_lines(values: Array) -> list[str]:
    """What stands in the braces of an array of explicit size: its elements, comma separated, or many bytes as
    a string. At most 100 columns a line."""
    flat = values.reshape(-1)
    if flat.dtype.itemsize == 1 and flat.size >= _MANY_BYTES:
        data = flat.tobytes()
        return [
            f'    "{_string(data[at : at + _BYTES_OF_LINE])}"'
            for at in range(0, len(data), _BYTES_OF_LINE)
        ]
    lines: list[str] = []
    text = ""
    for begin in range(0, flat.size, _BLOCK):
        text += "".join(word + ", " for word in _words(flat[begin : begin + _BLOCK]))
        text = _break(text, lines, _COLUMNS if begin + _BLOCK < flat.size else 0)
    return lines or ["   "]


def _break(text: str, lines: list[str], rest: int) -> str:
    """Appends `text` to the lines; what may become a part of the next line, up to `rest` columns, is left."""
    begin = 0
    while len(text) - begin > rest:
        end = text.rfind(", ", begin, begin + _COLUMNS)
        if end < 0:  # one long word
            end = text.index(", ", begin)
        lines.append(f"    {text[begin : end + 1]}")
        begin = end + 2
    return text[begin:]


def _words(flat: Array) -> list[str]:
    """The elements [n] as C constants."""
    if flat.dtype.itemsize == 1:
        return list(map(_BYTES.__getitem__, flat.tolist()))
    if flat.dtype.kind != "f":
        return list(map(c_int, flat.tolist()))
    if flat.dtype == np.float32 and np.isfinite(flat).all():
        return [value.hex() + "f" for value in flat.tolist()]
    return list(map(c_float, flat.tolist()))


def braces(values: Sequence[int]) -> str:
    return "{" + ", ".join(c_int(value) for value in values) + "}"

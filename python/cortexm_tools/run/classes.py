# SPDX-License-Identifier: Apache-2.0
"""The mix of an inference: executed instructions by class, for the estimate of cycles.

A class is what one line of the cores' timing tables speaks of. Besides instructions, the mix
counts events that cost cycles of their own: registers moved by load and store multiple, elements of
gathers and scatters, branches taken.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from .counts import Executed
from .disassembly import Instruction

# The classes of instructions, by how the mnemonic begins (after width and condition are taken off
# where they matter); the first that fits counts.
_SCALAR: tuple[tuple[str, str], ...] = (
    ("divide", r"[us]div"),
    ("multiply_long", r"[us]mull|[us]mlal|umaal|smlald|smlsld"),
    ("multiply", r"mul|mla|mls|smul|smla|smls|smm|smu[as]d|usad"),
    ("load_double", r"ldrd"),
    ("load_multiple", r"ldm|pop"),
    ("load", r"ldr"),
    ("store_double", r"strd"),
    ("store_multiple", r"stm|push"),
    ("store", r"str"),
    ("table_branch", r"tb[bh]$"),
    ("loop", r"le$|letp|wls|dls|lctp"),
    ("branch", r"b$|bl$|blx$|bx$|cbn?z$"),
)
_FLOAT: tuple[tuple[str, str], ...] = (
    ("float_divide", r"vdiv|vsqrt"),
    ("float_load_multiple", r"vldm|vpop"),
    ("float_load", r"vldr"),
    ("float_store_multiple", r"vstm|vpush"),
    ("float_store", r"vstr"),
    ("float_multiply_add", r"vf?n?ml[as]|vfm[as]|vfnm[as]"),
)
_VECTOR: tuple[tuple[str, str], ...] = (
    ("vector_load", r"vldr|vld[24]"),
    ("vector_store", r"vstr|vst[24]"),
    ("vector_multiply", r"vml|vrml|vmul|vqdm|vqrdm|vrmul|vfma|vfms|vcmul|vcmla"),
)
_PREDICATE = re.compile(r"vpt|vpst|vpnot|vctp|vmsr|vmrs")
EVENTS = ("registers", "elements", "taken", "fetched")
CLASSES = (
    *("alu", "other"),
    *(name for name, _ in (*_SCALAR, *_FLOAT, *_VECTOR)),
    *("float", "vector", "vector_gather", "vector_scatter", "predicate"),
)


def class_of(instruction: Instruction) -> str:
    """The class of an instruction, one of CLASSES."""
    name, operands = instruction.mnemonic, instruction.operands
    if not name.startswith("v"):
        return next((kind for kind, text in _SCALAR if re.match(text, name)), "alu")
    if _PREDICATE.match(name):
        return "predicate"
    if re.search(r"\bq\d", operands):
        # A vector of addresses: each element is an access of its own.
        if re.search(r"\[.*\bq\d", operands):
            return "vector_gather" if name.startswith("vld") else "vector_scatter"
        return next((kind for kind, text in _VECTOR if re.match(text, name)), "vector")
    return next((kind for kind, text in _FLOAT if re.match(text, name)), "float")


def mix_of(code: Mapping[int, Instruction], executed: Mapping[int, Executed]) -> dict[str, int]:
    """Instructions by class and events, between the first and the last mark.

    The classes add up to the instructions; the events come on top: ``registers`` of load and store
    multiple, ``elements`` of gathers and scatters, ``taken`` branches but those of the
    low-overhead loops, and ``fetched``, every instruction once more.
    """
    mix: Counter[str] = Counter()
    for address, counts in executed.items():
        if not counts.window:
            continue
        instruction = code.get(address)
        kind = class_of(instruction) if instruction is not None else "other"
        mix[kind] += counts.window
        mix["fetched"] += counts.window
        if instruction is None:
            continue
        if kind.endswith("_multiple"):
            mix["registers"] += counts.window * register_count(instruction.operands)
        elif kind in ("vector_gather", "vector_scatter"):
            mix["elements"] += counts.window * _elements(instruction.mnemonic)
        if kind != "loop":
            mix["taken"] += counts.taken
    return dict(sorted(mix.items()))


def register_count(operands: str) -> int:
    """How many registers a list names: ``{r4-r7, lr}`` has 5."""
    count = 0
    for word in operands.partition("{")[2].rstrip("}").split(","):
        first, _, last = word.strip().partition("-")
        numbers = [re.sub(r"\D", "", text) for text in (first, last)]
        count += int(numbers[1]) - int(numbers[0]) + 1 if all(numbers) else 1
    return count


def _elements(mnemonic: str) -> int:
    width = re.search(r"\.[suf]?(\d+)", mnemonic)
    return 128 // int(width[1]) if width else 4

# SPDX-License-Identifier: Apache-2.0
"""The worst-case stack of a function with everything it calls.

The call graph and the depth at each call come from the machine code of the linked image
(frames.py). Where the compiler wrote its own figure (``-fstack-usage``), the larger of the two
counts: the compiler knows nothing of functions in assembler. The figures are without exceptions:
an interrupt handler needs its own stack on top.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..errors import CortexMError
from .children import run_child
from .disassembly import Code, disassemble, find_objdump
from .elf import SHF_EXECINSTR, Elf, Symbol, parse_elf
from .frames import Flow, NotFollowed, follow

# The functions of cortexm/model.h that call what a model points to.
CALLERS = ("cortexm_init", "cortexm_invoke")

# Of -fstack-protector: called when the stack is found overwritten, and then the program ends.
_ENDS = ("__stack_chk_fail",)

Usage = Mapping[tuple[str, str], "int | None"]


@dataclass(frozen=True)
class StackBound:
    """Bytes of stack that a call cannot exceed.

    Attributes:
        bytes: below the caller's stack pointer.
        path: the deepest chain of calls: each function with the bytes at its call of the next,
            the last with all it takes.
        outside: functions of the chain's graph that are not in the image; theirs is not in `bytes`.
    """

    bytes: int
    path: tuple[tuple[str, int], ...]
    outside: tuple[str, ...] = ()


def read_usage(folder: Path) -> dict[tuple[str, str], int | None]:
    """The compiler's figures below `folder`: bytes by source file and function.

    None stands for a frame whose size is known only at run time.
    """
    found: dict[tuple[str, str], int | None] = {}
    for path in sorted(folder.rglob("*.su")):
        file = path.name.removesuffix(".su").removesuffix(".c") + ".c"
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            place, size, kind = line.split("\t")
            value = None if kind == "dynamic" else int(size)
            found[file, place.rpartition(":")[2]] = value
    return found


def image_bounds(
    image: Path,
    compiler: Sequence[str],
    roots: Iterable[str],
    *,
    model: str | None = None,
    usage: Usage | None = None,
    outside: Collection[str] = (),
) -> dict[str, StackBound]:
    """The bound of each function in `roots` that the linked image has.

    Args:
        compiler: the one that made the image.
        model: name of the model whose functions the runtime calls.
        usage: see `read_usage`.
        outside: stand-ins for functions that are not in the image.

    Raises:
        CortexMError: a function calls itself, or calls what is not known, or its code is not
            understood; the message names it.
    """
    content = image.read_bytes()
    elf = parse_elf(content, where=str(image))
    code = disassemble(find_objdump(compiler), image)
    pointers = model_functions(elf, content, model) if model is not None else ()
    graph = CallGraph(code, elf, dict.fromkeys(CALLERS, pointers), usage or {}, frozenset(outside))
    names = {symbol.name for symbol in graph.functions}
    return {name: graph.bound(name) for name in roots if name in names}


def model_functions(elf: Elf, content: bytes, name: str) -> tuple[int, ...]:
    """The functions that the model's descriptor `name` points to."""
    functions = {s.address & ~1 for s in elf.symbols if s.is_function}
    found = []
    for symbol in elf.symbols:
        if symbol.name != name or symbol.is_function:
            continue
        section = elf.sections[symbol.section]
        start = section.offset + symbol.address - section.address
        for at in range(start, start + symbol.size - 3, 4):
            word = int.from_bytes(content[at : at + 4], "little")
            if word & 1 and word & ~1 in functions:
                found.append(word & ~1)
    return tuple(found)


@dataclass
class CallGraph:
    """Bounds of the functions of one image; each is computed once."""

    code: Code
    elf: Elf
    pointers: Mapping[str, Sequence[int]]
    usage: Usage
    outside: frozenset[str] = frozenset()
    functions: list[Symbol] = field(init=False)
    _names: dict[int, Symbol] = field(init=False, default_factory=dict)
    _text: dict[int, str] = field(init=False, default_factory=dict)
    _done: dict[int, StackBound] = field(init=False, default_factory=dict)
    _active: list[int] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.functions = sorted(
            (
                symbol
                for symbol in self.elf.symbols
                if symbol.is_function and self.elf.sections[symbol.section].flags & SHF_EXECINSTR
            ),
            key=lambda symbol: (symbol.address, symbol.file, symbol.name),
        )
        for symbol in self.functions:
            self._names.setdefault(symbol.address & ~1, symbol)
        self._text.update((address, symbol.name) for address, symbol in self._names.items())

    def bound(self, name: str) -> StackBound:
        """The bound of the function `name`."""
        entry = next(s.address & ~1 for s in self.functions if s.name == name)
        return self._bound(entry)

    def own_depth(self, symbol: Symbol) -> int:
        """What the code of one function takes, without callees and tail calls."""
        return self._flow(symbol.address & ~1).own

    def compiler_figure(self, symbol: Symbol) -> int | None:
        """What the compiler says of a function.

        Raises:
            CortexMError: that its frame is known only at run time.
        """
        # The compiler appends what it did to a function (.constprop.0) and names it without.
        plain = re.sub(r"\.(constprop|isra|part|cold)\.?\d*", "", symbol.name)
        keys = [key for key in self.usage if key[1] in (symbol.name, plain)]
        if symbol.file:
            keys = [key for key in keys if key[0] == Path(symbol.file).name]
        if any(self.usage[key] is None for key in keys):
            raise CortexMError(
                f"{symbol.name} has a stack frame whose size is known only at run time"
            )
        sizes = [size for key in keys if (size := self.usage[key]) is not None]
        return max(sizes, default=None)

    def _name(self, address: int) -> str:
        symbol = self._names.get(address)
        return symbol.name if symbol is not None else f"the code at {address:#x}"

    def _bound(self, entry: int) -> StackBound:
        if entry in self._done:
            return self._done[entry]
        if entry in self._active:
            cycle = [*self._active[self._active.index(entry) :], entry]
            raise CortexMError(
                "the stack has no bound: recursion "
                + " → ".join(self._name(address) for address in cycle)
            )
        name = self._name(entry)
        if name in self.outside:
            return StackBound(0, (), (name,))
        if name in _ENDS:
            return StackBound(0, ())
        self._active.append(entry)
        flow = self._flow(entry)
        best = StackBound(flow.depth, ((name, flow.depth),))
        outside: set[str] = set()
        for target, depth, place in sorted(flow.calls, key=lambda c: (c[0] or 0, c[1], c[2])):
            for callee in self._callees(place, target):
                below = self._bound(callee)
                outside.update(below.outside)
                if depth + below.bytes > best.bytes:
                    best = StackBound(depth + below.bytes, ((name, depth), *below.path))
        self._active.pop()
        self._done[entry] = StackBound(best.bytes, best.path, tuple(sorted(outside)))
        return self._done[entry]

    def _callees(self, place: int, target: int | None) -> Sequence[int]:
        if target is not None:
            return (target,)
        # A tail call may have led into another function than the one that was entered.
        name = self._text[max(address for address in self._text if address <= place)]
        if name not in self.pointers:
            raise CortexMError(
                f"the stack has no bound: {name} calls a function through a pointer that is not known"
            )
        return self.pointers[name]

    def _flow(self, entry: int) -> Flow:
        symbol = self._names.get(entry)
        extent = range(entry, entry + (symbol.size if symbol is not None else 0))
        try:
            flow = follow(self.code, entry, extent, self._text)
        except NotFollowed as reason:
            raise CortexMError(f"the stack of {self._name(entry)} is not known: {reason}") from None
        figure = self.compiler_figure(symbol) if symbol is not None else None
        if figure is not None and figure > flow.own:
            more = figure - flow.own
            calls = frozenset((target, depth + more, place) for target, depth, place in flow.calls)
            return Flow(flow.depth + more, flow.own, calls)
        return flow


def usage_of(archives: Iterable[Path]) -> dict[tuple[str, str], int | None]:
    """The compiler's figures beside the objects of static libraries that CMake built."""
    found: dict[tuple[str, str], int | None] = {}
    for archive in archives:
        target = archive.stem.removeprefix("lib")
        found |= read_usage(archive.parent / "CMakeFiles" / f"{target}.dir")
    return found


def trial_bound(
    relocatable: Path, elf: Elf, compiler: Sequence[str], model: str, usage: Usage
) -> StackBound:
    """The bound of what calls the model, in the object of a trial link with stand-ins for what it lacks.

    Raises:
        CortexMError: as `image_bounds`; or the link fails.
    """
    missing = sorted(set(elf.undefined))
    stubs = relocatable.with_suffix(".stubs.s")
    image = relocatable.with_suffix(".elf")
    stubs.write_text(
        ".syntax unified\n.thumb\n"
        + "".join(
            f".global {name}\n.type {name}, %function\n.thumb_func\n{name}: bx lr\n"
            for name in missing
        )
    )
    options = ["-nostdlib", "-Wl,-e,cortexm_invoke", "-o", str(image), str(relocatable), str(stubs)]
    done = run_child([*compiler, *options])
    if done.returncode != 0:
        raise CortexMError("the link for the stack bound failed", hint=done.stderr.strip())
    bounds = image_bounds(image, compiler, CALLERS, model=model, usage=usage, outside=missing)
    if set(CALLERS) - bounds.keys():
        raise CortexMError(
            f"the image has no {' and no '.join(sorted(set(CALLERS) - bounds.keys()))}"
        )
    outside = sorted({name for bound in bounds.values() for name in bound.outside})
    deepest = max(bounds.values(), key=lambda bound: (bound.bytes, bound.path))
    return replace(deepest, outside=tuple(outside))


def path_text(bound: StackBound) -> str:
    """``cortexm_invoke 8 > net_invoke 40 > cortexm_conv2d_s8_mve 432``, and what is not in it."""
    text = " > ".join(f"{name} {size}" for name, size in bound.path)
    if bound.outside:
        text += f", without {', '.join(bound.outside)}, which the application brings"
    return text

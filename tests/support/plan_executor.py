# SPDX-License-Identifier: Apache-2.0
"""Executes plans on this machine without compiling them: the kernels are called through ctypes.

One shared library of all scalar kernels serves every plan, so a property test can go through many
graphs. Dead bytes of the arena are overwritten between steps, and guard bytes lie around it.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from cortexm_tools.emit.poison import dead_after_call, dead_ranges
from cortexm_tools.ir import Array, Graph
from cortexm_tools.ir.memory import from_memory, memory_bytes
from cortexm_tools.kernels.rows import sources as sources_of
from cortexm_tools.paths import data_root
from cortexm_tools.plan import Plan, make_plan
from cortexm_tools.plan.kernels.table import kernels
from cortexm_tools.plan.types import Arg, Call, ConstantArg, ScratchArg, TensorArg
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Isa, Target

_KERNELS = data_root() / "kernels"
_FLAGS = ["-std=c11", "-O1", "-fPIC", "-fwrapv", "-ffp-contract=off", "-DCORTEXM_DEBUG"]
_FLAGS += ["-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]  # needs no library
_WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
_GUARD = 64
_POISON = 0xA5

_C_TYPES: dict[str, Any] = {
    "int8_t": ctypes.c_int8,
    "uint8_t": ctypes.c_uint8,
    "int16_t": ctypes.c_int16,
    "uint16_t": ctypes.c_uint16,
    "int32_t": ctypes.c_int32,
    "uint32_t": ctypes.c_uint32,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "float": ctypes.c_float,
}


def build_library(folder: Path) -> Path:
    """Compiles every scalar kernel into one shared library; returns its path."""
    files = sources_of(_KERNELS, folder / "stamps")
    sources = [files[k.symbol] for k in kernels() if k.isa is Isa.SCALAR]
    parts = [sources[start::8] for start in range(8)]

    def compile_part(number: int) -> list[Path]:
        place = folder / str(number)
        place.mkdir(parents=True)
        includes = [f"-I{_KERNELS / name}" for name in ("include", "src")]
        _run(["cc", *_FLAGS, *_WARNINGS, *includes, "-c", *map(str, parts[number])], place)
        return sorted(place.glob("*.o"))

    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        objects = [path for part in pool.map(compile_part, range(len(parts))) for path in part]
    library = folder / "kernels.so"
    _run(["cc", "-shared", "-o", str(library), *map(str, objects), "-lm"], folder)
    return library


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@cache
def parameter_structs() -> dict[str, type[ctypes.Structure]]:
    """The structs of params.h by name."""
    text = re.sub(r"/\*.*?\*/", "", (_KERNELS / "include/cortexm/params.h").read_text(), flags=re.S)
    sizes = dict(re.findall(r"#define (\w+) (\d+)", text))
    structs = {}
    for body, name in re.findall(r"typedef struct \{(.*?)\}\s*(\w+);", text, flags=re.S):
        fields: list[tuple[str, Any]] = []
        for declaration in filter(None, (part.strip() for part in body.split(";"))):
            words = re.fullmatch(r"(?:const )?(\w+) (.*)", declaration, flags=re.S)
            assert words is not None, declaration
            for variable in re.split(r",\s*", words[2]):
                match = re.fullmatch(r"(\*?)(\w+)(?:\[(\w+)\])?", variable)
                assert match is not None, declaration
                ctype = ctypes.c_void_p if match[1] else _C_TYPES[words[1]]
                if match[3]:
                    ctype = ctype * int(sizes.get(match[3], match[3]))
                fields.append((match[2], ctype))
        structs[name] = type(name, (ctypes.Structure,), {"_fields_": fields})
    return structs


class PlanExecutor:
    """Runs plans with the kernels of a shared library."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        self._last: tuple[Graph, Plan] | None = None

    def run_graph(self, graph: Graph, inputs: Sequence[Array]) -> list[Array]:
        """Simplifies and plans `graph` for any core, unless it was the last one, and runs it."""
        if self._last is None or self._last[0] is not graph:
            self._last = graph, make_plan(simplify(graph), Target.parse("any"))
        return self.run(self._last[1], inputs)

    def run(self, plan: Plan, inputs: Sequence[Array]) -> list[Array]:
        """The outputs in logical shape."""
        return self.run_calls(plan, [inputs])[0]

    def run_calls(self, plan: Plan, calls: Sequence[Sequence[Array]]) -> list[list[Array]]:
        """The outputs of one call after another; between them, all but the states is overwritten."""
        memory = np.full(plan.arena_size + 2 * _GUARD + 16, _POISON, np.uint8)
        start = _GUARD + (-(memory.ctypes.data + _GUARD)) % 16
        arena = memory[start : start + plan.arena_size]
        constants = {
            constant.name: _aligned(constant.data.reshape(-1).view(np.uint8))
            for constant in plan.constants
        }
        for state in plan.graph.states:
            self._write(plan, arena, state.before, state.initial)
        results = []
        for inputs in calls:
            arena[: plan.working_size] = _POISON
            for index, value in zip(plan.graph.inputs, inputs, strict=True):
                self._write(plan, arena, index, value)
            self._run(plan, arena, constants)
            results.append([self._output(plan, index, arena) for index in plan.graph.outputs])
        assert (memory[:start] == _POISON).all() and (
            memory[start + plan.arena_size :] == _POISON
        ).all(), "guard bytes overwritten"
        return results

    def _run(self, plan: Plan, arena: Array, constants: dict[str, Array]) -> None:
        for number, step in enumerate(plan.steps):
            for call in step.trace():
                self._call(plan, number, call, arena, constants)
                for begin, end in dead_after_call(plan, number, call):
                    arena[begin:end] = _POISON
            for begin, end in dead_ranges(plan, number):
                arena[begin:end] = _POISON

    @staticmethod
    def _write(plan: Plan, arena: Array, index: int, value: Array) -> None:
        data = memory_bytes(value, plan.graph.tensors[index].dim_order)
        arena[plan.offset(index) :][: len(data)] = np.frombuffer(data, np.uint8)

    @staticmethod
    def _output(plan: Plan, index: int, arena: Array) -> Array:
        tensor = plan.graph.tensors[index]
        data = arena[plan.offset(index) :][: tensor.nbytes].tobytes()
        return from_memory(data, tensor.dtype.numpy, tensor.shape, tensor.dim_order)

    def _call(
        self, plan: Plan, number: int, call: Call, arena: Array, constants: dict[str, Array]
    ) -> None:
        params = parameter_structs()[call.kernel.params]()
        types = dict(params._fields_)
        for field, value in call.fields:
            if isinstance(value, str):
                value = constants[value].ctypes.data
            elif isinstance(value, tuple):
                value = types[field](*value)
            setattr(params, field, value)

        def address(arg: Arg) -> int | None:
            if isinstance(arg, ConstantArg):
                return int(constants[arg.name].ctypes.data) + arg.offset
            if isinstance(arg, ScratchArg):
                if not arg.nbytes:
                    return None
                offset = plan.buffers[plan.scratch_of[number]].offset + arg.offset
            else:
                assert isinstance(arg, TensorArg)
                offset = plan.offset(arg.index) + arg.offset
            return int(arena.ctypes.data) + offset

        before = {name: data.tobytes() for name, data in constants.items()}
        function = getattr(self._library, call.kernel.symbol)
        function.restype = None
        function(ctypes.byref(params), *(ctypes.c_void_p(address(arg)) for arg in call.args))
        assert all(data.tobytes() == before[name] for name, data in constants.items())


def _aligned(data: Array) -> Array:
    """A copy of bytes at an address aligned to 8."""
    memory = np.zeros(data.size + 8, np.uint8)
    start = -memory.ctypes.data % 8
    memory[start : start + data.size] = data
    return memory[start : start + data.size]

# SPDX-License-Identifier: Apache-2.0
"""Files under construction, and what is random about them: shapes, scales, zero points, activations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cortexm_tools.ir import Array

from tests.litert.files import ENUMS, File

FUSED = ENUMS["ActivationFunctionType"]
Case = Callable[["Draw"], None]


@dataclass
class Draw:
    """A file under construction, and what is random about it."""

    random: np.random.Generator
    name: str
    kind: str
    bits: int
    file: File
    inputs: list[int]
    outputs: list[int]

    def one(self, *values: Any) -> Any:
        return values[self.random.integers(len(values))]

    def number(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def shape(self, rank: int | None = None) -> tuple[int, ...]:
        rank = rank or self.number(1, 4)
        return tuple(self.number(1, 6) for _ in range(rank))

    @property
    def scale(self) -> float:
        return float(np.float32(self.random.uniform(0.005, 0.12)))

    @property
    def zero(self) -> int:
        return 0 if self.kind == "int16" else self.number(-128, 127)

    def coded(self, shape: tuple[int, ...], **more: Any) -> int:
        """A tensor that is computed."""
        if self.kind in ("int8", "int16"):
            more = {"scale": self.scale, "zero": self.zero, **more}
        return self.file.tensor(shape, more.pop("kind", self.kind), **more)

    def x(self, shape: tuple[int, ...], **more: Any) -> int:
        """An input."""
        self.inputs.append(self.coded(shape, **more))
        return self.inputs[-1]

    def y(self, shape: tuple[int, ...], **more: Any) -> int:
        """An output."""
        self.outputs.append(self.coded(shape, **more))
        return self.outputs[-1]

    def ints(self, *values: int) -> int:
        return self.file.constant(np.array(values, np.int32))

    def like(self, index: int) -> dict[str, Any]:
        """The quantization of a tensor."""
        found = self.file.graphs[-1]["tensors"][index].get("quantization")
        return {"scale": found["scale"], "zero": found["zero_point"]} if found else {}

    @property
    def fused(self) -> int:
        return FUSED[self.one("NONE", "RELU", "RELU6", "RELU_N1_TO_1")]

    def weights(self, shape: tuple[int, ...], axis: int, x: int) -> list[int]:
        """Weights, and a bias or none."""
        random, count = self.random, shape[axis]
        # TFLM takes no matrices of int4 with a scale for each row.
        per_channel = self.one(True, False) and (self.bits, self.name) != (4, "FULLY_CONNECTED")
        if self.kind == "float32":
            data = random.normal(size=shape).astype(np.float32)
            bias = random.normal(size=count).astype(np.float32)
            return [self.file.constant(each) for each in self.one([data], [data, bias])]
        scales = random.uniform(0.001, 0.02, count if per_channel else 1).astype(np.float32)
        data = random.integers(-127, 128, shape).astype(np.int8)
        wide = np.dtype(np.int64 if self.kind == "int16" else np.int32)
        bias = random.integers(-3000, 3000, count).astype(wide)
        own = float(self.like(x)["scale"][0])
        if self.bits == 4:
            data = data.astype(np.int16) * 7 // 127
            codes = np.append(data.reshape(-1), 0)[: -(-data.size // 2) * 2].astype(np.uint8) & 15
            packed = (codes[::2] | codes[1::2] << 4).tobytes()
            w = self.file.tensor(shape, "int4", scales, 0, packed, axis)
        else:
            zero = 0
            if self.name == "FULLY_CONNECTED" and self.kind == "int8" and not per_channel:
                zero = self.number(-9, 9)
            w = self.file.constant(data, scale=scales, zero=zero, axis=axis)
        return self.one([w], [w, self.file.constant(bias, scale=scales * own)])

    def op(
        self, name: str, inputs: list[int], outputs: list[int], table: str = "", **options: Any
    ) -> None:
        self.file.operator(name, inputs, outputs, table, **options)

    def row(self) -> tuple[Array, ...]:
        """One call's inputs."""
        tensors = [self.file.graphs[0]["tensors"][i] for i in self.inputs]
        return tuple(values(self.random, t["shape"], t["type"]) for t in tensors)


_RANGES = {
    "INT8": (-128, 128, "i1"),
    "INT16": (-32768, 32768, "i2"),
    "UINT8": (0, 256, "u1"),
    "INT32": (-1000, 1000, "i4"),
    "INT64": (-1000, 1000, "i8"),
    "BOOL": (0, 2, "?"),
}
_NAMES = {number: name for name, number in ENUMS["TensorType"].items()}


def values(random: np.random.Generator, shape: list[int], kind: int) -> Array:
    if _NAMES[kind] == "FLOAT32":
        return random.normal(size=shape, scale=2.0).astype(np.float32)
    low, high, dtype = _RANGES[_NAMES[kind]]
    inside = random.integers(low, high, shape)
    bounds = np.where(random.random(shape) < 0.5, low, high - 1)
    return np.where(random.random(shape) < 0.1, bounds, inside).astype(dtype)


CASES: dict[str, tuple[Case, str]] = {}
"""What makes a file, and the type of its tensors."""


def case(*names: str, kinds: str = "int8") -> Callable[[Case], Case]:
    def register(function: Case) -> Case:
        for name in names or (function.__name__.upper(),):
            for kind in kinds.split():
                CASES[f"{name} {kind}"] = function, kind
        return function

    return register


def made(name: str, seed: int) -> Draw:
    """The file of a case; its operator is in the case's name."""
    function, kind = CASES[name]
    bits, kind = (4, "int8") if kind == "int4" else (8, kind)
    random = np.random.default_rng([seed, *name.encode()])
    draw = Draw(random, name.split()[0], kind, bits, File(), [], [])
    function(draw)
    return draw


def options_of(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_")) + "Options"

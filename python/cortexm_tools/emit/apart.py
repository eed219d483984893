# SPDX-License-Identifier: Apache-2.0
"""WEIGHTS partition: what a model has learned, as an image beside the firmware's code.

The firmware has the code of the plan: which kernels run, on which shapes, at which addresses of the
arena. What another training changes is in the image: the constants, and of the kernels' parameter
blocks the fields of `plan.kernels.params.VALUES` (multipliers, shifts, zero points, bounds). The code
finds each at a fixed offset of the image, wherever that lies, so one image serves any address.

An image (little endian) is a header of `HEADER` bytes, laid out as cortexm_weights_header_t of
runtime/include/cortexm/model.h says, the constants, and the values. It fits every firmware whose plan has
the same digest: the SHA-256 of `plan_lines`, which tell all that the code takes for granted.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..documents import DAMAGE, json_of
from ..errors import CortexMError, printable
from ..ir import Tensor
from ..ir.text import tensor_text
from ..plan import Plan
from ..plan.kernels.params import VALUES, field_types
from ..plan.types import Arg, Call, ConstantArg, Field, ScratchArg
from .cwriter import c_float, c_type
from .options import EmitOptions

MAGIC = b"CXMW"
FORMAT = 1
HEADER = 128
_HEAD = struct.Struct("<4sHHIIII24s16s32s32s")
_CRC_FROM = 20  # what comes before is compared as it is
_ALIGN = 16
_MIN_ALIGN = 4
_CODES = {
    "int8_t": "b",
    "uint8_t": "B",
    "int16_t": "h",
    "uint16_t": "H",
    "int32_t": "i",
    "uint32_t": "I",
    "int64_t": "q",
    "uint64_t": "Q",
    "float": "f",
}
_NAME = 31  # bytes of a name in a header


@dataclass(frozen=True)
class Value:
    """A field of a parameter block whose value is in the image."""

    field: str
    c_type: str
    offset: int


@dataclass(frozen=True)
class Apart:
    """The image of a plan. `abi` is CORTEXM_ABI of the code that reads it."""

    plan: Plan
    abi: int

    @cached_property
    def _places(self) -> tuple[dict[str, int], dict[tuple[int, int], list[Value]], int]:
        end, constants = HEADER, dict[str, int]()
        for constant in self.plan.constants:
            align = max(_MIN_ALIGN, constant.data.dtype.itemsize)
            constants[constant.name] = end = -(-end // align) * align
            end += constant.nbytes
        values: dict[tuple[int, int], list[Value]] = {}
        for key, call in self._calls():
            types = field_types()[call.kernel.params]
            for field, value in call.fields:
                if field not in VALUES or isinstance(value, str):
                    continue
                size = struct.calcsize(_CODES[types[field]])
                end = -(-end // size) * size
                values.setdefault(key, []).append(Value(field, types[field], end))
                end += size
        return constants, values, -(-end // _ALIGN) * _ALIGN

    def _calls(self) -> list[tuple[tuple[int, int], Call]]:
        return [
            ((number, position), call)
            for number, step in enumerate(self.plan.steps)
            for position, call in enumerate(step.calls)
        ]

    def offset(self, constant: str) -> int:
        """Of a constant in the image."""
        return self._places[0][constant]

    def values(self, number: int, position: int) -> list[Value]:
        """What a call of a step reads from the image."""
        return self._places[1].get((number, position), [])

    @property
    def size(self) -> int:
        """Bytes of the image, a multiple of 16."""
        return self._places[2]

    @property
    def target(self) -> str:
        """What the constants are packed for."""
        return f"{self.plan.target.core.value} {self.plan.target.isa.value}"

    @cached_property
    def lines(self) -> list[str]:
        """All that code and image must agree about."""
        plan, graph = self.plan, self.plan.graph
        lines = [f"abi {self.abi}", f"target {self.target}"]
        for role, indices in (("input", graph.inputs), ("output", graph.outputs)):
            for number, index in enumerate(indices):
                place = f"@{plan.offset(index)}"
                lines.append(f"{role} {number}: {_interface(graph.tensors[index])} {place}")
        lines += [
            f"state: {tensor_text(graph.tensors[state.before])} @{plan.offset(state.before)}"
            for state in graph.states
        ]
        lines += [
            f"constant: {c_type(constant.data)}[{constant.data.size}] @{self.offset(constant.name)}"
            for constant in plan.constants
        ]
        for (number, position), call in self._calls():
            fields = [
                f"{field}={self._field(value)}"
                for field, value in call.fields
                if field not in VALUES or isinstance(value, str)
            ]
            read = [f"{value.field}=@{value.offset}" for value in self.values(number, position)]
            args = ", ".join(self._arg(number, arg) for arg in call.args)
            turns = f" {call.turns} times" if call.turns > 1 else ""
            lines.append(
                f"step {number + 1}: {call.kernel.symbol}({args}){turns} "
                + " ".join([*fields, *read])
            )
        return [*lines, f"image: {self.size} bytes"]

    def _field(self, value: Field) -> str:
        return f"@{self.offset(value)}" if isinstance(value, str) else str(value)

    def _arg(self, number: int, arg: Arg) -> str:
        if isinstance(arg, ConstantArg):
            return f"@{self.offset(arg.name) + arg.offset}" + (f"+{arg.step}n" if arg.step else "")
        if isinstance(arg, ScratchArg):
            return f"scratch {arg.nbytes}" + (f"@{arg.offset}" if arg.offset else "")
        step = f"+{arg.step}n" if arg.step else ""
        return f"arena+{self.plan.offset(arg.index) + arg.offset}{step}"

    @cached_property
    def digest(self) -> bytes:
        """The plan's: 16 bytes."""
        return hashlib.sha256("\n".join(self.lines).encode()).digest()[:16]

    def image(self, name: str) -> bytes:
        """The image. `name` is the model's, for people."""
        data = bytearray(self.size)
        for constant in self.plan.constants:
            begin = self.offset(constant.name)
            data[begin : begin + constant.nbytes] = constant.data.tobytes()
        for key, call in self._calls():
            fields = dict(call.fields)
            for value in self.values(*key):
                struct.pack_into(
                    "<" + _CODES[value.c_type], data, value.offset, fields[value.field]
                )
        payload = hashlib.sha256(data[HEADER:]).digest()
        words = (MAGIC, FORMAT, HEADER, self.abi, self.size)
        texts = (self.target.encode(), self.digest, payload, name.encode()[:_NAME])
        _HEAD.pack_into(data, 0, *words, 0, 0, *texts)
        struct.pack_into("<I", data, 16, zlib.crc32(data[_CRC_FROM:]))
        return bytes(data)

    def contract(self, options: EmitOptions, image: bytes) -> str:
        """NAME.weights.json: what other images have to be to fit, and how they are made."""
        content = {
            "format": FORMAT,
            "name": options.name,
            "abi": self.abi,
            "target": self.target,
            "plan": self.digest.hex(),
            "image_bytes": self.size,
            "weights_sha256": read_header(image).weights,
            "command": shlex.split(options.command),
            "agreed": self.lines,
        }
        return json.dumps(content, indent=1) + "\n"


def _interface(tensor: Tensor) -> str:
    """An input or output: applications are compiled for its scale and zero point."""
    shape = "x".join(map(str, tensor.shape)) or "scalar"
    long = [dim for dim in tensor.dim_order if tensor.shape[dim] > 1]
    order = "" if long == sorted(long) else " order " + "".join(map(str, long))
    text = f"{tensor.dtype.value} {shape}{order}"
    if tensor.quant is not None:
        text += f" scale {c_float(tensor.quant.scale)} zero point {tensor.quant.zero_point}"
    return text


def difference(agreed: Sequence[str], apart: Apart) -> str:
    """The first thing that a plan has otherwise than the firmware, as a sentence; empty if nothing."""
    for mine, its in zip(apart.lines, agreed, strict=False):
        if mine == its:
            continue
        step = re.match(r"step (\d+): ", mine)
        if step is None or not its.startswith(step[0]):
            return f"the firmware has {_short(its)!r}, this model {_short(mine)!r}"
        op = apart.plan.steps[int(step[1]) - 1].op
        pairs = zip(its.split(), mine.split(), strict=False)
        old, new = next((pair for pair in pairs if pair[0] != pair[1]), (its, mine))
        if old.partition("(")[0] != new.partition("(")[0]:
            old, new = old.partition("(")[0], new.partition("(")[0]
        layer = op.layer.path or op.kind
        return f"step {step[1]}, {layer}, has {_short(old)} in the firmware and {_short(new)} here"
    if len(agreed) != len(apart.lines):
        return f"the firmware's plan has {len(agreed)} parts, this one {len(apart.lines)}"
    return ""


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."


@dataclass(frozen=True)
class Header:
    """What an image says of itself; digests in hexadecimal digits."""

    name: str
    target: str
    abi: int
    size: int
    plan: str
    weights: str


def read_header(image: bytes, where: str = "") -> Header:
    """The header of an image that is whole.

    Raises:
        CortexMError: it is none, or damaged.
    """
    if len(image) < HEADER or image[:4] != MAGIC:
        raise CortexMError("is not an image of weights", where=where)
    _, form, header, abi, size, crc, _, target, plan, weights, name = _HEAD.unpack_from(image)
    if form != FORMAT or header != HEADER:
        raise CortexMError(f"has format {form}, this tool reads {FORMAT}", where=where)
    if size > len(image):
        raise CortexMError(
            f"is damaged: {len(image):,} bytes of {size:,}", where=where, hint="copy it again"
        )
    data = image[:size]
    payload = hashlib.sha256(data[HEADER:]).digest()
    if zlib.crc32(data[_CRC_FROM:]) != crc or payload != weights:
        raise CortexMError("is damaged: its checksum is another", where=where, hint="copy it again")
    return Header(_text(name), _text(target), abi, size, plan.hex(), weights.hex())


def _text(field: bytes) -> str:
    return printable(field.rstrip(b"\0").decode("utf-8", "replace"))


def read_contract(text: bytes | str, where: str) -> Mapping[str, Any]:
    """NAME.weights.json of a firmware.

    Raises:
        CortexMError: it is something else.
    """
    try:
        content = json_of(text)
        known = {"name": str, "plan": str, "command": list, "agreed": list, "target": str}
        if content["format"] == FORMAT and all(
            isinstance(content[key], kind) for key, kind in known.items()
        ):
            return dict(content)
    except DAMAGE:
        pass
    raise CortexMError(
        "is not what a build with WEIGHTS partition leaves",
        where=where,
        hint="give the NAME.weights.json of the firmware's build",
    )


def define_lines(apart: Apart, options: EmitOptions) -> list[str]:
    """For NAME.c: where the weights are, what they must be, and the constants by name."""
    name = options.name
    digits = ", ".join(f"0x{byte:02x}" for byte in apart.digest)
    lines = [
        "/* The image of weights in use; see cortexm_load_weights(). */",
        f"static const uint8_t *{name}_weights_at;",
        "",
        f"const cortexm_weights_t {name}_weights = {{",
        f'    .target = "{apart.target}",',
        f"    .size = {options.macro}_WEIGHTS_SIZE,",
        f"    .plan = {{{digits}}},",
        f"    .image = &{name}_weights_at,",
        "};",
        "",
    ]
    lines += [
        f"#define {name}_{constant.name} "
        f"((const {c_type(constant.data)} *)(const void *)(weights + {apart.offset(constant.name)}))"
        for constant in apart.plan.constants
    ]
    return [*lines, ""] if apart.plan.constants else lines


def status_lines(options: EmitOptions) -> list[str]:
    """The model's status function."""
    name = options.name
    return [
        f"static int {name}_status(const void *arena)",
        "{",
        "    (void)arena;",
        f"    return {name}_weights_at != NULL ? CORTEXM_OK : CORTEXM_ERR_NO_WEIGHTS;",
        "}",
        "",
    ]


def enter_lines(options: EmitOptions) -> list[str]:
    """At the beginning of a function that reads the image."""
    return [
        f"    const uint8_t *const weights = {options.name}_weights_at;",
        "",
        "    if (weights == NULL) {",
        "        return;",
        "    }",
    ]


def fixed_fields(call: Call) -> tuple[tuple[str, Field], ...]:
    """The fields of a call's block that are in the code."""
    return tuple(
        (field, value)
        for field, value in call.fields
        if not isinstance(value, str) and field not in VALUES
    )


def block_lines(
    apart: Apart, options: EmitOptions, number: int, position: int, template: str
) -> list[str]:
    """A call's block on the stack: the fixed fields, and those of the image. None if all are fixed."""
    call = apart.plan.steps[number].calls[position]
    pointers = [(field, value) for field, value in call.fields if isinstance(value, str)]
    values = apart.values(number, position)
    if not pointers and not values:
        return []
    lines = [f"{call.kernel.params} params = {template};", ""]
    lines += [f"params.{field} = {options.name}_{value};" for field, value in pointers]
    lines += [
        f"params.{value.field} = *(const {value.c_type} *)(const void *)(weights + {value.offset});"
        for value in values
    ]
    return lines

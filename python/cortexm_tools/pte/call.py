# SPDX-License-Identifier: Apache-2.0
"""One operator call of a program, with typed and checked access to its arguments."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from ..errors import CortexMError
from ..ir import ops
from ..ir.fixed_point import Rescale
from ..ir.types import Array, DType, Layer, QuantParams, Tensor
from .builder import Builder
from .schemas import SCHEMAS, Schema
from .values import PteFloats, PteInstruction, PteList, PteProgram, PteValue

T = TypeVar("T")

INT8 = (-128, 127)
INT16 = (-(2**15), 2**15 - 1)
INT32 = (-(2**31), 2**31 - 1)
INT64 = (-(2**63), 2**63 - 1)


def as_rescale(multiplier: int, shift: int) -> Rescale:
    """A requantization that kernels can do.

    ExecuTorch states any factor, also that of a channel whose weights are all zero. A product of 32
    bits divided by more than 2^32 rounds to zero, whatever it is: so does one with the factor zero.
    Layers of int16 codes have longer sums, but their program's shifts mean the same.
    """
    return Rescale(multiplier, shift) if shift >= -31 else Rescale(0, -31)


@dataclass(frozen=True)
class Call:
    """A call under conversion. Arguments go by their names in the operator's schema."""

    program: PteProgram
    instruction: PteInstruction
    number: int
    layer: Layer
    builder: Builder

    @property
    def schema(self) -> Schema:
        return SCHEMAS[self.instruction.operator]

    @property
    def where(self) -> str:
        """The layer, or the instruction's number where no layer is known."""
        return str(self.layer) if self.layer != Layer() else f"instruction {self.number}"

    @property
    def name(self) -> str:
        """The operator in messages: as the user calls it, where that is known, and as it is."""
        call, operator = self.layer.call, self.instruction.operator
        return f"{call} ({operator})" if call else operator

    def error(self, message: str, hint: str = "") -> CortexMError:
        return CortexMError(f"{self.name}: {message}", where=self.where, hint=hint)

    def require(self, condition: bool, message: str, hint: str = "") -> None:
        """Raises CortexMError(message) unless `condition`."""
        if not condition:
            raise self.error(message, hint)

    def _index(self, name: str) -> int:
        """Which value of the program is the argument."""
        return self.instruction.args[self.schema.positions[name]]

    def _value(self, name: str) -> PteValue:
        return self.program.values[self._index(name)]

    # -- numbers ----------------------------------------------------------------------------------

    def is_none(self, name: str) -> bool:
        return self._value(name) is None

    def integer(self, name: str, limits: tuple[int, int] = INT32) -> int:
        """An int argument within `limits` (inclusive)."""
        return self._integer(self._value(name), name, limits)

    def _integer(self, value: PteValue, name: str, limits: tuple[int, int]) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(f"argument {name!r} is not an integer known at build time")
        if not limits[0] <= value <= limits[1]:
            raise self.error(f"argument {name!r} is {value}, outside of {list(limits)}")
        return value

    def rescale(self, multiplier: str, shift: str) -> Rescale:
        """The requantization that two arguments state: see `as_rescale`."""
        return as_rescale(self.integer(multiplier), self.integer(shift))

    def real(self, name: str) -> float:
        """A float (or int) argument; must be finite."""
        value = self._value(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(f"argument {name!r} is not a number known at build time")
        result = float(value)
        if not math.isfinite(result):
            raise self.error(f"argument {name!r} is {result}")
        return result

    def scalar(self, name: str) -> int | float | bool:
        """A Scalar argument; infinities are allowed."""
        value = self._value(name)
        if not isinstance(value, bool | int | float):
            raise self.error(f"argument {name!r} is not a number known at build time")
        return value

    def text(self, name: str) -> str:
        """A str argument."""
        value = self._value(name)
        if not isinstance(value, str):
            raise self.error(f"argument {name!r} is not a text known at build time")
        return value

    def boolean(self, name: str) -> bool:
        value = self._value(name)
        if not isinstance(value, bool):
            raise self.error(f"argument {name!r} is not a boolean known at build time")
        return value

    def is_integer(self, name: str) -> bool:
        """Whether the argument is one number, where a list may stand."""
        return isinstance(self._value(name), int)

    def integers(self, name: str, limits: tuple[int, int] = INT32) -> tuple[int, ...]:
        """An int[] argument."""
        value = self._value(name)
        if not isinstance(value, PteList) or value.of_tensors:
            raise self.error(f"argument {name!r} is not a list of integers")
        return tuple(self._integer(self.program.values[item], name, limits) for item in value.items)

    def reals(self, name: str) -> tuple[float, ...]:
        value = self._value(name)
        if not isinstance(value, PteFloats):
            raise self.error(f"argument {name!r} is not a list of numbers")
        return value.items

    def pair(self, name: str, *, minimum: int) -> tuple[int, int]:
        """An int[2] argument (height, width); one entry stands for both."""
        values = self.integers(name, (minimum, 2**15))
        if len(values) == 1:
            values = values * 2
        self.require(len(values) == 2, f"argument {name!r} has {len(values)} entries, not 2")
        return values[0], values[1]

    def dim(self, name: str, rank: int) -> int:
        """A dimension, made non-negative."""
        return self.as_dim(self.integer(name), rank)

    def as_dim(self, dim: int, rank: int) -> int:
        self.require(-rank <= dim < rank, f"dimension {dim} does not exist in rank {rank}")
        return dim % rank

    def dims(self, name: str, rank: int) -> tuple[int, ...]:
        """Dimensions, made non-negative; all different."""
        dims = tuple(self.as_dim(dim, rank) for dim in self.integers(name))
        self.require(len(set(dims)) == len(dims), f"argument {name!r} names a dimension twice")
        return dims

    # -- tensors ----------------------------------------------------------------------------------

    def tensor(self, name: str) -> int:
        """The IR tensor of a Tensor argument, by index."""
        return self._guard(self.builder.read, self._index(name))

    def operand(self) -> int:
        """The IR tensor of the first argument."""
        return self._guard(self.builder.read, self.instruction.args[0])

    def optional(self, name: str) -> int | None:
        return None if self.is_none(name) else self.tensor(name)

    def tensor_list(self, name: str) -> tuple[int, ...]:
        """The IR tensors of a Tensor[] argument."""
        return tuple(self._guard(self.builder.read, item) for item in self._list_items(name))

    def optional_tensor_list(self, name: str) -> tuple[int | None, ...]:
        """The IR tensors of a Tensor?[] argument."""
        return tuple(
            None if self._is_absent(item) else self._guard(self.builder.read, item)
            for item in self._list_items(name, lowest=-1)
        )

    def _is_absent(self, item: int) -> bool:
        return item < 0 or self.program.values[item] is None

    def _list_items(self, name: str, lowest: int = 0) -> tuple[int, ...]:
        return self._items(self._value(name), name, lowest)

    def _result_items(self) -> tuple[int, ...]:
        value = self.program.values[self.instruction.args[self.schema.arg_count]]
        return self._items(value, self.schema.results[0], 0)

    def _items(self, value: PteValue, name: str, lowest: int) -> tuple[int, ...]:
        if not isinstance(value, PteList) or not value.of_tensors:
            raise self.error(f"argument {name!r} is not a list of tensors")
        self.require(min(value.items, default=0) >= lowest, f"argument {name!r} lacks a tensor")
        return value.items

    def constant(self, name: str) -> int:
        """The IR tensor of an argument that must be constant, in contiguous order."""
        index = self._guard(self.builder.read_contiguous, self._index(name))
        self.require(
            self.builder.tensors[index].is_constant, f"argument {name!r} must be a constant"
        )
        return index

    def constant_data(self, name: str) -> Array:
        data = self.builder.tensors[self.constant(name)].data
        assert data is not None
        return data

    def known(self, index: int) -> Array | None:
        """What the IR tensor with this index is, if that is known at build time."""
        return self._guard(self.builder.known, index)

    def info(self, index: int) -> Tensor:
        """The IR tensor with this index."""
        return self.builder.tensors[index]

    def out_tensor(self, number: int = 0) -> Tensor:
        """Type and shape of result `number`."""
        index = self.instruction.args[self.schema.arg_count + number]
        value = self._guard(self.builder.value, index)
        return Tensor("", DType[value.scalar_type.name], value.shape, value.dim_order)

    def _guard(self, function: Callable[[int], T], index: int) -> T:
        """Calls `function`, adding this call's place to its errors."""
        try:
            return function(index)
        except CortexMError as error:
            raise CortexMError(
                f"{self.name}: {error.message}", where=self.where, hint=error.hint
            ) from None

    # -- results ----------------------------------------------------------------------------------

    def emit(self, attrs: ops.Attrs, *inputs: int | None) -> tuple[int, ...]:
        """Adds the operator with all of the call's results; returns their indices."""
        outputs = tuple(
            self._guard(self.builder.define, self.instruction.args[self.schema.arg_count + number])
            for number in range(self.schema.out_count)
        )
        self._add(attrs, inputs, outputs)
        return outputs

    def define_list(self) -> tuple[int, ...]:
        """The results of an operator that returns a list, to be computed by `emit_into`."""
        items = self._result_items()
        return tuple(self._guard(self.builder.define, item) for item in items)

    def out_list(self) -> tuple[Tensor, ...]:
        """Types and shapes of the results of an operator that returns a list."""
        items = self._result_items()
        values = [self._guard(self.builder.value, item) for item in items]
        return tuple(
            Tensor("", DType[value.scalar_type.name], value.shape, value.dim_order)
            for value in values
        )

    def emit_new(self, attrs: ops.Attrs, result: Tensor, *inputs: int | None) -> int:
        """Adds an operator with a new tensor as its result; its name is made unique."""
        name = f"{result.name or 'x'}_{self.number}_{len(self.builder.tensors)}"
        index = self.builder.add_tensor(replace(result, name=name, data=None))
        self._add(attrs, inputs, (index,))
        return index

    def emit_into(self, attrs: ops.Attrs, outputs: tuple[int, ...], *inputs: int | None) -> None:
        """Adds an operator with results that were defined before."""
        self._add(attrs, inputs, outputs)

    def bind(self, tensor: int) -> None:
        """Makes an existing tensor the result."""
        index = self.instruction.args[self.schema.arg_count]
        self._guard(lambda value: self.builder.bind(value, tensor), index)

    def writes_state(self) -> bool:
        """Whether the result is what the program keeps from call to call."""
        return self.builder.is_state(self.instruction.args[self.schema.arg_count])

    def overwrite(self, tensor: int) -> None:
        """Gives the result, which is a state, the value of a tensor."""
        index = self.instruction.args[self.schema.arg_count]
        self._guard(lambda value: self.builder.overwrite(value, tensor), index)

    def drop_result(self, number: int, why: str) -> None:
        """Leaves out result `number`: an operator that reads it is refused with `why`."""
        self.builder.refuse(self.instruction.args[self.schema.arg_count + number], why)

    def emit_first(self, attrs: ops.Attrs, *inputs: int | None) -> None:
        """Like `emit`, with the first result only."""
        index = self.instruction.args[self.schema.arg_count]
        self._add(attrs, inputs, (self._guard(self.builder.define, index),))

    def _add(
        self, attrs: ops.Attrs, inputs: tuple[int | None, ...], outputs: tuple[int, ...]
    ) -> None:
        operands = tuple(index for index in inputs if index is not None)
        self.builder.add_op(attrs, operands, outputs, self.layer)

    def add_constant(self, name: str, data: Array) -> int:
        return self.builder.add_constant(f"{name}_{self.number}", data)

    def set_quant(self, index: int, scale: float, zero_point: int) -> None:
        self.builder.set_quant(index, QuantParams(scale, zero_point))

    # -- checks that several operators share ------------------------------------------------------

    def require_dtype(self, index: int, *dtypes: DType) -> None:
        have = self.info(index).dtype
        names = " or ".join(dtype.value for dtype in dtypes)
        self.require(have in dtypes, f"an operand is {have.value}, must be {names}")

    def require_out(self, shape: tuple[int, ...], *dtypes: DType, number: int = 0) -> None:
        """The result must have this shape and one of these types."""
        out = self.out_tensor(number)
        self.require(
            out.shape == shape, f"the result has shape {out.shape}, the operands give {shape}"
        )
        names = " or ".join(dtype.value for dtype in dtypes)
        self.require(out.dtype in dtypes, f"the result is {out.dtype.value}, must be {names}")

    def broadcast(self, *indices: int) -> tuple[int, ...]:
        """The shape that operands broadcast to."""
        shapes = [self.info(index).shape for index in indices]
        try:
            return np.broadcast_shapes(*shapes)
        except ValueError:
            raise self.error(f"operands of shapes {shapes} do not broadcast") from None


Converter = Callable[[Call], None]


# How operators are read, by their names in the .pte.
CONVERTERS: dict[str, Converter] = {}


def reads(*operators: str) -> Callable[[Converter], Converter]:
    """Registers what adds the IR operators of one call; the operators' schemas are in the ledger."""

    def register(convert: Converter) -> Converter:
        for operator in operators:
            assert operator not in CONVERTERS, operator
            CONVERTERS[operator] = convert
        return convert

    return register

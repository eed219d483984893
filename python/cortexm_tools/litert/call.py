# SPDX-License-Identifier: Apache-2.0
"""One operator of a file under conversion: its options by name, its tensors, and what it becomes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from ..errors import CortexMError
from ..ir import ops
from ..ir.types import Array, DType, Layer, channels_last
from .builder import Builder
from .schema import Record, name_of
from .values import DTYPES, LiteOperator, LiteTensor

T = TypeVar("T")

AGAIN = "quantize and convert the model again"

_ZERO_POINTS = {DType.S8: (-128, 127), DType.S16: (0, 0), DType.U8: (0, 255)}


@dataclass(frozen=True)
class Call:
    """An operator under conversion.

    Attributes:
        operator: as the file has it.
        table: the name of its options; empty for an operator without.
        builder: where it goes.
    """

    operator: LiteOperator
    table: str
    builder: Builder

    @property
    def name(self) -> str:
        return self.operator.name

    @cached_property
    def layer(self) -> Layer:
        """The operator is called by what it gives."""
        outputs = self.operator.outputs
        name = self.builder.subgraph.tensors[outputs[0]].name if outputs else ""
        return Layer(name.partition(";")[0], f"{self.name} {self.operator.number}")

    def error(self, message: str, hint: str = "") -> CortexMError:
        return CortexMError(
            f"operator {self.operator.number}, {self.name}: {message}",
            where=self.layer.path,
            hint=hint,
        )

    def require(self, condition: bool, message: str, hint: str = "") -> None:
        """Raises CortexMError(message) unless `condition`."""
        if not condition:
            raise self.error(message, hint)

    # -- options ----------------------------------------------------------------------------------

    @cached_property
    def _options(self) -> Record | None:
        found = self.operator.options
        if found is not None and self.table and found.name != self.table:
            raise self.error(f"has the options of another operator, {found.name}", AGAIN)
        return found if self.table else None

    def option(self, name: str) -> Any:
        """A number, a tuple of numbers or a text.

        Raises:
            CortexMError: the operator has no options.
        """
        self.require(self._options is not None, f"has no {self.table}", AGAIN)
        assert self._options is not None
        return self._options.value(name)

    def choice(self, name: str, enum: str) -> str:
        """An option that is a member of an enumeration."""
        return name_of(enum, self.option(name))

    # -- tensors ----------------------------------------------------------------------------------

    def has(self, number: int) -> bool:
        """Whether there is an operand of this number."""
        inputs = self.operator.inputs
        return number < len(inputs) and inputs[number] >= 0

    def lite(self, number: int) -> LiteTensor:
        """Operand `number` as the file has it."""
        self.require(self.has(number), f"operand {number} is missing", AGAIN)
        return self._told(self.builder.value, self.operator.inputs[number])

    def result(self, number: int = 0) -> LiteTensor:
        """Result `number` as the file has it."""
        self.require(number < len(self.operator.outputs), f"result {number} is missing", AGAIN)
        return self._told(self.builder.value, self.operator.outputs[number])

    def _told(self, work: Callable[[int], T], tensor: int) -> T:
        """What the builder does with a tensor of the file; its errors name the operator."""
        try:
            return work(tensor)
        except CortexMError as error:
            raise self.error(error.message, error.hint) from None

    def operand(self, number: int) -> int:
        """Operand `number`, an IR tensor."""
        return self._told(self.builder.read, self.lite(number).index)

    @property
    def operands(self) -> tuple[int, ...]:
        """All operands; none is absent."""
        return tuple(map(self.operand, range(len(self.operator.inputs))))

    def known(self, number: int) -> Array | None:
        """What operand `number` is, if that is known."""
        return self.builder.known(self.operand(number))

    def constant(self, number: int) -> Array:
        """What operand `number` is, which must be known."""
        found = self.known(number)
        if found is None:
            raise self.error(
                f"{self.lite(number)} is only known at run time",
                "make it a constant of the model: shapes, axes and weights must be known here",
            )
        return found

    def integers(self, number: int) -> tuple[int, ...]:
        """A constant operand of integers: a shape, or axes."""
        data = self.constant(number)
        self.require(data.dtype.kind == "i", f"{self.lite(number)} has no integers", AGAIN)
        return tuple(int(value) for value in data.reshape(-1))

    def axis(self, axis: int, rank: int) -> int:
        """A dimension, made non-negative."""
        self.require(-rank <= axis < rank, f"dimension {axis} does not exist in rank {rank}", AGAIN)
        return axis % rank

    def one_axis(self, number: int, rank: int) -> int:
        """A constant operand of one dimension."""
        found = self.integers(number)
        self.require(len(found) == 1, f"works along the dimensions {found}", AGAIN)
        return self.axis(found[0], rank)

    def axes(self, number: int, rank: int) -> tuple[int, ...]:
        """A constant operand of dimensions: in order, each once."""
        return tuple(sorted({self.axis(axis, rank) for axis in self.integers(number)}))

    def shape(self, index: int) -> tuple[int, ...]:
        """Of an IR tensor."""
        return self.builder.tensors[index].shape

    def dtype(self, index: int) -> DType:
        return self.builder.tensors[index].dtype

    # -- types and quantization -------------------------------------------------------------------

    def type(self, tensor: LiteTensor) -> DType:
        return DTYPES[tensor.type]

    def types(self, *allowed: DType, operands: int | None = None) -> DType:
        """The type of the first operand, one of `allowed`, and of the first result and of as many operands
        (of all, if that is not said)."""
        count = len(self.operator.inputs) if operands is None else operands
        tensors = [self.lite(n) for n in range(count)] + [self.result()]
        found = sorted({tensor.type for tensor in tensors})
        dtype = self.type(tensors[0])
        if len(found) > 1 or dtype not in allowed:
            names = ", ".join(n for n, d in DTYPES.items() if d in allowed and n != "INT4")
            raise self.error(
                f"is of {' and '.join(found)}; there are kernels for {names}",
                "the old scheme of uint8 needs a new conversion to int8"
                if "UINT8" in found
                else "docs/litert.md says what each operator takes",
            )
        return dtype

    def scale(self, tensor: LiteTensor) -> float:
        """The scale of a tensor that has one: a float32."""
        quantization = tensor.quantization
        if quantization is None:
            raise self.error(f"{tensor} is not quantized: it has no scale", AGAIN)
        if len(quantization.scales) != 1:
            raise self.error(
                f"{tensor} has {len(quantization.scales)} scales, one is expected", AGAIN
            )
        return quantization.scales[0]

    def zero(self, tensor: LiteTensor) -> int:
        """The zero point of a tensor that has one."""
        self.scale(tensor)
        assert tensor.quantization is not None
        zero = tensor.quantization.zero_points[0]
        low, high = _ZERO_POINTS.get(self.type(tensor), (0, 0))
        self.require(
            low <= zero <= high,
            f"{tensor} has the zero point {zero}, outside of [{low}, {high}]",
            AGAIN,
        )
        return zero

    def same_scale(self, *tensors: LiteTensor) -> None:
        """Codes that are only moved mean the same everywhere."""
        if self.type(tensors[0]) not in _ZERO_POINTS or tensors[0].quantization is None:
            return
        first = (self.scale(tensors[0]), self.zero(tensors[0]))
        for tensor in tensors[1:]:
            if (self.scale(tensor), self.zero(tensor)) != first:
                raise self.error(
                    f"{tensors[0]} and {tensor} have different scales or zero points",
                    "TFLM gives the codes of another scale here; " + AGAIN,
                )

    # -- results ----------------------------------------------------------------------------------

    def add(
        self, attrs: ops.Attrs, *inputs: int | None, dtype: DType, shape: tuple[int, ...]
    ) -> int:
        """An operator with a new tensor as its result. One that computes element by element of what was
        turned computes before that, so that images between convolutions stay as they are."""
        turned = [self.origin(index) for index in inputs if index is not None]
        orders = {order for _, order in turned if order}
        if attrs.traits.is_elementwise and len(orders) == 1:
            (order,) = orders
            plain = tuple(shape[order.index(dim)] for dim in range(len(shape)))
            if all(
                self.shape(source) == plain if own else self._is_for_all(attrs, source)
                for source, own in turned
            ):
                made = self.add(attrs, *(source for source, _ in turned), dtype=dtype, shape=plain)
                return self.permute(made, order)
        return self.several(attrs, *inputs, results=((dtype, shape),))[0]

    def origin(self, x: int) -> tuple[int, tuple[int, ...]]:
        """What a tensor is with its dimensions in another order, and the order; itself and () without."""
        return self.builder.turned.get(x, (x, ()))

    def _is_for_all(self, attrs: ops.Attrs, operand: int) -> bool:
        """Whether an operand is the same for each element: a number or a table."""
        return isinstance(attrs, ops.Activation) or self.builder.tensors[operand].numel == 1

    def like(self, attrs: ops.Attrs, x: int, *more: int | None) -> int:
        """An operator whose result has the type and shape of its first operand."""
        return self.add(attrs, x, *more, dtype=self.dtype(x), shape=self.shape(x))

    def several(
        self,
        attrs: ops.Attrs,
        *inputs: int | None,
        results: tuple[tuple[DType, tuple[int, ...]], ...],
    ) -> tuple[int, ...]:
        """An operator with several new tensors as its results."""
        outputs = tuple(self.builder.add_tensor("t", *result) for result in results)
        given = tuple(index for index in inputs if index is not None)
        return self.builder.add_op(attrs, given, outputs, self.layer)

    def emit(self, attrs: ops.Attrs, *inputs: int | None, number: int = 0) -> None:
        """An operator that gives result `number`."""
        tensor = self.result(number)
        self.give(self.add(attrs, *inputs, dtype=self.type(tensor), shape=tensor.shape), number)

    def give(self, index: int, number: int = 0) -> None:
        """Makes an IR tensor result `number`, whose elements it has in their order."""
        tensor = self.result(number)
        have, dtype = self.builder.tensors[index], self.type(tensor)
        self.require(
            have.dtype is dtype, f"{tensor} is {dtype.value}, the operands give {have.dtype.value}"
        )
        self.require(
            have.numel == tensor.numel,
            f"{tensor} has the shape {tensor.shape}, the operands give {have.shape}",
            AGAIN,
        )
        made = self.view(index, tensor.shape)
        self._told(lambda tensor: self.builder.give(tensor, made), tensor.index)

    def view(self, x: int, shape: tuple[int, ...]) -> int:
        """The same elements in another shape."""
        if self.shape(x) == shape:
            return x
        return self.add(ops.View(), x, dtype=self.dtype(x), shape=shape)

    def permute(self, x: int, perm: tuple[int, ...]) -> int:
        """Dimensions in another order; those of what was turned once are turned once."""
        source, before = self.origin(x)
        order = tuple(before[dim] for dim in perm) if before else perm
        if order == tuple(range(len(order))):
            return source
        shape = tuple(self.shape(source)[dim] for dim in order)
        made = self.add(ops.Transpose(order), source, dtype=self.dtype(source), shape=shape)
        self.builder.turn(made, source, order)
        return made

    def image(self, x: int) -> int:
        """A tensor [N,H,W,C] as the IR has images: [N,C,H,W], channels last."""
        self.require(len(self.shape(x)) == 4, f"takes images, not a shape {self.shape(x)}", AGAIN)
        made = self.permute(x, (0, 3, 1, 2))
        self.channels_last(made)
        return made

    def image_result(self, attrs: ops.Attrs, *inputs: int | None) -> int:
        """An operator on images whose image is the result's, which is [N,H,W,C]."""
        tensor = self.result()
        self.require(len(tensor.shape) == 4, f"{tensor} is no image", AGAIN)
        n, h, w, c = tensor.shape
        made = self.add(attrs, *inputs, dtype=self.type(tensor), shape=(n, c, h, w))
        self.channels_last(made)
        return made

    def give_image(self, x: int) -> None:
        """Makes an image the result."""
        self.give(self.permute(x, (0, 2, 3, 1)))

    def channels_last(self, index: int) -> None:
        tensors = self.builder.tensors
        if not tensors[index].is_constant:
            tensors[index] = replace(tensors[index], dim_order=channels_last(4))

    def number(self, data: Array) -> int:
        """A new constant."""
        return self.builder.add_constant(data)


Converter = Callable[[Call], None]

CONVERTERS: dict[str, tuple[Converter, str]] = {}
"""How operators are read, and the tables of their options, by their names in the schema."""


def reads(*operators: str, options: str = "") -> Callable[[Converter], Converter]:
    """Registers what adds the IR operators of one operator; `options` is the table that it has."""

    def register(convert: Converter) -> Converter:
        for operator in operators:
            assert operator not in CONVERTERS, operator
            CONVERTERS[operator] = convert, options
        return convert

    return register

# SPDX-License-Identifier: Apache-2.0
"""Building a Graph from a program: which IR tensor a value of the program is at any moment.

ExecuTorch leaves out a view whose result shares its operand's memory: the program then reads a
value that nothing writes. `Builder.read` recognises it by its place in the planned memory and puts
the View back. Apart from that, the memory plan in the file has no influence on the graph.

State between calls is a value that an operator reads and a later one writes, or ``aten::copy_`` does: the
graph has one tensor for what it is at the begin and one for what it has become in the end.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace

import numpy as np

from ..errors import CortexMError
from ..ir import ops
from ..ir.interpreter import run_graph
from ..ir.types import Array, DType, Graph, Layer, Op, QuantParams, State, Tensor, contiguous
from .pairs import ConstantCodes
from .values import Dynamism, PteList, PteProgram, PteTensor, ScalarType, damaged

COPY = "aten::copy_"  # writes a state

_DTYPES = {
    ScalarType.S8: DType.S8,
    ScalarType.S16: DType.S16,
    ScalarType.S32: DType.S32,
    ScalarType.S64: DType.S64,
    ScalarType.U8: DType.U8,
    ScalarType.BOOL: DType.BOOL,
    ScalarType.F32: DType.F32,
}


@dataclass(frozen=True)
class _Content:
    """What lies in planned memory: tensor `tensor` in bytes [begin, end) of its memory area."""

    tensor: int
    begin: int
    end: int


class Builder:
    """Tensors and operators of a graph under construction.

    Args:
        program: the program whose values are converted.
        copy_budget: bytes of constants that may be copied into another order; bounds what a
            damaged file that uses one constant in many orders can cost.
    """

    def __init__(self, program: PteProgram, copy_budget: int) -> None:
        self._program = program
        self._copy_budget = copy_budget
        self.tensors: list[Tensor] = []
        self.codes: dict[int, ConstantCodes] = {}  # what float constants were made of
        self._ops: list[Op] = []
        self._made_by: dict[int, Op] = {}
        self._by_value: dict[int, int] = {}
        self._contiguous: dict[int, int] = {}
        self._inputs: list[int] = []
        # By memory area: what lies there, disjoint and in order of address.
        self._memory: dict[int, list[_Content]] = {}
        self._written = _written_values(program)
        self._refused: dict[int, str] = {}
        # By value, for what the program keeps from call to call: the tensor at the begin of a call.
        self._before: dict[int, int] = {}

    def add_tensor(self, tensor: Tensor) -> int:
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def add_constant(self, name: str, data: Array) -> int:
        """A new constant in C order."""
        dtype = next(dtype for dtype in DType if dtype.numpy == data.dtype)
        values = np.ascontiguousarray(data).reshape(data.shape)
        return self.add_tensor(Tensor(name, dtype, data.shape, contiguous(data.ndim), values))

    def spend(self, nbytes: int) -> None:
        """Counts what is made of the file's constants.

        Raises:
            CortexMError: it is more than the file is worth.
        """
        self._copy_budget -= nbytes
        if self._copy_budget < 0:
            raise damaged("it uses its constants in too many orders")

    def add_op(
        self, attrs: ops.Attrs, inputs: tuple[int, ...], outputs: tuple[int, ...], layer: Layer
    ) -> None:
        self._ops.append(Op(attrs, inputs, outputs, layer))
        self._made_by.update(dict.fromkeys(outputs, self._ops[-1]))

    def last_operand(self) -> int:
        """The first operand of the operator that was added last."""
        return self._ops[-1].inputs[0]

    def set_quant(self, index: int, quant: QuantParams) -> None:
        """Notes the scale and zero point of a tensor; the first note stays."""
        if self.tensors[index].quant is None:
            self.tensors[index] = replace(self.tensors[index], quant=quant)

    def quant(self, index: int) -> QuantParams | None:
        """What is known so far of the quantization of value `index`."""
        return self.tensors[self._by_value[index]].quant if index in self._by_value else None

    def value(self, index: int) -> PteTensor:
        """The tensor value `index` of the program, checked for what the IR can express."""
        value = self._program.values[index]
        if not isinstance(value, PteTensor):
            raise damaged(f"value {index} is used as a tensor but is none")
        if value.dynamism is Dynamism.UNBOUND:
            raise CortexMError(
                f"value {index} has a shape that is only known at run time",
                hint="export the model with static shapes",
            )
        if value.scalar_type not in _DTYPES:
            raise CortexMError(
                f"value {index} has the unsupported element type {value.scalar_type.name.lower()}",
                hint="supported: " + ", ".join(dtype.value for dtype in DType),
            )
        if 0 in value.shape and index not in self._program.inputs:
            raise CortexMError(f"value {index} is an empty tensor of shape {value.shape}")
        return value

    def add_input(self, index: int, number: int) -> None:
        """Makes value `index` the next input of the graph.

        Inputs that are numbers have no place in the graph: export fixed them, and ExecuTorch
        accepts no other value.
        """
        if isinstance(self._program.values[index], bool | int | float | str):
            return
        value = self.value(index)
        if value.dynamism is not Dynamism.STATIC:
            raise CortexMError(
                f"input {number} has a dynamic shape", hint="export the model with static shapes"
            )
        if index in self._by_value or value.data is not None:
            raise damaged(f"value {index} cannot be input {number}")
        tensor = self.add_tensor(_to_tensor(f"in_{number}", value))
        self._inputs.append(tensor)
        self._set(index, tensor, value)

    def add_states(self) -> None:
        """Makes the values that live from call to call tensors of the graph."""
        for index in state_values(self._program):
            value = self.value(index)
            if value.dynamism is not Dynamism.STATIC:
                raise CortexMError(
                    f"{_state_name(value, index)} has a dynamic shape",
                    hint="export the model with static shapes",
                )
            if index in self._by_value:
                raise damaged(f"value {index} is both an input and state")
            tensor = self.add_tensor(_to_tensor(f"state_{len(self._before)}", value))
            self._before[index] = tensor
            self._set(index, tensor, value)

    def is_state(self, index: int) -> bool:
        return index in self._before

    def overwrite(self, index: int, tensor: int) -> None:
        """Gives state `index` the value of `tensor`."""
        self._set(index, tensor, self.value(index))

    def define(self, index: int) -> int:
        """The tensor that an operator writes as value `index`."""
        value = self.value(index)
        if index in self._by_value and index not in self._before:
            raise CortexMError(
                f"value {index} is written twice or after it was read",
                hint="write the program with ExecuTorch's own memory planning",
            )
        if value.data is not None and not value.mutable:
            raise damaged(f"the constant value {index} is written")
        tensor = self.add_tensor(_to_tensor(f"t{index}", value))
        self._set(index, tensor, value)
        return tensor

    def bind(self, index: int, tensor: int) -> None:
        """Makes value `index` another name of `tensor`."""
        if index in self._by_value:
            raise CortexMError(f"value {index} is written twice")
        self._set(index, tensor, self.value(index))

    def refuse(self, index: int, why: str) -> None:
        """Makes reading value `index` an error with the message `why`."""
        self._refused[index] = why

    def read(self, index: int) -> int:
        """The tensor that value `index` is now: a constant, or what was written to it."""
        if index in self._by_value:
            return self._by_value[index]
        if index in self._refused:
            raise CortexMError(self._refused[index])
        value = self.value(index)
        if value.data is not None:
            tensor = _to_tensor(f"c{index}", value)
            tensor = replace(tensor, data=self._constant(value, tensor.dtype))
            self._by_value[index] = self.add_tensor(tensor)
            return self._by_value[index]
        return self.elided_view(index, value)

    def read_contiguous(self, index: int) -> int:
        """Like `read`; a constant comes in the contiguous dim order whatever the file says."""
        number = self.read(index)
        tensor = self.tensors[number]
        order = contiguous(len(tensor.shape))
        if not tensor.is_constant or tensor.dim_order == order:
            return number
        if number not in self._contiguous:
            copy = replace(tensor, name=f"{tensor.name}_contiguous", dim_order=order)
            self._contiguous[number] = self.add_tensor(copy)
        return self._contiguous[number]

    def known(self, index: int) -> Array | None:
        """What tensor `index` is, if it is a constant or another form of one."""
        chain: list[Op] = []
        while not self.tensors[index].is_constant:
            op = self._made_by.get(index)
            if op is None or not isinstance(op.attrs, ops.Clone | ops.View | ops.Cast):
                return None
            chain.append(op)
            index = op.inputs[0]
        if not chain:
            return self.tensors[index].data
        steps = tuple(reversed(chain))
        (value,) = run_graph(
            Graph("constant", tuple(self.tensors), steps, (), chain[0].outputs), ()
        )
        return value

    def finish(self, name: str) -> Graph:
        """The graph. Every output is a tensor of its own that an operator computes."""
        computed = {index for op in self._ops for index in op.outputs}
        outputs: dict[int, None] = {}
        for number, index in enumerate(self._program.outputs):
            tensor = self.read(index)
            # Reading may have restored a view.
            computed.update(self._ops[-1].outputs if self._ops else ())
            if tensor not in computed or tensor in outputs:
                source = self.tensors[tensor]
                copy = replace(source, name=f"out_{number}", data=None)
                copied = self.add_tensor(copy)
                self.add_op(ops.Clone(), (tensor,), (copied,), Layer())
                tensor = copied
            else:
                self.tensors[tensor] = replace(self.tensors[tensor], name=f"out_{number}")
            outputs[tensor] = None
        return Graph(
            name,
            tuple(self.tensors),
            tuple(self._ops),
            tuple(self._inputs),
            tuple(outputs),
            tuple(self._state(index, before) for index, before in self._before.items()),
        )

    def _state(self, index: int, before: int) -> State:
        value, tensor = self.value(index), self.tensors[before]
        initial: Array = np.zeros(tensor.shape, tensor.dtype.numpy)
        if value.data is not None:
            initial = self._constant(value, tensor.dtype)
        return State(_state_name(value, index), before, self.read(index), initial)

    def _set(self, index: int, tensor: int, value: PteTensor) -> None:
        self._by_value[index] = tensor
        if value.place is None:
            return
        area, begin = value.place
        end = begin + value.nbytes
        contents = self._memory.setdefault(area, [])
        first = bisect_left(contents, begin, key=lambda content: content.end - 1)
        last = bisect_left(contents, end, key=lambda content: content.begin)
        contents[first:last] = [_Content(tensor, begin, end)]

    def elided_view(self, index: int, value: PteTensor) -> int:
        """The view that value `index` is of what lies in its memory."""
        area, begin = value.place or (-1, 0)
        contents = self._memory.get(area, [])
        position = bisect_left(contents, begin, key=lambda content: content.begin)
        if position < len(contents) and index not in self._written:
            content = contents[position]
            source = self.tensors[content.tensor]
            same_bytes = (content.begin, content.end) == (begin, begin + value.nbytes)
            if same_bytes and source.dtype is _DTYPES[value.scalar_type]:
                view = replace(_to_tensor(f"t{index}", value), quant=source.quant)
                tensor = self.add_tensor(view)
                self.add_op(ops.View(), (content.tensor,), (tensor,), Layer())
                self._by_value[index] = tensor
                return tensor
        raise CortexMError(
            f"value {index} is read before anything is written to it",
            hint="state is supported where aten::copy_ writes it, or where the file has its initial value",
        )

    def _constant(self, value: PteTensor, dtype: DType) -> Array:
        """The data in logical shape and C order; not copied where the file has that order."""
        assert value.data is not None
        raw: Array = np.frombuffer(value.data, np.uint8 if dtype is DType.BOOL else dtype.numpy)
        if dtype is DType.BOOL:
            raw = raw != 0
        in_memory = raw.reshape([value.shape[d] for d in value.dim_order])
        logical = in_memory.transpose(np.argsort(value.dim_order))
        if not logical.flags.c_contiguous:
            self.spend(value.nbytes)
        return np.ascontiguousarray(logical).reshape(value.shape)


def _to_tensor(name: str, value: PteTensor) -> Tensor:
    return Tensor(name, _DTYPES[value.scalar_type], value.shape, value.dim_order)


def state_values(program: PteProgram) -> tuple[int, ...]:
    """The values that live from call to call: what ``aten::copy_`` writes, and what has an initial value
    and is written."""
    copied = {
        instruction.args[0]
        for instruction in program.instructions
        if instruction.operator == COPY and instruction.args
    }
    written = _written_values(program)
    return tuple(
        index
        for index, value in enumerate(program.values)
        if isinstance(value, PteTensor) and value.mutable and index not in program.inputs
        if index in copied or (value.data is not None and index in written)
    )


def _state_name(value: PteTensor, index: int) -> str:
    return value.name or f"state {index}"


def _written_values(program: PteProgram) -> frozenset[int]:
    """Values that operators write: the last operand of an instruction, or the list it holds."""
    written = {instruction.args[-1] for instruction in program.instructions if instruction.args}
    lists = [program.values[index] for index in written]
    for value in lists:
        if isinstance(value, PteList):
            written.update(value.items)
    return frozenset(written)

# SPDX-License-Identifier: Apache-2.0
"""Building a Graph from a subgraph: which IR tensor a tensor of the file is.

Operators whose operands are all constants are computed here: what is left of a SHAPE and the arithmetic
behind it are constants, which others ask for (`Builder.known`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..errors import CortexMError, printable
from ..ir import ops
from ..ir.rules import check_op
from ..ir.types import Array, DType, Graph, Layer, Op, QuantParams, State, Tensor, contiguous
from .schema import damaged
from .values import DTYPES, LiteModel, LiteSubgraph, LiteTensor

# Constants and states may come to this many times the file's size, and so many bytes.
_COPIES, _FREE = 8, 2**24


@dataclass
class _Kept:
    """What stays from call to call: the IR tensor at the begin of a call, and what it is now."""

    before: int
    now: int
    initial: Array


class Builder:
    """Tensors and operators of a graph under construction.

    Args:
        model: the file, whose size bounds what may be made of its constants.
        subgraph: that of the file whose tensors are converted.
    """

    def __init__(self, model: LiteModel, subgraph: LiteSubgraph) -> None:
        self.model = model
        self.subgraph = subgraph
        self.tensors: list[Tensor] = []
        self.handles: dict[int, str] = {}  # tensors that name variables
        self.initial: dict[str, Array] = {}  # what variables are before the first call
        # What is another tensor with its dimensions in this order: images between convolutions.
        self.turned: dict[int, tuple[int, tuple[int, ...]]] = {}
        self._left = _COPIES * model.size + _FREE
        self._ops: list[Op] = []
        self._by_tensor: dict[int, int] = {}
        self._states: dict[str, _Kept] = {}

    # -- tensors ----------------------------------------------------------------------------------

    def add_tensor(self, name: str, dtype: DType, shape: tuple[int, ...]) -> int:
        """A new tensor in C order; its name is made unique."""
        name = f"{name}_{len(self.tensors)}"
        self.tensors.append(Tensor(name, dtype, shape, contiguous(len(shape))))
        return len(self.tensors) - 1

    def add_constant(self, data: Array) -> int:
        """A new constant.

        Raises:
            CortexMError: constants are larger than the file is worth.
        """
        self._spend(data.nbytes)
        dtype = next(dtype for dtype in DType if dtype.numpy == data.dtype)
        index = self.add_tensor("c", dtype, data.shape)
        values = np.ascontiguousarray(data).reshape(data.shape)
        self.tensors[index] = replace(self.tensors[index], data=values)
        return index

    def _spend(self, count: int) -> None:
        """Charges bytes that are made."""
        self._left -= count
        if self._left < 0:
            raise damaged("its constants and states come to far more than the file holds")

    def value(self, index: int) -> LiteTensor:
        """Tensor `index` of the file, checked for what the IR can express."""
        tensor = self.subgraph.tensors[index]
        if tensor.refusal:
            what, hint = tensor.refusal
            raise CortexMError(f"{tensor} {what}", hint=hint)
        if tensor.type not in DTYPES:
            raise CortexMError(
                f"{tensor} has the unsupported element type {tensor.type}",
                hint="supported: " + ", ".join(DTYPES),
            )
        if 0 in tensor.shape:
            raise CortexMError(f"{tensor} is empty: its shape is {tensor.shape}")
        return tensor

    def read(self, index: int) -> int:
        """The IR tensor that tensor `index` is: a constant, or what an operator gave."""
        if index not in self._by_tensor:
            tensor = self.value(index)
            if tensor.data is not None:
                self.give(index, self.add_constant(tensor.array()))
            else:
                raise damaged(f"{tensor} is read before anything is written to it")
        return self._by_tensor[index]

    def known(self, index: int) -> Array | None:
        """What an IR tensor is, if it is a constant."""
        return self.tensors[index].data

    def give(self, index: int, tensor: int) -> None:
        """Makes tensor `index` of the file a name of an IR tensor."""
        if index in self._by_tensor:
            raise damaged(f"{self.subgraph.tensors[index]} is written twice or after it was read")
        self._by_tensor[index] = tensor

    # -- operators --------------------------------------------------------------------------------

    def add_op(
        self, attrs: ops.Attrs, inputs: tuple[int, ...], outputs: tuple[int, ...], layer: Layer
    ) -> tuple[int, ...]:
        """Adds an operator, or computes it where all operands are constants; gives its outputs."""
        arrays = [data for i in inputs if (data := self.tensors[i].data) is not None]
        if inputs and len(arrays) == len(inputs):
            return self._computed(attrs, inputs, outputs, layer, arrays)
        self._ops.append(Op(attrs, inputs, outputs, layer))
        return outputs

    def _computed(
        self,
        attrs: ops.Attrs,
        inputs: tuple[int, ...],
        outputs: tuple[int, ...],
        layer: Layer,
        arrays: list[Array],
    ) -> tuple[int, ...]:
        results = tuple(self.tensors[i] for i in outputs)
        self._spend(sum(tensor.nbytes for tensor in results))
        check_op(Op(attrs, inputs, outputs, layer), tuple(self.tensors))
        with np.errstate(all="ignore"):
            found = attrs.compute(results, *arrays)
        for index, tensor, value in zip(
            outputs, results, found if isinstance(found, list) else [found], strict=True
        ):
            data = np.ascontiguousarray(value.astype(tensor.dtype.numpy)).reshape(tensor.shape)
            self.tensors[index] = replace(tensor, data=data)
        return outputs

    def turn(self, index: int, source: int, order: tuple[int, ...]) -> None:
        """Notes that a tensor is another one, that an operator gives, with its dimensions in this order."""
        if any(source in op.outputs for op in reversed(self._ops)):
            self.turned[index] = source, order

    @property
    def has_states(self) -> bool:
        return bool(self._states)

    # -- states -----------------------------------------------------------------------------------

    def state(self, name: str, index: int) -> _Kept:
        """What stays from call to call under `name`, with the type and shape of tensor `index`; before the
        first call it is 0, or the zero point, if no subgraph says what it is."""
        tensor = self.value(index)
        dtype = DTYPES[tensor.type]
        if name not in self._states:
            zero = tensor.quantization.zero_points[0] if tensor.quantization else 0
            if dtype in (DType.S8, DType.S16):
                zero = min(max(zero, dtype.limits[0]), dtype.limits[1])
            before = self.add_tensor("state", dtype, tensor.shape)
            self._set_quant(before, tensor)
            self._spend(self.tensors[before].nbytes)
            initial = np.full(tensor.shape, zero, dtype.numpy)
            self._states[name] = _Kept(before, before, self.initial.get(name, initial))
        kept = self._states[name]
        have = self.tensors[kept.before]
        if not (have.shape == tensor.shape == kept.initial.shape and have.dtype is dtype):
            raise damaged(f"{tensor} has another type or shape than the variable {name!r}")
        if kept.initial.dtype != dtype.numpy:
            raise damaged(f"the variable {name!r} begins with another type")
        return kept

    # -- the whole --------------------------------------------------------------------------------

    def add_input(self, index: int, number: int) -> int:
        tensor = self.value(index)
        if tensor.data is not None:
            raise damaged(f"{tensor} is an input and a constant")
        made = self.add_tensor("in", DTYPES[tensor.type], tensor.shape)
        self.tensors[made] = replace(self.tensors[made], name=f"in_{number}")
        self._set_quant(made, tensor)
        self.give(index, made)
        return made

    def _set_quant(self, index: int, tensor: LiteTensor) -> None:
        """Notes the scale and zero point of a tensor that has one."""
        q = tensor.quantization
        if q is not None and len(q.scales) == 1 and tensor.type in ("INT8", "INT16", "UINT8"):
            quant = QuantParams(q.scales[0], q.zero_points[0])
            self.tensors[index] = replace(self.tensors[index], quant=quant)

    def finish(self, name: str, inputs: tuple[int, ...]) -> Graph:
        """The graph. Every output is a tensor of its own that an operator computes.

        Raises:
            CortexMError: a variable is read that never gets a value.
        """
        for state, kept in self._states.items():
            if kept.now == kept.before and state not in self.initial:
                raise CortexMError(
                    f"the variable {printable(state)!r} is read, and nothing gives it a value",
                    hint="TFLM reads what lies in memory: assign to it, or make it a constant",
                )
        computed = {index for op in self._ops for index in op.outputs}
        outputs: list[int] = []
        for number, index in enumerate(self.subgraph.outputs):
            tensor = self.read(index)
            if tensor not in computed or tensor in outputs:
                tensor = self._copy(tensor)
            self.tensors[tensor] = replace(self.tensors[tensor], name=f"out_{number}")
            self._set_quant(tensor, self.subgraph.tensors[index])
            outputs.append(tensor)
        states = tuple(
            State(state, kept.before, kept.now, kept.initial)
            for state, kept in self._states.items()
        )
        return Graph(name, tuple(self.tensors), tuple(self._ops), inputs, tuple(outputs), states)

    def _copy(self, tensor: int) -> int:
        info = self.tensors[tensor]
        copied = self.add_tensor("copy", info.dtype, info.shape)
        self._ops.append(Op(ops.Clone(), (tensor,), (copied,), Layer()))
        return copied

# SPDX-License-Identifier: Apache-2.0
"""`check_graph`: the invariants that hold after reading and after every rewrite."""

from __future__ import annotations

from ..errors import CortexMError
from . import ops
from .checks_data import check_data_op
from .checks_float import check_float_op
from .types import DType, Graph, Op, State, Tensor


def check_graph(graph: Graph) -> Graph:
    """Returns `graph` if it is sound.

    Sound means: names are unique; dim orders are permutations; constants have their shape and type;
    every operand is defined before it is used, and once; operators have operands of the types and
    shapes they are defined on; a state has one type and shape from call to call.

    Raises:
        CortexMError: names the first operator or tensor that breaks a rule.
    """
    names = [tensor.name for tensor in graph.tensors]
    if len(set(names)) != len(names):
        raise CortexMError("two tensors have one name", where=graph.name)
    read = {index for op in graph.ops for index in op.inputs}
    for index, tensor in enumerate(graph.tensors):
        # An input of no elements that nothing reads: scratch that the caller was to provide.
        _check_tensor(tensor, may_be_empty=index in graph.inputs and index not in read)
    defined = set(graph.given)
    defined.update(i for i, tensor in enumerate(graph.tensors) if tensor.is_constant)
    for op in graph.ops:
        _check_defined(op, graph, defined)
        _check_op(op, graph)
        defined.update(op.outputs)
    for index in graph.outputs:
        if index not in defined:
            raise CortexMError(f"output {graph.tensors[index].name!r} is never computed")
    if len(set(graph.given)) != len(graph.given):
        raise CortexMError("an input or state is given twice", where=graph.name)
    for state in graph.states:
        _check_state(state, graph, defined)
    return graph


def _check_state(state: State, graph: Graph, defined: set[int]) -> None:
    if state.after not in defined:
        raise CortexMError("the new value of this state is never computed", where=state.name)
    before, after = graph.tensors[state.before], graph.tensors[state.after]
    if (before.dtype, before.shape) != (after.dtype, after.shape):
        raise CortexMError("this state changes its type or shape", where=state.name)
    if state.initial.shape != before.shape or state.initial.dtype != before.dtype.numpy:
        raise CortexMError("the initial value has another type or shape", where=state.name)


def _check_tensor(tensor: Tensor, *, may_be_empty: bool) -> None:
    if sorted(tensor.dim_order) != list(range(len(tensor.shape))):
        raise CortexMError(
            f"dim order {tensor.dim_order} does not fit shape {tensor.shape}", where=tensor.name
        )
    if any(extent < 1 for extent in tensor.shape) and not may_be_empty:
        raise CortexMError(f"empty shape {tensor.shape}", where=tensor.name)
    if tensor.data is not None and (
        tensor.data.shape != tensor.shape or tensor.data.dtype != tensor.dtype.numpy
    ):
        raise CortexMError("constant does not have the type and shape it states", where=tensor.name)


def _check_defined(op: Op, graph: Graph, defined: set[int]) -> None:
    for index in (*op.inputs, *op.outputs):
        if not 0 <= index < len(graph.tensors):
            raise CortexMError(f"{op.kind} refers to tensor {index}", where=str(op.layer))
    for index in op.inputs:
        if index not in defined:
            raise CortexMError(
                f"{op.kind} reads {graph.tensors[index].name!r} before it is computed",
                where=str(op.layer),
            )
    for index in op.outputs:
        if index in defined:
            raise CortexMError(
                f"{op.kind} computes {graph.tensors[index].name!r} a second time",
                where=str(op.layer),
            )


def _require(condition: bool, op: Op, what: str) -> None:
    if not condition:
        raise CortexMError(f"{op.kind}: {what}", where=str(op.layer))


def _check_op(op: Op, graph: Graph) -> None:
    ins = [graph.tensors[i] for i in op.inputs]
    outs = [graph.tensors[i] for i in op.outputs]
    _require(bool(ins) and bool(outs), op, "needs operands and a result")
    attrs = op.attrs
    if isinstance(attrs, ops.ConvAttrs):
        _check_conv(op, attrs, ins, outs[0])
    elif isinstance(attrs, ops.Linear):
        weight = ins[1]
        _require(weight.is_constant or weight.dtype is DType.S8, op, "weights must be int8")
        _require(len(weight.shape) == 2, op, "weights must be a matrix")
        _require(bool(ins[0].shape) and ins[0].shape[-1] == weight.shape[1], op, "widths differ")
        _require(outs[0].shape == (*ins[0].shape[:-1], weight.shape[0]), op, "wrong result shape")
        _check_shift(op, attrs.shift)
    elif isinstance(attrs, ops.AvgPool2d | ops.MaxPool2d):
        _check_pool(op, attrs, ins[0], outs[0])
    elif isinstance(attrs, ops.Transpose):
        _require(sorted(attrs.perm) == list(range(len(ins[0].shape))), op, "bad permutation")
        expected = tuple(ins[0].shape[d] for d in attrs.perm)
        _require(outs[0].shape == expected, op, "wrong result shape")
    elif isinstance(attrs, ops.View):
        _require(ins[0].numel == outs[0].numel, op, "changes the number of elements")
    elif isinstance(attrs, ops.Clone):
        _require(ins[0].shape == outs[0].shape, op, "changes the shape")
    elif isinstance(attrs, ops.Pad):
        rank = len(ins[0].shape)
        _require(len(attrs.before) == len(attrs.after) == rank, op, "padding of another rank")
        expected = tuple(
            before + extent + after
            for before, extent, after in zip(attrs.before, ins[0].shape, attrs.after, strict=True)
        )
        _require(outs[0].shape == expected, op, "wrong result shape")
    elif isinstance(attrs, ops.Softmax):
        _require(0 <= attrs.dim < len(ins[0].shape), op, "softmax over a missing dimension")
        _require(ins[0].shape == outs[0].shape, op, "wrong result shape")
    elif isinstance(attrs, ops.Quantize):
        _require(attrs.scale > 0, op, "scale must be positive")
        _require(ins[0].dtype is DType.F32, op, "quantizes float32 only")
        _require(outs[0].dtype in (DType.S8, DType.S16), op, "quantizes to int8 or int16 only")
    elif isinstance(attrs, ops.Dequantize):
        _require(ins[0].dtype in (DType.S8, DType.S16), op, "dequantizes int8 or int16 only")
        _require(outs[0].dtype is DType.F32, op, "dequantizes to float32 only")
    elif isinstance(attrs, ops.Activation):
        _require(ins[1].numel == 256, op, "the table must have 256 entries")
    else:
        check_data_op(attrs, ins, outs, lambda condition, what: _require(condition, op, what))
        check_float_op(attrs, ins, outs, lambda condition, what: _require(condition, op, what))


def _check_shift(op: Op, *shifts: int) -> None:
    _require(all(-31 <= shift <= 30 for shift in shifts), op, "shift outside [-31, 30]")


def _check_conv(op: Op, attrs: ops.ConvAttrs, ins: list[Tensor], out: Tensor) -> None:
    x, weight = ins[0], ins[1]
    _require(len(x.shape) == len(weight.shape) == len(out.shape) == 4, op, "rank must be 4")
    depthwise = isinstance(attrs, ops.DepthwiseConv2d)
    out_c = weight.shape[3] if depthwise else weight.shape[0]
    _require(out.shape[1] == out_c, op, "output channels differ from the weights'")
    _require(out.shape[0] == x.shape[0], op, "batch differs")
    _require(len(attrs.multipliers) == len(attrs.shifts) == out_c, op, "one scale per channel")
    _check_shift(op, *attrs.shifts)
    if depthwise:
        _require(out_c % x.shape[1] == 0, op, "output channels are no multiple of the input's")
    elif isinstance(attrs, ops.Conv2d):
        _require(attrs.groups >= 1 and out_c % attrs.groups == 0, op, "bad group count")
        _require(weight.shape[3] * attrs.groups == x.shape[1], op, "input channels differ")
    else:
        _require(weight.shape[3] == x.shape[1], op, "input channels differ")
    if len(ins) > 2:
        _require(ins[2].numel == out_c and ins[2].dtype is DType.S32, op, "bad bias")
    _require(all(s >= 1 for s in (*attrs.stride, *attrs.dilation)), op, "stride below 1")


def _check_pool(op: Op, attrs: ops.AvgPool2d | ops.MaxPool2d, x: Tensor, out: Tensor) -> None:
    _require(len(x.shape) == len(out.shape) == 4, op, "rank must be 4")
    _require(x.shape[:2] == out.shape[:2], op, "batch or channels differ")
    for axis in (0, 1):
        last = (out.shape[2 + axis] - 1) * attrs.stride[axis] - attrs.padding[axis]
        _require(last < x.shape[2 + axis], op, "a window lies outside the image")
        _require(attrs.padding[axis] < attrs.kernel[axis], op, "padding exceeds the kernel")

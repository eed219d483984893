# SPDX-License-Identifier: Apache-2.0
"""Proves on a plan that concatenations done in place, or by one kernel, give what copies would.

Where an operand's bytes belong in the result is taken from numpy here, which joins arrays of byte
numbers; where the kernels put them, from the calls alone.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...errors import CortexMError
from ...ir import Op, ops
from ..types import Call, Part, Plan, Step, TensorArg

Places = npt.NDArray[np.int64]

_NOWHERE: Places = np.array([-1])


def check_joins(plan: Plan) -> None:
    """Raises a CortexMError if a tensor of `plan.parts` lies elsewhere in the result than where the
    concatenation puts it, if a call writes other bytes of a result than those of what it makes, if
    some are never written, or if a tensor is read after the concatenation. It is a bug in the planner.
    """
    if not plan.parts:
        return
    results = {part.result for part in plan.parts.values()}
    written = {plan.holder(index): _none(plan, plan.holder(index)) for index in results}
    joined: set[int] = set()
    for step in plan.steps:
        for op in step.ops:
            for index in {*op.inputs} & plan.parts.keys():
                if plan.parts[index].result in joined:
                    raise _error(plan, op, index, "is read after it was joined")
                if plan.parts[index].pitch and plan.parts[index].result != op.outputs[0]:
                    raise _error(plan, op, index, "lies in pieces that this operator cannot read")
        targets = {call.result.index for call in step.calls if call.result is not None}
        if not targets & written.keys() - joined and step.op.outputs[0] not in results:
            continue
        holder, mine = _own(plan, step.op.outputs[0])
        own = _none(plan, holder)
        own[mine[(mine >= 0) & (mine < len(own))]] = True
        for call in step.trace(*targets):
            target = call.result
            if target is None or target.index not in written or target.index in joined:
                continue  # what comes later may overwrite a result
            places = _written(plan, call, target, mine)
            inside = holder == target.index and 0 <= places.min() <= places.max() < len(own)
            if not inside or not own[places].all():
                raise _error(plan, step.op, target.index, "is written where other bytes belong")
            written[target.index][places] = True
        if step.op.outputs[0] in results:
            _check_places(plan, step.op)
            joined.add(step.op.outputs[0])
            if not written[holder][mine].all():
                raise _error(plan, step.op, step.op.outputs[0], "is not complete")


def _none(plan: Plan, index: int) -> npt.NDArray[np.bool_]:
    return np.zeros(plan.graph.tensors[index].nbytes, np.bool_)


def _own(plan: Plan, index: int) -> tuple[int, Places]:
    """The tensor in whose buffer a tensor lies, and its bytes there."""
    places = np.arange(plan.graph.tensors[index].nbytes)
    while index in plan.parts:
        part = plan.parts[index]
        places, index = _through(part, places), part.result
    return index, places


def _through(part: Part, places: Places) -> Places:
    if part.pitch:
        places = places // part.pixel * part.pitch + places % part.pixel
    return places + part.offset


def _check_places(plan: Plan, op: Op) -> None:
    """Whether every operand that is a part lies where numpy puts it."""
    if not isinstance(op.attrs, ops.Concat):
        raise _error(plan, op, op.outputs[0], "is not a concatenation")
    for index, elements in zip(op.inputs, _elements(plan, op, op.attrs.dim), strict=True):
        part = plan.parts.get(index)
        if part is None or part.result != op.outputs[0]:
            continue
        tensor = plan.graph.tensors[index]
        size = tensor.dtype.size
        bytes_of = (elements[:, None] * size + np.arange(size)).reshape(-1)
        if not np.array_equal(bytes_of, _through(part, np.arange(tensor.nbytes))):
            raise _error(plan, op, index, "lies elsewhere in the result than it belongs")


def _elements(plan: Plan, op: Op, dim: int) -> list[Places]:
    """The elements of a result that are those of each operand, which are joined along `dim`."""
    tensors = plan.graph.tensors
    result = tensors[op.outputs[0]]
    shape = tuple(result.shape[d] for d in result.dim_order)
    numbers = np.arange(result.numel).reshape(shape).transpose(np.argsort(result.dim_order))
    cuts = np.cumsum([tensors[index].shape[dim] for index in op.inputs])[:-1]
    pieces = zip(op.inputs, np.split(numbers, cuts, dim), strict=True)
    return [piece.transpose(tensors[index].dim_order).reshape(-1) for index, piece in pieces]


def check_interleaved(plan: Plan, step: Step) -> None:
    """Where a kernel takes elements of two operands in turn these are the result's.

    Raises:
        CortexMError: names the layer.
    """
    for call in step.calls:
        if call.kernel.op != "interleave":
            continue
        op, size = step.op, call.kernel.unit
        places = [plan.offset(arg.index) + arg.offset for arg in call.tensors]
        if (
            not isinstance(op.attrs, ops.Concat)
            or len(step.calls) > 1
            or places != [plan.offset(index) for index in (*op.inputs, op.outputs[0])]
            or any(plan.graph.tensors[index].dtype.size != size for index in op.inputs)
            or any(
                not np.array_equal(elements, 2 * np.arange(call.int_fields["count"]) + number)
                for number, elements in enumerate(_elements(plan, op, op.attrs.dim))
            )
        ):
            raise _error(plan, op, op.outputs[0], "has not its operands' elements in turn")


def _written(plan: Plan, call: Call, target: TensorArg, mine: Places) -> Places:
    """The bytes of a result that a call writes; `mine` are those of what its operator makes."""
    fields = {name: value for name, value in call.fields if isinstance(value, (int, tuple))}
    size = call.kernel.unit or plan.graph.tensors[target.index].dtype.size
    if "out_pixel_stride" in fields:
        pixels = np.arange(_int(fields, "out_h") * _int(fields, "out_w"))[:, None]
        channels = np.arange(_int(fields, "out_c" if "out_c" in fields else "channels"))
        elements = (pixels * _int(fields, "out_pixel_stride") + channels).reshape(-1)
    elif call.kernel.serves == "copy":
        dims, steps = fields["dims"], fields["out_stride"]
        assert isinstance(dims, tuple) and isinstance(steps, tuple)
        elements = np.zeros(1, np.int64)
        for extent, step in zip(dims[: _int(fields, "rank")], steps, strict=False):
            elements = (elements[:, None] + np.arange(extent) * step).reshape(-1)
    elif call.kernel.order.startswith("elements"):
        elements = np.arange(_int(fields, "count"))
    elif target.offset in mine and len(mine) == mine[-1] - mine[0] + 1:
        return mine[mine >= target.offset]  # all from there on
    else:
        return _NOWHERE  # it cannot leave gaps
    return (elements[:, None] * size + np.arange(size)).reshape(-1) + target.offset


def _int(fields: dict[str, int | tuple[int, ...]], name: str) -> int:
    value = fields[name]
    assert isinstance(value, int)
    return value


def _error(plan: Plan, op: Op, index: int, message: str) -> CortexMError:
    return CortexMError(f"{plan.graph.tensors[index].name!r} {message}", where=str(op.layer))

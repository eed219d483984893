# SPDX-License-Identifier: Apache-2.0
"""Makes codes the interface: drops quantize at the inputs and dequantize at the outputs.

The program behind the new interface is the old one without its first and last operators, so codes
that the application computes with the published scale and zero point give the very codes that the
float program would have dequantized. An output that is an input is that input's codes.

As bytes, codes are 128 larger, from 0 to 255; the zero point too. A table of which code is which byte takes
them back, with whatever else it has to do (bytes.py).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import CortexMError
from ..ir import DType, Graph, Op, QuantParams, Tensor, contiguous, ops
from ..ir.edit import GraphBuilder, consumers, producers, remove_dead

_APART = (
    "build with IO float, or with codes or uint8, where such an output stays in float; or give its parts, "
    "of which the smaller ones would have few codes, as outputs of their own"
)
_MOVES = (ops.View, ops.Transpose, ops.Clone)
_WORDS = {DType.S8: "int8", DType.S16: "int16"}


def int8_io(graph: Graph, dtype: DType | None = DType.S8, *, as_bytes: bool = False) -> Graph:
    """Replaces float inputs and outputs by their codes.

    Args:
        dtype: of all of these; None for any. Then an output that joins parts with codes of their own
            stays in float, as it has none itself.
        as_bytes: whether those at the inputs, which then have to be of int8, are bytes.

    Raises:
        CortexMError: a float input is not quantized by one set of parameters, or a float output
            does not come from codes; or the codes have another type.
    """
    read_by = consumers(graph)
    made_by = producers(graph)
    build = GraphBuilder(graph)
    inputs = [
        _input(
            build, graph, index, [op for op in read_by.get(index, []) if not _gives_back(graph, op)]
        )
        for index in graph.inputs
    ]
    if as_bytes:
        inputs = [
            _as_bytes(build, number, new, read_by[old][0]) if new != old else new
            for number, (old, new) in enumerate(zip(graph.inputs, inputs, strict=True))
        ]
    for op in graph.ops:
        if build.resolve(op.outputs[0]) == op.outputs[0]:
            build.add(op)
    given = dict(zip(graph.inputs, inputs, strict=True))
    outputs = []
    for index in graph.outputs:
        source = _given_back(graph, index, made_by)
        if source is None:
            outputs.append(_output(build, graph, index, made_by, dtype))
        else:
            outputs.append(index if given[source] == source else given[source])
    borders = [("input", graph.inputs, inputs), ("output", graph.outputs, outputs)]
    types = {
        build.tensors[new].dtype
        for _, before, after in borders
        for old, new in zip(before, after, strict=True)
        if old != new
    }
    for what, before, after in borders:
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            have = build.tensors[new].dtype
            if dtype is not None and old != new and have is not dtype:
                raise CortexMError(
                    f"{what} {number} has codes of {_WORDS[have]}, not of {_WORDS[dtype]}",
                    hint=f"build with IO {'codes' if len(types) > 1 else _WORDS[have]}",
                )
    return remove_dead(build.finish(outputs, inputs))


def _input(build: GraphBuilder, graph: Graph, index: int, readers: list[Op]) -> int:
    tensor = graph.tensors[index]
    if tensor.dtype is not DType.F32 or not readers:
        return index
    attrs = {reader.attrs for reader in readers}
    first = readers[0].attrs
    if len(attrs) != 1 or not isinstance(first, ops.Quantize):
        raise CortexMError(
            f"input {tensor.name!r} is not quantized in one way: it is read by "
            + ", ".join(sorted({f"{reader.kind} of {reader.layer}" for reader in readers})),
            hint="build with IO float",
        )
    code = graph.tensors[readers[0].outputs[0]]
    new = build.add_tensor(
        replace(
            code,
            name=f"{tensor.name}_code",
            dim_order=tensor.dim_order,
            quant=QuantParams(first.scale, first.zero_point),
        )
    )
    for reader in readers:
        build.alias(reader.outputs[0], new)
    return new


def _gives_back(graph: Graph, op: Op) -> bool:
    """Whether an operator gives what it reads as an output."""
    return isinstance(op.attrs, ops.Clone) and op.outputs[0] in graph.outputs


def _given_back(graph: Graph, index: int, made_by: dict[int, Op]) -> int | None:
    """The input that an output is; None for another."""
    maker = made_by.get(index)
    source = index if maker is None or not _gives_back(graph, maker) else maker.inputs[0]
    return source if source in graph.inputs else None


def _as_bytes(build: GraphBuilder, number: int, index: int, reader: Op) -> int:
    """The bytes from which the codes of an input, the tensor `index`, come; `reader` quantized it."""
    code = build.tensors[index]
    if code.dtype is not DType.S8 or code.quant is None:
        raise CortexMError(
            f"input {number} has codes of {_WORDS[code.dtype]}, which are no bytes",
            hint=f"build with IO {_WORDS[code.dtype]}, or codes",
        )
    quant = QuantParams(code.quant.scale, code.quant.zero_point + 128)
    build.tensors[index] = replace(code, name=f"{code.name}_signed", quant=None)
    given = build.add_tensor(replace(code, dtype=DType.U8, quant=quant))
    data = np.arange(-128, 128).astype(np.int8)[None]
    table = Tensor(f"{code.name}_table", DType.S8, data.shape, contiguous(2), data=data)
    build.add(Op(ops.Lookup(0), (given, build.add_tensor(table)), (index,), reader.layer))
    return given


def _output(
    build: GraphBuilder, graph: Graph, index: int, made_by: dict[int, Op], dtype: DType | None
) -> int:
    tensor = graph.tensors[index]
    if tensor.dtype is not DType.F32:
        return index
    maker = made_by.get(index)
    if maker is None or not isinstance(maker.attrs, ops.Dequantize):
        joins = _joins_codes(index, made_by)
        if joins and dtype is None:
            return index
        by = f"{maker.kind} of {maker.layer}" if maker else "an input"
        raise CortexMError(
            f"output {tensor.name!r} does not come from codes but from {by}",
            hint=_APART if joins else "build with IO float",
        )
    code = build.resolve(maker.inputs[0])
    build.tensors[code] = replace(
        build.tensors[code], quant=QuantParams(maker.attrs.scale, maker.attrs.zero_point)
    )
    return code


def _joins_codes(index: int, made_by: dict[int, Op]) -> bool:
    """Whether a tensor is a concatenation of parts that come from codes, or are such ones."""
    maker = _maker_of(index, made_by)
    return (
        maker is not None
        and isinstance(maker.attrs, ops.Concat)
        and all(
            isinstance(getattr(_maker_of(part, made_by), "attrs", None), ops.Dequantize)
            or _joins_codes(part, made_by)
            for part in maker.inputs
        )
    )


def _maker_of(index: int, made_by: dict[int, Op]) -> Op | None:
    """What computes the elements of a tensor."""
    maker = made_by.get(index)
    while maker is not None and isinstance(maker.attrs, _MOVES):
        maker = made_by.get(maker.inputs[0])
    return maker

# SPDX-License-Identifier: Apache-2.0
"""Says how images at the inputs lie in memory.

A dim order has no influence on a logical value, so any is exact.
"""

from __future__ import annotations

from dataclasses import replace

from ..errors import CortexMError
from ..ir import Graph, Layout, Op, channels_last, contiguous, ops, same_layout
from ..ir.edit import consumers

_TO_NCHW = ops.Transpose((0, 3, 1, 2))
_ELEMENTWISE = (Layout.SAME, Layout.FOLLOW, Layout.REPEATED, Layout.STRIDED)


def with_input_layout(graph: Graph, layout: str) -> Graph:
    """`graph` with its images at the inputs in this layout.

    An input of four dimensions is an image [N, C, H, W], or [N, H, W, C] if the model itself brings it
    from this order to that.

    Args:
        layout: "nhwc", channels of a pixel side by side, or "nchw".

    Raises:
        CortexMError: no input is an image.
    """
    read_by = consumers(graph)
    tensors = list(graph.tensors)
    images = [index for index in graph.inputs if len(tensors[index].shape) == 4]
    if not images:
        shapes = ", ".join(str(list(tensors[index].shape)) for index in graph.inputs)
        raise CortexMError(
            f"no input is an image of four dimensions [N, C, H, W]: {shapes}",
            where=graph.name,
            hint="leave out INPUT_LAYOUT",
        )
    for index in images:
        if _becomes_nchw(graph, index, read_by):
            order = contiguous(4) if layout == "nhwc" else _TO_NCHW.perm
        else:
            order = channels_last(4) if layout == "nhwc" else contiguous(4)
        tensors[index] = replace(tensors[index], dim_order=order)
    return replace(graph, tensors=tuple(tensors))


def _becomes_nchw(graph: Graph, index: int, read_by: dict[int, list[Op]]) -> bool:
    """Whether all that is computed from an image, element by element, is brought from [N, H, W, C] to
    [N, C, H, W]."""
    readers = read_by.get(index, [])
    return bool(readers) and all(
        reader.attrs == _TO_NCHW
        or (
            reader.attrs.traits.layout in _ELEMENTWISE
            and graph.tensors[reader.outputs[0]].shape == graph.tensors[index].shape
            and _becomes_nchw(graph, reader.outputs[0], read_by)
        )
        for reader in readers
    )


def turned_images(graph: Graph) -> tuple[int, ...]:
    """The images at the inputs that lie in memory as [N, C, H, W] and are brought to [N, H, W, C] before
    they are computed with: "nhwc" spares that."""
    read_by = consumers(graph)
    return tuple(
        index
        for index in graph.inputs
        if len(graph.tensors[index].shape) == 4 and _becomes_nhwc(graph, index, read_by)
    )


def _becomes_nhwc(graph: Graph, index: int, read_by: dict[int, list[Op]]) -> bool:
    """Whether a copy of an image, or of what is computed of it element by element, has channels side by
    side where it has none."""
    tensor = graph.tensors[index]
    if same_layout(tensor.shape, tensor.dim_order, channels_last(4)):
        return False
    for reader in read_by.get(index, []):
        result = graph.tensors[reader.outputs[0]]
        if result.shape != tensor.shape:
            continue
        if isinstance(reader.attrs, ops.Clone):
            if same_layout(result.shape, result.dim_order, channels_last(4)):
                return True
        elif reader.attrs.traits.layout in _ELEMENTWISE:
            if _becomes_nhwc(graph, reader.outputs[0], read_by):
                return True
    return False

# SPDX-License-Identifier: Apache-2.0
"""Parameters and calls of operators on images, for convolutions and pools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...ir import Op, Tensor
from ...ir.geometry import Window
from ..kernels.table import Kernel
from ..types import Arg, Call, Field, ScratchArg, TensorArg
from .boxes import strides
from .context import Selector


def image_fields(select: Selector, op: Op, window: Window) -> dict[str, Field]:
    """Extents and strides of one channels_last image operator on one whole image, and where its first
    window begins."""
    _, in_c, in_h, in_w = select.tensor(op.inputs[0]).shape
    _, out_c, out_h, out_w = select.tensor(op.outputs[0]).shape
    return {
        "in_h": in_h,
        "in_w": in_w,
        "out_h": out_h,
        "out_w": out_w,
        "in_row_stride": in_w * in_c,
        "out_pixel_stride": out_c,
        "in_y0": -window.padding[0],
        "in_x0": -window.padding[1],
    }


def window_fields(window: Window, **padding: Field) -> dict[str, Field]:
    """Kernel, stride and dilation, with fields for the padding before the dilation, if any."""
    return {
        "kernel_h": window.kernel[0],
        "kernel_w": window.kernel[1],
        "stride_h": window.stride[0],
        "stride_w": window.stride[1],
        **padding,
        "dilation_h": window.dilation[0],
        "dilation_w": window.dilation[1],
    }


def image_calls(
    select: Selector,
    op: Op,
    kernel: Kernel,
    fields: dict[str, Field],
    constants: Sequence[Arg],
    scratch: ScratchArg,
    macs: int = 0,
) -> list[Call]:
    """One call, in a loop over the images if there are several.

    Args:
        constants: the arguments between input and output.
        macs: multiply-accumulates of the whole operator.
    """
    batches = select.tensor(op.inputs[0]).shape[0]

    def image(index: int) -> TensorArg:
        size = select.tensor(index).nbytes // batches
        return TensorArg(index, step=size if batches > 1 else 0)

    args = [image(op.inputs[0]), *constants, image(op.outputs[0]), scratch]
    return [replace(select.call(kernel, fields, args, macs), turns=batches)]


def strided_image_fields(x: Tensor, out: Tensor) -> dict[str, Field]:
    return {
        "in_h": x.shape[2],
        "in_w": x.shape[3],
        "out_h": out.shape[2],
        "out_w": out.shape[3],
        "in_strides": strides(x),
        "out_strides": strides(out),
    }

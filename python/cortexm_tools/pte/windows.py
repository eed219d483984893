# SPDX-License-Identifier: Apache-2.0
"""What convolutions and pools share: images in NCHW and their windows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..advice import advice_on
from ..ir import ops
from ..ir.geometry import Window
from ..ir.types import DType, Tensor, channels_last, contiguous
from .call import Call
from .operands import codes

Padding = tuple[int, int, int, int]

_TO_NCHW = (0, 3, 1, 2)
_TO_NHWC = (0, 2, 3, 1)


@dataclass(frozen=True)
class Images:
    """Operand and result of an operator on images, seen as NCHW.

    The dialect's ``_nhwc`` operators state their shapes as NHWC: their images go through two
    Transposes, which move no data because the tensors between them are channels_last. The result of
    an operator on rows [N, C, W] goes through a View.
    """

    call: Call
    x: int
    x_shape: tuple[int, ...]
    out_shape: tuple[int, ...]
    is_nhwc: bool
    is_row: bool = False

    def emit(self, attrs: ops.Attrs, *more: int | None) -> None:
        """Adds the operator on the image and `more` operands."""
        call = self.call
        if self.is_row:
            row = replace(call.out_tensor(), name="row", shape=self.out_shape)
            result = call.emit_new(attrs, replace(row, dim_order=contiguous(4)), self.x, *more)
            call.emit(ops.View(), result)
            return
        if not self.is_nhwc:
            call.emit(attrs, self.x, *more)
            return
        operand = call.info(self.x)
        seen = Tensor("nchw", operand.dtype, self.x_shape, channels_last(4), quant=operand.quant)
        x = call.emit_new(ops.Transpose(_TO_NCHW), seen, self.x)
        out = replace(call.out_tensor(), name="nchw", shape=self.out_shape)
        result = call.emit_new(attrs, replace(out, dim_order=channels_last(4)), x, *more)
        call.emit(ops.Transpose(_TO_NHWC), result)


def nchw(call: Call, x: int) -> Images:
    """The image operand `x` and the result of `call`, codes, both of rank 4."""
    dtype = codes(call)
    call.require_dtype(x, dtype)
    out = call.out_tensor()
    shape = call.info(x).shape
    call.require(len(shape) == len(out.shape) == 4, "operand and result must have rank 4")
    call.require(out.dtype is dtype, f"the result is {out.dtype.value}, must be {dtype.value}")
    is_nhwc = call.instruction.operator.endswith("_nhwc.out")
    order = _TO_NCHW if is_nhwc else (0, 1, 2, 3)
    return Images(
        call,
        x,
        tuple(shape[d] for d in order),
        tuple(out.shape[d] for d in order),
        is_nhwc,
    )


def images_of(call: Call, x: int, *dtypes: DType, rows: bool = False) -> Images:
    """Operand and result of rank 4, of one of these types.

    With `rows`, of rank 3 too: [N, C, W] is seen as images of one row.
    """
    out, shape = call.out_tensor(), call.info(x).shape
    call.require(
        len(shape) == len(out.shape) and (len(shape) == 4 or (rows and len(shape) == 3)),
        f"only images [N, C, H, W] are supported, not rank {len(shape)}",
        advice_on("torch.nn.Conv3d"),
    )
    call.require_dtype(x, *dtypes)
    call.require(out.dtype is call.info(x).dtype, "operand and result differ in type")
    if len(shape) == 3:
        seen = (*shape[:2], 1, shape[2])
        x = call.emit_new(ops.View(), Tensor("row", out.dtype, seen, contiguous(4)), x)
        return Images(call, x, seen, (*out.shape[:2], 1, out.shape[2]), False, is_row=True)
    return Images(call, x, shape, out.shape, is_nhwc=False)


def same_batch(call: Call, images: Images, channels: int) -> None:
    """The result must have the operand's batch and `channels` channels."""
    expected = (images.x_shape[0], channels)
    have = images.out_shape[:2]
    call.require(have == expected, f"the result has batch and channels {have}, not {expected}")


def window_of(
    call: Call,
    images: Images,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: tuple[int, ...],
    dilation: tuple[int, int] = (1, 1),
) -> Window:
    """The windows with the padding with which they give exactly the stated result.

    Four values are a padding that ExecuTorch has fused; see `_fused_padding`. Two hold at the top and
    left. At the bottom and right they hold too, unless the result has another size (ceil_mode): then
    it is what the last window needs,
    ``(out - 1) * stride + dilation * (kernel - 1) + 1 - in - padding``.
    """
    plain = Window(kernel, stride, (0, 0, 0, 0), dilation)
    if len(padding) == 4:
        return replace(plain, padding=_fused_padding(call, images, plain, padding))
    after = []
    for axis in (0, 1):
        size, out = images.x_shape[2 + axis], images.out_shape[2 + axis]
        reach = plain.reach[axis]
        room = size + 2 * padding[axis] - reach
        if room >= 0 and room // stride[axis] + 1 == out:
            after.append(padding[axis])
            continue
        needed = (out - 1) * stride[axis] + reach - size - padding[axis]
        # A window may hang over by less than a stride, and must begin inside the padded image.
        call.require(
            0 <= needed < padding[axis] + stride[axis]
            and (out - 1) * stride[axis] < size + padding[axis],
            f"windows of {reach} in {size} with padding {padding[axis]} and stride {stride[axis]} "
            f"do not give {out} results",
        )
        after.append(needed)
    return replace(plain, padding=(padding[0], padding[1], after[0], after[1]))


def transposed_window(
    call: Call,
    images: Images,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: tuple[int, int],
    dilation: tuple[int, int],
    extra: tuple[int, int],
) -> Window:
    """The windows of a transposed convolution, which with `extra` rows and columns behind them, its
    output_padding, must give the stated result."""
    window = Window(kernel, stride, padding * 2, dilation)
    for axis in (0, 1):
        full = (images.x_shape[2 + axis] - 1) * stride[axis] + window.reach[axis]
        size, have = full - 2 * padding[axis] + extra[axis], images.out_shape[2 + axis]
        call.require(have == size, f"the result has size {have}, the operands give {size}")
    return window


# Where four values may have top, left, bottom and right.
_FOUR = ((0, 1, 2, 3), (0, 2, 1, 3), (2, 0, 3, 1))


def _fused_padding(call: Call, images: Images, plain: Window, values: tuple[int, ...]) -> Padding:
    """(top, left, bottom, right) of a fused SAME padding, given as four values in any usual order.

    ExecuTorch fuses paddings only that it calls SAME_UPPER: the least that gives ceil(in / stride)
    results, half of it before the image and the odd one behind. So the stated shapes give the padding,
    and the values must be its own. A padding that is another one but gives the stated result in one
    order only is that one.
    """
    wanted: list[tuple[int, int]] = []
    fitting: list[Padding] = []
    for axis in (0, 1):
        span = (images.out_shape[2 + axis] - 1) * plain.stride[axis] + plain.reach[axis]
        total = max(0, span - images.x_shape[2 + axis])
        wanted.append((total // 2, total - total // 2))
    same = (wanted[0][0], wanted[1][0], wanted[0][1], wanted[1][1])
    for order in _FOUR:
        top, left, bottom, right = (values[i] for i in order)
        gives = []
        for axis, both in enumerate((top + bottom, left + right)):
            room = images.x_shape[2 + axis] + both - plain.reach[axis]
            gives.append(room // plain.stride[axis] + 1 if room >= 0 else 0)
        if tuple(gives) == images.out_shape[2:]:
            fitting.append((top, left, bottom, right))
    found = set(fitting)
    if same in found:
        return same
    call.require(
        len(found) == 1,
        f"the padding {list(values)} does not give {images.out_shape[2]} x {images.out_shape[3]} "
        "results in one way",
        "lower the model with padding of two values, or with a pad before the convolution",
    )
    return found.pop()

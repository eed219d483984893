# SPDX-License-Identifier: Apache-2.0
"""Calls kernels of the shared library on numpy arrays, with guard bytes around every buffer."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cortexm_tools.plan.kernels.forms import FORMS
from cortexm_tools.plan.kernels.packing import Constants
from cortexm_tools.plan.kernels.table import kernels

Array = npt.NDArray[np.generic]
Value = int | float | Array | Sequence[int]

_I32, _I16, _I8, _F32 = ctypes.c_int32, ctypes.c_int16, ctypes.c_int8, ctypes.c_float
_U16 = ctypes.c_uint16
_PTR = ctypes.c_void_p


def _fields(ctype: type, names: str) -> list[tuple[str, type]]:
    return [(name, ctype) for name in names.split()]


_WINDOW = [
    *_fields(_I32, "in_row_stride"),
    *_fields(_U16, "in_h in_w out_h out_w out_pixel_stride"),
    *_fields(_I16, "in_y0 in_x0"),
]
_KERNEL = _fields(_U16, "kernel_h kernel_w stride_h stride_w dilation_h dilation_w")
_ACT = _fields(_I8, "act_min act_max")
_PRODUCT = [
    *_fields(_I32, "groups batches rows cols inner"),
    *_fields(_I32 * 3, "lhs_strides"),
    *_fields(_I32 * 4, "rhs_strides"),
    *_fields(_I32 * 3, "out_strides"),
]


def one_product(rows: int, cols: int, inner: int) -> dict[str, Value]:
    """The fields of a product of two dense matrices."""
    return {
        **{"groups": 1, "batches": 1, "rows": rows, "cols": cols, "inner": inner},
        "lhs_strides": (0, 0, inner),
        "rhs_strides": (0, 0, inner, 1),
        "out_strides": (0, 0, cols),
    }


# The structs of params.h by the part of the kernel's name before its types.
_PARAMS: dict[str, list[tuple[str, type]]] = {
    "conv2d": [
        *_fields(_PTR, "multiplier shift"),
        *_WINDOW,
        *_fields(_U16, "in_c out_c"),
        *_KERNEL,
        *_fields(_U16, "groups"),
        *_fields(_I8, "in_zero_point out_zero_point"),
        *_ACT,
    ],
    "pool": [*_WINDOW, *_fields(_U16, "channels"), *_KERNEL, *_ACT],
    "linear": [
        *_fields(_PTR, "multiplier shift"),
        *_fields(_I32, "rows in_features out_features"),
        *_fields(_I16, "weight_zero_point"),
        *_fields(_I8, "out_zero_point"),
        *_ACT,
    ],
    "batch_matmul": [
        *_PRODUCT,
        *_fields(_I32, "multiplier"),
        *_fields(_I16, "lhs_zero_point rhs_zero_point"),
        *_fields(_I8, "shift out_zero_point"),
    ],
    "add": [
        *_fields(_I32, "count a_period b_period a_multiplier b_multiplier out_multiplier"),
        *_fields(_I16, "a_zero_point b_zero_point out_zero_point"),
        *_fields(_I8, "a_shift b_shift out_shift"),
        *_ACT,
    ],
    "mul": [
        *_fields(_I32, "count a_period b_period multiplier"),
        *_fields(_I16, "a_zero_point b_zero_point"),
        *_fields(_I8, "shift out_zero_point"),
    ],
    "div": [
        *_fields(_I32, "count"),
        *_fields(_F32, "scale"),
        *_fields(_I32, "a_zero_point b_zero_point out_zero_point"),
    ],
    "minmax": _fields(_I32, "count a_period b_period"),
    "softmax": _fields(_I32, "outer size inner multiplier shift diff_min"),
    "activation": _fields(_I32, "count"),
    "quantize": [
        *_fields(_I32, "count"),
        *_fields(_F32, "inv_scale"),
        *_fields(_I16, "zero_point qmin qmax"),
    ],
    "dequantize": [
        *_fields(_I32, "count"),
        *_fields(_F32, "scale"),
        *_fields(_I16, "zero_point"),
    ],
    "requantize": [
        *_fields(_I32, "count multiplier"),
        *_fields(_I8, "shift in_zero_point out_zero_point"),
        *_fields(_I16, "act_min act_max"),
    ],
    "conv2d_s16": [
        *_fields(_PTR, "multiplier shift"),
        *_WINDOW,
        *_fields(_U16, "in_c out_c"),
        *_KERNEL,
        *_fields(_U16, "groups"),
        *_fields(_I16, "act_min act_max"),
    ],
    "pool_s16": [
        *_WINDOW,
        *_fields(_U16, "channels"),
        *_KERNEL,
        *_fields(_I16, "act_min act_max"),
    ],
    "linear_s16": [
        *_fields(_PTR, "multiplier shift"),
        *_fields(_I32, "rows in_features out_features"),
        *_fields(_I16, "act_min act_max"),
    ],
    "batch_matmul_s16": [
        *_PRODUCT,
        *_fields(_I16, "multiplier"),
        *_fields(_I8, "shift"),
    ],
    "add_s16": [
        *_fields(_I32, "count a_period b_period a_multiplier b_multiplier out_multiplier"),
        *_fields(_I8, "a_shift b_shift out_shift"),
        *_fields(_I16, "act_min act_max"),
    ],
    "mul_s16": [
        *_fields(_I32, "count a_period b_period stride multiplier"),
        *_fields(_I8, "shift"),
    ],
    "softmax_s16": [*_fields(_I32, "outer size inner"), *_fields(ctypes.c_uint32, "multiplier")],
    "activation_s16": _fields(_I32, "count bits"),
    "fill": _fields(_I32, "count value"),
    "move": _fields(_I32, "count"),
    "copy": [
        *_fields(_I32, "rank"),
        *_fields(_I32 * 8, "dims in_stride out_stride"),
    ],
}
for _alias, _name in {
    "depthwise_conv2d": "conv2d",
    "transpose_conv2d": "conv2d",
    "avg_pool2d": "pool",
    "max_pool2d": "pool",
    "minimum": "minmax",
    "maximum": "minmax",
    "softmax_table": "softmax",
    "depthwise_conv2d_s16": "conv2d_s16",
    "avg_pool2d_s16": "pool_s16",
    "max_pool2d_s16": "pool_s16",
}.items():
    _PARAMS[_alias] = _PARAMS[_name]

# One call computes one image.
_IMAGES = ("conv2d", "depthwise_conv2d", "transpose_conv2d", "avg_pool2d", "max_pool2d")
_HAS_SCRATCH = (*_IMAGES, "linear", "batch_matmul")

_GUARD = 32
_POISON = 0xA5


class _Buffer:
    """An array's bytes between guard bytes, at an address aligned to 16."""

    def __init__(self, data: Array) -> None:
        self.size = data.nbytes
        self.raw = np.full(self.size + 2 * _GUARD + 16, _POISON, np.uint8)
        self.start = _GUARD + (-(self.raw.ctypes.data + _GUARD)) % 16
        self.bytes[:] = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)

    @property
    def bytes(self) -> npt.NDArray[np.uint8]:
        return self.raw[self.start : self.start + self.size]

    @property
    def address(self) -> int:
        return int(self.raw.ctypes.data) + self.start

    def check(self) -> None:
        guards = (self.raw[: self.start], self.raw[self.start + self.size :])
        assert all((guard == _POISON).all() for guard in guards), "guard bytes overwritten"


def _packed(
    name: str, params: Mapping[str, Value], inputs: Sequence[Array]
) -> tuple[Sequence[Array], _Buffer | None]:
    """The inputs with the weights in the kernel's form, and its scratch, as a plan has them."""
    kernel = next((k for k in kernels() if k.symbol == f"cortexm_{name}"), None)
    if kernel is None or not kernel.pack:
        return inputs, None
    x, weight, bias = inputs
    groups = params.get("groups", 1)
    assert isinstance(groups, int)
    plain = bias
    if kernel.op == "transpose_conv2d":
        plain = bias + params["in_zero_point"] * weight.astype(np.int32).sum(axis=(1, 2, 3))
    constants = Constants(weight, bias, groups=groups, plain_bias=plain.astype(np.int32))
    form = FORMS[kernel.pack]
    scratch = np.zeros(kernel.scratch_bytes(params), np.uint8)
    return [x, form.weights(constants), form.tables(constants).bias], _Buffer(scratch)


class KernelLibrary:
    """The shared library made of all kernels and references."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))

    def __call__(
        self,
        name: str,
        params: Mapping[str, Value],
        inputs: Sequence[Array],
        out: Array,
        offsets: Sequence[int] | None = None,
    ) -> Array:
        """Run ``cortexm_<name>`` and return the output in the shape and type of `out`.

        Elements that the kernel does not write keep the value they have in `out`. `offsets` are the
        elements before index 0 of each input and the output, for negative strides.
        """
        full, types, _ = name.rsplit("_", 2)
        op = full.removesuffix("_wide")
        struct_fields = _PARAMS.get(f"{op}_{types}") or _PARAMS[op]
        if op in _IMAGES and inputs[0].ndim == 4:
            images = [
                self(name, params, [x, *inputs[1:]], y) for x, y in zip(inputs[0], out, strict=True)
            ]
            return np.stack(images)
        inputs, scratch = _packed(name, params, inputs)
        struct_type = type("Params", (ctypes.Structure,), {"_fields_": struct_fields})
        buffers = [_Buffer(array) for array in [*inputs, out]]
        tables: list[_Buffer] = []
        struct = struct_type()
        for field, ctype in struct_fields:
            value = params[field]
            if ctype is _PTR:
                assert isinstance(value, np.ndarray)
                tables.append(_Buffer(value))
                setattr(struct, field, tables[-1].address)
            elif isinstance(value, list | tuple):
                setattr(struct, field, ctype(*value))
            else:
                setattr(struct, field, value)
        before = [buffer.bytes.copy() for buffer in buffers[:-1]]
        arguments = [
            ctypes.c_void_p(buffer.address + (offsets[i] if offsets else 0) * array.itemsize)
            for i, (buffer, array) in enumerate(zip(buffers, [*inputs, out], strict=True))
        ]
        if op in _HAS_SCRATCH:
            arguments.append(ctypes.c_void_p(scratch.address if scratch else None))
        function = getattr(self._library, f"cortexm_{name}")
        function.restype = None
        function(ctypes.byref(struct), *arguments)
        for buffer in [*buffers, *tables, *([scratch] if scratch else [])]:
            buffer.check()
        for buffer, bytes_before in zip(buffers, before, strict=False):
            assert (buffer.bytes == bytes_before).all(), "an input was written"
        return buffers[-1].bytes.view(out.dtype).reshape(out.shape)

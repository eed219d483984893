# SPDX-License-Identifier: Apache-2.0
"""The operators of the Cortex-M dialect for int16 activations: library ``cortexm``.

ExecuTorch's ``cortex_m`` operators compute on int8 and say so when they are traced. Those here have
their names and arguments, without the scratch buffers, and take and give int16 codes with zero
point 0; docs/numerics.md states what they compute. A program that contains them loads in
ExecuTorch, and runs there with this project's operators (docs/executorch.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch._prims_common import suggest_memory_format

from . import dialect_recurrent
from .dialect_reference import REFERENCES

NAMESPACE = "cortexm"

# Which operand says the type and, for all but products of matrices, the memory order of the result.
_OPERATORS = (
    "quantized_add",
    "quantized_mul",
    "quantized_conv2d",
    "quantized_depthwise_conv2d",
    "quantized_transpose_conv2d",
    "quantized_linear",
    "quantized_batch_matmul",
    "quantized_avg_pool2d",
    "quantized_max_pool2d",
)

_SOFTMAX = "(Tensor input, int dim, float input_scale"
_REQUANTIZE = (
    "(Tensor input, int input_zero_point, int multiplier, int shift, int output_zero_point, "
    "int activation_min, int activation_max, ScalarType dtype"
)
_BILINEAR = (
    "(Tensor input, int[] output_size, bool align_corners, float? scales_h, float? scales_w, "
    "int zero_point"
)
_LAYER_NORM = (
    "(Tensor input, Tensor factor, Tensor offset, int size, bool centred, int input_zero_point, "
    "int epsilon, int shift"
)
_GROUP_NORM = "(Tensor input, Tensor factor, Tensor offset, int groups, int epsilon, int shift"
_LOG_MEL = (
    "(Tensor input, Tensor window, Tensor weights, int points, int start, int hop, int frames, "
    "int shift, bool roots, int under_root, int[] first, int[] count, int least_high, int least_low, "
    "bool adds, int[] gains, int[] offsets, int gain_shift, int activation_min, int activation_max, "
    "ScalarType dtype"
)


@cache
def define() -> torch.library.Library:
    """Register the operators, once in a process."""
    import executorch.backends.cortex_m.passes  # noqa: F401  (defines the operators, too)

    make: Any = torch.library.Library
    library: torch.library.Library = make(NAMESPACE, "DEF")
    for name in _OPERATORS:
        packet = getattr(torch.ops.cortex_m, name)
        arguments = _arguments(str(packet.default._schema))
        _register(library, name, arguments, _like_int8(packet.default))
    same = torch.empty_like
    _register(library, "quantized_activation", "(Tensor input, Tensor lut", lambda x, _: same(x))
    _register(library, "softmax", _SOFTMAX, lambda x, *_: same(x))
    _register(
        library,
        "requantize",
        _REQUANTIZE,
        lambda x, *args: same(x, dtype=args[-1]),
    )
    _register(library, "upsample_bilinear2d", _BILINEAR, _image_of_size)
    _register(library, "layer_norm", _LAYER_NORM, lambda x, *_: same(x))
    _register(library, "group_norm", _GROUP_NORM, lambda x, *_: same(x))
    _register(library, "log_mel", _LOG_MEL, _frames_of_bands)
    dialect_recurrent.register(library, NAMESPACE)
    return library


def _image_of_size(x: torch.Tensor, size: list[int], *args: Any) -> torch.Tensor:
    result: torch.Tensor = x.new_empty((*x.shape[:2], *size))
    return result.to(memory_format=suggest_memory_format(x))


def _frames_of_bands(x: torch.Tensor, *args: Any) -> torch.Tensor:
    frames, bands = args[5], len(args[9])
    return x.new_empty((*x.shape[:-1], frames, bands), dtype=args[-1])


def _arguments(schema: str) -> str:
    """``(Tensor input, …`` of a schema, without scratch buffers and without the end."""
    listed = schema[schema.index("(") : schema.index(" -> ")].removesuffix(")")
    return re.sub(r", Tensor\(?[a-z!]*\)? (output_)?scratch\b", "", listed)


def _register(
    library: torch.library.Library, name: str, arguments: str, meta: Callable[..., torch.Tensor]
) -> None:
    define: Any = library.define
    define(f"{name}{arguments}) -> Tensor")
    define(f"{name}.out{arguments}, *, Tensor(a!) out) -> Tensor(a!)")
    torch.library.register_fake(f"{NAMESPACE}::{name}", meta, lib=library)
    implement: Any = library.impl
    implement(name, REFERENCES[name], "CompositeExplicitAutograd")


def _like_int8(operator: Any) -> Callable[..., torch.Tensor]:
    """The shape and order that `operator` gives, with the type of the first operand."""
    missing = len(operator._schema.arguments)

    def meta(x: torch.Tensor, *rest: Any) -> torch.Tensor:
        args = [x.to(torch.int8), *(_as_int8(value) for value in rest)]
        args += [torch.empty(0, dtype=torch.uint8)] * (missing - len(args))
        result: torch.Tensor = operator(*args)
        return torch.empty_like(result, dtype=x.dtype)

    return meta


def _as_int8(value: Any) -> Any:
    if isinstance(value, torch.Tensor) and value.dtype is torch.int16:
        return value.to(torch.int8)
    return value

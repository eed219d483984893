# SPDX-License-Identifier: Apache-2.0
"""Plans one operator of each kind on huge shapes and prints, as JSON, what that cost.

A program of its own, as the peak of memory is a process's.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable
from pathlib import Path

from cortexm_tools.emit import EmitOptions, emit
from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, ops
from cortexm_tools.plan import make_plan
from cortexm_tools.report import report_data, summary
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.graphs import Net

SHAPES = (
    *((20_000, 3, 8, 8), (1_000_000, 3, 8, 8), (1_000_000, 1, 1, 1)),
    *((1, 1, 1, 2**31 - 1), (1, 1, 2**31 - 1, 1), (2**31 - 1, 1, 1, 1)),
    *((1, 1, 2**31, 1), (1, 4, 2**14, 2**15 - 1), (1, 4, 2**15, 2**15)),
    *((1, 2**29 - 1, 2, 1), (1, 1, 2**23, 1), (1, 16, 4096, 1024)),
)
_MOST_WEIGHTS = 4096  # channels for which weights are made: a file would have to bring them
_POINT = {"kernel": (1, 1), "padding": (0, 0, 0, 0)}


def _block(net: Net, x: int) -> int:
    wide = net.conv(net.conv(x, 8, (1, 1), padding=(0, 0, 0, 0)), 8, depthwise=True)
    return net.conv(wide, 2, (1, 1), padding=(0, 0, 0, 0))


def _float(make: Callable[[Net, int], int]) -> Callable[[Net, int], int]:
    return lambda net, x: make(net, net.dequantize(x))


def _like(net: Net, attrs: ops.Attrs, operands: list[int], dtype: DType = DType.F32) -> int:
    x = net.tensors[operands[0]]
    return net.add(attrs, operands, x.shape, dtype, x.dim_order)


def _rows(net: Net, x: int) -> int:
    shape = net.shape(x)
    return net.view(x, (math.prod(shape[:3]), shape[3]))


def _nearest(net: Net, x: int) -> int:
    attrs = ops.UpsampleNearest2d(tuple(range(2)), tuple(range(3)))
    return net.add(attrs, [x], (*net.shape(x)[:2], 2, 3))


WITH_WEIGHTS: dict[str, Callable[[Net, int], int]] = {
    "conv2d": lambda net, x: net.conv(x, 4),
    "conv2d 1x1": lambda net, x: net.conv(x, 4, (1, 1), padding=(0, 0, 0, 0)),
    "groups": lambda net, x: net.conv(x, 2 * net.shape(x)[1], groups=net.shape(x)[1]),
    "depthwise": lambda net, x: net.conv(x, net.shape(x)[1], depthwise=True),
    "block": _block,
    "concat": lambda net, x: net.concat([net.conv(x, 4), net.conv(x, 4)], 1),
    "add constant": lambda net, x: net.sum(x, net.codes(1, net.shape(x)[1], 1, 1)),
}
FAMILIES: dict[str, Callable[[Net, int], int]] = {
    **WITH_WEIGHTS,
    "max_pool2d": lambda net, x: net.pool(x, (1, 1), largest=True),
    "avg_pool2d": lambda net, x: net.pool(x, (1, 1), largest=False),
    "add": lambda net, x: net.sum(x, net.activation(x)),
    "add scalar": lambda net, x: net.sum(x, net.codes(1, 1, 1, 1)),
    "softmax": lambda net, x: net.softmax(x, 1),
    "quantize": lambda net, x: net.quantize(net.dequantize(x)),
    "concat images": lambda net, x: net.concat([net.activation(x), net.activation(x)], 0),
    "pad": lambda net, x: net.pad(x, (0, 0, 1, 1), (0, 0, 1, 1), 3),
    "transpose": lambda net, x: net.transpose(x, (0, 2, 3, 1)),
    "slice": lambda net, x: net.add(
        ops.Slice((0, 0, 0, 0), (1, 1, 1, 1)), [x], (1, *net.shape(x)[1:])
    ),
    "linear": lambda net, x: net.linear(_rows(net, x), 3),
    "reduce": lambda net, x: net.add(
        ops.Reduce("amax", (1,), True), [x], (net.shape(x)[0], 1, *net.shape(x)[2:])
    ),
    "cast": lambda net, x: _like(net, ops.Cast(), [x], DType.S32),
    "compare": lambda net, x: _like(net, ops.Compare("lt"), [x, x], DType.BOOL),
    "nearest": _nearest,
    "unary": _float(lambda net, x: _like(net, ops.Unary("exp", 1.0, 1.0, 1.0), [x])),
    "binary": _float(lambda net, x: _like(net, ops.Binary("add"), [x, x])),
    "softmax f32": _float(lambda net, x: _like(net, ops.FloatSoftmax(1, False), [x])),
}


def plan_one(family: str, shape: tuple[int, ...]) -> dict[str, object]:
    begin = time.process_time()
    net = Net("large")
    error, size = "", 0
    try:
        graph = net.finish(FAMILIES[family](net, net.input(shape)))
        plan = make_plan(simplify(graph), Target.parse("cortex-m55"))
        files = emit(plan, EmitOptions(name="large", command="", digest=""))
        summary(report_data(plan, name="large", digest=""))
        size = len(files["large.c"])
    except CortexMError as refused:
        error = str(refused)
    seconds = time.process_time() - begin
    return {"family": family, "shape": shape, "seconds": seconds, "error": error, "code": size}


def _peak() -> int:
    """The most memory in bytes that this program had; ru_maxrss would count its parent's."""
    return int(re.findall(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())[0]) * 1024


def main() -> None:
    rows = [
        plan_one(family, shape)
        for family in FAMILIES
        for shape in SHAPES
        if not (family in WITH_WEIGHTS and shape[1] > _MOST_WEIGHTS)
        and not (family == "linear" and shape[3] > _MOST_WEIGHTS)
    ]
    print(json.dumps({"rows": rows, "peak": _peak()}))


if __name__ == "__main__":
    main()

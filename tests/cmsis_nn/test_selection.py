# SPDX-License-Identifier: Apache-2.0
"""Which layers go to CMSIS-NN, in what form, with how much memory: all that needs no checkout of it."""

from __future__ import annotations

import dataclasses
import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cortexm_tools.cli.settle import kernel_library
from cortexm_tools.compile import CompileOptions, compile_program, kernel_choice
from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, Graph, Rescale, ops
from cortexm_tools.ir.geometry import Window
from cortexm_tools.plan import KernelChoice, make_plan
from cortexm_tools.plan.choose.kernels import PRICES, cost_of
from cortexm_tools.plan.kernels.packing import Constants
from cortexm_tools.plan.kernels.packing_cmsis_nn import nn_channels, nn_depthwise, nn_wide
from cortexm_tools.plan.kernels.table import Kernel, code_sizes, kernels
from cortexm_tools.plan.search.space import SearchSpace
from cortexm_tools.plan.types import Call, ScratchArg
from cortexm_tools.report import layer_table, summary
from cortexm_tools.run.image import build_image
from cortexm_tools.target import Isa, Optimize, Target

from tests.cmsis_nn.nn_layers import FAMILIES, Layer, layer_program, random_layer
from tests.support.graphs import Net, rescales

NN = KernelChoice.CMSIS_NN
ROOT = Path(__file__).parents[2]
CPUS = {Isa.SCALAR: "cortex-m3", Isa.DSP: "cortex-m4", Isa.MVE: "cortex-m55"}


def first_call(graph: Graph, cpu: str, choice: KernelChoice = NN) -> Call:
    return make_plan(graph, Target.parse(cpu), kernels=choice).steps[0].calls[0]


def library(graph: Graph, cpu: str = "cortex-m55") -> str:
    return first_call(graph, cpu).kernel.library


def scratch(call: Call) -> int:
    return sum(arg.nbytes for arg in call.args if isinstance(arg, ScratchArg))


def test_every_family_goes_to_cmsis_nn_on_every_core() -> None:
    for cpu in ("cortex-m0", "cortex-m3", "cortex-m4", "cortex-m33", "cortex-m55"):
        for family in FAMILIES:
            found = {library(random_layer(family, seed), cpu) for seed in range(12)}
            assert "cmsis-nn" in found, (cpu, family)
            assert {
                first_call(random_layer(family, seed), cpu, KernelChoice.BUILTIN).kernel.library
                for seed in range(2)
            } == {"builtin"}


# -- Scratch memory against the library's own functions, as ExecuTorch's wheel has them ---------------


def wheel_size(sizes: Any, isa: Isa, kernel: Kernel, f: dict[str, Any]) -> int | None:
    """What the wheel's module says for a call; None for an operator without scratch memory."""
    op, wide = kernel.op.removesuffix("_wide"), kernel.types == "s16"
    kinds = {
        "s8": sizes.DataType.A8W8,
        "s8w4": sizes.DataType.A8W4,
        "s16": sizes.DataType.A16W8,
    }
    backend = {
        Isa.SCALAR: sizes.Backend.SCALAR,
        Isa.DSP: sizes.Backend.DSP,
        Isa.MVE: sizes.Backend.MVE,
    }[isa]
    kind = kinds[kernel.types]
    if op == "batch_matmul":
        filter_ = [f["inner"], -1, -1, f["cols"]]
        return int(sizes.fully_connected_buffer_size(backend, kind, filter_nhwc=filter_))
    if op == "avg_pool2d":
        return int(
            sizes.avgpool_buffer_size(backend, kind, dim_dst_width=f["out_w"], ch_src=f["channels"])
        )
    quant = 8 * ((f["out_c"] + 3) // 4 * 4) if wide and "out_c" in f else 0  # of our adapters
    if op not in ("conv2d", "depthwise_conv2d", "transpose_conv2d"):
        return None
    depthwise = op == "depthwise_conv2d"
    inner = 1 if depthwise else f["in_c"] // f["groups"]
    shared: dict[str, Any] = {
        "input_nhwc": [1, f["in_h"], f["in_w"], f["in_c"]],
        "filter_nhwc": [f["out_c"], f["kernel_h"], f["kernel_w"], inner],
        "output_nhwc": [1, f["out_h"], f["out_w"], f["out_c"]],
        "padding_hw": [-f["in_y0"], -f["in_x0"]],
        "stride_hw": [f["stride_h"], f["stride_w"]],
        "dilation_hw": [f["dilation_h"], f["dilation_w"]],
        "input_offset": -f.get("in_zero_point", 0),
        "output_offset": f.get("out_zero_point", 0),
        "activation_min": f["act_min"],
        "activation_max": f["act_max"],
    }
    if depthwise:
        shared["filter_nhwc"] = [1, f["kernel_h"], f["kernel_w"], f["out_c"]]
        times = f["out_c"] // f["in_c"]
        size = sizes.depthwise_conv_wrapper_buffer_size(backend, kind, ch_mult=times, **shared)
        return quant + int(size)
    if op == "conv2d":
        return quant + int(sizes.convolve_wrapper_buffer_size(backend, kind, **shared))
    shared["padding_offsets_hw"] = [0, 0]
    rows = int(sizes.transpose_conv_buffer_size(backend, kind, **shared))
    del shared["output_nhwc"]
    turned = int(sizes.transpose_conv_reverse_conv_buffer_size(backend, kind, **shared))
    return (rows + 3) // 4 * 4 + turned


@pytest.mark.parametrize("isa", list(CPUS))
def test_scratch_is_what_the_wheels_cmsis_nn_asks_for(isa: Isa) -> None:
    sizes = pytest.importorskip(
        "executorch.backends.cortex_m.library.cmsis_nn",
        reason="without executorch there is no CMSIS-NN to compare memory sizes with",
    )
    compared = 0
    for family in FAMILIES:
        for seed in range(40):
            call = first_call(random_layer(family, seed), CPUS[isa])
            if call.kernel.library != "cmsis-nn":
                continue
            wanted = wheel_size(sizes, isa, call.kernel, dict(call.fields))
            given = scratch(call)
            if call.kernel.op == "transpose_conv2d" and wanted is not None:
                # The library counts columns with the stride of rows; ours are enough for both.
                assert given >= wanted, (family, seed)
            else:
                assert given == (wanted or 0), (family, seed)
            compared += wanted is not None
    assert compared > 150


def test_scratch_in_numbers() -> None:
    """A 3x3 convolution of 10 channels: depth 90, in whole vectors 96, in fours of 16 bits 92."""
    net = Net()
    graph = net.finish(net.conv(net.input((1, 10, 5, 5)), 4))
    assert scratch(first_call(graph, "cortex-m55")) == 4 * 96
    assert scratch(first_call(graph, "cortex-m4")) == 2 * 2 * 92
    assert scratch(first_call(graph, "cortex-m0")) == 2 * 2 * 92
    # M7's compiler has DSP instructions whatever the plan was made for.
    net = Net()
    pool = net.finish(net.pool(net.input((1, 10, 4, 4)), (2, 2), largest=False))
    call = make_plan(pool, Target.parse("cortex-m7", "scalar"), kernels=NN).steps[0].calls[0]
    assert scratch(call) == 4 * 10


# -- Constants ---------------------------------------------------------------------------------------


def test_constants_are_plain_and_filled_up_to_fours() -> None:
    constants = Constants(
        np.arange(30, dtype=np.int8).reshape(5, 1, 2, 3),
        bias=np.full(5, 99, np.int32),
        rescales=rescales(np.arange(5) + 2**30, np.arange(-5, 0)),
        plain_bias=np.arange(5, dtype=np.int32),
    )
    packed = nn_channels(constants)
    assert packed.bias.tolist() == [0, 1, 2, 3, 4, 0, 0, 0]
    assert packed.multiplier.dtype == np.int32
    assert packed.multiplier[:5].tolist() == [2**30 + n for n in range(5)]
    assert packed.multiplier[8:].tolist() == [-5, -4, -3, -2, -1, 0, 0, 0]
    assert packed.shift.size == 0
    flat = nn_depthwise(constants)
    assert flat[:30].tolist() == list(range(30)) and flat[30:].tolist() == [0, 0, 0]


def test_biases_of_int16_layers_have_64_bits() -> None:
    narrow = Constants(np.ones((5, 1, 1, 1), np.int8), bias=np.arange(5, dtype=np.int32), wide=True)
    packed = nn_wide(narrow)
    assert packed.bias.dtype == np.int64
    assert packed.bias.tolist() == [0, 1, 2, 3, 4, 0, 0, 0]


# -- What stays ours ---------------------------------------------------------------------------------


def conv(
    shape: tuple[int, ...],
    kernel: tuple[int, int],
    padding: tuple[int, int, int, int] = (0, 0, 0, 0),
    bits: int = 8,
    groups: int = 1,
    **changes: Any,
) -> Graph:
    """A convolution to 4 channels with some attributes changed, and with weights of so many bits."""
    net = Layer()
    net.narrow = bits == 4
    x = net.input(shape)
    out = net.conv(x, 4, kernel, padding=padding, groups=groups)
    op = net.ops[-1]
    net.ops[-1] = dataclasses.replace(op, attrs=dataclasses.replace(op.attrs, **changes))
    return net.finish(out)


def test_sums_that_may_leave_32_bits_stay_ours() -> None:
    assert library(conv((1, 8, 5, 5), (3, 3))) == "cmsis-nn"
    # 72 products of 255 and some 64 are above 2^20; a shift by 12 raises them past 2^31.
    assert library(conv((1, 8, 5, 5), (3, 3), rescales=(Rescale(2**30, 12),) * 4)) == "builtin"


def test_rows_whose_padding_the_mve_function_refuses_stay_ours() -> None:
    for cpu, expected in (("cortex-m55", "builtin"), ("cortex-m4", "cmsis-nn")):
        assert library(conv((1, 4, 1, 9), (1, 3), padding=(0, 2, 0, 0)), cpu) == expected
        assert library(conv((1, 4, 1, 9), (1, 3), padding=(0, 1, 0, 1)), cpu) == "cmsis-nn"


def wide_conv(depth: int, out_c: int, columns: int = 2, bias: int = 0, **changes: Any) -> Graph:
    """A 1x1 convolution of int16 codes."""
    net = Net()
    x = net.input((1, depth, 1, columns), DType.S16)
    attrs = ops.Conv2d(
        Window((1, 1), (1, 1), (0, 0, 0, 0)),
        **{"in_zero_point": 0, "out_zero_point": 0, "act_min": -32768, "act_max": 32767}
        | {"rescales": (Rescale(2**30, -8),) * out_c}
        | changes,
    )
    weight = net.constant(np.full((out_c, 1, 1, depth // attrs.groups), 3), DType.S8)
    inputs = [x, weight, net.constant(np.full(out_c, bias), DType.S64)]
    return net.finish(net.add(attrs, inputs, (1, out_c, 1, columns)))


@pytest.mark.parametrize("cpu", CPUS.values())
def test_convolutions_of_int16_codes(cpu: str) -> None:
    assert library(wide_conv(9, 3), cpu) == "cmsis-nn"
    wide = first_call(wide_conv(9, 3, bias=2**33), cpu).kernel
    assert (wide.op, wide.library) == ("conv2d_wide", "cmsis-nn")
    assert library(wide_conv(8, 4, groups=2, rescales=(Rescale(2**30, -8),) * 4), cpu) == "builtin"
    # Results that leave 32 bits before they are clamped are cut off.
    assert library(wide_conv(9, 3, rescales=(Rescale(2**30, 13),) * 3), cpu) == "builtin"


def test_deep_convolutions_of_int16_codes() -> None:
    """Of more than 512 inputs."""
    found = {
        cpu: [
            library(wide_conv(513, 3), cpu),
            library(wide_conv(516, 3), cpu),
            library(wide_conv(513, 4), cpu),
            library(wide_conv(516, 4, columns=3, bias=2**33), cpu),
            library(wide_conv(516, 4, columns=4, bias=2**33), cpu),
        ]
        for cpu in CPUS.values()
    }
    nn, ours = "cmsis-nn", "builtin"
    assert found == {
        "cortex-m3": [nn, nn, nn, ours, nn],
        "cortex-m4": [ours, nn, nn, ours, nn],
        "cortex-m55": [nn, nn, nn, nn, nn],
    }


def types(graph: Graph, cpu: str) -> tuple[str, str]:
    kernel = first_call(graph, cpu).kernel
    return kernel.types, kernel.library


def test_weights_of_4_bits() -> None:
    """Odd rows, which share a byte, go to the functions for int8."""

    def found(shape: tuple[int, ...], cpu: str, groups: int = 1) -> str:
        layer = conv(shape, (min(shape[2], 3), 3), (0, 1, 0, 1), 4, groups)
        used, whose = types(layer, cpu)
        assert whose == "cmsis-nn"
        return used

    for cpu in CPUS.values():
        assert found((1, 8, 5, 5), cpu) == "s8w4"
        assert found((1, 7, 5, 5), cpu) == "s8"
        assert found((1, 8, 5, 5), cpu, groups=2) == "s8"
        rows = "s8" if cpu == "cortex-m55" else "s8w4"
        assert found((1, 4, 1, 9), cpu) == rows
        for channels, expected in ((10, "s8w4"), (9, "s8")):
            net = Layer()
            net.narrow = True
            x = net.input((1, channels, 5, 5))
            depthwise = types(net.finish(net.conv(x, channels, depthwise=True)), cpu)[0]
            assert depthwise == ("s8" if cpu == "cortex-m55" else expected)
            net = Layer()
            net.narrow = True
            layer = net.finish(net.linear(net.input((1, channels)), 3))
            assert types(layer, cpu) == (expected, "cmsis-nn")


def transposed(padding: int, kernel: int, stride: int, more: int = 0) -> Graph:
    net = Net()
    x = net.input((1, 3, 4, 4))
    window = Window((kernel, kernel), (stride, stride), (padding,) * 4)
    attrs = ops.TransposeConv2d(window, 3, -4, (Rescale(2**30, -8),) * 2, -128, 127)
    out = 3 * stride + kernel - 2 * padding + more
    return net.finish(net.add(attrs, [x, net.codes(2, kernel, kernel, 3)], (1, 2, out, out)))


@pytest.mark.parametrize(
    ("padding", "kernel", "stride", "more", "expected"),
    [
        (0, 3, 2, 0, "cmsis-nn"),
        (2, 3, 2, 0, "cmsis-nn"),
        (1, 3, 2, 0, "builtin"),  # loses a row in version 18
        (2, 2, 1, 0, "builtin"),  # as much padding as window
        (0, 3, 2, 1, "builtin"),  # a row more than the last input reaches
    ],
)
def test_transposed_convolutions(
    padding: int, kernel: int, stride: int, more: int, expected: str
) -> None:
    assert library(transposed(padding, kernel, stride, more)) == expected


def test_softmax_across_rows_stays_ours() -> None:
    net = Net()
    x = net.input((3, 5))
    assert library(net.finish(net.softmax(x, 0))) == "builtin"
    net = Net()
    x = net.input((3, 5))
    assert library(net.finish(net.softmax(x, 1))) == "cmsis-nn"


def test_what_cmsis_nn_has_not_stays_ours() -> None:
    net = Net()
    assert library(net.finish(net.activation(net.input((2, 3))))) == "builtin"
    net = Net()
    x = net.input((2, 3), DType.F32)
    assert library(net.finish(net.quantize(x))) == "builtin"


# -- auto, report, errors ----------------------------------------------------------------------------


def test_auto_costs_no_more_than_either() -> None:
    """In instructions and code, of which a kernel's is counted once."""
    taken = set()
    for family, cpu in product(FAMILIES, ("cortex-m55", "cortex-m4", "cortex-m0")):
        found = {
            choice: SearchSpace(random_layer(family, 2), Target.parse(cpu), choice).chosen(
                Optimize.SPEED
            )
            for choice in KernelChoice
        }
        costs = {
            choice: cost_of(ways.values(), PRICES[Optimize.SPEED].flash)
            for choice, ways in found.items()
        }
        assert costs[KernelChoice.AUTO] <= min(costs.values()), (family, cpu)
        for way in found[KernelChoice.AUTO].values():
            taken |= {call.kernel.library for call in way.lowered.calls}
    assert taken == {"builtin", "cmsis-nn"}


def test_report_says_whose_kernel_each_layer_uses() -> None:
    target = Target.parse("cortex-m55")
    program = layer_program("linear", 2)
    data = compile_program(program, CompileOptions(target, kernels=NN)).report
    assert data["libraries"] == ["cmsis-nn"]
    assert [layer["library"] for layer in data["layers"]] == ["cmsis-nn"]
    assert "cmsis-nn computes 1 of 1 operators" in summary(data)
    assert layer_table(data).splitlines()[-1].endswith("cmsis-nn")
    plain = compile_program(program, CompileOptions(target)).report
    assert plain["libraries"] == ["builtin"]
    assert "cmsis-nn" not in summary(plain) + layer_table(plain)


def test_check_file_names_every_layer_with_scratch_memory() -> None:
    target = Target.parse("cortex-m4")
    compiled = compile_program(layer_program("conv2d_row", 1), CompileOptions(target, kernels=NN))
    text = compiled.files["layer_cmsis_nn.c"]
    assert isinstance(text, str)
    (call,) = compiled.plan.steps[0].calls
    assert (
        f"cortexm_nn_conv2d_s8_scratch(&layer_op0_params), {scratch(call)}, layer_op0_refuse)"
        in text
    )
    assert "#if CORTEXM_NN_CODE != 1" in text
    plain = compile_program(layer_program("conv2d_row", 1), CompileOptions(target))
    assert "layer_cmsis_nn.c" not in plain.files


def test_a_stack_that_nobody_has_measured_has_no_size() -> None:
    """Without the measurement of a build: ours have a bound, those of another library have none."""
    for choice, known in ((KernelChoice.BUILTIN, True), (NN, False)):
        options = CompileOptions(Target.parse("cortex-m4"), kernels=choice)
        files = compile_program(layer_program("conv2d_row", 1), options).files
        assert ("#define LAYER_STACK_SIZE 1024\n" in str(files["layer.h"])) == known
        assert ".stack_size = LAYER_STACK_SIZE," in str(files["layer.c"])


def test_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CortexMError, match="CPU any names none"):
        first_call(random_layer("linear", 2), "any")
    with pytest.raises(CortexMError, match="unknown kernel library 'cmsis'") as caught:
        kernel_choice("cmsis")
    assert "cmsis-nn" in str(caught.value)
    monkeypatch.delenv("CMSIS_NN_ROOT", raising=False)
    (tmp_path / "layer_cmsis_nn.c").write_text("")
    with pytest.raises(CortexMError, match="there is no CMSIS-NN") as caught:
        build_image(tmp_path, ["layer"], tmp_path / "build", board="mps3-an547")
    assert "CMSIS_NN_ROOT" in str(caught.value)


def test_auto_without_cmsis_nn_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an image is built here; `cortexm compile` leaves the library to the build that follows."""
    m55, anything = Target.parse("cortex-m55"), Target.parse("any")
    monkeypatch.delenv("CMSIS_NN_ROOT", raising=False)
    assert kernel_library("auto", m55, builds=True) is KernelChoice.BUILTIN
    assert kernel_library("auto", m55, builds=False) is KernelChoice.AUTO
    assert kernel_library("auto", anything, builds=False) is KernelChoice.BUILTIN
    assert kernel_library("cmsis-nn", m55, builds=True) is NN
    monkeypatch.setenv("CMSIS_NN_ROOT", "somewhere")
    assert kernel_library("auto", m55, builds=True) is KernelChoice.AUTO


def test_costs_are_known_of_every_adapter() -> None:
    costs = json.loads((ROOT / "kernels" / "costs.json").read_text(encoding="utf-8"))["kernels"]
    for kernel in kernels("adapters"):
        if not kernel.op.endswith("_wide"):  # which no network has
            assert len(costs[kernel.symbol]["costs"]) == 4, kernel.symbol
        assert code_sizes()[kernel.symbol] > 400


def test_adapters_promise_no_order_of_access() -> None:
    """So the planner overlaps no result with an operand, and gives them whole images."""
    assert not [kernel.symbol for kernel in kernels("adapters") if kernel.order]

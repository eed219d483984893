# SPDX-License-Identifier: Apache-2.0
"""Programs that torch.export.save wrote, plain and quantized."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

from cortexm_tools.api import compile_model
from cortexm_tools.errors import CortexMError
from cortexm_tools.frontend.load.given import given_module
from cortexm_tools.frontend.lower.lower import lower
from cortexm_tools.frontend.quantize.given import is_quantized, take_scales
from cortexm_tools.frontend.quiet import import_executorch, quiet
from cortexm_tools.options.precision import INT8, Quantization, parse_quantization
from cortexm_tools.program import Program, load_program
from cortexm_tools.target import Target

TARGET = Target.parse("cortex-m55")


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(8, 12), nn.Linear(12, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.last(torch.relu(self.first(x)))
        return result


def example() -> tuple[torch.Tensor, ...]:
    return (torch.linspace(-2, 2, 16).sin().reshape(2, 8),)


def exported(module: nn.Module, **options: Any) -> torch.export.ExportedProgram:
    with quiet():
        return torch.export.export(module, example(), **options)


def quantized() -> nn.Module:
    """What the users of ExecuTorch's quantizer have in hand."""
    import_executorch()
    from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    torch.manual_seed(0)
    with quiet():
        graph = exported(Net().eval()).module(check_guards=False)
        prepared = prepare_pt2e(graph, CortexMQuantizer())
        prepared(*example())
        converted: nn.Module = convert_pt2e(prepared)
    return converted


def save(program: torch.export.ExportedProgram, path: Path) -> Path:
    with quiet():
        torch.export.save(program, path)
    return path


def lowered(path: Path, quantization: Quantization | None = INT8, **files: Path) -> Program:
    return load_program(path, name="net", target=TARGET, quantization=quantization, **files)


def test_as_the_module_itself(tmp_path: Path) -> None:
    """The same bytes, whether its batch is free or not; its example inputs come with it."""
    torch.manual_seed(0)
    module = Net().eval()
    free = {"dynamic_shapes": {"x": {0: torch.export.Dim("batch", min=1, max=8)}}}
    programs = [
        lowered(save(exported(module, **options), tmp_path / f"{name}.pt2"))
        for name, options in (("fixed", {}), ("free", free))
    ]
    assert programs[0].pte == programs[1].pte
    (tmp_path / "model.py").write_text(
        "import torch\n"
        f"ModelUnderTest = torch.export.load({str(tmp_path / 'fixed.pt2')!r}).module(check_guards=False)\n"
        "ModelInputs = (torch.linspace(-2, 2, 16).sin().reshape(2, 8),)\n"
    )
    assert lowered(tmp_path / "model.py").pte == programs[0].pte
    assert str(tmp_path / "fixed.pt2") in programs[0].dependencies
    assert programs[0].quality is not None


def test_quantized_before(tmp_path: Path) -> None:
    """It is taken as it is: its scales and weights, not others."""
    module = quantized()
    path = save(exported(module), tmp_path / "net.pt2")
    program = lowered(path)
    assert program.pte == lowered(path, None).pte and program.quality is None
    compiled = compile_model(program)
    assert compiled.report["quality"] == {"not_measured": "the model was lowered as it is"}
    assert "2 convert, 2 int8 (264 MACs)" in compiled.summary()
    (got,) = compiled(*(x.numpy() for x in example()))
    with torch.no_grad():
        want = module(*example())
    step = float(want.abs().max()) / 100
    assert float((torch.from_numpy(got) - want).abs().max()) < step
    with pytest.raises(CortexMError, match="quantized already: its precision cannot be chosen"):
        lowered(path, parse_quantization("a16w8", ""))


class Images(nn.Module):
    """Convolutions with batch norms, a sum, and functions that only this quantizer has codes for."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8)
        self.depth, self.norm2 = nn.Conv2d(8, 8, 3, 1, 1, groups=8, bias=False), nn.BatchNorm2d(8)
        self.last = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.relu6(self.norm(self.stem(x)))
        x = x + functional.relu(self.norm2(self.depth(x)))
        scores: torch.Tensor = self.last(functional.adaptive_avg_pool2d(x, 1).flatten(1))
        return functional.silu(scores).softmax(1)


def trained(images: torch.Tensor) -> nn.Module:
    """As ExecuTorch's documentation trains with simulated codes, by its quantizer for another backend."""
    import_executorch()
    from executorch.backends.xnnpack.quantizer import xnnpack_quantizer as xnnpack
    from torchao.quantization.pt2e import move_exported_model_to_eval
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_qat_pt2e

    torch.manual_seed(0)
    config = xnnpack.get_symmetric_quantization_config(is_per_channel=True, is_qat=True)
    with quiet():
        graph = torch.export.export(Images().train(), (images,)).module(check_guards=False)
        graph = prepare_qat_pt2e(graph, xnnpack.XNNPACKQuantizer().set_global(config))
        steps = torch.optim.SGD(graph.parameters(), 0.05)
        for _ in range(4):
            steps.zero_grad()
            (graph(images + 0.1 * torch.randn(images.shape))[:, 0] - 1).square().mean().backward()
            steps.step()
        move_exported_model_to_eval(graph)
        converted: nn.Module = convert_pt2e(graph)
    return converted


def test_quantized_for_another_backend(tmp_path: Path) -> None:
    """Its scales and its weights' codes, in the operators of this one; what it left in float, in int8."""
    images = torch.linspace(-2, 2, 4 * 3 * 12 * 12).mul(37).sin().reshape(4, 3, 12, 12)
    module = trained(images)
    with quiet():
        program = lowered(save(torch.export.export(module, (images,)), tmp_path / "net.pt2"))
    assert program.warnings == (
        "net: values without a scale in the quantized model have one from ModelInputs alone: 1",
    )
    compiled = compile_model(program)
    assert "against the quantized model, 1 example input" in compiled.summary()
    (work,) = [line for line in compiled.summary().splitlines() if line.split()[0] == "work"]
    assert "float" not in work
    stored = {
        tuple(sorted(set(w.flatten().tolist()))) for w in module.buffers() if w.dtype == torch.int8
    }
    constants = [x.data for x in program.graph().tensors if x.data is not None]
    codes = {tuple(sorted(set(data.ravel().tolist()))) for data in constants}
    assert len(stored) == 3 and stored <= codes
    (got,) = compiled(images.numpy())
    with torch.no_grad():
        want = module(images)
    assert float((torch.from_numpy(got) - want).abs().max()) < 1.5 / 256


def test_quantized_for_an_ethos_u() -> None:
    """Its quantizer's marks are those of this backend's; where that does not do, scales are taken over."""
    import_executorch()
    from executorch.backends.arm.ethosu import EthosUCompileSpec
    from executorch.backends.arm.quantizer import EthosUQuantizer, get_symmetric_quantization_config
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    images = torch.linspace(-2, 2, 4 * 3 * 12 * 12).mul(37).sin().reshape(4, 3, 12, 12)
    torch.manual_seed(0)
    with quiet():
        graph = torch.export.export(Images().eval(), (images,)).module(check_guards=False)
        quantizer = EthosUQuantizer(EthosUCompileSpec("ethos-u55-128"))
        prepared = prepare_pt2e(graph, quantizer.set_global(get_symmetric_quantization_config()))
        prepared(images)
        module = convert_pt2e(prepared)
        found = lower(given_module(module, images, None, None, "net"), target=TARGET, name="net")
    assert found.quality is not None and found.quality.beside == "quantized model"
    assert found.quality.level > 30 and not found.warnings


class Windows(nn.Module):
    """Keeps the end of what it read for the next call."""

    past: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.last = nn.Conv1d(8, 16, 3), nn.Linear(16, 4)
        self.register_buffer("past", torch.zeros(1, 8, 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        whole = torch.cat([self.past, x], 2)
        self.past.copy_(whole[:, :, -2:])
        scores: torch.Tensor = self.last(torch.relu(self.conv(whole)).mean(2))
        return scores


def test_state_of_a_quantized_model() -> None:
    import_executorch()
    from executorch.backends.xnnpack.quantizer import xnnpack_quantizer as xnnpack
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    torch.manual_seed(0)
    samples = [torch.randn(1, 8, 4) for _ in range(6)]
    config = xnnpack.get_symmetric_quantization_config(is_per_channel=True)
    with quiet():
        graph = torch.export.export(Windows().eval(), (samples[0],)).module(check_guards=False)
        prepared = prepare_pt2e(graph, xnnpack.XNNPACKQuantizer().set_global(config))
        for sample in samples:
            prepared(sample)
        module = convert_pt2e(prepared)
        before = module.past.clone()
        loaded = given_module(module, samples[:1], [(x,) for x in samples], None, "net")
        found = lower(loaded, target=TARGET, name="net")
    assert found.quality is not None and found.quality.level > 40 and not found.warnings
    assert torch.equal(module.past, before)


class ByHand(nn.Module):
    """Codes of uint8, and weights that the program itself quantizes."""

    def __init__(self, kind: str = "") -> None:
        super().__init__()
        self.kind, self.weight = kind, nn.Parameter(example()[0][:1].clone())

    def forward(self, x: torch.Tensor) -> Any:
        ops = torch.ops.quantized_decomposed
        scale: Any = 0.02
        if self.kind == "dynamic":
            scale, _ = ops.choose_qparams(x, -128, 127, 1e-6, torch.int8)
        if self.kind == "wide":
            given = scale, 3, -32768, 32767, torch.int16
        else:
            given = (0.02, 100, 0, 255, torch.uint8)
        codes = ops.quantize_per_tensor(x, *given)
        if self.kind == "codes":
            return codes
        if self.kind == "between":
            codes = codes.flip(0)
        weight = ops.quantize_per_tensor(self.weight, 0.01, 0, -127, 127, torch.int8)
        weight = ops.dequantize_per_tensor(weight, 0.01, 0, -127, 127, torch.int8)
        return functional.linear(ops.dequantize_per_tensor(codes, *given), weight)


def test_scales_are_taken_out() -> None:
    import_executorch()
    graph = exported(ByHand()).module(check_guards=False)
    given = take_scales(given_module(graph, example(), None, None, "net"))
    assert not is_quantized(given.module)
    (x,) = given.sample
    codes = given.values.find(x)
    assert codes is not None and codes == (0.02, -28)
    reached = x / codes.scale + codes.zero_point
    assert -128 <= float(reached.min()) < -64 and 64 < float(reached.max()) <= 127
    (weight,) = (w for w in given.module.buffers() if w.shape == (1, 8))
    assert given.channels.find(weight[0]) == 0.01 and given.channels.find(weight[0] + 0.01) is None
    assert torch.equal(weight, torch.round(example()[0][:1] / 0.01).clamp(-127, 127) * 0.01)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("dynamic", "it calls quantized_decomposed::choose_qparams"),
        ("wide", "activations have codes from -32768 to 32767, torch.int16"),
        ("codes", "codes are an output of it"),
        ("between", "codes are computed with between quantize and dequantize"),
    ],
)
def test_other_codes_are_refused(kind: str, message: str) -> None:
    import_executorch()
    graph = exported(ByHand(kind)).module(check_guards=False)
    with pytest.raises(CortexMError, match=f"cannot be lowered: {message}") as refused:
        take_scales(given_module(graph, example(), None, None, "net"))
    assert refused.value.where == "net.py" and "statically to int8" in refused.value.hint


def test_refused(tmp_path: Path) -> None:
    class Named(Net):
        def forward(self, *, x: torch.Tensor) -> torch.Tensor:
            return super().forward(x)

    with quiet():
        named = torch.export.export(Named(), (), {"x": example()[0]})
    bare = exported(Net().eval())
    bare.example_inputs = None
    (tmp_path / "broken.pt2").write_bytes(b"PK not really")
    for path, message, hint in (
        (save(named, tmp_path / "named.pt2"), "takes its inputs by name: x", "in order"),
        (save(bare, tmp_path / "bare.pt2"), "without its example inputs", "--model_input"),
        (tmp_path / "broken.pt2", "cannot load: ", ""),
    ):
        with pytest.raises(CortexMError, match=message) as refused:
            lowered(path)
        assert hint in refused.value.hint
    torch.save(example(), tmp_path / "inputs.pt")
    assert lowered(tmp_path / "bare.pt2", model_input=tmp_path / "inputs.pt").example is not None

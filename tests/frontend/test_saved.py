# SPDX-License-Identifier: Apache-2.0
"""Programs that torch.export.save wrote, plain and quantized."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from cortexm_tools.api import compile_model
from cortexm_tools.errors import CortexMError
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

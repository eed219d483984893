# SPDX-License-Identifier: Apache-2.0
"""Training for codes (prepare_qat): what is rounded is what the build rounds, and the build keeps it."""

from __future__ import annotations

import copy
import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from cortexm_tools import CortexMError, lower_model, prepare_qat
from cortexm_tools.frontend.quantize.simulate import Grid, one_thread

ROOT = Path(__file__).parents[2]
SAMPLE = torch.rand(1, 3, 6, 6, generator=torch.Generator().manual_seed(1))

WORDS = {"stem": "int8", "up": "a8w4"}  # beside weights of the last layer, which stay at 8 bits


class Net(nn.Module):
    """What is called by modules and by functions; a batch norm, a residual sum, one weight of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.up = nn.ConvTranspose2d(8, 8, 1)
        self.drop = nn.Dropout(0.5)
        self.matrix = nn.Parameter(torch.randn(8, 5))
        with torch.no_grad():
            self.norm.weight.copy_(torch.linspace(-2, 2, 8))
            self.norm.running_mean.copy_(torch.linspace(-1, 1, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.norm(self.stem(x)), inplace=True)
        x = x + torch.sigmoid(self.up(x))
        return self.drop(x.mean((2, 3))) @ self.matrix


@pytest.fixture(scope="module")
def net() -> Net:
    torch.manual_seed(0)
    return Net()


@pytest.fixture(scope="module")
def samples() -> torch.Tensor:
    return torch.rand(16, 3, 6, 6, generator=torch.Generator().manual_seed(2))


@pytest.mark.parametrize("precision", ["int8", "a16w4"])
def test_it_computes_as_the_build(net: Net, samples: torch.Tensor, precision: str) -> None:
    """In batches of any size, with the build's ranges, and its weights where activations hardly count."""
    words = {"*": precision, "stem": precision, "up": precision}
    qat = prepare_qat(net, SAMPLE, quantization=words).eval()
    wide = torch.cat([samples * 0, samples * 2])  # no result of `samples` leaves the ranges
    program = lower_model(
        net, SAMPLE, quantization=words, calibration=wide, calibrate="weights=nearest"
    )
    with torch.no_grad():
        qat(wide)
        real = net.eval()(samples)
        ours = qat(samples) - real
    steps = re.findall(
        r"[^e]quantize_per_tensor.default\(\w+, ([-.e\d]+)", program.texts["quantized"]
    )
    rel = 0.05 if precision == "int8" else 0.25  # by what the weights' codes change
    assert sorted(float(Grid(each.observer).step) for each in qat.ranges) == pytest.approx(
        sorted({float(step) for step in steps}), rel=rel
    )
    built = [torch.from_numpy(program.fake_quantized((x[None].numpy(),))[0]) for x in samples]
    theirs = torch.cat(built) - real
    if precision == "a16w4":
        assert float((ours - theirs).norm()) < 0.05 * float(theirs.norm())


def test_the_finished_module_is_the_users_own(net: Net, samples: torch.Tensor) -> None:
    """Its gradients reach all parameters, its names are the original's, and all codes are kept."""
    qat = prepare_qat(net, SAMPLE, quantize="a8w4", quantization=WORDS)
    assert {name: most for name, (most, _) in qat.weights.items()} == {
        "stem.weight": 127,
        "up.weight": 7,
        "matrix": 127,
    }
    assert repr(qat).startswith("QatModule(\n  weights of 2 layers in 8 bits and of 1 in 4")
    optimizer = torch.optim.SGD(qat.parameters(), lr=0.01)
    for _ in range(3):
        optimizer.zero_grad()
        qat(samples).square().mean().backward()
        optimizer.step()
    assert all(each.grad is not None and each.grad.any() for each in qat.parameters())
    again = copy.deepcopy(qat)
    again.load_state_dict(qat.state_dict())
    with torch.no_grad():
        assert torch.equal(again.eval()(samples), qat.eval()(samples))
    finished = qat.finish()
    assert type(finished) is Net and not finished.training
    net_again = Net()
    net_again.load_state_dict(finished.state_dict())
    for name, levels in (("stem", 255), ("up", 15)):
        weight = finished.get_parameter(f"{name}.weight").detach()
        rows = weight.transpose(0, 1) if name == "up" else weight
        assert all(len(row.unique()) <= levels for row in rows)
    # Rounding finds the codes again, by either way.
    pte = {
        lower_model(
            module,
            SAMPLE,
            quantize="a8w4",
            quantization=WORDS,
            calibration=samples,
            calibrate=f"weights={way}",
        ).pte
        for way, module in (("nearest", finished), ("gptq", net_again.train()))
    }
    assert len(pte) == 1


def test_the_page_trains() -> None:
    """What docs/python.md shows works on the network that it begins with."""
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    net, train = re.findall(r"```python\n(.*?)```", page, re.S)
    names: dict[str, Any] = {}
    exec(net.partition("model = ")[0], names)
    before = names["net"][0].weight.clone()
    exec(train, names)
    assert "a8w4" in names["model"].summary() and not torch.equal(before, names["net"][0].weight)


def test_training_gains_at_4_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the sample shows: a small reader of digits wins back what nearest codes lose."""
    folder = ROOT / "samples" / "hello-executorch"
    monkeypatch.setattr(sys, "path", [*sys.path])
    spec = importlib.util.spec_from_file_location("qat_of_digits", folder / "qat.py")
    assert spec is not None and spec.loader is not None
    sample = importlib.util.module_from_spec(spec)
    with one_thread():
        spec.loader.exec_module(sample)
        model = sample.trained(0)
        (_, before), (_, after) = (
            sample.score(model, "weights=nearest"),
            sample.score(sample.trained_for_codes(model)),
        )
    assert after < 0.96 * before


@pytest.mark.parametrize(
    ("module", "options", "message", "hint"),
    [
        (nn.ReLU(), {}, "no layer whose weights become codes", "linear layers"),
        (nn.Linear(3, 2), {"quantization": {"*": "float"}}, "no layer whose weights", ""),
        (nn.Linear(3, 2), {"quantize": "none"}, "needs no training for codes", "int8 or a8w4"),
        (nn.Linear(3, 2), {"quantization": {"a": "int8"}}, "no module matches 'a'", ""),
        (nn.Linear(3, 2), {"example_inputs": None}, "without example inputs", ""),
        ("net.pt", {}, "a str is not a model", ""),
    ],
)
def test_refused(module: Any, options: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(CortexMError, match=message) as caught:
        prepare_qat(module, **{"example_inputs": torch.rand(1, 3), **options})
    assert hint in caught.value.hint


def test_what_cannot_be_trained_or_built() -> None:
    from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    layer, x = nn.Linear(3, 2), torch.rand(4, 3)
    exported = torch.export.export(layer.eval(), (x,)).module(check_guards=False)
    with pytest.raises(CortexMError, match="an exported program cannot be trained"):
        prepare_qat(exported, x)
    prepared = prepare_pt2e(exported, CortexMQuantizer())
    prepared(x)
    with pytest.raises(CortexMError, match="is quantized already"):
        prepare_qat(convert_pt2e(prepared), x)
    qat = prepare_qat(layer, x)
    for each in (lower_model, prepare_qat):
        with pytest.raises(CortexMError, match="not converted .it is a QatModule") as caught:
            each(qat, x)
        assert "finish()" in caught.value.hint
    with torch.no_grad():
        qat.module.weight[0, 0] = torch.nan
    with pytest.raises(CortexMError, match="'weight' is not finite: training has diverged"):
        qat.finish()

# SPDX-License-Identifier: Apache-2.0
"""Loading a model file: what it may define, what is refused, and which files it depends on."""

from __future__ import annotations

import os
import sys
import types
from pathlib import Path

import numpy as np
import pytest
import torch

from cortexm_tools.errors import CortexMError
from cortexm_tools.frontend.load.model_file import LoadedModel, load_model, user_files
from cortexm_tools.program import load_program
from cortexm_tools.target import Target

MODEL = """
import torch; from torch._subclasses.fake_tensor import FakeTensorMode
ModelUnderTest = torch.nn.Linear(3, 2)
ModelInputs = (torch.ones(1, 3),)
"""

QUANTIZED_IN_PLACE = """
from torchao.quantization import Int8WeightOnlyConfig, quantize_
quantize_(ModelUnderTest, Int8WeightOnlyConfig())
"""
QUANTIZED_BY_MODULES = """
from torch.ao.quantization import quantize_dynamic
ModelUnderTest = quantize_dynamic(torch.nn.Sequential(ModelUnderTest), dtype=torch.qint8)
"""

PREPARED = {
    "eager": """
from torch.ao.quantization import get_default_qconfig, prepare
ModelUnderTest = torch.nn.Sequential(ModelUnderTest).eval()
ModelUnderTest.qconfig = get_default_qconfig("qnnpack")
prepare(ModelUnderTest, inplace=True)
""",
    "trained": """
from torch.ao.quantization import get_default_qat_qconfig, prepare_qat
ModelUnderTest = torch.nn.Sequential(ModelUnderTest).train()
ModelUnderTest.qconfig = get_default_qat_qconfig("qnnpack")
prepare_qat(ModelUnderTest, inplace=True)
""",
    "graph": """
from torch.ao.quantization import get_default_qconfig_mapping
from torch.ao.quantization.quantize_fx import prepare_fx
mapping = get_default_qconfig_mapping("qnnpack")
ModelUnderTest = prepare_fx(torch.nn.Sequential(ModelUnderTest).eval(), mapping, ModelInputs)
""",
    "exported": """
from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e
graph = torch.export.export(ModelUnderTest.eval(), ModelInputs).module(check_guards=False)
ModelUnderTest = prepare_pt2e(graph, CortexMQuantizer())
""",
}


def load(tmp_path: Path, text: str | bytes, **options: object) -> LoadedModel:
    path = tmp_path / "model.py"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_model(path, **options)  # type: ignore[arg-type]


def failure(tmp_path: Path, text: str | bytes, **options: object) -> CortexMError:
    with pytest.raises(CortexMError) as caught:
        load(tmp_path, text, **options)
    return caught.value


def test_values(tmp_path: Path) -> None:
    loaded = load(tmp_path, MODEL)
    assert isinstance(loaded.module, torch.nn.Linear)
    assert not loaded.module.training
    assert loaded.example_inputs[0].shape == (1, 3)
    assert loaded.calibration is None
    assert loaded.evaluation is None


def test_callables(tmp_path: Path) -> None:
    text = """
import torch
class Net(torch.nn.Module):
    def forward(self, x):
        return x * 2
ModelUnderTest = Net
def ModelInputs():
    return (torch.ones(1, 3),)
def CalibrationInputs():
    for i in range(3):
        yield (torch.full((1, 3), float(i)),)
EvaluationInputs = lambda: [(torch.ones(1, 3), 1), ((torch.zeros(1, 3),), torch.tensor(0))]
"""
    loaded = load(tmp_path, text)
    assert type(loaded.module).__name__ == "Net"
    assert loaded.calibration is not None
    assert [float(x[0, 0]) for (x,) in loaded.calibration] == [0.0, 1.0, 2.0]
    assert loaded.evaluation is not None
    assert loaded.evaluation.inputs[0].shape == (2, 1, 3)
    assert loaded.evaluation.labels.tolist() == [1, 0]


@pytest.mark.parametrize("shape", ["(5, 1, 3)", "(5, 3)"])
def test_stacked_sets(tmp_path: Path, shape: str) -> None:
    text = MODEL + (
        f"CalibrationInputs = torch.ones{shape}\n"
        f"EvaluationInputs = (torch.zeros{shape}, torch.arange(5))\n"
    )
    loaded = load(tmp_path, text)
    assert loaded.calibration is not None and loaded.evaluation is not None
    assert [tuple(x.shape) for (x,) in loaded.calibration] == [(1, 3)] * 5
    assert loaded.evaluation.inputs[0].shape == (5, 1, 3)
    assert loaded.evaluation.labels.tolist() == [0, 1, 2, 3, 4]


def test_chance_is_seeded(tmp_path: Path) -> None:
    before = torch.random.get_rng_state()
    first = load(tmp_path, MODEL).module.weight
    second = load(tmp_path, MODEL).module.weight
    assert torch.equal(first, second)
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.parametrize(
    ("text", "message", "where"),
    [
        ("", "is empty", "model.py"),
        ("# nothing\n", "is empty", "model.py"),
        ("x = 1\ndef f(:\n", "not valid Python", "model.py:2"),
        (b"x = '\x00'\n", "not valid Python", "model.py"),
        (b"x = '\xff'\n", "not valid Python", "model.py:1"),
        ("a = 1\nb = a / 0\n", "ZeroDivisionError", "model.py:2"),
        ("import not_there_at_all\n", "cannot import 'not_there_at_all'", "model.py:1"),
        ("def f():\n    raise SystemExit\nf()\n", "the model file ends the program", "model.py:2"),
        ("x = 1\n", "no ModelUnderTest", "model.py"),
        ("import torch\nModelUnderTest = torch.nn.Linear(3, 2)\n", "no ModelInputs", "model.py"),
        ("ModuleUnderTest = 1\n", "no ModelUnderTest, but ModuleUnderTest", "model.py"),
        ("x = 1\nModelUnderTest = 'resnet'\n", "must be an nn.Module, not str", "model.py:2"),
        ("def ModelUnderTest(n):\n    return n\n", "needs arguments", "model.py:1"),
        (MODEL + "ModelInputs = torch\n", "tuple of tensors, not module", "model.py:5"),
        (MODEL + "ModelInputs = (1,)\n", "must be a tensor, not int", "model.py:5"),
        (MODEL + "ModelInputs = ()\n", "is empty", "model.py:5"),
        (MODEL + "ModelInputs = (torch.zeros(0, 3),)\n", "no elements", "model.py:5"),
        (
            MODEL.replace("torch.ones(1, 3)", "torch.ones(1, 3).half()"),
            "[0] is float16",
            "model.py:4",
        ),
        (
            MODEL.replace("(3, 2)", "(3, 2).half()"),
            "is in float16 (parameter 'weight')",
            "model.py:3",
        ),
        (MODEL.replace("(3, 2)", "(3, 2).bfloat16()"), "is in bfloat16", "model.py:3"),
        (MODEL.replace("(3, 2)", "(3, 2).double()"), "is in float64", "model.py:3"),
        (MODEL.replace("Linear(3, 2)", "LazyLinear(2)"), "lazy layer", "model.py:3"),
        (
            MODEL.replace("torch.nn", "torch.jit.script(torch.nn").replace("2)", "2))"),
            "TorchScript",
            "model.py:3",
        ),
        (
            MODEL.replace("Linear(3, 2)", "LazyBatchNorm1d(affine=False)"),
            "lazy layer that has seen no input yet (buffer",
            "model.py:3",
        ),
        (
            MODEL.replace("(3, 2)", "(3, 2, device='meta')"),
            "parameter 'weight' has no values",
            "model.py:3",
        ),
        (
            MODEL.replace("1, 3)", "1, 3, device='meta')"),
            "ModelInputs[0] has no values",
            "model.py:4",
        ),
        (
            MODEL + "with FakeTensorMode():\n    CalibrationInputs = [torch.ones(1, 3)]\n",
            "CalibrationInputs[0], input 0 has no values",
            "model.py:6",
        ),
        (MODEL + QUANTIZED_IN_PLACE, "'weight' is a tensor of torchao", "model.py:3"),
        (
            MODEL + QUANTIZED_BY_MODULES,
            "'0' is a quantized module of torch.ao (Linear)",
            "model.py:7",
        ),
        (MODEL + "CalibrationInputs = 3\n", "must be an iterable", "model.py:5"),
        (MODEL + "CalibrationInputs = []\n", "no samples", "model.py:5"),
        (MODEL + "CalibrationInputs = [(torch.ones(1, 4),)]\n", "is 1x4 float32", "model.py:5"),
        (MODEL + "CalibrationInputs = [(torch.ones(1, 3), 1)]\n", "has 2 inputs", "model.py:5"),
        (MODEL + "CalibrationInputs = ['a']\n", "must be a tensor, not str", "model.py:5"),
        (
            MODEL + "CalibrationInputs = [torch.ones(1, 3), torch.ones(1, 3) * float('nan')]\n",
            "CalibrationInputs[1] contains NaN",
            "model.py:5",
        ),
        (
            MODEL + "CalibrationInputs = [torch.ones(1, 3) * float('inf')]\n",
            "infinite values",
            "model.py:5",
        ),
        (
            MODEL
            + "def CalibrationInputs():\n    yield torch.ones(1, 3)\n    raise OSError('gone')",
            "OSError: gone",
            "model.py:7",
        ),
        (MODEL + "EvaluationInputs = [torch.ones(1, 3)]\n", "must be a pair", "model.py:5"),
        (MODEL + "EvaluationInputs = [(torch.ones(1, 3), 'a')]\n", "an integer", "model.py:5"),
        (
            MODEL + "EvaluationInputs = (torch.ones(4, 3), torch.ones(3).int())\n",
            "4 inputs and 3 labels",
            "model.py:5",
        ),
    ],
)
def test_refused(tmp_path: Path, text: str | bytes, message: str, where: str) -> None:
    error = failure(tmp_path, text)
    assert message in error.message
    assert error.where == where


@pytest.mark.parametrize("way", PREPARED)
def test_prepared_and_not_converted(tmp_path: Path, way: str) -> None:
    error = failure(tmp_path, MODEL + PREPARED[way])
    assert "is prepared for quantization, but not converted" in error.message
    assert "give the model on floats" in error.hint and "convert_pt2e" in error.hint


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(CortexMError, match="not found"):
        load_model(tmp_path / "absent.py")
    with pytest.raises(CortexMError, match="cannot read"):
        load_model(tmp_path)


def test_calibration_files(tmp_path: Path) -> None:
    samples = np.arange(6, dtype=np.float32).reshape(2, 1, 3)
    np.savez(tmp_path / "c.npz", in_0=samples)
    np.save(tmp_path / "c.npy", samples[:, 0])
    torch.save([(torch.from_numpy(samples[0]),)], tmp_path / "c.pt")
    torch.save((torch.from_numpy(samples[0]),), tmp_path / "one.pt")
    for name, count in {"c.npz": 2, "c.npy": 2, "c.pt": 1, "one.pt": 1}.items():
        loaded = load(tmp_path, MODEL, calibration=tmp_path / name)
        assert loaded.calibration is not None
        assert len(loaded.calibration) == count
        assert np.array_equal(loaded.calibration[0][0].numpy(), samples[0])
        assert str(tmp_path / name) in loaded.dependencies


def test_calibration_folder(tmp_path: Path) -> None:
    """As aot_arm_compiler's --calibration_data takes it: all samples below a folder, by name."""
    folder = tmp_path / "data"
    (folder / "more").mkdir(parents=True)
    torch.save((torch.full((1, 3), 2.0),), folder / "b.pt")
    torch.save((torch.full((1, 3), 1.0),), folder / "a.pt")
    np.save(folder / "more" / "c.npy", np.full((2, 1, 3), 3.0, np.float32))
    (folder / "notes.txt").write_text("not a sample")
    loaded = load(tmp_path, MODEL, calibration=folder)
    assert loaded.calibration is not None
    assert [float(x[0, 0]) for (x,) in loaded.calibration] == [1.0, 2.0, 3.0, 3.0]
    assert {str(folder / "a.pt"), str(folder / "more" / "c.npy")} <= set(loaded.dependencies)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "has no calibration files" in failure(tmp_path, MODEL, calibration=empty).message


def test_bad_calibration_files(tmp_path: Path) -> None:
    (tmp_path / "c.npz").write_bytes(b"PK not really")
    (tmp_path / "c.pt").write_bytes(b"not really")
    (tmp_path / "c.txt").write_text("1 2 3")
    np.savez(tmp_path / "other.npz", x=np.zeros((1, 1, 3), np.float32))
    np.save(tmp_path / "nan.npy", np.full((2, 1, 3), np.nan, np.float32))
    for name, message in {
        "c.npz": "cannot read",
        "c.pt": "cannot read",
        "c.txt": "unknown kind",
        "other.npz": "lacks in_0",
        "nan.npy": "contains NaN",
        "absent.npy": "not found",
    }.items():
        assert message in failure(tmp_path, MODEL, calibration=tmp_path / name).message


def test_dependencies(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    (tmp_path / "helper.py").write_text("SIZE = 3\n")
    (tmp_path / "data.txt").write_text("1\n")
    (tmp_path / "untouched.txt").write_text("1\n")
    torch.save({"x": torch.ones(3)}, tmp_path / "w.pt")
    np.save(tmp_path / "n.npy", np.zeros(3))
    save_file({"x": torch.ones(3)}, tmp_path / "w.safetensors")
    save_file({"x": torch.ones(3)}, tmp_path / "v.safetensors")
    text = """
import linecache
import os
import traceback
import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import load_file
from helper import SIZE
HERE = os.path.dirname(__file__)
open(os.path.join(HERE, "data.txt")).read()
open(os.path.join(HERE, "written.txt"), "w").write("x")
torch.load(os.path.join(HERE, "w.pt"))
np.load(os.path.join(HERE, "n.npy"))
load_file(os.path.join(HERE, "w.safetensors"))
with safe_open(os.path.join(HERE, "v.safetensors"), framework="pt") as f:
    f.keys()
linecache.clearcache()
traceback.format_stack()  # opens the sources of every caller, as libraries do
ModelUnderTest = torch.nn.Linear(SIZE, 2)
ModelInputs = (torch.ones(1, SIZE),)
"""
    loaded = load(tmp_path, text)
    mine = {os.path.relpath(p, tmp_path) for p in loaded.dependencies if str(tmp_path) in p}
    expected = {"data.txt", "helper.py", "model.py", "n.npy"}
    assert mine == expected | {"v.safetensors", "w.pt", "w.safetensors"}
    assert user_files(loaded) == tuple(sorted(mine))
    names = [os.path.join(*Path(p).parts[-2:]) for p in loaded.dependencies]
    assert os.path.join("torch", "version.py") in names
    assert os.path.join("executorch", "version.py") in names
    assert os.path.join("load", "model_file.py") in names


class Lazy(types.ModuleType):
    """A module that is imported where it is asked for something, and cannot be."""

    def __getattr__(self, name: str) -> object:
        raise ImportError(f"no module for {name}")


def test_modules_that_cannot_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "a_library.lazy", Lazy("a_library.lazy"))
    (tmp_path / "helper.py").write_text("SIZE = 3\n")
    loaded = load(
        tmp_path,
        "import torch\nfrom helper import SIZE\nModelUnderTest = torch.nn.Linear(SIZE, 2)\n"
        "ModelInputs = (torch.ones(1, SIZE),)\n",
    )
    assert str(tmp_path / "helper.py") in loaded.dependencies


def test_helpers_of_the_same_name(tmp_path: Path) -> None:
    sizes = []
    for size in (3, 4):
        folder = tmp_path / str(size)
        folder.mkdir()
        (folder / "helper.py").write_text(f"SIZE = {size}\n")
        text = MODEL.replace("Linear(3", "Linear(SIZE").replace("(1, 3)", "(1, SIZE)")
        loaded = load(folder, "from helper import SIZE\n" + text)
        sizes.append(loaded.example_inputs[0].shape[1])
        assert str(folder / "helper.py") in loaded.dependencies
    assert sizes == [3, 4]


SCRIPT = """
import argparse
import torch
from parts.sizes import SIZE
parser = argparse.ArgumentParser()
parser.add_argument("--outputs", type=int, default=2)
class Net(torch.nn.Module):
    def forward(self, x):
        import late
        late.run()
        return x[:, :parser.parse_args().outputs]
ModelUnderTest = Net()
ModelInputs = (torch.ones(1, SIZE),)
"""


def test_surroundings_of_a_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words of the command are not its own; modules lie beside it or in the working folder, also for what the
    model imports when it is called; and what ends Python ends in a sentence."""
    (tmp_path / "models").mkdir()
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "sizes.py").write_text("SIZE = 3\n")
    (tmp_path / "models" / "late.py").write_text("def run():\n    pass\n")
    path = tmp_path / "models" / "model.py"
    path.write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    before = sys.argv, list(sys.path)
    monkeypatch.setattr(sys, "argv", words := ["cortexm", "compile", "--outputs=9"])
    program = load_program(path, name="net", target=Target.parse("cortex-m55"), quantization=None)
    graph = program.graph()
    assert graph.tensors[graph.outputs[0]].shape == (1, 2)
    assert str(tmp_path / "parts" / "sizes.py") in program.dependencies
    (tmp_path / "models" / "late.py").write_text("def run():\n    raise SystemExit(0)\n")
    sys.modules.pop("late")
    with pytest.raises(CortexMError, match="ends the program: SystemExit: 0") as ended:
        load_program(path, name="net", target=Target.parse("cortex-m55"))
    assert ended.value.where == "late.py:2" and "__main__" in ended.value.hint
    sys.modules.pop("late")
    assert sys.argv is words and sys.path == before[1]


NESTED = """
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = torch.nn.LSTM(3, 4, batch_first=True)
    def forward(self, x, state=None, *, scale=1.0, bias=None):
        y, state = self.rnn(x, state)
        y = y * scale
        return y if bias is None else y + bias
ModelUnderTest = Net()
x = torch.ones(1, 2, 3)
h = torch.ones(1, 1, 4)
"""


@pytest.mark.parametrize(
    ("inputs", "sample", "shapes"),
    [
        ("(x, (h, 2 * h))", "(2 * x, (h, 3 * h))", [(1, 2, 3), (1, 1, 4), (1, 1, 4)]),
        ("(x, None)", "(2 * x, None)", [(1, 2, 3)]),
        ("{'x': x, 'scale': 2.0}", "{'label': 1, 'x': 2 * x}", [(1, 2, 3)]),
        (
            "{'bias': h[0], 'x': x, 'state': None}",
            "{'x': 2 * x, 'bias': h[0]}",
            [(1, 4), (1, 2, 3)],
        ),
        ("{'x': x, 'state': [h, h]}", "(2 * x, h, h)", [(1, 2, 3), (1, 1, 4), (1, 1, 4)]),
    ],
)
def test_inputs_by_name_and_in_nests(
    tmp_path: Path, inputs: str, sample: str, shapes: list[tuple[int, ...]]
) -> None:
    text = f"{NESTED}ModelInputs = {inputs}\nCalibrationInputs = [{sample}] * 2\n"
    loaded = load(tmp_path, f"{text}EvaluationInputs = [({sample}, 3)]\n")
    assert [tuple(x.shape) for x in loaded.example_inputs] == shapes
    assert [name for name, _ in loaded.module.named_children()] == ["rnn"]
    names: dict[str, object] = {}
    exec(f"{NESTED}given = {inputs}", names)
    model, given = loaded.module, names["given"]
    original = names["Net"]()  # type: ignore[operator]
    original.load_state_dict(model.state_dict())
    want = original(**given) if isinstance(given, dict) else original(*given)  # type: ignore[misc]
    assert torch.equal(model(*loaded.example_inputs), want)
    assert loaded.calibration is not None
    assert loaded.evaluation is not None
    place = shapes.index((1, 2, 3))
    for found in (loaded.calibration[1][place], torch.tensor(loaded.evaluation.inputs[place][0])):
        assert torch.equal(found, torch.full((1, 2, 3), 2.0))


OWN_CALLS = """
def CalibrationInputs():
    state, steps = (h, h), torch.optim.SGD(ModelUnderTest.parameters(), 0.01)
    for _ in range(4):
        yield x, state
        y, state = ModelUnderTest.rnn(ModelUnderTest(x, state), state)
        y.sum().backward()
        steps.step()
        state = tuple(each.detach() for each in state)
        ModelUnderTest.train()
EvaluationInputs = [((x, (h, h)), int(ModelUnderTest(x, (h, h)).argmax()))]
"""


def test_its_own_code_calls_and_trains_the_model(tmp_path: Path) -> None:
    """As it could in Python: with its own arguments, gradients and mode, until all of the file is read."""
    text = NESTED.replace("LSTM(3, 4", "LSTM(3, 3").replace("1, 1, 4", "1, 1, 3")
    loaded = load(tmp_path, text + "ModelInputs = (x, (h, h))\n" + OWN_CALLS)
    assert loaded.calibration is not None and loaded.evaluation is not None
    states = [tuple(sample[1].flatten().tolist()) for sample in loaded.calibration]
    assert len(set(states)) == 4
    assert loaded.evaluation.labels.shape == (1,)
    assert not loaded.module.training
    assert not any(weight.requires_grad for weight in loaded.module.parameters())
    assert loaded.module(*loaded.example_inputs).shape == (1, 2, 3)


def test_samples_of_another_form(tmp_path: Path) -> None:
    text = NESTED + "ModelInputs = {'x': x, 'state': (h, h)}\nCalibrationInputs = [{'x': x}]\n"
    assert "has 1 inputs, the model has 3" in failure(tmp_path, text).message


def test_inputs_by_name_of_a_graph(tmp_path: Path) -> None:
    text = NESTED + "ModelUnderTest = torch.fx.symbolic_trace(torch.nn.Linear(3, 2))\n"
    loaded = load(tmp_path, text + "ModelInputs = {'input': x}\n")
    assert loaded.module(*loaded.example_inputs).shape == (1, 2, 2)

# SPDX-License-Identifier: Apache-2.0
"""Programs of ExecuTorch's own tools enter here, and their users' options work."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from cortexm_tools import CortexMError, cli, compile_model, lower_model
from cortexm_tools.compile import CompileOptions, compile_program
from cortexm_tools.frontend.load.builtin import builtin_file, builtin_names, model_files
from cortexm_tools.frontend.load.examples import load_example
from cortexm_tools.frontend.load.model_file import load_model
from cortexm_tools.frontend.quiet import import_executorch, quiet
from cortexm_tools.program import load_program
from cortexm_tools.pte.bundle import parse_bundle
from cortexm_tools.run.command import RunRequest, run_program
from cortexm_tools.run.emulator import run_image
from cortexm_tools.target import Target

ROOT = Path(__file__).resolve().parents[2]
TINY = Path(__file__).with_name("tiny.py")
HOST = CompileOptions(target=Target.parse("host"))

# One worker imports executorch once for all of them.
pytestmark = pytest.mark.xdist_group("executorch-tools")


def test_bundle_of_aot_arm_compiler_becomes_firmware(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own command line, then ours: cortexm_add_model(net.bpte)."""
    bundle = tmp_path / "net.bpte"
    words = ["-m", str(TINY), "-t", "cortex-m55", "--quantize", "--bundleio", "-o", str(bundle)]
    module = "executorch.backends.arm.scripts.aot_arm_compiler"
    import_executorch()
    monkeypatch.setattr(sys, "argv", [module, *words])
    with quiet():
        runpy.run_module(module, run_name="__main__")
    source = ROOT / "tests" / "cmake" / "bundle"
    build = tmp_path / "build"
    definitions = {
        "CortexMModel_DIR": ROOT / "cmake",
        "CORTEXM_BOARD": "mps3-an547",
        "CORTEXM_PYTHON": sys.executable,
        "MODEL": bundle,
    }
    options = [f"-D{key}={value}" for key, value in definitions.items()]
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    for command in (
        ["cmake", "-G", "Ninja", "-S", str(source), "-B", str(build), *options],
        ["cmake", "--build", str(build)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, env=kept)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "test vectors pass" not in done.stdout + done.stderr  # nothing to warn of
    said = run_image("mps3-an547", build / "app.elf", build, timeout=60)
    assert "1 of 1 passed" in said and "spoilt: noticed" in said


@pytest.mark.parametrize("explicit", [False, True])
def test_program_of_the_notebook_flow(explicit: bool, tmp_path: Path) -> None:
    """The calls of ExecuTorch's examples/arm/cortex_m_mv2_example.ipynb, on a small network.

    `explicit` is what aot_arm_compiler's --cortex-m-explicit-layout does: inputs stay NCHW.
    """
    import_executorch()
    with quiet():
        from executorch.backends.cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
        from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
        from executorch.devtools import BundledProgram
        from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
        from executorch.devtools.bundled_program.serialize import (
            serialize_from_bundled_program_to_flatbuffer,
        )
        from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge
        from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

        loaded = load_model(TINY)
        image = loaded.example_inputs[0]
        if not explicit:
            image = image.to(memory_format=torch.channels_last)
        exported = torch.export.export(loaded.module, (image,))
        quantizer = CortexMQuantizer(use_explicit_layout=explicit)
        # PyTorch leaves guards out by itself where "executorch" is in the caller's path.
        prepared = prepare_pt2e(exported.module(check_guards=False), quantizer)
        prepared(image)
        quantized = torch.export.export(convert_pt2e(prepared), (image,))
        config = EdgeCompileConfig(
            preserve_ops=[torch.ops.aten.linear.default, torch.ops.aten.hardswish.default],
            _check_ir_validity=False,
            _core_aten_ops_exception_list=[torch.ops.aten.max_pool2d.default],
        )
        edge = to_edge(quantized, compile_config=config)
        manager = CortexMPassManager(edge.exported_program(), use_explicit_layout=explicit)
        edge._edge_programs["forward"] = manager.transform()
        reference = edge.exported_program().module()(image).detach().numpy()
        program = edge.to_executorch(
            config=ExecutorchBackendConfig(extract_delegate_segments=False)
        )
        case = MethodTestCase(inputs=image, expected_outputs=None)
        bundled = BundledProgram(program, [MethodTestSuite("forward", [case])])
        data = serialize_from_bundled_program_to_flatbuffer(bundled)
    (tmp_path / "net.bpte").write_bytes(data)
    compiled = compile_program(
        load_program(tmp_path / "net.bpte", name="net", target=HOST.target), HOST
    )
    report = run_program(compiled, RunRequest(outputs=tmp_path / "out.npz"))
    assert report.passed and report.data["test_vectors"]["total"] == 0
    with np.load(tmp_path / "out.npz") as stored:
        np.testing.assert_array_equal(stored["out_0"][0], reference)


def test_options_of_aot_arm_compiler(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle, stages = tmp_path / "out" / "tiny_net.bpte", tmp_path / "stages"
    words = ["-m", TINY, "-t", "cortex-m55+int8", "--quantize", "-i", stages, "-o", bundle]
    assert cli.main(["compile", *map(str, words), "--bundleio", "--name", "tiny"]) == 0
    said = capsys.readouterr().out
    assert "nodes  7 cortex_m nodes" in said
    assert "cortex_m::quantized_depthwise_conv2d.out      1" in said
    names = {path.name for path in bundle.parent.iterdir()}
    assert {"tiny.c", "tiny.h", "tiny.pte", "tiny.bpte", "tiny_net.bpte"} <= names
    found = {path.name.split(".", 1)[1]: path.read_text() for path in stages.iterdir()}
    assert "torch.ops.aten.conv2d" in found["1.exported.py"]
    assert "quantize_per_tensor" in found["2.quantized.py"]
    assert "cortex_m_quantized_conv2d" in found["3.lowered.py"]
    assert "depthwise" in found["5.graph.txt"] and "depthwise" in found["6.simplified.txt"]
    assert "live RAM" in found["7.plan.txt"]
    (vector,) = parse_bundle(bundle.read_bytes()).suites["forward"]
    np.testing.assert_array_equal(vector.inputs[0], load_model(TINY).example_inputs[0].numpy())
    assert cli.main(["run", "--host", str(bundle), "--name", "tiny"]) == 0
    assert "test vectors: 1 of 1 passed" in capsys.readouterr().out
    # Without quantization, and a saved module with inputs of its own.
    torch.save((torch.ones(1, 3, 12, 12),), tmp_path / "in.pt")
    more = ["--model_input", str(tmp_path / "in.pt"), "-o", str(tmp_path / "float")]
    assert cli.main(["compile", str(TINY), "--no-quantize", *more]) == 0
    assert "float" in capsys.readouterr().out
    module = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU())
    torch.save(module, tmp_path / "saved.pt")
    assert cli.main(["compile", str(tmp_path / "saved.pt"), *more]) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["mv4"], "did you mean 'mv"),
        (["mv2", "-t", "ethos-u55-128"], "is not a Cortex-M core"),
        (["mv2", "-t", "cortex-m56"], "unknown CPU 'cortex-m56'"),
        (["mv2", "-o", "x.bpte"], "contradicts the lack of --bundleio"),
        (["mv2", "-o", "x.pte", "--bundleio"], "contradicts --bundleio"),
        (["resnet18"], "needs the Python package 'torchvision'"),
        ([str(TINY), "--model_input", "none.pt"], "no such file"),
        ([str(TINY), "--model_input", str(TINY)], "cannot load"),
    ],
)
def test_refusals(
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["compile", *words]) == 1
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_bundle_needs_inputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pte = ROOT / "tests" / "data" / "digits" / "digits.pte"
    assert cli.main(["compile", str(pte), "--bundleio", "--out", str(tmp_path / "o")]) == 1
    assert "has no example inputs" in capsys.readouterr().err


def test_builtin_models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert {"mv2", "mv3", "ds_cnn", "resnet8", "linear", "lstm"} <= set(builtin_names())
    assert builtin_file("ds_cnn") is None  # the executorch wheel's
    assert builtin_file("mv2_untrained") == builtin_file("mv2")
    assert builtin_file("mobilenet_v2") == model_files()["mobilenet_v2"]
    monkeypatch.setenv("CORTEXM_IMAGE_SIZE", "32")
    for name in ("mv2", "mv3"):
        file = builtin_file(name)
        assert file is not None
        assert tuple(load_model(file).example_inputs[0].shape) == (1, 3, 32, 32)
    # One of the wheel's with nested inputs.
    lstm = load_example("lstm")
    assert len(lstm.example_inputs) == 3
    assert lstm.module(*lstm.example_inputs)[0].shape[:2] == lstm.example_inputs[0].shape[:2]


def test_a_module_of_the_caller(tmp_path: Path) -> None:
    """cortexm_tools.lower_model() and compile_model(): the module stays as it is, wrong inputs are named."""
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(16, 4), torch.nn.Dropout())
    x = np.zeros((1, 4, 4), np.float32)
    samples = [(torch.rand(1, 4, 4) - 0.5,) for _ in range(4)]
    for given, hint in (
        ({"model": net}, "example_inputs=("),
        ({"model": lambda x: x, "example_inputs": x}, "nn.Module"),
    ):
        with pytest.raises(CortexMError) as caught:
            compile_model(**given)
        assert hint in caught.value.hint
    with pytest.raises(CortexMError, match=r"calibration\[0\], input 0 is 3 float32"):
        compile_model(net, x, calibration=[torch.zeros(3)])
    said: list[str] = []
    labelled = [(sample, 1) for sample in samples]
    program = lower_model(net, x, calibration=samples, evaluation=labelled, progress=said.append)
    assert said and net.training and all(p.requires_grad for p in net.parameters())
    outputs = []
    for cpu in ("cortex-m55", "cortex-m0"):
        model = compile_model(program, cpu=cpu)
        assert "cortexm compile model --cpu " + cpu in str(model.files["model.c"])
        outputs.append(model(samples[0][0])[0])
    assert outputs[0].tobytes() == outputs[1].tobytes()
    wanted = net.eval()(samples[0][0]).detach().numpy()
    assert np.abs(outputs[0] - wanted).max() < 0.05

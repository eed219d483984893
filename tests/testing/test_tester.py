# SPDX-License-Identifier: Apache-2.0
"""CortexMTester: ExecuTorch's tester interface on emulated boards, and its own tests through it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from cortexm_tools.frontend.quiet import import_executorch, quiet
from cortexm_tools.target import Core, Isa

ROOT = Path(__file__).resolve().parents[2]
CORES = ("cortex-m0", "cortex-m3", "cortex-m4", "cortex-m55")

import_executorch()
with quiet():
    from executorch.backends.cortex_m.target_config import CortexMTargetConfig
    from executorch.backends.test.harness.stages import StageType

    from cortexm_tools.testing import CortexMTester

pytestmark = pytest.mark.xdist_group("executorch-tester")


def linear() -> CortexMTester:
    torch.manual_seed(0)
    return CortexMTester(torch.nn.Linear(12, 5), (torch.randn(3, 12),))


def test_chain_of_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORTEXM_TEST_CPU", "host")
    tester = linear().quantize().export().to_edge().run_passes()
    tester.check_count({"executorch_exir_dialects_edge__ops_cortex_m_quantized_linear_default": 1})
    tester.to_executorch().serialize().run_method_and_compare_outputs(qtol=1)
    # A device that computes something else is noticed.
    stage = tester.stages[StageType.SERIALIZE]
    right = stage.run_artifact
    stage.run_artifact = lambda inputs: [value + 1.0 for value in right(inputs)]
    with pytest.raises(AssertionError, match="does not match"):
        tester.run_method_and_compare_outputs(qtol=1)


def test_dialect_and_implementation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORTEXM_TEST_CPU", "host")
    prefix = "executorch_exir_dialects_edge__ops_"
    before = {f"{prefix}aten_linear_default": 1}
    linear().test_dialect(before, {f"{prefix}cortex_m_quantized_linear_default": 1}, qtol=1)
    linear().test_implementation(qtol=1)


def test_choice_of_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    def core(**arguments: object) -> tuple[Core, Isa]:
        tester = CortexMTester(torch.nn.ReLU(), (torch.ones(1),), **arguments)
        target = tester.stage_classes[StageType.SERIALIZE]().target
        return target.core, target.isa

    m3 = CortexMTargetConfig.from_target_string("cortex-m3")
    monkeypatch.delenv("CORTEXM_TEST_CPU", raising=False)
    assert core() == (Core.M55, Isa.MVE)
    assert core(target_config=m3) == (Core.M3, Isa.SCALAR)
    monkeypatch.setenv("CORTEXM_TEST_CPU", "cortex-m4")
    assert core(target_config=m3) == (Core.M4, Isa.DSP)
    assert core(cpu="cortex-m0") == (Core.M0, Isa.SCALAR)


def test_executorchs_own_tests_on_four_cores(tmp_path: Path) -> None:
    """Files of the executorch wheel, unchanged; on the emulated boards by the plugin alone."""
    spec = find_spec("executorch")
    assert spec is not None and spec.submodule_search_locations
    folder = Path(list(spec.submodule_search_locations)[0]) / "backends" / "cortex_m" / "test"
    files = [folder / "ops" / f"test_{name}.py" for name in ("linear", "maximum", "conv", "div")]
    cases = "linear_rank1 or (maximum and tensor_small) or conv2d_bias_ch_out_1"
    cases += " or (implementation_div and m0 and broadcast_1 and not int16)"
    command = [sys.executable, "-m", "pytest", "-p", "cortexm_tools.testing.plugin", "-rA"]
    command += ["-p", "no:cacheprovider", "-c", os.devnull, "-k", f"implementation and ({cases})"]
    command += [word for core in CORES for word in ("--cortex-m-target", core)]
    environment = {k: v for k, v in os.environ.items() if k != "CORTEXM_TEST_CPU"}
    environment["PYTHONPATH"] = str(ROOT / "python")
    done = subprocess.run(
        [*command, *map(str, files)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    passed = re.findall(r"^PASSED .*test_(implementation_\w+)\[(cortex-m\d+)-", done.stdout, re.M)
    assert {cpu for _, cpu in passed} == set(CORES)
    assert len({test for test, _ in passed}) == 3 and len(passed) >= 12
    # ExecuTorch expects its own device code to fail here.
    assert re.search(
        r"^XPASS .*test_implementation_div\[cortex-m0-broadcast_1\]", done.stdout, re.M
    )

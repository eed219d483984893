# SPDX-License-Identifier: Apache-2.0
"""`CortexMTester`: ExecuTorch's tester of the same name, whose last stage is this compiler.

ExecuTorch's own stages quantize, export and lower; `serialize` then compiles the program into C, and
running it builds an image and starts an emulated board of the target's core. Tests written for
ExecuTorch's tester run with this one unchanged; see plugin.py.
"""

from __future__ import annotations

import atexit
import os
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from executorch.backends.cortex_m.target_config import CortexMTargetConfig
from executorch.backends.cortex_m.test.tester import CortexMTester as ExecuTorchTester
from executorch.backends.test.harness.stages import Serialize, StageType
from torch.utils._pytree import tree_leaves

from ..compile import Compiled, CompileOptions, compile_program, write_compiled
from ..ir.interpreter import run_graph
from ..ir.memory import from_memory, memory_bytes
from ..program import Program
from ..pte.vectors import fit_input
from ..run import run_on_core, run_on_host
from ..target import Core, Target

# The core of testers that are given none, and that replaces the one they are given.
CPU_VARIABLE = "CORTEXM_TEST_CPU"
_NAME = "tested"


def default_cpu() -> str | None:
    """The core that the environment chooses, e.g. ``cortex-m4``; None if it does not."""
    return os.environ.get(CPU_VARIABLE) or None


@cache
def _work_folder() -> Path:
    """One folder for the images of this process: kernels that were compiled once serve again."""
    folder = tempfile.TemporaryDirectory(prefix="cortexm-testing-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


class EmulatedSerialize(Serialize):  # type: ignore[misc]
    """The stage behind `to_executorch()`: the program as C on an emulated board.

    Args:
        target: core and instruction set to compile for; ``host`` runs on this machine.
        timeout: seconds of emulation.
    """

    def __init__(self, target: Target, timeout: float = 120.0) -> None:
        super().__init__()
        self.target = target
        self.timeout = timeout

    def run_artifact(self, inputs: Any) -> list[torch.Tensor]:
        """The outputs of one invocation.

        Raises:
            CortexMError: an operator has no kernel, a tool is missing, or the image fails.
            AssertionError: the device and the reference interpreter disagree.
        """
        program = Program(_NAME, bytes(self.buffer))
        compiled = compile_program(program, CompileOptions(self.target))
        graph = compiled.plan.graph
        arrays = [
            fit_input(graph.tensors[index], value, f"input {k}")
            for k, (index, value) in enumerate(
                zip(graph.inputs, _arrays(inputs, len(graph.inputs)), strict=True)
            )
        ]
        packed = [
            memory_bytes(value, graph.tensors[index].dim_order)
            for index, value in zip(graph.inputs, arrays, strict=True)
        ]
        raw = self._execute(compiled, packed)
        tensors = [graph.tensors[index] for index in graph.outputs]
        outputs = [
            from_memory(data, tensor.dtype.numpy, tensor.shape, tensor.dim_order)
            for data, tensor in zip(raw, tensors, strict=True)
        ]
        for number, (got, want) in enumerate(zip(outputs, run_graph(graph, arrays), strict=True)):
            assert np.allclose(got, want, rtol=1e-5, atol=1e-6, equal_nan=True), (
                f"output {number} differs between {self.target} and the reference interpreter"
            )
        return [torch.from_numpy(np.array(value)) for value in outputs]

    def _execute(self, compiled: Compiled, packed: list[bytes]) -> list[bytes]:
        folder = _work_folder()
        model = folder / "model"
        write_compiled(compiled, model)
        if self.target.core is Core.HOST:
            return run_on_host(model, _NAME, [packed], folder).outputs[0]
        result = run_on_core(
            model,
            _NAME,
            self.target.core,
            [packed],
            folder,
            isa=self.target.isa,
            timeout=self.timeout,
        )
        return result.outputs[0]


def _arrays(inputs: Any, count: int) -> list[Any]:
    """The leaves of `inputs` that are inputs of the program: all, or the tensors among them."""
    leaves = tree_leaves(inputs)
    if len(leaves) != count:
        leaves = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    return [
        leaf.detach().contiguous().numpy() if isinstance(leaf, torch.Tensor) else np.asarray(leaf)
        for leaf in leaves
    ]


class CortexMTester(ExecuTorchTester):  # type: ignore[misc]
    """ExecuTorch's CortexMTester on emulated boards.

    Args:
        module: the model.
        example_inputs: its inputs, or a callable that makes them.
        target_config: ExecuTorch's description of the core; by default CORTEXM_TEST_CPU, or the
            Cortex-M55. CORTEXM_TEST_CPU=host runs on this machine.
        timeout: seconds of emulation.
        cpu: the core by name, e.g. ``cortex-m4``; comes before all else.
    """

    def __init__(
        self,
        module: torch.nn.Module,
        example_inputs: Any,
        target_config: CortexMTargetConfig | None = None,
        timeout: int = 120,
        *,
        cpu: str | None = None,
    ) -> None:
        cpu = cpu or default_cpu()
        on_host = cpu == "host"
        if cpu is not None:
            target_config = CortexMTargetConfig.from_target_string("cortex-m0" if on_host else cpu)
        target_config = target_config or CortexMTargetConfig.from_target_string("cortex-m55")
        super().__init__(module, example_inputs, target_config, timeout)
        isa = target_config.backend.name.lower()
        target = Target.parse("host") if on_host else Target.parse(target_config.target_string, isa)
        self.stage_classes[StageType.SERIALIZE] = lambda: EmulatedSerialize(target, timeout)

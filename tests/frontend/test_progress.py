# SPDX-License-Identifier: Apache-2.0
"""Lowering says how far it is: its stages, the calibration samples, the layers that are rounded."""

from __future__ import annotations

import torch

from cortexm_tools.options.precision import parse_quantization
from cortexm_tools.program import program_of_module
from cortexm_tools.progress import listening
from cortexm_tools.target import Target

from tests.cli.test_progress import Recorder


def test_stages_samples_and_layers_are_told() -> None:
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4))
    samples = [(torch.randn(1, 8),) for _ in range(12)]
    heard = Recorder()
    with listening(heard):
        program = program_of_module(
            module,
            samples[0],
            name="net",
            target=Target.parse("cortex-m4"),
            calibration=samples,
            quantization=parse_quantization("a8w4", ""),
        )
    assert program.quality is not None
    totals = dict(heard.tasks)
    assert totals["lowering"] == 6 and totals["calibration"] == 12
    assert totals["comparison with the float model"] == 12
    assert totals["rounding of weights"] == 2
    stages = [(done, note) for what, done, note in heard.seen if what == "lowering"]
    assert [done for done, _ in stages] == [0, 1, 2, 3, 4, 5]
    assert stages[0] == (0, "quantization") and stages[-1] == (5, "serialization")
    for what, total in totals.items():
        if what != "lowering":
            assert (what, total, "") in heard.seen, what

# SPDX-License-Identifier: Apache-2.0
"""pymicro-wakeword's four networks, which keep states, give TFLM's bytes call after call."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.ir import Array, Graph
from cortexm_tools.ir.interpreter import run_sequence
from cortexm_tools.litert import LiteModel, parse_model, read_litert
from cortexm_tools.run.tflm import is_installed
from cortexm_tools.simplify import simplify

CALLS = 400
PACKAGE = find_spec("pymicro_wakeword")


def noise(shape: tuple[int, ...]) -> Array:
    """Spectra of noise that is loud, faint or silent for 20 calls: random codes alone leave the outputs 0."""
    random = np.random.default_rng(0)
    loudness = np.repeat(random.uniform(0, 160, CALLS // 20), 20).reshape(-1, *(1 for _ in shape))
    codes = random.gamma(1.0, loudness, (CALLS, *shape)) - 128
    return np.clip(codes, -128, 127).astype(np.int8)


def giving(model: LiteModel, tensors: list[int], monkeypatch: pytest.MonkeyPatch) -> Graph:
    """The graph whose outputs are these tensors of the file."""
    first, *others = model.subgraphs
    changed = replace(model, subgraphs=(replace(first, outputs=tuple(tensors)), *others))
    monkeypatch.setattr("cortexm_tools.litert.reader.parse_model", lambda data: changed)
    return read_litert(b"", name="net")


@pytest.mark.skipif(not is_installed(), reason="tflite-micro is not installed")
@pytest.mark.skipif(PACKAGE is None, reason="pymicro-wakeword is not installed")
@pytest.mark.parametrize("name", ["alexa", "hey_jarvis", "hey_mycroft", "okay_nabu"])
def test_every_tensor_of_every_call_equals_tflms(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tflite_micro.python.tflite_micro import runtime

    assert PACKAGE is not None and PACKAGE.origin
    data = (Path(PACKAGE.origin).parent / "models" / f"{name}.tflite").read_bytes()
    model = parse_model(data)
    network = model.subgraphs[0]
    computed = [n for each in network.operators for n in each.outputs if network.tensors[n].numel]
    every = [n for n in dict.fromkeys(computed) if network.tensors[n].type != "RESOURCE"]
    last = every[-3:]  # the score's operand, the score, and its codes in uint8
    inputs = noise(network.tensors[network.inputs[0]].shape)
    preserving = runtime.InterpreterConfig.kPreserveAllTensors
    tflm = runtime.Interpreter.from_bytes(data, arena_size=2**20, intrepreter_config=preserving)
    rows = [(row,) for row in inputs]
    found = run_sequence(giving(model, every, monkeypatch), rows)
    graph = simplify(giving(model, last, monkeypatch))
    assert len(graph.states) > 4
    scores = set()
    for (row,), tensors, outputs in zip(rows, found, run_sequence(graph, rows), strict=True):
        tflm.set_input(row, 0)
        tflm.invoke()
        expected = [tflm.GetTensor(number, 0)["tensor_data"] for number in every]
        for want, got in zip([*expected, *expected[-3:]], [*tensors, *outputs], strict=True):
            assert want.dtype == got.dtype and np.array_equal(want, got)
        assert np.array_equal(tflm.get_output(0), outputs[-1])
        scores.add(int(outputs[0].item()))
    assert len(scores) > 20

# SPDX-License-Identifier: Apache-2.0
"""Accuracy, and the evaluation set as a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.frontend.load.samples import Evaluation
from cortexm_tools.frontend.quantize.evaluate import accuracy, evaluation_npz, load_evaluation, top1
from cortexm_tools.ir import Array

SET = Evaluation((np.eye(3, dtype=np.float32)[:, None],), np.array([0, 1, 1]))


def test_accuracy() -> None:
    assert accuracy(Doubled(), SET) == pytest.approx(2 / 3)


class Doubled:
    """A model without state, and how often it was begun."""

    begun = 0

    def __call__(self, inputs: tuple[Array, ...], /) -> tuple[Array, ...]:
        assert self.begun == 1
        return (np.multiply(inputs[0], 2),)

    def reset(self) -> None:
        self.begun += 1


def test_top1_refuses_other_shapes() -> None:
    for scores in (np.zeros((2, 3)), np.zeros((0,)), np.zeros((3, 0))):
        with pytest.raises(CortexMError):
            top1(scores, SET.labels)


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "e.npz"
    path.write_bytes(evaluation_npz(SET))
    back = load_evaluation(path)
    assert np.array_equal(back.inputs[0], SET.inputs[0])
    assert np.array_equal(back.labels, SET.labels)
    path.write_bytes(b"nonsense")
    with pytest.raises(CortexMError, match="is not a .npz of plain arrays"):
        load_evaluation(path)
    np.savez(path, in_0=SET.inputs[0])
    with pytest.raises(CortexMError, match="not an evaluation set"):
        load_evaluation(path)

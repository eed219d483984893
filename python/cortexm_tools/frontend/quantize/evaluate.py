# SPDX-License-Identifier: Apache-2.0
"""Accuracy over a model file's labelled inputs, and that set as a file for other runners."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...arrays import npz_names, read_npz
from ...errors import CortexMError
from ...runner import Runner, run_in_order
from ..load.samples import Evaluation

Array = npt.NDArray[np.generic]


def top1(scores: Array, labels: Array) -> float:
    """The share of samples whose highest score is at the label.

    Args:
        scores: [n, …, classes] with one row per sample once flattened; ties go to the first.
        labels: [n].

    Raises:
        CortexMError: the scores are not one row per label.
    """
    if len(labels) == 0 or np.shape(scores)[:1] != (len(labels),) or np.size(scores) == 0:
        raise CortexMError("accuracy needs one row of scores for each label")
    rows = np.asarray(scores).reshape(len(labels), -1)
    return float(np.mean(np.argmax(rows, axis=1) == np.asarray(labels)))


def run_all(run: Runner, evaluation: Evaluation) -> Array:
    """The first output of `run` for every sample, in their order: [n, *output shape]."""
    rows = (tuple(stack[i] for stack in evaluation.inputs) for i in range(len(evaluation)))
    return np.stack([outputs[0] for outputs in run_in_order(run, rows)])


def accuracy(run: Runner, evaluation: Evaluation) -> float:
    """Top-1 accuracy of `run`, in [0, 1]; the samples are one sequence of calls."""
    return top1(run_all(run, evaluation), evaluation.labels)


def evaluation_npz(evaluation: Evaluation) -> bytes:
    """The set as the bytes of a .npz: in_0, in_1, … stacked, and labels."""
    arrays: dict[str, Array] = {f"in_{i}": stack for i, stack in enumerate(evaluation.inputs)}
    arrays["labels"] = evaluation.labels
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def load_evaluation(path: Path) -> Evaluation:
    """Read back what `evaluation_npz` made.

    Raises:
        CortexMError: not such a file.
    """
    names = [name for name in npz_names(path) if re.fullmatch(r"in_\d+", name)]
    arrays = read_npz(path, [*names, "labels"])
    inputs = [arrays.get(f"in_{i}") for i in range(len(names))]
    labels = arrays.get("labels")
    found = [value for value in inputs if value is not None]
    if labels is None or labels.dtype.kind not in "iu" or len(found) != len(inputs):
        raise CortexMError("not an evaluation set: it lacks labels or inputs", where=path.name)
    return Evaluation(tuple(found), labels.astype(np.int64))

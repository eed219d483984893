# SPDX-License-Identifier: Apache-2.0
"""A module that a program passes, in place of a model file."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_map

from ...errors import CortexMError
from .arguments import form_of
from .model_file import LoadedModel, check_module
from .samples import calibration_file, calibration_samples, evaluation_set, example_sample


def given_module(
    module: Any, example_inputs: Any, calibration: Any, evaluation: Any, name: str
) -> LoadedModel:
    """A copy of `module`, in eval mode, with its inputs; what the caller has stays as it is.

    Args:
        example_inputs: a tensor or an array, or one for each input, as the module takes them, in order or by
            name.
        calibration: samples of the same form, or a file or folder of them; None for the example.
        evaluation: labelled inputs as in a model file's EvaluationInputs; None for none.
        name: for messages.

    Raises:
        CortexMError: it is not a module, or an input does not fit.
    """
    if not isinstance(module, torch.nn.Module):
        raise CortexMError(
            f"a {type(module).__name__} is not a model",
            hint="give an nn.Module, a Program, or the path of a .py, .pt2, .pt, .pte or .bpte file",
        )
    check_module(module, name)
    if example_inputs is None:
        raise CortexMError(
            "a module comes without example inputs",
            where=name,
            hint="give them: example_inputs=(torch.zeros(1, 3, 96, 96),)",
        )
    model = copy.deepcopy(module).eval()
    form, inputs = form_of(tree_map(_as_tensor, example_inputs))
    model = form.taken_by(model.requires_grad_(False))
    with _words_of_the_caller():
        example = example_sample(inputs, name)
        samples = None
        if isinstance(calibration, (str, Path)):
            samples = calibration_file(Path(calibration), example)
        elif calibration is not None:
            samples = calibration_samples(form.samples(calibration), example, name)
        labelled = None
        if evaluation is not None:
            labelled = evaluation_set(form.labelled(evaluation), example, name)
    return LoadedModel(Path.cwd() / f"{name}.py", model, example, samples, labelled)


_WORDS = {
    "ModelInputs": "example_inputs",
    "CalibrationInputs": "calibration",
    "EvaluationInputs": "evaluation",
}


@contextmanager
def _words_of_the_caller() -> Iterator[None]:
    """Messages about a model file's names speak of the arguments instead."""
    try:
        yield
    except CortexMError as error:
        texts = [error.message, error.hint]
        for word, ours in _WORDS.items():
            texts = [text.replace(word, ours) for text in texts]
        raise CortexMError(texts[0], where=error.where, hint=texts[1]) from None


def _as_tensor(value: Any) -> Any:
    return torch.from_numpy(value) if isinstance(value, np.ndarray) else value

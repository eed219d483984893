# SPDX-License-Identifier: Apache-2.0
"""The example models of the executorch wheel, by their names in aot_arm_compiler."""

from __future__ import annotations

from pathlib import Path

import torch

from ...errors import CortexMError
from ..origin.places import first_line
from ..quiet import quiet
from .arguments import form_of
from .builtin import wheel_models
from .depend import tool_files
from .model_file import LoadedModel, seeded
from .samples import calibration_file, check_finite, example_sample


def load_example(name: str, calibration: Path | None = None) -> LoadedModel:
    """Builds a model of executorch.examples.models, with seeded weights where they are random.

    Raises:
        CortexMError: it needs a package that is missing, or cannot be built.
    """
    module_name, class_name = wheel_models()[name]
    try:
        with quiet(), seeded():
            from executorch.examples.models.model_factory import EagerModelFactory

            model, inputs, *_ = EagerModelFactory.create_model(module_name, class_name)
            model = model.eval()
    except ModuleNotFoundError as error:
        raise CortexMError(
            f"the example model needs the Python package {error.name!r}", where=name
        ) from None
    except (Exception, SystemExit) as error:
        raise CortexMError(
            f"executorch cannot build the example model: {first_line(error)}", where=name
        ) from error
    form, inputs = form_of(inputs)
    model = form.taken_by(model.requires_grad_(False))
    example = example_sample(inputs, name)
    check_finite(example, "the example input", name)
    assert isinstance(model, torch.nn.Module)
    path = Path.cwd() / f"{name}.py"
    samples = calibration_file(calibration, example) if calibration is not None else None
    return LoadedModel(path, model, example, samples, None, tool_files())

# SPDX-License-Identifier: Apache-2.0
"""Built-in model names, as ExecuTorch's aot_arm_compiler knows them: `mv2`, `mv3`, `ds_cnn`, ….

Names come from two places: the model files in `models/`, and the examples that the executorch wheel
brings (executorch.examples.models). Where both have a name, the executorch wheel's model is meant,
unless it needs torchvision.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from ...paths import PACKAGE

_FOLDER = PACKAGE / "models"
_HELPERS = {"seeded", "__init__"}

# torchvision's, and the files in models/ that stand in for them.
_OURS_FIRST = {"mv2": "mv2", "mv2_untrained": "mv2", "mv3": "mv3"}


def model_files() -> dict[str, Path]:
    """The model files of this package by name."""
    return {p.stem: p for p in sorted(_FOLDER.glob("*.py")) if p.stem not in _HELPERS}


def wheel_models() -> dict[str, tuple[str, str]]:
    """(module, class) below executorch.examples.models by name; empty without executorch."""
    if importlib.util.find_spec("executorch") is None:
        return {}
    try:
        from executorch.examples.models import MODEL_NAME_TO_MODEL
    except ImportError:
        return {}
    found: dict[str, tuple[str, str]] = dict(MODEL_NAME_TO_MODEL)
    return found


def builtin_names() -> list[str]:
    """All names, sorted."""
    return sorted({*model_files(), *wheel_models()})


def builtin_file(name: str) -> Path | None:
    """The model file behind a name, or None if the executorch wheel has the model."""
    if name in _OURS_FIRST:
        return model_files()[_OURS_FIRST[name]]
    if name in wheel_models():
        return None
    return model_files().get(name)

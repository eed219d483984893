# SPDX-License-Identifier: Apache-2.0
"""The files that hold a model, by their suffixes, and what to do with others."""

from __future__ import annotations

from pathlib import Path

PYTORCH = (".py", ".pt2")
PROGRAMS = (".pte", ".bpte", ".tflite")

_IDENTIFIERS = {b"TFL3": ".tflite", b"ET12": ".pte"}

_TO_LITERT = (
    "convert it to a .tflite, quantized: tf.lite.TFLiteConverter.from_keras_model(model), with a "
    "representative_dataset (docs/litert.md)"
)
_TO_PYTORCH = "write a model.py that builds the module and loads these weights (docs/pipeline.md)"

OTHERS = {
    ".onnx": "convert it to a .tflite, quantized (onnx2tf -oiqt), or to PyTorch (onnx2torch), and give "
    "that; docs/litert.md",
    ".keras": _TO_LITERT,
    ".h5": _TO_LITERT,
    ".hdf5": _TO_LITERT,
    ".pb": _TO_LITERT.replace("keras_model(model)", "saved_model(folder)"),
    ".ckpt": _TO_PYTORCH,
}
"""What to do with files that hold a model in another way."""


def kind_of(path: Path, head: bytes) -> str:
    """The suffix of a program: as its first bytes say, or else its name."""
    return _IDENTIFIERS.get(head[4:8], path.suffix)

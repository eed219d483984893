# SPDX-License-Identifier: Apache-2.0
"""Example inputs, calibration samples and evaluation sets: from what users write to one form.

A sample is a tuple of tensors, one per input of the model, of the example inputs' shapes and types.
A set may also come as one tensor per input with the samples stacked on a new first axis, or, where
the model's own batch size is 1, stacked along the batch axis.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch._subclasses.fake_tensor import FakeTensor

from ...arrays import read_npy, read_npz
from ...errors import CortexMError
from ..origin.places import first_line

Sample = tuple[torch.Tensor, ...]

MAX_CALIBRATION_SAMPLES = 1000

_CALIBRATION_KINDS = (".npz", ".npy", ".pt", ".pth")


@dataclass(frozen=True)
class Evaluation:
    """Labelled inputs.

    Attributes:
        inputs: one array per input of the model, shape [n, *input shape].
        labels: shape [n], the index of the right class.
    """

    inputs: tuple[npt.NDArray[np.generic], ...]
    labels: npt.NDArray[np.int64]


def _as_tensor(value: Any) -> torch.Tensor | None:
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, np.ndarray):
        try:
            return torch.from_numpy(np.asarray(value, order="C"))
        except TypeError:
            return None
    return None


def shape_text(shape: Iterable[int]) -> str:
    """``1x3x96x96``; "scalar" for no dimensions."""
    return "x".join(str(int(n)) for n in shape) or "scalar"


def type_text(dtype: torch.dtype) -> str:
    """``float16``."""
    return str(dtype).removeprefix("torch.")


def is_other_float(dtype: torch.dtype) -> bool:
    """Whether `dtype` is a floating-point type for which there are no kernels."""
    return dtype.is_floating_point and dtype != torch.float32


def check_values(tensor: torch.Tensor, what: str, where: str) -> None:
    """Raise CortexMError if `tensor` has a shape and a type, but no values."""
    if tensor.is_meta or isinstance(tensor, FakeTensor):
        raise CortexMError(
            f"{what} has no values: it is on the meta device, or made under FakeTensorMode",
            where=where,
            hint="make it outside of torch.device('meta') and FakeTensorMode, or give it its values: "
            "load_state_dict(…, assign=True)",
        )


def check_finite(sample: Sample, what: str, where: str) -> None:
    """Raise CortexMError if `sample` holds NaN or infinity."""
    for index, tensor in enumerate(sample):
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            kind = "NaN" if bool(torch.isnan(tensor).any()) else "infinite values"
            raise CortexMError(
                f"{what} contains {kind} (input {index})",
                where=where,
                hint="quantization takes its ranges from these values; they must be finite",
            )


def example_sample(value: Any, where: str) -> Sample:
    """ModelInputs as a sample.

    Raises:
        CortexMError: not a tuple of dense tensors, or not finite.
    """
    if isinstance(value, torch.Tensor):
        value = (value,)
    if not isinstance(value, (tuple, list)):
        raise CortexMError(
            f"ModelInputs must be a tuple of tensors, not {type(value).__name__}",
            where=where,
            hint="write for example: ModelInputs = (torch.rand(1, 3, 96, 96),)",
        )
    if not value:
        raise CortexMError("ModelInputs is empty", where=where)
    for index, item in enumerate(value):
        if not isinstance(item, torch.Tensor):
            raise CortexMError(
                f"ModelInputs[{index}] must be a tensor, not {type(item).__name__}", where=where
            )
        if item.layout != torch.strided or item.is_complex() or item.is_quantized:
            raise CortexMError(
                f"ModelInputs[{index}] must be a dense tensor of real numbers", where=where
            )
        check_values(item, f"ModelInputs[{index}]", where)
        if item.numel() == 0:
            raise CortexMError(f"ModelInputs[{index}] has no elements", where=where)
        if is_other_float(item.dtype):
            raise CortexMError(
                f"ModelInputs[{index}] is {type_text(item.dtype)}; inputs of real numbers are "
                "float32",
                where=where,
                hint="give the model and its inputs in float32, as .float() makes them",
            )
    sample = tuple(item.detach().cpu() for item in value)
    check_finite(sample, "ModelInputs", where)
    return sample


def _fit(tensor: torch.Tensor, example: torch.Tensor) -> torch.Tensor | None:
    """`tensor` with the example's shape and type; None if it does not fit."""
    if tensor.shape != example.shape:
        if example.dim() == 0 or example.shape[0] != 1 or tensor.shape != example.shape[1:]:
            return None
        tensor = tensor.unsqueeze(0)
    if tensor.dtype != example.dtype:
        if tensor.is_floating_point() != example.is_floating_point():
            return None
        tensor = tensor.to(example.dtype)
    return tensor.cpu().contiguous()


def _sample(value: Any, example: Sample, what: str, where: str) -> Sample:
    items = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if len(items) != len(example):
        raise CortexMError(
            f"{what} has {len(items)} inputs, the model has {len(example)}",
            where=where,
            hint="a sample is a tuple with one tensor per input of the model, without label",
        )
    fitted: list[torch.Tensor] = []
    for index, (item, like) in enumerate(zip(items, example, strict=True)):
        tensor = _as_tensor(item)
        if tensor is None:
            raise CortexMError(
                f"{what}, input {index} must be a tensor, not {type(item).__name__}", where=where
            )
        check_values(tensor, f"{what}, input {index}", where)
        fit = _fit(tensor, like)
        if fit is None:
            raise CortexMError(
                f"{what}, input {index} is {shape_text(tensor.shape)} {type_text(tensor.dtype)}, "
                f"but the example input is {shape_text(like.shape)} {type_text(like.dtype)}",
                where=where,
            )
        fitted.append(fit)
    return tuple(fitted)


def _unstack(stacks: tuple[Any, ...], example: Sample, what: str, where: str) -> list[Sample]:
    """Samples from one stack per input."""
    if len(stacks) != len(example):
        raise CortexMError(
            f"{what} has {len(stacks)} inputs, the model has {len(example)}", where=where
        )
    tensors = [_as_tensor(stack) for stack in stacks]
    counts = {len(t) if t is not None and t.dim() > 0 else 0 for t in tensors}
    if len(counts) != 1 or 0 in counts:
        raise CortexMError(
            f"{what} must hold equally many samples, at least one, for every input", where=where
        )
    return [
        _sample(tuple(t[i] for t in tensors if t is not None), example, f"{what}[{i}]", where)
        for i in range(counts.pop())
    ]


def calibration_samples(value: Any, example: Sample, where: str) -> tuple[Sample, ...]:
    """CalibrationInputs as samples, at most MAX_CALIBRATION_SAMPLES of them.

    Raises:
        CortexMError: wrong types or shapes, no samples, or values that are not finite.
    """
    what = "CalibrationInputs"
    if isinstance(value, (torch.Tensor, np.ndarray)):
        samples = _unstack((value,), example, what, where)
    elif isinstance(value, Iterable) and not isinstance(value, (str, bytes, dict)):
        taken = itertools.islice(value, MAX_CALIBRATION_SAMPLES)
        samples = [_sample(v, example, f"{what}[{i}]", where) for i, v in enumerate(taken)]
    else:
        raise CortexMError(
            f"{what} must be an iterable of input tuples, not {type(value).__name__}", where=where
        )
    samples = samples[:MAX_CALIBRATION_SAMPLES]
    if not samples:
        raise CortexMError(f"{what} has no samples", where=where)
    for index, sample in enumerate(samples):
        check_finite(sample, f"{what}[{index}]", where)
    return tuple(samples)


def _is_pair_of_stacks(value: Any) -> bool:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        return False
    labels = _as_tensor(value[1])
    return labels is not None and labels.dim() == 1 and not labels.is_floating_point()


def evaluation_set(value: Any, example: Sample, where: str) -> Evaluation:
    """EvaluationInputs, as pairs (inputs, label) or a pair of stacks, in one form.

    Raises:
        CortexMError: wrong types, shapes or lengths, or no samples.
    """
    what = "EvaluationInputs"
    if _is_pair_of_stacks(value):
        inputs = value[0] if isinstance(value[0], (tuple, list)) else (value[0],)
        samples = _unstack(tuple(inputs), example, what, where)
        labels = [int(n) for n in value[1]]
    elif isinstance(value, Iterable) and not isinstance(value, (str, bytes, dict)):
        samples, labels = [], []
        for index, pair in enumerate(value):
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise CortexMError(f"{what}[{index}] must be a pair (inputs, label)", where=where)
            samples.append(_sample(pair[0], example, f"{what}[{index}]", where))
            labels.append(_label(pair[1], f"{what}[{index}]", where))
    else:
        raise CortexMError(
            f"{what} must be pairs (inputs, label), not {type(value).__name__}", where=where
        )
    if not samples:
        raise CortexMError(f"{what} has no samples", where=where)
    if len(samples) != len(labels):
        raise CortexMError(
            f"{what} has {len(samples)} inputs and {len(labels)} labels", where=where
        )
    stacks = tuple(np.stack([sample[i].numpy() for sample in samples]) for i in range(len(example)))
    return Evaluation(stacks, np.asarray(labels, dtype=np.int64))


def _label(value: Any, what: str, where: str) -> int:
    try:
        return int(value)
    except (TypeError, ValueError, RuntimeError):
        raise CortexMError(
            f"the label of {what} must be an integer, not {type(value).__name__}", where=where
        ) from None


def calibration_file(path: Path, example: Sample) -> tuple[Sample, ...]:
    """Samples from a .npz (in_0, in_1, … stacked), .npy (stacked) or .pt file, or a folder of them.

    A .pt file may hold one sample as a tuple of tensors, a list of samples, or one stacked tensor.

    Raises:
        CortexMError: unreadable, of another kind, or not fitting the example inputs.
    """
    where = path.name
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.suffix.lower() in _CALIBRATION_KINDS)
        if not files:
            raise CortexMError("the folder has no calibration files", where=where)
        files = files[:MAX_CALIBRATION_SAMPLES]
        found = [sample for file in files for sample in calibration_file(file, example)]
        return tuple(found[:MAX_CALIBRATION_SAMPLES])
    if not path.is_file():
        raise CortexMError("calibration file not found", where=str(path))
    suffix = path.suffix.lower()
    if suffix not in _CALIBRATION_KINDS:
        raise CortexMError(
            f"unknown kind of calibration file {suffix!r}",
            where=where,
            hint="known: .npz with in_0, in_1, …; .npy; .pt",
        )
    names = [f"in_{i}" for i in range(len(example))]
    value = _read_calibration(path, suffix, names)
    if suffix in (".pt", ".pth"):
        samples = [value] if _is_sample(value, example) else value
        return calibration_samples(samples, example, where)
    missing = [name for name in names if name not in value]
    if missing:
        raise CortexMError(
            f"the calibration file lacks {', '.join(missing)}",
            where=where,
            hint="one array per input of the model, samples stacked on the first axis",
        )
    stacks = tuple(value[name] for name in names)
    return calibration_samples(_unstack(stacks, example, "calibration file", where), example, where)


def _read_calibration(path: Path, suffix: str, names: list[str]) -> Any:
    """What a .pt file holds, or arrays by their names, of which a .npy has the first.

    Raises:
        CortexMError: the file cannot be read.
    """
    try:
        if suffix == ".npz":
            return read_npz(path, names)
        if suffix == ".npy":
            return {names[0]: read_npy(path)}
        return torch.load(path, map_location="cpu", weights_only=True)
    except CortexMError as error:
        raise CortexMError(
            f"cannot read the calibration file: it {error.message}"
            if error.message.startswith(("is ", "holds "))
            else error.message,
            where=path.name,
            hint=error.hint,
        ) from None
    except Exception as error:  # torch.load raises pickle.UnpicklingError and others
        raise CortexMError(
            f"cannot read the calibration file: {first_line(error)}", where=path.name
        ) from error


def _is_sample(value: Any, example: Sample) -> bool:
    """Whether `value` is one sample and not several."""
    if isinstance(value, torch.Tensor):
        return _fit(value, example[0]) is not None
    if not isinstance(value, tuple) or len(value) != len(example):
        return False
    return all(
        isinstance(v, torch.Tensor) and _fit(v, e) is not None
        for v, e in zip(value, example, strict=True)
    )

# SPDX-License-Identifier: Apache-2.0
"""A program to compile: a .pte or .tflite with what is known about it, from a model file or elsewhere."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .documents import MOST_BYTES, read_file
from .errors import CortexMError, did_you_mean, named
from .frontend.load.builtin import builtin_file, builtin_names
from .frontend.load.script import as_script
from .frontend.origin.places import first_line
from .ir import Array, Graph, Layer
from .ir.edit import inherit_layers
from .litert import is_litert, list_layers, mixed_layers, parse_model, read_litert
from .options.files import OTHERS, PROGRAMS, kind_of
from .options.precision import INT8, Pattern, Quantization
from .packages import WORKING, others
from .paths import data_root
from .pte.bundle import TestVector, is_bundle, parse_bundle, vectors_of
from .pte.layers import NamedLayer, layers_from_json, layers_to_json
from .pte.program import parse_program
from .pte.quality import NO_FLOAT_MODEL, NOT_QUANTIZED, stored_quality
from .pte.reader import Operator, list_operators, read_pte
from .pte.study import Study
from .runner import Progress, Runner, run_in_order
from .target import Target

if TYPE_CHECKING:
    from .frontend.load.model_file import LoadedModel
    from .frontend.load.samples import Sample
    from .frontend.lower.lower import Lowered

_CALIBRATION_KEPT = 16  # windows of a stream to check it with


@dataclass(frozen=True)
class EvaluationSet:
    """Labelled inputs: `inputs` stacks samples on a new first axis; one class index each."""

    inputs: Array
    labels: Array

    def accuracy(self, outputs: Sequence[Sequence[Array]]) -> float:
        """The share of samples, in [0, 1], whose highest score is at the label.

        Args:
            outputs: those of each sample, the scores first; of equal scores the first one counts.
        """
        best = [np.argmax(row[0]) for row in outputs]
        return float(np.mean(np.array(best) == self.labels))

    def accuracy_of(self, run: Runner) -> float:
        """The accuracy of a model of which the samples are one sequence of calls."""
        return self.accuracy(run_in_order(run, [(value,) for value in self.inputs]))


@dataclass(frozen=True)
class Program:
    """A .pte or .tflite, and what came with it.

    Attributes:
        name: C identifier.
        pte: the file's bytes; those of a .tflite have another identifier.
        layers: operator name and layer of each kernel call; empty where they are not known.
        dependencies: files to rebuild for.
        warnings: sentences for the user.
        reference: runs ExecuTorch's Python reference of the lowered program; None for a .pte.
        float_module: runs the model before quantization; None for a .pte.
        example: the model's example inputs, logical; None for a .pte.
        calibration: the first samples that the quantization ranges were taken from, logical; none for a
            .pte.
        vectors: the test vectors of a .bpte.
        fake_quantized: runs the quantized model before lowering; None for a .pte.
        texts: the model as Python code after each stage of the frontend; empty for a .pte.
        quality: how close the quantized model is to the float one (``Quality.data``); None if that
            was not measured.
        unmeasured: why not.
        study: what else can be tried with the quantized model; None for a .pte.
        again: lowers the model with other precisions, which come behind those of the model file; None for a
            .pte.
        source: what the user gave, for messages.
    """

    name: str
    pte: bytes
    layers: tuple[NamedLayer, ...] = ()
    dependencies: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    evaluation: EvaluationSet | None = None
    reference: Runner | None = field(default=None, repr=False)
    float_module: Runner | None = field(default=None, repr=False)
    example: tuple[Array, ...] | None = field(default=None, repr=False)
    calibration: tuple[tuple[Array, ...], ...] = field(default=(), repr=False)
    vectors: tuple[TestVector, ...] = field(default=(), repr=False)
    fake_quantized: Runner | None = field(default=None, repr=False)
    texts: dict[str, str] = field(default_factory=dict, repr=False)
    quality: dict[str, Any] | None = field(default=None, repr=False)
    unmeasured: str = NO_FLOAT_MODEL
    study: Study | None = field(default=None, repr=False)
    again: Callable[[tuple[Pattern, ...]], Program] | None = field(default=None, repr=False)
    source: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 of the .pte in hex."""
        return hashlib.sha256(self.pte).hexdigest()

    @property
    def is_litert(self) -> bool:
        """Whether it is a .tflite."""
        return is_litert(self.pte)

    @property
    def file(self) -> str:
        """The name under which builds write it."""
        return f"{self.name}{'.tflite' if self.is_litert else '.pte'}"

    def operators(self) -> tuple[Operator, ...]:
        """Its operators in order, before any rewrite.

        Raises:
            CortexMError: it is damaged.
        """
        with named(self.source):
            if self.is_litert:
                found = list_layers(parse_model(self.pte))
                return tuple(Operator(*each) for each in found)
            layers = [layer for _, layer in self.layers]
            return list_operators(parse_program(self.pte), layers or None)

    @property
    def sidecar(self) -> str:
        """The text of NAME.layers.json."""
        return layers_to_json(self.pte, self.layers)

    def graph(self) -> Graph:
        """The program as a graph.

        Raises:
            CortexMError: it is damaged, or has an operator that no kernel computes.
        """
        layers: tuple[Layer, ...] = tuple(layer for _, layer in self.layers)
        with named(self.source):
            if self.is_litert:
                return inherit_layers(read_litert(self.pte, name=self.name))
            return inherit_layers(read_pte(self.pte, name=self.name, layers=layers or None))


def load_program(
    path: Path,
    *,
    name: str,
    target: Target,
    calibration: Path | None = None,
    model_input: Path | None = None,
    quantization: Quantization | None = INT8,
    patterns: tuple[Pattern, ...] | None = None,
    progress: Progress = lambda text: None,
) -> Program:
    """Reads a .pte, .bpte or .tflite, or lowers a model file or a built-in model.

    Args:
        path: a file, or the name of a built-in model (frontend/load/builtin.py).
        name: C identifier of the program.
        calibration: file or folder of samples that replaces CalibrationInputs.
        model_input: a .pt file with example inputs that replaces ModelInputs.
        quantization: None leaves the model as it is: in float, or quantized before.
        patterns: precisions by module paths, in place of the model file's; None for those.

    Raises:
        CortexMError: the file is missing, of an unknown kind, or cannot be lowered.
    """

    def load() -> LoadedModel:
        return _with_patterns(_load(path, calibration, model_input), patterns)

    if not path.is_file():
        if str(path) not in builtin_names():
            raise _unknown(path)
        return _lower(str(path), name, target, quantization, load, progress)
    if path.suffix in (".py", ".pt2", ".pt", ".pth"):
        around = partial(as_script, path.absolute())
        return _lower(path.name, name, target, quantization, load, progress, around)
    if path.suffix not in PROGRAMS:
        raise CortexMError(
            "is neither a model file nor a program",
            where=str(path),
            hint=OTHERS.get(path.suffix, "give a .py, a .pt2, a .pte, a .bpte or a .tflite"),
        )
    if calibration is not None:
        raise CortexMError(
            f"a {path.suffix} is quantized already: it takes no calibration data", where=str(path)
        )
    if quantization not in (None, INT8) or patterns is not None:
        raise CortexMError(
            f"a {path.suffix} is quantized already: its precision cannot be chosen",
            where=str(path),
            hint="leave it at int8",
        )
    if model_input is not None:
        raise CortexMError(f"a {path.suffix} takes no example inputs", where=str(path))
    pte = read_file(path, MOST_BYTES)
    vectors: tuple[TestVector, ...] = ()
    if path.suffix == ".bpte" or is_bundle(pte):
        with named(str(path)):
            bundle = parse_bundle(pte)
            pte = bundle.pte
            vectors = vectors_of(bundle, parse_program(pte).method)
    warnings: tuple[str, ...] = ()
    if kind_of(path, pte) == ".tflite":
        with named(str(path)):
            warnings = mixed_layers(parse_model(pte))
    return Program(
        name,
        pte,
        _sidecar_layers(path.with_suffix(".layers.json"), pte),
        dependencies=(str(path.resolve()),),
        warnings=warnings,
        vectors=vectors,
        quality=_report_quality(path.with_suffix(".report.json"), pte),
        source=str(path),
    )


def program_of_module(
    module: Any,
    example_inputs: Any,
    *,
    name: str,
    target: Target,
    calibration: Any = None,
    evaluation: Any = None,
    quantization: Quantization | None = INT8,
    patterns: tuple[Pattern, ...] | None = None,
    progress: Progress = lambda text: None,
) -> Program:
    """Lowers an nn.Module that a program passes; the arguments are those of `given_module`.

    Its precisions by module paths are `patterns`.

    Raises:
        CortexMError: it cannot be lowered, or an input does not fit.
    """

    def load() -> LoadedModel:
        from .frontend.load.given import given_module

        loaded = given_module(module, example_inputs, calibration, evaluation, name)
        return _with_patterns(loaded, patterns)

    return _lower(name, name, target, quantization, load, progress)


def _with_patterns(loaded: LoadedModel, patterns: tuple[Pattern, ...] | None) -> LoadedModel:
    """The model with precisions that the caller gives, if there are any."""
    if patterns is None:
        return loaded
    return replace(loaded, patterns=patterns, patterns_at="quantization")


def _sidecar_layers(path: Path, pte: bytes) -> tuple[NamedLayer, ...]:
    """The layers that the file beside a .pte names; () if there is none."""
    return layers_from_json(read_file(path), pte) if os.path.exists(path) else ()


def _report_quality(path: Path, pte: bytes) -> dict[str, Any] | None:
    """What was measured when the .pte was made, from the report beside it."""
    if not os.path.exists(path):
        return None
    return stored_quality(read_file(path), hashlib.sha256(pte).hexdigest())


def _unknown(path: Path) -> CortexMError:
    if path.is_dir():
        return CortexMError(
            "is a folder",
            where=str(path),
            hint="give a model.py, a .pt2, .pte, .bpte or .tflite in it",
        )
    if path.suffix or path.parent != Path("."):
        return CortexMError(
            "no such file",
            where=str(path),
            hint="give a model.py, a .pt2, .pte, .bpte or .tflite, or the name of a built-in model",
        )
    known = builtin_names()
    guess = did_you_mean(str(path), known)
    return CortexMError(
        f"{str(path)!r} is neither a file nor a built-in model",
        hint=guess if guess.startswith("known") else f"{guess} known: {', '.join(known)}",
    )


def _load(path: Path, calibration: Path | None, model_input: Path | None) -> LoadedModel:
    """Runs the model file, or builds the model that the name or saved module stands for."""
    from .frontend.load.model_file import load_model
    from .frontend.load.saved import load_exported, load_saved, with_inputs

    if path.suffix in (".pt", ".pth"):
        return load_saved(path, model_input, calibration)
    if path.suffix == ".pt2":
        return load_exported(path, model_input, calibration)
    if path.is_file():
        loaded = load_model(path, calibration=calibration)
    elif (file := builtin_file(str(path))) is not None:
        loaded = load_model(file, calibration=calibration)
    else:
        from .frontend.load.examples import load_example

        loaded = load_example(str(path), calibration)
    return loaded if model_input is None else with_inputs(loaded, model_input)


def _lower(
    label: str,
    name: str,
    target: Target,
    quantization: Quantization | None,
    load: Callable[[], LoadedModel],
    progress: Progress,
    around: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Program:
    """Loads the model and lowers it, both with `around` around them."""
    progress("loading PyTorch and ExecuTorch")
    with torch_needed(label):
        from .frontend.lower.lower import lower
    progress(f"running {label}")
    words = "export and lowering" if quantization is None else "export, quantization and lowering"
    with around(), _whatever_the_versions(label):
        loaded = load()

    def lowered_with(patterns: tuple[Pattern, ...]) -> Program:
        progress(words)
        again = replace(loaded, patterns=(*loaded.patterns, *patterns))
        with around(), _whatever_the_versions(label):
            lowered = lower(
                again, target=target, quantization=quantization, name=name, progress=progress
            )
        return replace(_program(label, name, loaded, lowered), again=lowered_with)

    return lowered_with(())


def _program(label: str, name: str, loaded: LoadedModel, lowered: Lowered) -> Program:
    return Program(
        name,
        lowered.pte,
        lowered.layers,
        loaded.dependencies,
        lowered.warnings,
        _evaluation(loaded),
        lowered.reference,
        lowered.float_module,
        _arrays(loaded.example_inputs),
        tuple(map(_arrays, (loaded.calibration or ())[:_CALIBRATION_KEPT])),
        fake_quantized=lowered.fake_quantized,
        texts=lowered.texts,
        quality=lowered.quality.data() if lowered.quality is not None else None,
        unmeasured=NOT_QUANTIZED,
        study=lowered.study,
        source=label,
    )


@contextmanager
def torch_needed(label: str) -> Iterator[None]:
    """Imports of what imports PyTorch: a package that is missing is a sentence."""
    try:
        with _whatever_the_versions(label):
            yield
    except ModuleNotFoundError as error:
        raise CortexMError(
            f"the Python package {error.name!r} is missing, which lowering a model needs",
            where=label,
            hint=f"pip install -r {data_root() / 'requirements' / 'torch.txt'}, or point PYTHON "
            "(CORTEXM_PYTHON) at an interpreter that has it; a .pte needs none of this",
        ) from None


@contextmanager
def _whatever_the_versions(label: str) -> Iterator[None]:
    """What goes wrong inside packages of other versions is a sentence that names those that work."""
    try:
        yield
    except CortexMError:
        raise
    except Exception as error:
        if not (found := others()):
            raise
        raise CortexMError(
            f"lowering with {found} failed: {first_line(error)}", where=label, hint=WORKING
        ) from error


def _arrays(sample: Sample) -> tuple[Array, ...]:
    return tuple(tensor.detach().contiguous().numpy() for tensor in sample)


def _evaluation(loaded: LoadedModel) -> EvaluationSet | None:
    found = loaded.evaluation
    if found is None or len(found.inputs) != 1:
        return None
    return EvaluationSet(found.inputs[0], found.labels)

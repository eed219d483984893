# SPDX-License-Identifier: Apache-2.0
"""The scales of a model that another quantizer than ExecuTorch's for Cortex-M has quantized.

Quantizers put their pairs of quantize and dequantize operators where their own backend wants them, and
train them there. Such a model is taken apart into the model on floats, whose weights are codes times a
scale, and the scales of its values. The former is quantized like any other; then every observer that
sees a value whose scale is known takes that in place of what it saw. Rewrites may have moved or joined
operators by then, so values are known by what they are: both models run on one input, and statistics of
two tensors that agree are those of one value. Weights are known in the same way, by channel.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch.fx import GraphModule, Interpreter, Node

from ...errors import CortexMError
from ..capture.export import export
from ..capture.runner import ModuleRunner
from ..capture.state import State
from ..load.model_file import LoadedModel
from ..load.samples import Sample
from ..nodes import operator_name, writes
from .simulate import is_observer

Floats = npt.NDArray[np.float64]
T = TypeVar("T")

_QUANTIZED = "quantized_decomposed::"
_PAIRS = {
    f"{way}_per_{what}" for way in ("quantize", "dequantize") for what in ("tensor", "channel")
}
_RANGES = {(-128, 127), (-127, 127), (0, 255)}
# What ExecuTorch's quantizers for Arm leave in a call's meta["custom"].
_ANNOTATED = "_arm_annotation_info"
_TOLERANCE = 2e-5  # of statistics, which float32 rounds differently once operators are joined


class Codes(NamedTuple):
    """int8 codes of values: `(q - zero_point) * scale`."""

    scale: float
    zero_point: int

    def widest(self, other: Codes) -> Codes:
        return max(self, other)


class Known(Generic[T]):
    """What is known of tensors, by their size and the statistics of their elements in whatever order."""

    def __init__(self) -> None:
        self._entries: dict[int, list[tuple[Floats, T]]] = {}
        # The statistics of the entries, once they are asked for.
        self._tables: dict[int, Floats] = {}

    def add(self, x: torch.Tensor, known: T) -> None:
        self._entries.setdefault(x.numel(), []).append((_statistics(x), known))
        self._tables.pop(x.numel(), None)

    def find(self, x: torch.Tensor) -> T | None:
        """What was added for a tensor of the same elements, up to rounding."""
        entries = self._entries.get(x.numel())
        if not entries:
            return None
        if x.numel() not in self._tables:
            self._tables[x.numel()] = np.stack([statistics for statistics, _ in entries])
        statistics = _statistics(x)
        size = max(float(np.abs(statistics[:2]).max()), float(np.finfo(np.float32).tiny))
        unit = np.array([size, size, size, size * size])
        apart = (np.abs(self._tables[x.numel()] - statistics) / unit).max(axis=1)
        nearest = int(apart.argmin())
        return entries[nearest][1] if float(apart[nearest]) <= _TOLERANCE else None


def _statistics(x: torch.Tensor) -> Floats:
    """The lowest and the highest element, the mean, and the mean square."""
    elements = x.detach().double().numpy().ravel()
    return np.array([elements.min(), elements.max(), elements.mean(), np.square(elements).mean()])


@dataclass(frozen=True)
class GivenScales:
    """What a quantized model knows of its values.

    Attributes:
        module: the model on floats.
        sample: the inputs that its values are of.
        values: the codes of its activations.
        channels: the scale of the weights of one channel.
    """

    module: GraphModule
    sample: Sample
    values: Known[Codes]
    channels: Known[float]


def is_quantized(module: torch.nn.Module) -> bool:
    """Whether convert_pt2e made it, or a part of it."""
    return any(operator_name(node).startswith(_QUANTIZED) for node in nodes_of(module))


def by_another_quantizer(module: torch.nn.Module) -> bool:
    """Whether the quantizer of `module`, which is quantized, has not left what ExecuTorch's passes want."""
    return not any(_ANNOTATED in (node.meta.get("custom") or {}) for node in nodes_of(module))


def nodes_of(module: torch.nn.Module) -> Iterator[Node]:
    """Of all graphs in `module`."""
    for part in module.modules():
        if isinstance(part, GraphModule):
            yield from part.graph.nodes


def take_scales(loaded: LoadedModel) -> GivenScales:
    """The model on floats that a quantized one stands for, and its scales.

    Raises:
        CortexMError: its scales are not constants, or its codes not int8 or uint8.
    """
    for name in map(operator_name, nodes_of(loaded.module)):
        if name.startswith(_QUANTIZED) and name.removeprefix(_QUANTIZED) not in _PAIRS:
            raise _refused(f"it calls {name}", loaded)
    graph: Any = copy.deepcopy(loaded.module)
    if not isinstance(graph, GraphModule):
        graph = export(graph, loaded.example_inputs, loaded).module(check_guards=False)
    pairs = _Pairs(graph, loaded)
    pairs.take_out()
    sample = pairs.sample(loaded.example_inputs)
    recorder = _Recorder(copy.deepcopy(graph), {node.name for node in pairs.codes})
    with torch.no_grad():
        recorder.run(*(x.clone() for x in sample))
    values = Known[Codes]()
    for node, codes in pairs.codes.items():
        values.add(recorder.values[node.name], codes)
    return GivenScales(graph, sample, values, pairs.channels)


def keep_scales(
    prepared: GraphModule, given: GivenScales, which: tuple[bool, ...], states: tuple[State, ...]
) -> int:
    """Give the observers of `prepared`, a model of prepare_pt2e, the scales that are known; how many of
    those of activations keep what they measured.

    Args:
        which, states: as `quantize` has them.
    """
    watch = _Watch(prepared, given)
    ModuleRunner(watch.run, which, states).step(given.sample)
    return len(watch.measured)


class _Watch(Interpreter):
    """Runs a prepared model without its observers, and gives them their scales.

    Attributes:
        measured: the observers of activations that see no value of a known scale.
    """

    def __init__(self, prepared: GraphModule, given: GivenScales) -> None:
        super().__init__(prepared)
        self.given = given
        self.measured: set[Any] = set()
        self._codes: dict[Any, Codes] = {}

    def run_node(self, n: Node) -> Any:
        if not is_observer(self.module, n):
            return super().run_node(n)
        value = self.env[n.all_input_nodes[0]]
        observer: Any = self.module.get_submodule(str(n.target))
        if observer.dtype is torch.int8 and type(observer).__module__.startswith("torchao"):
            if hasattr(observer, "ch_axis") and "per_channel" in str(observer.qscheme):
                self._give_channels(observer, value)
            elif hasattr(observer, "min_val"):
                self._give(observer, value)
        return value

    def _give(self, observer: Any, value: torch.Tensor) -> None:
        """One observer may see several values, as those that are concatenated: the widest codes count."""
        codes = self.given.values.find(value)
        before = self._codes.get(observer)
        if codes is None:
            if before is None:
                self.measured.add(observer)
            return
        self.measured.discard(observer)
        codes = codes if before is None else codes.widest(before)
        self._codes[observer] = codes
        scales, zero_points = torch.tensor([codes.scale]), torch.tensor([codes.zero_point])
        observer.calculate_qparams = lambda: (scales, zero_points)

    def _give_channels(self, observer: Any, weight: torch.Tensor) -> None:
        observer(weight)
        scales, zero_points = observer.calculate_qparams()
        found = [self.given.channels.find(channel) for channel in weight.unbind(observer.ch_axis)]
        known = [float(own) if one is None else one for own, one in zip(scales, found, strict=True)]
        given = torch.tensor(known, dtype=scales.dtype)
        observer.calculate_qparams = lambda: (given, zero_points)


class _Pairs:
    """Takes the quantize and dequantize operators out of a graph.

    Attributes:
        codes: of the values that were quantized.
        channels: the scales of the weights of every channel, along either axis that may have channels.
    """

    def __init__(self, module: GraphModule, loaded: LoadedModel) -> None:
        self.module = module
        self.loaded = loaded
        self.codes: dict[Node, Codes] = {}
        self.channels = Known[float]()
        # Buffers that the model writes to are no constants.
        self._written = {
            source.target
            for node in module.graph.nodes
            if writes(node)
            for source in node.all_input_nodes
            if source.op == "get_attr"
        }

    def take_out(self) -> None:
        graph = self.module.graph
        for node in list(graph.nodes):
            name = operator_name(node)
            if not name.startswith(_QUANTIZED):
                continue
            constant = self._constant(node)
            if constant is not None:
                self._put_constant(node, constant)
            elif "::quantize_" in name:
                self._note(node)
        for node in list(graph.nodes):
            if operator_name(node).startswith(f"{_QUANTIZED}dequantize"):
                source: Any = node.args[0]
                if not operator_name(source).startswith(f"{_QUANTIZED}quantize"):
                    raise _refused(
                        "codes are computed with between quantize and dequantize", self.loaded
                    )
                node.replace_all_uses_with(source.args[0])
                graph.erase_node(node)
        for node in list(graph.nodes):
            if operator_name(node).startswith(_QUANTIZED):
                if node.users:
                    raise _refused("codes are an output of it", self.loaded)
                graph.erase_node(node)
        graph.eliminate_dead_code()
        self.module.recompile()

    def sample(self, example: Sample) -> Sample:
        """Inputs over the whole range of their codes, where they have some."""
        generator = torch.Generator().manual_seed(0)
        result = []
        inputs = self.module.graph.find_nodes(op="placeholder")
        for node, x in zip(inputs, example, strict=True):
            codes = self.codes.get(node)
            if codes is not None:
                whole = torch.rand(x.shape, generator=generator) * 255 - 128
                x = (whole - codes.zero_point) * codes.scale
            result.append(x)
        return tuple(result)

    def _note(self, quantize: Node) -> None:
        scale, zero_point, *ends, dtype = (self._value(arg) for arg in quantize.args[1:6])
        low, high = (int(end) for end in ends)
        if "per_channel" in operator_name(quantize) or (low, high) not in _RANGES:
            raise _refused(f"activations have codes from {low} to {high}, {dtype}", self.loaded)
        source: Any = quantize.args[0]
        codes = Codes(float(scale), int(zero_point) - (low + high + 1) // 2)
        self.codes[source] = codes.widest(self.codes.get(source, codes))

    def _value(self, arg: Any) -> Any:
        if not isinstance(arg, Node):
            return arg
        constant = self._constant(arg)
        if constant is None:
            raise _refused("its activations are quantized by what each inference has", self.loaded)
        return constant.item() if constant.numel() == 1 else constant

    def _constant(self, node: Node) -> torch.Tensor | None:
        """What `node` is, if it depends on no input."""
        if node.op == "get_attr" and node.target not in self._written:
            value = attrgetter(str(node.target))(self.module)
            return value if isinstance(value, torch.Tensor) else None
        if node.op != "call_function" or not operator_name(node).startswith(_QUANTIZED):
            return None
        args = [self._constant(arg) if isinstance(arg, Node) else arg for arg in node.args]
        if any(
            arg is None and isinstance(given, Node)
            for arg, given in zip(args, node.args, strict=True)
        ):
            return None
        target: Any = node.target
        with torch.no_grad():
            result: torch.Tensor = target(*args, **node.kwargs)
        return result

    def _put_constant(self, node: Node, value: torch.Tensor) -> None:
        """Weights as floats; nothing for quantize operators in front of a dequantize."""
        if "::dequantize_" not in operator_name(node):
            return
        name = f"_given_{node.name}"
        self.module.register_buffer(name, value.float())
        with self.module.graph.inserting_before(node):
            constant = self.module.graph.get_attr(name)
        constant.meta = dict(node.meta)
        scale = self._value(node.args[1])
        has_axis = "per_channel" in operator_name(node)
        axes = (int(self._value(node.args[3])),) if has_axis else (0, 1)
        for along in axes if value.dim() > 1 else ():  # a bias has no scale of its own
            slices = value.unbind(along)
            scales = torch.as_tensor(scale, dtype=torch.float64).flatten().expand(len(slices))
            for channel, one in zip(slices, scales.tolist(), strict=True):
                self.channels.add(channel, one)
        node.replace_all_uses_with(constant)
        self.module.graph.erase_node(node)


def _refused(message: str, loaded: LoadedModel) -> CortexMError:
    return CortexMError(
        f"this quantized model cannot be lowered: {message}",
        where=loaded.path.name,
        hint="quantize activations statically to int8 with one scale a tensor, and weights to int8; or give "
        "the model on floats",
    )


class _Recorder(Interpreter):
    """Runs a graph, which may change its buffers, and keeps the values of some nodes by their names."""

    def __init__(self, module: GraphModule, kept: set[str]) -> None:
        super().__init__(module)
        self.kept = kept
        self.values: dict[str, torch.Tensor] = {}

    def run_node(self, n: Node) -> Any:
        value = super().run_node(n)
        if n.name in self.kept:
            self.values[n.name] = value.clone()
        return value

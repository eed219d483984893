# SPDX-License-Identifier: Apache-2.0
"""Training a module for the codes that the build will give it (QAT).

The module stays the user's own and computes as it is written, in any batch. A mode of PyTorch's functions
around each call rounds what they read and give:

* a weight as the quantizer does, to most = 127 or 7 with the step max|w| / most of each output. A factor
  for each output, as a batch norm's, leaves these codes as they are, so nothing needs to be folded;
* a result that has an observer in the prepared graph. Which those are is found by values: the module and
  the graph compute the same of one sample. What the quantizer joins (a convolution, its batch norm and
  its ReLU) has no value in between, and what it gives one quantization has one range here, too. Ranges
  are moving averages of the extremes; the build calibrates anew.

Rounding has the derivative 1, and 0 beyond the range of activations. In the end the weights are put where
their codes are: both ways of rounding find these codes again, as the largest one is among them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node
from torch.nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map

from ...errors import CortexMError
from ...options.precision import Quantization
from ..capture.capture import Captured, capture
from ..capture.runner import ModuleRunner
from ..load.model_file import LoadedModel
from ..load.samples import Sample
from ..quiet import import_executorch, quiet
from .choice import check_patterns, choose
from .columns import WEIGHTED
from .given import Known, is_quantized, nodes_of
from .quantizer import make_quantizer
from .simulate import Grid, is_observer
from .tags import tag_nodes, tag_of
from .weight_bits import four_bits

# Functions with weights as their second operand, and the axis of these that has the outputs.
_AXES = {f"conv{n}d": 0 for n in (1, 2, 3)} | {f"conv_transpose{n}d": 1 for n in (1, 2, 3)}
_AXES |= {"linear": 0, "matmul": -1, "__matmul__": -1, "mm": -1}

Call = tuple[str, str, int]
"""The path of the module that makes it, the function's name, and the how manyth of these it is."""


def prepare(module: Any, loaded: LoadedModel, quantization: Quantization) -> QatModule:
    """A copy of `module` that computes with the roundings of `quantization`, in training mode.

    Args:
        loaded: of the module.

    Raises:
        CortexMError: it is quantized already, cannot be trained or captured, or has no weights.
    """
    name = loaded.path.stem
    if is_quantized(loaded.module):
        raise CortexMError(
            "the module is quantized already: it can be trained no more",
            where=name,
            hint="give the module on floats that it was made of",
        )
    if any(isinstance(node.target, torch._ops.OpOverload) for node in nodes_of(module)):
        raise CortexMError(
            "an exported program cannot be trained",
            where=name,
            hint="give the nn.Module that it was exported from",
        )
    import_executorch()
    with quiet(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        trace = _Trace(loaded, quantization)
    if not trace.weights:
        raise CortexMError(
            "the module has no layer whose weights become codes: there is nothing to train",
            where=name,
            hint="linear layers and convolutions are trained, but none that quantization leaves in float",
        )
    ours = copy.deepcopy(module)
    return QatModule(ours, trace.weights, trace.calls, trace.ranges).train()


class QatModule(torch.nn.Module):
    """A module in training for codes; it takes and gives what the module does.

    Attributes:
        module: what is trained; its names are those of the original.
        weights: the largest code and the outputs' axis of its weights that become codes, by their names.
        ranges: of activations.
    """

    def __init__(
        self,
        module: torch.nn.Module,
        weights: Mapping[str, tuple[int, int]],
        calls: Mapping[Any, tuple[int, bool]],
        ranges: list[_Range],
    ) -> None:
        super().__init__()
        self.module = module
        self.weights = dict(weights)
        self.ranges = torch.nn.ModuleList(ranges)
        self._calls = dict(calls)
        self.to(next(module.parameters()).device)

    def extra_repr(self) -> str:
        bits = [most.bit_length() + 1 for most, _ in self.weights.values()]
        return f"weights of {bits.count(8)} layers in 8 bits and of {bits.count(4)} in 4"

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        parameters = dict(self.module.named_parameters())
        weights = {id(parameters[name]): spec for name, spec in self.weights.items()}

        def weight(call: Call, value: torch.Tensor) -> torch.Tensor:
            return _straight(value, *weights[id(value)]) if id(value) in weights else value

        def result(call: Call | int, operands: Any, value: torch.Tensor) -> torch.Tensor:
            number, widens = self._calls.get(call, (None, False))
            return value if number is None else self.ranges[number](value, widens)

        with _Calls(self.module, weight, result) as calls:
            args, kwargs = calls.inputs((args, kwargs))
            return self.module(*args, **kwargs)

    def finish(self) -> torch.nn.Module:
        """The trained module on floats, in eval mode, with its weights where their codes are.

        Raises:
            CortexMError: a weight is not a finite number.
        """
        module = copy.deepcopy(self.module).eval()
        parameters = dict(module.named_parameters())
        with torch.no_grad():
            for name, spec in self.weights.items():
                value = parameters[name]
                if not bool(torch.isfinite(value).all()):
                    raise CortexMError(
                        f"parameter {name!r} is not finite: training has diverged",
                        hint="take a smaller learning rate",
                    )
                value.copy_(_rounded(value, *spec))
        return module


def _rounded(weight: torch.Tensor, most: int, axis: int) -> torch.Tensor:
    others = [d for d in range(weight.dim()) if d != axis % weight.dim()]
    step = weight.abs().amax(others, keepdim=True) / most
    step = step.clamp_min(torch.finfo(weight.dtype).tiny)
    return torch.round(weight / step).clamp(-most, most) * step


def _straight(weight: torch.Tensor, most: int, axis: int) -> torch.Tensor:
    return weight + (_rounded(weight.detach(), most, axis) - weight.detach())


class _Range(torch.nn.Module):
    """Rounds activations to codes of the range that they have in training, or first have."""

    def __init__(self, observer: Any) -> None:
        super().__init__()
        from torchao.quantization.pt2e.observer import MovingAverageMinMaxObserver

        self.fixed = not hasattr(observer, "min_val")  # as a softmax's
        spec = {name: getattr(observer, name) for name in ("dtype", "qscheme")}
        spec |= {name: getattr(observer, name) for name in ("quant_min", "quant_max")}
        self.observer = observer if self.fixed else MovingAverageMinMaxObserver(**spec)

    def forward(self, x: torch.Tensor, widens: bool) -> torch.Tensor:
        """`x` as its codes give it.

        Args:
            widens: whether its range counts; that of what is made of values of this range does not.
        """
        if not self.fixed:
            is_new = bool(self.observer.max_val < self.observer.min_val)
            if is_new or (self.training and widens):
                self.observer(x.detach())
        grid = Grid(self.observer)
        return torch.fake_quantize_per_tensor_affine(
            x, grid.step.reshape(()), grid.zero_point.reshape(()).int(), grid.least, grid.most
        )


class _Calls(TorchFunctionMode):
    """Gives functions other weights, and what calls them other results.

    Args:
        module: whose functions.
        weight: gives what a call has as its weights, from the call and what it would have.
        result: gives its result, from the call, its operands, and what it would be.
    """

    def __init__(
        self,
        module: torch.nn.Module,
        weight: Callable[[Call, torch.Tensor], torch.Tensor],
        result: Callable[[Any, Any, torch.Tensor], torch.Tensor],
    ) -> None:
        super().__init__()
        self._paths = {part: name for name, part in module.named_modules()}
        self._weight, self._result = weight, result
        self._within: list[str] = []
        self._counts: dict[tuple[str, str], int] = {}
        self._hooks: list[AbstractContextManager[Any]] = []

    def __enter__(self) -> Any:
        self._hooks = [
            register_module_forward_pre_hook(self._begin),
            register_module_forward_hook(self._end, always_call=True),
        ]
        return super().__enter__()  # type: ignore[no-untyped-call]

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        for hook in self._hooks:
            hook.__exit__(*error)

    def _begin(self, module: torch.nn.Module, args: Any) -> None:
        self._within.append(self._paths.get(module, self._within[-1] if self._within else ""))

    def _end(self, module: torch.nn.Module, args: Any, result: Any) -> None:
        self._within.pop()

    def inputs(self, given: Any) -> Any:
        """The arguments of the module, as its first calls read them."""
        numbers = iter(range(1 << 20))

        def read(value: Any) -> Any:
            is_real = isinstance(value, torch.Tensor) and value.is_floating_point()
            return self._result(next(numbers), (), value) if is_real else value

        return tree_map(read, given)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if not self._within:
            return func(*args, **kwargs)
        name = getattr(func, "__name__", "")
        path = self._within[-1]
        call = (path, name, self._counts.get((path, name), 0))
        if name in _AXES and len(args) > 1 and isinstance(args[1], torch.nn.Parameter):
            args = (args[0], self._weight(call, args[1]), *args[2:])
        elif name in _AXES and isinstance(kwargs.get("weight"), torch.nn.Parameter):
            kwargs["weight"] = self._weight(call, kwargs["weight"])
        value = func(*args, **kwargs)
        if not isinstance(value, torch.Tensor) or not value.is_floating_point():
            return value
        self._counts[path, name] = call[2] + 1
        return self._result(call, args, value)


class _Observed(Interpreter):
    """Runs a prepared model without its observers, and keeps which of them see which values.

    Attributes:
        values: the observers of activations.
    """

    def __init__(self, prepared: GraphModule) -> None:
        super().__init__(prepared)
        self.values = Known[Any]()

    def run_node(self, n: Node) -> Any:
        if not is_observer(self.module, n):
            return super().run_node(n)
        source = n.all_input_nodes[0]
        value = self.env[source]
        observer: Any = self.module.get_submodule(str(n.target))
        if source.op != "get_attr" and observer.dtype in (torch.int8, torch.int16):
            self.values.add(value, observer)
        return value


class _Trace:
    """One call of the module beside its prepared graph.

    Attributes:
        weights, calls, ranges: as `QatModule` has them.
    """

    def __init__(self, loaded: LoadedModel, quantization: Quantization) -> None:
        base = loaded.path.parent
        captured = capture(loaded, precision_of=quantization.precision_of)
        tag_nodes(captured.graph)
        modules = [path for path, _ in loaded.module.named_modules()]
        check_patterns(quantization, captured, modules, base, "quantization")
        choices = choose(captured, quantization, base)
        few = four_bits(captured, choices)

        def largest(node: Node) -> int:
            return 7 if tag_of(node) in few else 127

        self._largest: dict[str, int] = {}
        for node in captured.graph.graph.nodes:
            choice = choices.get(tag_of(node))
            if node.target in WEIGHTED and choice is not None and choice.precision is not None:
                path = choice.layer.path
                self._largest[path] = min(largest(node), self._largest.get(path, 127))
        sample = tuple(map(_varied, loaded.example_inputs))
        quantizer = make_quantizer(captured.states, largest, choices)
        self._observers = _observers(captured, quantizer, sample)
        self._names = {id(each): name for name, each in loaded.module.named_parameters()}
        self._seen: dict[int, tuple[torch.Tensor, Any]] = {}  # tensors with ids that last
        self._numbers: dict[Any, int] = {}
        self.weights: dict[str, tuple[int, int]] = {}
        self.calls: dict[Call | int, tuple[int, bool]] = {}
        self.ranges: list[_Range] = []
        with torch.no_grad(), _Calls(loaded.module, self._weight, self._result) as calls:
            loaded.module(*calls.inputs(sample))

    def _weight(self, call: Call, value: torch.Tensor) -> torch.Tensor:
        path, function, _ = call
        name = self._names.get(id(value))
        if name is not None and path in self._largest and value.dim() > 1:
            self.weights[name] = self._largest[path], _AXES[function]
        return value

    def _result(self, call: Call | int, operands: Any, value: torch.Tensor) -> torch.Tensor:
        observer = self._observers.find(value)
        if observer is None:
            return value
        if observer not in self._numbers:
            self._numbers[observer] = len(self.ranges)
            self.ranges.append(_Range(observer))
        read = [self._seen.get(id(each)) for each in tree_leaves(operands)]
        if not any(each and each[0] is value for each in read):  # as dropout gives it
            widens = not any(each and each[1] is observer for each in read)
            self.calls[call] = self._numbers[observer], widens
        self._seen[id(value)] = value, observer
        return value


def _observers(captured: Captured, quantizer: Any, sample: Sample) -> Known[Any]:
    """The observers of activations, by the values that they see in `sample`."""
    from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e

    observed = _Observed(prepare_pt2e(captured.graph, quantizer))
    ModuleRunner(observed.run, captured.which, captured.states).step(sample)
    return observed.values


def _varied(x: torch.Tensor) -> torch.Tensor:
    """`x`, or noise in place of real numbers that are all the same: values are to tell calls apart."""
    same = x.is_floating_point() and bool((x == x.flatten()[0]).all())
    return torch.rand_like(x) if same else x

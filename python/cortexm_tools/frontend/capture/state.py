# SPDX-License-Identifier: Apache-2.0
"""What a model keeps from one call to the next: found, and made inputs and outputs of the model.

A state is a tensor of one of the modules, a registered buffer or a plain attribute, that running the
model changes. `find_states` runs the model and looks which ones that are. `Stateless` is the model as
a function: the states' values come in behind the inputs, and their new values go out before the
outputs. Everything from capture to lowering sees that function; `lower/buffers.py` makes buffers of
its additional inputs and outputs again.

Several runs are one sequence: the first one begins with the values that the model file left in the
states, and each goes on with what the one before it wrote. The user's module itself never changes.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any

import torch
import torch.export
from torch.utils._pytree import tree_leaves

from ...errors import CortexMError
from ..load.samples import Sample, shape_text
from ..origin.places import is_user_file, shown_path

_KNOWN = (torch.Tensor, type(None), bool, int, float, str)  # outputs that torch.export takes

Place = tuple[str, str]
"""(path of a module, name of its attribute)."""


@dataclass(frozen=True)
class State:
    """A tensor that the model changes.

    Attributes:
        places: all its names.
        initial: its value before the first call.
        late: the model made it when it was first called.
        changed: says how the first call changed its shape or type, and `initial` is then its value behind
            that call; "" if it kept both.
        line: (file, line) that assigned it; None where it is changed in place, or in ways unseen.
    """

    places: tuple[Place, ...]
    initial: torch.Tensor = field(repr=False)
    late: bool = False
    changed: str = ""
    line: tuple[str, int] | None = None

    @property
    def name(self) -> str:
        """Its path in the user's module."""
        return _dotted(self.places[0])

    def where(self, base: Path) -> str:
        """The line that assigned it, relative to `base`; "" if that is not known."""
        return f"{shown_path(self.line[0], base)}:{self.line[1]}" if self.line else ""


class Stateless(torch.nn.Module):
    """`module` as a function of its inputs and then its states, to the states' new values and then
    its outputs, one after the other."""

    def __init__(self, module: torch.nn.Module, states: tuple[State, ...]) -> None:
        super().__init__()
        self.module = module
        self._states = states

    def forward(self, *tensors: torch.Tensor) -> tuple[Any, ...]:
        # The model may write to what it is given.
        copies = [tensor.clone() for tensor in tensors]
        count = len(tensors) - len(self._states)
        with kept(self.module):
            for state, value in zip(self._states, copies[count:], strict=True):
                for place in state.places:
                    owner, name = self.module.get_submodule(place[0]), place[1]
                    owner._buffers.pop(name, None)
                    # Not as a buffer, or export would see the assignments to it and add its own.
                    owner.__dict__[name] = value
            outputs = tree_leaves(self.module(*copies[:count]))
            return (*(_new_value(self.module, state) for state in self._states), *outputs)


def _dotted(place: Place) -> str:
    return ".".join(filter(None, place))


def _lookup(module: torch.nn.Module, place: Place) -> Any:
    owner, name = module.get_submodule(place[0]), place[1]
    return owner.__dict__.get(name, owner._buffers.get(name))


def _new_value(module: torch.nn.Module, state: State) -> torch.Tensor:
    values = [_lookup(module, place) for place in state.places]
    if any(value is not values[0] for value in values):
        names = ", ".join(map(_dotted, state.places))
        raise CortexMError(f"what was one tensor, {names}, becomes several")
    value: torch.Tensor = values[0]
    return value


@contextmanager
def kept(module: torch.nn.Module, *, new: bool = False) -> Iterator[None]:
    """The module's buffers and tensor attributes are the same objects after the block as before.

    Args:
        new: keep also what was no tensor before and is one after.
    """
    saved = []
    for owner in module.modules():
        attributes = {n: v for n, v in owner.__dict__.items() if _is_kept(v, new)}
        saved.append((owner, dict(owner._buffers), attributes))
    try:
        yield
    finally:
        for owner, buffers, attributes in saved:
            for values, before in ((owner._buffers, buffers), (owner.__dict__, attributes)):
                after = dict(values)
                if values is owner._buffers:
                    values.clear()  # so that the buffers return in their order
                values.update(before)
                for name, value in after.items():
                    if not isinstance(value, torch.Tensor):
                        continue
                    if new and not isinstance(before.get(name), torch.Tensor):
                        values[name] = value
                    elif name not in before:
                        values.pop(name, None)


def _is_kept(value: object, new: bool) -> bool:
    return isinstance(value, torch.Tensor) or (value is None and not new)


def _tensors(module: torch.nn.Module) -> dict[Place, torch.Tensor]:
    """All tensors that are not parameters."""
    return {
        (path, name): value
        for path, owner in module.named_modules()
        for name, value in (*owner._buffers.items(), *owner.__dict__.items())
        if isinstance(value, torch.Tensor)
    }


def find_states(
    module: torch.nn.Module, inputs: Sample, base: Path
) -> tuple[tuple[State, ...], bool]:
    """Runs `module`; what that changes, in the order of its modules, and whether a second call
    agrees with that: without a state it must give the same outputs.

    Leaves all as it was, but for tensors that the model makes when it is first called.

    Args:
        base: the folder of the model file, for messages.

    Raises:
        CortexMError: a state becomes something else than a tensor, or is a view of another tensor.
        Exception: what the model raises.
    """
    at_first = _tensors(module)
    states, outputs = _changed(module, inputs, set(), base)
    late = set(_tensors(module)) - set(at_first)
    if states and not late:
        return states, True
    states, again = _changed(module, inputs, late, base)
    return states, bool(states) or all(map(alike, outputs, again))


def alike(a: object, b: object) -> bool:
    """Whether two outputs are the same up to rounding."""
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
        return True
    return a.shape == b.shape and torch.allclose(a.double(), b.double(), 1e-3, 1e-4, True)


def _changed(
    module: torch.nn.Module, inputs: Sample, late: set[Place], base: Path
) -> tuple[tuple[State, ...], list[Any]]:
    """What a call changes, and its outputs."""
    before = _tensors(module)
    places: dict[int, list[Place]] = {}
    for place, value in before.items():
        places.setdefault(id(value), []).append(place)
    copies = {id(value): value.detach().clone() for value in before.values()}
    versions = {id(value): _version(value) for value in before.values()}
    states = []
    try:
        with kept(module, new=True), _assignments(module) as lines:
            outputs = _call(module, inputs)
            for key, names in places.items():
                old = before[names[0]]
                after = [_lookup(module, place) for place in names]
                if _version(old) == versions[key] and all(
                    value is old and _same(value, copies[key]) for value in after
                ):
                    continue
                line = next((lines[place] for place in names if place in lines), None)
                state = State(tuple(names), copies[key], not late.isdisjoint(names), line=line)
                states.append(_with_shape(state, after, base))
    finally:
        with torch.no_grad():
            for value in before.values():
                if not _same(value, copies[id(value)]):
                    value.copy_(copies[id(value)])
    parameters = {("", name): value for name, value in module.named_parameters()}
    _check_views(states, before | parameters, base)
    return tuple(states), outputs


def _call(module: torch.nn.Module, inputs: Sample) -> list[Any]:
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        outputs = _leaves(module(*(x.clone() for x in inputs)))
    return [value.clone() if isinstance(value, torch.Tensor) else value for value in outputs]


def _leaves(outputs: Any) -> list[Any]:
    """What the model gives, one after the other; from now on PyTorch finds the fields of its data classes."""
    leaves = tree_leaves(outputs)
    kinds = {type(leaf) for leaf in leaves if dataclasses.is_dataclass(leaf)}
    for kind in kinds:
        torch.export.register_dataclass(kind)
    for leaf in leaves:
        if type(leaf) not in kinds and not isinstance(leaf, _KNOWN):
            raise CortexMError(
                f"the model gives a {type(leaf).__name__}, in which PyTorch finds no tensors",
                hint="give tensors, in tuples, lists, dictionaries or data classes; models of "
                "transformers give nothing else without their cache: model.config.use_cache = False",
            )
    return _leaves(outputs) if kinds else leaves


def _version(value: torch.Tensor) -> int:
    """How often it was written to; of tensors made in inference mode PyTorch does not count it."""
    return 0 if value.is_inference() else value._version


def _same(value: torch.Tensor, copy: torch.Tensor) -> bool:
    if value.shape != copy.shape or value.dtype != copy.dtype:
        return False
    return torch.equal(value, copy) or torch.allclose(value, copy, 0, 0, equal_nan=True)


def _with_shape(state: State, after: list[Any], base: Path) -> State:
    """`state`, with the shape and type that a call has given it."""
    old = state.initial
    for value in after:
        if not isinstance(value, torch.Tensor):
            raise shape_error(replace(state, changed=f"becomes {value!r}"), base)
        if value.shape != old.shape:
            text = f"changes its shape from {shape_text(old.shape)} to {shape_text(value.shape)}"
        elif value.dtype != old.dtype:
            text = f"changes its type from {old.dtype} to {value.dtype}"
        else:
            continue
        state = replace(state, initial=value.detach().clone(), changed=text)
    return state


def shape_error(state: State, base: Path) -> CortexMError:
    """For a state whose value counts, and that does not keep its shape or type."""
    return CortexMError(
        f"state {state.name!r} {state.changed} while the model runs",
        where=state.where(base),
        hint="give it the shape and type in the beginning that it keeps: the last values, for "
        "example, are a slice of torch.cat([state, x]); what depends on the input's shape alone is "
        "there once the model was called where it is made",
    )


def _check_views(states: list[State], tensors: dict[Place, torch.Tensor], base: Path) -> None:
    for state in states:
        own = tensors[state.places[0]]
        for place, other in tensors.items():
            if other is own or own.numel() == 0 or other.numel() == 0:
                continue
            if other.untyped_storage().data_ptr() == own.untyped_storage().data_ptr():
                raise CortexMError(
                    f"state {state.name!r} shares its memory with {_dotted(place)!r}",
                    where=state.where(base),
                    hint="keep one of them, and take slices of it where they are used",
                )


@contextmanager
def _assignments(module: torch.nn.Module) -> Iterator[dict[Place, tuple[str, int]]]:
    """The user's line that assigned each buffer last."""
    paths = {id(owner): path for path, owner in module.named_modules()}
    lines: dict[Place, tuple[str, int]] = {}

    def note(owner: torch.nn.Module, name: str, value: Any) -> None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and not is_user_file(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is not None and id(owner) in paths:
            lines[paths[id(owner)], name] = frame.f_code.co_filename, frame.f_lineno

    hook = torch.nn.modules.module.register_module_buffer_registration_hook(note)
    try:
        yield lines
    finally:
        hook.remove()

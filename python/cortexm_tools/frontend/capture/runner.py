# SPDX-License-Identifier: Apache-2.0
"""Running a model in PyTorch call by call, with what it keeps from one to the next."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.utils._pytree import tree_leaves

from ..load.samples import Sample
from ..quiet import quiet
from .state import State

Array = npt.NDArray[np.generic]


def channels_last(sample: Sample, which: tuple[bool, ...]) -> Sample:
    """Copies of `sample`'s tensors, those for which `which` is true in channels_last memory order.

    Copies, as a model may write over its inputs.
    """
    return tuple(
        x.clone(memory_format=torch.channels_last if turn else torch.contiguous_format)
        for x, turn in zip(sample, which, strict=True)
    )


class ModuleRunner:
    """A module as a function of logical arrays, one for each input and output.

    Args:
        module: takes the inputs and then the states, gives the states' new values and then the
            outputs.
        which: which of the inputs and states it takes in channels_last order.
        states: what it keeps.
    """

    def __init__(self, module: Any, which: tuple[bool, ...], states: tuple[State, ...] = ()):
        self._module = module
        self._which = which
        self._states = states
        self.reset()

    def reset(self) -> None:
        """Make the next call the first one of a sequence."""
        self._values = tuple(state.initial for state in self._states)

    def step(self, sample: Sample) -> list[torch.Tensor]:
        """The outputs for `sample`; the call after the one before."""
        with torch.no_grad():
            given = channels_last((*sample, *self._values), self._which)
            results = tree_leaves(self._module(*given))
        count = len(self._states)
        self._values = tuple(value.detach() for value in results[:count])
        return [value for value in results[count:] if isinstance(value, torch.Tensor)]

    def __call__(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        tensors = tuple(torch.from_numpy(np.asarray(x, order="C")) for x in inputs)
        with quiet():
            outputs = self.step(tensors)
        return tuple(out.detach().contiguous().numpy() for out in outputs)

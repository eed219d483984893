# SPDX-License-Identifier: Apache-2.0
"""The shapes of what recurrent layers give, without going through their steps.

To learn the shape of a layer's results PyTorch divides it into the operators of all steps, which takes
longer than all else that is done with it. The layer itself stays one call in a captured graph.

The lengths of packed sequences are data, so they have no such shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch._C import DispatchKey
from torch._subclasses.fake_tensor import FakeTensor

_aten = torch.ops.aten
_LAYERS = (_aten.lstm.input, _aten.gru.input, _aten.rnn_tanh.input, _aten.rnn_relu.input)


class PackedSequence(Exception):
    """The model packs sequences, of lengths that are not constant."""


@contextmanager
def quick_shapes() -> Iterator[None]:
    """Captured graphs have them so inside the block.

    Raises:
        PackedSequence: where the model makes one.
    """
    keys = (DispatchKey.CompositeImplicitAutograd, DispatchKey.Autograd)
    with ExitStack() as stack:
        # Else an error of the layer's own code, far from where the model packs.
        stack.enter_context(patch.object(torch._VF, "_pack_padded_sequence", _refuse))
        for operator in _LAYERS:
            for key in keys:
                whole = operator.py_kernels.get(key)
                if whole is not None:
                    stack.enter_context(
                        patch.dict(operator.py_kernels, {key: _shaped(operator, whole)})
                    )
            operator._dispatch_cache.clear()
            stack.callback(operator._dispatch_cache.clear)
        yield


def _refuse(*_: Any) -> None:
    raise PackedSequence


def _shaped(operator: Any, whole: Callable[..., Any]) -> Callable[..., Any]:
    states = 2 if operator is _aten.lstm.input else 1

    def shapes(x: Tensor, hx: Any, params: list[Tensor], *rest: Any) -> tuple[Tensor, ...]:
        if not isinstance(x, FakeTensor):
            result: tuple[Tensor, ...] = whole(x, hx, params, *rest)
            return result
        before = list(hx) if states == 2 else [hx]
        directions = 2 if rest[4] else 1
        y = x.new_empty(*x.shape[:-1], directions * before[0].shape[-1])
        return (y, *(state.new_empty(state.shape) for state in before))

    return shapes

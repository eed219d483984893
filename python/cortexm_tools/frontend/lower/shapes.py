# SPDX-License-Identifier: Apache-2.0
"""Remember what operators of quantized programs give on fake tensors.

PyTorch runs every pass on tensors without data, and remembers what its own operators gave for which
types, shapes and numbers, so that it need not ask them again. It does not know of other libraries'
operators whether they may be remembered. Of those below it is known: they change nothing, and what
they give is a new tensor that depends on these alone. In a quantized graph they are the majority.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

# Namespaces of ExecuTorch and torchao.
_PURE = ("quantized_decomposed", "cortex_m")


@contextmanager
def known_shapes() -> Iterator[None]:
    """Remember them within this block."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    validate = _accepting(FakeTensorMode._validate_cache_key)
    with patch.object(FakeTensorMode, "_validate_cache_key", validate):
        yield


def _accepting(whole: Callable[..., None]) -> Callable[..., None]:
    """`whole`, which raises if a call must not be remembered, but for operators that are pure."""
    from torch._subclasses.fake_tensor import _BypassDispatchCache

    def validate(self: Any, func: Any, args: Any, kwargs: Any) -> None:
        try:
            whole(self, func, args, kwargs)
        except _BypassDispatchCache as refusal:
            if refusal.reason != "non-builtin" or func.namespace not in _PURE:
                raise
            if func.is_view or func._schema.is_mutable:
                raise

    return validate

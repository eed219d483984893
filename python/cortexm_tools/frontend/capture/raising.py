# SPDX-License-Identifier: Apache-2.0
"""Calls of modules that raise what the model catches: containers of speechbrain try with lengths of
sequences, and without."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch.fx import Tracer


@contextmanager
def calls_that_raise() -> Iterator[None]:
    """Lets torch.fx forget modules that an exception left: it would take what follows for a part of them.

    The wrapper has the name by which user_frames (origin/calls.py) passes over it.
    """
    original = Tracer.call_module

    def call_module(self: Tracer, *args: Any, **kwargs: Any) -> Any:
        outside = len(self.module_stack)
        try:
            return original(self, *args, **kwargs)
        except Exception:
            while len(self.module_stack) > outside:
                self.module_stack.popitem(last=True)
            raise

    Tracer.call_module = call_module  # type: ignore[method-assign]
    try:
        yield
    finally:
        Tracer.call_module = original  # type: ignore[method-assign]

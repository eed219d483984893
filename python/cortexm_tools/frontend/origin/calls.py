# SPDX-License-Identifier: Apache-2.0
"""What the user called an operator, and on which line: recorded by torch.export, read here.

PyTorch notes with each call of a captured graph the function that the user called and the frames
of the methods named ``forward`` around it. With `user_frames` it notes all frames of the user's
files, so that a call in a function that ``forward`` calls has its own line.
"""

from __future__ import annotations

import linecache
import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.fx import Node
from torch.fx.proxy import TracerBase

from .places import FRAME, frame_in_text, is_tool_file, is_user_file

_NAMESPACES = (("fft_", torch.fft), ("linalg_", torch.linalg), ("special_", torch.special))
INDEXING = "x[...]"

_SYMBOLS = {
    "__getitem__": INDEXING,
    "__setitem__": "x[...] = y",
    "__lshift__": "torch.bitwise_left_shift",
    "__rshift__": "torch.bitwise_right_shift",
}


CALL_MODULE = "call_module"
"""Of torch.fx, which capture wraps: a frame of these tools among those of the user."""


@contextmanager
def user_frames() -> Iterator[None]:
    """Graphs captured inside the block have all frames of the user's files in their traces."""
    before = TracerBase._filter_traceback_frames

    def kept(self: Any, frames: traceback.StackSummary) -> traceback.StackSummary:
        ours = [
            n
            for n, frame in enumerate(frames)
            if is_tool_file(frame.filename) and frame.name != CALL_MODULE
        ]
        inner = frames[ours[-1] + 1 :] if ours else frames
        return traceback.StackSummary.from_list(
            [frame for frame in inner if frame.name == "forward" or is_user_file(frame.filename)]
        )

    TracerBase._filter_traceback_frames = kept  # type: ignore[assignment]
    try:
        yield
    finally:
        TracerBase._filter_traceback_frames = before  # type: ignore[method-assign]


def call_of(node: Node) -> str:
    """What the user calls the operator of `node`: ``torch.fft.rfft``, ``torch.nn.Conv3d``.

    Operators into which PyTorch or these tools divided a call have the name of that call. "" where
    nothing is known.
    """
    trace = str(node.meta.get("stack_trace") or "")
    layer = _layer_class(node, trace)
    if layer:
        return layer
    recorded = node.meta.get("torch_fn")
    if not isinstance(recorded, tuple) or len(recorded) != 2:
        return ""
    kind, _, name = str(recorded[1]).rpartition(".")
    return _public_name(kind, name, _source_line(trace))


def _layer_class(node: Node, trace: str) -> str:
    """The class of the layer of torch.nn in which the operator is called, if it is called there."""
    frames = FRAME.findall(trace)
    if not frames or is_user_file(frames[-1][0]):
        return ""
    stack = node.meta.get("nn_module_stack")
    for entry in reversed(list(stack.values())) if isinstance(stack, dict) else []:
        name = str(entry[1]) if isinstance(entry, tuple) else ""
        if name.startswith("torch.nn.modules."):
            return f"torch.nn.{name.rpartition('.')[2]}"
    return ""


def _source_line(trace: str) -> str:
    frame = frame_in_text(trace)
    return linecache.getline(*frame) if frame else ""


def _public_name(kind: str, name: str, line: str) -> str:
    if name in _SYMBOLS:
        return _SYMBOLS[name]
    if name.startswith("__") or not name:
        return ""
    plain = name[:-1] if name.endswith("_") else name
    for prefix, namespace in _NAMESPACES:
        short = plain.removeprefix(prefix)
        if short != plain and hasattr(namespace, short):
            return f"{namespace.__name__}.{short}"
    functional = hasattr(torch.nn.functional, plain)
    if functional and re.search(rf"\b(F|functional)\.{plain}\b", line):
        return f"torch.nn.functional.{plain}"
    if kind == "method_descriptor" and re.search(rf"\.{name}\b", line):
        if not re.search(rf"\btorch\.{name}\b", line):
            return f"torch.Tensor.{name}"
    if hasattr(torch, plain):
        return f"torch.{plain}"
    if functional:
        return f"torch.nn.functional.{plain}"
    return f"torch.Tensor.{name}" if hasattr(torch.Tensor, name) else ""

# SPDX-License-Identifier: Apache-2.0
"""Which of the user's calls an exception of PyTorch or ExecuTorch is about."""

from __future__ import annotations

import linecache
import re
from pathlib import Path

from torch.fx import Graph

from ...advice import ADVISED, advice_on
from ...ir.types import Layer
from ..nodes import operator_name
from .layers import layers_of_graph
from .places import chain, frame_in_text, shown_path, text_of

_EXECUTING = re.compile(r"While executing %(\w+)")
_TARGET = re.compile(r"call_function\[target=[^\]]*?\baten\.(\w+)")
_OPERATOR = re.compile(r"\baten(?:\.|::)(\w+)")
_WORD = re.compile(r"\b([A-Za-z_]\w*)\s*\(")


def layer_of_error(error: BaseException, graph: Graph, base: Path) -> Layer:
    """The call at which `error` arose, by what PyTorch's interpreters add to their exceptions.

    Args:
        graph: one whose nodes have the names that the exception may give; the operators that it
            was made from and those that were made of it do.
        base: the folder of the model file.
    """
    texts = [text_of(each) for each in chain(error)]
    named = layers_of_graph(graph, base)
    by_name = {node.name: layer for node, layer in named.items()}
    for text in texts:
        for name in _EXECUTING.findall(text):
            layer = by_name.get(name)
            if layer is not None and layer != Layer():
                return layer
    for text in texts:
        frame = frame_in_text(text)
        if frame is not None:
            target = _TARGET.search(text)
            call = f"torch.{target[1]}" if target else ""
            return Layer("", f"{shown_path(frame[0], base)}:{frame[1]}", call)
    mentioned = {name for text in texts for name in _OPERATOR.findall(text)}
    for node, layer in named.items():
        if operator_name(node).partition("::")[2] in mentioned:
            return layer
    return Layer()


def call_in_line(file: str, line: int) -> str:
    """What is called in a line of the user's, if the tools have an advice on it; else ""."""
    for word in _WORD.findall(linecache.getline(file, line)):
        if word in ADVISED:
            return ADVISED[word]
    return ""


def advice_in_line(file: str, line: int) -> str:
    """The advice on what is called there; "" if there is none."""
    call = call_in_line(file, line)
    return advice_on(call) if call else ""

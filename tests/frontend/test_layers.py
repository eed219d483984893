# SPDX-License-Identifier: Apache-2.0
"""Module paths and source lines of lowered nodes, and the sidecar file that keeps them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from cortexm_tools.frontend.origin.layers import layer_of, layers_of_graph, module_path
from cortexm_tools.frontend.origin.places import frame_in_text, is_user_file
from cortexm_tools.ir.types import Layer
from cortexm_tools.pte.layers import layers_from_json, layers_to_json


@pytest.mark.parametrize(
    ("entry", "path"),
    [
        ("features.3.0", "features.3.0"),
        ("L['self'].features.3.0", "features.3.0"),
        ("L['self'].features['3']['0']", "features.3.0"),
        ("L__self__.conv", "conv"),
        ("L['self'].self_attn.out_proj", "self_attn.out_proj"),
        ("self_attn", "self_attn"),
        ("selfish.0", "selfish.0"),
        ("self", ""),
        ("L['self']", ""),
        ("", ""),
    ],
)
def test_module_path(entry: str, path: str) -> None:
    assert module_path({"a": ("", "Root"), "b": (entry, "Conv2d")}) == path


def test_module_path_of_nothing() -> None:
    assert module_path(None) == ""


def test_innermost_user_frame(tmp_path: Path) -> None:
    library = torch.__file__
    user = tmp_path / "net.py"
    text = (
        f'  File "{user}", line 7, in forward\n    x = self.a(x)\n'
        f'  File "{user}", line 12, in forward\n    x = self.conv(x)\n'
        f'  File "{library}", line 565, in forward\n    return self._conv_forward(x)\n'
    )
    assert frame_in_text(text) == (str(user), 12)
    assert frame_in_text("") is None
    assert is_user_file(str(user))
    assert not is_user_file(library)
    assert not is_user_file(json.__file__)


def test_layers_are_inherited(tmp_path: Path) -> None:
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    first = graph.call_function(torch.neg, (x,))
    conv = graph.call_function(torch.relu, (first,))
    last = graph.call_function(torch.abs, (conv,))
    graph.output(last)
    frame = f'File "{tmp_path / "m.py"}", line 5, in forward'
    conv.meta = {"nn_module_stack": {"a": ("body.0", "ReLU")}, "stack_trace": frame}
    expected = Layer("body.0", "m.py:5")
    assert layer_of(conv, tmp_path) == expected
    layers = layers_of_graph(graph, tmp_path)
    assert [layers[n] for n in (first, conv, last)] == [expected] * 3


def test_sidecar() -> None:
    layers = (("cortex_m::quantized_add", Layer("a.b", "m.py:3")), ("aten::view_copy", Layer()))
    text = layers_to_json(b"program", layers)
    assert layers_from_json(text, b"program") == layers
    assert layers_from_json(text, b"another program") == ()


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": 2}', "null", "[" * 5000])
def test_damaged_sidecar_is_ignored(text: str) -> None:
    assert layers_from_json(text, b"program") == ()

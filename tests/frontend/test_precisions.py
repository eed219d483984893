# SPDX-License-Identifier: Apache-2.0
"""Precisions by module paths, in the model file and as an argument."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from cortexm_tools import lower_model
from cortexm_tools.errors import CortexMError
from cortexm_tools.frontend.load.model_file import load_model
from cortexm_tools.ir import DType, ops
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.options.precision import Precision, Quantization, Rounding, parse_patterns
from cortexm_tools.program import load_program
from cortexm_tools.pte.reader import read_pte
from cortexm_tools.report import precision
from cortexm_tools.simplify import simplify
from cortexm_tools.simplify.int8_io import int8_io
from cortexm_tools.stream.stage import random_input
from cortexm_tools.target import Target

from tests.support.outline import outline
from tests.support.random_graphs import random_inputs

NETWORK = Path(__file__).parents[1] / "data" / "precision" / "mixed.py"
A16W8, A8W4 = Precision(activations=16), Precision(weights=4)


def chosen(patterns: dict[str, str], *paths: str) -> list[Precision | None]:
    quantization = Quantization(patterns=parse_patterns(patterns))
    return [quantization.precision_of(path) for path in paths]


def test_the_last_pattern_that_matches_counts() -> None:
    patterns = {"*": "int8", "front.*": "a16w8", "front.last": "a8w4", "*.skip": "float"}
    paths = ("", "back", "front", "front.conv", "front.last", "front.skip", "frontier")
    assert chosen(patterns, *paths) == [
        Precision(), Precision(), A16W8, A16W8, A8W4, None, Precision()
    ]  # fmt: skip
    assert chosen({"front": "a16w8", "*": "int8"}, "front") == [Precision()]


def test_a_module_stands_for_what_is_in_it() -> None:
    patterns = {"block.[01]": "a16w8", "head": "none"}
    paths = ("block.1.conv", "block.2.conv", "head", "head.0.fc", "ahead")
    assert chosen(patterns, *paths) == [A16W8, Precision(), None, None, Precision()]


def test_weights_of_4_bits_anywhere_are_rounded_by_gptq() -> None:
    assert Quantization().weights_rounded is Rounding.NEAREST
    patterns = parse_patterns({"head": "a8w4"})
    assert Quantization(patterns=patterns).weights_rounded is Rounding.GPTQ


def test_a_dot_behind_a_module_leaves_out_those_in_it() -> None:
    patterns = {"block.": "a16w8", ".": "float"}
    paths = ("", "block", "block.conv", "blocks")
    assert chosen(patterns, *paths) == [None, A16W8, Precision(), Precision()]


WORDS = "a layer can be int8, a16w8, a8w4, a16w4, float, none"


@pytest.mark.parametrize(
    ("value", "message", "hint"),
    [
        ("{'*': 'int7'}", "unknown precision 'int7' of '*'", WORDS),
        ("{'a\\n': 8}", "the precision of 'a\\\\n' must be a str, not int", WORDS),
        ("{3: 'int8'}", "a module path must be a str, not int", "as in Quantization = {"),
        ("{None: 'int8'}", "a module path must be a str, not None", "as in Quantization = {"),
        ("['int8']", "must be a dict from module paths to precisions, not list", "as in"),
        ("'a16w8'", "must be a dict from module paths to precisions, not str", "as in"),
        ("None", "must be a dict from module paths to precisions, not None", "as in"),
    ],
)
def test_wrong_values(value: str, message: str, hint: str, tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(
        "import torch\n"
        "ModelUnderTest = torch.nn.Linear(2, 2)\n"
        "ModelInputs = (torch.zeros(1, 2),)\n"
        f"Quantization = {value}\n"
    )
    with pytest.raises(CortexMError, match="Quantization: |Quantization must") as caught:
        load_model(file)
    assert message in caught.value.message and caught.value.where == "model.py:4"
    assert caught.value.hint.startswith(hint)


class Phase(nn.Module):
    """What has no kernel for codes."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.remainder(x, 0.3)


class Parts(nn.Module):
    """Layers of three kinds: with weights, without, and in float on any core."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Linear(4, 4)
        self.squash = nn.Sigmoid()
        self.table = Phase()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.table(self.squash(self.encoder(x)))


@pytest.mark.parametrize(
    ("patterns", "message", "hint"),
    [
        ({"encodr.*": "a16w8"}, "no module matches 'encodr.*'", "did you mean 'encoder'?"),
        ({"zzz": "int8"}, "no module matches 'zzz'", "there are encoder, squash, table, with what"),
        ({"squash": "a8w4"}, "'squash' cannot be a8w4: it has no weights", "it can be int8"),
        ({"squash": "a16w4"}, "'squash' cannot be a16w4: it has no weights", "it can be a16w8"),
        ({"table": "a16w8"}, "cannot be a16w8: nothing computes it on codes", "it can be float"),
    ],
)
def test_what_a_model_cannot_be(patterns: dict[str, str], message: str, hint: str) -> None:
    with pytest.raises(CortexMError) as caught:
        lower_model(Parts(), torch.zeros(1, 4), quantization=patterns)
    assert message in caught.value.message and caught.value.where
    assert caught.value.hint.startswith(hint)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quantization": {"*": "int8"}, "quantize": False}, "takes no quantization"),
        ({"quantization": {"*": "int9"}}, "unknown precision 'int9'"),
        ({"quantization": "int8"}, "must be a dict"),
    ],
)
def test_wrong_arguments(options: dict[str, object], message: str) -> None:
    with pytest.raises(CortexMError, match=message):
        lower_model(Parts(), torch.zeros(1, 4), **options)  # type: ignore[arg-type]
    if "quantize" not in options:
        pte = NETWORK.with_suffix(".pte")
        with pytest.raises(CortexMError, match=f"quantized already|{message}"):
            lower_model(pte, **options)  # type: ignore[arg-type]


def test_a_network_of_all_precisions() -> None:
    """On codes every byte is what ExecuTorch's Python reference computes, and codes stay codes."""
    target = Target.parse("cortex-m55")
    program = load_program(NETWORK, name="mixed", target=target)
    graph = program.graph()
    assert outline(graph) == outline(read_pte(NETWORK.with_suffix(".pte").read_bytes(), name=""))
    named = {
        op.layer.path: precision(op, graph)
        for op in graph.ops
        if isinstance(op.attrs, ops.ConvAttrs | ops.Linear | ops.FloatLinear)
    }
    assert named == {
        "frontend.conv": "a16w8",
        "frontend.skip": "a16w8",
        "body.0": "a8w4",
        "body.2": "int8",
        "body.4": "int8",  # an output comes from it
        "fine": "a16w4",
        "classifier": "a8w4",
        "decode": "float",
    }
    changes = [op for op in graph.ops if isinstance(op.attrs, ops.Requantize)]
    types = {tuple(graph.tensors[i].dtype for i in (*op.inputs, *op.outputs)) for op in changes}
    assert types >= {(DType.S8, DType.S16), (DType.S16, DType.S8)}
    assert len({(op.inputs, op.attrs) for op in changes}) == len(changes)
    made = {index: op for op in graph.ops for index in op.outputs}
    for op in graph.ops:  # what computes in float alone is between floats
        if isinstance(op.attrs, ops.Quantize) and op.inputs[0] in made:
            before = made[op.inputs[0]]
            same = {graph.tensors[i].dtype for i in (before.inputs[0], op.outputs[0])}
            assert same in ({DType.S8}, {DType.F32, DType.S8}, {DType.F32, DType.S16})
    assert program.reference is not None and program.quality is not None
    for seed in range(3):
        row = random_inputs(graph, seed)
        wanted = program.reference(row)
        for number, (have, want) in enumerate(zip(run_graph(graph, row), wanted, strict=True)):
            # PyTorch adds the products of the layer in float in an order of its own.
            np.testing.assert_allclose(have, want, rtol=0, atol=1e-6 if number == 1 else 0)
    assert min(output["sqnr_db"] for output in program.quality["outputs"]) > 30


def test_the_option_is_for_what_the_patterns_leave() -> None:
    """A state, functions between layers, and layers in float that were joined to others."""

    class Kept(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
            self.act = nn.SiLU()
            self.register_buffer("mean", torch.zeros(1, 4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.mean = 0.5 * self.mean + 0.5 * self.first(x)
            return 2 * self.act(self.second(self.mean)) + x

    torch.manual_seed(0)
    samples = [(torch.randn(1, 4),) for _ in range(4)]
    program = lower_model(
        Kept(),
        samples[0],
        calibration=samples,
        quantize="a16w8",
        quantization={"first": "int8", "act": "float"},
    )
    graph = program.graph()
    assert {graph.tensors[state.before].dtype for state in graph.states} <= {DType.F32, DType.S16}
    layers = [op for op in simplify(graph).ops if op.attrs.kind == "linear"]
    found = {(op.layer.path, precision(op, simplify(graph))) for op in layers}
    assert found == {("first", "int8"), ("second", "a16w8")}
    assert ("act", "float") in {(op.layer.path, precision(op, graph)) for op in graph.ops}
    assert not any("has no effect" in warning for warning in program.warnings)
    program = lower_model(Parts(), samples[0], quantize="a16w8", quantization={"*": "float"})
    assert any("QUANTIZE a16w8 has no effect" in warning for warning in program.warnings)
    assert {precision(op, program.graph()) for op in program.graph().ops} <= {"float", "move"}


def test_tables_of_embeddings_in_4_bits_and_tied() -> None:
    """One table of its own, and one that is the matrix of the last layer: each as its codes say."""

    class Words(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.kind, self.word = nn.Embedding(90, 33), nn.Embedding(80, 33)
            self.mix = nn.Linear(33, 33)

        def forward(self, word: torch.Tensor, kind: torch.Tensor) -> torch.Tensor:
            x = self.mix(self.word(word) + self.kind(kind))
            return nn.functional.linear(x, self.word.weight)

    torch.manual_seed(2)
    samples = [(torch.randint(80, (1, 5)), torch.randint(90, (1, 5))) for _ in range(6)]
    program = lower_model(
        Words(),
        samples[0],
        calibration=samples,
        quantize="a16w8",
        quantization={"kind": "a16w4", "mix": "int8"},
    )
    before, after = program.graph(), simplify(program.graph())
    lookups = {op.layer.path: op for op in after.ops if op.kind == "embedding"}
    assert sorted(lookups) == ["kind", "word"]
    own, table = (after.tensors[lookups[name].inputs[0]].data for name in ("kind", "word"))
    assert own is not None and table is not None and abs(own).max() == 7 and abs(table).max() == 127
    (scores,) = (op for op in after.ops if op.kind == "linear" and op.layer.path != "mix")
    assert scores.inputs[1] == lookups["word"].inputs[0]
    # Made-up inputs are rows of both tables, which PyTorch insists on.
    random = np.random.default_rng(0)
    rows = [[random_input(after, i, random) for i in after.inputs] for _ in range(5)]
    assert {int(max(row[n].max() for row in rows)) // 5 for n in (0, 1)} <= {14, 15, 16, 17}
    assert program.reference is not None and program.quality is not None
    for row in [*rows, [np.arange(80)[None, -5:], np.arange(90)[None, -5:]]]:
        for graph in (before, after):
            np.testing.assert_array_equal(run_graph(graph, row)[0], program.reference(row)[0])
    assert program.quality["outputs"][0]["sqnr_db"] > 15


@pytest.mark.parametrize(
    ("word", "size", "parts"),
    [("int8", 640.0, True), ("int8", 3.0, False), ("a16w8", 640.0, False), ("a16w8", 1e5, True)],
)
def test_results_that_join_values_of_very_different_size(
    word: str, size: float, parts: bool
) -> None:
    """Boxes in pixels and their scores keep codes of their own, where one scale would leave the scores
    but a few."""

    class Head(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.box, self.score = nn.Conv2d(3, 4, 3), nn.Conv2d(3, 2, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            boxes = torch.tanh(self.box(x)).flatten(2) * size
            scores = self.score(x).flatten(2).sigmoid()
            every = torch.cat([torch.cat([boxes, scores], 1), torch.cat([-boxes, scores], 1)], 2)
            return every.transpose(1, 2)

    torch.manual_seed(1)
    samples = [(torch.randn(1, 3, 6, 6),) for _ in range(6)]
    model = Head().eval()
    program = lower_model(model, samples[0], calibration=samples, quantize=word)
    graph = simplify(program.graph())
    kinds = [op.kind for op in graph.ops]
    assert ("dequantize" in kinds[:-1]) == parts
    assert program.reference is not None
    for sample in samples:
        row = [x.numpy() for x in sample]
        (found,) = run_graph(graph, row)
        np.testing.assert_array_equal(found, program.reference(tuple(row))[0])
        off = abs(found - model(*sample).detach().numpy())
        assert off[..., :4].max() < size * 0.02 and off[..., 4:].max() < 0.03
    codes = int8_io(graph, None)
    wanted = DType.S16 if word == "a16w8" else DType.S8
    assert codes.tensors[codes.outputs[0]].dtype is (DType.F32 if parts else wanted)
    if not parts:
        return
    with pytest.raises(CortexMError, match="does not come from codes") as error:
        int8_io(graph, wanted)
    assert "codes or uint8" in error.value.hint


def test_a_softmax_over_scores_without_any_difference() -> None:
    """As in large networks before training; ExecuTorch's least difference of codes would not fit 64 bits."""

    class Even(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scores = nn.Linear(8, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.softmax(self.scores(x) * 1e-18, -1)

    torch.manual_seed(1)
    samples = [(torch.randn(2, 8),) for _ in range(4)]
    for word in ("int8", "a16w8"):
        program = lower_model(Even(), samples[0], calibration=samples, quantize=word)
        (found,) = run_graph(program.graph(), [samples[1][0].numpy()])
        np.testing.assert_allclose(found, 0.25, atol=0.005)


@pytest.mark.parametrize(
    ("word", "channel", "shift"), [("int8", 1.0, -1), ("int8", 1e3, 31), ("a16w8", 1.0, -2)]
)
def test_results_finer_than_the_unit_of_their_sums(word: str, channel: float, shift: int) -> None:
    """Behind an input whose range one channel takes that no weight reads, sums are multiplied by less than
    1/2 all the same, as fast kernels require; but for weights of an output that are far above the rest, as
    their steps would be those of all."""

    class Behind(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.linear = nn.Conv2d(8, 16, 3), nn.Linear(16, 5)
            with torch.no_grad():
                self.conv.weight[:, 0] = 0.0
                self.conv.weight[3] *= channel
                self.conv.bias.zero_()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.linear(torch.relu(self.conv(x)).mean((2, 3)))

    torch.manual_seed(1)
    size = torch.ones(1, 8, 1, 1)
    size[:, 0] = 3e3 if word == "int8" else 3e6
    samples = [(torch.randn(1, 8, 6, 6) * size,) for _ in range(6)]
    program = lower_model(Behind(), samples[0], calibration=samples, quantize=word)
    graph = program.graph()
    (conv,) = (op for op in graph.ops if op.kind == "conv2d" and op.layer.path == "conv")
    assert isinstance(conv.attrs, ops.Conv2d)
    shifts = [rescale.shift for rescale in conv.attrs.rescales]
    assert -7 <= min(shifts) <= max(shifts) <= shift and (max(shifts) > 0) == (channel > 1.0)

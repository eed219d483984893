# SPDX-License-Identifier: Apache-2.0
"""Attention, as people write it, computes on codes, and as well as ExecuTorch's fake-quantized model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from cortexm_tools.frontend.capture.capture import capture
from cortexm_tools.frontend.load.model_file import LoadedModel
from cortexm_tools.frontend.lower.lower import lower
from cortexm_tools.frontend.nodes import operator_name
from cortexm_tools.frontend.quiet import import_executorch
from cortexm_tools.ir import Array, DType
from cortexm_tools.ir.interpreter import run_sequence
from cortexm_tools.options.precision import parse_quantization
from cortexm_tools.program import Program
from cortexm_tools.runner import run_in_order
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.batches import Job, run_jobs
from tests.support.thorough import THOROUGH, share

ROWS, WIDTH, HEADS = 10, 16, 4
LATER = torch.ones(ROWS, ROWS, dtype=torch.bool).triu(1)
DISTANCE = (torch.arange(ROWS)[:, None] - torch.arange(ROWS)).abs().float()
SLOPES = torch.tensor([2.0**-k for k in range(1, HEADS + 1)])[:, None, None]
PADDING = torch.arange(7)[None] > 4
MINUS_INFINITY = torch.zeros(ROWS, ROWS).masked_fill(LATER, -math.inf)


class Attention(nn.Module):
    """Projections, and what `scores` and the other arguments say; the sum with the input."""

    def __init__(self, key_heads: int = HEADS, **given: Any) -> None:
        super().__init__()
        depth = WIDTH // HEADS
        self.key_heads, self.given = key_heads, given
        self.q, self.o = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.kv = nn.Linear(WIDTH, 2 * key_heads * depth)

    def forward(self, x: Tensor) -> Tensor:
        k, v = self.kv(x).chunk(2, -1)
        q, k, v = (
            y.unflatten(-1, (heads, -1)).transpose(1, 2)
            for y, heads in ((self.q(x), HEADS), (k, self.key_heads), (v, self.key_heads))
        )
        return x + self.o(self.attend(q, k, v).transpose(1, 2).flatten(2))

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, **self.given)


class Placed(Attention):
    """With a bias that layers make of distances, as relative positions in timm."""

    def __init__(self) -> None:
        super().__init__()
        layers = nn.Linear(1, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, HEADS), nn.Dropout(0.0)
        self.bias = nn.Sequential(*layers)

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        bias = self.bias(DISTANCE.reshape(ROWS, ROWS, 1)).permute(2, 0, 1)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias)


class Forms(nn.Module):
    """An output for each."""

    def __init__(self) -> None:
        super().__init__()
        self.forms = nn.ModuleList(
            [
                Attention(key_heads=2, enable_gqa=True, is_causal=True, scale=0.7),
                Attention(attn_mask=MINUS_INFINITY - SLOPES * DISTANCE),
                Attention(
                    attn_mask=torch.ones(ROWS, ROWS, dtype=torch.bool)
                ),  # Hugging Face's BERT
            ]
        )
        self.own = nn.MultiheadAttention(WIDTH, HEADS)
        self.cross = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.placed = Placed()

    def forward(self, x: Tensor, memory: Tensor, padding: Tensor) -> Any:
        turned = x.transpose(0, 1)
        own, shares = self.own(turned, turned, turned, attn_mask=LATER)
        crossed, _ = self.cross(x, memory, memory, key_padding_mask=padding, need_weights=False)
        return (*(form(x) for form in self.forms), own, shares, crossed, self.placed(x))


def executorch(module: nn.Module, samples: Sequence[tuple[Tensor, ...]]) -> list[list[Array]]:
    """What ExecuTorch's quantizer alone makes of the module."""
    from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    with torch.no_grad():
        graph: Any = torch.export.export(module, samples[0]).module(check_guards=False)
        prepared = prepare_pt2e(graph, CortexMQuantizer())
        for sample in samples:
            prepared(*sample)
        converted = convert_pt2e(prepared)
        return [[y.numpy() for y in converted(*sample)] for sample in samples]


def decibels(want: Sequence[Sequence[Array]], got: Sequence[Sequence[Array]]) -> list[float]:
    """Of each output, over all samples."""
    found = []
    for number in range(len(want[0])):
        real, coded = (np.stack([row[number] for row in rows]) for rows in (want, got))
        found.append(10 * math.log10((real**2).sum() / ((real - coded) ** 2).sum()))
    return found


def test_attention_computes_on_codes() -> None:
    import_executorch()
    torch.manual_seed(1)
    module = Forms().eval()
    for parameter in module.parameters():
        parameter.data *= 1.5 if parameter.dim() > 1 else 1.0
    samples = tuple(
        (torch.randn(1, ROWS, WIDTH) * scale, torch.randn(1, 7, WIDTH), PADDING)
        for scale in (0.6, 0.8, 1.0, 1.2)
    )
    model = LoadedModel(Path(__file__), module, samples[0], samples, None)
    lowered = lower(model, target=Target.parse("cortex-m55"), name="forms")
    graph = simplify(Program("forms", lowered.pte, lowered.layers).graph())
    floats = {
        op.kind for op in graph.ops for i in op.outputs if graph.tensors[i].dtype is DType.F32
    }
    assert floats == {"dequantize"}
    kinds = [op.kind for op in graph.ops]
    assert (kinds.count("softmax"), kinds.count("where")) == (6, 4)
    assert not {"activation", "mul", "add_scalar"} & set(kinds)
    rows = [tuple(x.numpy() for x in sample) for sample in samples]
    real = run_in_order(lowered.float_module, rows)
    ours, theirs = decibels(real, list(run_sequence(graph, rows))), executorch(module, samples)
    assert all(a > b - 1 for a, b in zip(ours, decibels(real, theirs), strict=True))
    assert min(ours) > 24


class Drawn(nn.Module):
    """Attention of sizes and with a mask that are drawn, written in one of several ways, between
    a few queries and other keys. Which keys are padding is an input."""

    WAYS = ("function", "module", "written", "chunked")
    MASKS = ("none", "causal", "additive", "boolean", "padding")

    def __init__(self, way: str, mask: str, random: np.random.Generator) -> None:
        super().__init__()
        self.way, self.mask = way, mask
        heads, depth, rows, keys = (int(n) for n in random.integers((1, 3, 3, 3), (5, 10, 12, 14)))
        if way == "module":
            heads = 1 + heads % 3
        self.heads, self.depth, self.width = heads, depth, heads * depth
        keys = rows if mask == "causal" or way == "chunked" else keys
        self.shapes = (1, rows, self.width), (1, keys, self.width)
        shape = (rows, keys)
        shown = random.integers(0, 2, shape) == 1
        shown[..., 0] = True  # every query has a key
        if way == "function":
            shown[-1] = False  # but one, whose result is zero
        shown = np.tri(*shape, dtype=bool) if mask == "causal" else shown
        bias = np.where(shown, random.normal(size=shape), -math.inf).astype(np.float32)
        self.register_buffer("shown", torch.from_numpy(shown))
        self.register_buffer("bias", torch.from_numpy(bias))
        self.own = nn.MultiheadAttention(self.width, heads, batch_first=True)
        self.q, self.kv = nn.Linear(self.width, self.width), nn.Linear(self.width, 2 * self.width)
        self.qkv = nn.Linear(self.width, 3 * self.width)

    def sample(self, random: np.random.Generator) -> tuple[Tensor, ...]:
        inputs = tuple(torch.randn(shape) for shape in self.shapes)
        if self.mask != "padding":
            return inputs
        keys = torch.from_numpy(random.integers(0, 3, (1, self.shapes[1][1])) > 0)
        keys[:, 0] = True
        return *inputs, keys

    def forward(self, x: Tensor, y: Tensor, given: Tensor | None = None) -> Tensor:
        shown = self.shown if given is None else given
        if self.way == "module":
            masks: dict[str, Any] = {"attn_mask": self.bias if self.mask == "additive" else ~shown}
            if self.mask == "padding":
                masks = {"key_padding_mask": ~shown}
            masks = {} if self.mask == "none" else masks
            result: Tensor = self.own(x, y, y, need_weights=False, **masks)[0]
            return result
        if self.way == "chunked":
            q, k, v = self.qkv(x).chunk(3, -1)
        else:
            q, (k, v) = self.q(x), self.kv(y).split(self.width, -1)
        q, k, v = (z.view(1, -1, self.heads, self.depth) for z in (q, k, v))
        if self.way == "function":
            q, k, v = (z.transpose(1, 2) for z in (q, k, v))
            mask = self.bias if self.mask == "additive" else shown
            mask = None if self.mask in ("none", "causal") else mask
            causal = self.mask == "causal"
            z = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)
            return z.transpose(1, 2).reshape(x.shape)
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(self.depth)
        if self.mask == "additive":
            scores = scores + self.bias
        elif self.mask != "none":
            scores = scores.masked_fill(~shown, -math.inf)
        return torch.einsum("bhqk,bkhd->bqhd", scores.softmax(-1), v).flatten(2)


class Several(nn.Module):
    def __init__(self, drawn: Sequence[Drawn]) -> None:
        super().__init__()
        self.drawn = nn.ModuleList(drawn)

    def forward(self, *inputs: Tensor) -> list[Tensor]:
        left = list(inputs)
        results = []
        for each in self.drawn:
            count = 3 if each.mask == "padding" else 2
            results.append(each(*left[:count]))
            left = left[count:]
        return results


@pytest.mark.parametrize("seed", [2])
def test_attention_of_any_sizes_and_masks(seed: int, tmp_path: Path) -> None:
    """In one model, so that the lowering is shared."""
    import_executorch()
    random = np.random.default_rng(seed)
    torch.manual_seed(seed)
    chosen = [(Drawn.WAYS[n % 4], Drawn.MASKS[(seed + n) % 5]) for n in range(5 if THOROUGH else 3)]
    drawn = [Drawn(*each, random) for each in chosen]
    samples = tuple(tuple(x for each in drawn for x in each.sample(random)) for _ in range(4))
    model = LoadedModel(Path(__file__), Several(drawn).eval(), samples[0], samples, None)
    lowered = lower(model, target=Target.parse("cortex-m55"), name="drawn")
    program = Program("drawn", lowered.pte, lowered.layers)
    graph = simplify(program.graph())
    floats = {
        op.kind for op in graph.ops for i in op.outputs if graph.tensors[i].dtype is DType.F32
    }
    assert floats == {"dequantize"}
    assert sum(op.kind == "softmax" for op in graph.ops) == len(drawn)
    rows = [tuple(x.numpy() for x in sample) for sample in samples]
    wanted = list(run_sequence(graph, rows))
    assert min(decibels(run_in_order(lowered.float_module, rows), wanted)) > 25
    for core in share(("cortex-m55", "cortex-m4"), 0, 2):
        (got,) = run_jobs([Job(program, rows)], Target.parse(core), tmp_path / core, poison=True)
        for outputs, expected in zip(got, wanted, strict=True):
            for a, b in zip(outputs, expected, strict=True):
                np.testing.assert_array_equal(a, b)


def _product(scores: Tensor) -> Tensor:
    kept = (~LATER).float()
    return scores * kept - 1e4 * (1 - kept)


def _where(scores: Tensor) -> Tensor:
    return torch.where(~LATER, scores, torch.full([], torch.finfo(scores.dtype).min))


def _bias(scores: Tensor) -> Tensor:
    return scores + MINUS_INFINITY - SLOPES * DISTANCE


def _whole_rows(scores: Tensor) -> Tensor:
    return scores + torch.full((ROWS, ROWS), -1e9)


def _moved_rows(scores: Tensor) -> Tensor:
    return scores + torch.full((ROWS, ROWS), -128.0)


def _some_rows(scores: Tensor) -> Tensor:
    return scores + torch.where(LATER | (torch.arange(ROWS) == 3)[:, None], -1e9, 0.0)


class Written(nn.Module):
    """Written out, with masks as in the first language models."""

    def __init__(self, mask: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.mask = mask

    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        q = (q * 0.5).view(1, ROWS, HEADS, 4).transpose(1, 2)
        return self.mask(q @ (k / 2.0).transpose(-2, -1)).softmax(-1)


@pytest.mark.parametrize(
    ("mask", "wanted"),
    [
        (_product, ["unary", "masked_fill"]),
        (_where, ["unary", "where"]),
        (_bias, ["unary", "expand", "add", "masked_fill"]),
        (_whole_rows, ["unary", "masked_fill"]),
        (_moved_rows, ["unary"]),
        (_some_rows, ["unary", "masked_fill", "masked_fill"]),
    ],
)
def test_constants_that_leave_scores_out_are_masks(
    mask: Callable[[Tensor], Tensor], wanted: list[str]
) -> None:
    torch.manual_seed(1)
    q, k = torch.randn(1, ROWS, WIDTH), torch.randn(1, HEADS, ROWS, 4)
    module = Written(mask).eval()
    graph = capture(LoadedModel(Path(__file__), module, (q, k), None, None)).graph
    names = [operator_name(node).rpartition("::")[2] for node in graph.graph.nodes]
    names = [name for name in names if name != "_assert_tensor_metadata"]
    assert names[names.index("matmul") + 1 : names.index("softmax")] == wanted
    assert "unary" not in names[: names.index("matmul")]
    torch.testing.assert_close(graph(q, k), module(q, k))


def _by_attention(q: Tensor, k: Tensor, padding: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, k, attn_mask=~padding)


def _added(scores: Tensor, padding: Tensor) -> Tensor:
    mask = torch.zeros(padding.shape).masked_fill_(padding, -math.inf)
    return scores + (MINUS_INFINITY + mask)


def _in_words(scores: Tensor, padding: Tensor) -> Tensor:
    return scores + (1.0 - (~padding).float()).expand(1, 1, ROWS, ROWS) * -10000.0


def _chosen(scores: Tensor, padding: Tensor) -> Tensor:
    return torch.where(~padding, torch.zeros(()), torch.tensor(-1e9)) + scores


class Padded(nn.Module):
    """Attention that leaves out what a mask says that comes at run time."""

    def __init__(self, mask: Callable[[Tensor, Tensor], Tensor] | None) -> None:
        super().__init__()
        self.mask = mask

    def forward(self, q: Tensor, k: Tensor, padding: Tensor) -> Tensor:
        q = q.view(1, ROWS, HEADS, 4).transpose(1, 2)
        padding = padding[:, None, None, :]
        if self.mask is None:
            return _by_attention(q, k, padding)
        return self.mask(q @ k.transpose(-2, -1), padding).softmax(-1) @ k


@pytest.mark.parametrize("mask", [None, _added, _in_words, _chosen])
def test_masks_made_at_run_time_are_choices(
    mask: Callable[[Tensor, Tensor], Tensor] | None,
) -> None:
    torch.manual_seed(1)
    q, k = torch.randn(1, ROWS, WIDTH), torch.randn(1, HEADS, ROWS, 4)
    sample = q, k, torch.arange(ROWS)[None] > 7
    module = Padded(mask).eval()
    graph = capture(LoadedModel(Path(__file__), module, sample, None, None)).graph
    names = [operator_name(node).rpartition("::")[2] for node in graph.graph.nodes]
    assert "masked_fill" in names and "softmax" in names
    assert not {"add", "mul", "rsub", "where", "scaled_dot_product_attention"} & set(names)
    torch.testing.assert_close(graph(*sample), module(*sample))


class Shifted(nn.Module):
    """Windows as Swin's: a bias of places and a mask of windows, whose sum is larger than a constant."""

    WINDOWS = 12

    def __init__(self) -> None:
        super().__init__()
        self.attention = Attention()
        self.bias = nn.Parameter(torch.randn(1, HEADS, ROWS, ROWS))
        part = torch.arange(ROWS) < torch.arange(self.WINDOWS)[:, None]
        mask = torch.where(part[:, None, :] == part[:, :, None], 0.0, -100.0)
        self.register_buffer("mask", mask[:, None])

    def forward(self, x: Tensor) -> Tensor:
        self.attention.given["attn_mask"] = self.bias + self.mask
        return self.attention(x)


def test_windows_have_a_bias_and_a_mask() -> None:
    import_executorch()
    torch.manual_seed(3)
    samples = tuple((torch.randn(Shifted.WINDOWS, ROWS, WIDTH),) for _ in range(4))
    model = LoadedModel(Path(__file__), Shifted().eval(), samples[0], samples, None)
    lowered = lower(model, target=Target.parse("cortex-m55"), name="shifted")
    graph = simplify(Program("shifted", lowered.pte, lowered.layers).graph())
    kinds = [op.kind for op in graph.ops]
    assert kinds.count("softmax") == kinds.count("where") == 1
    assert max(t.nbytes for t in graph.tensors if t.is_constant) == Shifted.WINDOWS * ROWS * ROWS
    rows = [tuple(x.numpy() for x in sample) for sample in samples]
    real = run_in_order(lowered.float_module, rows)
    assert min(decibels(real, list(run_sequence(graph, rows)))) > 30
    given = [[model.module(*sample).detach().numpy()] for sample in samples]
    assert min(decibels(given, real)) > 100


class Translator(nn.Module):
    """PyTorch's encoder and decoder, with masks that its modules would look at: one made in the call,
    one of the model, which is as causal as the other."""

    def __init__(self) -> None:
        super().__init__()
        sizes = WIDTH, HEADS, 2 * WIDTH
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(*sizes, batch_first=True), 1, enable_nested_tensor=False
        )
        self.decoder = nn.TransformerDecoder(
            nn.TransformerDecoderLayer(*sizes, batch_first=True), 1
        )
        self.register_buffer("later", nn.Transformer.generate_square_subsequent_mask(ROWS))

    def forward(self, x: Tensor, y: Tensor, padding: Tensor) -> Tensor:
        near = torch.ones(ROWS, ROWS, dtype=torch.bool).tril(-3)
        memory = self.encoder(x, mask=near, src_key_padding_mask=padding)
        result: Tensor = self.decoder(y, memory, tgt_mask=self.later)
        return result


def test_encoders_and_decoders_take_masks_without_looking_at_them() -> None:
    torch.manual_seed(1)
    sample = *torch.randn(2, 1, ROWS, WIDTH), torch.arange(ROWS)[None] > 7
    module = Translator().eval()
    graph = capture(LoadedModel(Path(__file__), module, sample, None, None)).graph
    torch.testing.assert_close(graph(*sample), module(*sample))


class Pooled(nn.Module):
    """Scores that leave some out, of which two softmaxes take the shares, along either axis."""

    def forward(self, x: Tensor, padding: Tensor) -> tuple[Tensor, Tensor]:
        scores = (2 * x).tanh().masked_fill(padding, -1e4)
        return scores.softmax(1), scores.softmax(-1)


def test_softmaxes_along_two_axes_share_masked_scores() -> None:
    torch.manual_seed(1)
    sample = torch.randn(1, 10, 6), torch.rand(1, 10, 6) > 0.7
    loaded = LoadedModel(Path(__file__), Pooled().eval(), sample, None, None)
    result = lower(loaded, target=Target.parse("cortex-m55"), name="pooled")
    given = [value.numpy() for value in sample]
    for want, got in zip(result.float_module(given), result.reference(given), strict=True):
        np.testing.assert_allclose(got, want, atol=0.01)


class Rotated(nn.Module):
    """Rotary embeddings as Llama's reference has them, of all places and of one that is given."""

    turns: Tensor

    def __init__(self) -> None:
        super().__init__()
        angles = torch.outer(torch.arange(ROWS), 10.0 ** -torch.arange(WIDTH // 8))
        self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles))
        self.q, self.k = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor, place: Tensor) -> Tensor:
        q, k = (f(x).view(1, ROWS, HEADS, -1) for f in (self.q, self.k))
        q = self.rotated(q, self.turns.view(1, ROWS, 1, -1)).transpose(1, 2)
        k = self.rotated(k, self.turns[place][:, None, None]).transpose(1, 2)
        return q @ k.transpose(-2, -1)

    def rotated(self, x: Tensor, turns: Tensor) -> Tensor:
        pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * turns).flatten(3).type_as(x)


def test_rotations_by_complex_numbers_compute_on_codes() -> None:
    import_executorch()
    torch.manual_seed(1)
    module = Rotated().eval()
    samples = tuple((torch.randn(1, ROWS, WIDTH), torch.tensor([n])) for n in range(ROWS))
    model = LoadedModel(Path(__file__), module, samples[0], samples, None)
    graph = capture(model).graph
    for sample in samples:
        torch.testing.assert_close(graph(*sample), module(*sample))
    lowered = lower(model, target=Target.parse("cortex-m55"), name="rotated")
    ops = simplify(Program("rotated", lowered.pte, lowered.layers).graph())
    floats = {op.kind for op in ops.ops for i in op.outputs if ops.tensors[i].dtype is DType.F32}
    assert floats == {"dequantize"}
    assert lowered.quality is not None and lowered.quality.level > 30


class Turned(nn.Module):
    """Rotary embeddings as Hugging Face has them, of all places and of one that is given, and shares."""

    cos: Tensor
    sin: Tensor

    def __init__(self) -> None:
        super().__init__()
        angles = torch.outer(torch.arange(ROWS), 10.0 ** -torch.arange(WIDTH // 8)).repeat(1, 2)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())
        self.q, self.k = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor, place: Tensor) -> Tensor:
        q, k = (f(x).view(1, ROWS, HEADS, -1).transpose(1, 2) for f in (self.q, self.k))
        q = q * self.cos + self.rotated(q) * self.sin
        k = k * self.cos[place] + self.rotated(k) * self.sin[place].unsqueeze(0)
        return (q @ k.transpose(-2, -1) * 0.5).softmax(-1)

    def rotated(self, x: Tensor) -> Tensor:
        first, second = x.chunk(2, -1)
        return torch.cat((-second, first), -1)


def test_rotations_of_halves_negate_nothing() -> None:
    """The signs are in the tables of sines; of int16 no factor of the scores is computed, either."""
    import_executorch()
    torch.manual_seed(1)
    module = Turned().eval()
    samples = tuple((torch.randn(1, ROWS, WIDTH), torch.tensor([n])) for n in range(ROWS))
    model = LoadedModel(Path(__file__), module, samples[0], samples, None)
    graph = capture(model).graph
    assert "aten::neg" not in {operator_name(node) for node in graph.graph.nodes}
    for sample in samples:
        torch.testing.assert_close(graph(*sample), module(*sample), rtol=0, atol=0)
    lowered = lower(
        model,
        target=Target.parse("cortex-m55"),
        name="turned",
        quantization=parse_quantization("a16w8"),
    )
    ops = simplify(Program("turned", lowered.pte, lowered.layers).graph())
    kinds = [op.kind for op in ops.ops]
    assert kinds.count("concat") == 2 and not {"activation", "requantize"} & set(kinds)
    assert lowered.quality is not None and lowered.quality.level > 40


def test_signs_stay_where_the_other_factor_is_read_without_them() -> None:
    x, table = torch.randn(2, 6), torch.randn(6)

    class Both(nn.Module):
        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            joined = torch.cat((-x[:, 3:], x[:, :3]), -1)
            rows = torch.cat((-x[:1], x[1:])) * x.sum(1, keepdim=True)
            return joined * table + x * table, rows * joined.abs()

    graph = capture(LoadedModel(Path(__file__), Both().eval(), (x,), None, None)).graph
    names = [operator_name(node) for node in graph.graph.nodes]
    assert names.count("aten::neg") == 2
    for have, want in zip(graph(x), Both()(x), strict=True):
        torch.testing.assert_close(have, want)

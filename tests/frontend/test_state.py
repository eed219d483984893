# SPDX-License-Identifier: Apache-2.0
"""Models that keep something from one call to the next: what becomes of it at each stage."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from cortexm_tools.compile import CompileOptions, compile_program
from cortexm_tools.errors import CortexMError
from cortexm_tools.frontend.capture.runner import ModuleRunner
from cortexm_tools.frontend.capture.scatter import say_writes
from cortexm_tools.frontend.capture.state import Stateless, find_states
from cortexm_tools.frontend.load.model_file import LoadedModel
from cortexm_tools.frontend.lower.lower import Lowered, lower
from cortexm_tools.frontend.quiet import import_executorch
from cortexm_tools.ir.interpreter import run_sequence
from cortexm_tools.program import load_program
from cortexm_tools.pte import read_pte
from cortexm_tools.run.command import RunRequest, run_program
from cortexm_tools.runner import run_in_order
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support import state_models
from tests.support.state_models import CASES, VECTOR, Net, linear, load

HERE = Path(__file__)
M55 = Target.parse("cortex-m55")


def each(names: Iterable[str]) -> pytest.MarkDecorator:
    """For each of these cases; what is asked of one case is asked in one worker, which lowers it."""
    return pytest.mark.parametrize(
        "name",
        [pytest.param(name, marks=pytest.mark.xdist_group(f"state-{name}")) for name in names],
    )


def tensors(module: nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in module.state_dict().items()}


def rows(loaded: LoadedModel, count: int = 7) -> list[tuple[np.ndarray[Any, Any], ...]]:
    return [tuple(x.numpy() for x in sample) for sample in (loaded.calibration or ())[:count]]


def eager(loaded: LoadedModel, count: int = 7) -> list[tuple[np.ndarray[Any, Any], ...]]:
    """What the user's module gives, call after call."""
    module = copy.deepcopy(loaded.module)
    with torch.no_grad():
        return [
            tuple(
                y.clone().numpy()
                for y in torch.utils._pytree.tree_leaves(module(sample[0].clone()))
            )
            for sample in (loaded.calibration or ())[:count]
        ]


@cache
def lowered(name: str) -> tuple[LoadedModel, Lowered, dict[str, torch.Tensor]]:
    """The model of a case, lowered, and its tensors before."""
    build, shape, _ = CASES[name]
    loaded = load(build, shape)
    before = tensors(loaded.module)
    return loaded, lower(loaded, target=M55, name="net"), before


def contents(pte: bytes) -> Any:
    from executorch.exir._serialize._program import deserialize_pte_binary

    return deserialize_pte_binary(pte)


def state_values(pte: bytes) -> list[tuple[int, Any, bytes]]:
    """(number, tensor, initial bytes) of the values that are states."""
    file = contents(pte)
    values = [value.val for value in file.program.execution_plan[0].values]
    return [
        (number, value, bytes(file.mutable_data[value.data_buffer_idx].storage))
        for number, value in enumerate(values)
        if getattr(value, "allocation_info", None) is not None and value.data_buffer_idx > 0
    ]


def instructions(pte: bytes) -> list[tuple[str, list[int]]]:
    plan = contents(pte).program.execution_plan[0]
    return [
        (plan.operators[i.instr_args.op_index].name, list(i.instr_args.args))
        for i in plan.chains[0].instructions
    ]


def spread(outputs: list[tuple[np.ndarray[Any, Any], ...]], number: int) -> float:
    return float(np.ptp(np.stack([row[number] for row in outputs]).astype(np.float64)))


def differences(a: Any, b: Any, number: int) -> np.ndarray[Any, Any]:
    return np.abs(
        np.stack([row[number] for row in a]).astype(np.float64)
        - np.stack([row[number] for row in b]).astype(np.float64)
    )


@each(CASES)
def test_sequence(name: str) -> None:
    loaded, result, before = lowered(name)
    given, want = rows(loaded), eager(loaded)
    assert max(spread(want, number) for number in range(len(want[0]))) > 0
    in_float = run_in_order(result.float_module, given)
    fake = run_in_order(result.fake_quantized, given)
    reference = run_in_order(result.reference, given)
    for number in range(len(want[0])):
        size = max(spread(want, number), 1e-6)
        assert differences(in_float, want, number).max() <= 1e-5 * size
        assert differences(reference, fake, number).max() <= 0.03 * size
        assert differences(reference, want, number).mean() <= 0.015 * size
    again = run_in_order(result.reference, given)
    for a, b in zip(reference, again, strict=True):
        assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
    continued = result.reference(given[0])  # not the first call
    result.reference.reset()
    assert all(
        np.array_equal(x, y) for x, y in zip(result.reference(given[0]), reference[0], strict=True)
    )
    assert any(not np.array_equal(x, y) for x, y in zip(continued, reference[0], strict=True))
    after = tensors(loaded.module)
    assert list(after) == list(before)
    assert all(torch.equal(after[key], before[key]) for key in before)


# The states of simplified programs whose memory has become a ring: [fours of features, steps, ranks, four].
RINGS = {
    "svdf": {"memory": (2, 4, 2, 4), "memory_position": (1,)},
    "svdf_odd": {"memory": (2, 5, 1, 4), "memory_position": (1,)},
}


@each(CASES)
def test_interpreter_agrees(name: str) -> None:
    """The .pte, read and simplified, gives what ExecuTorch's Python operators give."""
    loaded, result, _ = lowered(name)
    graph = simplify(read_pte(result.pte, name="net"))
    kept = {state.name: graph.tensors[state.before].shape for state in graph.states}
    assert kept == RINGS.get(name, CASES[name][2])
    given = rows(loaded)
    got = [tuple(values) for values in run_sequence(graph, given)]
    want = run_in_order(result.reference, given)
    for number in range(len(want[0])):
        # Average pools and softmax round otherwise in Python.
        allowed = 0.02 if name in ("streaming", "frames", "softmax") else 0
        assert differences(got, want, number).max() <= allowed * spread(want, number)


@each(CASES)
def test_program(name: str) -> None:
    loaded, result, _ = lowered(name)
    states = state_values(result.pte)
    own = dict(loaded.module.named_buffers())
    assert [value.extra_tensor_info.fully_qualified_name for _, value, _ in states] == list(
        CASES[name][2]
    )
    calls = instructions(result.pte)
    writes = calls[-len(states) :]
    assert [operator for operator, _ in writes] == ["aten::copy_"] * len(states)
    sources = {number for number, _, _ in states}
    plan = contents(result.pte).program.execution_plan[0]
    for (number, value, data), (_, args) in zip(states, writes, strict=True):
        initial = own[value.extra_tensor_info.fully_qualified_name]
        assert tuple(value.sizes) == tuple(initial.shape)
        assert data == initial.permute(*value.dim_order).contiguous().numpy().tobytes()
        assert (args[0], args[3], len(args)) == (number, number, 4)
        source = plan.values[args[1]].val
        assert args[1] not in sources
        assert (source.sizes, source.dim_order) == (value.sizes, value.dim_order)
        assert source.scalar_type == value.scalar_type
        assert number not in plan.inputs and number not in plan.outputs
    assert not [args for operator, args in calls[: -len(states)] if operator == "aten::copy_"]
    if name == "frames":
        assert list(states[0][1].dim_order) == [0, 2, 3, 1]


@each(name for name in CASES if name != "counter")
def test_one_quantization(name: str) -> None:
    """A state is read and written with the same scale and zero point: its codes can be kept."""
    _, result, _ = lowered(name)
    plan = contents(result.pte).program.execution_plan[0]
    values = [value.val for value in plan.values]
    calls = instructions(result.pte)
    made = {args[-1]: (operator, args) for operator, args in calls if operator != "aten::copy_"}
    for number, value, _ in state_values(result.pte):
        if value.scalar_type.name != "FLOAT":
            continue
        reads = [args for op, args in calls if number in args[:1] and "copy_" not in op]
        kinds = {
            (values[args[1]].double_val, values[args[2]].int_val)
            for op, args in calls
            if op == "cortex_m::quantize_per_tensor" and args[0] == number
        }
        assert len(reads) >= 1 and len(kinds) == 1
        (source,) = [args[1] for op, args in calls if op == "aten::copy_" and args[0] == number]
        if source in plan.inputs:
            continue  # quantized when it is read
        operator, args = made[source]
        assert operator == "cortex_m::dequantize_per_tensor"
        assert kinds == {(values[args[1]].double_val, values[args[2]].int_val)}


@each(["streaming", "frames", "swapped", "counter"])
def test_deterministic(name: str) -> None:
    build, shape, _ = CASES[name]
    again = lower(load(build, shape), target=M55, name="net")
    assert again.pte == lowered(name)[1].pte
    assert again.layers == lowered(name)[1].layers


@each(["streaming", "recurrent", "swapped", "twice"])
def test_writes_have_their_line(name: str) -> None:
    _, result, _ = lowered(name)
    forward = {"twice": state_models.Cell.forward, "streaming": state_models.Streaming.forward}
    function = forward.get(name) or getattr(state_models, name)
    lines, first = inspect.getsourcelines(function)
    wanted = {
        f"state_models.py:{first + number}"
        for number, line in enumerate(lines)
        if any(text in line for text in ("copy_(", "net.hidden =", "net.first, ", "self.hidden ="))
    }
    found = [layer for operator, layer in result.layers if operator == "aten::copy_"]
    assert found and {layer.source for layer in found} <= wanted
    assert {layer.path for layer in found} == {"cell" if name == "twice" else ""}


@pytest.mark.parametrize("name", ["recurrent", "counter", "swapped", "delayed", "also_output"])
def test_executorch_runs_it(name: str) -> None:
    """ExecuTorch's own runtime carries the state on; without int8, for which its wheel has no
    operators."""
    runtime = pytest.importorskip("executorch.runtime")
    build, shape, _ = CASES[name]
    loaded = load(build, shape)
    result = lower(loaded, target=M55, name="net", quantization=None)
    program = runtime.Runtime.get().load_program(result.pte)
    method = program.load_method("forward")
    for sample, want in zip(loaded.calibration or (), eager(loaded), strict=False):
        got = method.execute([sample[0]])
        for a, b in zip(got, want, strict=True):
            assert np.allclose(a.numpy(), b, atol=1e-5)


def test_calibration_is_one_sequence() -> None:
    """A sum over all samples needs a range that no single sample has."""

    def total(net: Any, x: torch.Tensor) -> torch.Tensor:
        net.total += x
        return net.out(net.total)

    loaded = load(lambda: Net(total, total=torch.zeros(VECTOR), out=linear()), VECTOR)
    samples = tuple((x[0].abs(),) for x in loaded.calibration or ())
    loaded = LoadedModel(loaded.path, loaded.module, samples[0], samples, None)
    result = lower(loaded, target=M55, name="net")
    given, want = rows(loaded, 16), eager(loaded, 16)
    assert float(want[-1][0].max()) > 3 * float(np.abs(want[0][0]).max())
    got = run_in_order(result.reference, given)
    assert differences(got, want, 0).mean() <= 0.02 * spread(want, 0)


def test_documented_model_runs(tmp_path: Path) -> None:
    """docs/state.md's, as C on this machine: a sequence of calls with labels."""
    text = (HERE.parents[2] / "docs" / "state.md").read_text()
    model = text.split("```python\n")[1].split("```")[0]
    path = tmp_path / "model.py"
    path.write_text(
        f"import torch\nfrom torch import nn\n{model}"
        "torch.manual_seed(1)\n"
        "ModelUnderTest, ModelInputs = Stream, (torch.randn(1, 8, 4),)\n"
        "CalibrationInputs = [(torch.randn(1, 8, 4),) for _ in range(40)]\n"
        "EvaluationInputs = torch.randn(12, 1, 8, 4), torch.zeros(12, dtype=torch.long)\n"
    )
    target = Target.parse("host")
    program = load_program(path, name="stream", target=target)
    compiled = compile_program(program, CompileOptions(target))
    assert [state.name for state in compiled.plan.graph.states] == ["last"]
    report = run_program(compiled, RunRequest())
    assert report.passed
    assert report.data["invocations"] == 12
    assert report.data["executorch_reference"]["differing"] == 0
    assert report.data["evaluation"]["samples"] == 12
    lines = {layer.source for name, layer in program.layers if name == "aten::copy_"}
    number = path.read_text().splitlines().index("        self.last.copy_(window[..., 4:])") + 1
    assert lines == {f"model.py:{number}"}


def test_unused_state_is_left_out() -> None:
    def function(net: Any, x: torch.Tensor) -> torch.Tensor:
        net.calls += 1
        net.last = x * 2
        net.seen = x.softmax(-1)  # for whom it may concern
        net.level = torch.zeros_like(net.level)
        for _ in range(3):
            y = net.out(x)
            if net.level.shape != y.shape:  # as the neurons of snnTorch
                net.level = torch.zeros_like(y)
            net.level = 0.5 * net.level + y
        return net.level

    module = Net(function, calls=torch.tensor(0), last=torch.zeros(VECTOR), out=linear())
    module.register_buffer("level", torch.zeros(0))
    module.seen = torch.empty(0, dtype=torch.float64)
    result = lower(load(lambda: module, VECTOR), target=M55, name="net")
    assert state_values(result.pte) == []
    assert "aten::copy_" not in [operator for operator, _ in result.layers]


def test_plain_attributes_are_states() -> None:
    def function(net: Any, x: torch.Tensor) -> torch.Tensor:
        net.sum = net.sum * 0.5 + x
        return net.out(net.sum)

    module = Net(function, out=linear())
    module.sum = torch.ones(VECTOR)
    loaded = load(lambda: module, VECTOR)
    result = lower(loaded, target=M55, name="net")
    got, want = run_in_order(result.reference, rows(loaded)), eager(loaded)
    assert differences(got, want, 0).mean() <= 0.015 * spread(want, 0)
    assert torch.equal(module.sum, torch.ones(VECTOR))


def test_two_names_of_one_tensor() -> None:
    def function(net: Any, x: torch.Tensor) -> torch.Tensor:
        net.one.add_(x)
        return net.out(net.other)

    module = Net(function, one=torch.zeros(VECTOR), out=linear())
    module.register_buffer("other", module.one)
    loaded = load(lambda: module, VECTOR)
    result = lower(loaded, target=M55, name="net")
    assert len(state_values(result.pte)) == 1
    got = run_in_order(result.float_module, rows(loaded))
    assert differences(got, eager(loaded), 0).max() == 0


def test_data_of_states_and_constants_are_kept_apart() -> None:
    """ExecuTorch's emitter looks among the constants for the initial bytes of a named buffer."""

    def function(net: Any, x: torch.Tensor) -> torch.Tensor:
        net.one, net.two = net.one * 0.5 + x, net.two + x
        return net.one + net.two + net.constant

    parts = {name: torch.full(VECTOR, 0.5) for name in ("constant", "one", "two")}
    loaded = load(lambda: Net(function, **parts), VECTOR)
    result = lower(loaded, target=M55, name="net", quantization=None)
    states = state_values(result.pte)
    assert [value.extra_tensor_info.fully_qualified_name for _, value, _ in states] == [
        "one",
        "two",
    ]
    assert [data for _, _, data in states] == [parts["one"].numpy().tobytes()] * 2
    graph = read_pte(result.pte, name="net")
    got = [tuple(values) for values in run_sequence(graph, rows(loaded))]
    assert differences(got, eager(loaded), 0).max() < 1e-6


def growing(net: Any, x: torch.Tensor) -> torch.Tensor:
    net.past = torch.cat([net.past, x], 1)
    return net.past[:, -4:]


def counted(net: Any, x: torch.Tensor) -> torch.Tensor:
    net.number += 1
    return net.out(x) * net.number


def listed(net: Any, x: torch.Tensor) -> torch.Tensor:
    net.list[0] = net.list[0] + x
    return net.out(net.list[0])


def made_late(net: Any, x: torch.Tensor) -> torch.Tensor:
    if net.late is None:
        net.late = torch.zeros_like(x)
    net.late = net.late + x
    return net.out(net.late)


def shared(net: Any, x: torch.Tensor) -> torch.Tensor:
    net.whole.add_(x)
    return net.out(net.part)


def with_view(net: Net) -> Net:
    net.part = net.whole[:]
    return net


def of_weight(net: Net) -> Net:
    net.register_buffer("whole", net.out.weight.detach()[:1])
    net.part = torch.zeros(VECTOR)
    return net


def parameter(net: Any, x: torch.Tensor) -> torch.Tensor:
    net.out.weight[:, 1:] *= 2
    return net.out(x)


def data(net: Any, x: torch.Tensor) -> torch.Tensor:
    net.past.data = net.past.data + x
    return net.out(net.past)


REFUSED: dict[str, tuple[Callable[[], nn.Module], str, str, str]] = {
    "growing": (lambda: Net(growing, past=torch.zeros(VECTOR)),
                "state 'past' changes its shape from 1x8 to 1x16", "net.past = torch.cat",
                "torch.cat([state, x])"),
    "counted": (lambda: Net(counted, number=0, out=linear()),
                "second call gives other outputs than the first", "", "register_buffer"),
    "listed": (lambda: Net(listed, list=[torch.zeros(VECTOR)], out=linear()),
               "second call gives other outputs than the first", "", "neither a list"),
    "late": (lambda: Net(made_late, late=None, out=linear()),
             "makes its state 'late' when it is first called", "", "register it as a buffer"),
    "shared": (lambda: with_view(Net(shared, whole=torch.zeros(VECTOR), out=linear())),
               "state 'whole' shares its memory with 'part'", "", "keep one"),
    "of_weight": (lambda: of_weight(Net(shared, out=linear())),
                  "state 'whole' shares its memory with 'out.weight'", "", "keep one"),
    "parameter": (lambda: Net(parameter, out=linear()),
                  "changes its parameter 'out.weight' while it runs", "net.out.weight[:, 1:] *= 2",
                  "register_buffer"),
    "data": (lambda: Net(data, past=torch.zeros(VECTOR), out=linear()),
             "torch.export cannot capture", "", "not to its .data"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    build, message, line, hint = REFUSED[name]
    with pytest.raises(CortexMError) as caught:
        lower(load(build, VECTOR, path=HERE), target=M55, name="net")
    assert message in caught.value.message
    assert hint in caught.value.hint
    file, _, number = caught.value.where.partition(":")
    (source,) = (p for p in (HERE, Path(state_models.__file__)) if p.name == file)
    if line:
        assert line in source.read_text().splitlines()[int(number) - 1]


def test_stateless_models_stay_what_they_are() -> None:
    """Lazily made constants and a module that was called before are not state."""

    def function(net: Any, x: torch.Tensor) -> torch.Tensor:
        if net.table is None:
            net.table = torch.arange(8.0)[None]
        return net.out(x + net.table)

    with torch.inference_mode():
        made = torch.ones(2)
    module = Net(function, table=None, out=linear(), nothing=torch.tensor([1.0, torch.nan])).eval()
    module.made = made
    states, repeats = find_states(module, (torch.ones(VECTOR),), HERE.parent)
    assert states == () and repeats
    assert module.table is not None


@pytest.mark.parametrize("state", [False, True])
def test_running_leaves_every_attribute(state: bool) -> None:
    """Whatever the buffers are, None among them: the same objects under the same names after."""

    def function(net: Any, x: torch.Tensor) -> torch.Tensor:
        if state:
            net.count.add_(1)
        return net.a(net.b(net.c(x.reshape(1, 4, 2, 1)))).flatten() + net.one

    module = Net(
        function,
        a=nn.InstanceNorm2d(4),
        b=nn.BatchNorm2d(4, track_running_stats=False),
        c=nn.BatchNorm2d(4),
        count=torch.zeros(1),
        one=torch.ones(1),
    ).eval()
    module.register_buffer("nothing", None)
    module.register_buffer("last", torch.ones(2))

    def contents() -> list[dict[str, Any]]:
        return [{**m.__dict__, "_buffers": dict(m._buffers)} for m in module.modules()]

    before = contents()
    states, repeats = find_states(module, (torch.randn(VECTOR),), HERE.parent)
    assert [s.name for s in states] == ["count"] * state and repeats
    with torch.no_grad():
        Stateless(module, states)(torch.randn(VECTOR), *(s.initial for s in states))
    for old, new in zip(before, contents(), strict=True):
        assert list(new) == list(old) and list(new["_buffers"]) == list(old["_buffers"])
        assert all(new[name] is old[name] for name in old if name != "_buffers")
        assert all(new["_buffers"][name] is value for name, value in old["_buffers"].items())


def test_failure_leaves_the_module_alone() -> None:
    def function(net: Any, x: torch.Tensor) -> torch.Tensor:
        net.one = net.one + x
        net.two.add_(1)
        raise RuntimeError("on the way")

    module = Net(function, one=torch.zeros(VECTOR), two=torch.zeros(2))
    with pytest.raises(RuntimeError, match="on the way"):
        find_states(module, (torch.ones(VECTOR),), HERE.parent)
    assert torch.equal(module.one, torch.zeros(VECTOR))
    assert torch.equal(module.two, torch.zeros(2))


def written(net: Any, x: torch.Tensor) -> torch.Tensor:
    net.a.fill_(2.0)
    net.a[:, 1] = x[:, 0]
    net.b[:, 2:5] *= 2
    net.b.t()[0] += 1
    net.c.zero_()
    net.c[..., -1:].copy_(x[:, :1])
    net.d.addcmul_(x, x, value=0.5)
    net.e[:, ::2] = x[:, ::2]
    net.e[:, 1:-1:3] += x[:, :1]
    return net.a + net.b + net.c + net.d + net.e


def test_writes_through_views() -> None:
    """Of every kind, call after call."""
    from cortexm_tools.frontend.capture.functional import functional

    import_executorch()
    loaded = load(lambda: Net(written, **{n: torch.ones(VECTOR) for n in "abcde"}), VECTOR)
    states, _ = find_states(loaded.module, loaded.example_inputs, HERE.parent)
    assert [state.name for state in states] == list("abcde")
    sample = (*loaded.example_inputs, *(state.initial for state in states))
    program = torch.export.export(Stateless(loaded.module, states), sample, strict=False)
    graph, left = functional(program, states, HERE.parent)
    assert [state.name for state in left] == list("bde")  # the others are written anew every time
    targets = {node.target for node in graph.graph.nodes if node.op == "call_function"}
    assert torch.ops.aten.select_scatter.default not in targets
    assert torch.ops.aten.slice_scatter.default not in targets
    assert torch.ops.aten.copy.default not in targets
    say_writes(graph.graph)  # finds nothing more to do
    run = ModuleRunner(graph, (False,) * 4, left)
    for sample, want in zip(loaded.calibration or (), eager(loaded), strict=False):
        assert np.allclose(run.step(sample)[0].numpy(), want[0], atol=1e-6)

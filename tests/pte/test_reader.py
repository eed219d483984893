# SPDX-License-Identifier: Apache-2.0
"""From a program to a graph: the normalisations, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import ops
from cortexm_tools.ir.types import Layer, same_layout
from cortexm_tools.pte import list_operators, parse_program, read_program, read_pte
from cortexm_tools.pte.call import Call
from cortexm_tools.pte.ops import CONVERTERS
from cortexm_tools.pte.schemas import SCHEMAS
from cortexm_tools.pte.values import (
    Dynamism,
    InstructionKind,
    PteInstruction,
    PteProgram,
    PteTensor,
    ScalarType,
)

from tests.pte.stored import KINDS, graph_of, with_operator
from tests.support.golden import golden_case, golden_cases


def test_every_operator_becomes_its_kind() -> None:
    cases = golden_cases(KINDS)
    assert len(cases) > 500
    for case in cases:
        program = parse_program(case.pte)
        graph = read_program(program, name=case.name)
        expected = [KINDS[instruction.operator] for instruction in program.instructions]
        kinds = [op.kind for op in graph.ops]
        # Views that ExecuTorch left out come back.
        restored = len(kinds) - len(expected)
        assert restored >= 0
        assert sorted(kinds) == sorted([*expected, *["view"] * restored])
        shapes = [graph.tensors[index].shape for index in graph.inputs]
        assert shapes == [array.shape for array in case.inputs]
        for index, array in zip(graph.outputs, case.expected, strict=True):
            assert graph.tensors[index].shape == array.shape
            assert graph.tensors[index].dtype.numpy == array.dtype


# Operators of another family than that in which people look for them: a normalization by constants
# is a product and a sum; a conversion to the type that the operand has is a copy.
ELSEWHERE = {
    "aten::_native_batch_norm_legit_no_training.out": "arithmetic",
    "dim_order_ops::_to_dim_order_copy.out": "move",
}


def test_operators_are_read_in_the_module_of_their_family(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a reader adds is of its module's family, perhaps among operators that help."""
    added: dict[str, set[str]] = {}
    add = Call._add

    def record(call: Call, attrs: ops.Attrs, *more: tuple[int, ...]) -> None:
        assert attrs.declared is not None
        added.setdefault(call.instruction.operator, set()).add(attrs.declared.family)
        add(call, attrs, *more)

    monkeypatch.setattr(Call, "_add", record)
    smallest: dict[str, bytes] = {}
    for case in golden_cases(CONVERTERS):
        for operator in case.operators:
            if operator not in smallest or len(case.pte) < len(smallest[operator]):
                smallest[operator] = case.pte
    for pte in set(smallest.values()):
        read_pte(pte, name="test")
    families = {}
    for operator in added:
        parts = CONVERTERS[operator].__module__.split(".")
        families[operator] = parts[parts.index("ops") + 1]
    assert len(added) > 70
    strangers = {o: added[o] for o, family in families.items() if family not in added[o]}
    assert strangers == {o: {family} for o, family in ELSEWHERE.items() if o in added}


def test_nhwc_operators_are_seen_as_nchw_without_moving_data() -> None:
    for name in ("conv2d", "depthwise_conv2d", "max_pool2d"):
        operator = f"cortex_m::quantized_{name}_nhwc.out"
        names = [case.name for case in golden_cases() if operator in case.operators]
        graph = graph_of(names[0])
        position = [op.kind for op in graph.ops].index(name)
        before, after = graph.ops[position - 1], graph.ops[position + 1]
        for op in (before, after):
            assert isinstance(op.attrs, ops.Transpose)
            x, y = graph.tensors[op.inputs[0]], graph.tensors[op.outputs[0]]
            in_output_dims = tuple(op.attrs.perm.index(d) for d in x.dim_order)
            assert same_layout(y.shape, in_output_dims, y.dim_order)


def _program() -> PteProgram:
    return parse_program(golden_case("activation-linear_relu6").pte)


def _with_instruction(instruction: PteInstruction) -> PteProgram:
    program = _program()
    return replace(program, instructions=(*program.instructions, instruction))


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (InstructionKind.DELEGATE, "delegated"),
        (InstructionKind.MOVE, "control flow"),
        (InstructionKind.JUMP, "control flow"),
    ],
)
def test_other_instructions_are_refused(kind: InstructionKind, message: str) -> None:
    with pytest.raises(CortexMError, match=message):
        read_program(_with_instruction(PteInstruction(kind)), name="test")


def test_freeing_memory_is_ignored() -> None:
    program = _with_instruction(PteInstruction(InstructionKind.FREE))
    assert len(read_program(program, name="test").ops) == 3


def test_delegates_are_refused() -> None:
    with pytest.raises(CortexMError, match="EthosUBackend"):
        read_program(replace(_program(), delegates=("EthosUBackend",)), name="test")


def test_an_unknown_operator_is_named_with_its_layer() -> None:
    program = _with_instruction(
        PteInstruction(InstructionKind.KERNEL, "cortex_m::quantized_conv9d.out", (20,))
    )
    layers = [Layer(), Layer(), Layer(), Layer("features.3", "model.py:41")]
    with pytest.raises(CortexMError, match="no kernel for cortex_m::quantized_conv9d.out") as error:
        read_program(program, name="test", layers=layers)
    assert error.value.where == "features.3 (model.py:41)"
    assert "another version of ExecuTorch" in error.value.hint
    with pytest.raises(CortexMError) as error:
        read_program(program, name="test")
    assert error.value.where == "instruction 3"
    listed = list_operators(program, layers)
    assert [operator.supported for operator in listed] == [True, True, True, False]
    assert listed[3].layer.path == "features.3"


def test_layers_of_another_program_are_ignored() -> None:
    graph = read_program(_program(), name="test", layers=[Layer("a")])
    assert {op.layer for op in graph.ops} == {Layer()}


def _copy_program(value: PteTensor, out: PteTensor, args: tuple[int, ...]) -> PteProgram:
    return PteProgram(
        method="forward",
        values=(value, out),
        inputs=(0,),
        outputs=(args[-1],),
        instructions=(PteInstruction(InstructionKind.KERNEL, "aten::alias_copy.out", args),),
        delegates=(),
        named_data=(),
        file_size=1000,
    )


TENSOR = PteTensor(ScalarType.F32, (2, 3), (0, 1), mutable=True)


def test_dynamic_shapes_are_refused() -> None:
    for dynamism, message in ((Dynamism.BOUND, "dynamic"), (Dynamism.UNBOUND, "run time")):
        program = _copy_program(replace(TENSOR, dynamism=dynamism), TENSOR, (0, 1))
        with pytest.raises(CortexMError, match=message):
            read_program(program, name="test")


def test_a_bound_of_an_inner_tensor_is_its_shape() -> None:
    program = _copy_program(TENSOR, replace(TENSOR, dynamism=Dynamism.BOUND), (0, 1))
    assert read_program(program, name="test").tensors[1].shape == (2, 3)


def test_values_in_an_impossible_order_are_refused() -> None:
    with pytest.raises(CortexMError, match="written twice"):
        read_program(_copy_program(TENSOR, TENSOR, (0, 0)), name="test")
    with pytest.raises(CortexMError, match="before anything is written"):
        read_program(_copy_program(TENSOR, TENSOR, (1, 1)), name="test")


def test_an_operator_may_write_a_state() -> None:
    """With an initial value, it is the result's own memory that lives from call to call."""
    state = replace(TENSOR, data=memoryview(np.arange(6, dtype=np.float32).tobytes()))
    graph = read_program(_copy_program(TENSOR, state, (1, 1)), name="test")
    assert graph.states[0].initial.ravel().tolist() == list(range(6))


def test_constants_are_in_logical_order() -> None:
    data = np.arange(6, dtype=np.float32)
    value = replace(TENSOR, dim_order=(1, 0), data=memoryview(data.tobytes()), mutable=False)
    program = replace(_copy_program(TENSOR, value, (0, 1)), outputs=(1,), instructions=())
    graph = read_program(program, name="test")
    constant = graph.tensors[graph.ops[0].inputs[0]]
    assert constant.data is not None and constant.dim_order == (1, 0)
    assert constant.data.tolist() == [[0, 2, 4], [1, 3, 5]]


def test_an_output_that_is_an_input_is_copied() -> None:
    program = replace(_copy_program(TENSOR, TENSOR, (0, 1)), outputs=(0, 1, 1))
    graph = read_program(program, name="test")
    assert [op.kind for op in graph.ops] == ["clone", "clone", "clone"]
    assert len(set(graph.outputs)) == 3 and not set(graph.outputs) & set(graph.inputs)


def test_the_table_has_the_whole_dialect() -> None:
    dialect = [name for name in CONVERTERS if name.startswith("cortex_m::")]
    assert len(dialect) == 24  # 23 of ExecuTorch 1.5, and pad_contiguous of 1.6


def test_the_number_of_arguments_is_checked() -> None:
    program = with_operator("portable_int8-alias_copy", "aten::cat.out")
    with pytest.raises(CortexMError, match="argument 'tensors' is not a list of tensors"):
        read_program(program, name="test")
    program = with_operator("portable_int8-alias_copy", "cortex_m::quantized_add.out")
    with pytest.raises(CortexMError, match="3 arguments, expected 14"):
        read_program(program, name="test")


# What earlier versions of ExecuTorch left out of their operators' arguments (docs/pipeline.md).
EARLIER = {
    "cortex_m::quantized_conv2d.out": ["scratch"],
    "cortex_m::quantized_depthwise_conv2d.out": ["scratch"],
    "cortex_m::quantized_batch_matmul.out": ["scratch"],
    "cortex_m::quantized_avg_pool2d.out": ["ceil_mode"],
}
REFUSED_EARLIER = {
    "cortex_m::quantized_add.out": ["activation_min", "activation_max"],
    "cortex_m::quantized_avg_pool2d.out": ["ceil_mode", "scratch"],
    "cortex_m::quantized_transpose_conv2d.out": ["scratch", "output_scratch"],
}


def _without(program: PteProgram, operator: str, names: list[str]) -> PteProgram:
    places = [SCHEMAS[operator].positions[name] for name in names]
    instructions = tuple(
        replace(call, args=tuple(arg for at, arg in enumerate(call.args) if at not in places))
        if call.operator == operator
        else call
        for call in program.instructions
    )
    return replace(program, instructions=instructions)


def test_programs_of_earlier_versions_are_read_or_refused_with_advice() -> None:
    read = refused = 0
    for case in golden_cases(cpu="cortex-m55"):
        program = parse_program(case.pte)
        for operator in case.operators & EARLIER.keys():
            earlier = read_program(_without(program, operator, EARLIER[operator]), name="test")
            assert earlier == read_program(program, name="test")
            read += 1
        for operator in case.operators & REFUSED_EARLIER.keys():
            with pytest.raises(CortexMError, match="arguments, expected") as caught:
                read_program(_without(program, operator, REFUSED_EARLIER[operator]), name="test")
            assert "another version of ExecuTorch" in caught.value.hint
            refused += 1
    assert read > 50 and refused > 20

# SPDX-License-Identifier: Apache-2.0
"""Which operators a program needs from us, and in what form.

Operators of the cortex_m dialect have C++ wrappers that serve any program. Of all others (aten, …) the
reader and the plan know what a call computes, so each call is compiled: a `Variant` is one call with its
shapes and numbers fixed. At run time it serves exactly the calls whose arguments have its `signature`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ..errors import CortexMError, did_you_mean
from ..ir import Layer, Tensor, contiguous, same_layout
from ..ir.types import QuantParams
from ..pte.builder import Builder
from ..pte.call import Call
from ..pte.reader import convert_call
from ..pte.schemas import SCHEMAS
from ..pte.values import (
    InstructionKind,
    PteInstruction,
    PteList,
    PteProgram,
    PteTensor,
)
from ..target import Target
from .variants import Variant, chosen, variant_of

# Wrappers in runtime/executorch/include/cortexm/executorch_operators.h: cortex_m::<name>.out.
WRAPPED = {
    operator: operator.removeprefix("cortex_m::").replace(".", "_")
    for operator in SCHEMAS
    if operator.startswith("cortex_m::")
}

# What ExecuTorch's runtime always brings (kernels/prim_ops there).
_PRIMITIVE = ("executorch_prim::", "aten::sym_", "aten::_local_scalar_dense")


@dataclass(frozen=True)
class Operators:
    """The operators of a program.

    Attributes:
        wrapped: operators with a C++ wrapper, and the wrapper's name.
        variants: compiled calls.
        external: operators that the application registers.
    """

    wrapped: dict[str, str]
    variants: tuple[Variant, ...]
    external: tuple[str, ...]


def find_operators(
    program: PteProgram, layers: Sequence[Layer], target: Target, external: Sequence[str] = ()
) -> Operators:
    """What `program` needs.

    Args:
        layers: of the kernel calls in order, or nothing.
        external: operators that the application registers with ExecuTorch itself.

    Raises:
        CortexMError: an operator that neither we nor the application has.
    """
    if program.delegates:
        raise CortexMError(
            f"the program hands work to other backends: {', '.join(program.delegates)}",
            hint="lower the model for cortex_m only",
        )
    known = iter(layers)
    wrapped: dict[str, str] = {}
    variants: dict[tuple[str, tuple[int, ...], tuple[bytes, ...]], Variant] = {}
    seen_external: set[str] = set()
    quants = _Quants(program)
    for number, instruction in enumerate(program.instructions):
        if instruction.kind is not InstructionKind.KERNEL:
            continue
        layer = next(known, Layer())
        name = instruction.operator
        known_quants = quants.before(instruction, number)
        if quants.wrong_view is not None:
            wrong = quants.wrong_view
            raise CortexMError(wrong.message, where=str(layer), hint=wrong.hint)
        if name in external:
            _check_external(program, instruction, layer)
            seen_external.add(name)
        elif name in WRAPPED:
            _check_padding(program, instruction, layer)
            wrapped[name] = WRAPPED[name]
        elif not name.startswith(_PRIMITIVE):
            variant = variant_of(program, instruction, number, layer, target, known_quants)
            variants.setdefault((name, variant.signature, variant.constants), variant)
    left = quants.finish()
    if left is not None:
        raise left
    unused = sorted(set(external) - seen_external)
    if unused:
        names = sorted({i.operator for i in program.instructions})
        raise CortexMError(
            f"EXTERNAL_OPERATORS names {unused[0]}, which the program does not use",
            hint=did_you_mean(unused[0], names),
        )
    return Operators(
        dict(sorted(wrapped.items())), chosen(list(variants.values())), tuple(sorted(seen_external))
    )


def _check_padding(program: PteProgram, instruction: PteInstruction, layer: Layer) -> None:
    """The operators in C++ know padding that is the same on opposite sides."""
    place = SCHEMAS[instruction.operator].positions.get("padding")
    if "conv2d" not in instruction.operator or place is None or len(instruction.args) <= place:
        return
    padding = program.values[instruction.args[place]]
    if isinstance(padding, PteList) and len(padding.items) == 4:
        raise CortexMError(
            "a convolution's padding with four values, as ExecuTorch 1.6 fuses it, is not supported "
            "on ExecuTorch's own runtime",
            where=str(layer),
            hint="leave out RUNTIME executorch: a compiled plan pads each side by itself",
        )


def _check_external(program: PteProgram, instruction: PteInstruction, layer: Layer) -> None:
    """ExecuTorch's own quantized_linear computes nonsense on the other kind of core."""
    if instruction.operator == "cortex_m::quantized_linear.out":
        kernel_sum = SCHEMAS[instruction.operator].positions["kernel_sum"]
        form = (
            "a core with MVE"
            if program.values[instruction.args[kernel_sum]] is not None
            else "a core without MVE"
        )
        raise CortexMError(
            f"cortex_m::quantized_linear.out was lowered for {form}, and ExecuTorch's operator of "
            "this name gives wrong results on other cores without an error",
            where=str(layer),
            hint="take it out of EXTERNAL_OPERATORS: this project's operator reads both forms",
        )


def _require_same_bytes(source: Tensor, view: Tensor) -> None:
    """ExecuTorch takes a view as another name of the same bytes; the program means logical tensors.

    Both are the same where the memory order of both sides is C order, or where nothing changes.
    """
    plain = all(same_layout(t.shape, t.dim_order, contiguous(len(t.shape))) for t in (source, view))
    unchanged = source.shape == view.shape and same_layout(
        view.shape, source.dim_order, view.dim_order
    )
    if not plain and not unchanged:
        raise CortexMError(
            f"a view of a channels_last tensor, {source.shape} as {view.shape}: ExecuTorch's runtime "
            "keeps the order of the bytes, which gives wrong results",
            hint="lower the model with this project (cortexm_add_model(model.py)), export it with "
            "ExecutorchBackendConfig(remove_view_copy=False), or leave out RUNTIME executorch",
        )


class _ViewChecker(Builder):
    """A builder that takes down the first view whose bytes ExecuTorch would not move."""

    wrong: CortexMError | None = None

    def elided_view(self, index: int, value: PteTensor) -> int:
        tensor = super().elided_view(index, value)
        self.check(self.last_operand(), tensor)
        return tensor

    def check(self, source: int, view: int) -> None:
        try:
            _require_same_bytes(self.tensors[source], self.tensors[view])
        except CortexMError as error:
            self.wrong = self.wrong or error


class _Quants:
    """Scale and zero point of values as far as they are known before each instruction."""

    def __init__(self, program: PteProgram) -> None:
        self._program = program
        self._builder = _ViewChecker(program, 4 * program.file_size)
        for number, index in enumerate(program.inputs):
            self._attempt(lambda i=index, n=number: self._builder.add_input(i, n))  # type: ignore[misc]
        self._attempt(self._builder.add_states)

    def before(self, instruction: PteInstruction, number: int) -> dict[int, QuantParams]:
        found = {}
        for index in instruction.args:
            quant = self._builder.quant(index)
            if quant is not None:
                found[index] = quant
        call = Call(self._program, instruction, number, Layer(), self._builder)
        self._attempt(lambda: convert_call(call))
        if instruction.operator == "executorch_prim::et_view.default":
            self._attempt(
                lambda: self._builder.check(
                    self._builder.read(instruction.args[0]), self._builder.read(instruction.args[2])
                )
            )
        return found

    def finish(self) -> CortexMError | None:
        """What is wrong with a view, once all instructions were seen."""
        for index in self._program.outputs:
            self._attempt(lambda i=index: self._builder.read(i))  # type: ignore[misc]
        return self._builder.wrong

    @property
    def wrong_view(self) -> CortexMError | None:
        return self._builder.wrong

    @staticmethod
    def _attempt(action: Callable[[], object]) -> None:
        """What cannot be read has no quantization that anyone needs."""
        with suppress(CortexMError):
            action()

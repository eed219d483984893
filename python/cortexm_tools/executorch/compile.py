# SPDX-License-Identifier: Apache-2.0
"""`cortexm compile --runtime executorch`: a program with its operators for ExecuTorch's runtime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..emit import EmitOptions
from ..errors import CortexMError
from ..plan import Plan
from ..program import Program
from ..pte.program import parse_program
from ..pte.values import PteProgram
from ..report.reading import FORMAT
from ..report.tables import quality_lines, table
from ..target import Target
from ..version import __version__
from .emit import border_plan, model_sources
from .operators import Operators, find_operators
from .pools import Layout, make_layout
from .sizes import Sizes


@dataclass(frozen=True)
class Loaded:
    """A program with what ExecuTorch's runtime needs to run it."""

    program: PteProgram
    operators: Operators
    layout: Layout
    plan: Plan


def prepare(program: Program, target: Target, sizes: Sizes, external: Sequence[str] = ()) -> Loaded:
    """Operators and pools of `program`.

    Raises:
        CortexMError: an operator is missing, or the program is damaged.
    """
    parsed = parse_program(program.pte)
    layers = [layer for _, layer in program.layers]
    calls = sum(1 for instruction in parsed.instructions if instruction.operator)
    operators = find_operators(parsed, layers if len(layers) == calls else (), target, external)
    layout = make_layout(parsed, sizes, operator_temp(operators, sizes))
    plan = border_plan(parsed, layout, target, program.name)
    return Loaded(parsed, operators, layout, plan)


def operator_temp(operators: Operators, sizes: Sizes) -> int:
    """Temporary bytes of the operator that wants most; see call_variant() in variants.cpp."""
    needs: dict[str, tuple[int, int]] = {}
    for variant in operators.variants:
        temp, count = needs.get(variant.operator, (0, 0))
        needs[variant.operator] = (max(temp, variant.temp), max(count, variant.tensor_count))
    return max((temp + count * sizes.size("EValue*") for temp, count in needs.values()), default=0)


def sources(loaded: Loaded, program: Program, sizes: Sizes, options: EmitOptions) -> dict[str, str]:
    """The generated files by name."""
    return model_sources(
        loaded.program, program.pte, loaded.plan, loaded.layout, loaded.operators, sizes, options
    )


def report(loaded: Loaded, program: Program) -> dict[str, Any]:
    """The contents of NAME.report.json. Sizes are bytes."""
    layout, target = loaded.layout, loaded.plan.target
    variants = loaded.operators.variants
    kernels = {call.kernel.symbol for variant in variants for call, _ in variant.calls}
    return {
        "format": FORMAT,
        "name": program.name,
        "cortexm": __version__,
        "runtime": "executorch",
        "program_sha256": program.digest,
        "target": {"cpu": target.core.value, "isa": target.isa.value},
        "arena_bytes": layout.size,
        "pools": pool_bytes(layout),
        "constants_bytes": len(program.pte) + variant_bytes(loaded),
        "pte_bytes": len(program.pte),
        "operators": sorted(loaded.operators.wrapped),
        "compiled_calls": [v.operator for v in variants],
        "external_operators": list(loaded.operators.external),
        "kernels": sorted(kernels),
    }


def variant_bytes(loaded: Loaded) -> int:
    """Bytes of signatures and constants of the compiled calls."""
    return sum(
        4 * len(variant.signature)
        + sum(len(data) for data in variant.constants)
        + sum(constant.nbytes for constant in variant.data)
        for variant in loaded.operators.variants
    )


def pool_bytes(layout: Layout) -> dict[str, int]:
    """What the arena is made of."""
    return {
        "loader": layout.state.size + layout.spans.size,
        "method": layout.method.size,
        "temporary": layout.temp.size,
        "planned": sum(pool.size for pool in layout.planned),
    }


def check(data: dict[str, Any], ram_limit: int | None, flash_limit: int | None) -> None:
    """Raises a CortexMError with a table of what takes the space if a limit is exceeded."""
    if ram_limit is not None and data["arena_bytes"] > ram_limit:
        rows = sorted(((size, pool) for pool, size in data["pools"].items()), reverse=True)
        raise CortexMError(
            f"ExecuTorch's pools need {data['arena_bytes']:,} bytes of RAM, RAM_LIMIT is "
            f"{ram_limit:,}\n" + table(("bytes", "pool"), rows),
            where=data["name"],
            hint="raise RAM_LIMIT, or leave out RUNTIME executorch: a compiled plan needs the planned "
            "memory only, and often less",
        )
    if flash_limit is not None and data["constants_bytes"] > flash_limit:
        raise CortexMError(
            f"the program alone needs {data['constants_bytes']:,} bytes of flash, FLASH_LIMIT is "
            f"{flash_limit:,}",
            where=data["name"],
            hint="use fewer channels in the largest layers, or raise FLASH_LIMIT",
        )


def summary(data: dict[str, Any]) -> str:
    """The few lines that every build prints."""
    target, pools = data["target"], data["pools"]
    parts = ", ".join(f"{size:,} {name}" for name, size in pools.items())
    work = f"{len(data['operators'])} operators, {len(data['compiled_calls'])} compiled calls"
    return "\n".join(
        (
            f"{data['name']} for {target['cpu']} ({target['isa']}), on ExecuTorch's runtime",
            f"  RAM    {data['arena_bytes']:>10,} B arena ({parts})",
            f"  flash  {data['constants_bytes']:>10,} B program and constants",
            f"  work   {work}",
            *quality_lines(data),
        )
    )

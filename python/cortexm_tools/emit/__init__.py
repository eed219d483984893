# SPDX-License-Identifier: Apache-2.0
"""From a plan to C sources. Pure functions; only `files` touches the disk."""

from __future__ import annotations

from ..plan import Plan
from .cmsis_nn import check_text
from .header import header_text
from .model import image_of, model_text
from .options import EmitOptions
from .samples import Sample, samples_header_text, samples_text
from .ties import tie
from .weights import blob_text, weights_text

__all__ = ["EmitOptions", "Sample", "emit", "emit_samples", "emit_weights", "tie"]


def emit(
    plan: Plan,
    options: EmitOptions,
    *,
    pte: bytes | None = None,
    samples: list[Sample] | None = None,
    checks_cmsis_nn: bool = False,
) -> dict[str, str]:
    """The generated files by name.

    Args:
        plan: what to emit.
        options: names, sections, and who asked for it.
        pte: the program itself, if it is to be linked as well (EMBED_PTE).
        checks_cmsis_nn: write what makes the compiler check the CMSIS-NN that is found.
        samples: inputs with expected outputs for a self-check on the device (SAMPLES).
    """
    name = options.name
    files = {
        f"{name}.c": model_text(plan, options),
        f"{name}.h": header_text(
            plan,
            options,
            embeds_pte=pte is not None,
            weights_size=image_of(plan).size if options.weights_apart else 0,
        ),
    }
    if not options.weights_apart:
        files[f"{name}_weights.c"] = weights_text(plan, options)
    if checks_cmsis_nn:
        files[f"{name}_cmsis_nn.c"] = check_text(plan, options)
    if pte is not None:
        files[f"{name}_pte.c"] = blob_text(options, f"{name}_pte", pte)
    if samples is not None:
        files |= emit_samples(options, samples)
    return tie(options, files)


def emit_weights(plan: Plan, options: EmitOptions) -> dict[str, str | bytes]:
    """NAME.weights.bin, the image, and NAME.weights.json, which says what other images must be."""
    apart = image_of(plan)
    image = apart.image(options.name)
    return {
        f"{options.name}.weights.bin": image,
        f"{options.name}.weights.json": apart.contract(options, image),
    }


def emit_samples(options: EmitOptions, samples: list[Sample]) -> dict[str, str]:
    """NAME_samples.h and NAME_samples.c, still to be tied to the others (ties.py)."""
    return {
        f"{options.name}_samples.h": samples_header_text(options, samples),
        f"{options.name}_samples.c": samples_text(options, samples),
    }

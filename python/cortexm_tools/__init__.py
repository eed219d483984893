# SPDX-License-Identifier: Apache-2.0
"""Compiles PyTorch models into static C plans for Arm Cortex-M.

In Python: `compile_model`, `lower_model` and `inspect_model`, whose results are a `CompiledModel` and a
`Program`, and `prepare_qat`; what goes wrong is a `CortexMError` (api.py, docs/python.md). As a program:
``cortexm`` (cli/).

    api, cli, options     what users call, what they can choose, and how they write it
    frontend              PyTorch to .pte; nothing else imports torch
    program, compile      a .pte or .tflite with what is known of it, and all stages behind it in a row:
    pte, litert             a .pte, and what lies beside it, or a .tflite to graph
    ir, simplify            the graph; rewrites that keep every bit
    plan, emit              graph to plan, plan to C
    run, report           images on boards and on this machine; tables
    executorch            the same program on ExecuTorch's own runtime
    kernels               which kernels there are, and the build of those that are called
    testing, models       ExecuTorch's tests on our kernels; the built-in models
    target, runner        cores and instruction sets; models as functions
    arrays                .npy and .npz files of anybody's
    advice, errors        what to do instead of what does not work
    paths, version        where kernels and boards are; which version this is
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .version import __version__

if TYPE_CHECKING:
    from .api import (
        CompiledModel,
        CortexMError,
        Program,
        compile_model,
        inspect_model,
        lower_model,
        prepare_qat,
    )

__all__ = [
    "CompiledModel",
    "CortexMError",
    "Program",
    "__version__",
    "compile_model",
    "inspect_model",
    "lower_model",
    "prepare_qat",
]


def __getattr__(name: str) -> Any:
    # Looked up when it is used: this file is read by interpreters that have no numpy, too.
    if name in __all__:
        from . import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

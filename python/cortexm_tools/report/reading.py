# SPDX-License-Identifier: Apache-2.0
"""NAME.report.json as it is read again, with what a build and a measurement left beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..documents import DAMAGE, json_of, read_file
from ..errors import CortexMError

FORMAT = 1
"""Of NAME.report.json and of what ``cortexm bench --json`` prints: changes when a key changes its
meaning or goes. New keys do not change it."""

_SUFFIX = ".report.json"
_GIVE = "give a NAME.report.json"


@dataclass(frozen=True)
class Report:
    """A model's report.

    Attributes:
        data: of NAME.report.json: docs/report.md.
        footprint: of NAME.footprint.json, which a build leaves beside it; empty without one.
        bench: what ``cortexm bench --json`` counted of the same plan; empty without it.
        path: of NAME.report.json, or what stands for it in messages.
    """

    data: dict[str, Any]
    footprint: dict[str, Any] = field(default_factory=dict)
    bench: dict[str, Any] = field(default_factory=dict)
    path: Path = Path()

    @property
    def is_plan(self) -> bool:
        """Whether it is of a compiled plan, and not of a program on ExecuTorch's runtime."""
        return "pools" not in self.data

    def stack_line(self) -> str:
        """The stack's bound, where the build has left its summary beside the report."""
        bound, note = self.footprint.get("stack"), self.footprint.get("stack_note", "")
        if bound is None:
            return f"\n  stack  not known: {note}" if note else ""
        return f"\n  stack  {bound:>10,} B at most: {note}"


def read_report(path: Path, bench: Path | None = None) -> Report:
    """A report with NAME.footprint.json and NAME.bench.json, as far as they lie beside it.

    Args:
        bench: another place of what ``cortexm bench --json`` printed.

    Raises:
        CortexMError: a file cannot be read, is none of ours or of another format, or `bench` counted
            another plan.
    """
    data = _read(path, _GIVE)
    _check_format(data, path)
    for key in ("name", "target", "arena_bytes", "constants_bytes"):
        if key not in data:
            raise _not_a_report(path, _GIVE)
    name = path.name.removesuffix(_SUFFIX)
    footprint_path = path.with_name(f"{name}.footprint.json")
    footprint: dict[str, Any] = {}
    if footprint_path.is_file():
        footprint = _read(footprint_path, "build the model again")
    given = bench is not None
    bench = bench or path.with_name(f"{name}.bench.json")
    counted: dict[str, Any] = {}
    if given or bench.is_file():
        hint = "give what 'cortexm bench MODEL --json' prints"
        counted = _read(bench, hint)
        _check_format(counted, bench)
        if "layers" not in counted or "program_sha256" not in counted:
            raise CortexMError("is no measurement of this tool", where=str(bench), hint=hint)
        with damaged(Path(f"{path}, {bench}")):
            is_same = same_plan(data, counted)
        if not is_same:
            if given:
                raise CortexMError(
                    f"counts another plan than that of {path}",
                    where=str(bench),
                    hint="run cortexm bench again, with the options of the build",
                )
            counted = {}  # what an earlier build left says nothing of this one
    return Report(data, footprint, counted, path)


@contextmanager
def damaged(path: Path) -> Iterator[None]:
    """What is missing in a report, or of another kind, is a sentence."""
    try:
        yield
    except DAMAGE:
        raise _not_a_report(path, _GIVE) from None


def same_plan(report: dict[str, Any], bench: dict[str, Any]) -> bool:
    """Whether `bench` counted the plan that `report` is about."""
    return (
        report["program_sha256"] == bench["program_sha256"]
        and report["target"] == {"cpu": bench.get("cpu"), "isa": bench.get("isa")}
        and report["arena_bytes"] == bench.get("arena_bytes")
        and [layer["kernels"] for layer in report.get("layers", ())]
        == [layer.get("kernels") for layer in bench["layers"]]
    )


def _read(path: Path, hint: str) -> dict[str, Any]:
    try:
        data = json_of(read_file(path))
    except ValueError:
        raise _not_a_report(path, hint) from None
    if not isinstance(data, dict):
        raise _not_a_report(path, hint)
    return data


def _check_format(data: dict[str, Any], path: Path) -> None:
    found = data.get("format")
    if found == FORMAT:
        return
    if isinstance(found, int) and found > FORMAT:
        raise CortexMError(
            f"has format {found}, this cortexm reads format {FORMAT}",
            where=str(path),
            hint="use the cortexm that wrote it, or a newer one",
        )
    if "cortexm" in data or "instructions_per_mac" in data:
        raise CortexMError(
            "an older cortexm wrote it, without a format number",
            where=str(path),
            hint="build or measure the model again",
        )
    raise _not_a_report(path, _GIVE)


def _not_a_report(path: Path, hint: str) -> CortexMError:
    return CortexMError("is not a report of this tool", where=str(path), hint=hint)

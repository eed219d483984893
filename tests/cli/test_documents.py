# SPDX-License-Identifier: Apache-2.0
"""Files that lie beside what a user names: whatever is in their places, the answer is a sentence."""

from __future__ import annotations

import copy
import itertools
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortexm_tools import cli
from cortexm_tools.documents import MOST_TEXT, json_of

from tests.cli.test_strangers import CASE, QUICK, answers

Files = dict[str, Any]
MEASURED = {
    **{"format": "cortexm-measurement", "version": 1, "board": "b", "cpu": "cortex-m4"},
    **{"isa": "dsp", "emulated": False, "counter": "DWT", "matched": True, "cycles": 100},
    **{
        "model": {"name": "net"},
        "kernels": {},
        "clock": {},
        "layers": [],
        "mix": {"alu": 80, "load": 9},
    },
}

COSTS = {"readings": [0, 1], "measurements": [], "cycles": {"alu": [1, 1.5], "load": [1, 2]}}


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Files]:
    """A folder with a program and an export of it, and all documents that are read with them."""
    folder = tmp_path_factory.mktemp("beside")
    (folder / "net.pte").write_bytes(CASE.pte)
    words = ["compile", f"{folder}/net.pte", "--quiet", "--weights", "partition"]
    assert cli.main([*words, "--out", f"{folder}/out"]) == 0
    assert cli.main(["export", f"{folder}/net.pte", "--quiet", "--out", f"{folder}/export"]) == 0
    report = json.loads((folder / "out/net.report.json").read_text())
    layer = {"operator": "conv2d", "layer": "a (b.py:1)", "before_sqnr_db": 40.0, "sqnr_db": 30.0}
    worst = {"worst_sqnr_db": 9.0, "dimension": 2, "channel": 1, "constant": [1], "beyond": 0.5}
    report["quality"] = {
        **{
            "inputs": 1,
            "available": 1,
            "source": "example",
            "worst_layer": layer,
            "layers": [layer],
        },
        **{"outputs": [{"output": 0, "sqnr_db": 30.0, **worst}], "float": ["a"]},
        **{"float_gain_db": 20.0},
    }
    layers = [{"kernels": x["kernels"], "instructions": 9} for x in report["layers"]]
    calls = [{"op": "a::b", "path": "x", "source": "y", "call": "z"}]
    digest = report["program_sha256"]
    return folder, {
        "net.report.json": report,
        "net.footprint.json": {
            **{"stack": 100, "stack_note": "a 60 > b 40", "flash": 9, "ram": 9, "code": 1},
            **{"data": 1, "bss": 1, "arena": 1, "constants": 1, "largest": []},
        },
        "net.bench.json": {
            **{"format": 1, "layers": layers, "program_sha256": digest, **report["target"]},
            **{"arena_bytes": report["arena_bytes"], "instructions": 18, "board": "b"},
            **{"instructions_per_mac": 0.5, "estimate": {"cycles_low": 9, "cycles_high": 20}},
            **{"stack_bound": {"bytes": 9}, "flash_by_part": {"kernels": 9}},
        },
        "net.layers.json": {"format": 1, "pte_sha256": digest, "kernel_calls": calls},
        "net.weights.json": json.loads((folder / "out/net.weights.json").read_text()),
        "m.json": MEASURED,
        "costs.json": {"format": "cortexm-costs", "version": 1, "cores": {"cortex-m4": COSTS}},
        "export/manifest.json": json.loads((folder / "export/manifest.json").read_text()),
    }


COMMANDS = {
    "net.report.json": (
        "report net.report.json --html --out page.html",
        "compare net.report.json net.report.json --html --out page.html",
        "compile net.pte --out out2 --quiet",
    ),
    "net.footprint.json": ("report net.report.json",),
    "net.bench.json": ("report net.report.json --html --out page.html",),
    "net.layers.json": ("inspect net.pte", "compile net.pte --out out2 --quiet"),
    "net.weights.json": ("weights net.pte --for net.weights.json --out w.bin",),
    "m.json": ("calibrate m.json",),
    "costs.json": ("bench net.pte --cycles costs.json --cpu host",),
    "export/manifest.json": ("export net.pte --quiet --out export",),
}


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where values stand in a document."""
    yield place
    if isinstance(value, (dict, list)):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*place, key))


def changed(value: Any, place: tuple[Any, ...], other: Any) -> Any:
    if not place:
        return other
    whole = copy.deepcopy(value)
    inside = whole
    for step in place[:-1]:
        inside = inside[step]
    inside[place[-1]] = other
    return whole


NESTED: Any = 0
for _ in range(40):
    NESTED = [NESTED]
VALUES = (
    None, True, 0, -1, 10**30, 1e308, float("nan"), float("inf"), "", "\0\ud800\x1b[2J", "../../x", "<b>",
    [], {}, NESTED, [None], {"\ud800": 1},
)  # fmt: skip


@pytest.fixture
def inside(beside: tuple[Path, Files], monkeypatch: pytest.MonkeyPatch) -> Files:
    """The documents, as they should be, in the current folder."""
    folder, documents = beside
    monkeypatch.chdir(folder)
    write(documents)
    return documents


def write(documents: Files) -> None:
    for name, document in documents.items():
        Path(name).write_text(json.dumps(document))


def test_documents_as_they_should_be(inside: Files, capsys: pytest.CaptureFixture[str]) -> None:
    """So that what follows tests something."""
    for command in itertools.chain(*COMMANDS.values()):
        write(inside)
        status, said = answers(command.split(), capsys)
        assert status == 0 or "no emulated board runs host" in said, said


@settings(QUICK, max_examples=30)
@given(data=st.data())
def test_any_value_in_a_document(
    data: st.DataObject, inside: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    name = data.draw(st.sampled_from(sorted(COMMANDS)))
    place = data.draw(st.sampled_from(list(places(inside[name]))))
    write(inside)
    document = changed(inside[name], place, data.draw(st.sampled_from(VALUES)))
    Path(name).write_text(json.dumps(document))
    for command in COMMANDS[name]:
        answers(command.split(), capsys)


def test_what_is_no_file_is_not_read(inside: Files, capsys: pytest.CaptureFixture[str]) -> None:
    def device(path: str) -> None:
        os.symlink("/dev/zero", path)

    def large(path: str) -> None:
        with open(path, "wb") as file:
            file.truncate(MOST_TEXT + 1)  # it takes no room

    kinds: tuple[tuple[Callable[[str], None], str], ...] = (
        (os.mkfifo, "is not a regular file"),
        (device, "is not a regular file"),
        (large, f"has more than {MOST_TEXT:,} bytes"),
    )
    arrays = {"in.npz": ("run net.pte --host --inputs in.npz",)}
    for (make, message), name in itertools.product(kinds, [*COMMANDS, *arrays]):
        if name in arrays and make is large:
            continue  # they have a limit of their own
        Path(name).unlink(missing_ok=True)
        make(name)
        for command in {**COMMANDS, **arrays}[name]:
            status, said = answers(command.split(), capsys)
            # What need not be there is only looked for as a file.
            is_optional = name in ("net.footprint.json", "net.bench.json") and make is not large
            assert message in said or (is_optional and status == 0), said
        os.unlink(name)
        write(inside)


def test_values_are_plain() -> None:
    text = json.dumps({"a\0": ["\ud800", 1, 0.5, None, True, "ä\n"]}).encode()
    assert json_of(text) == {"a\\x00": ["\\ud800", 1, 0.5, None, True, "ä\n"]}
    for bad in ("[" * 40 + "]" * 40, "[" * 100_000, "NaN", "-Infinity", "1e999", "1" * 30, "\xff"):
        with pytest.raises(ValueError):
            json_of(bad.encode("latin-1"))

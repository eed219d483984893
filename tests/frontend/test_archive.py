# SPDX-License-Identifier: Apache-2.0
"""A .pt2 is data: whatever stands in it, nothing of it runs."""

from __future__ import annotations

import builtins
import dataclasses
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch._export.serde import schema
from torch.export.pt2_archive import PT2ArchiveReader, PT2ArchiveWriter

from cortexm_tools.errors import CortexMError
from cortexm_tools.frontend.load.saved import load_exported
from cortexm_tools.frontend.quiet import import_executorch, quiet

CONFIG = "data/weights/model_weights_config.json"
MODEL = "models/model.json"


class Net(nn.Module):
    """Weights, a buffer and a constant, a string, a region, and outputs with names."""

    def __init__(self) -> None:
        super().__init__()
        self.last = nn.Linear(4, 3)
        self.register_buffer("scale", torch.ones(1))
        self.shift = torch.ones(3)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        y = nn.functional.gelu(self.last(x.flatten(1)), approximate="tanh") + self.shift
        with torch.no_grad():
            return {"scores": y * self.scale}


Records = dict[str, bytes]


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Records:
    """The entries of a .pt2 with a free batch, but for those that PyTorch writes by itself."""
    import_executorch()
    path = tmp_path_factory.mktemp("archive") / "net.pt2"
    batch = {"x": {0: torch.export.Dim("batch", min=1, max=8)}}
    with quiet():
        program = torch.export.export(Net().eval(), (torch.ones(2, 2, 2),), dynamic_shapes=batch)
        torch.export.save(program, path)
    reader = PT2ArchiveReader(str(path))
    names = [n for n in reader.get_file_names() if n.split("/")[0] not in (".data", "byteorder")]
    return {name: reader.read_bytes(name) for name in names}


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What code of a file would have called."""
    calls: list[str] = []
    monkeypatch.setattr(builtins, "ran_by_a_file", calls.append, raising=False)
    return calls


def load(records: Records, folder: Path) -> nn.Module:
    path = folder / "net.pt2"
    with PT2ArchiveWriter(str(path)) as writer:
        for name, data in records.items():
            writer.write_bytes(name, data)
    return load_exported(path, None, None).module


def changed(records: Records, entry: str, text: str, other: str) -> Records:
    assert text in records[entry].decode()
    return {**records, entry: records[entry].decode().replace(text, other).encode()}


def pickled(value: object) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


class Evil:
    def __reduce__(self) -> Any:
        return eval, ("ran_by_a_file('pickle')",)


FIELDS = {
    field.name
    for kind in vars(schema).values()
    if dataclasses.is_dataclass(kind)
    for field in dataclasses.fields(kind)
}


def strings(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], bool]]:
    """Where strings of the file's own stand in a document: values, and keys (True)."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key not in FIELDS:
                yield (*place, key), True
            yield from strings(part, (*place, key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from strings(part, (*place, number))
    elif isinstance(value, str):
        yield place, False


def replaced(document: Any, place: tuple[Any, ...], is_key: bool, text: str) -> bytes:
    document = json.loads(json.dumps(document))
    inside = document
    for step in place[:-1]:
        inside = inside[step]
    if is_key:
        inside[text] = inside.pop(place[-1])
    else:
        inside[place[-1]] = text
    return json.dumps(document).encode()


CODE = "ran_by_a_file('name')"
TEXTS = (
    CODE,
    f"x={CODE}",
    f"x\n    {CODE}\n    y",
    f'"),{CODE},("',
    "torch.builtins.ran_by_a_file",
    '[1, {"type": "collections.defaultdict", "children_spec": [], "context": {"default_factory_module":'
    ' "this", "default_factory_name": "s", "dict_context": []}}]',
)


@pytest.mark.parametrize("entry", [MODEL, CONFIG])
def test_no_string_runs(entry: str, records: Records, ran: list[str], tmp_path: Path) -> None:
    """Code in place of each string, where strings of one kind stand for each other."""
    document = json.loads(records[entry])
    kinds: dict[Any, tuple[tuple[Any, ...], bool]] = {}
    for place, is_key in strings(document):
        kind = tuple(step for step in place if not isinstance(step, int))
        kinds.setdefault((kind[-2:], is_key), (place, is_key))
    loaded = 0
    for place, is_key in kinds.values():
        for text in TEXTS:
            try:
                module = load({**records, entry: replaced(document, place, is_key, text)}, tmp_path)
                loaded += 1
                module(torch.ones(2, 2, 2))
            except (CortexMError, RuntimeError):  # of PyTorch's operators
                continue
            finally:
                assert not ran, f"{text!r} at {place} runs"
    assert loaded or entry == CONFIG


def test_what_runs_code_is_refused(records: Records, ran: list[str], tmp_path: Path) -> None:
    gelu, batch = "torch.ops.aten.gelu.default", "Symbol('s77', positive=True, integer=True)"
    model = records[MODEL].decode()
    assert gelu in model and batch in model
    weight = '"use_pickle": false'
    cases = {
        "'last.weight' as a pickle": {
            **changed(records, CONFIG, weight, '"use_pickle": true'),
            "data/weights/weight_0": pickled(Evil()),
        },
        "an entry 'data/weights/model.pt'": {**records, "data/weights/model.pt": pickled(Evil())},
        "an entry 'data/constants/opaque_obj_0'": {**records, "data/constants/opaque_obj_0": b""},
        "an entry 'data/aotinductor/model/a.so'": {**records, "data/aotinductor/model/a.so": b""},
        "example inputs": {**records, "data/sample_inputs/model.pt": pickled(((Evil(),), {}))},
        "a call of 'torch.os.system'": changed(records, MODEL, gelu, "torch.os.system"),
        "a call of 'torch.ops.aten.from_file.default'": changed(
            records, MODEL, gelu, "torch.ops.aten.from_file.default"
        ),
        "a call of 'torch.ops.aten.gelu'": changed(records, MODEL, gelu, "torch.ops.aten.gelu"),
        "the formula": changed(records, MODEL, batch, CODE),
    }
    for reason, changes in cases.items():
        with pytest.raises(CortexMError, match=f"net.pt2: holds {reason}.*, by which") as refused:
            load(changes, tmp_path)
        assert "torch.export.load('" in refused.value.hint and not ran
    assert load(records, tmp_path)(torch.ones(2, 2, 2))["scores"].shape == (2, 3)


def test_damage_is_one_sentence(records: Records, tmp_path: Path) -> None:
    inputs = "data/sample_inputs/model.pt"
    for data in (b"", b"{}", b"[" * 100_000, b'"\xff"', pickled((torch.ones(1),))):
        for entry in (MODEL, CONFIG, inputs):
            if data or entry != inputs:
                with pytest.raises(CortexMError, match=r"net\.pt2"):
                    load({**records, entry: data}, tmp_path)
    whole = (tmp_path / "net.pt2").read_bytes()
    for size in range(0, len(whole), len(whole) // 20):
        (tmp_path / "net.pt2").write_bytes(whole[:size])
        with pytest.raises(CortexMError, match=r"net\.pt2"):
            load_exported(tmp_path / "net.pt2", None, None)

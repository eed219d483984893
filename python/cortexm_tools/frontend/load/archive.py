# SPDX-License-Identifier: Apache-2.0
"""Programs of torch.export.save, loaded so that nothing in the file runs.

PyTorch's loader unpickles what an archive wants unpickled, loads its compiled libraries, evaluates the
formulas of its dynamic shapes as Python, and writes the names of its nodes into the source of a module.
So an archive is read only if it is what torch.export.save writes for a module of plain tensors: entries of
known names, no payload that is a pickle, operators that compute on tensors, formulas of symbols and
integers, and names that are names. What has been checked is what is loaded: the same bytes, by the same
reader, as PyTorch's own classes.
"""

from __future__ import annotations

import dataclasses
import io
import json
import re
from typing import Any

import torch
from torch._export.serde.schema import ExportedProgram as Written
from torch._export.serde.schema import PayloadConfig
from torch._export.serde.serialize import _bytes_to_dataclass
from torch._export.serde.union import _Union
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.export.pt2_archive import PT2ArchiveReader
from torch.export.pt2_archive._package import load_pt2

from ...errors import CortexMError, printable

_ENTRY = re.compile(
    r"archive_format|archive_version|byteorder|\.data/\w+|models/model\.json|extra/.*"
    r"|data/(weights/weight_\d+|constants/tensor_\d+|sample_inputs/model\.pt)"
    r"|data/(weights/model_weights|constants/model_constants)_config\.json"
)
_NAMESPACES = {"aten", "cortex_m", "dim_order_ops", "quantized_decomposed", "torchao"}
_OF_FILES = torch.ops.aten.from_file  # opens one, or makes it
# What is called on the numbers of shapes, and operators whose arguments are graphs.
_OTHERS = re.compile(
    r"_operator\.(add|sub|mul|floordiv|truediv|mod|neg|eq|ne|lt|le|gt|ge|and_|or_|getitem)"
    r"|math\.(ceil|floor|trunc)|torch\.sym_(int|float|max|min|not|sum|ite)"
    r"|torch\.ops\.higher_order\.(wrap_with_autocast|wrap_with_set_grad_enabled|cond|while_loop|scan"
    r"|map_impl|associative_scan)"
)
_FORMULA = re.compile(
    r"(Symbol\('\w+'(, \w+=(True|False))*\)|(Integer|Add|Mul|Max|Min|Mod|PythonMod|FloorDiv|CeilDiv)\("
    r"|-?\d{1,18}|, |\))*"
)
_CONTAINERS = {"builtins.tuple", "builtins.list", "builtins.dict", "collections.OrderedDict"}
# Fields of the classes that archives are written from. Text that stays text; guards are left out by those
# who make a module without them.
_FREE = {
    *("Node.metadata", "GraphModule.metadata", "ExportedProgram.guards_code"),
    *("Argument.as_string", "Argument.as_strings", "ConstantValue.as_string"),
}
_NEVER = {"Argument.as_operator", "Argument.as_custom_obj", "InputSpec.custom_obj"}


class _RunsCode(Exception):
    """An archive is more than data; says what is in it."""


def load_archive(data: bytes, where: str) -> ExportedProgram:
    """The program in a .pt2.

    Raises:
        CortexMError: it holds something that could run.
        Exception: it is damaged, or of another version of PyTorch, in one of many ways.
    """
    try:
        _check_archive(PT2ArchiveReader(io.BytesIO(data)))
    except _RunsCode as reason:
        raise CortexMError(
            f"holds {reason}, by which a file can run code",
            where=where,
            hint="if you trust it, load it in a model.py: "
            f"ModelUnderTest = torch.export.load({where!r}).module()",
        ) from None
    return load_pt2(io.BytesIO(data)).exported_programs["model"]


def _check_archive(archive: PT2ArchiveReader) -> None:
    for entry in archive.get_file_names():
        if _ENTRY.fullmatch(entry) is None:
            raise _RunsCode(f"an entry {printable(entry[:80])!r}")
    for kind in ("weights", "constants"):
        config = archive.read_bytes(f"data/{kind}/model_{kind}_config.json")
        payloads = _bytes_to_dataclass(PayloadConfig, config)
        _check(payloads, "")
        for name, payload in payloads.config.items():
            if payload.use_pickle is not False:
                raise _RunsCode(f"{name!r} as a pickle")
            if not re.fullmatch(r"(weight|tensor)_\d+", payload.path_name):
                raise _RunsCode(f"{name!r}, which is no tensor")
    _check(_bytes_to_dataclass(Written, archive.read_bytes("models/model.json")), "")
    inputs = archive.read_bytes("data/sample_inputs/model.pt")
    try:
        if inputs:
            torch.load(io.BytesIO(inputs), weights_only=True)
    except Exception:  # PyTorch would unpickle whatever it is then
        raise _RunsCode("example inputs that are no plain tensors") from None


def _check(value: Any, field: str) -> None:
    """Walks what stands in a field, written Class.field, of one of PyTorch's classes."""
    if field in _NEVER:
        raise _RunsCode("objects or functions as arguments")
    if field in _FREE:
        return
    if isinstance(value, _Union):
        _check(value.value, f"{type(value).__name__}.{value.type}")
    elif dataclasses.is_dataclass(value):
        for each in dataclasses.fields(value):
            _check(getattr(value, each.name), f"{type(value).__name__}.{each.name}")
    elif isinstance(value, dict):
        for name, part in value.items():
            _check_text(name)
            _check(part, field)
    elif isinstance(value, list):
        for part in value:
            _check(part, field)
    elif isinstance(value, str):
        _check_string(value, field)


def _check_string(text: str, field: str) -> None:
    if field == "Node.target":
        _check_target(text)
    elif field == "SymExpr.expr_str":
        if _FORMULA.fullmatch(text) is None:
            raise _RunsCode(f"the formula {printable(text[:80])!r}")
    elif field in ("ModuleCallSignature.in_spec", "ModuleCallSignature.out_spec"):
        _check_form(json.loads(text)[1], arguments=field.endswith("in_spec"))
    elif field.endswith((".name", ".as_name", ".forward_arg_names")):
        _check_variable(text)
    else:
        _check_text(text)


def _check_target(text: str) -> None:
    if _OTHERS.fullmatch(text):
        return
    found: Any = None
    if re.fullmatch(r"torch\.ops\.\w+\.\w+\.\w+", text):
        found = torch
        for name in text.split(".")[1:]:
            found = getattr(found, name, None)
    is_known = isinstance(found, OpOverload) and found.namespace in _NAMESPACES
    if not is_known or found.overloadpacket is _OF_FILES:
        raise _RunsCode(f"a call of {printable(text[:80])!r}")


def _check_form(form: Any, *, arguments: bool) -> None:
    """In which containers inputs or outputs lie; the keys of the former are arguments."""
    if form["type"] is None:
        return
    if form["type"] not in _CONTAINERS:
        raise _RunsCode(f"a container {printable(str(form['type'])[:80])!r}")
    for key in json.loads(form["context"]) or ():
        if isinstance(key, str):
            (_check_variable if arguments else _check_text)(key)
        elif not isinstance(key, int):
            raise _RunsCode("a container with keys of other kinds")
    for part in form["children_spec"]:
        _check_form(part, arguments=arguments)


def _check_variable(text: str) -> None:
    """What may stand in code by itself."""
    if text and not text.isidentifier():
        raise _RunsCode(f"the name {printable(text[:80])!r}")


def _check_text(text: str) -> None:
    """What may stand in code as a string."""
    if not text.isprintable() or any(character in text for character in "\"'\\"):
        raise _RunsCode(f"the name {printable(text[:80])!r}")

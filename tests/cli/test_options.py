# SPDX-License-Identifier: Apache-2.0
"""The ledger of options against all that has options: parser, CMake function, documentation."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from cortexm_tools.cli.parser import build_parser, spelled_out
from cortexm_tools.compile import CompileOptions
from cortexm_tools.errors import CortexMError
from cortexm_tools.options import OPTIONS, keywords
from cortexm_tools.options.arena import CallerArena, OwnArena, SharedArena, parse_arena

ROOT = Path(__file__).resolve().parents[2]


def test_tables_of_the_documentation_are_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "option_docs.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_option_says_what_holds_without_it() -> None:
    for option in OPTIONS:
        name = option.cmake or option.flags or option.kconfig
        assert option.default or option.kconfig_default, name
        assert not option.kconfig or option.kconfig_default, name
        assert option.help or option.docs, name
        if type(option.initial) in (int, float):
            assert option.unit and option.range, name
        if option.kind == "value" and (option.cmake or option.flags):
            assert option.written, name


def test_cmake_takes_the_keywords_of_the_ledger() -> None:
    text = (ROOT / "cmake" / "CortexMModel.cmake").read_text(encoding="utf-8")
    for kind, variable in (("flag", "flags"), ("value", "values"), ("list", "lists")):
        (found,) = re.findall(rf"^  set\({variable} ([A-Z][^)]*)\)", text, re.M)
        assert sorted(found.split()) == sorted(keywords(kind)), kind  # type: ignore[arg-type]


def test_parser_starts_from_the_ledgers_defaults() -> None:
    for command in ("compile", "run", "bench"):
        args = vars(build_parser().parse_args([command, "x.pte"]))
        for option in OPTIONS:
            if option.dest and command in option.commands:
                assert args[option.dest] == option.value_of(None), option.flags


def test_a_switch_may_stand_before_the_model() -> None:
    for words, precision in (
        (["x.pte"], "int8"),
        (["-q", "x.pte"], "int8"),
        (["--quantize", "x.pte"], "int8"),
        (["x.pte", "--quantize"], "int8"),
        (["--quantize", "a8w4", "x.pte"], "a8w4"),
        (["--quantize=a8w4", "x.pte"], "a8w4"),
        (["--no-quantize", "x.pte"], "none"),
    ):
        args = build_parser().parse_args(["compile", *spelled_out(words)])
        assert (args.quantize, args.model) == (precision, Path("x.pte")), words
    with pytest.raises(SystemExit):
        build_parser().parse_args(["compile", *spelled_out(["--quantize", "a8w5", "x.pte"])])


def test_fields_of_the_options_are_documented() -> None:
    text = CompileOptions.__doc__ or ""
    for field in fields(CompileOptions):
        assert re.search(rf"^ {{8}}(\w+, )*{field.name}(, \w+)*: ", text, re.M), field.name


def test_an_arena_is_one_of_three() -> None:
    said = {"own": OwnArena(), "caller": CallerArena(), "shared:a_b": SharedArena("a_b")}
    assert {text: parse_arena(text) for text in said} == said
    assert parse_arena("shared") == parse_arena("shared:") == SharedArena("shared")
    for text in (
        "",
        "Own",
        "own:",
        "caller:x",
        "shared:a-b",
        "shared:a__b",
        "shared:_a",
        "shared:\n",
    ):
        with pytest.raises(CortexMError) as caught:
            parse_arena(text)
        assert caught.value.hint

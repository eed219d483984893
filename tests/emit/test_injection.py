# SPDX-License-Identifier: Apache-2.0
"""Names are data: whatever a .pte, its sidecar or a file name says, the generated code is the same."""

from __future__ import annotations

import dataclasses
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cortexm_tools import cli
from cortexm_tools.emit import EmitOptions, emit, tie
from cortexm_tools.emit.cmsis_nn import check_text
from cortexm_tools.emit.cwriter import c_comment
from cortexm_tools.emit.model import ABI
from cortexm_tools.emit.weights import section_attribute
from cortexm_tools.errors import CortexMError, printable
from cortexm_tools.executorch.emit import operators_text
from cortexm_tools.executorch.operators import find_operators
from cortexm_tools.ir import Graph, Layer
from cortexm_tools.options.memories import parse_region
from cortexm_tools.plan import KernelChoice, make_plan
from cortexm_tools.pte.layers import layers_to_json
from cortexm_tools.pte.program import parse_program
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.golden import golden_case
from tests.support.graphs import Net

# What ends comments, strings and lines, with every way to splice lines; and anything else.
_ENDS = (
    "*/",
    "*\\\n/",
    "*\\ \t\n/",
    "*??/\n/",
    "*?\\\n?/\n/",
    "/*",
    "//",
    '"',
    '\\"',
    "'",
    "??/",
    "\\",
)
_CODE = (
    "__attribute__((constructor)) void f(void){}",
    "\n#error x\n",
    "#define arena 1",
    "\r",
    "\0",
)
NAMES = st.lists(
    st.sampled_from(_ENDS + _CODE + ("\n", " ", "a", "9", "é", "\u202e", "\ud800", "\x1b[2J"))
    | st.characters(),
    min_size=1,
    max_size=6,
).map("".join)

_WRAPPED = golden_case("nn_functional-conv_relu6_avgpool")


def _graph() -> Graph:
    net = Net("net", seed=6)
    x, hidden = net.input((1, 2, 4, 4)), net.tensor((1, 6))
    y = net.view(net.pool(net.activation(net.conv(x, 4)), (4, 4), largest=False), (1, 4))
    total = net.sum(net.linear(y, 6), net.linear(hidden, 6))
    net.keep(hidden, net.activation(total), np.arange(6, dtype=np.int8).reshape(1, 6))
    return net.finish(net.linear(net.states[0].after, 2))


def _named(graph: Graph, name: Callable[[str], str]) -> Graph:
    """`graph` with other names for tensors, layers and states."""
    tensors = [dataclasses.replace(t, name=name(t.name)) for t in graph.tensors]
    ops = [
        dataclasses.replace(op, layer=Layer(name(op.layer.path), name("source")))
        for op in graph.ops
    ]
    states = [dataclasses.replace(s, name=name(s.name)) for s in graph.states]
    return dataclasses.replace(graph, tensors=tuple(tensors), ops=tuple(ops), states=tuple(states))


def _sources(text: str, *, harmless: bool) -> dict[str, str]:
    """All that is generated where every name holds `text`, or an identifier that gives the same symbols."""

    def name(before: str) -> str:
        return re.sub(r"\W+", "_", text + before, flags=re.ASCII) if harmless else text + before

    graph = simplify(_named(_graph(), name))
    options = EmitOptions("net", command=name("command"), digest="0" * 64)
    plan = make_plan(graph, Target.parse("cortex-m3"))
    files = emit(plan, options, pte=b"12345678")
    other = make_plan(graph, Target.parse("cortex-m3"), kernels=KernelChoice.CMSIS_NN)
    files["net_cmsis_nn.c"] = check_text(other, options)
    program = parse_program(_WRAPPED.pte)
    operators = find_operators(program, [Layer(name("a"), name("b"))] * 9, Target.parse("any"))
    assert operators.variants
    files["net_operators.c"] = operators_text(operators, options, Target.parse("any"))
    return tie(options, files)


def _preprocessed(sources: list[dict[str, str]], folder: Path, *flags: str) -> list[list[str]]:
    """The tokens of each file behind the preprocessor, without what is in strings; in one start."""
    parts, mark = [], "END_OF_A_PART"
    for files in sources:
        for name in sorted(files, key=lambda n: (not n.endswith(".h"), n)):
            # The numbers that tie files together say that comments differ.
            text = re.sub("(of_build_|BUILD (?:!= )?)(?:0x)?[0-9a-f]{8}", r"\g<1>0", files[name])
            fresh = "#undef CORTEXM_MODEL_net_H\n#undef NET_BUILD\n" if name == "net.h" else ""
            parts.append(f"{fresh}{text}\n{mark}\n")
    (folder / "all.c").write_text("".join(parts), encoding="utf-8", errors="surrogatepass")
    for header in ("net.h", "check.h", "string.h", "stdint.h", "stddef.h"):
        (folder / header).touch()
    (folder / "cortexm").mkdir(exist_ok=True)
    for header in ("model.h", "kernels.h", "executorch_variants.h"):
        (folder / "cortexm" / header).touch()
    command = ["cc", "-E", "-P", "-nostdinc", f"-DCORTEXM_ABI={ABI}", "-DCORTEXM_NN_CODE=0", *flags]
    done = subprocess.run(
        [*command, "-Wall", "-Werror", "-I.", "all.c"], cwd=folder, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    text = re.sub(rb'"(\\.|[^"\\\n])*"', b'""', done.stdout).decode("utf-8", "surrogateescape")
    found = text.split(mark)
    assert len(found) == len(parts) + 1
    return [part.split() for part in found]


# Each example takes seconds, so none is made smaller.
_FEW = settings(
    max_examples=2,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@_FEW
@given(st.lists(NAMES, min_size=25, max_size=25))
def test_names_do_not_change_the_code(
    tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("names")
    given_ = [_sources(text, harmless=False) for text in names]
    harmless = [_sources(text, harmless=True) for text in names]
    for flags in (), ("-trigraphs",):
        both = _preprocessed([*given_, *harmless], folder, *flags)
        half = len(both) // 2
        assert both[:half] == both[half : 2 * half]


@given(NAMES)
def test_comments_are_one_line_of_plain_text(text: str) -> None:
    comment = c_comment(text)
    assert re.fullmatch(r"[ -~]*", comment) and not re.search(r"[*?]|\\$", comment)
    assert c_comment(comment.replace("\\", "")) == comment.replace("\\", "")


@given(NAMES)
def test_sections_are_plain_names(text: str) -> None:
    if re.fullmatch(r"[A-Za-z0-9_.$]+", text):
        assert f'"{text}"' in section_attribute(text)
        return
    with pytest.raises(CortexMError, match="cannot name a linker section"):
        section_attribute(text)
    with pytest.raises(CortexMError):
        parse_region(f"dtcm=1K@x{text}x")


@given(NAMES)
def test_what_is_printed_is_printable(text: str) -> None:
    assert printable(text).isprintable()
    message = str(CortexMError("m", where=text))
    assert message.isprintable() and message.encode()


@settings(_FEW, max_examples=8)
@given(NAMES)
def test_names_in_a_sidecar_reach_no_terminal(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    folder = tmp_path_factory.mktemp("sidecar")
    pte = _WRAPPED.pte
    (folder / "net.pte").write_bytes(pte)
    calls = [i.operator for i in parse_program(pte).instructions if i.operator]
    sidecar = layers_to_json(pte, [(op, Layer(f"{text}1", text)) for op in calls])
    (folder / "net.layers.json").write_text(sidecar)
    for words in (
        ["inspect", str(folder / "net.pte")],
        ["compile", str(folder / "net.pte"), "--out", str(folder), "--cpu", "any"],
        ["report", str(folder / "net.report.json")],
        ["compile", str(folder / "net.pte"), "--out", str(folder), "--ram-limit", "1"],
        ["compile", str(folder / "net.pte"), "--out", str(folder), "--require-int8"],
    ):
        cli.main(words)
        out, err = capsys.readouterr()
        assert all(char.isprintable() or char == "\n" for char in out + err)
        shown = printable(f"{text}1").strip()
        assert shown in out + err or "require" in words[-1] or "--cpu" in words

# SPDX-License-Identifier: Apache-2.0
"""samples/keyword-spotting: built in one step, it names the words of the recording on the emulated M55 and
M4, and its outputs are the reference's in every byte."""

from __future__ import annotations

import importlib.util
import re
import shutil
import wave
from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.ir import Array, Graph
from cortexm_tools.ir.interpreter import run_sequence
from cortexm_tools.options.stream import Stream
from cortexm_tools.program import Program
from cortexm_tools.simplify import simplify
from cortexm_tools.stream import stream_graph

from tests.cmake.projects import Project, emulate, succeed

SAMPLE = Path(__file__).parents[2] / "samples" / "keyword-spotting"
HOP = 320
SPOKEN = ("yes", "left", "unknown", "stop", "go", "right", "off", "down")
# One after another: the second board is built with the program that was lowered for the first.
BOARDS = ("mps3-an547", "mps2-an386")


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sample whose package is this checkout's."""
    folder = tmp_path_factory.mktemp("keywords") / "keyword-spotting"
    shutil.copytree(SAMPLE, folder)
    return folder


def recording() -> Array:
    """The samples of the recording."""
    with wave.open(str(SAMPLE / "words.wav")) as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2")


def digest(outputs: list[Array]) -> str:
    """FNV-1a of all outputs, as main.c has it."""
    value = 2166136261
    for byte in b"".join(each.tobytes() for each in outputs):
        value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return f"{value:08x}"


@pytest.mark.xdist_group("keyword-spotting")
def test_the_words_of_the_recording(sample: Path) -> None:
    sound, expected, heard = recording(), "", ""
    for board in BOARDS:
        app = Project(sample, sample.parent / board)
        options = {"CORTEXM_BOARD": board, "CortexMModel_DIR": str(SAMPLE.parents[1] / "cmake")}
        succeed(app.configure(**options))
        said = succeed(app.make())
        assert "equals the model over the window in every byte" in said
        if not expected:
            assert "Lowering keyword_spotting.py for cortex-m55" in said
            pte = app.build / "cortexm" / "keyword_spotting" / "keyword_spotting.pte"
            graph = simplify(Program("keyword_spotting", pte.read_bytes()).graph(), io_codes=True)
            assert not [op for op in graph.ops if "float" in op.kind]
            outputs, scale, zero_point = streamed(graph, sound)
            expected, heard = digest(outputs), smoothed(outputs, scale, zero_point)
            # Lowering takes the most time, so the other board gets its result.
            shutil.copy(pte, sample)
            listing = sample / "CMakeLists.txt"
            text = listing.read_text(encoding="utf-8")
            assert "keyword_spotting.py" in text
            listing.write_text(text.replace("keyword_spotting.py", "keyword_spotting.pte"))
        shutil.copy(sample / "words.wav", app.build)
        printed = emulate(board, app.build / "keyword-spotting.elf")
        check_words(printed)
        assert f"{heard}{len(sound) // HOP} calls, outputs {expected}" in printed, printed


def streamed(graph: Graph, sound: Array) -> tuple[list[Array], float, int]:
    """What the reference gives for every call, and its scale and zero point."""
    model = stream_graph(graph, Stream(1, HOP))
    rows = model.hops((sound[None],))
    quant = model.graph.tensors[model.graph.outputs[0]].quant
    assert quant is not None
    return [row[0] for row in run_sequence(model.graph, rows)], quant.scale, quant.zero_point


def smoothed(outputs: list[Array], scale: float, zero_point: int) -> str:
    """What main.c prints of them, by the smoothing with which train.py judges it."""
    spec = importlib.util.spec_from_file_location("train", SAMPLE / "train.py")
    assert spec is not None and spec.loader is not None
    train = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(train)
    found = train.spoken(np.concatenate(outputs), scale, zero_point)
    return "".join(f"{(call + 1) * 0.02:6.2f} s  {train.CLASSES[word]}\n" for call, word in found)


def check_words(printed: str) -> None:
    """Each keyword is named once, within half a second of the end of the second in which it is spoken."""
    heard = [(float(at), word) for at, word in re.findall(r"^ *([\d.]+) s  (\w+)$", printed, re.M)]
    spoken = [(number, word) for number, word in enumerate(SPOKEN) if word != "unknown"]
    assert [word for _, word in heard] == [word for _, word in spoken], printed
    window = len(recording()) / 16000 / len(SPOKEN)
    for (at, _), (number, _) in zip(heard, spoken, strict=True):
        assert (number + 0.5) * window < at < (number + 1.5) * window


def test_main_is_short() -> None:
    assert len((SAMPLE / "main.c").read_text(encoding="utf-8").splitlines()) < 120
    assert (SAMPLE / "keyword_spotting.safetensors").stat().st_size < 100_000

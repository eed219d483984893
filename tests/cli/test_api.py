# SPDX-License-Identifier: Apache-2.0
"""The tools as functions of Python, on stored programs; tests/tools lowers a module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cortexm_tools
from cortexm_tools import CortexMError, compile_model, inspect_model, lower_model
from cortexm_tools.api import _arguments
from cortexm_tools.cli.parser import build_parser
from cortexm_tools.ir import Array
from cortexm_tools.program import EvaluationSet

ROOT = Path(__file__).resolve().parents[2]
PTE = ROOT / "tests" / "data" / "digits" / "digits.pte"


def test_a_program_is_compiled_looked_at_and_written(tmp_path: Path) -> None:
    model = compile_model(PTE, cpu="cortex-m4", io="int8", region=["sram=8K", "ext=64K:weights"])
    assert model.name == "digits" and model.report["arena_bytes"] > 0
    assert "for cortex-m4 (dsp)" in str(model.files["digits.c"])
    assert "--io int8" in str(model.files["digits.c"]) and str(ROOT) not in str(model.files)
    assert "B arena" in model.summary() and "conv2d" in model.layer_table()
    assert set(model.save(tmp_path)) == set(model.files) and model.save(tmp_path) == []
    assert "depthwise_conv2d" in inspect_model(PTE)
    # The same program again, for another core: the same bytes.
    image = np.arange(64, dtype=np.int8).reshape(1, 1, 8, 8)
    other = compile_model(model.program, cpu="cortex-m0", io="int8", name="ignored")
    assert other.name == "digits"
    (ours,), (theirs,) = model(image), other(image)
    assert ours.dtype == np.int8 and ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        ({"cpu": "cortex-m5"}, "unknown CPU 'cortex-m5'", "did you mean"),
        ({"isa": "mvee"}, "unknown ISA 'mvee'", "did you mean 'mve'?"),
        ({"ram_limt": 1}, "unknown option 'ram_limt'", "did you mean 'ram_limit'?"),
        ({"out": "x"}, "unknown option 'out'", "known: "),
        ({"io": "int4"}, "io cannot be 'int4'", "did you mean 'int8'?"),
        ({"optimize": "fast"}, "optimize cannot be 'fast'", "known: balanced, size"),
        ({"ram_limit": 10}, "RAM_LIMIT is 10", ""),
        ({"flash_limit": "lots"}, "'lots' is not a size", "64K"),
        ({"samples": "some"}, "samples: 'some' is neither a number nor 'all'", ""),
        ({"arena": "shared:a-b"}, "'a-b'", "use shared:a_b"),
        ({"region": "dtcm"}, "'dtcm' describes no memory region", "dtcm=128K:fast"),
        ({"name": "int"}, "is a word of C", "model_int"),
        ({"evaluation": []}, "evaluation is for a module", ""),
    ],
)
def test_wrong_arguments(options: dict[str, object], message: str, hint: str) -> None:
    with pytest.raises(CortexMError) as caught:
        compile_model(PTE, **options)  # type: ignore[arg-type]
    assert message in caught.value.message and hint in caught.value.hint


def test_inputs_that_do_not_fit() -> None:
    model = compile_model(PTE)
    for inputs in ((), (np.zeros((1, 1, 8, 8)), 1), (np.zeros(3, np.float32),), (["x"],)):
        with pytest.raises(CortexMError):
            model(*inputs)
    with pytest.raises(CortexMError, match="labels go with the inputs"):
        model.run(labels=[1])


def test_what_is_left_out_is_what_the_command_line_takes() -> None:
    args = vars(build_parser().parse_args(["compile", "x.pte"]))
    given = vars(_arguments({}))
    assert given == {word: args[word] for word in given}


class _Doubled:
    """A model without state, and how often it was begun."""

    begun = 0

    def __call__(self, inputs: tuple[Array, ...], /) -> tuple[Array, ...]:
        assert self.begun == 1
        return (np.multiply(inputs[0], 2),)

    def reset(self) -> None:
        self.begun += 1


def test_accuracy_is_the_share_of_labels_with_the_first_highest_score() -> None:
    scores = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]], np.float32)
    labelled = EvaluationSet(scores[:, None], np.array([0, 1, 1, 1]))
    assert labelled.accuracy_of(_Doubled()) == labelled.accuracy([(s,) for s in scores]) == 0.75


def test_no_torch_is_imported_for_a_program() -> None:
    code = (
        "import sys, cortexm_tools\n"
        "assert 'numpy' not in sys.modules\n"
        f"cortexm_tools.compile_model({str(PTE)!r})\n"
        "assert 'torch' not in sys.modules\n"
    )
    path = str(Path(cortexm_tools.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": path}
    )
    assert done.returncode == 0, done.stderr


def test_every_name_is_documented() -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    for name in set(cortexm_tools.__all__) - {"__version__"}:
        assert getattr(cortexm_tools, name).__doc__ and f"`{name}" in page, name
    with pytest.raises(AttributeError):
        cortexm_tools.nothing  # noqa: B018
    with pytest.raises(CortexMError, match="neither a file nor a built-in model"):
        lower_model("nothing")

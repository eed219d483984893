# SPDX-License-Identifier: Apache-2.0
"""Weights apart from the code: what is in the image, which image fits, and what is refused.

That all kernels find all their values there is for the random networks of tests/device, a third of which
are compiled so.
"""

from __future__ import annotations

import json
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.cli import main
from cortexm_tools.compile import Compiled, CompileOptions, compile_program
from cortexm_tools.emit.apart import HEADER, difference, read_header
from cortexm_tools.emit.model import image_of
from cortexm_tools.errors import CortexMError
from cortexm_tools.options.memories import parse_regions
from cortexm_tools.plan.kernels.params import VALUES, field_types
from cortexm_tools.program import Program
from cortexm_tools.target import Target

from tests.support.apart import FIRST, SECOND

ROOT = Path(__file__).resolve().parents[2]
DIGITS = ROOT / "tests" / "data" / "digits" / "digits.pte"

# What a kernel is, and which elements it reads and writes: the code of a plan, not its weights.
GEOMETRY = """
    in_row_stride in_h in_w out_h out_w out_pixel_stride in_y0 in_x0 in_c out_c kernel_h kernel_w
    stride_h stride_w dilation_h dilation_w groups channels rows in_features out_features batches cols
    inner count a_period b_period outer size bits rank dims in_stride out_stride a_stride b_stride
    pad_top pad_left in_strides out_strides bias_stride filled count_pad_h count_pad_w divisor
    lhs_strides rhs_strides
    a_batch_stride a_row_stride a_inner_stride b_batch_stride b_inner_stride b_col_stride
    bias_batch_stride bias_row_stride bias_col_stride pixels in_batch_stride in_channel_stride
    in_pixel_stride out_batch_stride out_channel_stride condition_stride stride reduced_rank
    reduced_dims reduced_stride in_step out_step value_stride index_stride k value_step index_step
    largest step add offset_stride steps inputs hidden x_start x_batch x_step y_start y_batch y_step
    is_relu planes plane_stride signals samples start hop frames frame points bands adds square_roots
    turns blocks width pitch in_group_stride in_outer_stride in_inner_stride out_group_stride
    out_outer_stride out_inner_stride factor_group_stride factor_outer_stride factor_inner_stride
    mantissa inverse centred columns block_shift block_size way runs in_run out_run outer_rank outer_dims
    in_outer out_outer in_lanes out_lanes away is_tanh memory units
""".split()

CHECK = r"""
#include <stdio.h>
#include <string.h>
#include "small.h"

static _Alignas(16) uint8_t image[SMALL_WEIGHTS_SIZE];

int main(int argc, char **argv)
{
    unsigned flips[16] = {0}, cuts[16] = {0};
    FILE *const file = fopen(argv[argc - 1], "rb");

    if (file == NULL || fread(image, 1, sizeof image, file) != sizeof image) {
        return 1;
    }
    for (size_t size = 0; size < sizeof image; size++) {
        cuts[-cortexm_check_weights(&small_weights, image, size)]++;
    }
    for (size_t bit = 0; bit < 8U * sizeof image; bit++) {
        image[bit / 8U] ^= (uint8_t)(1U << (bit % 8U));
        flips[-cortexm_load_weights(&small_weights, image, sizeof image)]++;
        image[bit / 8U] ^= (uint8_t)(1U << (bit % 8U));
    }
    printf("%d\n", cortexm_load_weights(&small_weights, image, sizeof image));
    for (int code = 0; code < 16; code++) {
        printf("%d: %u cut, %u flipped\n", -code, cuts[code], flips[code]);
    }
    printf("%d %d %d\n", cortexm_load_weights(NULL, image, sizeof image),
           cortexm_check_weights(NULL, image, sizeof image),
           cortexm_check_weights(&small_weights, NULL, sizeof image));
    return 0;
}
"""


def compiled(file: Path = FIRST, cpu: str = "host", **options: object) -> Compiled:
    settled = CompileOptions(target=Target.parse(cpu), weights_apart=True, **options)  # type: ignore
    return compile_program(Program("small", file.read_bytes()), settled)


def image_bytes(result: Compiled) -> bytes:
    image = result.files["small.weights.bin"]
    assert isinstance(image, bytes)
    return image


def test_every_field_is_a_value_or_geometry() -> None:
    pointers, others = set[str](), set[str]()
    for fields in field_types().values():
        for field, c_type in fields.items():
            (pointers if c_type.endswith("*") else others).add(field)
    assert others == VALUES | set(GEOMETRY) and not VALUES & set(GEOMETRY)
    assert "weights" in pointers


@pytest.mark.parametrize("cpu", ["host", "cortex-m55"])
def test_two_trainings_have_one_plan(cpu: str) -> None:
    one, other = compiled(FIRST, cpu), compiled(SECOND, cpu)
    first, second = image_of(one.plan), image_of(other.plan)
    assert first.digest == second.digest and difference(first.lines, second) == ""
    assert image_bytes(one)[HEADER:] != image_bytes(other)[HEADER:]
    # The code differs in nothing but the number that ties its files, and what it was made from.
    lines = [str(result.files["small.c"]).splitlines() for result in (one, other)]
    differing = [pair for pair in zip(*lines, strict=True) if pair[0] != pair[1]]
    assert all("sha256" in line or "SMALL_BUILD" in line for line, _ in differing)


def test_the_image_has_all_constants() -> None:
    result = compiled()
    image, apart = image_bytes(result), image_of(result.plan)
    assert len(image) == apart.size and len(image) % 16 == 0
    for constant in result.plan.constants:
        begin = apart.offset(constant.name)
        assert image[begin : begin + constant.nbytes] == constant.data.tobytes()
    head = read_header(image)
    assert (head.name, head.target, head.abi) == ("small", "host scalar", 4)
    assert head.plan == apart.digest.hex() and zlib.crc32(image[20:]) == int.from_bytes(
        image[16:20], "little"
    )
    assert "small_weights.c" not in result.files
    assert result.report["weights"]["weights_sha256"] == head.weights


def test_what_does_not_fit_is_said() -> None:
    firmware = image_of(compiled(FIRST, "cortex-m55").plan)
    assert (
        "the firmware has 'target cortex-m55 mve', this model 'target cortex-m4 dsp'"
        in difference(firmware.lines, image_of(compiled(FIRST, "cortex-m4").plan))
    )
    words = "conv2d_ungrouped_s8_mve", "conv2d_s8_scalar"
    old = [line.replace(*words) if line.startswith("step 2") else line for line in firmware.lines]
    said = difference(old, firmware)
    kernels = "cortexm_conv2d_s8_scalar in the firmware and cortexm_conv2d_ungrouped_s8_mve here"
    assert said == f"step 2, depthwise_conv2d, has {kernels}"
    old = [line.replace("stride_h=2", "stride_h=1") for line in firmware.lines]
    assert "has stride_h=1 in the firmware and stride_h=2 here" in difference(old, firmware)
    assert difference(firmware.lines[:-1], firmware)


def test_damage_is_found_by_the_tool() -> None:
    image = image_bytes(compiled())
    for size in range(0, len(image), 7):
        with pytest.raises(CortexMError):
            read_header(image[:size])
    random = np.random.default_rng(5)
    for place in random.integers(0, len(image), 200):
        changed = bytearray(image)
        changed[place] ^= 1 << int(random.integers(8))
        with pytest.raises(CortexMError):
            read_header(bytes(changed))


def test_every_cut_and_every_bit_is_found_on_the_device(tmp_path: Path) -> None:
    result = compiled()
    for name in ("small.h", "small.weights.bin"):
        content = result.files[name]
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    # All of the model but the functions that kernels are called in.
    text = str(result.files["small.c"])
    begin, end = text.index("const cortexm_weights_t"), text.index("#define small_")
    (tmp_path / "main.c").write_text(
        CHECK.replace(
            "int main", f"static const uint8_t *small_weights_at;\n{text[begin:end]}int main"
        )
    )
    include, source = ROOT / "runtime" / "include", ROOT / "runtime" / "weights.c"
    options = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O1"]
    options += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    command = [
        "cc",
        *options,
        f"-I{include}",
        f"-I{tmp_path}",
        str(tmp_path / "main.c"),
        str(source),
    ]
    subprocess.run([*command, "-o", str(tmp_path / "check")], check=True)
    done = subprocess.run(
        [str(tmp_path / "check"), str(tmp_path / "small.weights.bin")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    first, *lines, last = done.stdout.splitlines()
    size = len(image_bytes(result))
    assert first == "0" and last == "-1 -1 -1"
    counts = {line.split(":")[0]: line.split(": ")[1] for line in lines}
    # Below the header's size and with another magic number it is no image; a flip in `size` or
    # anything that the checksum covers is damage, and the format and the version are compared first.
    assert counts["0"] == "0 cut, 0 flipped"
    assert counts["-7"] == f"{HEADER} cut, 32 flipped"
    assert counts["-8"] == f"{size - HEADER} cut, {8 * size - 32 - 3 * 32 + 32} flipped"
    assert counts["-4"] == "0 cut, 64 flipped"


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build = [str(FIRST), "--name", "small", "--cpu", "cortex-m4", "--weights", "partition"]
    assert main(["compile", *build, "--out", str(tmp_path), "--quiet"]) == 0
    contract = tmp_path / "small.weights.json"
    out = tmp_path / "new.bin"
    make = ["weights", str(SECOND), "--for", str(contract), "-o", str(out)]
    capsys.readouterr()
    assert main(make) == 0
    said = capsys.readouterr().out
    assert "B for cortex-m4 dsp, fits the firmware (plan " in said and "the same as" not in said
    assert out.read_bytes() == image_bytes(compiled(SECOND, "cortex-m4"))
    assert main(["inspect", str(out)]) == 0
    assert "B of weights for cortex-m4 dsp" in capsys.readouterr().out
    assert main(["weights", str(FIRST), "--for", str(contract), "-o", str(out)]) == 0
    assert "the same as in the firmware's build" in capsys.readouterr().out
    before = out.read_bytes()
    make[1] = str(DIGITS)
    assert main(make) == 1 and out.read_bytes() == before
    said = capsys.readouterr().err
    assert "does not fit the firmware: " in said and "hint: train the same network" in said
    out.write_bytes(before[:-1])
    assert main(["inspect", str(out)]) == 1
    assert "is damaged" in capsys.readouterr().err
    # An export leaves the same image, and what another has to be.
    folder = tmp_path / "export"
    assert main(["export", *build, "--out", str(folder), "--quiet"]) == 0
    apart = (folder / "weights" / "small.weights.bin").read_bytes()
    assert apart == (tmp_path / "small.weights.bin").read_bytes()
    exported = str(folder / "weights" / "small.weights.json")
    assert main(["weights", str(SECOND), "--for", exported, "-o", str(out)]) == 0
    assert out.read_bytes() == image_bytes(compiled(SECOND, "cortex-m4"))
    for text in ("", "{}", json.dumps({**json.loads(contract.read_text()), "command": ["x"]})):
        contract.write_text(text)
        assert main(make) == 1
        said = capsys.readouterr().err
        assert "WEIGHTS partition leaves" in said or "another version of this tool" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"section_weights": ".slow"}, "SECTION_WEIGHTS and WEIGHTS partition"),
        ({"regions": parse_regions(["a=64K", "b=1M:weights"])}, "REGIONS b=…:weights and"),
    ],
)
def test_constants_are_placed_once(options: dict[str, object], message: str) -> None:
    with pytest.raises(CortexMError, match=message):
        compiled(**options)

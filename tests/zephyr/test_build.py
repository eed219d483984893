# SPDX-License-Identifier: Apache-2.0
"""Samples and small applications under west: built, run on emulated boards, built again."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from cortexm_tools import compile_model
from cortexm_tools.export import export_files, write_export
from cortexm_tools.ir import Array
from cortexm_tools.ir.interpreter import run_graph, run_sequence
from cortexm_tools.program import Program

from tests.litert.networks import net_bytes
from tests.support.golden import golden_case
from tests.zephyr.workspace import DIGITS, MAIN, ROOT, Application, compiled, modules, why_not

BOARDS = (
    "mps3/corstone300/an547",
    "mps2/an385",
    "mps2/an386",
    "mps2/an500",
    "mps2/an521/cpu0",
    "native_sim/native/64",
)
AN547 = BOARDS[0]

REGIONS = (
    ROOT / "samples" / "hello-executorch" / "boards" / "mps3_corstone300_an547.overlay"
).read_text(encoding="utf-8")

FLAT = np.full((1, 1, 8, 8), 0.25, np.float32)
RAN = r"ran, sum \d+\s|refused"


def check_sum(text: str, model: bytes = DIGITS.read_bytes(), x: Array = FLAT) -> None:
    """The sum of the output's bytes that the small application prints is the reference's."""
    match = re.search(r"ran, sum (\d+)", text)
    assert match, text
    ((out,),) = run_sequence(Program("digits", model).graph(), [[x]])
    assert int(match[1]) == int(np.frombuffer(out.tobytes(), np.uint8).sum())


@pytest.mark.parametrize("board", BOARDS)
def test_golden_cases_threads_and_interrupts(application, board: str) -> None:
    app = application("tests/zephyr/golden", board)
    app.make()
    text = app.run(r"PROJECT EXECUTION (SUCCESSFUL|FAILED)")
    assert "PROJECT EXECUTION SUCCESSFUL" in text, text


def test_cmsis_nn_is_the_workspaces_module(application) -> None:
    """CONFIG_CORTEXM_KERNELS_CMSIS_NN: golden cases in threads and an interrupt with its kernels."""
    if not any(Path(path).name == "cmsis-nn" for path in modules().split(";")):
        pytest.skip("the workspace has no module cmsis-nn: Zephyr was not built with it")
    app = application("tests/zephyr/golden", AN547)
    app.make("-DCONFIG_CORTEXM_KERNELS_CMSIS_NN=y")
    reports = [json.loads(file.read_text()) for file in app.build.glob("cortexm/*/*.report.json")]
    assert sum("cmsis-nn" in report["libraries"] for report in reports) >= 10
    text = app.run(r"PROJECT EXECUTION (SUCCESSFUL|FAILED)")
    assert "PROJECT EXECUTION SUCCESSFUL" in text, text


def test_hello_from_a_pytorch_file(application) -> None:
    app = application("samples/hello-executorch", AN547)
    said = app.make()
    assert "Lowering model.py for cortex-m55" in said
    assert "model: flash" in said and "model: RAM" in said
    assert app.config("FPU") == "y" and app.config("FPU_SHARING") == "y"
    report = json.loads((app.build / "cortexm/model/model.report.json").read_text())
    assert "mve" in str(report["target"])
    assert "10 of 10 outputs equal" in app.run("PASSED|FAILED")
    assert "ninja: no work to do" in app.make()


def test_two_models_and_a_worker_thread(application) -> None:
    app = application("samples/two-models", AN547)
    app.make()
    # The log is written when nothing else runs.
    text = app.run(r"(?s)(PASSED|FAILED).*digits: output 0")
    assert "10 of 10 scans equal to the reference in both models" in text
    assert re.search(r"<inf> cortexm: strokes: arena \d+ bytes at 0x", text)


def test_keywords_of_a_wav_of_the_host(application) -> None:
    app = application("samples/keyword-spotting", AN547)
    app.make()
    assert app.config("SEMIHOST") == "y"
    text = app.run(r"outputs [0-9a-f]{8}\s")
    heard = re.findall(r"^ *[\d.]+ s  (\w+)\s*$", text, re.M)
    assert heard == ["yes", "left", "stop", "go", "right", "off", "down"], text


def test_keywords_of_a_microphone(application) -> None:
    app = application("samples/keyword-spotting", "arduino_nano_33_ble/nrf52840/sense")
    _needs_nordic()
    app.make()
    assert app.config("AUDIO_DMIC") == "y"
    assert "sound_dmic.c" in (app.build / "compile_commands.json").read_text()


def _needs_nordic() -> None:
    if not any(Path(path).name == "nordic" for path in modules().split(";")):
        pytest.skip("the workspace has no module hal_nordic, which the board needs")


def test_one_cortex_m0(program) -> None:
    app = program("qemu_cortex_m0", "digits.pte")
    _needs_nordic()
    app.make()
    check_sum(app.run(RAN))


def test_a_tflite(program) -> None:
    main = MAIN.replace("size / sizeof(float)", "size").replace("((float *)", "((int8_t *)")
    app = program("mps2/an385", "net.tflite TARGET digits", main=main.replace("0.25f", "10"))
    (app.source / "net.tflite").write_bytes(net_bytes())
    app.make()
    check_sum(app.run(RAN), net_bytes(), np.full((1, 6, 6, 3), 10, np.int8))


def test_touched_import_rebuilds_the_model_only(application, tmp_path: Path) -> None:
    source = tmp_path / "hello"
    shutil.copytree(ROOT / "samples" / "hello-executorch", source)
    listing = source / "CMakeLists.txt"
    listing.write_text(listing.read_text().replace("SAMPLES 10", "SAMPLES 1"))
    (source / "scale.py").write_text("FACTOR = 1.0\n")
    model = source / "model.py"
    text = model.read_text()
    text = text.replace("import numpy as np\n", "import numpy as np\nfrom scale import FACTOR\n")
    text = text.replace("self.classifier(x)", "self.classifier(x) * FACTOR")
    assert text.count("FACTOR") == 2
    model.write_text(text)
    app = application("samples/hello-executorch", "mps2/an385")
    app.source = source
    app.make()
    assert "ninja: no work to do" in app.make()
    # The same program: lowered again, nothing is compiled.
    (source / "scale.py").write_text("FACTOR = 1.0  # as before\n")
    said = app.make()
    assert "Lowering model.py" in said
    assert not compiled(said)
    # Another program: the model's files, the kernels that only it calls, and what Zephyr generates
    # for each link.
    (source / "scale.py").write_text("FACTOR = 2.0\n")
    said = app.make()
    assert {"model.c", "model_weights.c"} & compiled(said)
    assert compiled(said) <= {
        "model.c", "model_weights.c", "model_samples.c", "kernels.c", "main.c", "isr_tables.c",
        "empty_file.c",
    }  # fmt: skip


def test_changed_configuration_rebuilds(program) -> None:
    app = program(AN547, "digits.pte")
    app.make()
    commands = app.build / "compile_commands.json"
    assert "-mcpu=cortex-m55 " in commands.read_text()
    check_sum(app.run(RAN))
    said = app.make("-DCONFIG_FPU=n")
    assert "Compiling digits.pte for cortex-m55" in said
    report = json.loads((app.build / "cortexm/digits/digits.report.json").read_text())
    assert "dsp" in str(report["target"])
    # Without an FPU, quantization at the border of the model is emulated: with the same bits.
    check_sum(app.run(RAN))


def test_kernels_are_optimized_as_configured(program) -> None:
    app = program("mps2/an385", "digits.pte", conf="CONFIG_CORTEXM_OPTIMIZE_SIZE=y\n")
    app.make()
    entries = json.loads((app.build / "compile_commands.json").read_text())
    kernels = [e["command"] for e in entries if "/cortexm_kernels_size.dir/" in e["command"]]
    assert kernels
    for command in kernels:
        # The last one counts.
        assert re.findall(r" (-O\w)", command)[-1] == "-Os"
        assert "-Werror" in command


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("RAM_LIMIT=1024", "RAM_LIMIT is 1,024"),
        ("FLASH_LIMIT=4096", "FLASH_LIMIT is 4,096"),
        ("REQUIRE_INT8=y", "compute in float32, REQUIRE_INT8 forbids it"),
    ],
)
def test_options_that_refuse_a_model(program, option: str, message: str) -> None:
    app = program("mps2/an385", "digits.pte", conf=f"CONFIG_CORTEXM_{option}\n")
    if option.startswith("REQUIRE_INT8"):
        (app.source / "digits.pte").write_bytes(golden_case("add-alpha", "cortex-m4").pte)
    assert message in app.refuse()


def test_checked_kernels_in_an_arena_of_the_application(program) -> None:
    main = MAIN.replace("digits, NULL, 0)", "digits, arena, SIZE)", 1)
    main = main.replace("(&digits, NULL", "(&digits, arena").replace("digits.arena", "arena")
    main = main.replace(
        "int main",
        "#define SIZE DIGITS_ARENA_SIZE\n"
        "static _Alignas(CORTEXM_ARENA_ALIGN) uint8_t arena[SIZE];\n\nint main",
    )
    options = ("ARENA_CALLER=y", "ASSERT=y", "RAM_LIMIT=6144", "FLASH_LIMIT=65536")
    conf = "".join(f"CONFIG_CORTEXM_{option}\n" for option in options)
    app = program("mps2/an385", "digits.pte", conf=conf, main=main)
    app.make()
    entries = json.loads((app.build / "compile_commands.json").read_text())
    kernels = [
        e["command"] for e in entries if "/kernels/src/" in e["file"] or "/stamps/" in e["file"]
    ]
    assert kernels and all("-DCORTEXM_DEBUG" in command for command in kernels)
    check_sum(app.run(RAN))


def test_arena_and_weights_in_chosen_regions(program) -> None:
    app = program(
        AN547,
        "digits.pte",
        overlay=REGIONS,
        conf="CONFIG_CORTEXM_ARENA_CHOSEN=y\nCONFIG_CORTEXM_WEIGHTS_CHOSEN=y\n"
        "CONFIG_BUILD_OUTPUT_BIN=n\n",
    )
    app.make()
    symbols = (app.build / "zephyr" / "zephyr.map").read_text()
    region = re.search(r"^\.cortexm_weights\s+0x0*60000000\s+0x([0-9a-f]+)", symbols, re.M)
    assert region and int(region[1], 16) > 8000
    text = app.run(RAN)
    assert "arena 0x31000" in text
    check_sum(text)


ITCM = """
&itcm { zephyr,memory-region = "BOOT"; }; /* the board's flash */
&sram { zephyr,memory-region = "ITCM"; };
/ { chosen { zephyr,itcm = &sram; }; };
"""


def test_kernels_in_itcm(program) -> None:
    """Their code runs from a memory that start-up code fills from flash."""
    app = program(AN547, "digits.pte", overlay=ITCM, conf="CONFIG_CORTEXM_KERNELS_ITCM=y\n")
    app.make()
    symbols = (app.build / "zephyr" / "zephyr.map").read_text()
    place = re.search(r"\.itcm\.text\.cortexm_conv2d_s8_mve\s+0x0*([0-9a-f]+)", symbols)
    assert place and 0x11000000 <= int(place[1], 16) < 0x11200000
    check_sum(app.run(RAN))


LLEXT_MAIN = r"""
#include <stdio.h>
#include <zephyr/llext/buf_loader.h>
#include <zephyr/llext/llext.h>
#include "digits.h"

static const uint8_t file[] __aligned(16) = {
#include "digits_ext.inc"
};
static _Alignas(CORTEXM_ARENA_ALIGN) uint8_t arena[DIGITS_ARENA_SIZE];

int main(void)
{
    struct llext_buf_loader loader = LLEXT_BUF_LOADER(file, sizeof(file));
    struct llext_load_param how = LLEXT_LOAD_PARAM_DEFAULT;
    struct llext *loaded;
    int sum = 0;

    if (llext_load(&loader.loader, "digits", &loaded, &how) != 0) {
        printf("refused\n");
        return 0;
    }
    const cortexm_model_t *const model = llext_find_sym(&loaded->exp_tab, "digits");

    cortexm_init(model, arena, sizeof(arena));
    const cortexm_tensor_t input = cortexm_input(model, arena, 0);
    for (size_t i = 0; i < input.info->size / sizeof(float); i++) {
        ((float *)input.data)[i] = 0.25f;
    }
    cortexm_invoke(model, arena);
    const cortexm_tensor_t output = cortexm_output(model, arena, 0);
    for (size_t i = 0; i < output.info->size; i++) {
        sum += ((const uint8_t *)output.data)[i];
    }
    printf("ran, sum %d\n", sum);
    return 0;
}
"""


def test_model_in_a_loadable_extension(program) -> None:
    """Its code, kernels and weights are loaded into RAM, and give the bytes of the reference."""
    conf = ["LLEXT=y", "LLEXT_TYPE_ELF_RELOCATABLE=y", "LLEXT_HEAP_SIZE=64", "CORTEXM_LLEXT=y"]
    conf += ["ARM_MPU=n", "MAIN_STACK_SIZE=8192"]
    app = program(
        AN547,
        "digits.pte ARENA caller",
        main=LLEXT_MAIN,
        conf="".join(f"CONFIG_{c}\n" for c in conf),
    )
    listing = app.source / "CMakeLists.txt"
    text = listing.read_text().replace(
        "target_link_libraries(app PRIVATE digits)",
        "cortexm_add_llext(digits_ext digits)\n"
        "generate_inc_file_for_target(app ${PROJECT_BINARY_DIR}/llext/digits_ext.llext\n"
        "  ${ZEPHYR_BINARY_DIR}/include/generated/digits_ext.inc)\n",
    )
    listing.write_text(text)
    app.make()
    assert "cortexm_conv2d_s8_mve" not in (app.build / "zephyr" / "zephyr.map").read_text()
    check_sum(app.run(RAN))


WEIGHTS = """
/ {
    chosen { cortexm,weights-partition = &weights_partition; };

    flash@68000000 {
        compatible = "soc-nv-flash";
        reg = <0x68000000 DT_SIZE_M(1)>;

        partitions {
            compatible = "fixed-partitions";
            #address-cells = <1>;
            #size-cells = <1>;

            weights_partition: partition@10000 { reg = <0x10000 0x4000>; };
        };
    };
};
"""


def test_weights_in_a_partition(program, tmp_path: Path) -> None:
    """Firmware without weights, with those of its build, and with damaged ones."""
    main = MAIN.replace(
        "    if (cortexm_init",
        '    printf("%s\\n", cortexm_status_text(cortexm_load_weights_partition(&digits_weights)));\n'
        "    if (cortexm_init",
    ).replace('#include "digits.h"\n', '#include <cortexm/zephyr.h>\n#include "digits.h"\n')
    main += "CORTEXM_ASSERT_WEIGHTS(DIGITS_WEIGHTS_SIZE);\n"
    conf = "CONFIG_CORTEXM_WEIGHTS_PARTITION=y\n"
    app = program(AN547, "digits.pte", main=main, overlay=WEIGHTS, conf=conf)
    app.make()
    image = (app.build / "cortexm" / "digits" / "digits.weights.bin").read_bytes()
    assert image[128:1024] not in (app.build / "zephyr" / "zephyr.elf").read_bytes()
    file = tmp_path / "image"
    extra = ("-device", f"loader,file={file},addr=0x68010000,force-raw=on")
    file.write_bytes(image)
    text = app.run(RAN, extra=extra)
    assert "no error" in text
    check_sum(text)
    file.write_bytes(image[:-1] + bytes([image[-1] ^ 1]))
    assert "the image of weights is damaged" in app.run("refused", extra=extra)
    file.write_bytes(b"\xff" * 4096)
    assert "there are no weights" in app.run("refused", extra=extra)


def test_memories_by_kconfig(program) -> None:
    conf = 'CONFIG_BUILD_OUTPUT_BIN=n\nCONFIG_CORTEXM_REGIONS="ram=64K isram=2K:fast {}"\n'
    call, memories = "digits.pte ARENA shared", conf.format("ddr4=8M:weights")
    app = program(AN547, call, overlay=REGIONS, conf=memories)
    app.make()
    symbols = (app.build / "zephyr" / "zephyr.map").read_text()
    weights = re.search(r"^\.cortexm_weights_DDR4\s+0x0*60000000\s+0x([0-9a-f]+)", symbols, re.M)
    assert weights and int(weights[1], 16) > 8000
    fast = re.search(r"^ ISRAM\.cortexm_arena\s+0x0*31000000\s+0x([0-9a-f]+)", symbols, re.M)
    assert fast and 0 < int(fast[1], 16) <= 2048
    assert "libcortexm_arena_shared__isram.a" in symbols
    check_sum(app.run(RAN))
    (app.source / "prj.conf").write_text("CONFIG_CORTEXM_MODEL=y\n" + conf.format("dtcmm=1K"))
    assert "the devicetree has no memory region 'dtcmm' hint: it has" in app.refuse()


def test_hooks(program) -> None:
    conf = "CONFIG_CORTEXM_LOG_MEMORY=y\nCONFIG_CORTEXM_PROFILE=y\n"
    app = program("mps2/an385", "digits.pte", conf=conf + "CONFIG_CORTEXM_PROFILE_LAYERS=y\n")
    app.make()
    text = app.run(r"digits: \d+ cycles")
    assert re.search(r"digits: arena \d+ bytes at 0x2", text)
    assert re.search(r"digits: input 0, 256 bytes at offset \d+", text)
    steps = [(int(n), int(c)) for n, c in re.findall(r"digits: step (\d+): (\d+) cycles", text)]
    report = json.loads((app.build / "cortexm/digits/digits.report.json").read_text())
    assert [n for n, _ in steps] == [layer["index"] + 1 for layer in report["layers"]]
    (total,) = re.findall(r"digits: (\d+) cycles", text)
    # After the last layer there is only the way out of the model.
    assert 0 < sum(c for _, c in steps) <= int(total) < 1.1 * sum(c for _, c in steps)


@pytest.mark.parametrize(
    ("board", "call", "message"),
    [
        ("mps2/an385", "digits.pte CPU cortex-m55", "which is a cortex-m3 hint: leave CPU out"),
        ("mps2/an385", "digits.pte CPU cortex-m56", "unknown CPU 'cortex-m56'"),
        ("mps3/corstone300", "digits.pte", "continues as mps3/corstone300/an547 (QEMU)"),
    ],
)
def test_refusals(program, board: str, call: str, message: str) -> None:
    assert message in program(board, call).refuse()


def test_other_applications_do_not_notice_the_module(application) -> None:
    base = Path(os.environ.get("ZEPHYR_BASE", ""))
    app = application(base / "samples" / "hello_world", "native_sim/native/64")
    assert "cortexm" not in app.make().replace(str(ROOT), "")
    app.run("Hello World")


def test_unit_tests_of_the_workspace(application) -> None:
    base = Path(os.environ.get("ZEPHYR_BASE", ""))
    unit = application(base / "tests" / "unit" / "crc", "unit_testing")
    done = unit.try_make(only_configure=True)
    assert done.returncode == 0, done.stdout + done.stderr
    probe = ["gcc", "-m32", "-x", "c", "-include", "stdio.h", "/dev/null", "-r", "-o", "/dev/null"]
    if subprocess.run(probe, capture_output=True).returncode != 0:
        pytest.skip("unit tests were configured, not built: gcc has no 32-bit C library")
    unit.make()


def test_option_off(program) -> None:
    app = program("mps2/an385", "digits.pte")
    (app.source / "prj.conf").write_text("")
    assert "CONFIG_CORTEXM_MODEL is off hint: add CONFIG_CORTEXM_MODEL=y" in app.refuse()


def test_mve_that_is_not_configured(program) -> None:
    app = program(AN547, "digits.pte ISA mve", conf="CONFIG_FPU=n\n")
    assert "is configured without MVE hint: set CONFIG_FPU=y" in app.refuse()


SHELL_MAIN = r"""
#include <stdio.h>
#include <zephyr/kernel.h>
#include <zephyr/shell/shell.h>
#include <zephyr/shell/shell_dummy.h>

static void say(const char *command)
{
    const struct shell *const sh = shell_backend_dummy_get_ptr();
    size_t size;

    shell_backend_dummy_clear_output(sh);
    const int result = shell_execute_cmd(sh, command);
    const char *const text = shell_backend_dummy_get_output(sh, &size);

    printf("> %s\n%.*s= %d\n", command, (int)size, text, result);
}

int main(void)
{
    k_msleep(100); /* until the shell's thread is there */
    say("cortexm list");
    say("cortexm info digits");
    say("cortexm run digits");
    say("cortexm run digits 0000803e");
    say("cortexm run digits xyz");
    say("cortexm run vectors");
    say("cortexm run nothing");
    say("cortexm bench digits 3");
    say("cortexm bench digits -1");
    say("cortexm bench digits 3x");
    say("cortexm bench digits 99999999999999");
    printf("finished\n");
    return 0;
}
"""


def test_shell(program) -> None:
    conf = ["SHELL", "SHELL_BACKEND_DUMMY", "CORTEXM_SHELL"]
    lines = [*(f"CONFIG_{name}=y\n" for name in conf), "CONFIG_SHELL_BACKEND_SERIAL=n\n"]
    lines += ["CONFIG_SHELL_BACKEND_DUMMY_BUF_SIZE=1024\n", "CONFIG_MAIN_STACK_SIZE=4096\n"]
    app = program("mps2/an385", "digits.pte", main=SHELL_MAIN, conf="".join(lines))
    (bundle,) = (ROOT / "tests" / "data" / "bundle").glob("*.bpte")
    listing = app.source / "CMakeLists.txt"
    text = listing.read_text()
    listing.write_text(
        text.replace("target_s", f"cortexm_add_model({bundle} TARGET vectors)\ntarget_s", 1)
    )
    app.make()
    text = app.run("finished")
    said = dict(re.findall(r"> cortexm ([^\r\n]*)\s+(.*?)\s*= ", text.replace("\r", ""), re.S))
    assert re.search(
        r"digits: arena \d+ B, stack \d+ B, 1 inputs, 1 outputs, 0 samples", said["list"]
    )
    assert re.search(r"vectors: .* [1-9]\d* samples", said["list"])
    assert "input 0: " in said["info digits"] and "f32 1x1x8x8, 256 B" in said["info digits"]
    graph = Program("digits", DIGITS.read_bytes()).graph()
    for command, first in (("run digits", 0.0), ("run digits 0000803e", 0.25)):
        values = np.zeros((1, 1, 8, 8), np.float32)
        values[0, 0, 0, 0] = first
        (out,) = run_graph(graph, [values])
        assert f"output 0: {out.tobytes().hex()}" in said[command]
    assert "hexadecimal digits" in said["run digits xyz"]
    assert re.search(r"(\d+) of \1 samples equal to the reference", said["run vectors"])
    assert "no model 'nothing'" in said["run nothing"]
    assert re.search(r"digits: 3 runs, \d+ to \d+ cycles", said["bench digits 3"])
    for word in ("-1", "3x", "99999999999999"):
        assert "is not a number of runs: give 1 to 1000" in said[f"bench digits {word}"]


def test_cortexm_bench_builds_runs_and_measures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """--zephyr: an application around a model, asked over QEMU's serial port."""
    from cortexm_tools.cli import main

    from tests.zephyr.workspace import why_not

    if reason := why_not():
        pytest.skip(reason)
    monkeypatch.setenv("ZEPHYR_MODULES", modules())
    words = [str(DIGITS), "--zephyr", "mps2/an385", "--work", str(tmp_path)]
    assert main(["bench", *words, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["matched"] and data["emulated"] and data["counter"] == "k_cycle_get_32"
    assert data["cycles"] > 10_000
    assert sum(layer["cycles"] for layer in data["layers"]) > 0.9 * data["cycles"]
    words_apart = [*words[:-1], str(tmp_path / "apart"), "--weights", "partition"]
    assert main(["run", *words_apart]) == 0
    assert "outputs equal the reference interpreter in every byte" in capsys.readouterr().out
    # The board says what it is configured for.
    assert main(["run", *words, "--cpu", "cortex-m4", "--work", str(tmp_path / "m4")]) == 1
    error = capsys.readouterr().err
    assert "is configured for cortex-m3" in error and "add --cpu cortex-m3 --isa scalar" in error
    assert main(["run", *words[:1], "--zephyr", "mps2/an3", "--work", str(tmp_path / "n")]) == 1
    assert "Zephyr knows no board 'mps2/an3'" in capsys.readouterr().err


EXPORTS_MAIN = r"""
#include <stdio.h>
#include <string.h>
#include <digits.h>
#include <frames.h>

static int sum_of(const cortexm_model_t *model)
{
    int sum = 0;

    if (cortexm_init(model, NULL, 0) != CORTEXM_OK) {
        return -1;
    }
    memset(cortexm_input(model, NULL, 0).data, 0, model->inputs[0].size);
    (void)cortexm_invoke(model, NULL);
    for (size_t i = 0; i < model->outputs[0].size; i++) {
        sum += ((const uint8_t *)cortexm_output(model, NULL, 0).data)[i];
    }
    return sum;
}

int main(void)
{
    printf("sums %d %d\n", sum_of(&digits), sum_of(&frames));
    return 0;
}
"""


def test_two_exports_are_modules_of_one_application(tmp_path: Path) -> None:
    """Without this module, whose tools are not needed any more."""
    if reason := why_not():
        pytest.skip(reason)
    sums, folders = [], []
    for file in (DIGITS, ROOT / "tests" / "data" / "states" / "frames.pte"):
        compiled = compile_model(file, cpu="cortex-m3")
        folders.append(tmp_path / file.stem)
        write_export(folders[-1], export_files([compiled.compiled], "zephyr"))
        (index,) = compiled.compiled.plan.graph.inputs
        (out,) = compiled(np.zeros(compiled.compiled.plan.graph.tensors[index].shape, np.float32))
        sums.append(sum(out.tobytes()))
    source = tmp_path / "application"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\n"
        "find_package(Zephyr REQUIRED HINTS $ENV{ZEPHYR_BASE})\n"
        "project(application C)\n"
        "target_sources(app PRIVATE main.c)\n"
    )
    (source / "prj.conf").write_text("CONFIG_MODEL_digits=y\nCONFIG_MODEL_frames=y\n")
    (source / "main.c").write_text(EXPORTS_MAIN)
    app = Application(source, tmp_path / "build", "mps2/an385")
    others = [folder for folder in modules().split(";") if folder != str(ROOT)]
    app.make(f"-DZEPHYR_MODULES={';'.join([*others, *map(str, folders)])}")
    assert f"sums {sums[0]} {sums[1]}" in app.run(r"sums .*\n")

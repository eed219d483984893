# SPDX-License-Identifier: Apache-2.0
"""The module's metadata and Kconfig, as far as they can be checked without Zephyr."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import types
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import kconfiglib
import pytest
import yaml

from cortexm_tools import cli
from cortexm_tools.options import OPTIONS

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
STUB = HERE / "stub"
SAMPLES = sorted((ROOT / "samples").glob("*/sample.yaml"))
APPLICATIONS = sorted(p for p in ROOT.glob("*/*/prj.conf")) + sorted(HERE.glob("*/prj.conf"))
# What module.yml may contain, from Zephyr's documentation "Modules (External projects)".
MODULE_KEYS = {
    "name": str,
    "build": {
        **dict.fromkeys(("cmake", "kconfig", "sysbuild-cmake", "sysbuild-kconfig"), str),
        **dict.fromkeys(("cmake-ext", "kconfig-ext"), bool),
        "depends": [str],
        "settings": {
            f"{name}_root": str for name in ("board", "dts", "snippet", "soc", "arch", "module_ext")
        },
    },
    "samples": [str],
    "tests": [str],
    "boards": [str],
    "package-managers": {"pip": {"requirement-files": [str]}},
}


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def conforms(value: Any, schema: Any, where: str) -> None:
    if isinstance(schema, dict):
        assert set(value) <= set(schema), where
        for key, part in value.items():
            conforms(part, schema[key], f"{where}.{key}")
    elif isinstance(schema, list):
        assert isinstance(value, list), where
        for part in value:
            conforms(part, schema[0], where)
    else:
        assert isinstance(value, schema), where


def test_module_yml() -> None:
    module = load(ROOT / "zephyr" / "module.yml")
    conforms(module, MODULE_KEYS, "module.yml")
    assert module["name"] == "cortexm-model"
    assert (ROOT / module["build"]["cmake"] / "CMakeLists.txt").is_file()
    assert (ROOT / module["build"]["kconfig"]).is_file()
    # A module that another one depends on must be there, or every build in the workspace fails.
    assert "depends" not in module["build"]
    for folder in module["samples"] + module["tests"]:
        assert list((ROOT / folder).glob("*/*.yaml")), folder
    for file in module["package-managers"]["pip"]["requirement-files"]:
        assert (ROOT / file).is_file()


def test_west_yml_pins_every_project() -> None:
    manifest = load(ROOT / "west.yml")["manifest"]
    for project in manifest["projects"]:
        assert re.fullmatch(r"v\d+\.\d+\.\d+|[0-9a-f]{40}", project["revision"]), project["name"]
    optional = {"executorch", "cmsis-nn"}
    assert {p["name"] for p in manifest["projects"] if "groups" in p} == optional
    assert set(manifest["group-filter"]) == {f"-{name}" for name in optional}


def test_west_command_exists() -> None:
    assert (
        load(ROOT / "west.yml")["manifest"]["self"]["west-commands"] == "zephyr/west-commands.yml"
    )
    (entry,) = load(ROOT / "zephyr" / "west-commands.yml")["west-commands"]
    tree = ast.parse((ROOT / entry["file"]).read_text(encoding="utf-8"))
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    for command in entry["commands"]:
        assert command["class"] in classes
        assert command["name"].startswith("cortexm")


def test_west_hands_options_to_every_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """`west cortexm report -d BUILD --html`, without west."""
    stand_in = types.ModuleType("west.commands")
    stand_in.WestCommand = type("WestCommand", (), {"config": {}})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "west", types.ModuleType("west"))
    monkeypatch.setitem(sys.modules, "west.commands", stand_in)
    monkeypatch.setenv("CORTEXM_PYTHON", sys.executable)
    path = ROOT / "scripts" / "west_commands" / "cortexm.py"
    module = SourceFileLoader("west_cortexm", str(path)).load_module()
    command = module.CortexM.__new__(module.CortexM)
    digits = ROOT / "tests" / "data" / "digits" / "digits.pte"
    for name in ("one", "two"):
        folder = tmp_path / "app" / "cortexm" / name
        words = ["compile", digits, "--name", name, "--out", folder, "--quiet"]
        assert cli.main(list(map(str, words))) == 0
    command.do_run(None, ["report", "-d", str(tmp_path), "--html"])
    assert len(list(tmp_path.rglob("*.report.html"))) == 2
    command.do_run(None, ["report", "-d", str(tmp_path)])
    said = capfd.readouterr().out
    assert "one for cortex-m55" in said and "two for cortex-m55" in said
    with pytest.raises(SystemExit):
        command.do_run(None, ["report", "-d", str(tmp_path), "--htm1"])


def test_there_are_samples() -> None:
    assert [path.parent.name for path in SAMPLES] == [
        "hello-executorch",
        "keypad-tones",
        "keyword-spotting",
        "tiny-language-model",
        "two-models",
    ]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.parent.name)
def test_sample_yaml(path: Path) -> None:
    data = load(path)
    assert set(data) == {"sample", "common", "tests"}
    assert set(data["sample"]) == {"name", "description"}
    assert data["common"]["harness"] == "console"
    assert data["common"]["harness_config"]["type"] in ("one_line", "multi_line")
    source = (path.parent / "main.c").read_text(encoding="utf-8")
    for regex in data["common"]["harness_config"]["regex"]:
        # What twister waits for is what the program prints when all is well.
        words = re.sub(r"^10 of 10 ", "%d of %d ", regex)
        assert words in source
        assert re.compile(regex)
    for name, test in data["tests"].items():
        assert re.fullmatch(r"sample\.cortexm(\.\w+)+", name)
        assert test["integration_platforms"]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.parent.name)
def test_samples_are_short(path: Path) -> None:
    lines = (path.parent / "main.c").read_text(encoding="utf-8").splitlines()
    assert len(lines) < (120 if path.parent.name == "keyword-spotting" else 100)


def kconfig(monkeypatch: pytest.MonkeyPatch, **environment: str) -> kconfiglib.Kconfig:
    """The module's Kconfig with the stub around it; symbols to set are given as CONFIG_…=…."""
    values = {
        "srctree": str(STUB),
        "STUB_MODULE": str(ROOT),
        "STUB_ARCH": "arm",
        "STUB_CORE": "",
        "STUB_CMSIS_NN": "n",
        "STUB_FPU": "y",
        "STUB_PATHS": "/cpus",
        "STUB_CHOSEN": "",
        "BOARD": "board",
        "BOARD_QUALIFIERS": "/soc",
        **environment,
    }
    for key, value in values.items():
        monkeypatch.setenv(key, value)
    monkeypatch.syspath_prepend(str(STUB))
    result = kconfiglib.Kconfig("Kconfig", warn_to_stderr=False)
    for key, value in values.items():
        if key.startswith("CONFIG_"):
            result.syms[key.removeprefix("CONFIG_")].set_value(value)
    assert not result.warnings
    return result


def value(config: kconfiglib.Kconfig, name: str) -> str:
    return str(config.syms[name].str_value)


def test_kconfig_off_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    config = kconfig(monkeypatch)
    assert value(config, "CORTEXM_MODEL") == "n"
    assert value(config, "FPU") == "n"
    assert value(config, "MAIN_STACK_SIZE") == "1024"


def test_kconfig_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    config = kconfig(monkeypatch, CONFIG_CORTEXM_MODEL="y")
    on = ("FPU", "FPU_SHARING", "CORTEXM_OPTIMIZE_BALANCED", "CORTEXM_ARENA_RAM")
    for name in (*on, "CORTEXM_WEIGHTS_FLASH", "CORTEXM_STACK_CHECK", "THREAD_STACK_INFO"):
        assert value(config, name) == "y", name
    off = ("CORTEXM_ASSERT", "CORTEXM_REQUIRE_INT8", "CORTEXM_LOG_MEMORY")
    for name in (*off, "CORTEXM_PROFILE", "LOG"):
        assert value(config, name) == "n", name
    assert value(config, "MAIN_STACK_SIZE") == "2048"
    assert value(config, "CORTEXM_RAM_LIMIT") == "0"


def test_kconfig_kernel_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """CMSIS-NN can be chosen where the workspace has its module; auto decides later."""
    nn = {"CONFIG_CORTEXM_MODEL": "y", "CONFIG_CORTEXM_KERNELS_CMSIS_NN": "y"}
    assert value(kconfig(monkeypatch, **nn), "CORTEXM_KERNELS_BUILTIN") == "y"
    with_module = kconfig(monkeypatch, STUB_CMSIS_NN="y", **nn)
    assert value(with_module, "CORTEXM_KERNELS_CMSIS_NN") == "y"
    monkeypatch.delenv("CONFIG_CORTEXM_KERNELS_CMSIS_NN")
    auto = kconfig(monkeypatch, CONFIG_CORTEXM_MODEL="y", CONFIG_CORTEXM_KERNELS_AUTO="y")
    assert value(auto, "CORTEXM_KERNELS_AUTO") == "y"


def test_kconfig_on_other_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    assert value(kconfig(monkeypatch, STUB_ARCH="riscv", CONFIG_CORTEXM_MODEL="y"), "FPU") == "n"
    posix = kconfig(monkeypatch, STUB_ARCH="posix", STUB_FPU="n", CONFIG_CORTEXM_MODEL="y")
    assert value(posix, "CORTEXM_MODEL") == "y"
    assert value(posix, "FPU") == "n"


def test_kconfig_chosen_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = {f"CONFIG_CORTEXM_{name}": "y" for name in ("MODEL", "ARENA_CHOSEN", "WEIGHTS_CHOSEN")}
    config = kconfig(monkeypatch, **wanted)
    assert value(config, "CORTEXM_ARENA_RAM") == "y"
    assert value(config, "CORTEXM_WEIGHTS_FLASH") == "y"
    config = kconfig(monkeypatch, STUB_CHOSEN="cortexm,arena cortexm,weights", **wanted)
    assert value(config, "CORTEXM_ARENA_CHOSEN") == "y"
    assert value(config, "CORTEXM_WEIGHTS_CHOSEN") == "y"


@pytest.mark.parametrize("option", ["LOG_MEMORY", "PROFILE"])
def test_kconfig_hooks(monkeypatch: pytest.MonkeyPatch, option: str) -> None:
    config = kconfig(monkeypatch, CONFIG_CORTEXM_MODEL="y", **{f"CONFIG_CORTEXM_{option}": "y"})
    assert value(config, "CORTEXM_WRAP") == value(config, "LOG") == "y"
    assert value(config, "CORTEXM_LOG_LEVEL") == "3"


def test_kernels_and_a_trap_for_unaligned_words_exclude_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = kconfig(monkeypatch, CONFIG_CORTEXM_MODEL="y", CONFIG_TRAP_UNALIGNED_ACCESS="y")
    assert value(config, "CORTEXM_MODEL") == "n"


INCOMPLETE = [
    ("mps3", "/corstone300", "mps3/corstone300/an547 (QEMU) or mps3/corstone300/fvp"),
    ("mps2", "/an521", "mps2/an521/cpu0"),
    ("other", "", "west boards -n other"),
    ("unit_testing", "/unit_testing", "unit tests have no processor"),
]


@pytest.mark.parametrize(("board", "qualifiers", "names"), INCOMPLETE)
def test_incomplete_board_name(
    monkeypatch: pytest.MonkeyPatch, board: str, qualifiers: str, names: str
) -> None:
    """Whoever turns the module on is told, in the dependency that Zephyr prints; nobody else is."""
    about = {"BOARD": board, "BOARD_QUALIFIERS": qualifiers, "STUB_PATHS": "", "STUB_ARCH": ""}
    others = kconfig(monkeypatch, **about)
    assert value(others, "CORTEXM_MODEL") == value(others, "FPU") == "n"
    assert value(others, "MAIN_STACK_SIZE") == "1024"
    config = kconfig(monkeypatch, CONFIG_CORTEXM_MODEL="y", **about)
    assert value(config, "CORTEXM_MODEL") == "n"
    unmet = kconfiglib.expr_str(config.syms["CORTEXM_MODEL"].direct_dep)
    assert f"'{board}{qualifiers}' is not complete" in unmet
    assert names in unmet


@pytest.mark.parametrize(
    "environment", [{"STUB_PATHS": "/soc"}, {"STUB_PATHS": "", "KCONFIG_DOC_MODE": "1"}]
)
def test_other_boards_and_documentation_have_no_objection(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    config = kconfig(monkeypatch, CONFIG_CORTEXM_MODEL="y", **environment)
    assert value(config, "CORTEXM_MODEL") == "y"


def test_instructions_that_the_soc_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def symbols(core: str, choice: str) -> str:
        given = {"CONFIG_CORTEXM_MODEL": "y", f"CONFIG_CORTEXM_CORE_{choice}": "y"}
        config = kconfig(monkeypatch, STUB_CORE=core, **given)
        monkeypatch.delenv(f"CONFIG_CORTEXM_CORE_{choice}")
        names = ("CORTEXM_CORE_SOC", "ARMV8_M_DSP", "ARMV8_1_M_MVEF")
        return "".join(value(config, name) for name in names)

    assert symbols("8", "SOC") == symbols("8.1", "SOC") == "ynn"
    assert symbols("8", "DSP") == symbols("8.1", "DSP") == "nyn"
    assert symbols("8.1", "MVE") == "nyy"
    assert symbols("8", "MVE") == "ynn"
    assert symbols("8", "NO_MORE") == "nnn"
    assert symbols("", "DSP") == "nnn"  # other architectures have no choice


def configure(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Zephyr's configuration of the module, with stand-ins for Zephyr (stub/CMakeLists.txt)."""
    given = [f"-D{name}={text}" for name, text in variables.items()]
    command = ["cmake", "-S", str(STUB), "-B", str(folder), f"-DSTUB_MODULE={ROOT}", *given]
    return subprocess.run(command, capture_output=True, text=True)


def test_cmake_off_changes_nothing(tmp_path: Path) -> None:
    """Without CONFIG_CORTEXM_MODEL nothing of Zephyr is called and nothing is said or made."""
    for qualifiers in ("/unit_testing", "/corstone300"):
        done = configure(tmp_path, BOARD="some", BOARD_QUALIFIERS=qualifiers)
        assert done.returncode == 0 and not done.stderr, done.stderr
        assert "targets=;" in done.stdout
        assert "objection=CONFIG_CORTEXM_MODEL is off" in done.stdout
        assert "add CONFIG_CORTEXM_MODEL=y" in done.stdout


def test_what_keeps_the_module_off_is_what_the_hint_is_about(tmp_path: Path) -> None:
    done = configure(tmp_path, BOARD="some", CONFIG_TRAP_UNALIGNED_ACCESS="y")
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert "hint: set CONFIG_TRAP_UNALIGNED_ACCESS=n" in done.stdout


ON = {"STUB_ZEPHYR": "y", "CONFIG_CORTEXM_MODEL": "y", "CONFIG_SOC": "chip", "BOARD": "some"}
M33 = {"CONFIG_CPU_CORTEX_M33": "y"}
M55 = {"CONFIG_CPU_CORTEX_M55": "y", "CONFIG_ARMV8_1_M_MAINLINE": "y", "CONFIG_FPU": "y"}
DSP, MVE = {"CONFIG_ARMV8_M_DSP": "y"}, {"CONFIG_ARMV8_1_M_MVEF": "y"}
SOC = {"CONFIG_CORTEXM_CORE_SOC": "y"}


@pytest.mark.parametrize(
    ("configuration", "isa", "lacks"),
    [
        (M33 | SOC, "scalar", "DSP"),
        (M33 | DSP | SOC, "dsp", ""),
        (M33 | {"CONFIG_CORTEXM_CORE_NO_MORE": "y"}, "scalar", ""),
        (M55 | DSP | SOC, "dsp", "MVE"),
        (M55 | DSP | MVE | SOC, "mve", ""),
        ({"CONFIG_CPU_CORTEX_M4": "y"}, "dsp", ""),
        ({"CONFIG_ARCH_POSIX": "y"}, "scalar", ""),
    ],
)
def test_cmake_warns_of_slower_kernels(
    tmp_path: Path, configuration: dict[str, str], isa: str, lacks: str
) -> None:
    done = configure(tmp_path, **ON, **configuration)
    assert done.returncode == 0, done.stderr
    assert f"isa={isa};" in done.stdout
    said = " ".join(done.stderr.split())
    assert ("names no" in said) == bool(lacks)
    if lacks:
        assert f"The Kconfig of chip names no {lacks} instructions" in said
        assert f"CONFIG_CORTEXM_CORE_{lacks}=y" in said


@pytest.mark.parametrize(
    ("known", "hint"), [("DTCM;DDR4", "it has DTCM, DDR4; ram and flash"), ("", "names none: give")]
)
def test_cmake_names_the_memories_there_are(tmp_path: Path, known: str, hint: str) -> None:
    asked = {"CONFIG_CORTEXM_REGIONS": "dtcmm=1K", "STUB_REGIONS": known}
    done = configure(tmp_path, **ON, **M55, **asked)
    said = " ".join(done.stderr.split())
    assert "the devicetree has no memory region 'dtcmm' hint: " in said and hint in said


@pytest.mark.parametrize(
    ("address", "attribute", "warned"),
    [
        ("0x31000000", "", False),
        ("0x90000000", "", False),
        ("0xa0000000", "", True),
        ("0xd0000000", "", True),
        ("0xd0000000", "1048576", False),
    ],
)
def test_cmake_warns_of_memory_in_which_kernels_fault(
    tmp_path: Path, address: str, attribute: str, warned: bool
) -> None:
    memory = {"STUB_ADDRESS": address, "STUB_MEMORY_ATTR": attribute}
    for asked in (
        {"CONFIG_CORTEXM_ARENA_CHOSEN": "y", "STUB_CHOSEN": "SDRAM"},
        {"CONFIG_CORTEXM_REGIONS": "sdram=1M", "STUB_REGIONS": "SDRAM;DTCM"},
    ):
        done = configure(tmp_path, **ON, **M55, **memory, **asked)
        assert done.returncode == 0, done.stderr
        said = " ".join(done.stderr.split())
        assert (f"The memory SDRAM at {address} is of type Device" in said) == warned
        assert ("hint: give SDRAM zephyr,memory-attr" in said) == warned


@pytest.mark.parametrize("path", APPLICATIONS, ids=lambda path: path.parent.name)
def test_applications_set_symbols_that_exist(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    config = kconfig(monkeypatch)
    names = re.findall(r"^CONFIG_(CORTEXM_\w+)=", path.read_text(encoding="utf-8"), re.M)
    assert "CORTEXM_MODEL" in names
    for name in names:
        assert config.syms[name].nodes, name


def test_symbols_are_those_of_the_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names, defaults and ranges of all that a user can set."""
    config = kconfig(monkeypatch, STUB_CORE="8.1")
    symbols = {
        symbol.name.removeprefix("CORTEXM_"): symbol
        for symbol in config.unique_defined_syms
        if symbol.name.startswith("CORTEXM_") and any(node.prompt for node in symbol.nodes)
    }
    symbols.pop("LOG_LEVEL", None)  # Zephyr's template
    symbols = {name: each for name, each in symbols.items() if not name.startswith("LOG_LEVEL")}
    listed = [name for option in OPTIONS for name in option.kconfig]
    assert sorted(listed) == sorted(symbols)
    for option in OPTIONS:
        if len(option.kconfig) > 1:
            (choice,) = {symbols[name].choice for name in option.kconfig}
            assert choice is not None and len(choice.syms) == len(option.kconfig)
            defaults = [
                f"`{default.name.removeprefix('CORTEXM_')}`" for default, _ in choice.defaults
            ]
            assert defaults in ([option.kconfig_default], [])
            assert option.kconfig_default == f"`{option.kconfig[0]}`"
        elif option.kconfig:
            symbol = symbols[option.kconfig[0]]
            given = [kconfiglib.expr_str(value) for value, _ in symbol.defaults]
            of_kind = {kconfiglib.BOOL: "n", kconfiglib.STRING: "none"}.get(symbol.type, "0")
            assert (given or [of_kind]) == [option.kconfig_default.removesuffix(", none")]
            ranges = [f"{low.name} to {high.name}" for low, high, _ in symbol.ranges]
            assert not ranges or ranges == [option.range]


def test_every_option_reaches_the_build() -> None:
    """An option that neither CMake nor C reads would be a promise that nothing keeps."""
    folder = ROOT / "zephyr"
    read = "".join(
        (folder / name).read_text() for name in ("CMakeLists.txt", "wrap.c", "profile.c")
    )
    # Limits are read in a loop over their names; defaults of choices need no reading.
    known = {f"CORTEXM_{name}" for name in ("RAM_LIMIT", "FLASH_LIMIT", "MIN_SQNR", "MIN_ACCURACY")}
    defaults = {
        "CORTEXM_KERNELS_BUILTIN",
        "CORTEXM_IO_FLOAT",
        "CORTEXM_INPUT_LAYOUT_MODEL",
        "CORTEXM_OPTIMIZE_BALANCED",
        "CORTEXM_QUANTIZE_INT8",
        "CORTEXM_ARENA_RAM",
        "CORTEXM_WEIGHTS_FLASH",
    }
    # These set symbols of Zephyr's instead.
    defaults |= {f"CORTEXM_CORE_{name}" for name in ("DSP", "MVE", "NO_MORE")}
    names = re.findall(r"^config (CORTEXM_\w+)", (folder / "Kconfig").read_text(), re.M)
    for name in set(names) - known - defaults:
        assert f"CONFIG_{name}" in read, name


SNIPPETS = sorted((ROOT / "zephyr" / "snippets").glob("*/snippet.yml"))


def test_snippets_set_symbols_that_exist() -> None:
    assert load(ROOT / "zephyr" / "module.yml")["build"]["settings"] == {"snippet_root": "zephyr"}
    assert [path.parent.name for path in SNIPPETS] == ["cortexm-profile", "cortexm-shell"]
    known = {f"CONFIG_CORTEXM_{name}" for option in OPTIONS for name in option.kconfig}
    for path in SNIPPETS:
        snippet = load(path)
        assert snippet["name"] == path.parent.name
        conf = path.with_name(snippet["append"]["EXTRA_CONF_FILE"]).read_text(encoding="utf-8")
        ours = set(re.findall(r"^(CONFIG_CORTEXM_\w+)=", conf, re.M))
        assert ours and ours <= known


def test_submanifest() -> None:
    """What a workspace of Zephyr's own manifest imports, is what west.yml says of itself."""
    (project,) = load(ROOT / "zephyr" / "submanifest" / "cortexm-model.yaml")["manifest"][
        "projects"
    ]
    own = load(ROOT / "west.yml")["manifest"]["self"]
    assert {key: project[key] for key in own} == own
    assert set(project) == {"name", "url", "revision", *own}


def test_west_cortexm_of_a_build_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """size adds up nothing, report hands its options on, and a folder without models is an error."""
    said: list[str] = []
    ran: list[list[str]] = []

    class Command:
        config: dict[str, str] = {}

        def inf(self, text: str) -> None:
            said.append(text)

        def die(self, text: str) -> None:
            raise SystemExit(text)

    commands = types.ModuleType("west.commands")
    commands.WestCommand = Command  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "west", types.ModuleType("west"))
    monkeypatch.setitem(sys.modules, "west.commands", commands)
    path = ROOT / "scripts" / "west_commands" / "cortexm.py"
    names: dict[str, Any] = {"__file__": str(path), "__name__": "west_cortexm"}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
    command = object.__new__(names["CortexM"])
    monkeypatch.setattr(names["CortexM"], "_tool", lambda self, *words: ran.append(list(words)))
    with pytest.raises(SystemExit, match="no model was built in"):
        command.do_run(None, ["size", "-d", str(tmp_path)])
    folder = tmp_path / "app" / "cortexm" / "digits"
    folder.mkdir(parents=True)
    sizes = {"flash": 18320, "code": 7110, "constants": 11210, "ram": 3536, "arena": 3536}
    (folder / "digits.footprint.json").write_text(json.dumps({**sizes, "stack": None}))
    (folder / "digits.report.json").write_text("{}")
    command.do_run(None, ["size", "-d", str(tmp_path)])
    assert said[0].split() == ["model", "flash", "code", "constants", "RAM", "arena", "stack"]
    assert said[1].split() == ["digits", "18,320", "7,110", "11,210", "3,536", "3,536", "?"]
    command.do_run(None, ["report", "-d", str(tmp_path), "--html"])
    command.do_run(None, ["compare", "a", "b"])
    assert ran == [["report", "--html", str(folder / "digits.report.json")], ["compare", "a", "b"]]

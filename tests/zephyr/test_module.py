# SPDX-License-Identifier: Apache-2.0
"""The module's metadata and Kconfig, as far as they can be checked without Zephyr."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import kconfiglib
import pytest
import yaml

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


def test_there_are_samples() -> None:
    assert [path.parent.name for path in SAMPLES] == ["hello-executorch", "two-models"]


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
    assert len(lines) < 100


def kconfig(monkeypatch: pytest.MonkeyPatch, **environment: str) -> kconfiglib.Kconfig:
    """The module's Kconfig with the stub around it; symbols to set are given as CONFIG_…=…."""
    values = {
        "srctree": str(STUB),
        "STUB_MODULE": str(ROOT),
        "STUB_ARCH": "arm",
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
    for name in (*on, "CORTEXM_WEIGHTS_FLASH"):
        assert value(config, name) == "y", name
    off = ("CORTEXM_ASSERT", "CORTEXM_REQUIRE_INT8", "CORTEXM_WRAP", "CORTEXM_LOG_MEMORY")
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
    assert value(config, "CORTEXM_WRAP") == "y"
    assert value(config, "CORTEXM_LOG_LEVEL") == "3"


@pytest.mark.parametrize(
    ("board", "qualifiers", "names"),
    [
        ("mps3", "/corstone300", "mps3/corstone300/an547 (QEMU) or mps3/corstone300/fvp"),
        ("mps2", "/an521", "mps2/an521/cpu0"),
        ("other", "", "west boards -n other"),
    ],
)
def test_incomplete_board_name(
    monkeypatch: pytest.MonkeyPatch, board: str, qualifiers: str, names: str
) -> None:
    with pytest.raises(kconfiglib.KconfigError) as error:
        kconfig(monkeypatch, STUB_PATHS="", BOARD=board, BOARD_QUALIFIERS=qualifiers)
    assert f"'{board}{qualifiers}' is not complete" in str(error.value)
    assert names in str(error.value)


@pytest.mark.parametrize(
    "environment", [{"STUB_PATHS": "/soc"}, {"STUB_PATHS": "", "KCONFIG_DOC_MODE": "1"}]
)
def test_other_boards_and_documentation_are_left_alone(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    assert value(kconfig(monkeypatch, **environment), "CORTEXM_MODEL") == "n"


@pytest.mark.parametrize("path", APPLICATIONS, ids=lambda path: path.parent.name)
def test_applications_set_symbols_that_exist(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    config = kconfig(monkeypatch)
    names = re.findall(r"^CONFIG_(CORTEXM_\w+)=", path.read_text(encoding="utf-8"), re.M)
    assert "CORTEXM_MODEL" in names
    for name in names:
        assert config.syms[name].nodes, name


def test_every_option_reaches_the_build() -> None:
    """An option that neither CMake nor C reads would be a promise that nothing keeps."""
    folder = ROOT / "zephyr"
    read = "".join((folder / name).read_text() for name in ("CMakeLists.txt", "wrap.c"))
    # Limits are read in a loop over their names; defaults of choices need no reading.
    known = {f"CORTEXM_{name}" for name in ("RAM_LIMIT", "FLASH_LIMIT")}
    defaults = {
        "CORTEXM_KERNELS_BUILTIN",
        "CORTEXM_OPTIMIZE_BALANCED",
        "CORTEXM_ARENA_RAM",
        "CORTEXM_WEIGHTS_FLASH",
    }
    names = re.findall(r"^config (CORTEXM_\w+)", (folder / "Kconfig").read_text(), re.M)
    for name in set(names) - known - defaults:
        assert f"CONFIG_{name}" in read, name

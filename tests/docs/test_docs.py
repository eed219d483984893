# SPDX-License-Identifier: Apache-2.0
"""The documentation is true where a machine can tell."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "samples").glob("*/README.md"),
        ROOT / "kernels" / "README.md",
    ]
)


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).is_file()]


@pytest.mark.parametrize(
    "name", ["board_docs.py", "kernel_files.py", "operator_docs.py", "pictures.py"]
)
def test_generated_pages_are_up_to_date(name: str) -> None:
    script = ROOT / "scripts" / name
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(#[^)\s]*)?\)", text):
        if target.startswith(("http:", "https:")):
            continue
        other = (page.parent / target).resolve() if target else page
        assert other.exists(), f"{page.name}: {target}"
        if anchor and other.suffix == ".md":
            titles = re.findall(r"^#+ (.*)$", other.read_text(encoding="utf-8"), re.M)
            slugs = {re.sub(r"[^\w -]", "", t.lower()).replace(" ", "-") for t in titles}
            slugs |= set(re.findall(r'<a id="([\w-]+)">', other.read_text(encoding="utf-8")))
            assert anchor[1:] in slugs, f"{page.name}: {target}{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_pages_name_exist(page: Path) -> None:
    names = re.findall(
        r"`((?:python|kernels|tests|boards|cmake|scripts|samples|docs|runtime)/[\w./-]+)`",
        page.read_text(encoding="utf-8"),
    )
    for name in names:
        assert (ROOT / name).exists(), f"{page.name}: {name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_prose_fits_100_columns(page: Path) -> None:
    """But tables, code, recorded output, what a script wrote, and links that cannot be broken."""
    text = page.read_text(encoding="utf-8")
    if re.search(r"^<!-- (Generated|Written) by ", text, re.M) or page.name == "CHANGELOG.md":
        return
    text = re.sub(r"^( *)```.*?^ *```$", "", text, flags=re.M | re.S)
    text = re.sub(r"<!-- [\w ]+: begin -->.*?<!-- [\w ]+: end -->", "", text, flags=re.S)
    wide = [
        line
        for line in text.splitlines()
        if len(line) > 100 and not line.startswith(("|", "    ")) and " " in line.strip(" *")
    ]
    assert not wide, wide[0]


def test_every_source_has_a_licence_line() -> None:
    patterns = (
        "*.py",
        "*.c",
        "*.h",
        "*.inc",
        "*.cpp",
        "*.cmake",
        "CMakeLists.txt",
        "*.sh",
        "*.S",
        "*.ld",
    )
    missing = [
        str(path.relative_to(ROOT))
        for path in tracked(*patterns)
        if "SPDX-License-Identifier: Apache-2.0"
        not in "".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:5])
    ]
    assert not missing


def test_table_of_formats_has_their_numbers() -> None:
    from cortexm_tools.emit import apart
    from cortexm_tools.pte import layers
    from cortexm_tools.report import reading

    rows = (ROOT / "docs" / "formats.md").read_text().splitlines()
    header = (ROOT / "runtime/include/cortexm/model.h").read_text()
    abi = re.search(r"#define CORTEXM_ABI (\d+)", header)[1]
    for name, said in (
        ("C interface", f"`CORTEXM_ABI` {abi}"),
        ("`NAME.report.json`", f"`format` {reading.FORMAT}"),
        ("`NAME.layers.json`", f"`format` {layers.FORMAT}"),
        ("`NAME.weights.bin`", f"`format` {apart.FORMAT}"),
    ):
        (row,) = (row for row in rows if row.startswith(f"| {name}"))
        assert said in row.split("|")[2], row


def test_nothing_says_to_install_a_name_that_anybody_may_register() -> None:
    """The package is in no index: its name stands with the place where it comes from."""
    for path in tracked("*.md", "*.py", "*.cmake", "*.txt", "*.toml", "*.yml", "*.ipynb", "*.sh"):
        if path.parent != ROOT / "tests" / "docs" and path.name != "CHANGELOG.md":
            text = path.read_text(encoding="utf-8")
            said = re.findall(
                r"(?:pip install|requires = )[^`\n]*\s?[^`\n]*cortexm[-_]model.{0,10}", text
            )
            assert all(" @ " in one for one in said), (path, said)

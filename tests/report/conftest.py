# SPDX-License-Identifier: Apache-2.0
"""The digits model, compiled and measured once, and a browser for all pages."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from cortexm_tools import cli

from tests.support.browser import NAMES, Browser, find_browser

ROOT = Path(__file__).resolve().parents[2]
DIGITS = ROOT / "tests" / "data" / "digits" / "digits.pte"


@pytest.fixture(scope="session")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with digits.report.json of a build with limits, and digits.bench.json."""
    folder = tmp_path_factory.mktemp("digits")
    fast = (str(DIGITS), "--optimize", "speed")  # which a limit with room leaves as it is
    words = ["compile", *fast, "--out", str(folder), "--quiet"]
    assert cli.main([*words, "--ram-limit", "8K", "--flash-limit", "32K"]) == 0
    with redirect_stdout(io.StringIO()) as said:
        assert cli.main(["bench", *fast, "--json", "--work", str(folder / "work")]) == 0
    assert json.loads(said.getvalue())["instructions"] > 0
    (folder / "digits.bench.json").write_text(said.getvalue())
    return folder


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = find_browser()
    if program is None:
        pytest.skip(f"none of {', '.join(NAMES)} is installed")
    one = Browser(program, tmp_path_factory.mktemp("browser"))
    yield one
    one.close()

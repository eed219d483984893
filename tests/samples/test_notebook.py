# SPDX-License-Identifier: Apache-2.0
"""The notebook runs from top to bottom, and shows what it stores.

``UPDATE_NOTEBOOK=1 pytest tests/samples/test_notebook.py`` stores what it shows now.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "samples" / "notebook" / "cortexm.ipynb"


def shown(cell: nbformat.NotebookNode) -> str:
    """A cell's output as text with all numbers alike: sizes and counts change with the kernels.

    Of cells with the tag "varies" only whether there is output: they show the plan, in words that
    change with it.
    """
    if "varies" in cell.metadata.get("tags", ()):
        return "output" if cell.outputs else "no output"
    text = "".join(output.get("text", "") for output in cell.get("outputs", ()))
    return " ".join(re.sub(r"[\d,.]*\d", "0", text).split())


def test_notebook_runs_and_shows_what_it_stores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A copy beside a copy of the sample it reads; its build folder goes there, too.
    for name in ("notebook", "hello-executorch"):
        shutil.copytree(ROOT / "samples" / name, tmp_path / name)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    stored = nbformat.read(NOTEBOOK, as_version=4)
    fresh = nbformat.read(NOTEBOOK, as_version=4)
    place = {"metadata": {"path": str(tmp_path / "notebook")}}
    NotebookClient(fresh, timeout=300, coalesce_streams=True, resources=place).execute()
    for cell in fresh.cells:
        cell.metadata.pop("execution", None)  # time stamps
        for output in cell.get("outputs", ()):
            assert output.output_type == "stream" and output.name == "stdout", output
            assert str(tmp_path) not in output.text
    if os.environ.get("UPDATE_NOTEBOOK"):
        fresh.metadata["language_info"] = {"name": "python"}
        nbformat.write(fresh, NOTEBOOK)
        return
    nbformat.validate(stored)
    assert [shown(cell) for cell in stored.cells] == [shown(cell) for cell in fresh.cells]

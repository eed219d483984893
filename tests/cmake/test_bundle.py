# SPDX-License-Identifier: Apache-2.0
"""cortexm_add_model(net.bpte): the firmware runs the vectors of the bundle."""

from __future__ import annotations

from tests.cmake.projects import HERE, ROOT, emulate, refuse, succeed

BUNDLE = HERE.parent / "data" / "bundle" / "net.bpte"


def test_firmware_runs_the_test_vectors(project) -> None:
    app = project("bundle", CortexMModel_DIR=str(ROOT / "cmake"), MODEL=str(BUNDLE))
    succeed(app.configure(CORTEXM_BOARD="mps2-an386"))
    # One vector of the file expects eight too much; the build says so.
    assert "2 of 3 test vectors pass" in succeed(app.make())
    said = emulate("mps2-an386", app.build / "app.elf")
    assert "3 of 3 passed" in said and "spoilt: noticed" in said


def test_damaged_bundle_stops_the_build(project) -> None:
    app = project("bundle", CortexMModel_DIR=str(ROOT / "cmake"))
    damaged = app.source / "net.bpte"
    damaged.write_bytes(BUNDLE.read_bytes()[:-100])
    succeed(app.configure(CORTEXM_BOARD="mps2-an386", MODEL=str(damaged)))
    assert "the .bpte file is damaged" in refuse(app.make())

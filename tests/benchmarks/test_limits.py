# SPDX-License-Identifier: Apache-2.0
"""benchmarks/limits.py: it counts one operator of each kind for what it computes, and marks what exceeds."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks import limits


def test_every_operator_has_a_name_of_its_own() -> None:
    names = Counter((item.kind, item.name) for item in limits.items())
    assert max(names.values()) == 1
    assert {kind for kind, _ in names} == set(limits.LIMITS)


def test_operators_are_counted_and_marked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = {item.kind: item for item in limits.items()}
    some = [*first.values(), limits.matmul(16, 16, 16), limits.softmax(8, 64, 1, limits.S16)]
    monkeypatch.setattr(limits, "items", lambda: some)
    monkeypatch.setitem(limits.LIMITS, "norm", (0.0, 0.0))
    assert limits.main(["--cpus", "cortex-m4"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.startswith(f"cortex-m4: {len(some)} operators, ")
    costs = {line[3:47].strip(): float(line[47:].split()[0]) for line in lines}
    assert list(costs) == [item.name for item in some]
    assert min(costs.values()) > 0.25
    assert [line[:2] for line in lines if " norm " in line] == ["**"]


def test_bad_options_are_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert limits.main(["--kinds", "norms"]) == 1
    assert "did you mean" in capsys.readouterr().err

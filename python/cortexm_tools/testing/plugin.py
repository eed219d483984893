# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin that lets ExecuTorch's own tests of the Cortex-M backend run here, unchanged:

    pytest -p cortexm_tools.testing.plugin --cortex-m-target cortex-m4 \\
        <site-packages>/executorch/backends/cortex_m/test/ops

It replaces ExecuTorch's CortexMTester by ours before the test modules import it. The cores are
chosen as those tests do it (--cortex-m-target, may be repeated), or for all tests alike by
--cortexm-cpu or the environment variable CORTEXM_TEST_CPU.

Some of those tests say that ExecuTorch's device code must fail (strict xfail), for example on
broadcasts that have no kernel there. Where this compiler has one they pass, and count as xpassed.
"""

from __future__ import annotations

import os

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cortexm-cpu",
        metavar="CPU",
        help="core on which CortexMTester runs every test, for example cortex-m4, or host",
    )


def pytest_configure(config: pytest.Config) -> None:
    from cortexm_tools.frontend.quiet import import_executorch, quiet

    cpu = config.getoption("--cortexm-cpu")
    if cpu:
        os.environ["CORTEXM_TEST_CPU"] = cpu
    import_executorch()
    with quiet():
        from executorch.backends.cortex_m.test import tester

        from cortexm_tools.testing.tester import CortexMTester
    tester.CortexMTester = CortexMTester


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for mark in list(item.iter_markers("xfail")):
            if mark.kwargs.get("strict"):
                relaxed = {**mark.kwargs, "strict": False}
                item.add_marker(pytest.mark.xfail(*mark.args, **relaxed), append=False)


@pytest.fixture
def cortexm_tester() -> type:
    """The tester class, for tests of one's own: ``cortexm_tester(model, inputs, cpu=…)``."""
    from cortexm_tools.testing.tester import CortexMTester

    return CortexMTester

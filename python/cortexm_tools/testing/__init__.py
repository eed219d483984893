# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch's tester interface on emulated boards. Needs executorch and pytest."""

from __future__ import annotations

from .tester import CortexMTester, EmulatedSerialize

__all__ = ["CortexMTester", "EmulatedSerialize"]

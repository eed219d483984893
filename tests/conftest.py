# SPDX-License-Identifier: Apache-2.0
"""Makes the helpers beside the tests importable."""

import sys
from pathlib import Path

_HERE = Path(__file__).parent

for name in (".", "cmake", "cmsis_nn", "kernels", "ops_data", "ops_float", "wheel"):
    sys.path.insert(0, str(_HERE / name))

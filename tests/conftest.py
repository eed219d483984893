# SPDX-License-Identifier: Apache-2.0
"""Makes the helpers beside the tests importable."""

import sys
from pathlib import Path

_HERE = Path(__file__).parent

for folder in (_HERE, _HERE / "kernels", _HERE / "ops_data", _HERE / "ops_float", _HERE / "wheel"):
    sys.path.insert(0, str(folder))

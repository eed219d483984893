# SPDX-License-Identifier: Apache-2.0
"""Makes float_graphs importable, which lies beside the tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

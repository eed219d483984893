# SPDX-License-Identifier: Apache-2.0
"""``python -m cortexm_tools``."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())

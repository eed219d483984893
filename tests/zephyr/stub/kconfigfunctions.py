# SPDX-License-Identifier: Apache-2.0
"""The devicetree functions that the module's Kconfig calls, answering from the environment."""

import os
import re
from typing import Any


def _path_enabled(_kconf: Any, _name: str, path: str) -> str:
    return "y" if path in os.environ["STUB_PATHS"].split() else "n"


def _chosen_enabled(_kconf: Any, _name: str, chosen: str) -> str:
    return "y" if chosen in os.environ["STUB_CHOSEN"].split() else "n"


def _normalize_upper(_kconf: Any, _name: str, text: str) -> str:
    return re.sub(r"[^A-Z0-9]", "_", text.upper())


functions = {
    "dt_path_enabled": (_path_enabled, 1, 1),
    "dt_chosen_enabled": (_chosen_enabled, 1, 1),
    "normalize_upper": (_normalize_upper, 1, 1),
}

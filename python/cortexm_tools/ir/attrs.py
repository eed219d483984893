# SPDX-License-Identifier: Apache-2.0
"""The base of all operators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Attrs:
    """Base of all operator attributes; `kind` is the operator's name everywhere."""

    kind: ClassVar[str] = ""

# SPDX-License-Identifier: Apache-2.0
"""Movement of elements of any type: nothing is computed."""

from . import fills, parts, states, views

__all__ = ["fills", "parts", "states", "views"]

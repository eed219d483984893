# SPDX-License-Identifier: Apache-2.0
"""The version of the tools; CMake and pyproject.toml read it here."""

__version__ = "0.1.0"

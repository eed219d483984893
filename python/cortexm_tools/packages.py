# SPDX-License-Identifier: Apache-2.0
"""The Python packages that lower a model, in the versions for which results are proved.

pyproject.toml and requirements/torch.txt pin the same. Lowering builds on what these packages do not
promise to keep, so that of another minor version neither its working nor its results are known.
"""

from __future__ import annotations

import importlib.metadata

PROVED = {"torch": "2.13.0", "torchao": "0.18.0", "executorch": "1.5.1"}

WORKING = "lowering works with " + ", ".join(f"{name} {each}" for name, each in PROVED.items())


def installed(name: str) -> str:
    """The version of a package; empty if it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def is_proved(name: str, version: str) -> bool:
    """Whether `version` is of the minor version for which results are proved."""
    return name not in PROVED or version.split(".")[:2] == PROVED[name].split(".")[:2]


def others() -> str:
    """What is installed in another version, ``executorch 1.6.0``; empty if nothing is."""
    found = {name: installed(name) for name in PROVED}
    return ", ".join(f"{name} {v}" for name, v in found.items() if v and not is_proved(name, v))

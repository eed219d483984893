# SPDX-License-Identifier: Apache-2.0
"""Tells CMake what this interpreter has: missing packages, versions, and where those are recorded.

One ``key=value`` per line. Nothing heavy is imported, so this takes a fraction of a second. Written
for any Python 3, so that an old one gets a sentence and not a syntax error.
"""

import sys

if sys.version_info < (3, 10):  # noqa: UP036
    sys.exit(f"Python {sys.version_info[0]}.{sys.version_info[1]} is too old, 3.10 is needed")

import importlib.metadata
import importlib.util

ALWAYS = ("numpy",)
FOR_PYTORCH = ("torch", "torchao", "executorch")


def main() -> None:
    """Prints the report."""
    for key, names in (("missing", ALWAYS), ("missing-torch", FOR_PYTORCH)):
        missing = [name for name in names if importlib.util.find_spec(name) is None]
        print(f"{key}={' '.join(missing)}")
    print(f"python={sys.version.split()[0]}")
    for name in ALWAYS + FOR_PYTORCH:
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        print(f"version={name} {distribution.version}")
        # Public API gives no path of the metadata folder; its METADATA file has one.
        for file in distribution.files or ():
            if file.name == "METADATA":
                print(f"metadata={file.locate()}")


if __name__ == "__main__":
    main()

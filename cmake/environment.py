# SPDX-License-Identifier: Apache-2.0
"""Tells CMake what this interpreter has, and what a cortexm_add_model() comes to.

    environment.py report
    environment.py settle PACKAGE_DIR WORDS
    environment.py both PACKAGE_DIR WORDS

The report has one ``key=value`` per line: missing packages, versions, and where those are recorded. A
line ``--`` follows, and the code of ../python/cortexm_tools/cli/configure.py. Nothing heavy is imported,
so this takes a fraction of a second. Written for any Python 3, so that an old one gets a sentence and
not a syntax error. The exit status is 3 if the call says something that cannot be.
"""

import sys

if sys.version_info < (3, 10):  # noqa: UP036
    sys.exit(f"Python {sys.version_info[0]}.{sys.version_info[1]} is too old, 3.10 is needed")

import importlib.metadata
import importlib.util

ALWAYS = ("numpy",)
FOR_PAGES = ("jinja2",)
FOR_PYTORCH = ("torch", "torchao", "executorch")


def report():
    """Prints the report."""
    needs = (("missing", ALWAYS), ("missing-torch", FOR_PYTORCH), ("missing-page", FOR_PAGES))
    for key, names in needs:
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


def settle(package, words):
    """Prints the code for one call."""
    import launch  # beside this file

    launch.load_package(package)
    from cortexm_tools.cli.configure import Facts, cmake_code
    from cortexm_tools.cli.configure import settle as settled
    from cortexm_tools.errors import CortexMError

    try:
        code = cmake_code(settled(Facts(words.split("\n"))))
    except CortexMError as error:
        sys.stderr.buffer.write(str(error).encode("utf-8", "surrogateescape"))
        sys.exit(3)
    sys.stdout.buffer.write(code.encode("utf-8", "surrogateescape"))


def main():
    """Does what the first word says."""
    what, rest = sys.argv[1], sys.argv[2:]
    if what != "settle":
        report()
    print("--", flush=True)
    if what != "report":
        settle(*rest)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of options in docs/ from python/cortexm_tools/options. `--check` only says
whether they are up to date."""

from __future__ import annotations

import re
import sys

from checkout import ROOT

from cortexm_tools.options import MODELS, OPTIONS, Option

BLOCK = re.compile(r"(<!-- options: begin -->\n).*?(<!-- options: end -->)", re.DOTALL)


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(line)} |" for line in (head, *rows)]
    lines.insert(1, "|" + "---|" * len(head))
    return "".join(line + "\n" for line in lines)


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|") if text else ""


def _limits(option: Option) -> str:
    """Unit and range."""
    return "; ".join(text for text in (option.unit, option.range) if text)


def _effect(option: Option, page: str) -> str:
    text = option.docs or option.help
    return text.replace(f"({page}#", "(#")


def cmake_table() -> str:
    """The keywords of cortexm_add_model()."""
    rows = []
    for option in OPTIONS:
        if option.cmake:
            written = {"flag": "", "list": f"{option.written}..."}.get(option.kind, option.written)
            rows.append(
                (
                    _code(f"{option.cmake} {written}".strip()),
                    _limits(option),
                    (option.cmake_default or option.default).replace("(cmake.md#", "(#"),
                    _effect(option, "cmake.md"),
                )
            )
    return _table(("argument", "unit, range", "default", "what it does"), rows)


def cli_table() -> str:
    """The options of compile, run and bench."""
    rows = []
    for option in OPTIONS:
        if option.flags:
            shown = ", ".join(map(_code, option.flags))
            if option.kind != "flag":
                shown += " " + _code(option.written)
            if option.kind == "switch":
                shown += f", `--no-{option.dest}`"
            of = "all" if option.commands == MODELS else ", ".join(option.commands)
            row = (shown, of, _limits(option), option.default, _effect(option, "cli.md"))
            rows.append(row)
    return _table(("option", "of", "unit, range", "default", "what it does"), rows)


def kconfig_table() -> str:
    """The symbols of the Zephyr module."""
    rows = []
    # Those of the module alone come first.
    for option in sorted(OPTIONS, key=lambda option: bool(option.cmake)):
        if option.kconfig:
            limits = _limits(option) if not option.zephyr else ""
            limits = "bytes" if option.kconfig[0].endswith("_LIMIT") else limits
            text = option.zephyr or option.docs or option.help
            names = ", ".join(map(_code, option.kconfig))
            rows.append((names, limits, option.kconfig_default, text))
    rows.append(("`LOG_LEVEL`", "", "as Zephyr's", "of these logs"))
    return _table(("symbol", "unit, range", "default", "what it does"), rows)


TABLES = {"cmake.md": cmake_table, "cli.md": cli_table, "zephyr.md": kconfig_table}


def main() -> int:
    stale = []
    for name, table in TABLES.items():
        path = ROOT / "docs" / name
        old = path.read_text(encoding="utf-8")
        inner = table()
        new = BLOCK.sub(lambda match, inner=inner: match[1] + inner + match[2], old)
        assert BLOCK.search(old), f"{name} has no place for the table"
        if new != old:
            stale.append(name)
            if "--check" not in sys.argv[1:]:
                path.write_text(new, encoding="utf-8")
    if stale and "--check" in sys.argv[1:]:
        print(f"{', '.join(stale)} out of date: run scripts/option_docs.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

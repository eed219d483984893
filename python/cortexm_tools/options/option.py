# SPDX-License-Identifier: Apache-2.0
"""What an option is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import CortexMError

Kind = Literal["value", "flag", "list", "switch"]
COMPILE, RUN, BENCH, REPORT, COMPARE = "compile", "run", "bench", "report", "compare"
EXPORT, QUALITY = "export", "quality"


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option.

    Attributes:
        help: what it does, as ``--help`` says it.
        docs: the same with Markdown and links, for tables; `help` unless given.
        cmake: keyword of cortexm_add_model(); empty if it is none.
        flags: on the command line; what the parser calls it comes from the first long one.
        commands: of the command line that take it.
        kconfig: symbols of the Zephyr module without ``CONFIG_CORTEXM_``; several are a choice.
        kind: ``value``; ``flag``, there or not; ``list``, several values; ``switch``, --x
            [VALUE] or --no-x, which is --x none.
        value: how the value is written.
        choices: the only values there are; others are a usage error.
        unit, range: of numbers, and what else a value must be.
        default: what holds without it, in words.
        cmake_default, kconfig_default: where those differ.
        parse: from text to the parser's value.
        initial: the parser's value where it is not given.
        group: the title it stands under in ``--help``.
        zephyr: `docs` in the table of Kconfig symbols, where that says more.
    """

    help: str
    docs: str = ""
    cmake: str = ""
    flags: tuple[str, ...] = ()
    commands: tuple[str, ...] = (COMPILE,)
    kconfig: tuple[str, ...] = ()
    kind: Kind = "value"
    value: str = ""
    choices: tuple[str, ...] = ()
    unit: str = ""
    range: str = ""
    default: str = ""
    cmake_default: str = ""
    kconfig_default: str = ""
    parse: Callable[[str], Any] | None = None
    initial: Any = None
    group: str = ""
    zephyr: str = ""

    @property
    def dest(self) -> str:
        """What the parser calls it; empty if it is not of the command line."""
        long = [flag for flag in self.flags if flag.startswith("--")]
        return long[0][2:].replace("-", "_") if long else ""

    def value_of(self, given: Any) -> Any:
        """The parser's value for one that a caller in Python gave; None is the default.

        Raises:
            CortexMError: it is of another kind.
        """
        if given is None:
            return {"flag": False, "list": []}.get(self.kind, self.initial)
        if self.kind == "flag":
            return bool(given)
        if self.kind == "list":
            return [given] if isinstance(given, str) else [str(each) for each in given]
        text = str(given)
        try:
            return text if self.parse is None else self.parse(text)
        except ValueError as error:
            raise CortexMError(f"{self.dest}: {error}") from None

    @property
    def written(self) -> str:
        """How its value is written."""
        return self.value or "|".join(self.choices)

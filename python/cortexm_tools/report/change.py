# SPDX-License-Identifier: Apache-2.0
"""How far a quantity may change: ``--fail-on ram+1%,flash+512,sqnr-0.5``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import CortexMError, did_you_mean, printable
from ..options.sizes import parse_size

_FORM = re.compile(r"(?P<name>[a-z_]+)((?P<sign>[+-])(?P<amount>[0-9.]+)(?P<unit>%|[kKmM])?)?")
_HINT = "write NAME+AMOUNT with commas between, as in ram+1%,flash+512,sqnr-0.5"


@dataclass(frozen=True)
class Quantity:
    """What is compared: its name, its unit, what it is, and whether more of it is better."""

    name: str
    unit: str
    about: str
    more_is_better: bool = False


QUANTITIES = (
    Quantity("ram", "B", "arena and state"),
    Quantity("arena", "B", "the arena"),
    Quantity("state", "B", "kept from call to call"),
    Quantity("stack", "B", "bound on the stack, of a build or a measurement"),
    Quantity("flash", "B", "code and constants, of a build or a measurement"),
    Quantity("code", "B", "machine code, likewise"),
    Quantity("constants", "B", "weights, biases and tables"),
    Quantity("instructions", "", "of an inference, counted by the emulator"),
    Quantity("macs", "", "multiply-accumulates of an inference"),
    Quantity("sqnr", "dB", "of the worst output, against the float model", more_is_better=True),
)


@dataclass(frozen=True)
class Allowed:
    """How much worse a quantity may get: by `amount` of its unit, or by `percent` of what it was."""

    quantity: Quantity
    amount: float | None
    percent: float | None
    text: str

    def exceeded(self, before: float, after: float) -> bool:
        """Whether it got worse by more."""
        worse = before - after if self.quantity.more_is_better else after - before
        if self.percent is not None:
            return worse > self.percent / 100 * before
        assert self.amount is not None
        return worse > self.amount


def parse_allowed(text: str) -> tuple[Allowed, ...]:
    """What ``--fail-on`` says; a name alone allows nothing.

    Raises:
        CortexMError: a quantity is unknown, given twice or with the wrong sign, or no amount.
    """
    if not text:
        return ()
    known = {quantity.name: quantity for quantity in QUANTITIES}
    found: dict[str, Allowed] = {}
    for word in text.split(","):
        word = word.strip()
        match = _FORM.fullmatch(word)
        if match is None:
            raise CortexMError(f"--fail-on {printable(word)!r} is no limit", hint=_HINT)
        if match["name"] not in known:
            hint = did_you_mean(match["name"], known)
            raise CortexMError(f"--fail-on: unknown quantity {match['name']!r}", hint=hint)
        quantity = known[match["name"]]
        if match["name"] in found:
            raise CortexMError(f"--fail-on: {quantity.name} is given twice", hint=_HINT)
        sign = "-" if quantity.more_is_better else "+"
        if (match["sign"] or sign) != sign:
            better = "more" if quantity.more_is_better else "less"
            raise CortexMError(
                f"--fail-on {word}: {better} {quantity.name} is better",
                hint=f"write {quantity.name}{sign}{match['amount']}{match['unit'] or ''}",
            )
        found[quantity.name] = Allowed(quantity, *_amount(match, quantity, word), text=word)
    return tuple(found.values())


def _amount(
    match: re.Match[str], quantity: Quantity, word: str
) -> tuple[float | None, float | None]:
    """The amount and the per cent, one of them None."""
    if match["amount"] is None:
        return 0.0, None
    try:
        number = float(match["amount"])
    except ValueError:
        raise CortexMError(
            f"--fail-on {word}: {match['amount']!r} is no number", hint=_HINT
        ) from None
    if match["unit"] == "%":
        if quantity.unit == "dB":
            raise CortexMError(
                f"--fail-on {word}: decibels are a ratio already",
                hint=f"write {quantity.name}-{match['amount']}",
            )
        return None, number
    if match["unit"]:
        if quantity.unit != "B":
            raise CortexMError(f"--fail-on {word}: {quantity.name} is not in bytes", hint=_HINT)
        return float(parse_size(match["amount"] + match["unit"], f"--fail-on {word}")), None
    return number, None


def exceeded(
    allowed: tuple[Allowed, ...], values: Mapping[str, tuple[float | None, float | None]]
) -> list[str]:
    """A sentence for each limit that is exceeded.

    Raises:
        CortexMError: a limited quantity is not known of both.
    """
    sentences = []
    for limit in allowed:
        name = limit.quantity.name
        before, after = values[name]
        if before is None or after is None:
            missing = " and ".join(
                side for side, value in (("A", before), ("B", after)) if value is None
            )
            raise CortexMError(
                f"--fail-on {limit.text}: {name} is not known of {missing}", hint=_WHERE[name]
            )
        if limit.exceeded(before, after):
            sentences.append(
                f"{name} went from {amount(before, limit.quantity)} to "
                f"{amount(after, limit.quantity)} ({change(before, after, limit.quantity)}), "
                f"--fail-on {limit.text} allows less"
            )
    return sentences


_BUILD = (
    "it is of a build, whose NAME.footprint.json lies beside the report, or of a measurement: "
    "NAME.bench.json beside it, or --measure for models"
)
_WHERE = {quantity.name: "" for quantity in QUANTITIES} | {
    "stack": _BUILD,
    "flash": _BUILD,
    "code": _BUILD,
    "constants": "",
    "instructions": "put what 'cortexm bench --json' prints beside the report as NAME.bench.json, or "
    "compare models with --measure",
    "sqnr": "it is measured when a model.py is lowered: compare reports of that, or the model files",
}


def amount(value: float | None, quantity: Quantity) -> str:
    """A value with its unit."""
    if value is None:
        return "–"
    text = f"{value:.1f}" if quantity.unit == "dB" else f"{value:,.0f}"
    return f"{text} {quantity.unit}".rstrip()


def change(before: float, after: float, quantity: Quantity) -> str:
    """A difference with its sign; in per cent, unless that is no measure."""
    if quantity.unit == "dB":
        return f"{after - before:+.1f} dB"
    if before == after:
        return "0"
    if before == 0:
        return f"{after - before:+,.0f}"
    return f"{100 * (after / before - 1):+.1f} %"

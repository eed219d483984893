# SPDX-License-Identifier: Apache-2.0
"""A damaged .tflite ends in a Graph or CortexMError: never in another exception, never in a hang."""

from __future__ import annotations

import random

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir.types import Graph
from cortexm_tools.litert import list_layers, parse_model, read_litert
from cortexm_tools.simplify import simplify

from tests.litert.cases import CASES, made
from tests.litert.networks import net_bytes
from tests.support.thorough import THOROUGH


def survives(data: bytes) -> bool:
    """Whether `data` can be read; raises anything but CortexMError."""
    try:
        list_layers(parse_model(data))
        return isinstance(simplify(read_litert(data, name="damaged")), Graph)
    except CortexMError as error:
        assert error.message and "\n" not in error.message
        return False


def changed(data: bytes, generator: random.Random) -> bytes:
    """The file with one byte or a few changed."""
    damaged = bytearray(data)
    for _ in range(generator.choice((1, 1, 1, 2, 8))):
        value = generator.choice((0, 1, 0x7F, 0x80, 0xFF, generator.randrange(256)))
        damaged[generator.randrange(len(damaged))] = value
    return bytes(damaged)


def test_truncated_at_every_length() -> None:
    data = net_bytes()
    assert survives(data)
    assert not any(survives(data[:length]) for length in range(len(data) // 2))
    for length in range(len(data) // 2, len(data)):
        survives(data[:length])


def test_random_bytes_changed() -> None:
    generator = random.Random(0)
    for _ in range(30_000 if THOROUGH else 500):
        survives(changed(net_bytes(), generator))


@pytest.mark.parametrize("name", CASES)
def test_operators_with_changed_bytes(name: str) -> None:
    draw, generator = made(name, 0), random.Random(name)
    data = draw.file.data(draw.inputs, draw.outputs)
    for _ in range(1_000 if THOROUGH else 20):
        survives(changed(data, generator))


def test_every_word_of_the_tables_made_extreme() -> None:
    data = net_bytes()
    for word in (b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\0", b"\0\0\0\x80"):
        for position in range(0, len(data) - 3, 4 if THOROUGH else 28):
            survives(data[:position] + word + data[position + 4 :])

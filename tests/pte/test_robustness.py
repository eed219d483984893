# SPDX-License-Identifier: Apache-2.0
"""A damaged .pte ends in a Graph or CortexMError: never in another exception, never in a hang."""

from __future__ import annotations

import random

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir.types import Graph
from cortexm_tools.pte import list_operators, parse_program, read_pte

from tests.support.golden import golden_case
from tests.support.streams import stored_program

# A linear layer with constants in a segment; a pool with an elided view and no constants; a
# convolution; padding of an image; indexing and lists of tensors; state with initial values.
CASES = [
    "activation-linear_relu6",
    "mean-spatial",
    "activation-conv2d_relu_inplace",
    "pad-pad_rank4_last_two_dims_channels_last",
    "portable_int8-index_put",
    "portable_int8-split_with_sizes",
    "state-recurrent",
]


def program(name: str) -> bytes:
    """A file of the golden cases, or of those in tests/data/states."""
    kind, _, rest = name.partition("-")
    return stored_program(rest) if kind == "state" else golden_case(name).pte


def survives(data: bytes) -> bool:
    """Whether `data` can be read; raises anything but CortexMError."""
    try:
        list_operators(parse_program(data))
        return isinstance(read_pte(data, name="damaged"), Graph)
    except CortexMError as error:
        assert error.message
        return False


@pytest.mark.parametrize("name", CASES)
def test_truncated_at_every_length(name: str) -> None:
    data = program(name)
    assert survives(data)
    # A program with segments states where they end; without, the tail may be mere padding.
    assert not any(survives(data[:length]) for length in range(min(len(data), 64)))
    for length in range(64, len(data)):
        survives(data[:length])


@pytest.mark.parametrize("name", CASES)
def test_every_bit_of_the_offsets_flipped(name: str) -> None:
    data = program(name)
    for position in range(min(len(data), 256)):
        for bit in range(8):
            damaged = bytearray(data)
            damaged[position] ^= 1 << bit
            survives(bytes(damaged))


@pytest.mark.parametrize("name", CASES)
def test_random_bytes_changed(name: str) -> None:
    data = program(name)
    generator = random.Random(name)
    for _ in range(1000):
        damaged = bytearray(data)
        for _ in range(generator.choice((1, 1, 1, 2, 8))):
            value = generator.choice((0, 1, 0x7F, 0x80, 0xFF, generator.randrange(256)))
            damaged[generator.randrange(len(damaged))] = value
        survives(bytes(damaged))


@pytest.mark.parametrize("name", CASES)
def test_every_word_made_extreme(name: str) -> None:
    data = program(name)
    for word in (b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\0", b"\0\0\0\x80"):
        for position in range(0, len(data) - 3, 4):
            survives(data[:position] + word + data[position + 4 :])


def test_other_files_are_refused() -> None:
    for data in (b"", b"\x7fELF", bytes(64), b"PK\x03\x04" + bytes(100), b"\x08\0\0\0ET12"):
        assert not survives(data)
    with pytest.raises(CortexMError, match="not an ExecuTorch program"):
        parse_program(b"\x08\0\0\0ET11" + bytes(64))

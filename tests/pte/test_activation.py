# SPDX-License-Identifier: Apache-2.0
"""Reading activations."""

from __future__ import annotations

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.pte import read_program

from tests.pte.stored import with_operator


def test_arithmetic_on_raw_int8_codes_is_refused() -> None:
    """What a lowering leaves behind when it annotates two operators as one but fuses none."""
    program = with_operator("portable_int8-alias_copy", "aten::hardswish.out")
    with pytest.raises(CortexMError, match="int8 operands without requantization"):
        read_program(program, name="test")

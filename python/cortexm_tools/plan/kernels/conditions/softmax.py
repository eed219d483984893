# SPDX-License-Identifier: Apache-2.0
"""What kernels of softmaxes can require: how many elements they have, and what they keep of each."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..facts import Facts

ALL_ELEMENTS = 1 << 31


def _from_elements(count: int) -> Callable[[Facts], bool]:
    """A softmax of so many elements, of all that would share what its kernel takes besides code.

    A table of exponentials takes some 900 bytes more than the code that computes them, and saves some 45
    instructions for each element with DSP instructions, 10 to 25 with MVE: from 40 on one or two for each
    byte. In portable C it saves 110, on Armv6-M 300: from 20 on as much. Rows of int16 save 11 with some
    720 bytes more, longer than 64 twice as many: from 64 on about one for a byte. Few elements of int16 in
    registers save 20 to 30 with 580 to 870 bytes more: from 24 on as much.
    """
    return lambda facts: bool(facts["elements"] >= count)


def _worth_two(facts: Facts) -> bool:
    """A softmax of int16 over two elements that is the model's only one, as its code is shorter than that for
    any number; or of 16, which save about 30 instructions each where a model has both."""
    return bool(facts["is_alone"] or facts["elements"] >= 16)


def _elements(count: int) -> Callable[[Facts], bool]:
    """Columns of so many elements, for which there is a kernel."""
    return lambda facts: bool(facts["size"] == count)


def _one_pair(facts: Facts) -> bool:
    """A single column."""
    return bool(facts["outer"] * facts["inner"] == 1)


def _only_pairs(facts: Facts) -> bool:
    """A single column of a model whose softmaxes of int16 are all single columns of two elements: its code is
    smaller than that for any number, and has the same table."""
    is_worth_it = facts["are_pairs"] or facts["elements"] == ALL_ELEMENTS
    return bool(is_worth_it and _one_pair(facts))


def _in_registers(facts: Facts) -> bool:
    """Columns of so few elements that a kernel has them in registers."""
    return bool(3 <= facts["size"] <= 5)


def _short_rows(facts: Facts) -> bool:
    """Rows in one piece, so short that a kernel keeps an exponential of each element on the stack, and no
    more elements than are worth a whole table, with which rows of more than some 24 take a little less."""
    size, are_rows = facts["size"], facts["inner"] == 1
    return bool(are_rows and 4 <= size <= 64 and (size <= 24 or facts["elements"] < 1000))


def _worth_folded_table(saved: int, code: int, most: int) -> Callable[[Facts], bool]:
    """A softmax whose folded table of exponentials takes no more bytes beyond the code that computes them
    than it saves instructions, so many for each of the elements that would share it, and which has no more
    elements than are worth a whole table.

    Args:
        code: bytes of code that computes exponentials, beyond that for the table.
    """

    def is_worth_it(facts: Facts) -> bool:
        elements = facts["elements"]
        return bool(facts["folded_bytes"] - code <= saved * elements and elements <= most)

    return is_worth_it


def _worth_blocks(facts: Facts) -> bool:
    """Rows in one piece whose exponentials are factors in blocks, of too few elements for a table of all: of
    three to seven, or more where a folded table is not worth it. Some 300 to 550 bytes beyond the code that
    computes exponentials save some 50 instructions for each element, two thirds of them."""
    is_few = facts["elements"] < 40
    return bool(facts["has_blocks"] and facts["inner"] == 1 and 3 <= facts["size"] <= 64 and is_few)


def _many_in_blocks(facts: Facts) -> bool:
    """Rows of more elements than kernels have in registers."""
    return bool(facts["size"] >= 8)


def _few_in_lanes(facts: Facts) -> bool:
    """Columns of two to four elements of int16, which a kernel has in registers."""
    return bool(2 <= facts["size"] <= 4) and _shifts_14_bits(facts)


def _few_elements(facts: Facts) -> bool:
    """Columns of so few elements that a kernel keeps what it computes of four of them, and so many that four
    at a time take fewer instructions than one after the other."""
    columns, size = facts["outer"] * facts["inner"], facts["size"]
    are_faster = _in_fours(columns, size) < 27 + columns * (147 + 27 * -(-size // 4))
    return bool(size <= 40 and are_faster) and _shifts_14_bits(facts)


def _in_fours(columns: int, size: int) -> int:
    """Instructions of int16 columns four at a time, with as few elements as that in registers."""
    start, four, element = {2: (33, 8, 25), 3: (39, 32, 25), 4: (39, 32, 25)}.get(
        size, (26, 51, 30)
    )
    return start + -(-columns // 4) * (four + element * size)


def _one_by_one(rows: int, size: int) -> int:
    """Instructions of int16 rows one after the other."""
    return 15 + rows * (31 + 22 * -(-size // 4) + 3 * -(-size // 8))


def _kept_rows(facts: Facts) -> bool:
    """Rows of up to 64 elements of int16, of which a kernel keeps an exponential each, which take fewer
    instructions one after the other than four at a time."""
    rows, size = facts["outer"], facts["size"]
    are_faster = _one_by_one(rows, size) <= _in_fours(rows, size) or size > 40
    return bool(facts["inner"] == 1 and size <= 64 and are_faster) and _shifts_14_bits(facts)


def _wide_eights(facts: Facts) -> bool:
    """Rows of five to eight elements of int16 of a model whose softmaxes of int16 are all alike, which
    a kernel has in registers, where that takes fewer instructions than four at a time."""
    rows, size = facts["outer"], facts["size"]
    is_one_kind = facts["inner"] == 1 and 5 <= size <= 8 and facts["are_alike"]
    return bool(is_one_kind and 20 + 63 * rows <= _in_fours(rows, size))


def _alike_in_fives(facts: Facts) -> bool:
    """Rows of five elements of a model whose softmaxes of that type are all alike, so that it needs code of
    one kernel alone."""
    return bool(facts["size"] == 5 and facts["inner"] == 1 and facts["are_alike"])


def _fives_of_codes(facts: Facts) -> bool:
    """Rows of five codes which three at a time take fewer instructions than four in lanes or each alone."""
    in_threes = 19 + 128 * -(-facts["outer"] // 3)
    others = min(_of_rows_alone(facts), _of_rows_together(facts))
    return _alike_in_fives(facts) and in_threes <= others


def _wide_fives(facts: Facts) -> bool:
    """The same of int16."""
    rows = facts["outer"]
    others = min(20 + 63 * rows, _in_fours(rows, 5))
    return _alike_in_fives(facts) and 17 + 148 * -(-rows // 3) <= others


def _alone_in_rows(facts: Facts) -> bool:
    """Rows of int16 where all of the model's are rows of as many elements, so that the table of a kernel of
    theirs is the only one."""
    return bool(facts["inner"] == 1 and facts["all_rows"] and facts["is_alone"])


def _kept_pairs(facts: Facts) -> bool:
    """Rows of two to 64 elements of int16, of which a kernel keeps powers, and whose code is as long as that
    for any columns, which the model needs for no other softmax."""
    is_alone = facts["all_rows"] or facts["elements"] >= ALL_ELEMENTS
    return bool(facts["inner"] == 1 and 2 <= facts["size"] <= 64 and is_alone)


def _one_kept_row(facts: Facts) -> bool:
    """A single row that would be one of those, of a model without other softmaxes of int16."""
    return bool(facts["is_single"] and 2 <= facts["size"] <= 64)


def _shifts_14_bits(facts: Facts) -> bool:
    """A softmax of int16 with exponents whose whole part has 14 bits."""
    return bool(facts["multiplier"] < 1 << 30)


def _are_divided(facts: Facts) -> bool:
    """Columns whose numbers a product divides by the distance of their elements, exactly."""
    return bool(facts["outer"] * facts["inner"] ** 2 < 1 << 31)


def _rows(facts: Facts) -> bool:
    """Rows in one piece, of two elements at least, of which an exponential each is kept."""
    return facts["inner"] == 1 and _has_room(facts, 4 * facts["size"])


def _columns_apart(facts: Facts) -> bool:
    """Columns beside each other, of two elements at least; of two of them all exponentials are kept."""
    return facts["inner"] > 1 and _has_room(facts, 8 * facts["size"])


def _has_room(facts: Facts, kept: int) -> bool:
    """What is kept takes 4 KB, or no more than the codes; and what counts with a sum of so many exponentials
    has room in its upper word."""
    codes = 2 * facts["outer"] * facts["size"] * facts["inner"]
    return bool(2 <= facts["size"] <= 2047 and kept <= max(4096, codes))


def _even_columns(facts: Facts) -> bool:
    """Columns in pairs, without one that is left."""
    return bool(facts["inner"] % 2 == 0)


def _gentle(facts: Facts) -> bool:
    """A softmax of int16 whose powers halve no faster than every 256 codes: the whole parts of exponents have
    eight bits, by which a register is shifted as it is."""
    return bool(facts["multiplier"] < 1 << 24)


def _many_elements(facts: Facts) -> bool:
    """Columns of more elements than a kernel keeps on the stack what it computes of."""
    return bool(facts["size"] > 64)


def _short_columns(facts: Facts) -> bool:
    """Columns apart, or rows so short that four at a time, gathered, take fewer cycles than one after the
    other, each from vectors: some 240 instructions and 4 an element. Of 4095 elements the sum has 31 bits."""
    rows, size = facts["outer"], facts["size"]
    are_faster = facts["inner"] > 1 or -(-rows // 4) * (80 + 30 * size) < rows * (240 + 4 * size)
    return bool(size <= 4095 and are_faster) and _are_divided(facts)


def _has_factors(facts: Facts) -> bool:
    """A softmax of int8 whose exponentials are products of factors, with corrections of a byte. If these are
    more than some 300 bytes, of a row of four 360, that is more than the code which computes exponentials: at
    most two bytes for an instruction, of which they save 15 to 25 for each of the elements that would share
    them."""
    elements = facts["elements"]
    code = 360 if _single_row(3, 4)(facts) else 300
    return bool(facts["factor_bytes"] < math.inf and facts["factor_bytes"] - code <= 48 * elements)


def _factored_rows(facts: Facts) -> bool:
    """Rows of up to 64 elements, of which a kernel keeps an exponential each, which take fewer instructions
    one after the other than four together in lanes. Where there are so many elements that a table of
    exponentials would do, which is 800 bytes larger, a single row takes at most 100 more than with that, and
    of two rows on all together 100 divided by their number."""
    is_row = facts["inner"] == 1 and facts["size"] <= 64
    return bool(is_row and _of_rows_alone(facts) <= _of_rows_together(facts))


def _of_rows_alone(facts: Facts) -> int:
    """Instructions of rows of int8 one after the other."""
    size = int(facts["size"])
    return 13 + int(facts["outer"]) * (37 + 20 * -(-size // 4) + 3 * -(-size // 16))


def _of_rows_together(facts: Facts) -> int:
    """Instructions of rows four together in lanes, or by a table, as above."""
    rows, size, elements = int(facts["outer"]), int(facts["size"]), facts["elements"]
    if not _from_elements(40)(facts):
        return 26 + -(-rows // 4) * (41 + 24 * size)
    by_table = min(49 + -(-rows // 4) * (41 + 20 * size), rows * (130 + 7 * size // 2))
    return by_table + (100 // rows if elements < ALL_ELEMENTS else 0)


def _single_row(least: int, most: int) -> Callable[[Facts], bool]:
    """A single row of so few elements that a kernel has them in registers, of a model without other softmaxes
    of its type, as that has the code for it alone."""
    return lambda facts: bool(facts["is_single"] and least <= facts["size"] <= most)


def _factored_columns(facts: Facts) -> bool:
    """Columns, or rows, of up to 16 elements, of which a kernel keeps an exponential each."""
    return bool(facts["size"] <= 16)


def _up_to_64(facts: Facts) -> bool:
    """Columns of so few elements that a kernel keeps an exponential of each on the stack."""
    return bool(facts["size"] <= 64)


def _codes_apart(facts: Facts) -> bool:
    """A softmax of int8 in which only a difference of 0 has the exponent 0, and whose multiplier is from 2^30
    on."""
    multiplier = facts["multiplier"]
    return bool(multiplier >= 1 << 30 and multiplier << facts["shift"] > 1 << 30)


CASES: dict[str, Callable[[Facts], bool]] = {
    "from_64_elements": _from_elements(64),
    "from_40_elements": _from_elements(40),
    "from_20_elements": _from_elements(20),
    "from_24_elements": _from_elements(24),
    "worth_two": _worth_two,
    "up_to_64": _up_to_64,
    "codes_apart": _codes_apart,
    "short_columns": _short_columns,
    "in_registers": _in_registers,
    "has_factors": _has_factors,
    "worth_blocks": _worth_blocks,
    "many_in_blocks": _many_in_blocks,
    "factored_rows": _factored_rows,
    "factored_columns": _factored_columns,
    "row_of_four": _single_row(3, 4),
    "row_of_eight": _single_row(5, 8),
    "fives_of_codes": _fives_of_codes,
    "short_rows": _short_rows,
    "worth_folded_table": _worth_folded_table(48, 160, 1 << 31),
    "worth_short_table": _worth_folded_table(110, 250, 40),
    "14_bits": _shifts_14_bits,
    "few_in_lanes": _few_in_lanes,
    "few_elements": _few_elements,
    "kept_rows": _kept_rows,
    "kept_pairs": _kept_pairs,
    "one_kept_row": _one_kept_row,
    "wide_eights": _wide_eights,
    "wide_fives": _wide_fives,
    "alone_in_rows": _alone_in_rows,
    "only_pairs": _only_pairs,
    "one_pair": _one_pair,
    "two_elements": _elements(2),
    "three_elements": _elements(3),
    "four_elements": _elements(4),
    "five_elements": _elements(5),
    "six_elements": _elements(6),
    "seven_elements": _elements(7),
    "many_elements": _many_elements,
    "rows": _rows,
    "columns": _columns_apart,
    "even_columns": _even_columns,
    "gentle": _gentle,
}

# SPDX-License-Identifier: Apache-2.0
"""Distances by formula against the definition, pixel by pixel."""

from __future__ import annotations

from random import Random

import numpy as np

from cortexm_tools.plan.memory.overlap import Distance, _image_distance


def _by_definition(fields: dict[str, int], ahead: int, planes: bool) -> Distance:
    """Of all pixels: the end of a pixel less the first byte of all windows that may still be read then."""
    rows = np.arange(fields["out_h"])[:, None]
    cols = np.arange(1 if planes else fields["out_w"])[None, :]
    pixel = rows * fields["out_w"] + (fields["out_w"] - 1 if planes else cols)
    end = (pixel * fields["out_pixel_stride"] + fields["out_c"]).reshape(-1)
    y = np.maximum(0, fields["in_y0"] + rows * fields["stride_h"])
    x = np.maximum(0, fields["in_x0"] + cols * fields["stride_w"]) * (not planes)
    first = (y * fields["in_row_stride"] + x * fields["in_c"]).reshape(-1)
    nbytes = max(int(end[q]) - int(first[max(0, q - ahead + 1) :].min()) for q in range(len(first)))
    return Distance(nbytes, fields["out_c"] if planes else 1)


def test_distances_are_those_of_the_definition() -> None:
    random = Random(1)
    for _ in range(3000):
        channels = random.randint(1, 9)
        fields = {
            "in_c": channels,
            "out_c": random.randint(1, 12),
            "out_h": random.randint(1, 9),
            "out_w": random.randint(1, 9),
            "in_y0": random.randint(-9, 3),
            "in_x0": random.randint(-9, 3),
            "stride_h": random.randint(1, 5),
            "stride_w": random.randint(1, 5),
            "in_row_stride": channels * random.randint(1, 12),
        }
        fields["out_pixel_stride"] = fields["out_c"] + random.choice((0, 0, 3))
        planes = random.random() < 0.2
        ahead = 1 if planes else random.randint(1, 5)
        found = _image_distance(tuple(fields.items()), ahead, planes)
        assert found == _by_definition(fields, ahead, planes), (fields, ahead, planes)


def test_channels_that_are_read_before_they_are_written_lie_where_they_were() -> None:
    """Rows or columns for one band, and no longer than a turned image may be."""
    for out_h, out_w, at_once in (
        (7, 40, True),
        (8, 40, False),
        (25, 5, True),
        (25, 8, False),
        (31, 5, False),
    ):
        fields = dict.fromkeys(("stride_h", "stride_w"), 1) | dict.fromkeys(
            ("kernel_h", "kernel_w"), 3
        )
        fields |= {"in_c": 8, "out_c": 8, "out_pixel_stride": 8, "in_y0": -1, "in_x0": -1}
        fields |= {"in_h": out_h, "in_w": out_w, "out_h": out_h, "out_w": out_w}
        fields["in_row_stride"] = 8 * out_w
        found = _image_distance(tuple(fields.items()), 1, True, 9)
        assert found.modulus == 8
        assert (found.nbytes <= 0) == at_once, fields

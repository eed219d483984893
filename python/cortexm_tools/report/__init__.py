# SPDX-License-Identifier: Apache-2.0
"""What a plan costs and where: as JSON for tools, as tables for people."""

from .data import float_ops, precision, report_data, report_json
from .limits import check_limits
from .tables import (
    alternative_lines,
    float_lines,
    layer_table,
    operator_text,
    quality_lines,
    quality_table,
    summary,
    table,
)

__all__ = [
    "alternative_lines",
    "check_limits",
    "float_lines",
    "float_ops",
    "layer_table",
    "operator_text",
    "precision",
    "quality_lines",
    "quality_table",
    "report_data",
    "report_json",
    "summary",
    "table",
]

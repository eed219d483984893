# SPDX-License-Identifier: Apache-2.0
"""What becomes of the quantized graph: an operator of the dialect for each of its own, a .pte."""

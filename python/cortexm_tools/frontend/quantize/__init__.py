# SPDX-License-Identifier: Apache-2.0
"""How every tensor is quantized, and how much of the model's precision that costs."""

# SPDX-License-Identifier: Apache-2.0
"""The kernels that exist, and what they need of a layer: types, packed constants, scratch memory."""

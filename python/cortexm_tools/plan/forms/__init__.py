# SPDX-License-Identifier: Apache-2.0
"""Forms: a convolution as another one on the same bytes. What pays is decided elsewhere."""

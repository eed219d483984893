# SPDX-License-Identifier: Apache-2.0
"""How each operator becomes kernel calls, by family. Importing this package registers them."""

from . import convolution, data, elementwise, matrix, pooling

__all__ = ["convolution", "data", "elementwise", "matrix", "pooling"]

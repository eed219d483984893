# SPDX-License-Identifier: Apache-2.0
"""Which of a graph's many plans to take: order, bands of rows, and kernels, by memory and cost."""

# SPDX-License-Identifier: Apache-2.0
"""Which of all ways to compute its operators a network takes: see kernels.py."""

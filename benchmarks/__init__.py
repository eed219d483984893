# SPDX-License-Identifier: Apache-2.0
"""What models cost on emulated cores, and how long plans take: python -m benchmarks.run, in the checkout."""

# SPDX-License-Identifier: Apache-2.0
"""What models cost on emulated cores: python -m benchmarks.run and the others, in the checkout."""

from scripts.checkout import ROOT

__all__ = ["ROOT"]

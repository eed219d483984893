# SPDX-License-Identifier: Apache-2.0
"""Compiles PyTorch models into static C plans for Arm Cortex-M."""

__version__ = "0.1.0"

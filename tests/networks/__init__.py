# SPDX-License-Identifier: Apache-2.0
"""Small networks of the kinds that people bring, written as an ordinary PyTorch user would."""

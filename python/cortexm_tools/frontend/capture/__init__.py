# SPDX-License-Identifier: Apache-2.0
"""The graph of a model, with what it keeps from one call to the next as inputs and outputs."""

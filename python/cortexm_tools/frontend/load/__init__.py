# SPDX-License-Identifier: Apache-2.0
"""What the user gives: a model, its example inputs, and samples to calibrate and evaluate on."""

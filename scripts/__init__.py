# SPDX-License-Identifier: Apache-2.0
"""Programs that keep the checkout in order; start them by their paths."""

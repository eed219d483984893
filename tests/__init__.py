# SPDX-License-Identifier: Apache-2.0
"""The tests; pyproject.toml puts the checkout on their path, so that helpers are `tests.support`."""

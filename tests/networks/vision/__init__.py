# SPDX-License-Identifier: Apache-2.0
"""Image classifiers, each the small sibling of a known network."""

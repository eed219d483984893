# SPDX-License-Identifier: Apache-2.0
"""Whose code a file, a graph's node or an error comes from: the user's, and on which line."""

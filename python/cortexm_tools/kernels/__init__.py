# SPDX-License-Identifier: Apache-2.0
"""The kernels as a table: which there are, what each is compiled from, and those a build compiles."""

# SPDX-License-Identifier: Apache-2.0
"""What benchmarks/run.py measures, records and shows."""

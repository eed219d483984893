# SPDX-License-Identifier: Apache-2.0
"""Where tensors lie: which share memory, when each piece of it is in use, and at which offsets."""

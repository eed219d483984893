# SPDX-License-Identifier: Apache-2.0
"""RUNTIME executorch: a program for ExecuTorch's own runtime, with our operators behind it.

What the runtime would find out on the device is decided here: which operators the program needs, how
large each of its pools must be, and where they lie in the model's arena.
"""

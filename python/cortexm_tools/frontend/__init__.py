# SPDX-License-Identifier: Apache-2.0
"""From a user's model to a lean .pte. The only package that imports torch and executorch.

    origin      whose code something comes from, and on which line
    load        what the user gives: model, example inputs, calibration and evaluation samples
    rewrites    a graph in operators that stay in int8
    capture     the model's graph, rewritten, with its state as inputs and outputs
    quantize    how every tensor is quantized, and what that costs
    lower       the dialect's operators, and the .pte; lower/lower.py is all stages in a row

Each imports only those above it. Whatever the user can mend is a CortexMError; quiet.py silences the
libraries meanwhile, and nodes.py says which operator a node calls.
"""

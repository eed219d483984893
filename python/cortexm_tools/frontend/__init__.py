# SPDX-License-Identifier: Apache-2.0
"""From a user's model to a lean .pte. The only package that imports torch and executorch.

    origin      whose code something comes from, and on which line
    load        what the user gives: model, example inputs, calibration and evaluation samples
    rewrites    the model in operators that stay in int8
    capture     the model's graph, with its state, said in these operators
    quantize    how every tensor is quantized, and what that costs
    lower       the dialect's operators, and the .pte; `lower.lower` is all stages in a row

Whatever the user can mend is a CortexMError. `quiet` silences the libraries meanwhile.
"""

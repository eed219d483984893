# SPDX-License-Identifier: Apache-2.0
"""From a user's model.py to a lean .pte. The only package that imports torch and executorch.

``load_model`` reads the model file, ``lower`` quantizes and lowers it; both raise CortexMError for
whatever the user can mend.
"""

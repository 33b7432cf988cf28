# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A plugin of pytest: scikit-learn's tests of the array-API standard use dray.xp in place of their
list of libraries."""
from sklearn.utils import _array_api


def yield_namespaces(include_numpy_namespaces=True):
    """Runs for the function of scikit-learn."""
    yield "dray.xp"


def yield_mixed_namespace_input_permutations():
    """Runs for the function of scikit-learn: beside NumPy."""
    yield (_array_api.NamespaceAndDevice("dray.xp", None), _array_api.NamespaceAndDevice("numpy", None),
           "dray.xp to numpy")
    yield (_array_api.NamespaceAndDevice("numpy", None), _array_api.NamespaceAndDevice("dray.xp", None),
           "numpy to dray.xp")


_array_api.yield_namespaces = yield_namespaces
_array_api.yield_mixed_namespace_input_permutations = yield_mixed_namespace_input_permutations

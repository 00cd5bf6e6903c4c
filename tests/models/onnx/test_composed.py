"""Operators that are made of others: what stands in their place has names of its own.

Hazard: a tensor that the node reads has the name that a tensor of the graph in its place would get.
"""

import numpy as np
import onnx
import pytest

from tests.models.onnx.forms import Form, forms
from tests.models.onnx.running import run

TYPES = ("GRU", "Hardmax", "InstanceNormalization", "LRN", "LpNormalization", "LpPool", "LSTM", "MultiHeadAttention")
FORMS = {form.type: form for form in forms() if form.type in TYPES}


def test_all_are_drawn() -> None:
    assert FORMS.keys() == {*TYPES}


@pytest.mark.parametrize("form", FORMS.values(), ids=str)
@pytest.mark.parametrize("name", ["o0/{}", "o0/forward/{}", "o0_/{}"])
def test_operands_named_as_inner_tensors(form: Form, name: str) -> None:
    message = onnx.load_from_string(form.content())
    names = {old: name.format(number) for number, old in enumerate((f"i{n}" for n in range(len(form.operands))), 1)}
    (node,) = message.graph.node
    node.input[:] = [names.get(each, each) for each in node.input]
    for each in (*message.graph.input, *message.graph.initializer):
        each.name = names[each.name]
    renamed = run(message.SerializeToString(), **{names[old]: array for old, array in form.inputs.items()})
    for one, other in zip(renamed, run(form.content(), **form.inputs), strict=True):
        np.testing.assert_array_equal(one, other)

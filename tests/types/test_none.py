"""`!quant.none`, which upstream lacks. Hazards: two objects of one type, a text that says more than the type."""

import pickle

import pytest

from qrt.errors import ParseError, QuantTypeError
from qrt.types import FloatType, NoQuantizedType, QuantizedType, parse_type


@pytest.mark.parametrize("expressed", ["f32", "bf16", "f8E4M3FN", "f80"])
def test_read_and_printed(expressed):
    found = parse_type(f"!quant.none< {expressed} >")
    assert str(found) == f"!quant.none<{expressed}>"
    assert found is NoQuantizedType(FloatType(expressed)) is pickle.loads(pickle.dumps(found))
    assert isinstance(found, QuantizedType)


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("!quant.none", "expected '<' in !quant.none", 12),
        ("!quant.none<>", "expected a type", 13),
        ("!quant.none<i8>", "invalid expressed type i8: expected a float type", 13),
        ("!quant.none<f32, 1.0>", "expected '>' in !quant.none", 16),
    ],
)
def test_refused_with_a_place(text, message, column):
    with pytest.raises(ParseError, match=message) as caught:
        parse_type(text)
    assert caught.value.location.column == column


def test_no_float_type():
    with pytest.raises(QuantTypeError):
        NoQuantizedType("i8")

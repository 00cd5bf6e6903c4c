"""Dense constants. Hazard: the fast path for large literals accepting what the grammar does
not, or reading it wrong."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from qrt import ir
from qrt.errors import ParseError
from qrt.ir.core.attributes import OpaqueAttr
from qrt.ir.text.dense import DenseElementsAttr
from qrt.types import parse_type


def constant(literal, kind):
    return next(iter(ir.parse(f"%0 = arith.constant dense<{literal}> : {kind}").body)).attributes["value"]


PAD = " " * 600
"""Makes a literal long enough for the fast path."""


@pytest.mark.parametrize("pad", ["", PAD])
@pytest.mark.parametrize(
    ("literal", "kind", "values"),
    [
        ("[1, -2, 3]", "tensor<3xi8>", [1, -2, 3]),
        ("[[1,2],[3,4]]", "tensor<2x2xi32>", [[1, 2], [3, 4]]),
        ("[255, 128]", "tensor<2xi8>", [-1, -128]),
        ("[15, -8]", "tensor<2xi4>", [-1, -8]),
        ("[3, 0]", "tensor<2xi2>", [-1, 0]),
        ("[0x10, 2]", "tensor<2xi8>", [16, 2]),
        ("[true, false]", "tensor<2xi1>", [True, False]),
        ("[1, 0]", "tensor<2xi1>", [True, False]),
        ("[1.0, -2.5e1, 3.]", "tensor<3xf32>", [1.0, -25.0, 3.0]),
        ("[1.0e40, -1.0e40]", "tensor<2xf32>", [np.inf, -np.inf]),
        ("[1.0, 0x7FC00000]", "tensor<2xf32>", [1.0, np.nan]),
        ("[9223372036854775807, -9223372036854775808]", "tensor<2xi64>", [2**63 - 1, -(2**63)]),
        ("[18446744073709551615, 1]", "tensor<2xi64>", [-1, 1]),
        ("[1, // one\n 2]", "tensor<2xi8>", [1, 2]),
        ("[- 1, 2]", "tensor<2xi8>", [-1, 2]),
        ("7", "tensor<2x2xi8>", [[7, 7], [7, 7]]),
        ("[[], []]", "tensor<2x0xi8>", [[], []]),
        ("5", "vector<2xindex>", [5, 5]),
    ],
)
def test_literals(pad, literal, kind, values):
    read = constant(pad + literal, kind)
    np.testing.assert_array_equal(read.array, np.array(values, read.array.dtype))


@pytest.mark.parametrize("pad", ["", PAD])
@pytest.mark.parametrize(
    ("literal", "kind", "message"),
    [
        ("[1 2]", "tensor<2xi8>", "expected ','"),
        ("[1,, 2]", "tensor<2xi8>", "expected element literal"),
        ("[1, 2,]", "tensor<2xi8>", "expected element literal"),
        ("[,1]", "tensor<1xi8>", "expected element literal"),
        ("1[,2]", "tensor<2xi8>", "expected '>'"),
        ("[1,]2", "tensor<2xi8>", "expected element literal"),
        ("[1, -]", "tensor<2xi8>", "expected element literal"),
        ("[1, --2]", "tensor<2xi8>", "expected element literal"),
        ("[1-2]", "tensor<1xi8>", "expected ','"),
        ("[1, +2]", "tensor<2xi8>", "expected element literal"),
        ("[[1, 2], [3]]", "tensor<2x2xi8>", "ranks are not consistent"),
        ("[[1], 2]", "tensor<2x1xi8>", "ranks are not consistent"),
        ("[1, 2", "tensor<2xi8>", "expected ']'"),
        ("[1, 2]]", "tensor<2xi8>", "expected"),
        ("[1, 2][3]", "tensor<3xi8>", "expected"),
        ("1, 2", "tensor<2xi8>", "expected"),
        ("[1, 2]", "tensor<3xi8>", "inferred shape of elements literal ([2]) does not match type ([3])"),
        ("[1, 2, 3, 4]", "tensor<2x2xi8>", "does not match type ([2, 2])"),
        ("[1]", "tensor<i8>", "does not match type"),
        ("[1, 256]", "tensor<2xi8>", "out of range"),
        ("[1, -129]", "tensor<2xi8>", "out of range"),
        ("[9223372036854775808, 99999999999999999999]", "tensor<2xi64>", "out of range"),
        ("[-1, 2]", "tensor<2xui8>", "out of range"),
        ("[1.0, 2]", "tensor<2xi8>", "expected integer elements"),
        ("[1.0, 2]", "tensor<2xf32>", "expected floating-point elements"),
        ("[.5, 1.0]", "tensor<2xf32>", "expected element literal"),
        ("[1.0, nan]", "tensor<2xf32>", "expected element literal"),
        ("[1.0, 1_0.0]", "tensor<2xf32>", "expected"),
        ("[1.0, +1.0]", "tensor<2xf32>", "expected element literal"),
        ("[1.0e, 1.0]", "tensor<2xf32>", "expected element literal"),
        ("[true, 1]", "tensor<2xi8>", "'true' or 'false'"),
        ("1", "tensor<?xi8>", "static shape"),
        ("1", "tensor<*xi8>", "static shape"),
        ("1", "i8", "shaped type"),
        ("", "tensor<2xi8>", "expected element literal"),
        ('"0102"', "tensor<2xi8>", "hex digits"),
        ('"0x1"', "tensor<2xi8>", "hex digits"),
        ('"0x010203"', "tensor<2xi8>", "the data of tensor<2xi8> must have 2 bytes"),
    ],
)
def test_broken_literals(pad, literal, kind, message):
    with pytest.raises(ParseError) as caught:
        constant(pad + literal, kind)
    assert message in caught.value.message


def test_the_caret_is_under_the_offending_element():
    with pytest.raises(ParseError) as caught:
        constant("[[1, 2],\n [3, 400]]", "tensor<2x2xi8>")
    assert (caught.value.location.line, caught.value.location.column) == (2, 6)


@pytest.mark.parametrize("literal", ["[1, 0, 1]", '"0x05"'])
def test_i1_data_is_packed_bits(literal):
    assert constant(literal, "tensor<3xi1>").array.tolist() == [True, False, True]


def test_one_element_of_hex_is_a_splat():
    assert constant('"0x05"', "tensor<3xi8>").array.tolist() == [5, 5, 5]


dtypes = st.sampled_from(["i1", "i4", "i8", "i32", "i64", "ui8", "ui64", "f16", "f32", "f64", "bf16", "f8E4M3FN"])


@given(dtypes, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=9), st.data())
def test_every_constant_reads_back(element, shape, data):
    kind = parse_type(f"tensor<{''.join(f'{n}x' for n in shape)}{element}>")
    from qrt.ir.text.dense import storage_dtype

    dtype = storage_dtype(kind.element)
    if element == "i4":
        array = data.draw(hnp.arrays(np.int8, shape, elements=st.integers(-8, 7)))
    elif dtype.kind == "f":
        array = data.draw(hnp.arrays(dtype, shape, elements=hnp.from_dtype(dtype)))
    else:
        array = data.draw(hnp.arrays(dtype, shape))
    value = DenseElementsAttr(array, kind)
    again = next(iter(ir.parse(f'"t.a"() {{v = {value}}} : () -> ()', allow_unregistered=True).body)).attributes["v"]
    assert again == value
    np.testing.assert_array_equal(again.array.view(f"V{dtype.itemsize}"), value.array.view(f"V{dtype.itemsize}"))


@given(hnp.arrays(np.int32, st.tuples(st.integers(1, 8), st.integers(20, 90))), st.sampled_from([", ", ",", " ,\n\t"]))
def test_large_decimal_literals_of_integers(array, comma):
    text = comma.join("[" + comma.join(map(str, row)) + "]" for row in array.tolist())
    np.testing.assert_array_equal(constant(f"[{text}]", f"tensor<{len(array)}x{array.shape[1]}xi32>").array, array)


@given(hnp.arrays(np.float64, st.integers(40, 90), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_large_decimal_literals_of_floats(array):
    text = ", ".join(f"{x:.17e}" for x in array.tolist())
    np.testing.assert_array_equal(constant(f"[{text}]", f"tensor<{len(array)}xf64>").array, array)


def test_resources_hold_bytes_by_key():
    module = ir.parse(
        '%0 = arith.constant dense_resource<"a b"> : tensor<2xi16>\n'
        '{-# dialect_resources: { builtin: { "a b": "0x040000000100FFFF" } } #-}'
    )
    value = next(iter(module.body)).attributes["value"]
    assert value.array.tolist() == [1, -1]
    assert ir.parse(str(module)) == module
    assert '"a b": "0x040000000100FFFF"' in str(module)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ('{-# dialect_resources: { builtin: { k: "0x01" } } #-}', "alignment"),
        ('{-# dialect_resources: { builtin: { k: "0x03000000" } } #-}', "power of two"),
        ('{-# dialect_resources: { builtin: { k: "zz" } } #-}', "hex digits"),
        ('{-# dialect_resources: { builtin: { k: "0x04000000", k: "0x04000000" } } #-}', "redefinition"),
        ("{-# dialect_resources: { builtin: { ", "expected"),
        ("{-# dialect_resources", "expected"),
    ],
)
def test_broken_resources(section, message):
    with pytest.raises(ParseError, match=message):
        ir.parse(section)


@pytest.mark.parametrize(
    ("literal", "kept"),
    [
        ("sparse<[[0, 0]], [1]> : tensor<100000x100000xi8>", True),
        ("sparse<0, 2.0> : tensor<f32>", True),
        ("sparse<[[0]], [(1, 2)]> : tensor<4xcomplex<i32>>", True),
        ("sparse<[[0, 1], [1, 0]], [1, 2]> : tensor<2x2xi8>", False),
        ("sparse<> : tensor<2x2xi8>", False),
        ("sparse<1, [3]> : vector<4xi8>", False),
    ],
)
def test_sparse_elements_are_a_constant_unless_no_array_holds_them(literal, kept):
    (op,) = ir.parse(f'"a.b"() {{a = {literal}}} : () -> ()', allow_unregistered=True).body
    assert isinstance(op.attributes["a"], OpaqueAttr) == kept
    (again,) = ir.parse(str(op), allow_unregistered=True).body
    assert again.attributes["a"] == op.attributes["a"]


def test_a_sparse_constant_equals_the_dense_one_of_its_elements():
    texts = ["sparse<[[2], [0]], [5, -1]> : tensor<4xi8>", "dense<[-1, 0, 5, 0]> : tensor<4xi8>"]
    sparse, dense = (next(iter(ir.parse(f"%0 = arith.constant {text}").body)).attributes["value"] for text in texts)
    assert sparse == dense
    assert hash(sparse) == hash(dense)
    assert str(sparse) == texts[0]

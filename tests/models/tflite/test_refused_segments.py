"""Wrong and unsupported forms of reductions of segments and windows, of padding and of step functions. Hazards: numbers
beyond the segments, windows larger than an axis, ranges without 0, boundaries out of order, shifts of too many bits."""

import numpy as np
import pytest

from qrt.errors import ModelError
from tests.models.tflite.importing import imported, refusal, result_of
from tests.models.tflite.writing import Operator, Subgraph, Tensor, one_op, write


def _x(*shape, dtype="float32"):
    return Tensor(shape, dtype)


def _numbers(*values, dtype="int32"):
    return Tensor((len(values),), dtype, data=values)


def _one(value, dtype="int32"):
    return Tensor((), dtype, data=value)


def _unsorted(x, numbers, count):
    return one_op("UNSORTED_SEGMENT_SUM", [x, numbers, count], [_x(2, 2)])


def _buckets(*boundaries, dtype="float32"):
    options = {"boundaries": np.float32(boundaries)}
    return one_op("BUCKETIZE", [_x(3, dtype=dtype)], [_x(3, dtype="int32")], options)


def _fake_quant(low=-1.0, high=1.0, bits=8, is_narrow=False):
    options = {"min": low, "max": high, "num_bits": bits, "narrow_range": is_narrow}
    return one_op("FAKE_QUANT", [_x(3)], [_x(3)], options)


def _dilated(*factors, value=None, shape=(2, 3)):
    return one_op("DILATE", [_x(*shape), _numbers(*factors), value or _one(0, "float32")], [_x(2, 3)])


def _padded(low, between, high):
    numbers = {"edge_padding_low": low, "interior_padding": between, "edge_padding_high": high}
    options = {name: np.array(values, np.int64) for name, values in numbers.items()}
    return one_op("STABLEHLO_PAD", [_x(2, 3), _one(0, "float32")], [_x(2, 3)], options)


def _windows(sizes, strides=(1, 1), function="ADD", x=None):
    x = x or _x(2, 3)
    numbers = [_numbers(*values, dtype="int64") for values in (sizes, strides, (1, 1))]
    operands = [x, Tensor((), x.dtype, data=0), *numbers]
    return one_op("REDUCE_WINDOW", operands, [Tensor((1, 1), x.dtype)], {"reduce_function": function})


def _body(*operators, number=1, padding=(0, 0)):
    x, y, a, b = _x(3), _x(3), _x(), _x()
    names = ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
    options = {name: np.int64([1]) for name in names} | {"padding": np.int64(padding), "body_subgraph_index": number}
    main = Subgraph([x], [y], [Operator("STABLEHLO_REDUCE_WINDOW", [x, _one(0, "float32")], [y], options)])
    body = [Operator(name, [a, b], [_x()]) for name in operators]
    return write([main, Subgraph([a, b], body[0].outputs, body)])


def _response(radius=1, bias=1.0, shape=(1, 2, 2, 3)):
    options = {"radius": radius, "bias": bias, "alpha": 1.0, "beta": 0.5}
    return one_op("LOCAL_RESPONSE_NORMALIZATION", [_x(*shape)], [_x(*shape)], options)


def _pool(height=2, shape=(1, 4, 4, 1), activation="NONE"):
    options = {
        "padding": "VALID", "stride_h": 1, "stride_w": 1, "filter_height": height, "filter_width": 2,
        "fused_activation_function": activation,
    }  # fmt: skip
    return one_op("L2_POOL_2D", [_x(*shape)], [_x(1, 3, 3, 1)], options)


REFUSED = {
    "numbers that go back": (
        lambda: one_op("SEGMENT_SUM", [_x(3, 2), _numbers(0, 1, 0)], [_x(2, 2)]), (
            "segment numbers must begin with 0 and rise by 0 or 1 from row to row, got [0, 1, 0]"
        )
    ),
    "numbers that begin late": (
        lambda: one_op("SEGMENT_SUM", [_x(3, 2), _numbers(1, 1, 2)], [_x(3, 2)]), "begin with 0"
    ),
    "too few numbers": (
        lambda: one_op("SEGMENT_SUM", [_x(3, 2), _numbers(0, 1)], [_x(2, 2)]), "segment numbers must have the shape"
    ),
    "numbers that the run knows": (
        lambda: one_op("SEGMENT_SUM", [_x(3, 2), _x(3, dtype="int32")], [_x(3, 2)]), "known only at run time"
    ),
    "sums of bytes": (
        lambda: one_op("SEGMENT_SUM", [_x(1, 2, dtype="int8"), _numbers(0)], [_x(1, 2, dtype="int8")]),
        "SEGMENT_SUM (int8 with segment numbers of int32)",
    ),
    "unsorted numbers of another shape": (
        lambda: _unsorted(_x(3, 2), _numbers(0, 1), _one(2)),
        "the first ones of data of shape [3, 2], got shape [2]",
    ),
    "unsorted numbers that are one": (lambda: _unsorted(_x(3, 2), _one(0), _one(2)), "must have one or more axes"),
    "a number beyond the segments": (
        lambda: _unsorted(_x(2, 2), _numbers(0, 2), _one(2)), "segment numbers must be less than 2, got [0, 2]"
    ),
    "a negative number of segments": (
        lambda: _unsorted(_x(2, 2), _numbers(-1, -1), _one(-2)), "number of segments must not be negative, got -2"
    ),
    "a number of segments that the run knows": (
        lambda: _unsorted(_x(2, 2), _numbers(0, 1), _x(dtype="int32")), "a number of segments known only at run time"
    ),
    "segments that no memory holds": (
        lambda: _unsorted(_x(2, 2), _numbers(0, 1), _one(2**31 - 1)), "takes more than"
    ),
    "segments of bytes": (
        lambda: _unsorted(_x(2, 2, dtype="int8"), _numbers(0, 1), _one(2)),
        "UNSORTED_SEGMENT_SUM (int8 with segment numbers of int32)",
    ),
    "boundaries out of order": (lambda: _buckets(1, 0), "boundaries must be ascending numbers, got [1.0, 0.0]"),
    "a boundary that is none": (lambda: _buckets(np.nan), "boundaries must be ascending numbers, got [nan]"),
    "buckets of bytes": (lambda: _buckets(1, dtype="int8"), "BUCKETIZE (int8 to int32)"),
    "a range without 0": (lambda: _fake_quant(low=0.5), "it must have min <= 0 <= max"),
    "an empty range": (lambda: _fake_quant(low=0.0, high=0.0), "it must have min <= 0 <= max, min < max"),
    "an infinite range": (lambda: _fake_quant(high=np.inf), "got min -1.0, max inf"),
    "a type of 17 bits": (lambda: _fake_quant(bits=17), "num_bits from 2 to 16"),
    "a range without its end": (lambda: _fake_quant(is_narrow=True), "narrow_range, which LiteRT does not run"),
    "a range of the smallest numbers": (lambda: _fake_quant(-1e-40, 1e-40), "FAKE_QUANT (a scale of"),
    "too few factors": (lambda: _dilated(2), "a positive dilation factor for each axis of [2, 3], got [2]"),
    "a factor of 0": (lambda: _dilated(2, 0), "a positive dilation factor for each axis of [2, 3], got [2, 0]"),
    "no elements to dilate": (lambda: _dilated(2, 2, shape=(0, 3)), "DILATE (an axis of 0 elements)"),
    "a value of another type": (
        lambda: _dilated(2, 2, value=_one(0)), "must have the same type, got float32, int32, float32"
    ),
    "several values": (
        lambda: _dilated(2, 2, value=Tensor((2,), "float32", data=[0, 0])), "must be one element, got shape [2]"
    ),
    "padding of another rank": (lambda: _padded([1], [0], [1]), "must have a number for each axis of [2, 3], got [1]"),
    "negative padding between": (lambda: _padded([1, 1], [0, -1], [1, 1]), "interior_padding (at least 0)"),
    "padding that removes all": (lambda: _padded([-1, 0], [0, 0], [-1, 0]), "must leave elements of a tensor of shape"),
    "padding that no memory holds": (lambda: _padded([2**40, 0], [0, 0], [0, 0]), "takes more than"),
    "a window larger than its axis": (
        lambda: _windows((1, 4)), "a window of 4 elements with dilation 1 does not fit an axis of 3"
    ),
    "a stride of 0": (lambda: _windows((1, 1), (1, 0)), "must have a positive number for each of 2 axes"),
    "windows of another rank": (lambda: _windows((1, 1, 1)), "must have a positive number for each of 2 axes"),
    "an unknown function": (lambda: _windows((1, 1), function="UNSUPPORTED"), "reduce_function UNSUPPORTED"),
    "windows of truths": (lambda: _windows((1, 1), x=_x(2, 3, dtype="bool")), "REDUCE_WINDOW (bool)"),
    "a body that is missing": (lambda: _body("STABLEHLO_ADD", number=7), "its body is subgraph 7, but the file has 2"),
    "a body of two operators": (
        lambda: _body("STABLEHLO_ADD", "STABLEHLO_ADD"), "a body of STABLEHLO_ADD, STABLEHLO_ADD"
    ),
    "a body that is no reduction": (lambda: _body("SUB"), "STABLEHLO_REDUCE_WINDOW (a body of SUB)"),
    "padding of too few numbers": (lambda: _body("STABLEHLO_ADD", padding=(0,)), "and padding two numbers"),
    "a negative radius": (lambda: _response(radius=-1), "it must have radius >= 0"),
    "a bias that is no number": (lambda: _response(bias=np.nan), "finite bias, alpha and beta"),
    "responses of 3 axes": (lambda: _response(shape=(1, 2, 3)), "the input must have rank 4, got 3"),
    "a radius that no memory holds": (lambda: _response(radius=2**30), "takes more than"),
    "a window of height 0": (lambda: _pool(height=0), "must be at least 1, got 0 and 2"),
    "a window larger than the image": (lambda: _pool(height=5), "a window of 5 elements"),
    "a pool of 3 axes": (lambda: _pool(shape=(1, 4, 4)), "the input must have rank 4, got 3"),
    "a pool with TANH": (lambda: _pool(activation="TANH"), "float32, fused TANH"),
    "a shift of unsigned bytes": (
        lambda: one_op("STABLEHLO_SHIFT_LEFT", [_x(2, dtype="uint8")] * 2, [_x(2, dtype="uint8")]),
        "STABLEHLO_SHIFT_LEFT (uint8)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused(case):
    make, message = REFUSED[case]
    assert message in refusal(make())


def test_the_reference_kernels_have_no_sums_of_segments():
    content = one_op("SEGMENT_SUM", [_x(3, 2), _numbers(0, 1, 1)], [_x(2, 2)])
    with pytest.raises(ModelError, match="profile litert-ref has no rule for segment_sum"):
        imported(content, "litert-ref")


F32 = np.finfo(np.float32)


def test_a_number_of_the_run_beyond_the_segments_is_an_error():
    content = _unsorted(_x(2, 2), _x(2, dtype="int32"), _one(2))
    data = np.float32([[1, 2], [3, 4]])
    np.testing.assert_array_equal(result_of(content, data, np.int32([-5, 1])), [[0, 0], [3, 4]])
    with pytest.raises(ModelError, match=r"UNSORTED_SEGMENT_SUM: .*an index is out of bounds"):
        result_of(content, data, np.int32([0, 2]))


def test_a_shift_of_the_run_beyond_31_bits_is_an_error():
    content = one_op("STABLEHLO_SHIFT_LEFT", [_x(2, dtype="int8"), _x(2, dtype="int8")], [_x(2, dtype="int8")])
    np.testing.assert_array_equal(result_of(content, np.int8([1, 3]), np.int8([31, 7])), [0, -128])
    with pytest.raises(ModelError, match=r"STABLEHLO_SHIFT_LEFT: .*a shift by 32 bits or more"):
        result_of(content, np.int8([1, 3]), np.int8([-1, 7]))


@pytest.mark.parametrize(("function", "wanted"), [("MAXIMUM", [2, np.nan, 1]), ("MINIMUM", [2, np.nan, 1])])
def test_a_window_forgets_a_nan_that_is_not_its_last_element(function, wanted):
    content = _windows((1, 2), function=function, x=_x(1, 4))
    x = np.float32([[np.nan, 2, np.nan, 1]])
    np.testing.assert_array_equal(result_of(content, x), [wanted])


def test_extremes_of_segments_without_rows_and_with_nan():
    x, numbers = np.float32([np.nan, -np.inf, np.nan, 1]), _numbers(0, 1, 3, 3)
    for name, wanted in (("MAX", [-F32.max, -F32.max, -F32.max, 1]), ("MIN", [F32.max, -np.inf, F32.max, 1])):
        content = one_op(f"UNSORTED_SEGMENT_{name}", [_x(4), numbers, _one(4)], [_x(4)])
        np.testing.assert_array_equal(result_of(content, x), np.float32(wanted))


def test_a_nan_is_in_the_last_bucket_and_the_least_number():
    np.testing.assert_array_equal(result_of(_buckets(0, 1), np.float32([np.nan, 1, -1])), [2, 2, 0])
    least, *_ = result_of(_fake_quant(), np.float32([np.nan, -9, 0]))
    assert least == result_of(_fake_quant(), np.float32([-9, -9, 0]))[0] < 0


def test_empty_tensors():
    np.testing.assert_array_equal(
        result_of(_unsorted(_x(0, 2), _numbers(), _one(2)), np.zeros((0, 2), "f4")), [[0, 0]] * 2
    )
    numbers = {"edge_padding_low": 1, "edge_padding_high": 2, "interior_padding": 3}
    options = {name: np.int64([number]) for name, number in numbers.items()}
    padded = one_op("STABLEHLO_PAD", [_x(0), _one(7, "float32")], [_x(3)], options)
    np.testing.assert_array_equal(result_of(padded, np.zeros(0, "f4")), [7, 7, 7])


@pytest.mark.parametrize(
    ("name", "inputs", "options"),
    [
        ("GATHER_ND", [_numbers(1, 2, 3, dtype="int8"), Tensor((2, 1), "int64", data=[[0], [2]])], {}),
        ("SLICE", [_numbers(1, 2, 3, 4), _numbers(1), _numbers(2)], {}),
        ("MAXIMUM", [_numbers(1, 2), _numbers(2, 1)], {}),
        ("TILE", [_numbers(1, 2, dtype="int64"), _numbers(1)], {}),
        ("TRANSPOSE", [_numbers(1, 2), _numbers(0)], {}),
        ("RIGHT_SHIFT", [_numbers(1, 2), _numbers(2, 1)], {}),
    ],
)
def test_a_constant_result_declared_as_floats_is_an_error(name, inputs, options):
    """Its bits must not be read as floats."""
    with pytest.raises(ModelError, match=f"operator 0 {name}: .*declares? "):
        imported(one_op(name, inputs, [_x(2)], options))

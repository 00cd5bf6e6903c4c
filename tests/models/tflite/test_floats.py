"""Operators of floats beside plain loops. Hazards: a sum in another order, a product that is rounded before it is added
or not, a bias that comes first or last, a range that leaves 0 out."""

import numpy as np
import pytest

import qrt
from qrt.errors import ModelError
from qrt.models.profiles import PROFILES, profile
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from tests.models.tflite import oracle
from tests.models.tflite.writing import Tensor, one_op

F32 = np.float32


def run(content: bytes, profile: str, *inputs: np.ndarray) -> np.ndarray:
    module = import_model(read(content), PROFILES[profile])
    module.verify()
    program = qrt.compile(module)
    results = program(*inputs)
    assert np.array_equal(np.asarray(results), np.asarray(program.run(named(program, inputs), interpret=True)["y"]))
    return np.asarray(results)


def named(program: qrt.Program, inputs: tuple[np.ndarray, ...]) -> dict[str, np.ndarray]:
    return {port.name: array for port, array in zip(program.inputs, inputs, strict=True)}


def fma(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """One rounding, but where float64 lies halfway: the drawn numbers do not."""
    return F32(np.float64(a) * np.float64(b) + np.float64(c))


def draw(seed: int, *shapes: tuple[int, ...]) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape).astype(F32) for shape in shapes]


WINDOW = {
    "padding": "SAME",
    "stride_h": 2,
    "stride_w": 1,
    "dilation_h_factor": 1,
    "dilation_w_factor": 2,
    "fused_activation_function": "RELU6",
}


def convolution(x: np.ndarray, w: np.ndarray, bias: np.ndarray, is_fused: bool) -> np.ndarray:
    """Strides 2 and 1, dilations 1 and 2, SAME padding of a 3x2 window."""
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    y = np.zeros((1, 3, 4, len(w)), F32)
    for i in range(3):
        for j in range(4):
            acc = bias.copy() if is_fused else np.zeros_like(bias)
            for row in range(3):
                for column in range(2):
                    for c in range(w.shape[3]):
                        a, b = padded[0, 2 * i + row, j + 2 * column, c], w[:, row, column, c]
                        acc = fma(a, b, acc) if is_fused else acc + a * b
            y[0, i, j] = acc if is_fused else acc + bias
    return np.clip(y, 0, 6)


@pytest.mark.parametrize("profile", oracle.PROFILES)
def test_a_convolution_is_a_chain_in_the_order_of_the_profile(profile: str) -> None:
    x, w, bias = draw(1, (1, 5, 4, 7), (9, 3, 2, 7), (9,))
    inputs = [Tensor(x.shape, "float32"), Tensor(w.shape, "float32", data=w), Tensor(bias.shape, "float32", data=bias)]
    content = one_op("CONV_2D", inputs, [Tensor((1, 3, 4, 9), "float32", name="y")], WINDOW)
    expected = {"litert": convolution(x, w, bias, True), "litert-ref": convolution(x, w, bias, False)}
    assert not np.array_equal(*expected.values())  # or the order would not matter
    assert np.array_equal(run(content, profile, x), expected[profile])


@pytest.mark.parametrize("multiplier", [1, 3])
def test_a_depthwise_convolution_goes_down_the_columns_unless_it_has_several_filters(multiplier: int) -> None:
    channels = 5 * multiplier
    x, w, bias = draw(2, (1, 4, 5, 5), (1, 3, 3, channels), (channels,))
    options = {**WINDOW, "padding": "VALID", "stride_h": 1, "dilation_w_factor": 1, "depth_multiplier": multiplier}
    options["fused_activation_function"] = "NONE"
    inputs = [Tensor(x.shape, "float32"), Tensor(w.shape, "float32", data=w), Tensor(bias.shape, "float32", data=bias)]
    y = run(
        one_op("DEPTHWISE_CONV_2D", inputs, [Tensor((1, 2, 3, channels), "float32", name="y")], options), "litert", x
    )
    taps = [(row, column) for row in range(3) for column in range(3)]
    if multiplier == 1:
        taps = [(row, column) for column, row in taps]
    for i in range(2):
        for j in range(3):
            acc = bias.copy()
            for row, column in taps:
                acc = fma(np.repeat(x[0, i + row, j + column], multiplier), w[0, row, column], acc)
            assert np.array_equal(y[0, i, j], acc)


def asymmetric(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(integers less their zero points, units), of the whole range of int8."""
    low, high = np.minimum(rows.min(1), F32(0)), np.maximum(rows.max(1), F32(0))
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(low == high, F32(1), F32(255) / (high - low))
    below, above = low * scale, high * scale
    zero = np.where((below - 128) + (above + 127) > 0, -128 - below, 127 - above)
    zero = np.rint(np.clip(zero, -128, 127))[:, np.newaxis]
    return np.clip(np.rint(rows * scale[:, np.newaxis]) + zero, -128, 127) - zero, F32(1) / scale


def test_rows_are_quantized_each_by_its_own_range() -> None:
    """One of them is 0 everywhere, two have one sign."""
    x, bias = draw(3, (5, 40), (6,))
    x[1], x[2], x[3] = 0, np.abs(x[2]) + 1, -np.abs(x[3])
    w = np.random.default_rng(3).integers(-127, 128, (6, 40), np.int8)
    inputs = [Tensor(x.shape, "float32"), Tensor(w.shape, "int8", 0.03, data=w), Tensor((6,), "float32", data=bias)]
    content = one_op("FULLY_CONNECTED", inputs, [Tensor((5, 6), "float32", name="y")], {})
    integers, units = asymmetric(x)
    sums = F32(integers @ w.T.astype(np.float64))
    assert np.array_equal(run(content, "litert", x), fma(sums * units[:, np.newaxis], F32(0.03), bias))
    largest = np.abs(x).max(1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.where(largest == 0, F32(0), x * (F32(127) / largest))
    rounded = np.clip(np.trunc(scaled + np.copysign(F32(0.5), scaled)), -127, 127)
    unit = np.where(largest == 0, F32(1), largest / F32(127)) * F32(0.03)
    assert np.array_equal(run(content, "litert-ref", x), F32(rounded @ w.T.astype(np.float64)) * unit + bias)


@pytest.mark.parametrize(("strides", "is_tree"), [((1, 1), True), ((1, 5), False)])
def test_averages_add_nine_at_a_time_where_windows_leave_no_gaps(strides: tuple[int, int], is_tree: bool) -> None:
    (x,) = draw(4, (1, 4, 9, 3))
    height, width = 4, (9 - 4) // strides[1] + 1
    options = {"padding": "VALID", "filter_height": 4, "filter_width": 4, "stride_h": 1, "stride_w": strides[1]}
    y = run(one_op("AVERAGE_POOL_2D", [Tensor(x.shape, "float32")], [Tensor((1, 1, width, 3), "float32", name="y")],
                   options), "litert", x)  # fmt: skip
    for j in range(width):
        window = x[0, :, j * strides[1] : j * strides[1] + 4]
        if not is_tree:
            acc = np.zeros(3, F32)
            for row in range(height):
                for column in range(4):
                    acc = acc + window[row, column]
            assert np.array_equal(y[0, 0, j], acc / F32(16))
            continue
        taps = [window[row, column] for column in range(4) for row in range(4)] + [np.zeros(3, F32)] * 2
        sums = [
            ((a[2] + a[3]) + (a[4] + a[5])) + (((a[0] + a[1]) + a[8]) + (a[6] + a[7])) for a in (taps[:9], taps[9:])
        ]
        assert np.array_equal(y[0, 0, j], (sums[0] + sums[1]) * F32(1 / 16))


def test_an_open_batch_of_floats_runs() -> None:
    x, w = draw(5, (3, 4), (2, 4))
    inputs = [Tensor((1, 4), "float32", signature=(-1, 4)), Tensor(w.shape, "float32", data=w), None]
    y = Tensor((1, 2), "float32", signature=(-1, 2), name="y")
    content = one_op("FULLY_CONNECTED", inputs, [y], {"fused_activation_function": "RELU"})
    assert run(content, "litert-ref", x).shape == (3, 2)


def test_an_activation_of_an_open_batch_is_clamped() -> None:
    """Hazard: a bound that is to be broadcast to a size known only at run time."""
    x = Tensor((1, 4), "float32", signature=(-1, 4))
    y = Tensor((1, 4), "float32", signature=(-1, 4), name="y")
    content = one_op("ADD", [x, x], [y], {"fused_activation_function": "RELU6"})
    given = F32([[-1, 0.5, 2, 9], [3, -2, 1, 3.5]])
    assert np.array_equal(run(content, "litert", given), np.clip(2 * given, 0, 6))


def test_the_text_of_an_average_is_the_same_program() -> None:
    """Hazard: an index that is added in another order than its text says."""
    options = {"padding": "VALID", "filter_height": 4, "filter_width": 4, "stride_h": 2, "stride_w": 2}
    x, y = Tensor((1, 8, 8, 3), "float32"), Tensor((1, 3, 3, 3), "float32")
    module = import_model(read(one_op("AVERAGE_POOL_2D", [x], [y], options)), PROFILES["litert"])
    assert qrt.ir.parse(str(module)) == module


def by_sixteens(terms: np.ndarray) -> np.ndarray:
    """Sums along the first axis in the order of `float_reductions.summed`, as plain loops."""
    rest = np.zeros(terms.shape[1:], F32)
    while len(terms) > 16:
        turns = len(terms) // 16
        sums = np.zeros((turns, *terms.shape[1:]), F32)
        for number in range(16):
            sums = sums + terms[number * turns : (number + 1) * turns]
        for term in terms[16 * turns :]:
            rest = rest + term
        terms = sums
    for term in terms:
        rest = rest + term
    return rest


@pytest.mark.parametrize("count", [1, 15, 16, 17, 31, 33, 255, 256, 273, 1001, 4097])
def test_a_long_sum_adds_sixteen_terms_at_a_time(count: int) -> None:
    (x,) = draw(6, (count, 3))
    axes = Tensor((1,), "int32", data=[1])
    content = one_op("SUM", [Tensor((3, count), "float32"), axes], [Tensor((3,), "float32", name="y")], {})
    assert np.array_equal(run(content, "litert", np.ascontiguousarray(x.T)), by_sixteens(x))


def test_sums_and_means_go_run_by_run_of_neighbouring_axes() -> None:
    """A mean is divided behind the first run. The last axis is summed by sixteens, after it the others in order."""
    (x,) = draw(7, (5, 3, 4, 20))
    axes, y = Tensor((3,), "int32", data=[0, 2, 3]), Tensor((3,), "float32", name="y")
    last = by_sixteens(np.moveaxis(x, 3, 0))
    last = by_sixteens(np.moveaxis(last, 2, 0))
    for name, factor in (("SUM", F32(1)), ("MEAN", F32(1) / F32(400))):
        wanted = np.zeros(3, F32)
        for row in last * factor:
            wanted = wanted + row
        content = one_op(name, [Tensor(x.shape, "float32"), axes], [y], {})
        assert np.array_equal(run(content, "litert", x), wanted)


def units_apart(a: np.ndarray, b: np.ndarray) -> int:
    """The most floats that lie between elements of one sign."""
    return int(np.abs(a.view(np.int32).astype(np.int64) - b.view(np.int32)).max())


@pytest.mark.parametrize("count", [100, 1001, 32000])
@pytest.mark.parametrize("kind", ["drawn", "alike"])
def test_the_error_of_a_softmax_does_not_grow_with_the_row(count: int, kind: str) -> None:
    x = -F32(3) * np.random.default_rng(8).random((2, count)).astype(F32)
    if kind == "alike":
        x[:, 1:] = F32(-0.7)
    content = one_op("SOFTMAX", [Tensor(x.shape, "float32")], [Tensor(x.shape, "float32")], {"beta": 1.0})
    program = qrt.compile(import_model(read(content), PROFILES["litert"]))
    apart = x - x.max(1, keepdims=True)
    powers = np.exp(apart.astype(np.float64))
    exact = (powers / powers.sum(1, keepdims=True)).astype(F32)
    assert units_apart(np.asarray(program(x)), exact) <= 5
    assert {step.engine for step in program.coverage()} == {"kernel"}


def test_the_reference_kernel_takes_the_exponential_for_a_small_sigmoid() -> None:
    x = F32([-20, -9.5, np.nextafter(F32(-9), F32(-10)), -9, -8.5, 0, 3, 20])
    content = one_op("LOGISTIC", [Tensor(x.shape, "float32")], [Tensor(x.shape, "float32", name="y")])
    wide = x.astype(np.float64)
    exact = 1 / (1 + np.exp(-wide))
    assert units_apart(run(content, "litert", x), exact.astype(F32)) <= 2
    assert units_apart(run(content, "litert-ref", x), np.where(x < -9, np.exp(wide), exact).astype(F32)) <= 2


def _f32(*shape, **others):
    return Tensor(shape, "float32", **others)


_LENGTHS = Tensor((2,), "int32", data=[1, 4])
_FILTER = _f32(2, 3, 3, 4, data=np.ones((2, 3, 3, 4)))
_SHAPE = Tensor((4,), "int32", data=[1, 8, 8, 2])
_STRIDES = {"padding": "SAME", "stride_h": 2, "stride_w": 2}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            one_op("BATCH_MATMUL", [_f32(4), _f32(4, 2)], [_f32(2)]),
            "its inputs must have at least 2 axes, got ranks 1 and 2",
        ),
        (
            one_op("BATCH_MATMUL", [_f32(3, 4), _f32(5, 2)], [_f32(3, 2)]),
            "the product of inputs of shapes [3, 4] and [5, 2] cannot have the declared shape [3, 2]",
        ),
        (
            one_op("BATCH_MATMUL", [_f32(3, 4, signature=(-1, 4)), _f32(4, 2)], [_f32(3, 2, signature=(-1, 2))]),
            "BATCH_MATMUL (float32 of a size known only at run time)",
        ),
        (
            one_op("BATCH_MATMUL", [_f32(3, 4), Tensor((4, 2), "int32")], [_f32(3, 2)]),
            "BATCH_MATMUL (int32 among floats)",
        ),
        (
            one_op("TRANSPOSE_CONV", [_SHAPE, _FILTER, _f32(1, 4, 4, 3)], [_f32(1, 8, 8, 2)], _STRIDES),
            "the input must have as many channels as a filter, 4, got 3",
        ),
        (
            one_op("TRANSPOSE_CONV", [_SHAPE, _f32(2, 3, 4), _f32(1, 4, 4, 4)], [_f32(1, 8, 8, 2)], _STRIDES),
            "the input and the weights must have rank 4, got 4 and 3",
        ),
        (
            one_op("L2_NORMALIZATION", [_f32(2, 3)], [_f32(2, 3)], {"fused_activation_function": "RELU"}),
            "L2_NORMALIZATION (fused RELU)",
        ),
        (
            one_op(
                "MAX_POOL_2D",
                [_f32(1, 4, 4, 1)],
                [_f32(1, 2, 2, 1)],
                {**_STRIDES, "filter_height": 2, "filter_width": 2, "fused_activation_function": "TANH"},
            ),
            "MAX_POOL_2D (float32, fused TANH)",
        ),
        (one_op("ADD_N", [_f32(2), _f32(3)], [_f32(2)]), "its inputs must have the same shape, got (2,) and (3,)"),
        (one_op("SIGN", [Tensor((2,), "int64")], [Tensor((2,), "int64")]), "SIGN (int64)"),
        (
            one_op("REVERSE_SEQUENCE", [_f32(2, 3), _LENGTHS], [_f32(2, 3)], {"seq_dim": 1, "batch_dim": 0}),
            "the lengths must be from 0 to 3, got [1, 4]",
        ),
        (
            one_op("REVERSE_SEQUENCE", [_f32(3, 4), _LENGTHS], [_f32(3, 4)], {"seq_dim": 1, "batch_dim": 0}),
            "with a length for each row of batch_dim, got 0 and 1, and lengths of shape [2]",
        ),
        (
            one_op("REVERSE_SEQUENCE", [_f32(2, 4), _f32(2)], [_f32(2, 4)], {"seq_dim": 1, "batch_dim": 0}),
            "REVERSE_SEQUENCE (lengths of float32)",
        ),
    ],
)
def test_forms_that_are_refused(content, said):
    with pytest.raises(ModelError) as raised:
        import_model(read(content), profile("litert"))
    assert said in str(raised.value)


def test_lengths_beyond_a_sequence_are_an_error_of_the_run():
    lengths = Tensor((2,), "int32")
    content = one_op("REVERSE_SEQUENCE", [_f32(2, 3), lengths], [_f32(2, 3)], {"seq_dim": 1, "batch_dim": 0})
    program = qrt.compile(import_model(read(content), profile("litert")))
    x = np.float32([[1, 2, 3], [4, 5, 6]])
    assert program(x, np.int32([2, 0])).tolist() == [[2, 1, 3], [4, 5, 6]]
    with pytest.raises(ModelError, match=r"'qrt\.gather' op an index is out of bounds"):
        program(x, np.int32([2, 4]))

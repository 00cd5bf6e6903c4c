"""Linear bodies as integers with rational scales. Hazards: a scale that is rounded on the way, a sum that wraps, a zero
point or a sign that is lost, channels that leave their axis."""

from fractions import Fraction
from math import gcd

import numpy as np
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from qrt import ir
from qrt.errors import VerifyError
from qrt.ir.remarks import remarks_to
from qrt.numerics import fixed_multiplier
from qrt.numerics.requantization import scale_fixed
from qrt.ops import FAMILIES
from qrt.quantization.export import program as programs
from qrt.quantization.export.exact import divisor
from qrt.types import FloatType, TensorType, UniformType
from tests import mlir_opt
from tests.ir.passes.lower_qrt.upstream import F32, case
from tests.ir.passes.lower_qrt.upstream import stored as stored_bits
from tests.oracle.execution.driver import execute
from tests.quantization.export.programs import drawn_arrays, drawn_specs, exported, function, program, ran, t

_Q = "!quant.uniform<i8:f32, 0.1:3>"
_X, _W, _Y = t(3, 4), t(4, 2), t(3, 2)
_CHAIN = f"""%zero = arith.constant 0.0 : f32
%e = tensor.empty() : {_Y}
%f = linalg.fill ins(%zero : f32) outs(%e : {_Y}) -> {_Y}
%1 = linalg.matmul ins(%a, %b : {_X}, {_W}) outs(%f : {_Y}) -> {_Y}
%2 = arith.constant dense<-1.5> : {_Y}
%3 = arith.mulf %1, %2 : {_Y}
%4 = arith.addf %3, %c : {_Y}
%5 = arith.constant dense<[[0.5, 0.25], [1.0, -2.0], [0.0, 3.0]]> : {_Y}
%6 = arith.subf %4, %5 : {_Y}
%7 = arith.constant dense<3.0> : {_Y}
%8 = arith.divf %6, %7 : {_Y}
%e2 = tensor.empty() : {t(2, 3)}
%y = linalg.transpose ins(%8 : {_Y}) outs(%e2 : {t(2, 3)}) permutation = [1, 0]"""

_PRODUCT = f"%y = linalg.matmul ins(%a, %b : {_X}, {_W}) outs(%f : {_Y}) -> {_Y}"
_BIASED = f"""%zero = arith.constant 0.0 : f32
%e = tensor.empty() : {_Y}
%f = linalg.fill ins(%zero : f32) outs(%e : {_Y}) -> {_Y}
{_PRODUCT.replace("%y", "%1")}
%2 = arith.negf %1 : {_Y}
%3 = arith.subf %2, %c : {_Y}
%y = arith.negf %3 : {_Y}"""


def chain(a, b, c):
    """What the body computes, on arrays of Fractions."""
    shift = np.array([[Fraction(1, 2), Fraction(1, 4)], [1, -2], [0, 3]], object)
    return (((a @ b) * Fraction(-3, 2) + c - shift) / 3).T


def stored(x, spec):
    """The integers of a float array in a type, and what they stand for, exactly."""
    qcast = FAMILIES["qcast"]
    types = TensorType(x.shape, FloatType("f32")), TensorType(x.shape, spec)
    codes = qcast.reference([x], types[:1], types[1], qcast.complete({}))
    scales = [Fraction(s) for s in spec.scales]
    pick = (lambda j: scales[j]) if spec.is_per_axis else (lambda j: scales[0])
    values = [[(int(q) - spec.zero_points[0]) * pick(j) for j, q in enumerate(row)] for row in codes]
    return np.array(values, object)


SCALES = st.floats(2**-10, 2**-3, width=32)
POINTS = st.integers(-128, 127)


@settings(deadline=None, max_examples=40, phases=[Phase.explicit, Phase.generate])
@example(0.08654163032770157, 37, (0.06400483101606369, 0.014003042131662369), 0.014003042131662369, -40, 1.7, 27)
@given(SCALES, POINTS, st.tuples(SCALES, SCALES), SCALES, POINTS, st.sampled_from([0.02, 0.3, 1.7]), st.integers(0, 99))
def test_the_result_is_the_exact_rational_rounded_once(sx, zx, sw, sc, zc, so, seed):
    """Against Fractions: half a step, and what 31 bits of a multiplier and 30 bits of the largest terms leave open. Two
    sums round two terms each, to a unit of at most 4 terms / 2^30."""
    x, w = UniformType("i8", "f32", sx, zx), UniformType("i8", "f32", list(sw), axis=1)
    c, out = UniformType("i8", "f32", sc, zc), UniformType("i8", "f32", so, 5)
    module = exported(function((_X, _W, _Y), t(2, 3), _CHAIN, (x, w, c), out), "codegen")
    arrays = drawn_arrays(module, np.random.default_rng(seed), 2.0)
    (got,) = ran(module, arrays)
    assert got.dtype == np.float32
    values = chain(*(stored(array, spec) for array, spec in zip(arrays, (x, w, c), strict=True)))
    codes = np.rint(got / np.float32(so)) + 5
    terms = Fraction(3, 2) * 4 * 255 * 255 * Fraction(sx) * Fraction(max(sw)) + 255 * Fraction(sc) + 3
    left_open = 4 * 4 * terms / (1 << 30) / (3 * Fraction(so))
    for code, value in zip(codes.flat, values.flat, strict=True):
        exact = value / Fraction(so) + 5
        if -128 + left_open < exact < 127 - left_open:
            assert abs(int(code) - exact) <= Fraction(1, 2) + abs(exact) / (1 << 28) + left_open
        else:
            assert code == (-128 if exact < 0 else 127)


@pytest.mark.parametrize(
    "kernel", ["conv2d", "depthwise_conv2d", "mul", "avg_pool2d", "mean", "reshape", "transpose", "pad"]
)
@pytest.mark.parametrize("seed", range(2))
def test_one_op_has_the_bits_of_its_kernel(kernel, seed, monkeypatch):
    """One requantization, with the same exact multiplier, the bias as it is."""
    rng = np.random.default_rng(seed)
    specs, out = drawn_specs(kernel, rng)
    fixed = exported(program(kernel, specs, out), "fixed")
    monkeypatch.setattr(programs, "form_of", lambda block: None)
    said = []
    with remarks_to(said.append):
        linear = exported(program(kernel, specs, out, name="linear"), "fixed")
    assert not any(op.name.startswith("qrt.") for op in linear.operation.walk())
    arrays = drawn_arrays(fixed, rng)
    assert np.array_equal(ran(fixed, arrays)[0], ran(linear, arrays)[0])


def remarks_of(text):
    said = []
    module = ir.parse(text)
    from qrt.ir.pipeline import module_steps, run_steps

    run_steps(module, module_steps("export-quant"), report=said.append)
    return [each.message for each in said], module


_SUM = f"%y = arith.addf %a, %b : {_Y}\n%z = arith.addf %y, %a : {_Y}".replace("%y", "%s").replace("%z", "%y")


def test_a_sum_within_64_bits_is_exact():
    """8 bits of scales with 24 bits each: no rounding before the end."""
    specs = [UniformType("i8", "f32", float(np.float32(s))) for s in (0.05, 0.013)]
    said, module = remarks_of(function((_Y, _Y), _Y, _SUM, specs, UniformType("i8", "f32", 0.2, 3)))
    assert said == ["kernel 'linear' has no op of qrt: its body becomes integer arithmetic"]
    arrays = drawn_arrays(module, np.random.default_rng(0), 3.0)
    a, b = (stored(array, spec) for array, spec in zip(arrays, specs, strict=True))
    m0, n = fixed_multiplier(divisor([Fraction(spec.scale) for spec in specs]) / Fraction(0.2))
    unit = divisor([Fraction(spec.scale) for spec in specs])
    want = [np.clip(scale_fixed(int(v / unit), m0, n) + 3, -128, 127) for v in (a + b + a).flat]
    assert (np.rint(ran(module, arrays)[0] / np.float32(0.2)) + 3).ravel().tolist() == want


def test_a_sum_beyond_64_bits_is_reported():
    """Scales of 53 bits and 32-bit storage: rounded before the sum, with a remark, and near the exact value."""
    specs = [UniformType("i32", "f32", 0.1 / 3), UniformType("i32", "f32", 1e-7 / 7)]
    said, module = remarks_of(function((_Y, _Y), _Y, _SUM, specs, UniformType("i16", "f32", 1e5)))
    assert any("would overflow 64 bits" in message for message in said)
    arrays = [np.full((3, 2), 6e7, np.float32), np.full((3, 2), 20.0, np.float32)]
    assert abs(ran(module, arrays)[0] - np.float32(1.2e8)).max() <= 1e5


def linear(body, types, result, specs, out, arrays):
    """What the interpreter computes, and what is remarked."""
    said, module = remarks_of(function(types, result, body, specs, UniformType(*out)))
    return ran(module, arrays)[0], said[1:]


def test_a_bias_is_added_as_it_is():
    """Its scale is the double nearest to the product of the two others, which are no double's: nothing is rounded."""
    x, w = UniformType("i8", "f32", 0.1 / 3), UniformType("i8", "f32", 0.2 / 7)
    bias = UniformType("i32", "f32", x.scale * w.scale)
    arrays = [np.eye(3, 4, dtype=np.float32), np.ones((4, 2), np.float32), np.full((3, 2), 2.5, np.float32)]
    got, said = linear(_BIASED, (_X, _W, _Y), _Y, (x, w, bias), ("i16", "f32", 0.01), arrays)
    assert said == []
    assert np.abs(got - 3.5).max() < 0.02


def test_a_sum_begins_with_its_output():
    """The output operand of a product is a term."""
    specs = [UniformType("i8", "f32", s) for s in (0.25, 0.5, 0.125)]
    arrays = [np.full((3, 4), 1.5, np.float32), np.full((4, 2), 2, np.float32), np.full((3, 2), -7.5, np.float32)]
    body = f"%1 = arith.negf %c : {_Y}\n" + _PRODUCT.replace("%f", "%1")
    got, said = linear(body, (_X, _W, _Y), _Y, specs, ("i8", "f32", 0.5), arrays)
    assert said == []
    assert (got == 19.5).all()


def test_a_sum_begins_with_what_it_multiplies():
    """A value that is an input and the output operand at once is read as both."""
    specs = [UniformType("i8", "f32", 0.5)] * 2
    square = t(2, 2)
    body = f"%y = linalg.matmul ins(%a, %b : {square}, {square}) outs(%a : {square}) -> {square}"
    arrays = [np.float32([[1, 2], [3, 4]]), np.float32([[1, 0], [-1, 1]])]
    got, said = linear(body, (square, square), square, specs, ("i8", "f32", 0.5), arrays)
    assert said == []
    assert got.tolist() == [[0, 4], [2, 8]]


def test_channels_that_are_padded():
    """What is put before and after them has their axis, and no scale of its own."""
    x = UniformType("i8", "f32", (0.5, 0.25), axis=0)
    body = f"""%zero = arith.constant 0.0 : f32
%1 = tensor.pad %a low[1, 0] high[2, 0] {{
^bb0(%i: index, %j: index):
  tensor.yield %zero : f32
}} : {t(2, 3)} to {t(5, 3)}
%y = arith.negf %1 : {t(5, 3)}"""
    got, said = linear(body, (t(2, 3),), t(5, 3), (x,), ("i8", "f32", 0.25), [np.float32([[1] * 3, [2.25] * 3])])
    assert said == []
    assert got[:, 0].tolist() == [0, -1, -2.25, 0, 0]


@pytest.mark.parametrize(("storage", "value", "rounded"), [("i16", 30000.0, 0), ("i32", 2.0e9, 2)])
def test_products_and_sums_that_grow(storage, value, rounded):
    """Past 32 bits a sum is kept in 64; past 64, factors and terms are rounded, with a remark for each."""
    specs = [UniformType(storage, "f32", 1.0)] * 2
    arrays = [np.full((3, 4), value, np.float32), np.full((4, 2), value, np.float32)]
    body = f"%zero = arith.constant 0.0 : f32\n%e = tensor.empty() : {_Y}\n"
    body += f"%f = linalg.fill ins(%zero : f32) outs(%e : {_Y}) -> {_Y}\n{_PRODUCT}"
    got, said = linear(body, (_X, _W), _Y, specs, ("i16", "f32", value**2 / 5000), arrays)
    assert len([message for message in said if "would overflow 64 bits" in message]) >= rounded
    assert bool(said) == bool(rounded)
    np.testing.assert_allclose(got, 4 * value**2, rtol=1e-4)


def test_what_is_joined_has_one_scale():
    """Of two scales, the one that divides both."""
    specs = [UniformType("i8", "f32", s) for s in (0.5, 0.75)]
    body = f"%1 = tensor.concat dim(0) %a, %b : ({_Y}, {_Y}) -> {t(6, 2)}\n%y = arith.negf %1 : {t(6, 2)}"
    arrays = [np.full((3, 2), 4.5, np.float32), np.full((3, 2), -6.0, np.float32)]
    got, said = linear(body, (_Y, _Y), t(6, 2), specs, ("i8", "f32", 0.25), arrays)
    assert said == []
    assert got.tolist() == [[-4.5] * 2] * 3 + [[6.0] * 2] * 3


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("%1 = math.tanh %a : Y", "math.tanh in its body is not linear"),
        ("%1 = arith.divf %a, %b : Y", "divides by a value that is not constant"),
        ("%0 = arith.constant dense<0.0> : Y\n%1 = arith.divf %a, %0 : Y", "divides by 0"),
        ("%0 = arith.constant dense<0x7F800000> : Y\n%1 = arith.mulf %a, %0 : Y", "must be finite, but one is not"),
        (
            "%0 = arith.constant dense<[[1.0, 1.0e-30], [1.0e30, 1.0], [1.0, 1.0]]> : Y\n%1 = arith.addf %a, %0 : Y",
            "a constant in the body needs more than 64 bits",
        ),
    ],
)
def test_what_is_not_linear_is_named(body, said):
    q = "!quant.uniform<i8:f32, 0.1>"
    body = f"{body}\n%y = arith.addf %1, %b : Y".replace("Y", _Y)
    with pytest.raises(VerifyError, match=said) as caught:
        exported(function((_Y, _Y), _Y, body, (q, q), q, kernel="mine.gate"), "fixed")
    assert "of kernel 'mine.gate' cannot be exported" in str(caught.value)


def test_channels_that_are_summed_over():
    """Scales that change within a sum have no common accumulator."""
    x, q = UniformType("i8", "f32", [0.1, 0.2, 0.3, 0.4], axis=1), UniformType("i8", "f32", 0.1)
    with pytest.raises(VerifyError, match="an axis that is summed over"):
        exported(function((_X, _W, _Y), t(2, 3), _CHAIN, (x, q, q), q), "fixed")


def test_scalars_are_refused():
    """A kernel takes tensors."""
    with pytest.raises(VerifyError, match="kernels need tensors, got f32"):
        exported(function(("f32",), "f32", "%y = arith.negf %a : f32", [_Q], _Q, kernel="mine.gate"), "fixed")


def test_rows_of_unknown_number():
    """Sums need their length, and nothing else: sizes come from the operands."""
    many, rows, weights = "tensor<?x4xf32>", "tensor<?x2xf32>", t(4, 2)
    body = f"""%i = arith.constant 0 : index
%n = tensor.dim %a, %i : {many}
%zero = arith.constant 0.0 : f32
%half = arith.constant -0.5 : f32
%e = tensor.empty(%n) : {rows}
%f = linalg.fill ins(%zero : f32) outs(%e : {rows}) -> {rows}
%1 = linalg.matmul ins(%a, %b : {many}, {weights}) outs(%f : {rows}) -> {rows}
%2 = linalg.fill ins(%half : f32) outs(%e : {rows}) -> {rows}
%y = arith.mulf %1, %2 : {rows}"""
    text = function((many, weights), rows, body, (_Q, _Q), "!quant.uniform<i8:f32, 0.25>")
    rng = np.random.default_rng(4)
    arrays = [rng.normal(size=size).astype(np.float32) for size in ((5, 4), (4, 2))]
    got, near = (ran(exported(text, to), arrays)[0] for to in ("codegen", "simulate"))
    assert np.abs(got - near).max() <= 0.2501
    assert len(np.unique(got)) > 3


def test_channels_are_rounded_apart():
    """One channel is far finer than the result, the other is not: rounding bits below the last place of the first must
    not cost the second any."""
    x, w = UniformType("i16", "f32", 2.0**-8), UniformType("i16", "f32", [2.0**-40, 2.0**-7], axis=1)
    c, out = UniformType("i32", "f32", 2.0**-30), UniformType("i8", "f32", 0.25)
    module = exported(function((_X, _W, _Y), t(2, 3), _CHAIN, (x, w, c), out), "fixed")
    arrays = [np.full((3, 4), 0.5, np.float32), np.full((4, 2), 0.5, np.float32), np.zeros((3, 2), np.float32)]
    arrays[1][:, 0] = 2.0**-30
    rows = chain(*(np.array([[Fraction(float(v)) for v in row] for row in array], object) for array in arrays))
    want = [[float(v * 4) for v in row] for row in rows]
    assert np.abs(ran(module, arrays)[0] * 4 - want).max() <= 0.51


@given(st.lists(st.fractions(min_value=Fraction(1, 999), max_value=999), min_size=1, max_size=4))
def test_divisor(values):
    """Each is a multiple, and no larger number does."""
    found = divisor(values)
    multiples = [value / found for value in values]
    assert all(m.denominator == 1 for m in multiples)
    assert gcd(*map(int, multiples)) == 1


@mlir_opt.needed
def test_mlir_runner_computes_the_same_bits():
    """Of sums that fit 64 bits, and of one that is rounded before."""
    rng = np.random.default_rng(8)
    cases, expected = [], []
    for sx, zx, sw, sc in ((0.05, 3, (0.1, 0.02), 0.1), (0.125, 0, (0.5, 0.25), 0.0625)):
        x, w = UniformType("i8", "f32", sx, zx), UniformType("i8", "f32", list(sw), axis=1)
        specs, out = (x, w, UniformType("i8", "f32", sc, -4)), UniformType("i8", "f32", 0.3, 5)
        module = exported(function((_X, _W, _Y), t(2, 3), _CHAIN, specs, out), "codegen")
        arrays = drawn_arrays(module, rng, 2.0)
        expected.append(stored_bits(ran(module, arrays)[0], F32))
        values = [stored_bits(array, F32) for array in arrays]
        cases.append(case(ir.run_passes(module, "lower-quant-ops"), values))
    assert execute(cases) == [[[value]] for value in expected]

"""form_of. Hazards: a body that is read as an op which computes something else (another padding, transposed weights, a
bias along another axis, a clamp turned round); a body that is near to an op and is taken for it."""

import numpy as np
import pytest

from qrt import ir
from qrt.quantization.forms import form_of
from qrt.runtime.interpreter import Interpreter
from tests.quantization.bodies import FORMS, NEAR, function


def _windows(x, kernel, strides, padding, dilations=(1, 1), fill=0.0):
    x = np.pad(x, ((0, 0), *padding, (0, 0)), constant_values=fill)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    views = np.lib.stride_tricks.sliding_window_view(x, reach, axis=(1, 2))
    return views[:, :: strides[0], :: strides[1], :, :: dilations[0], :: dilations[1]]


def _convolved(x, w, axes, strides, dilations, padding=((0, 0), (0, 0)), spatial=(1, 2)):
    views = _windows(x, [w.shape[axis] for axis in spatial], strides, padding, dilations)
    return np.einsum(axes, views, w)


def _softmax(x, axis, beta):
    power = np.exp(beta * x)
    return power / power.sum(axis=axis, keepdims=True)


NO_PADDING = ((0, 0), (0, 0))
COMPUTED = {
    "matmul": lambda a, w: a @ w,
    "conv2d": lambda x, w, **k: _convolved(x, w, "nhwcyx,oyxc->nhwo", **k),
    "depthwise_conv2d": lambda x, w, **k: _convolved(x, w, "nhwcyx,yxc->nhwc", spatial=(0, 1), **k),
    "max_pool2d": lambda x, kernel, strides, padding=NO_PADDING: _windows(
        x, kernel, strides, padding, fill=-np.inf
    ).max((4, 5)),
    "avg_pool2d": lambda x, kernel, strides, padding=NO_PADDING: _windows(x, kernel, strides, padding).mean((4, 5)),
    "mean": lambda x, axes, keepdims: x.mean(axes, keepdims=keepdims),
    "softmax": _softmax,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "div": lambda a, b, requant: a / b,
    "sum": lambda x, axes, keepdims: x.sum(axes, keepdims=keepdims),
    "reduce_max": lambda x, axes, keepdims: x.max(axes, keepdims=keepdims),
    "reduce_min": lambda x, axes, keepdims: x.min(axes, keepdims=keepdims),
    "slice": lambda x, offsets, sizes, strides: x[
        tuple(slice(o, o + (n - 1) * s + 1, s) for o, n, s in zip(offsets, sizes, strides, strict=True))
    ],
    "tile": lambda x, multiples: np.tile(x, multiples),
    "transpose": lambda x, permutation: x.transpose(permutation),
    "concat": lambda *tensors, axis: np.concatenate(tensors, axis),
    "pad": lambda x, padding, value: np.pad(x, padding, constant_values=value),
    "clamp": lambda x, min, max: np.clip(x, min, max),
}
"""What the families compute, in float64 (docs/numerics_operations.md)."""


def computed(form, arrays, made):
    """What a form says that its body computes."""
    operands = []
    for operand in form.operands:
        array = arrays[operand.number]
        operands.append(array if operand.permutation is None else array.transpose(operand.permutation))
    if form.family == "reshape":
        return operands[0].reshape(made.shape)
    has_bias = len(operands) == 3 and form.family != "concat"
    result = COMPUTED[form.family](*(operands[:2] if has_bias else operands), **form.attributes)
    if has_bias:
        assert operands[2].ndim == 1
        result = result + operands[2]
    return np.clip(result, form.low, form.high) if (form.low, form.high) != (None, None) else result


@pytest.mark.parametrize("name", FORMS)
def test_a_body_computes_what_its_form_says(name):
    *text, family = FORMS[name]
    module = ir.parse(function(*text))
    block = module.functions[0].regions[0].blocks[0]
    form = form_of(block)
    assert form is not None
    assert form.family == family
    generator = np.random.default_rng(7)
    arrays = [np.float32(generator.uniform(-2, 2, value.type.shape)) for value in block.arguments]
    (made,) = Interpreter(module).call(module.function("f"), arrays)
    if family == "lookup":
        assert [operand.number for operand in form.operands] == [0]
        return
    wanted = computed(form, [array.astype(np.float64) for array in arrays], made)
    assert wanted.shape == made.shape
    np.testing.assert_allclose(made, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", NEAR)
def test_what_is_near_to_an_op_is_not_taken_for_it(name):
    assert form_of(ir.parse(function(*NEAR[name])).functions[0].regions[0].blocks[0]) is None

"""CONV_3D and CONV_3D_TRANSPOSE. Hazards: depth, height and width that are exchanged, odd padding, dilations, results
that strides reach unequally."""

from dataclasses import replace

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.writing import Tensor, one_op

_RUNS = 2


def _constant(rng, shape):
    return Tensor(tuple(int(n) for n in shape), "float32", data=rng.normal(size=shape).astype("float32"))


def _options(padding, strides, dilations, activation):
    named = {f"stride_{axis}": int(n) for axis, n in zip("dhw", strides, strict=True)}
    named |= {f"dilation_{axis}_factor": int(n) for axis, n in zip("dhw", dilations, strict=True)}
    return {"padding": padding, "fused_activation_function": activation, **named}


def conv(rng):
    window, strides, dilations = rng.integers(1, 4, 3), rng.integers(1, 3, 3), rng.integers(1, 3, 3)
    reach = (window - 1) * dilations + 1
    padding = str(rng.choice(["SAME", "VALID"]))
    image = reach + rng.integers(0, 7, 3)
    result = -(-image // strides) if padding == "SAME" else -(-(image - reach + 1) // strides)
    batch, depth, channels = int(rng.integers(1, 3)), draw.size(rng, 12), draw.size(rng, 20)
    x, y = Tensor((batch, *image.tolist(), depth), "float32"), Tensor((batch, *result.tolist(), channels), "float32")
    inputs = [x, _constant(rng, (*window, depth, channels))]
    inputs += [_constant(rng, (channels,))] if rng.random() < 0.7 else []
    runs = [[rng.normal(size=x.shape).astype("float32")] for _ in range(_RUNS)]
    return Case(
        one_op("CONV_3D", inputs, [y], _options(padding, strides, dilations, draw.activation(rng))), runs, ulp=0
    )


def transposed(rng, *, has_bias, is_dilated=False):
    window, strides, size = rng.integers(1, 4, 3), rng.integers(1, 3, 3), rng.integers(1, 6, 3)
    dilations = rng.integers(1, 4, 3) if is_dilated else np.ones(3, int)
    if is_dilated:
        dilations[int(rng.integers(3))] = int(rng.integers(2, 4))
    padding = str(rng.choice(["SAME", "VALID"]))
    if padding == "SAME":
        result = size * strides - rng.integers(0, strides)
    else:
        result = (size - 1) * strides + (window - 1) * dilations + 1 + rng.integers(0, strides)
    batch, depth, channels = int(rng.integers(1, 3)), draw.size(rng, 12), draw.size(rng, 20)
    depth = channels if has_bias else depth
    x, y = Tensor((batch, *size.tolist(), depth), "float32"), Tensor((batch, *result.tolist(), channels), "float32")
    shape = Tensor((5,), "int32", data=list(y.shape))
    inputs = [shape, _constant(rng, (*window, channels, depth)), x]
    inputs += [_constant(rng, (channels,))] if has_bias else []
    runs = [[rng.normal(size=x.shape).astype("float32")] for _ in range(_RUNS)]
    options = _options(padding, strides, dilations, str(rng.choice(["NONE", "RELU"])))  # others hide the largest sum
    return Case(one_op("CONV_3D_TRANSPOSE", inputs, [y], options), runs)


def transposed_with_bias(rng):
    return transposed(rng, has_bias=True)


def transposed_without_bias(rng):
    return transposed(rng, has_bias=False)


def transposed_with_gaps(rng):
    case = transposed(rng, has_bias=bool(rng.integers(2)), is_dilated=True)
    return replace(case, ulp=0)


CASES = {
    "CONV_3D float32": conv,
    "CONV_3D_TRANSPOSE float32": transposed_without_bias,
    "CONV_3D_TRANSPOSE float32, bias": transposed_with_bias,
    "CONV_3D_TRANSPOSE float32, dilated": transposed_with_gaps,
}

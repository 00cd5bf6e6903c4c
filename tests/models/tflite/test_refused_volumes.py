"""Wrong and unsupported CONV_3D and CONV_3D_TRANSPOSE: each is one ModelError. Hazards: strides of 0, results that do
not follow from the strides, biases that LiteRT adds at wrong places."""

import numpy as np
import pytest

import qrt
from qrt.errors import ModelError
from tests.models.tflite.importing import imported, refusal
from tests.models.tflite.writing import Tensor, one_op


def _x(*shape, dtype="float32"):
    return Tensor(shape, dtype)


def _options(stride=1, dilation=1, padding="VALID", activation="NONE"):
    named = {f"stride_{axis}": stride for axis in "dhw"} | {f"dilation_{axis}_factor": dilation for axis in "dhw"}
    return {"padding": padding, "fused_activation_function": activation, **named}


def _conv(x=(1, 4, 4, 4, 2), w=(2, 2, 2, 2, 3), bias=None, dtype="float32", **options):
    operands = [_x(*x, dtype=dtype), _x(*w), *([] if bias is None else [_x(*bias)])]
    return one_op("CONV_3D", operands, [_x(1, 3, 3, 3, 3)], _options(**options))


def _transposed(size=(1, 5, 5, 5, 3), w=(2, 2, 2, 3, 2), bias=None, **options):
    shape = Tensor((len(size),), "int32", data=size)
    operands = [shape, _x(*w), _x(1, 4, 4, 4, 2), *([] if bias is None else [_x(*bias)])]
    return one_op("CONV_3D_TRANSPOSE", operands, [_x(*size)], _options(**options))


REFUSED = {
    "an image": (lambda: _conv(x=(1, 4, 4, 2)), "the input and the weights must have rank 5, got 4 and 5"),
    "other channels": (lambda: _conv(w=(2, 2, 2, 5, 3)), "must have as many channels as a filter, 5, got 2"),
    "integers": (lambda: _conv(dtype="int32"), "CONV_3D (int32 among floats)"),
    "a stride of 0": (lambda: _conv(stride=0), "strides and dilations must be positive, got [0, 0, 0] and [1, 1, 1]"),
    "a dilation of 0": (lambda: _conv(dilation=0, padding="SAME"), "strides and dilations must be positive"),
    "a window larger than the volume": (lambda: _conv(dilation=4), "a window of 2 elements with dilation 4"),
    "a window without elements": (lambda: _conv(w=(0, 2, 2, 2, 3)), "a window of 0 elements"),
    "a bias of another size": (lambda: _conv(bias=(4,)), "the bias must be tensor<3xf32>, got tensor<4xf32>"),
    "TANH": (lambda: _conv(activation="TANH"), "CONV_3D (float32, fused TANH)"),
    "a transposed stride of 0": (lambda: _transposed(stride=0), "strides and dilations must be positive"),
    "a transposed dilation of 0": (lambda: _transposed(dilation=0), "strides and dilations must be positive"),
    "a result without the dilation": (
        lambda: _transposed(dilation=2), "does not follow from volumes of shape [1, 4, 4, 4, 2], the padding"
    ),
    "a result of 4 axes": (lambda: _transposed(size=(1, 5, 5, 3)), "must be a batch and 4 positive sizes"),
    "a result without elements": (lambda: _transposed(size=(1, 5, 0, 5, 3)), "must be a batch and 4 positive sizes"),
    "a result of another size": (
        lambda: _transposed(size=(1, 6, 5, 5, 3)), "does not follow from volumes of shape [1, 4, 4, 4, 2]"
    ),
    "a result of another batch": (
        lambda: _transposed(size=(2, 5, 5, 5, 3)), "must have batch 1 and 3 channels, got [2, 5, 5, 5, 3]"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused(case):
    make, message = REFUSED[case]
    assert message in refusal(make())


def test_the_reference_kernels_add_a_bias_at_wrong_places():
    content = _transposed(bias=(3,))
    imported(content)
    with pytest.raises(ModelError, match="a bias for another number of channels than the input's"):
        imported(content, "litert-ref")
    dilated = _transposed(size=(1, 6, 6, 6, 3), bias=(3,), dilation=2)  # LiteRT uses a reference kernel
    with pytest.raises(ModelError, match="a bias for another number of channels than the input's"):
        imported(dilated)


def test_a_dilated_window_leaves_gaps():
    weights = Tensor((1, 1, 2, 1, 1), "float32", data=[[[[[2]], [[3]]]]])
    x, shape = _x(1, 1, 1, 2, 1), Tensor((5,), "int32", data=[1, 1, 1, 4, 1])
    content = one_op("CONV_3D_TRANSPOSE", [shape, weights, x], [_x(1, 1, 1, 4, 1)], _options(dilation=2))
    result = qrt.compile(imported(content))(np.float32([1, 5]).reshape(x.shape))
    assert np.asarray(result).ravel().tolist() == [2, 10, 3, 15]

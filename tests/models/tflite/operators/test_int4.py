"""Weights of int4. Hazards: an odd number of weights; an operator that would read the half bytes as int8; a kernel that
LiteRT does not have."""

import numpy as np
import pytest

import qrt
from qrt.errors import ModelError
from qrt.ir import Module
from qrt.models.profiles import PROFILES
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from qrt.types import TensorType, UniformType
from tests.models.tflite.oracle import PROFILES as NAMES
from tests.models.tflite.writing import Tensor, one_op

FULLY_CONNECTED = {"fused_activation_function": "NONE", "keep_num_dims": False}
WINDOW = {"padding": "VALID", "stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1}
ROW = Tensor((2,), "int8", 1.0)
CONVOLUTION = {**WINDOW, "fused_activation_function": "NONE"}


def imported(content: bytes, profile: str = "litert") -> Module:
    return import_model(read(content), PROFILES[profile])


def result_of(content: bytes, profile: str, x: np.ndarray) -> np.ndarray:
    """Return the storage of the only result."""
    y = qrt.compile(imported(content, profile))(x)
    return np.asarray(y.storage if isinstance(y, qrt.QuantTensor) else y)


def product(x_type: str = "int8", values: object = ((3, -2, 1),), zero_point: int = 0) -> bytes:
    """A FULLY_CONNECTED of three inputs with int4 weights of the scale 0.5."""
    scale = None if x_type == "float32" else 1.0
    x, y = Tensor((1, 3), x_type, scale), Tensor((1, 1), x_type, scale)
    w = Tensor((1, 3), "int4", 0.5, zero_point, data=np.array(values))
    bias = Tensor((1,), "float32", data=[0.0]) if scale is None else Tensor((1,), "int32", 0.5, data=[0])
    return one_op("FULLY_CONNECTED", [x, w, bias], [y], FULLY_CONNECTED, version=10)


@pytest.mark.parametrize("profile", NAMES)
def test_an_odd_number_of_weights(profile: str) -> None:
    """(10 * 3 + 20 * -2 + 6 * 1) / 2."""
    result = result_of(product(), profile, np.int8([[10, 20, 6]]))
    assert result.tolist() == [[-2]]


def test_weights_keep_their_element_type() -> None:
    """Kernels for int4 weights can run."""
    program = imported(product())
    types = [result.type for op in program.functions[0].regions[0].blocks[0] for result in op.results]
    elements = [given.element for given in types if isinstance(given, TensorType)]
    assert "i4" in [element.storage for element in elements if isinstance(element, UniformType)]


@pytest.mark.parametrize("profile", NAMES)
def test_floats(profile: str) -> None:
    """The input is quantized to steps of 2 / 127 or 2 / 255."""
    result = result_of(product("float32"), profile, np.float32([[1, 2, -1]]))
    assert abs(result.item() - -1.0) < 0.05


def convolution(
    name: str, x_type: str, w_shape: tuple[int, ...], depth: int, channels: int, step: float = 0.5
) -> bytes:
    """A convolution of a 1x1 image with int4 weights, of several scales if it is a depthwise one."""
    scale = None if x_type == "float32" else 1.0
    x, y = Tensor((1, 1, 1, depth), x_type, scale), Tensor((1, 1, 1, channels), x_type, scale)
    w = Tensor(w_shape, "int4", [step] * channels, 0, 3 if name[0] == "D" else 0, data=np.ones(w_shape))
    kind = "float32" if scale is None else "int32"
    bias = Tensor((channels,), kind, None if scale is None else [step] * channels, data=np.zeros(channels))
    options = {**CONVOLUTION, "depth_multiplier": 1} if name[0] == "D" else CONVOLUTION
    return one_op(name, [x, w, bias], [y], options, version=6)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (product("uint8"), "weights of int4 with an input of u8"),
        (product("int16"), "weights of int4 with an input of i16"),
        (convolution("DEPTHWISE_CONV_2D", "float32", (1, 1, 1, 3), 3, 3), "float32 with weights of int4"),
        (convolution("CONV_2D", "int8", (2, 1, 1, 2), 4, 2), "weights of int4 in groups"),
        (
            one_op("ADD", [ROW, Tensor((2,), "int4", 1.0, data=[1, 2])], [Tensor((2,), "int8", 1.0)]),
            "input 1 't1' of int4",
        ),
    ],
)
def test_forms_without_a_kernel_are_refused(content: bytes, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        imported(content)


def test_depthwise_channels_behind_the_last_vector_round_half_away() -> None:
    """-2 * 0.25 is half way between -1 and 0: upwards in whole vectors of 8 channels, away from zero behind them."""
    content = convolution("DEPTHWISE_CONV_2D", "int8", (1, 1, 1, 9), 9, 9, 0.25)
    result = result_of(content, "litert", np.full((1, 1, 1, 9), -2, np.int8))
    assert result.ravel().tolist() == [0] * 8 + [-1]

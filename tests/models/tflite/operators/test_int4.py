"""Weights and tables of int4 and int2. Hazards: an odd number of weights; an operator that would read parts of bytes as
int8; scales for blocks that do not fit the tensor; a kernel that LiteRT does not have, or that reads other elements."""

from typing import Any

import numpy as np
import pytest

import qrt
from qrt.errors import ModelError
from qrt.ir import Module
from qrt.models.profiles import PROFILES
from qrt.models.profiles.model import for_kernels
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from qrt.types import TensorType, UniformType
from tests.models.tflite.oracle import PROFILES as NAMES
from tests.models.tflite.writing import Operator, Subgraph, Tensor, one_op, write

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


@pytest.mark.parametrize("profile", NAMES)
@pytest.mark.parametrize(("depth", "units"), [(4, 1), (4, 3), (5, 3)])
def test_weights_of_two_bits(profile: str, depth: int, units: int) -> None:
    """(10 - 2 * 20 + 0 * 6 + 1 * -8 ...) / 2, with rows that end inside a byte or not."""
    values = np.resize([1, -2, 0, 1, -1], (units, depth))
    x, y = Tensor((1, depth), "int8", 1.0), Tensor((1, units), "int8", 1.0)
    w = Tensor((units, depth), "int2", [0.5] * units, 0, data=values)
    bias = Tensor((units,), "int32", [0.5] * units, [0] * units, data=np.zeros(units))
    content = one_op("FULLY_CONNECTED", [x, w, bias], [y], FULLY_CONNECTED, version=12)
    given = np.int8([[10, 20, 6, -8, 2][:depth]])
    assert result_of(content, profile, given).tolist() == (given @ values.T.astype(np.int64) // 2).tolist()
    assert "i2" in str(imported(content, profile))


@pytest.mark.parametrize("profile", NAMES)
def test_rows_of_int16_by_weights_of_int4(profile: str) -> None:
    """Products beyond the range of a product of bytes."""
    x, w, y = Tensor((1, 3), "int16", 1.0), Tensor((1, 3), "int4", 1.0, data=[7, -8, 1]), Tensor((1, 1), "int16", 2.0)
    bias = Tensor((1,), "int64", 1.0, data=[-100])
    content = one_op("FULLY_CONNECTED", [x, w, bias], [y], FULLY_CONNECTED, version=11)
    result = result_of(content, profile, np.int16([[3000, -2000, 4]]))
    assert result.tolist() == [[(7 * 3000 + 8 * 2000 + 4 - 100) // 2]]


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
        (convolution("DEPTHWISE_CONV_2D", "int16", (1, 1, 1, 3), 3, 3), "input of i16, which LiteRT reads as int8"),
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


@pytest.mark.parametrize("x_type", ["int8", "float32"])
@pytest.mark.parametrize("zero_point", [-8, 1, 7])
def test_weights_with_a_zero_point_are_refused(x_type: str, zero_point: int) -> None:
    """LiteRT rejects them."""
    with pytest.raises(ModelError, match="of int4 with a zero point other than 0"):
        imported(product(x_type, zero_point=zero_point))


# -- tables ----------------------------------------------------------------------------------------------------------


def table(dtype: str = "int4", **others: Any) -> Tensor:
    """A table of three rows of four elements."""
    values = {
        "int2": [[1, -2, 0, 1], [0, 1, -1, -2], [1, 1, 0, 0]],
        "int4": [[7, -8, 0, 1], [3, -4, 5, -6], [1, 2, 3, 4]],
    }
    data = values.get(dtype, values["int4"])
    return Tensor((3, 4), dtype, **{"data": data, "name": "w", **others})


def lookup(w: Tensor) -> bytes:
    indices, y = Tensor((2,), "int32", name="i"), Tensor((2, *(w.shape or ())[1:]), "float32")
    return one_op("EMBEDDING_LOOKUP", [indices, w], [y], version=4)


def in_blocks(dtype: str = "int4", steps: object = ((0.5, 1), (2, 4), (8, 16)), size: int = 2, **others: Any) -> Tensor:
    scales = np.array(steps, np.float16)
    return table(dtype, block_scales=Tensor(scales.shape, "float16", data=scales, name="s"), block_size=size, **others)


ROWS = ("int8", "int4", "int2")


@pytest.mark.parametrize("dtype", ROWS)
def test_rows_have_their_own_scales(dtype: str) -> None:
    w = table(dtype, scales=[0.1, 0.2, 0.5])
    result = result_of(lookup(w), "litert", np.int32([2, 0]))
    assert np.array_equal(result, np.float32([w.data[2], w.data[0]]) * np.float32([[0.5], [0.1]]))


@pytest.mark.parametrize("dtype", ROWS[1:])
def test_blocks_have_their_own_scales(dtype: str) -> None:
    w = in_blocks(dtype)
    result = result_of(lookup(w), "litert", np.int32([2, 1]))
    assert np.array_equal(result, np.float32([w.data[2], w.data[1]]) * np.float32([[8, 8, 16, 16], [2, 2, 4, 4]]))


def test_a_table_keeps_its_element_type() -> None:
    """Its rows are dequantized after they are taken, so that it needs no more memory than in the file."""
    for w in (in_blocks(), table(scales=[1.0] * 3), table(scales=1.0)):
        text = str(imported(lookup(w)))
        assert "tensor<3x4xi4>" in text
        assert "tensor<3x4xf32>" not in text


@pytest.mark.parametrize("dtype", ["int2", "int4", "uint4"])
@pytest.mark.parametrize("zero_point", [0, 1])
def test_small_constants_are_dequantized(dtype: str, zero_point: int) -> None:
    w = table(dtype, scales=0.5, zero_points=zero_point, data=[[0, 1, 0, 1]] * 3)
    dense, x, y = (Tensor((3, 4), "float32") for _ in range(3))
    operators = [Operator("DEQUANTIZE", [w], [dense], version=6), Operator("ADD", [x, dense], [y])]
    result = result_of(write([Subgraph([x], [y], operators)]), "litert", np.zeros((3, 4), np.float32))
    assert np.array_equal(result, (np.float32(w.data) - zero_point) / 2)


def gathered(axis: int = 0, width: int = 4, **others: Any) -> bytes:
    """A model that takes rows of an int4 table and dequantizes them."""
    w, i = Tensor((3, width), "int4", 0.5, data=np.arange(3 * width) % 16 - 8, name="w"), Tensor((2,), "int32")
    rows, y = Tensor((2, width), "int4", 0.5, name="r"), Tensor((2, width), "float32")
    operators = [
        Operator("GATHER", [w, i], [rows], {"axis": axis, **others}, version=5),
        Operator("DEQUANTIZE", [rows], [y], version=6),
    ]
    return write([Subgraph([i], [y], operators)])


def test_rows_of_int4_are_moved() -> None:
    result = result_of(gathered(), "litert", np.int32([2, 0]))
    assert result.tolist() == [[0, 0.5, 1, 1.5], [-4, -3.5, -3, -2.5]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gathered(axis=1), "GATHER (int4 along an axis other than 0)"),
        (gathered(width=3), "GATHER (int4 in rows of shape [3], which end inside a byte)"),
        (lookup(Tensor((3, 6), "int2", 0.5, data=np.zeros((3, 6)))), "int2 in rows of shape [6], which end inside"),
        (lookup(table("int4", scales=0.5, zero_points=1)), "weights 'w' of int4 with a zero point other than 0"),
        (lookup(table("int8", scales=0.5, zero_points=1)), "int8 with zero points other than 0 to float32"),
        (lookup(table("int8", scales=[1.0] * 4, axis=1)), "scales on axis 1 of the table"),
        (lookup(table("uint4", scales=0.5)), "input 1 'w' of uint4"),
        (lookup(in_blocks("int8")), "int8 with scales for blocks"),
        (lookup(Tensor((3, 4), "int4", 0.5, name="w")), "'w' is of int4"),
        (one_op("DEQUANTIZE", [in_blocks()], [Tensor((3, 4), "float32")]),
         "DEQUANTIZE (input 0 'w' with a scale for each block of 2 elements)"),
        (one_op("ADD", [table("int8", scales=1.0), in_blocks()], [Tensor((3, 4), "int8", 1.0)]),
         "input 1 'w' with a scale for each block of 2 elements"),
        (one_op("CONV_2D", [Tensor((1, 1, 1, 4), "int8", 1.0),
                            Tensor((3, 1, 1, 4), "int2", 1.0, data=np.ones((3, 1, 1, 4)), name="w"), None],
                [Tensor((1, 1, 1, 3), "int8", 1.0)], CONVOLUTION), "input 1 'w' of int2"),
        (one_op("QUANTIZE", [Tensor((2,), "float32")], [Tensor((2,), "int4", 1.0, name="q")]), "output 0 'q' of int4"),
    ],
)  # fmt: skip
def test_tables_that_no_kernel_reads_are_refused(content: bytes, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        imported(content)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("w", "message"),
    [
        (in_blocks(size=3), "the block size must divide the rows of its shape [3, 4], got 3"),
        (in_blocks(size=0), "must divide the rows of its shape [3, 4], got 0"),
        (in_blocks(size=-2), "must divide the rows of its shape [3, 4], got -2"),
        (in_blocks(size=4), "its scales must be 3 numbers of float16, got float16 of shape (3, 2)"),
        (in_blocks(steps=((1, 1), (1, 0), (1, 1))), "its scales must be positive finite numbers, but one is not"),
        (in_blocks(steps=((1, 1), (1, np.nan), (1, 1))), "its scales must be positive finite numbers, but one is not"),
        (in_blocks(steps=((1, 1), (1, np.inf), (1, 1))), "its scales must be positive finite numbers, but one is not"),
        (in_blocks(block_zero_points=1), "its blocks must not have zero points, got those in tensor 1"),
        (table(block_scales=Tensor((3, 2), "float32", data=np.ones((3, 2))), block_size=2),
         "its scales must be 6 numbers of float16, got float32 of shape (3, 2)"),
        (table(block_scales=Tensor((3, 2), "float16", name="s"), block_size=2), "must have data, but have none"),
    ],
)  # fmt: skip
def test_wrong_blocks_are_errors(w: Tensor, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        read(lookup(w))
    assert message in str(caught.value)


# -- weights in blocks -------------------------------------------------------------------------------------------------


def weights_in_blocks(size: int = 32, units: int = 3, blocks: int = 2, **others: Any) -> Tensor:
    """Weights whose scales are powers of two, so that every step of the product is exact."""
    values = np.arange(units * blocks * size).reshape(units, -1) % 15 - 7
    steps = np.float16(2.0 ** -np.arange(units * blocks).reshape(units, blocks))
    scales = Tensor(steps.shape, "float16", data=steps, name="s")
    return Tensor(values.shape, "int4", data=values, block_scales=scales, block_size=size, name="w", **others)


def product_in_blocks(w: Tensor, *, dtype: str = "float32", activation: str = "NONE", **given: Any) -> bytes:
    scale = None if dtype == "float32" else 1.0
    x = Tensor((2, w.shape[1]), dtype, scale, name="x", **given)  # type: ignore[index]
    y = Tensor((2, w.shape[0]), dtype, scale)  # type: ignore[index]
    bias = Tensor((w.shape[0],), "float32", data=np.arange(w.shape[0])) if scale is None else None  # type: ignore[index]
    options = {"fused_activation_function": activation, "keep_num_dims": False}
    return one_op("FULLY_CONNECTED", [x, w, bias], [y], options, version=13)


def exact_product(x: np.ndarray, w: Tensor) -> np.ndarray:
    steps = np.repeat(np.float64(w.block_scales.data), w.block_size, axis=1)  # type: ignore[union-attr]
    return x.astype(np.float64) @ (np.float64(w.data) * steps).T + np.arange(len(steps))


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_products_of_weights_in_blocks(rows: int) -> None:
    """The range of each row is 255 steps of 1, which represent its integers exactly. The batch is open."""
    w = weights_in_blocks()
    x = np.random.default_rng(0).integers(-128, 128, (rows, 64)).astype(np.float32)
    x[:, :2] = -128, 127
    result = result_of(product_in_blocks(w, signature=(-1, 64)), "litert", x)
    assert np.allclose(result, exact_product(x, w), rtol=1e-6)


def test_scales_of_blocks_have_8_bits() -> None:
    """As in XNNPACK, which rounds them to bfloat16: 1 + 2^-8 becomes 1, and 1 + 3 * 2^-8 becomes 1 + 2^-6."""
    w = Tensor((1, 64), "int4", data=np.ones((1, 64)), block_size=32, name="w",
               block_scales=Tensor((1, 2), "float16", data=[1 + 2.0**-8, 1 + 3 * 2.0**-8]))  # fmt: skip
    x = np.zeros((2, 64), np.float32)
    x[0, 0] = x[1, 32] = 255  # a range of 255 steps of 1
    result = result_of(product_in_blocks(w), "litert", x)
    assert np.allclose(result, [[255], [255 * (1 + 2.0**-6)]], rtol=1e-6)


def test_weights_in_blocks_keep_their_element_type() -> None:
    assert "tensor<2x32x3xi4>" in str(imported(product_in_blocks(weights_in_blocks())))


def test_weights_in_blocks_become_floats_for_quantization() -> None:
    w = weights_in_blocks()
    module = import_model(read(product_in_blocks(w)), for_kernels(PROFILES["litert"]))
    x = np.random.default_rng(0).normal(size=(2, 64)).astype(np.float32)
    assert np.allclose(qrt.compile(module)(x), exact_product(x, w), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("content", "profile", "message"),
    [
        (product_in_blocks(weights_in_blocks(16)), "litert", "in blocks of 16, expected a multiple of 32"),
        (product_in_blocks(weights_in_blocks()), "litert-ref", "which LiteRT's own kernels compute as 0"),
        (
            product_in_blocks(weights_in_blocks(), activation="TANH"),
            "litert",
            "which LiteRT's own kernels compute as 0",
        ),
        (product_in_blocks(weights_in_blocks(), dtype="int8"), "litert", "int8 with weights in blocks"),
    ],
)
def test_products_in_blocks_without_a_kernel_are_refused(content: bytes, profile: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        imported(content, profile)


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_types_of_later_schemas_are_named(dtype: str) -> None:
    content = one_op("CAST", [Tensor((2,), dtype, data=bytes(2))], [Tensor((2,), "float32")])
    with pytest.raises(ModelError, match=rf"CAST \({dtype}\)"):
        imported(content)

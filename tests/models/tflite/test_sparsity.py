"""Sparse constants. Hazards: levels that lead outside the tensor or place two elements at one position; a dense size
that takes memory without bound; an operator that would read the stored elements as dense ones."""

from dataclasses import replace

import numpy as np
import pytest

from qrt.errors import ModelError
from qrt.models.profiles import PROFILES
from qrt.models.tflite import model
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from qrt.ops.core import Array
from qrt.runtime.compilation import compile
from tests.models.tflite.sparsity import sparse
from tests.models.tflite.writing import Dimension, Operator, Sparsity, Subgraph, Tensor, one_op, write

ROWS = Sparsity([0, 1], [], [Dimension(2), Dimension(0, [0, 2, 3], [0, 3, 2])])
"""The levels of [[1, 0, 0, 2], [0, 0, 3, 0]]."""


def densified(w: Tensor) -> bytes:
    """A model that adds a sparse constant, made dense, to an input."""
    dense, x, y = (Tensor(w.shape, w.dtype, w.scales) for _ in range(3))
    densify = Operator("DENSIFY", [w], [dense])
    return write([Subgraph([x], [y], [densify, Operator("ADD", [x, dense], [y], {"pot_scale_int16": False})])])


def constant(sparsity: Sparsity = ROWS, shape: tuple[int, ...] = (2, 4), data: object = (1, 2, 3)) -> Tensor:
    return Tensor(shape, "float32", data=data, sparsity=sparsity, name="w")


def constant_of(content: bytes) -> tuple[model.Tensor, Array]:
    """Return the tensor "w" as it is read, and its elements."""
    (w,) = (tensor for tensor in read(content).subgraphs[0].tensors if tensor.name == "w")
    assert w.data is not None
    return w, w.data


def test_elements_that_are_not_stored_are_zero() -> None:
    w, data = constant_of(densified(constant()))
    assert data.tolist() == [[1, 0, 0, 2], [0, 0, 3, 0]]
    assert w.blocks == (1, 1)
    assert not data.flags.writeable


@pytest.mark.parametrize("dtype", ["Int32", "Uint16", "Uint8"])
@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
@pytest.mark.parametrize("blocks", [[1, 1, 1], [1, 2, 4], [3, 1, 1]])
@pytest.mark.parametrize("axes", [[], [2], [0, 1, 2]])
def test_levels_in_any_order(dtype: str, order: list[int], blocks: list[int], axes: list[int]) -> None:
    rng = np.random.default_rng(0)
    dense = rng.integers(-3, 4, (3, 4, 8)).astype(np.float32) * (rng.random((3, 4, 8)) < 0.3)
    stored, sparsity = sparse(dense, axes, blocks, order, dtype)
    result = compile(import_model(read(densified(constant(sparsity, dense.shape, stored))), PROFILES["litert"]))
    assert np.array_equal(result(np.zeros(dense.shape, np.float32)), dense)


def test_zeros_of_integers_have_the_storage_zero() -> None:
    """As in LiteRT, whatever the zero point is."""
    w = Tensor((2, 4), "int8", 0.5, 5, data=[1, 2, 3], sparsity=ROWS, name="w")
    assert constant_of(densified(w))[1].tolist() == [[1, 0, 0, 2], [0, 0, 3, 0]]


def levels(*dimensions: Dimension, order: tuple[int, ...] = (0, 1), blocks: tuple[int, ...] = ()) -> Sparsity:
    return Sparsity(order, blocks, dimensions)


@pytest.mark.parametrize(
    ("sparsity", "message"),
    [
        (Sparsity(), r"traversal_order must have each number from 0 to 1 once, and dim_metadata 2 entries \(2 axes"),
        (levels(Dimension(2), Dimension(4), order=(0, 0)), "traversal_order must have each number from 0 to 1"),
        (levels(Dimension(2), order=(0, 1)), "traversal_order must have each number from 0 to 1 once, and"),
        (levels(Dimension(3), Dimension(4)), r"level 0 must have 2 positions \(dense_size\), got 3"),
        (levels(Dimension(-2), Dimension(4)), r"level 0 must have 2 positions \(dense_size\), got -2"),
        (levels(*[Dimension(2)] * 3, order=(0, 1, 2), blocks=(2,)), "block_map must have different axes from 0 to"),
        (levels(*[Dimension(1)] * 4, order=(0, 1, 2, 3), blocks=(1, 1)), "block_map must have different axes from"),
        (levels(*[Dimension(3)] * 3, order=(0, 1, 2), blocks=(1,)), r"the block sizes must divide its shape \[2"),
        (levels(*[Dimension(0)] * 3, order=(0, 1, 2), blocks=(1,)), r"the block sizes must divide its shape \[2"),
        (levels(Dimension(2), Dimension(0, [0, 2], [0, 3])), "level 1 must have 3 values in array_segments, got 2"),
        (levels(Dimension(2), Dimension(0, [0, 2, 3], [0, 3, 4])), "the indices of level 1 must be from 0 to 3"),
        (
            levels(Dimension(2), Dimension(0, [0, 2, 3], [0, -1, 2])),
            "the indices of level 1 must be from 0 to 3, got -1",
        ),
        (levels(Dimension(2), Dimension(0, [0, 4, 3], [0, 3, 2])), "array_segments of level 1 must rise from 0 to"),
        (levels(Dimension(2), Dimension(0, [1, 2, 3], [0, 3, 2])), "array_segments of level 1 must rise from 0 to"),
        (levels(Dimension(2), Dimension(0, [0, 2, 4], [0, 3, 2])), "array_segments of level 1 must rise from 0 to"),
        (levels(Dimension(2), Dimension(0, [0, 2, 3], [1, 1, 2])), "every stored element must have its own"),
        (levels(Dimension(2), Dimension(4)), r"its data \(buffer 1\) must have 32 bytes for 8 elements of float32"),
    ],
)
def test_wrong_levels_are_errors(sparsity: Sparsity, message: str) -> None:
    with pytest.raises(ModelError, match=f"tensor [0-9] 'w': .*{message}"):
        read(densified(constant(sparsity)))


def test_a_sparse_tensor_without_data_is_an_error() -> None:
    with pytest.raises(ModelError, match="'w': a sparse tensor must be constant, but this one has no data"):
        read(densified(constant(data=None)))


def test_the_dense_size_is_bounded() -> None:
    """A file of a few bytes declares a gigabyte, or many tensors of which each is small."""
    wide = Sparsity([0], [], [Dimension(0, [0, 1], [5])])
    content = densified(replace(constant(wide, (1 << 28,), [1]), dtype="int8", scales=0.5))
    with pytest.raises(
        ModelError,
        match=r"'w': as dense arrays, this sparse tensor and those before it take more than the limit of 1000000 ",
    ):
        read(content, max_bytes=1_000_000)
    pair = [Tensor((1 << 19,), "int8", 0.5, data=[1], sparsity=wide, name=name) for name in "wv"]
    content = one_op("CONCATENATION", pair, [Tensor((1 << 20,), "int8", 0.5)], {"axis": 0})
    with pytest.raises(ModelError, match="'v': as dense arrays, this sparse tensor"):
        read(content, max_bytes=(1 << 20) - 1)


def product(w: Tensor, dtype: str = "float32", scale: float | None = None) -> bytes:
    units, depth = w.shape or ()
    x, y = Tensor((2, depth), dtype, scale), Tensor((2, units), dtype, scale)
    return one_op("FULLY_CONNECTED", [x, w, None], [y], {"keep_num_dims": False}, version=8)


INTEGERS = Tensor((2, 4), "int8", 0.5, data=[1, 2, 3], sparsity=ROWS, name="w")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (one_op("ADD", [Tensor((2, 4), "float32"), constant()], [Tensor((2, 4), "float32")]),
         r"ADD \(sparse input 1 'w', without a DENSIFY before it\)"),
        (one_op("FULLY_CONNECTED", [constant(), Tensor((3, 4), "float32", data=np.zeros((3, 4))), None],
                [Tensor((2, 3), "float32")]), "sparse input 0 'w', without a DENSIFY"),
        (product(INTEGERS, "int8", 0.5), "sparse weights that are not stored in blocks of 16 elements of a row"),
        (product(INTEGERS), "float32 with sparse weights of int8, which LiteRT reads as dense ones"),
        (densified(replace(INTEGERS, dtype="int16")), r"DENSIFY \(int16\)"),
        (one_op("DENSIFY", [Tensor((2,), "float32", name="x")], [Tensor((2,), "float32")]), "be a sparse constant"),
        (one_op("DENSIFY", [Tensor((2,), "float32", data=[1, 2], name="x")], [Tensor((2,), "float32")]),
         "its input 'x' must be a sparse constant, but is dense or not constant"),
        (one_op("DENSIFY", [constant()], [Tensor((4, 2), "float32")]), r"its result must have the shape of its input"),
        (one_op("DENSIFY", [constant()], [Tensor((2, 4), "float16")]), "its result must have the type of its"),
    ],
)  # fmt: skip
def test_operators_that_cannot_read_it_are_refused(content: bytes, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        import_model(read(content), PROFILES["litert"])


def test_sparse_weights_are_those_of_fully_connected() -> None:
    program = compile(import_model(read(product(constant())), PROFILES["litert"]))
    assert program(np.float32([[1, 2, 3, 4], [0, 0, 1, 0]])).tolist() == [[9, 9], [0, 3]]

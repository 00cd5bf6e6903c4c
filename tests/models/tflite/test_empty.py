"""Tensors with a dimension of 0. Hazards: a division by a number of elements; a kernel that reads a first element; a
result with another shape; a reduction of no elements, which has no value."""

from typing import Any

import numpy as np
import pytest

import qrt
from qrt.errors import ModelError
from qrt.models.profiles import PROFILES
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from tests.models.tflite.oracle import PROFILES as NAMES
from tests.models.tflite.writing import Tensor, one_op

WINDOW = {"padding": "VALID", "stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1}
POOL = {"padding": "VALID", "stride_h": 1, "stride_w": 1, "filter_height": 2, "filter_width": 2}
MASKS = dict.fromkeys(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0)


def ints(*values: int) -> Tensor:
    return Tensor((len(values),), "int32", data=np.array(values, np.int32))


def like(dtype: str, *shape: int) -> Tensor:
    return Tensor(shape, dtype, None if dtype == "float32" else 0.5, 0 if dtype == "float32" else 3)


def weights(dtype: str, *shape: int) -> Tensor:
    return Tensor(shape, dtype, None if dtype == "float32" else 0.5, data=np.ones(shape))


def bias(dtype: str, size: int) -> Tensor:
    is_float = dtype == "float32"
    return Tensor((size,), dtype if is_float else "int32", None if is_float else 0.25, data=np.ones(size))


def forms(dtype: str) -> dict[str, tuple[list[Tensor | None], list[tuple[int, ...]], dict[str, Any]]]:
    """Operands, shapes of the results and options by operator."""
    rows, many = like(dtype, 0, 4), like(dtype, 3, 4)
    return {
        "ADD": ([rows, like(dtype, 1, 4)], [(0, 4)], {"pot_scale_int16": False}),
        "MUL": ([like(dtype, 2, 0), like(dtype, 2, 0)], [(2, 0)], {}),
        "MAXIMUM": ([rows, rows], [(0, 4)], {}),
        "RELU": ([rows], [(0, 4)], {}),
        "LOGISTIC": ([like("float32", 0, 4)], [(0, 4)], {}),
        "SOFTMAX": ([like("float32", 0, 4)], [(0, 4)], {"beta": 1.0}),
        "FULLY_CONNECTED": ([rows, weights(dtype, 3, 4), bias(dtype, 3)], [(0, 3)], {}),
        "CONV_2D": ([like(dtype, 0, 4, 4, 2), weights(dtype, 3, 2, 2, 2), bias(dtype, 3)], [(0, 3, 3, 3)], WINDOW),
        "DEPTHWISE_CONV_2D": (
            [like(dtype, 0, 4, 4, 3), weights(dtype, 1, 2, 2, 3), bias(dtype, 3)],
            [(0, 3, 3, 3)],
            {**WINDOW, "depth_multiplier": 1},
        ),
        "TRANSPOSE_CONV": (
            [ints(0, 5, 5, 3), weights(dtype, 3, 2, 2, 2), like(dtype, 0, 4, 4, 2), None],
            [(0, 5, 5, 3)],
            {"padding": "VALID", "stride_h": 1, "stride_w": 1},
        ),
        "AVERAGE_POOL_2D": ([like(dtype, 0, 4, 4, 2)], [(0, 3, 3, 2)], POOL),
        "MAX_POOL_2D": ([like(dtype, 0, 4, 4, 2)], [(0, 3, 3, 2)], POOL),
        "RESIZE_BILINEAR": ([like(dtype, 0, 2, 2, 1), ints(4, 4)], [(0, 4, 4, 1)], {}),
        "BATCH_MATMUL": ([like(dtype, 1, 0, 2), like(dtype, 1, 2, 4)], [(1, 0, 4)], {}),
        "MEAN": ([rows, ints(1)], [(0,)], {"keep_dims": False}),
        "REDUCE_MAX": ([rows, ints(1)], [(0,)], {"keep_dims": False}),
        "CONCATENATION": ([like(dtype, 2, 0), like(dtype, 2, 0)], [(2, 0)], {"axis": 1}),
        "RESHAPE": ([rows, ints(-1, 2)], [(0, 2)], {"new_shape": [-1, 2]}),
        "TRANSPOSE": ([rows, ints(1, 0)], [(4, 0)], {}),
        "SLICE": ([many, ints(1, 0), ints(0, 4)], [(0, 4)], {}),
        "STRIDED_SLICE": ([many, ints(1, 0), ints(1, 4), ints(1, 1)], [(0, 4)], MASKS),
        "SPLIT_V": ([many, ints(0, 3), Tensor((), "int32", data=0)], [(0, 4), (3, 4)], {"num_splits": 2}),
        "GATHER": ([many, Tensor((0,), "int32")], [(0, 4)], {"axis": 0}),
        "TILE": ([many, ints(0, 1)], [(0, 4)], {}),
        "PACK": ([rows, rows], [(2, 0, 4)], {"axis": 0, "values_count": 2}),
        "BROADCAST_TO": ([like(dtype, 1, 4), ints(0, 4)], [(0, 4)], {}),
    }


NAMED = [(dtype, name) for dtype in ("float32", "int8") for name in forms(dtype)]


@pytest.mark.parametrize("profile", NAMES)
@pytest.mark.parametrize(("dtype", "name"), NAMED)
def test_results_are_empty(dtype: str, name: str, profile: str) -> None:
    """By kernels and by the plain references, with the shapes of LiteRT."""
    inputs, shapes, options = forms(dtype)[name]
    kind = next(tensor.dtype for tensor in inputs[::-1] if tensor is not None and tensor.data is None)
    results = [like("float32" if kind == "int32" else kind, *shape) for shape in shapes]
    if kind == "int32":
        results = [like(dtype, *shape) for shape in shapes]
    program = qrt.compile(import_model(read(one_op(name, inputs, results, options)), PROFILES[profile]))
    given = [tensor for tensor in dict.fromkeys(inputs) if tensor is not None and tensor.data is None]
    arrays = {port.name: np.zeros(t.shape, t.dtype) for port, t in zip(program.inputs, given, strict=True)}  # type: ignore[arg-type]
    for interpret in (False, True):
        computed = program.run(arrays, interpret=interpret)
        assert [array.shape for array in computed.values()] == shapes


def test_an_empty_part_moves_nothing() -> None:
    x, nothing, y = (Tensor(shape, "float32") for shape in ((2, 2), (2, 0), (2, 2)))
    program = qrt.compile(
        import_model(read(one_op("CONCATENATION", [nothing, x], [y], {"axis": 1})), PROFILES["litert"])
    )
    assert program(np.zeros((2, 0), np.float32), np.float32([[1, 2], [3, 4]])).tolist() == [[1, 2], [3, 4]]


def test_a_sum_of_no_terms_is_zero() -> None:
    content = one_op("SUM", [Tensor((2, 0), "float32"), ints(1)], [Tensor((2,), "float32")], {"keep_dims": False})
    for profile in NAMES:
        assert qrt.compile(import_model(read(content), PROFILES[profile]))(np.zeros((2, 0), np.float32)).tolist() == [
            0,
            0,
        ]


@pytest.mark.parametrize("name", ["MEAN", "REDUCE_MAX", "REDUCE_MIN"])
def test_no_elements_have_no_mean_or_extreme(name: str) -> None:
    x, y = like("int8", 2, 0), like("int8", 2)
    with pytest.raises(ModelError, match=f"{name}: .*must have elements along axis 1, which is reduced, got size 0"):
        import_model(read(one_op(name, [x, ints(1)], [y], {"keep_dims": False})), PROFILES["litert"])


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_products_of_no_terms_are_refused(dtype: str) -> None:
    content = one_op("FULLY_CONNECTED", [like(dtype, 2, 0), weights(dtype, 3, 0), bias(dtype, 3)], [like(dtype, 2, 3)])
    with pytest.raises(ModelError, match="weights of depth 0, for which LiteRT ignores the bias"):
        import_model(read(content), PROFILES["litert"])


def test_a_result_that_is_declared_as_empty_is_not_computed_by_xnnpack() -> None:
    x, y = Tensor((1, 2, 8, 2), "int8", 0.5), Tensor((0, 9, 28, 2), "int8", 0.5)
    content = one_op("RESIZE_BILINEAR", [x, Tensor((2,), "int32", data=[9, 28])], [y])
    import_model(read(content), PROFILES["litert-ref"])
    with pytest.raises(
        ModelError, match=r"the result 't2' declared as \[0, 9, 28, 2\], with which LiteRT does not use"
    ):
        import_model(read(content), PROFILES["litert"])

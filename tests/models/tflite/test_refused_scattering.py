"""Wrong and unsupported forms of operators that scatter, compare and sum: each is one ModelError that names file,
operator and form. Hazards: positions beyond a tensor, sizes that do not match, scales that LiteRT cannot compare.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import qrt
from qrt.models.profiles import profile
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from tests.models.tflite.writing import Operator, Subgraph, Tensor, one_op, write


def f32(*shape: int) -> Tensor:
    return Tensor(shape, "float32")


def ints(values: Any) -> Tensor:
    return Tensor(np.shape(values), "int32", data=values)


def byte(*shape: int, scale: float = 0.5) -> Tensor:
    return Tensor(shape, "int8", scale, 3)


def scattered(indices: Tensor, updates: Tensor, shape: Any = (4,), out: Tensor | None = None) -> bytes:
    return one_op("SCATTER_ND", [indices, updates, ints(shape)], [out or f32(4)])


def composite(subgraph: int) -> bytes:
    options = {"name": "c", "decomposition_subgraph_index": subgraph}
    x, y = f32(4), f32(4)
    return write([Subgraph([x], [y], [Operator("STABLEHLO_COMPOSITE", [x], [y], options)])])


CASES: dict[str, tuple[Callable[[], bytes], str]] = {
    "a comparison of unlike dtypes": (
        lambda: one_op("LESS", [byte(4), Tensor((4,), "uint8", 0.5)], [Tensor((4,), "bool")]),
        "operator 0 LESS: its inputs must have the same type, got int8 and uint8",
    ),
    "a comparison of large scales": (
        lambda: one_op("LESS", [byte(4), byte(4, scale=1.5)], [Tensor((4,), "bool")]),
        r"operator 0 LESS: the scale of tensor 't1' must be below 1, got 1\.5",
    ),
    "a position beyond the tensor": (
        lambda: scattered(ints([[1], [4]]), f32(2)), r"operator 0 SCATTER_ND: index 4 is out of bounds of the"
    ),
    "indices of several axes": (
        lambda: scattered(ints([[1, 0], [2, 0]]), f32(2)), r"the last dimension of the indices must be from 1 to 1"
    ),
    "updates of another shape": (
        lambda: scattered(ints([[1], [2]]), f32(3)), r"operator 0 SCATTER_ND: scatter_nd: "
            r"'updates' must have the shape \[2\], got \[3\]"
    ),
    "the shape of the": (lambda: scattered(ints([[1], [2]]), f32(2), (-5,)), r"the shape of the result must have"),
    "truth values": (
        lambda: scattered(ints([[1]]), Tensor((1,), "bool"), out=Tensor((4,), "bool")), r"SCATTER_ND \(bool\)"
    ),
    "values without positions": (
        lambda: one_op("SPARSE_TO_DENSE", [ints([1, 2]), ints([4]), f32(3), f32()], [f32(4)]),
        r"SPARSE_TO_DENSE: for a result of shape \[4\], indices must have the shape \[N, 1\] and values \[N\] or",
    ),
    "a default of another dtype": (
        lambda: one_op("SPARSE_TO_DENSE", [ints([1, 2]), ints([4]), f32(2), ints(1)], [f32(4)]),
        r"SPARSE_TO_DENSE \(float32 on int32\)",
    ),
    "a part that is too large": (
        lambda: one_op("DYNAMIC_UPDATE_SLICE", [f32(4), f32(5), ints([0])], [f32(4)]),
        r"DYNAMIC_UPDATE_SLICE: the update must not be larger than the input, of shape \[4\], along any axis, got",
    ),
    "a part of another rank": (
        lambda: one_op("DYNAMIC_UPDATE_SLICE", [f32(4), f32(2, 1), ints([0])], [f32(4)]),
        r"DYNAMIC_UPDATE_SLICE: for an input of shape \[4\], the update must have rank 1 and the index the shape",
    ),
    "a table whose rows have scales": (
        lambda: one_op("EMBEDDING_LOOKUP", [ints([0]), Tensor((2, 3), "int8", [0.5, 1], [0, 0])], [f32(1, 3)]),
        r"EMBEDDING_LOOKUP \(int8 of several scales, known only at run time\)",
    ),
    "a table with a zero point": (
        lambda: one_op("EMBEDDING_LOOKUP", [ints([0]), byte(2, 3)], [f32(1, 3)]),
        r"EMBEDDING_LOOKUP \(int8 with zero points other than 0 to float32\)",
    ),
    "an axis too far": (lambda: one_op("CUMSUM", [f32(4), ints(1)], [f32(4)]), "CUMSUM: the axis must be from -1"),
    "sums of bytes": (
        lambda: one_op("CUMSUM", [Tensor((4,), "int8"), ints(0)], [Tensor((4,), "int8")]), r"CUMSUM \(int8\)"
    ),
    "a product of quantized values": (
        lambda: one_op("REDUCE_PROD", [byte(4), ints([0])], [byte()]), r"REDUCE_PROD \(int8, int32\)"
    ),
    "bits of another width": (
        lambda: one_op("BITCAST", [f32(4)], [Tensor((4, 2), "int16")]), r"BITCAST \(float32 to int16\)"
    ),
    "a shift of floats": (lambda: one_op("RIGHT_SHIFT", [f32(4), f32(4)], [f32(4)]), r"RIGHT_SHIFT \(float32\)"),
    "angles of two shapes": (
        lambda: one_op("ATAN2", [f32(4), f32(1)], [f32(4)]), r"ATAN2: its inputs must have the same shape, got \(4,\)"
    ),
    "a composite of itself": (lambda: composite(0), "subgraphs must not call each other recursively, got the"),
    "a composite of nothing": (lambda: composite(7), "STABLEHLO_COMPOSITE: it calls subgraph 7, but the file has"),
    "random numbers": (
        lambda: one_op("RANDOM_UNIFORM", [ints([4])], [f32(4)]), r"RANDOM_UNIFORM \(int32\)"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_form_that_is_refused(name: str) -> None:
    content, message = CASES[name]
    with pytest.raises(qrt.errors.ModelError, match=message):
        import_model(read(content()), profile("litert"))


def test_a_position_that_the_run_has() -> None:
    program = qrt.compile(import_model(read(scattered(Tensor((1, 1), "int32"), f32(1))), profile("litert")))
    with pytest.raises(
        qrt.errors.ModelError,
        match=r"SCATTER_ND: .*less than the sizes \[4\] of the indexed axes of 'x', got 4",
    ):
        program(np.int32([[4]]), np.float32([1]))

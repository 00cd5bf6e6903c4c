"""EMBEDDING_LOOKUP_SPARSE. Hazards: cells without rows, indices out of range, indices of a cell that are apart."""

from typing import Any

import numpy as np
import pytest

from qrt.errors import ModelError
from tests.models.tflite.importing import refusal, result_of
from tests.models.tflite.writing import Tensor, one_op

TABLE = np.float32([[1, 2], [3, 4], [5, 6]])
IDS, WEIGHTS = np.int32([2, 0, 1]), np.float32([2, 3, 4])
SUM, MEAN, SQRTN = range(3)


def lookup(combiner: int = SUM, indices: Any = ((0, 0), (0, 2), (2, 1)), **kinds: Any) -> bytes:
    """A lookup of three rows of a table [3, 2] in a dense shape of 3 cells with 4 places each."""
    operands = {
        "ids": Tensor((3,), "int32"),
        "indices": Tensor((3, 2), "int32", data=indices),
        "shape": Tensor((2,), "int32", data=[3, 4]),
        "weights": Tensor((3,), "float32"),
        "table": Tensor((3, 2), "float32"),
        **kinds,
    }
    return one_op(
        "EMBEDDING_LOOKUP_SPARSE", list(operands.values()), [Tensor((3, 2), "float32")], {"combiner": combiner}
    )


@pytest.mark.parametrize("name", ["litert", "litert-ref"])
@pytest.mark.parametrize(
    ("combiner", "divisors"), [(SUM, (1, 1)), (MEAN, (5, 4)), (SQRTN, (np.sqrt(np.float32(13)), 4))]
)
def test_cells(name: str, combiner: int, divisors: tuple[float, float]) -> None:
    result = result_of(lookup(combiner), IDS, WEIGHTS, TABLE, name=name)
    wanted = np.float32([[13, 18], [0, 0], [12, 16]]) / np.float32([[divisors[0]], [1], [divisors[1]]])
    np.testing.assert_array_equal(result, wanted)


def test_indices_of_the_run() -> None:
    content = lookup(indices=None)
    places = np.int32([[0, 0], [1, 1], [0, 2]])
    np.testing.assert_array_equal(result_of(content, IDS, places, WEIGHTS, TABLE), [[22, 28], [3, 6], [0, 0]])
    with pytest.raises(ModelError, match=r"EMBEDDING_LOOKUP_SPARSE: .*(must be at least 0|out of bounds)"):
        result_of(content, IDS, np.int32([[3, 0], [1, 1], [0, 2]]), WEIGHTS, TABLE)
    with pytest.raises(ModelError, match=r"EMBEDDING_LOOKUP_SPARSE: .*(must be at least 0|out of bounds)"):
        result_of(content, np.int32([3, 0, 0]), places, WEIGHTS, TABLE)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "means of indices of the run": (
        {"combiner": MEAN, "indices": None},
        "combiner MEAN with indices known only at run",
    ),
    "indices of a cell that are apart": (
        {"combiner": SQRTN, "indices": [[0, 0], [1, 0], [0, 1]]},
        "combiner SQRTN with indices of a cell that do not follow one another",
    ),
    "an index out of range": ({"indices": [[0, 0], [3, 0], [0, 1]]}, "index 3 is out of bounds of the indexed axes"),
    "a shape of the run": (
        {"shape": Tensor((2,), "int32")},
        "EMBEDDING_LOOKUP_SPARSE (a dense shape known only at run",
    ),
    "a shape of one axis": ({"shape": Tensor((1,), "int32", data=[3])}, "R positive sizes in the dense shape"),
    "other weights": ({"weights": Tensor((2,), "float32")}, "ids and weights must have the shape [N]"),
    "a table of bytes": ({"table": Tensor((3, 2), "int8", 0.5)}, "(int32, int32, int32, float32, int8)"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused(case: str) -> None:
    given, message = REFUSED[case]
    assert message in refusal(lookup(**given))

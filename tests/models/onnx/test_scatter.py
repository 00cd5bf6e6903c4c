"""ScatterElements and ScatterND that combine elements with updates, with the results of ONNX Runtime 1.31.1.

Hazards: a NaN beside a number, zeros of either sign, several updates of one element, sums of bools, unsigned integers
beyond the signed ones, positions that are known and positions of the run, open sizes.
"""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from qrt.errors import QuantError
from tests.models.onnx.running import has_oracle, run, run_oracle
from tests.models.onnx.writing import model, node, port

POSITIONS = np.array([0, 1, 2, 2, 3, 4, 5, 1])
NAN = np.nan
FLOATS = [1, NAN, 3, 4, 0, -0.0], [NAN, 5, 7, 9, 2, -0.0, 0.0, 3]
INTEGERS = [100, 2, 200, 4, 0, 5], [200, 5, 100, 9, 2, 0, 0, 3]
BOOLS = [1, 1, 0, 1, 0, 0], [0, 1, 1, 1, 1, 0, 1, 1]
CASES: list[tuple[str, str, tuple[Any, Any], list[Any]]] = [
    *(("max", dtype, FLOATS, [NAN, 5, 9, 4, -0.0, 0.0]) for dtype in ("FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16")),
    *(("min", dtype, FLOATS, [NAN, 3, 3, 2, -0.0, 0.0]) for dtype in ("FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16")),
    ("mul", "FLOAT", FLOATS, [NAN, NAN, 189, 8, -0.0, -0.0]),
    *(("max", dtype, INTEGERS, [200, 5, 200, 4, 0, 5]) for dtype in ("UINT8", "UINT32", "INT16", "UINT64")),
    *(("min", dtype, INTEGERS, [100, 2, 9, 2, 0, 0]) for dtype in ("UINT8", "UINT16", "INT64", "UINT64")),
    ("mul", "UINT8", INTEGERS, [32, 30, 32, 8, 0, 0]),
    ("add", "BOOL", BOOLS, [1, 1, 1, 1, 0, 1]),
    ("mul", "BOOL", BOOLS, [0, 1, 0, 1, 0, 0]),
]
WITHOUT_KERNEL = {("ScatterND", "FLOAT16"), ("ScatterND", "BFLOAT16"), ("ScatterElements", "BFLOAT16")}


def _model(op: str, dtype: str, reduction: str, form: str, x: Any, updates: Any) -> tuple[bytes, dict[str, Any]]:
    """The model, and what a run gives it; its positions are known, known at run time, or of open sizes too."""
    at = POSITIONS[:, None] if op == "ScatterND" else POSITIONS
    given = {"x": x, "i": at, "u": updates}
    constants = {"i": given.pop("i")} if form == "known" else {}
    ports = [
        port(name, "INT64" if name == "i" else dtype, [f"{name}0", *array.shape[1:]] if form == "open" else array.shape)
        for name, array in given.items()
    ]
    made = node(op, ["x", "i", "u"], ["y"], reduction=reduction)
    return model([made], ports, [port("y", dtype)], constants, opset=18), given


@pytest.mark.parametrize("form", ["known", "run", "open"])
@pytest.mark.parametrize("op", ["ScatterElements", "ScatterND"])
@pytest.mark.parametrize(("reduction", "dtype", "operands", "wanted"), CASES)
def test_combined(op: str, form: str, reduction: str, dtype: str, operands: Any, wanted: Any) -> None:
    own = {"FLOAT": np.float32, "DOUBLE": np.float64, "BFLOAT16": ml_dtypes.bfloat16}.get(dtype) or dtype.lower()
    x, updates = (np.array(values, own) for values in operands)
    content, given = _model(op, dtype, reduction, form, x, updates)
    (result,) = run(content, **given)
    assert result.dtype == own
    assert np.array_equal(result.astype(np.float64), np.array(wanted, np.float64), equal_nan=True)
    assert np.signbit(result.astype(np.float64)[4:]).tolist() == np.signbit(np.array(wanted, np.float64)[4:]).tolist()
    if has_oracle() and (op, dtype) not in WITHOUT_KERNEL:
        assert result.tobytes() == run_oracle(content, given)[0].tobytes()


@pytest.mark.parametrize("form", ["run", "open"])
def test_a_position_out_of_range_is_an_error(form: str) -> None:
    content, given = _model("ScatterElements", "BOOL", "add", form, np.zeros(6, bool), np.ones(8, bool))
    with pytest.raises(QuantError, match="'indices' must be"):
        run(content, **{**given, "i": POSITIONS + 1})

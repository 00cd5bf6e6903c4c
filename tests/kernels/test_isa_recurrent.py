"""Softmax of rows of bytes, and sums of products of bytes, of every ISA against ref.

Hazards: rows that are longer than a kernel's buffer; quotients half way between two integers; scales with which the
quotients are infinite; sums of products past the parts that 32 bits hold; tails of sixteen values and of four rows."""

from typing import Any

import numpy as np
import pytest

from qrt._ext.kernels import bind_softmax, bind_svdf
from tests.kernels.draws import isas_by_rows
from tests.kernels.test_isa_elementwise import values

ISAS = [isa for isa in isas_by_rows("softmax_row", "svdf_step", "lstm_step") if isa != "ref"]


def agree(isa: str, bind: Any, given: dict[str, Any], *operands: Any) -> None:
    results = []
    for name in (isa, "ref"):
        call = bind(isa=name, **given)
        outs = [np.zeros(s, d) for s, d in zip(call.operand_shapes, call.operand_dtypes, strict=True)][len(operands) :]
        call(*operands, *outs)
        results.append(np.concatenate([out.ravel() for out in outs]))
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("storage", ["i8", "u8"])
def test_softmax(isa: str, storage: str) -> None:
    powers = (np.float32(2.0) ** -np.arange(256, dtype=np.float32)).astype(np.float32)
    tables = [powers, np.linspace(1, 0, 256, dtype=np.float32), np.ones(256, np.float32)]
    for table in tables:
        for n in (1, 7, 8, 9, 31, 32, 33, 255, 1023, 1024, 1025):
            for scale in (2.0**-8, 2.0**-9, 1.0, 2.0**-126, 2.0**100):
                given = {"name": "softmax", "rule": "table_float32", "storage": storage, "x_shape": (3, n), "axis": 1,
                         "out": "i8", "storage_min": -128, "storage_max": 127, "zero_point": -128, "scale": scale,
                         "table": table}  # fmt: skip
                agree(isa, bind_softmax, given, values(storage, 3, n))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("inputs", [1, 15, 16, 17, 16_383, 16_384, 16_385, 70_000])
def test_sums_of_products(isa: str, inputs: int) -> None:
    """All at their ends, where the sums are the largest."""
    for zero in (-128, 127, 3):
        for unit in (1, 4, 5):
            multiplier = (1 << 30, -17)
            given = {"batch": 1, "inputs": inputs, "units": unit, "rank": 1, "memory": 2, "has_bias": False,
                     "x_zero_point": zero, "result_zero_point": 1,
                     "multipliers": [multiplier, (1 << 30, -9)]}  # fmt: skip
            time, state = np.full((unit, 2), 77, np.int16), np.zeros((1, unit * 2), np.int16)
            for x in (np.full((1, inputs), 127, np.int8), np.full((1, inputs), -128, np.int8), values("i8", 1, inputs)):
                agree(isa, bind_svdf, given, x, values("i8", unit, inputs), time, state)
                agree(isa, bind_svdf, given, x, np.full((unit, inputs), -128, np.int8), time, state)

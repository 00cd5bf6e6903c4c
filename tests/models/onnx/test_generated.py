"""Drawn models of every form in `generated`, in qrt and in ONNX Runtime. Hazard: rules that agree on every model at
hand."""

import os
import re
from importlib.util import find_spec

import pytest

from qrt.models.engines.ort import OnnxRuntime
from tests.models.onnx.oracle import ELEMENTS_IN_TESTS, ROWS, Form, compared, forms
from tests.models.onnx.running import SATURATES, multiplies_exactly

pytestmark = [
    pytest.mark.skipif(find_spec("onnxruntime") is None, reason="onnxruntime is not installed"),
    pytest.mark.skipif(not os.environ.get("QRT_REQUIRE_ORACLE"), reason="it takes minutes: make test-oracle runs it"),
]


UINT8_BY_INT8 = re.compile(r".* uint8 by int8|QLinearConv of groups|QLinearConv, halves|DynamicQuantizeMatMul int8")


@pytest.mark.parametrize(("name", "form", "profile"), [pytest.param(*each, id=each[0]) for each in forms()])
def test_every_element_is_onnx_runtime_s(name: str, form: Form, profile: str, runtime: OnnxRuntime) -> None:
    if UINT8_BY_INT8.match(name) and not multiplies_exactly():
        pytest.skip(SATURATES)
    row = compared(name, form, profile, runtime, ELEMENTS_IN_TESTS)
    ROWS.append(row)
    assert not row.is_wrong, str(row)
    assert row.elements >= max(ELEMENTS_IN_TESTS, 1), f"too few elements in {row.cases} models: {row}"

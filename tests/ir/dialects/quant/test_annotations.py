"""Annotations of values. Hazards: an annotated program that computes something else; one that a pass merges with
another key; statistics of another shape than the channels they are of."""

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.errors import VerifyError
from qrt.ir import run_passes

T = "tensor<2x3xf32>"
LAYER = "layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>"


def program(name, attributes, type=T, result=None):
    result = result or type
    call = f'"quant.{name}"(%x) {{{attributes}}} : ({type}) -> {result}'
    return f"func.func @f(%x: {type}) -> {result} {{ %0 = {call}  return %0 : {result} }}"


def rows(*shape, axis):
    return f"{LAYER}, axis = {axis} : i64, axisStats = dense<0.0> : tensor<{'x'.join(map(str, shape))}xf32>"


@pytest.mark.parametrize(
    ("name", "attributes"),
    [("stats", LAYER), ("stats_ref", 'statsKey = "a"'), ("coupled_ref", 'coupledKey = "a"')],
)
def test_the_value_stays(name, attributes):
    text = program(name, attributes)
    x = np.float32([[1, np.nan, -0.0], [np.inf, 1e-40, 3]])
    compiled = qrt.compile(text)
    for found in (compiled(x), compiled.run({"arg0": x}, interpret=True)["result0"]):
        np.testing.assert_array_equal(found.view(np.uint32), x.view(np.uint32))
    assert compiled.coverage() == []
    assert str(run_passes(ir.parse(text), "canonicalize")) == str(ir.parse(text))
    assert "quant." not in str(run_passes(ir.parse(text.replace("return %0", "return %x")), "dce"))


def test_others_of_other_keys_stay():
    text = f"""func.func @f(%x: {T}) -> ({T}, {T}, {T}) {{
      %0 = "quant.stats_ref"(%x) {{statsKey = "a"}} : ({T}) -> {T}
      %1 = "quant.stats_ref"(%x) {{statsKey = "b"}} : ({T}) -> {T}
      %2 = "quant.stats_ref"(%x) {{statsKey = "a"}} : ({T}) -> {T}
      return %0, %1, %2 : {T}, {T}, {T}
    }}"""
    after = str(run_passes(ir.parse(text), "cse"))
    assert "return %0, %1, %0" in after
    assert [after.count(f'statsKey = "{key}"') for key in "ab"] == [1, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (program("stats", rows(3, 2, axis=0)), r"'axisStats' must have shape \[N, 2\]"),
        (program("stats", rows(2, 2, axis=1)), r"'axisStats' must have shape \[N, 2\]"),
        (program("stats", rows(6, axis=0)), r"'axisStats' must have shape \[N, 2\]"),
        (program("stats", rows(2, 3, axis=0), "tensor<?x3xf32>"), r"'axisStats' must have shape \[N, 2\]"),
        (program("stats", rows(3, 2, axis=-1)), "attribute 'axis' must be at least 0 and less than the rank of"),
        (program("stats_ref", "", T), "requires attribute 'statsKey'"),
        (program("stats_ref", 'statsKey = ""'), "'statsKey' must be a non-empty string"),
        (program("stats_ref", "statsKey = 1"), "'statsKey' must be a non-empty string"),
        (program("stats_ref", 'statsKey = "a", coupledKey = "a"'), "has no attribute 'coupledKey'"),
        (program("stats_ref", 'statsKey = "a"', "tensor<2xi8>"), "must be tensor of floating-point"),
        (program("stats_ref", 'statsKey = "a"', T, "tensor<3x2xf32>"), "requires the same type"),
        (program("coupled_ref", ""), "requires attribute 'coupledKey'"),
        (program("coupled_ref", 'coupledKey = ""'), "'coupledKey' must be a non-empty string"),
        (
            program("coupled_ref", 'coupledKey = "a"', "tensor<2xindex>"),
            "must be tensor of floating-point, quantized type or",
        ),
        (program("coupled_ref", 'coupledKey = "a"', "f32"), "must be tensor of floating-point, quantized type or"),
        (program("coupled_ref", 'coupledKey = "a"', T, "tensor<3x2xf32>"), "requires the same type"),
    ],
)
def test_refused(text, message):
    with pytest.raises(VerifyError, match=message):
        ir.parse(text).verify()


@pytest.mark.parametrize(
    "text",
    [
        program("stats", rows(2, 2, axis=0)),
        program("stats", rows(6, 2, axis=0)),
        program("stats", rows(3, 2, axis=1)),
        program("stats", rows(5, 2, axis=0), "tensor<?x3xf32>"),
        program("coupled_ref", 'coupledKey = "a"', "tensor<2xi8>"),
        program("coupled_ref", 'coupledKey = "a"', "tensor<2x!quant.any<i8>>"),
        program("coupled_ref", 'coupledKey = "a"', "tensor<*xbf16>"),
    ],
)
def test_accepted(text):
    ir.parse(text).verify()

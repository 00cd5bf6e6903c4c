"""Annotations that become specifications. Hazards: a port that takes what stands nearer to another; a rounding that is
lost although a float operation reads it; a region's own word that is overwritten; an annotation that vanishes unseen; a
range that no type can hold."""

from itertools import product

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.errors import VerifyError
from qrt.ir import run_passes
from qrt.ir.dialects.quant.port_stats import port_range
from qrt.ir.dialects.quant.region import RegionOp
from qrt.ir.pipeline import module_steps, run_steps
from qrt.quantization.annotations.boundary import joined
from qrt.types import FloatType, parse_type
from tests.expected import TESTS

FILES = TESTS / "ir" / "passes" / "files"
T = "tensor<2x4xf32>"
F32 = FloatType("f32")
Q, NARROW, COARSE = "!quant.uniform<i8:f32, 0.5:3>", "!quant.uniform<i4:f32, 0.5>", "!quant.uniform<i8:f32, 2.0>"
RANGE, OTHER_RANGE = "!quant.calibrated<f32<-1.0:1.0>>", "!quant.calibrated<f32<0.0:1.0>>"
ANY4, ANY8, NONE = "!quant.any<i4:f32>", "!quant.any<i8:f32>", "!quant.none<f32>"


def after(text, pipeline):
    """The program after a pipeline, and the remarks."""
    found = []
    module = run_steps(ir.parse(text, "f.mlir"), module_steps(pipeline), report=found.append)
    return module, [f"{remark.location.line}: {remark.message}" for remark in found]


def regions(module):
    return [op for op in module.operation.walk() if isinstance(op, RegionOp)]


def region(name, value, spec="f32", result="f32"):
    return f"""quant.region({value}) {{
  ^bb0(%a: {T}):
    quant.return %a : {T}
  }} {{input_specs = [{spec}], output_specs = [{result}], kernel = "{name}"}} : ({T}) -> {T}"""


def stats(value, low, high):
    return f'"quant.stats"({value}) {{layerStats = dense<[{low}, {high}]> : tensor<2xf32>}} : ({T}) -> {T}'


def function(*lines, result="%r"):
    return f"func.func @f(%x: {T}) -> {T} {{\n" + "\n".join(lines) + f"\nreturn {result} : {T}\n}}"


@pytest.mark.parametrize(
    ("own", "said", "expected"),
    [
        *(("f32", said, said) for said in (NONE, Q, RANGE, ANY8)),
        *((own, NONE, NONE) for own in ("bf16", Q, RANGE, ANY8)),
        *((NONE, said, NONE) for said in (Q, RANGE, ANY8)),
        *(("bf16", said, "bf16") for said in (Q, RANGE, ANY8)),
        *((Q, said, Q) for said in (COARSE, RANGE, ANY8)),
        (RANGE, Q, Q),
        (RANGE, OTHER_RANGE, RANGE),
        (RANGE, ANY4, ANY4),
        (ANY4, RANGE, ANY4),
        (ANY4, ANY8, ANY8),
        (ANY8, ANY4, ANY8),
        (ANY8, Q, Q),
        (ANY8, NARROW, ANY8),
        (ANY8, "!quant.uniform<i8<0:100>:f32, 0.5>", "!quant.uniform<i8<0:100>:f32, 0.5>"),
        ("!quant.any<i8<0:101>:f32>", "!quant.uniform<i8<0:100>:f32, 0.5>", "!quant.any<i8<0:101>:f32>"),
        ("!quant.any<i8<0:3>:f32>", NARROW, "!quant.any<i8<0:3>:f32>"),
        ("!quant.any<u8:f32>", Q, Q),
    ],
)
def test_what_a_port_is_known_to_be(own, said, expected):
    assert joined(parse_type(own), parse_type(said), F32) is parse_type(expected)


def test_joining_again_changes_nothing():
    specs = [parse_type(text) for text in ("f32", "bf16", Q, NARROW, COARSE, RANGE, OTHER_RANGE, ANY4, ANY8, NONE)]
    for own, said in product(specs, specs[2:]):
        once = joined(own, said, F32)
        assert joined(once, said, F32) is once


@pytest.mark.parametrize("name", ["convert_stats", "convert_fake_quant"])
def test_a_second_run_changes_nothing(name):
    once = ir.parse((FILES / f"{name}.expected.mlir").read_text())
    assert run_passes(ir.parse(str(once)), name.replace("_", "-")) == once


def test_values_stay_as_they_are():
    text = (FILES / "convert_stats.mlir").read_text()
    x = np.random.default_rng(0).standard_normal((2, 4)).astype(np.float32)
    for name in ("both_ends", "branches"):
        arguments = (x, np.int64(3)) if name == "branches" else (x,)
        before, later = (qrt.compile(ir.parse(text), name), qrt.compile(after(text, "convert-stats")[0], name))
        np.testing.assert_array_equal(before(*arguments), later(*arguments))


def test_a_removed_rounding_is_that_of_the_port():
    """What a fake quantization between regions computed, a cast at the port computes."""
    fake = f'"quant.const_fake_quant"(%x) {{min = -1.0 : f32, max = 3.0 : f32, num_bits = 6 : i64}} : ({T}) -> {T}'
    text = function(f"%0 = {fake}", f"%r = {region('k', '%0')}")
    module, remarks = after(text, "convert-fake-quant")
    (found,) = regions(module)
    assert remarks == []
    assert len(list(module.functions[0].regions[0].blocks[0])) == 2
    x = np.linspace(-2, 4, 8, dtype=np.float32).reshape(2, 4)
    np.testing.assert_array_equal(qrt.quantize(x, found.input_specs[0]).dequantize(), qrt.compile(text)(x))


def test_rounding_that_a_float_operation_reads_is_still_computed():
    text = (FILES / "convert_fake_quant.mlir").read_text()
    x, y = np.random.default_rng(0).standard_normal((2, 2, 4)).astype(np.float32)
    before, later = (
        qrt.compile(ir.parse(text), "read_outside"),
        qrt.compile(after(text, "convert-fake-quant")[0], "read_outside"),
    )
    kept = [0, 1, 3]  # result 2 is that of a region, at whose port another type contradicts the rounding
    for index in kept:
        np.testing.assert_array_equal(before(x, y)[index], later(x, y)[index])


def test_remarks_say_what_is_left_and_why():
    _, remarks = after((FILES / "convert_stats.mlir").read_text(), "convert-stats")
    assert remarks == [
        "25: k output 1 is !quant.calibrated<f32<0.000000e+00:1.000000e+00>>, but an annotation gives another type: "
        "!quant.calibrated<f32<-1.000000e+00:3.000000e+00>>",
        "35: is kept: no region defines or uses this value",
    ]
    _, remarks = after((FILES / "convert_fake_quant.mlir").read_text(), "convert-fake-quant")
    assert [line.partition(",")[0] for line in remarks] == [
        "35: k output 0 is !quant.none<f32>",
        "40: k input 0 is !quant.uniform<i8:f32",
        "33: is kept: operations outside of regions use this value too",
        "38: is kept: operations outside of regions use this value too",
        "43: is kept: no region defines or uses this value",
    ]


def test_the_nearest_of_several_is_that_of_the_port():
    text = function(
        f"%0 = {region('first', '%x')}",
        f"%1 = {stats('%0', -1.0, 1.0)}",
        f"%2 = {stats('%1', -2.0, 2.0)}",
        f"%3 = {stats('%2', -3.0, 3.0)}",
        f"%r = {region('last', '%3')}",
    )
    first, last = regions(after(text, "convert-stats")[0])
    assert (first.output_specs[0].max, last.input_specs[0].max) == (1.0, 3.0)


def test_ranges_of_channels_and_a_width_are_kept_beside_the_specification():
    (found, _) = regions(
        after((FILES / "convert_stats.mlir").read_text().replace("@both_ends", "@f"), "convert-stats")[0]
    )[2:4]
    calibrated, width, kept, decided = (port_range(found, port) for port in range(4))
    assert (calibrated.low, calibrated.high, calibrated.axis) == (width.low, width.high, width.axis) == (-1.0, 3.0, 1)
    np.testing.assert_array_equal(width.channels, [[-1, 0], [0, 3], [0, 1], [0, 2]])
    assert kept is decided is None


def test_ranges_of_slices_are_joined_by_channel():
    """Earlier versions wanted a row for each element from the axis on."""
    rows = [[-1.0, 1.0], [-2.0, 0.5], [0.0, 3.0], [0.0, 0.0], [4.0, 5.0], [6.0, 7.0], [5.0, 6.0], [1.0, 2.0]]
    attributes = (
        f"layerStats = dense<[-2.0, 7.0]> : tensor<2xf32>, axis = 0 : i64, axisStats = dense<{rows}> : tensor<8x2xf32>"
    )
    text = function(f'%0 = "quant.stats"(%x) {{{attributes}}} : ({T}) -> {T}', f"%r = {region('k', '%0')}")
    (found,) = regions(after(text, "convert-stats")[0])
    np.testing.assert_array_equal(port_range(found, 0).channels, [[-2, 3], [1, 7]])


@pytest.mark.parametrize(
    ("low", "high", "spec"),
    [
        (2.0, 2.0, "!quant.calibrated<f32<0.0:2.0>>"),
        (-2.0, -2.0, "!quant.calibrated<f32<-2.0:0.0>>"),
        (0.0, 0.0, "!quant.calibrated<f32<0.0:1.0>>"),
        (1.0, 2.0, "!quant.calibrated<f32<1.0:2.0>>"),
    ],
)
def test_a_range_of_one_number(low, high, spec):
    text = function(f"%0 = {stats('%x', low, high)}", f"%r = {region('k', '%0')}")
    (found,) = regions(after(text, "convert-stats")[0])
    assert found.input_specs == [parse_type(spec)]


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        ("1.0", "-1.0", "attribute 'layerStats' must have a finite minimum <= maximum, got 1 and -1"),
        ("0x7FC00000", "1.0", "attribute 'layerStats' must have a finite minimum <= maximum, got nan and 1"),
        ("0.0", "0x7F800000", "attribute 'layerStats' must have a finite minimum <= maximum, got 0 and inf"),
    ],
)
def test_a_range_that_is_none_is_an_error_with_a_place(low, high, message):
    text = function(f"%0 = {stats('%x', low, high)}", f"%r = {region('k', '%0')}")
    with pytest.raises(VerifyError, match=message) as caught:
        after(text, "convert-stats")
    assert caught.value.location.line == 2


@pytest.mark.parametrize(
    "value",
    [
        "1 : i64",
        "{input0 = 1 : i64}",
        "{input0 = {range = dense<0.0> : tensor<3xf64>}}",
        "{input0 = {range = 1 : i64}}",
    ],
)
def test_port_stats_that_say_nothing_are_refused(value):
    text = function(f"%r = {region('k', '%x')}").replace('kernel = "k"', f'kernel = "k", quant.port_stats = {value}')
    (found,) = regions(ir.parse(text))
    with pytest.raises(VerifyError, match=r"attribute 'quant.port_stats'"):
        port_range(found, 0)


def test_an_infinite_range_is_refused():
    """`!quant.calibrated` may have it."""
    infinite = "!quant.calibrated<f32<-1.0:0x7FF0000000000000>>"
    (found,) = regions(ir.parse(function(f"%r = {region('k', '%x', infinite)}")))
    with pytest.raises(VerifyError, match="must be finite"):
        port_range(found, 0)


PORT_STATS = "quant.port_stats = {input0 = {range = dense<[-9.0, 9.0]> : tensor<2xf64>}}"


def test_a_range_that_the_region_has_stays():
    text = function(f"%0 = {stats('%x', -1.0, 1.0)}", f"%r = {region('k', '%0', ANY8)}")
    (found,) = regions(after(text.replace('kernel = "k"', f'kernel = "k", {PORT_STATS}'), "convert-stats")[0])
    assert (port_range(found, 0).low, port_range(found, 0).high) == (-9.0, 9.0)


def test_a_port_that_is_decided_has_no_range():
    fake = f'"quant.const_fake_quant"(%x) {{min = -1.0 : f32, max = 3.0 : f32, num_bits = 8 : i64}} : ({T}) -> {T}'
    text = function(f"%0 = {fake}", f"%r = {region('k', '%0', ANY8)}")
    (found,) = regions(after(text.replace('kernel = "k"', f'kernel = "k", {PORT_STATS}'), "convert-fake-quant")[0])
    assert port_range(found, 0) is None
    assert "quant.port_stats" not in found.attributes


def test_a_range_counts_behind_a_rounding():
    text = function(
        f"%0 = {region('k', '%x')}",
        f"%1 = quant.qcast %0 : {T} to tensor<2x4x{Q}>",
        f"%2 = quant.dcast %1 : tensor<2x4x{Q}> to {T}",
        f"%r = {stats('%2', -1.0, 1.0)}",
    )
    module, remarks = after(text, "convert-stats")
    assert regions(module)[0].output_specs == [parse_type(RANGE)]
    assert remarks == []


def test_each_result_has_a_type_of_its_own():
    """The rounding of the second result is that of its port, and goes; the first port has another type."""
    two = f"""quant.region(%x) {{
    ^bb0(%a: {T}):
      quant.return %a, %a : {T}, {T}
    }} {{input_specs = [f32], output_specs = [{COARSE}, {Q}], kernel = "k"}} : ({T}) -> ({T}, {T})"""
    for index, is_left in ((0, True), (1, False)):
        text = function(
            f"%0:2 = {two}",
            f"%1 = quant.qcast %0#{index} : {T} to tensor<2x4x{Q}>",
            f"%r = quant.dcast %1 : tensor<2x4x{Q}> to {T}",
        )
        module, remarks = after(text, "convert-fake-quant")
        assert ("quant.dcast" in str(module)) is is_left
        assert any("an annotation gives another type" in remark for remark in remarks) is is_left

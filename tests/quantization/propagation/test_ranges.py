"""Hazards: an annotation that a record should replace and does not; a histogram of one value counted once for each
port; weights whose channels or blocks are mixed up.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrt
from qrt import ir
from qrt.errors import FileError, QuantError
from qrt.ir import run_passes
from qrt.quantization.calibration.records import Record
from qrt.quantization.propagation.layout import PortLayout
from qrt.quantization.propagation.propagate_quant import Settings
from qrt.quantization.targets.model import Target, TargetKernel, TargetPort
from tests.quantization.propagation.programs import A, T, constant, function, range_of, region, run

OUTLIER = Record(20000, 0.0, 100.0, {0x3F80: 19999, 0x42C8: 1})
PLAIN = Record(10, -3.0, 1.0)


def referred(key: str, output: str = range_of(-1, 1)) -> str:
    lines = [
        region("%0", "op", "%x", A, output),
        f'%1 = "quant.stats_ref"(%0) {{statsKey = "{key}"}} : ({T}) -> {T}',
        region("%2", "op", "%1", "f32", A),
    ]
    return function("%x", *lines)


def scale_of(text: str, settings: Settings) -> float:
    (_, out), (taken, _) = run(text, settings).of("op")
    assert out == taken
    return qrt.parse_type(out, kind=qrt.UniformType).scale


def test_a_record_comes_before_an_annotation_and_after_a_type() -> None:
    records = {"k": PLAIN}
    expected = qrt.UniformType.for_range(-3.0, 1.0).scale
    assert scale_of(referred("k"), Settings(records)) == expected
    assert scale_of(referred("k", "f32"), Settings(records)) == expected
    assert scale_of(referred("other"), Settings(records)) == qrt.UniformType.for_range(-1.0, 1.0).scale
    assert scale_of(referred("k", A), Settings(records)) == 0.5
    assert scale_of(referred("k", range_of(-9, 9)), Settings(records)) == expected


def test_methods_choose_from_the_histogram() -> None:
    whole, most = (qrt.UniformType.for_range(0.0, high).scale for high in (100.0, 1.0078125))
    assert scale_of(referred("k"), Settings({"k": OUTLIER})) == whole
    assert scale_of(referred("k"), Settings({"k": OUTLIER}, "percentile")) == most
    assert scale_of(referred("k"), Settings({"k": PLAIN}, "percentile")) == qrt.UniformType.for_range(-3.0, 1.0).scale


@pytest.mark.parametrize("order", ["abb", "bba", "bab"])
def test_histograms_of_a_class_are_added_each_once(order: str) -> None:
    """One value in 10,000 is left out of both together. A record counted twice would leave out two of its 20,001."""
    small = Record(20001, 0.0, 2.0, {0x3F80: 19999, 0x4000: 2})
    lines = []
    for n, key in enumerate(order):
        lines += [
            region(f"%{n}", "op", "%x", A, "f32"),
            f'%r{n} = "quant.stats_ref"(%{n}) {{statsKey = "{key}"}} : ({T}) -> {T}',
        ]
    lines.append(region("%j", "join", "%r0, %r1, %r2", "f32", "f32"))
    tail = Record(20000, 0.0, 2.0, {0x3F80: 20000})
    found = run(function("%x", *lines), Settings({"a": tail, "b": small}, "percentile")).of("join")[0][0]
    assert qrt.parse_type(found, kind=qrt.UniformType) == qrt.UniformType.for_range(0.0, 1.0078125)


def test_mse_is_for_constants_too_and_percentile_is_not() -> None:
    values = [*[0.01] * 2, 0.02, 1.0]
    text = function("%x", constant("%c", *values), region("%0", "op4", "%c", "f32", A))
    target = Target("t", (TargetKernel("op4", (TargetPort("w", "i4", -7, symmetric=True),), (TargetPort("y", "i8"),)),))
    scales = [
        qrt.parse_type(run(text, Settings(method=method), target).of("op4")[0][0], kind=qrt.UniformType).scale
        for method in ("minmax", "percentile", "mse")
    ]
    data = np.float32(values)
    assert scales[0] == scales[1] == qrt.UniformType.for_range(-1.0, 1.0, "i4", symmetric=True, narrow=True).scale
    assert scales[2] == qrt.quantize(data, bits=4, symmetric=True, narrow=True, method="mse").type.scale


@given(st.lists(st.sampled_from([1, 2, 3, 4, 6]), min_size=1, max_size=3), st.data())
def test_rows_are_the_values_that_share_a_scale(shape: list[int], data: st.DataObject) -> None:
    values = np.arange(np.prod(shape)).reshape(shape)
    if data.draw(st.booleans()):
        axis = data.draw(st.integers(0, len(shape) - 1))
        layout = PortLayout(tuple(shape), axis)
        expected = [np.take(values, n, axis).reshape(-1).tolist() for n in range(shape[axis])]
        assert layout.scales_shape == (shape[axis],)
    else:
        blocks = {
            d: data.draw(st.sampled_from([b for b in range(1, n + 1) if n % b == 0])) for d, n in enumerate(shape)
        }
        layout = PortLayout(tuple(shape), None, tuple(blocks.items()))
        counts = [n // blocks[d] for d, n in enumerate(shape)]
        assert layout.scales_shape == tuple(counts)
        expected = [
            values[tuple(slice(i * blocks[d], (i + 1) * blocks[d]) for d, i in enumerate(place))].reshape(-1).tolist()
            for place in np.ndindex(*counts)
        ]
    assert layout.rows(values).tolist() == expected


def test_a_range_beside_a_width_is_read() -> None:
    stats = f'%1 = "quant.stats"(%0) {{layerStats = dense<[-1.0, 3.0]> : tensor<2xf32>}} : ({T}) -> {T}'
    text = function("%x", region("%0", "op", "%x", A, "!quant.any<i8:f32>"), stats, returned="%1")
    result = run(text)
    assert result.of("op")[0][1] == str(qrt.UniformType.for_range(-1.0, 3.0))
    assert "port_stats" not in str(result.module)


def test_the_options_of_the_pass(tmp_path) -> None:
    text = referred("k")
    (tmp_path / "r.json").write_text('{"version": 1, "records": {"k": {"count": 1, "min": -3, "max": 1}}}')
    target = '[[kernel]]\nname = "op"\nports = {x = "i8", y = "i8"}\n'
    (tmp_path / "mine.toml").write_text(target)
    options = f"target={tmp_path / 'mine.toml'} records={tmp_path / 'r.json'} method=minmax max-widening=2"
    module = run_passes(ir.parse(text, "f.mlir"), f"propagate-quant{{{options}}}")
    assert str(qrt.UniformType.for_range(-3.0, 1.0)) in str(module)


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ("target=nothing", QuantError, "there is no target 'nothing'"),
        ("target=tflite records=missing.json", FileError, "missing.json"),
        ("target=tflite method=best", QuantError, "method must be one of minmax, mse, percentile, entropy, got 'best'"),
        ("target=tflite functions=share", QuantError, "functions must be one of inline, duplicate, got 'share'"),
        ("target=tflite max-widening=-1", QuantError, "max-widening must be at least 1, or 0 for the target's, got -1"),
    ],
)
def test_options_that_are_wrong(options: str, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        run_passes(ir.parse(referred("k"), "f.mlir"), f"propagate-quant{{{options}}}")


MATRIX = "tensor<64x3xf32>"
BLOCKS = TargetPort("w", "i4", -7, 7, blocks={0: 32, 1: 1}, symmetric=True)


def weighted(spec: str, *lines: str, weights: str = "%w") -> str:
    """A kernel whose second operand is a matrix, that of `%w` or an argument."""
    return (
        f"func.func @main(%x: {T}, %m: {MATRIX}) {{\n"
        f"%w = arith.constant dense<0.5> : {MATRIX}\n" + "".join(f"{line}\n" for line in lines) + f"%0 = quant.region"
        f" (%x, {weights}) {{ ^bb0(%a: {T}, %b: {MATRIX}): quant.return %a : {T} }} {{input_specs = [{A}, {spec}], "
        f'output_specs = [{A}], kernel = "weighted"}} : ({T}, {MATRIX}) -> {T}\nreturn }}'
    )


def weights_of(port: TargetPort, text: str) -> qrt.UniformType:
    device = Target("t", (TargetKernel("weighted", (TargetPort("x", "i8"), port), (TargetPort("y", "i8"),)),))
    return qrt.parse_type(run(text, target=device).of("weighted")[0][1], kind=qrt.UniformType)


def test_a_width_leaves_a_constant_its_channels_and_blocks() -> None:
    """What has only blocks has them whatever range is said, which says nothing of a block."""
    port = TargetPort("w", "i8", axis=1, symmetric=True)
    assert weights_of(port, weighted("!quant.any<i4:f32>")) is weights_of(port, weighted("f32"))
    assert weights_of(port, weighted("f32")).axis == 1
    expected = weights_of(BLOCKS, weighted("f32"))
    assert expected.is_sub_channel
    assert weights_of(BLOCKS, weighted("!quant.any<i4<-7:7>:f32>")) is expected
    assert weights_of(BLOCKS, weighted(range_of(-1, 1))) is expected


def test_ranges_of_channels_give_each_its_scale() -> None:
    """They do where the kernel has a scale for each along the same axis, of values that are no constant too."""
    ranges = "[[-1.0, 1.0], [0.5, 2.0], [0.0, 4.0]]"
    stats = (
        f'%s = "quant.stats"(%m) {{layerStats = dense<[-1.0, 4.0]> : tensor<2xf32>, axis = 1 : i64, '
        f"axisStats = dense<{ranges}> : tensor<3x2xf32>}} : ({MATRIX}) -> {MATRIX}"
    )
    text = weighted("f32", stats, weights="%s")
    found = weights_of(TargetPort("w", "i8", axis=1), text)
    assert found.axis == 1
    assert list(zip(found.scales, found.zero_points, strict=True)) == [
        (each.scale, each.zero_points[0])
        for each in (qrt.UniformType.for_range(low, high) for low, high in ((-1.0, 1.0), (0.0, 2.0), (0.0, 4.0)))
    ]
    assert weights_of(TargetPort("w", "i8"), text) is qrt.UniformType.for_range(-1.0, 4.0)
    assert weights_of(TargetPort("w", "i8", axis=0), text) is qrt.UniformType.for_range(-1.0, 4.0)


def test_statistics_that_are_read_do_not_stay() -> None:
    """The range of the value that a loop begins with counts, although no region is next to it."""
    loop = f"%r = scf.for %i = %c to %c step %c iter_args(%s = %1) -> ({T}) {{"
    stats = f'%1 = "quant.stats"(%x) {{layerStats = dense<[-1.0, 3.0]> : tensor<2xf32>}} : ({T}) -> {T}'
    inner = [region("%y", "op", "%s"), f"scf.yield %y : {T}", "}"]
    result = run(function("%x", "%c = arith.constant 1 : index", stats, loop, *inner, returned="%r"))
    assert result.of("op") == [[str(qrt.UniformType.for_range(-1.0, 3.0))] * 2]
    assert result.remarks == []
    alone = run(function("%x", stats, returned="%1"))
    assert ["is kept: no region defines or uses this value" in each.message for each in alone.remarks] == [True]


@pytest.mark.parametrize(("shape", "count"), [("0x3", 3), ("3x0", 1)])
def test_constants_without_values_have_types(shape: str, count: int) -> None:
    """A scale of 1 for each channel, or one scale where there is no channel."""
    text = weighted("f32").replace("64x3", shape)
    assert weights_of(TargetPort("w", "i8", axis=1), text).scales == (1.0,) * count

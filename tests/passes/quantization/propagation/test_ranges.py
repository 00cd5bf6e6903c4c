"""Hazards: an annotation that a record should replace and does not; a histogram of one value counted once for each
port; weights whose channels or blocks are mixed up.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrt
from qrt import ir
from qrt.calibrate.records import Record
from qrt.calibrate.targets.model import Kernel, Port, Target
from qrt.errors import FileError, QuantError
from qrt.passes import run_passes
from qrt.passes.quantization.propagate_quant import Settings
from qrt.passes.quantization.propagation.layout import PortLayout
from tests.passes.quantization.propagation.programs import A, T, constant, function, range_of, region, run

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
    target = Target("t", (Kernel("op4", (Port("w", "i4", -7, symmetric=True),), (Port("y", "i8"),)),))
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
        ("target=tflite method=best", QuantError, "method is one of minmax, mse, percentile, entropy, not 'best'"),
        ("target=tflite functions=share", QuantError, "functions is one of inline, duplicate, not 'share'"),
        ("target=tflite max-widening=0", QuantError, "max-widening is 1 or more, not 0"),
    ],
)
def test_options_that_are_wrong(options: str, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        run_passes(ir.parse(referred("k"), "f.mlir"), f"propagate-quant{{{options}}}")

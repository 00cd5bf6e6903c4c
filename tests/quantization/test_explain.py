"""Reports, by figures that are computed here with fractions. Hazards: the error of one region charged to another, a
report that depends on the split or the machine, a key that is matched with another value, a loss that is not said."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from math import floor, inf, log10
from typing import Any

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.errors import ModelError, QuantTypeError
from qrt.quantization.calibration.observe import calibrate_program
from qrt.quantization.explain import report_of
from qrt.quantization.export.export_quant import ExportQuant
from qrt.quantization.report import Report
from qrt.quantization.steps import Trial, copied, named, quantized
from qrt.quantization.targets.registry import find
from tests.quantization.workflow.programs import NETWORK, rows

FLOAT = """
func.func @main(%x: tensor<?x3xf32> {qrt.name = "x"}) -> (tensor<?x3xf32> {qrt.name = "y"}) {
  %0 = quant.region(%x, %x) {
  ^bb0(%a: tensor<?x3xf32>, %b: tensor<?x3xf32>):
    %s = arith.addf %a, %b : tensor<?x3xf32>
    quant.return %s : tensor<?x3xf32>
  } {input_specs = [f32, f32], output_specs = [f32], kernel = "add"} : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = quant.region(%0, %0) {
  ^bb0(%a: tensor<?x3xf32>, %b: tensor<?x3xf32>):
    %p = arith.mulf %a, %b : tensor<?x3xf32>
    quant.return %p : tensor<?x3xf32>
  } {input_specs = [f32, f32], output_specs = [f32], kernel = "mul"} : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}
"""  # noqa: E501
QUANTIZED = """
!x = !quant.uniform<i8:f32, 0.125>
!a = !quant.uniform<i8<-8:7>:f32, 0.5>
!m = !quant.uniform<i8:f32, 0.3125:-100>
module attributes {quant.target = "qrt-cpu"} {
  func.func @main(%x: tensor<?x3xf32> {qrt.name = "x"}) -> (tensor<?x3xf32> {qrt.name = "y"}) {
    %q = quant.qcast %x : tensor<?x3xf32> to tensor<?x3x!x>
    %0 = qrt.add %q, %q {quant.kernel = "add", quant.key = "main/add.0", quant.origins = ["values", "values", "said"]}
      : (tensor<?x3x!x>, tensor<?x3x!x>) -> tensor<?x3x!a>
    %1 = qrt.mul %0, %0 {quant.kernel = "mul", quant.key = "main/mul.0"}
      : (tensor<?x3x!a>, tensor<?x3x!a>) -> tensor<?x3x!m>
    %2 = quant.dcast %1 : tensor<?x3x!m> to tensor<?x3xf32>
    return %2 : tensor<?x3xf32>
  }
}
"""
X = (np.random.default_rng(5).integers(-160, 160, (40, 3)) / 64).astype(np.float32)
Number = Fraction


def quantize(value: Fraction, scale: Fraction, zero: int, low: int, high: int) -> Fraction:
    """What a float is as a quantized value, rounded half to even."""
    return (min(max(round(value / scale) + zero, low), high) - zero) * scale


def requantize(value: Fraction, scale: Fraction, zero: int, low: int, high: int) -> Fraction:
    """What an exact result is, rounded as `fixed` does: halves up."""
    return (min(max(floor(value / scale + Fraction(1, 2)) + zero, low), high) - zero) * scale


TYPE_X = (Fraction(1, 8), 0, -128, 127)
TYPE_A = (Fraction(1, 2), 0, -8, 7)
TYPE_M = (Fraction(5, 16), -100, -128, 127)


def add(x: Fraction) -> Fraction:
    return requantize(2 * quantize(x, *TYPE_X), *TYPE_A)


def mul(a: Fraction) -> Fraction:
    return requantize(quantize(a, *TYPE_A) ** 2, *TYPE_M)


def decibels(signal: Fraction, noise: Fraction) -> float:
    return 10 * log10(signal / noise) if noise else inf


def squares(values: Iterator[Fraction]) -> Fraction:
    return sum((v * v for v in values), Fraction(0))


def explained(quantized_text: str = QUANTIZED, data: Any = None, **options: Any) -> Report:
    given = {"x": X} if data is None else data
    return qrt.quantization.explain_program(
        ir.parse(quantized_text, "q.mlir"), ir.parse(FLOAT, "f.mlir"), given, **options
    )


def test_the_figures_are_those_of_fractions() -> None:
    report = explained()
    values = [Fraction(float(v)) for v in X.reshape(-1)]
    first, last = report["add.0"], report["mul.0"]
    sums = squares(2 * v for v in values)
    products = squares(4 * v * v for v in values)
    assert first.snr_alone == pytest.approx(decibels(sums, squares(add(v) - 2 * v for v in values)), abs=1e-9)
    assert first.snr == first.snr_alone  # no region comes before it
    assert last.snr_alone == pytest.approx(
        decibels(products, squares(mul(2 * v) - 4 * v * v for v in values)), abs=1e-9
    )
    accumulated = decibels(products, squares(mul(add(v)) - 4 * v * v for v in values))
    assert last.snr == pytest.approx(accumulated, abs=1e-9)
    assert last.snr != last.snr_alone

    outside = [v for v in values if not -8.5 <= 2 * v / Fraction(1, 2) <= 7.5]
    assert 0 < len(outside) < len(values)
    assert first.saturated == len(outside) / len(values)
    above = [v for v in values if not -128.5 <= 4 * v * v / Fraction(5, 16) - 100 <= 127.5]
    assert last.saturated == len(above) / len(values)
    codes = {add(v) / Fraction(1, 2) for v in values}
    assert first.unused_codes == 16 - len(codes)
    assert last.unused_codes == 256 - len({mul(add(v)) for v in values})

    by_add = squares(add(v) ** 2 - 4 * v * v for v in values)
    rounded = {v: quantize(2 * v, *TYPE_A) for v in values}
    by_mul = squares(mul(2 * v) - rounded[v] ** 2 for v in values)
    assert first.error_share == pytest.approx(float(by_add / (by_add + by_mul)), abs=1e-6)  # outputs are rounded to f32
    assert first.error_share + last.error_share == pytest.approx(1, abs=1e-12)
    assert list(report) == (["main/add.0", "main/mul.0"] if by_add > by_mul else ["main/mul.0", "main/add.0"])

    (output,) = report.outputs
    assert (output.name, output.snr) == ("y", last.snr)
    table = np.reshape(np.array([float(mul(add(v))) for v in values]), X.shape)
    assert output.same_answers == float(np.mean(table.argmax(1) == (4 * X * X).argmax(1)))
    assert (report.rows, report.sampled, report.target, report.function) == (40, 0, "qrt-cpu", "main")


def test_ports_say_types_ranges_origins_and_values() -> None:
    a, b, y = explained()["add.0"].ports
    assert (a.name, b.name, y.name, y.direction) == ("a", "b", "y", "output")
    assert (a.spec, a.origin, a.bits, a.codes, a.scale, a.scales) == (
        "!quant.uniform<i8:f32, 1.250000e-01>",
        "values",
        8,
        256,
        0.125,
        1,
    )
    assert (y.low, y.high, y.codes, y.origin, y.is_constant) == (-4.0, 3.5, 16, "said", False)
    assert sum(a.histogram.values()) == X.size == sum(y.histogram.values())
    doubled = {code + 128: count for code, count in a.histogram.items() if code % 32768}
    assert {code: count for code, count in y.histogram.items() if code % 32768} == doubled  # one exponent more
    p, _, r = explained()["mul.0"].ports
    assert (p.spec, p.origin, r.low, r.high) == ("!quant.uniform<i8<-8:7>:f32, 5.000000e-01>", "", -8.75, 70.9375)
    assert p.histogram == y.histogram


def test_a_rescaled_operand_is_read_in_its_own_type() -> None:
    """Alone, a region is fed float values that are quantized once. What the rescale loses counts for it."""
    rescaled = QUANTIZED.replace("!m =", "!b = !quant.uniform<i8:f32, 0.75>\n!m =").replace(
        "%1 = qrt.mul %0, %0", '%r = qrt.requantize %0 {quant.cause = "because"} : (tensor<?x3x!a>) -> tensor<?x3x!b>\n'
        "    %1 = qrt.mul %r, %r"
    ).replace("(tensor<?x3x!a>, tensor<?x3x!a>)", "(tensor<?x3x!b>, tensor<?x3x!b>)")  # fmt: skip
    report = explained(rescaled)
    values = [Fraction(float(v)) for v in X.reshape(-1)]
    alone = [requantize(quantize(2 * v, Fraction(3, 4), 0, -128, 127) ** 2, *TYPE_M) for v in values]
    by_mul = squares(a - 4 * v * v for a, v in zip(alone, values, strict=True))
    by_add = squares(add(v) ** 2 - 4 * v * v for v in values)
    expected = decibels(squares(4 * v * v for v in values), by_mul)
    assert report["mul.0"].snr_alone == pytest.approx(expected, abs=1e-9)
    assert report["mul.0"].error_share == pytest.approx(float(by_mul / (by_add + by_mul)), abs=1e-6)
    assert report["mul.0"].ports[0].spec == "!quant.uniform<i8:f32, 7.500000e-01>"
    (rescale,) = report.rescales
    assert (rescale.source, rescale.target, rescale.cause) == (
        "!quant.uniform<i8<-8:7>:f32, 5.000000e-01>", "!quant.uniform<i8:f32, 7.500000e-01>", "because",
    )  # fmt: skip
    assert rescale.place == "q.mlir:11"


@pytest.mark.parametrize("to", ["fixed", "codegen", "simulate"])
def test_every_export_has_the_figures_of_its_regions(to: str) -> None:
    """What the exported program computes with is what propagation has decided; weights are stored in one byte each."""
    target = find("qrt-cpu")
    program = named(ir.parse(NETWORK), target)
    records = calibrate_program(program.module, {"images": rows(60)}).records
    trial = quantized(program, target, records, "mse")
    module = copied(trial.regions)
    ExportQuant(to=to).run(module)
    batches = [{"images": rows(30, 1)}]
    report = report_of(program, Trial(trial.regions, module, ()), target, batches)
    regions = {
        op.attributes["quant.key"].python: op for op in trial.regions.operation.walk() if "quant.key" in op.attributes
    }
    assert set(report) == set(regions)
    for key, region in regions.items():
        assert [port.spec for port in report[key].ports] == [spec.shown() for spec in region.specs]
    assert {key: report[key].weight_bytes for key in report} == {
        "main/matmul.0": 16 * 8, "main/lookup.0": 0, "main/matmul.1": 8 * 4,
    }  # fmt: skip
    assert report["matmul.0"].ports[0].origin == "records main/images (mse)"
    if to != "simulate":
        fixed = report_of(program, trial, target, batches)
        assert report == fixed


CALLED = """
func.func private @cell(%x: tensor<?x16xf32>, %h: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %0 = arith.addf %x, %h : tensor<?x16xf32>
  %1 = math.tanh %0 : tensor<?x16xf32>
  return %1 : tensor<?x16xf32>
}
func.func @main(%x: tensor<?x16xf32> {qrt.name = "images"}) -> tensor<?x16xf32> {
  %0 = func.call @cell(%x, %x) : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  %1 = func.call @cell(%x, %0) : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  return %1 : tensor<?x16xf32>
}
"""
LOOPED = """
func.func @main(%x: tensor<4x16xf32> {qrt.name = "images"}) -> tensor<4x16xf32> {
  %a = arith.constant 0 : index
  %s = arith.constant 1 : index
  %e = arith.constant 3 : index
  %r = scf.for %i = %a to %e step %s iter_args(%c = %x) -> tensor<4x16xf32> {
    %0 = arith.addf %x, %c : tensor<4x16xf32>
    %1 = math.tanh %0 : tensor<4x16xf32>
    scf.yield %1 : tensor<4x16xf32>
  }
  %2 = math.atan2 %r, %x : tensor<4x16xf32>
  %3 = math.tanh %2 : tensor<4x16xf32>
  return %3 : tensor<4x16xf32>
}
"""


@pytest.mark.parametrize(("text", "runs"), [(CALLED, 2), (LOOPED, 3)])
def test_a_region_that_runs_several_times_is_one_of_all_its_values(text: str, runs: int) -> None:
    module, data = ir.parse(text), {"images": rows(8)}
    report = qrt.quantization.explain_program(qrt.quantize_program(module, data).module, module, data)
    prefix = "cell" if text is CALLED else "main"
    region = report[f"{prefix}/lookup.0"]
    assert sum(region.ports[1].histogram.values()) <= runs * 8 * 16
    assert 256 - region.unused_codes <= runs * 8 * 16
    assert sum(each.error_share for each in report.values()) == pytest.approx(1)
    inside = [each for key, each in report.items() if key.startswith((f"{prefix}/add", f"{prefix}/lookup.0"))]
    assert all(30 < each.snr < each.snr_alone < inf for each in inside)
    assert len(inside) == 2
    assert [each.name for each in report.floats] == ([] if text is CALLED else ["math.atan2"])
    assert not report.unmatched


@pytest.mark.parametrize(
    "split",
    [
        lambda x: [x],
        lambda x: [x[30:], x[:7], x[7:30]],
        lambda x: list(x[:, None])[::-1],
    ],
)
def test_any_split_and_order_gives_one_report(split: Callable[[Any], list[Any]]) -> None:
    """An iterable is read once."""
    assert explained(data=({"x": part} for part in split(X))) == explained()


def test_every_isa_and_number_of_threads_gives_one_report() -> None:
    module, data = ir.parse(NETWORK), {"images": rows(70)}
    made = qrt.quantize_program(module, data).module
    expected = qrt.quantization.explain_program(made, module, data)
    with qrt.kernels.use("ref"):
        assert qrt.quantization.explain_program(made, module, data) == expected
    before = qrt.kernels.get_num_threads()
    try:
        qrt.kernels.set_num_threads(2)
        assert qrt.quantization.explain_program(made, module, data) == expected
    finally:
        qrt.kernels.set_num_threads(before)


# -- planted faults ----------------------------------------------------------------------------------------------------

CHAIN = """
func.func @main(%x: tensor<?x16xf32> {qrt.name = "x"}, %y: tensor<?x16xf32> {qrt.name = "y"}) -> tensor<?x16xf32> {
  %0 = arith.addf %x, %y : tensor<?x16xf32>
  %1 = math.absf %0 : tensor<?x16xf32>
  %2 = arith.mulf %1, %x : tensor<?x16xf32>
  %3 = arith.subf %2, %y : tensor<?x16xf32>
  %4 = arith.addf %3, %1 : tensor<?x16xf32>
  return %4 : tensor<?x16xf32>
}
"""


def chain(method: Any = "minmax", **changed: tuple[float, float]) -> Report:
    """The report of a chain of regions, some of which have had other ranges in calibration."""
    target = find("qrt-cpu")
    program = named(ir.parse(CHAIN), target)
    data = {"x": rows(60), "y": rows(60, 1)}
    records = calibrate_program(program.module, data).records
    for key, span in changed.items():
        record = records[f"main/{key}.0"]
        records[f"main/{key}.0"] = type(record)(record.count, *span)
    trial = quantized(program, target, records, method)
    return report_of(program, trial, target, [data])


@pytest.mark.parametrize("kernel", ["add", "lookup", "mul", "sub"])
def test_a_value_of_a_wide_range_is_blamed_on_the_region_that_computes_it(kernel: str) -> None:
    """Not on the regions that read it, which have the same coarse type at a port."""
    healthy = chain()
    worst = next(iter(chain(**{kernel: (-1e6 if kernel != "lookup" else 0.0, 1e6)})))
    assert worst == f"main/{kernel}.0"
    assert healthy[worst].error_share < 0.9


def test_a_clipped_value_is_blamed_on_the_region_that_computes_it() -> None:
    report = chain(mul=(-0.125, 0.125))
    assert next(iter(report)) == "main/mul.0"
    assert report["mul.0"].saturated > 0.5


def test_a_scale_that_is_edited_in_the_program_is_found() -> None:
    coarse, data = QUANTIZED.replace("0.3125:-100", "2.5:-100"), {"x": X / 2}  # nothing is clipped
    assert next(iter(explained(coarse, data))) == "main/mul.0"
    assert explained(data=data)["mul.0"].error_share < 0.5
    coarse = QUANTIZED.replace("<-8:7>:f32, 0.5>", "<-8:7>:f32, 4.0>")
    assert next(iter(explained(coarse, data))) == "main/add.0"
    assert explained(coarse, data)["add.0"].snr < explained(data=data)["add.0"].snr - 12


def test_a_port_of_two_bits_is_found() -> None:
    narrow = QUANTIZED.replace("i8<-8:7>:f32, 0.5", "i8<-2:1>:f32, 2.0")
    report = explained(narrow)
    assert next(iter(report)) == "main/add.0"
    assert report["add.0"].ports[2].codes == 4


# -- what does not fit -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("quantized_text", "data", "said"),
    [
        (
            QUANTIZED.replace("quant.key", "my.key"),
            None,
            r"q\.mlir: no operation has quant\.key: the program 'main' was",
        ),
        (
            QUANTIZED.replace('quant.target = "qrt-cpu"', ""),
            None,
            r"q\.mlir: the target is unknown, because the file has no quant\.target \(only programs that `qrt",
        ),
        (QUANTIZED.replace("main/", "other/"), None, r"the operations of the two programs have no quant\.key in"),
        (
            QUANTIZED.replace("?x3", "?x4"),
            None,
            r"main/add\.0 must have the same shape .* tensor<\?x4x.*, and tensor<\?x3xf32> in the float",
        ),
        (
            QUANTIZED.replace('"x"', '"z"'),
            None,
            r"same inputs, but the quantized program has \(z: .*\), and the float program \(x: ",
        ),
        (
            QUANTIZED.replace('"y"', '"z"'),
            None,
            r"same outputs, but the quantized program has \(z: .*\), and the float program \(y: ",
        ),
        (QUANTIZED.replace("@main", "@other"), None, r"no function is named 'other'"),
        (QUANTIZED, {"y": X}, r"no input is named 'y'"),
        (QUANTIZED, {"x": X.astype(np.float64)}, r"batch 1: input 'x' must be .* got dtype float64"),
        (QUANTIZED, {"x": X[:0]}, r"the data: input 'x' must have elements, got shape \[0, 3\]"),
        (QUANTIZED, [], "'data' must have at least one batch for main, got none"),
        (QUANTIZED, [{"x": X}, {"x": X * 1e30}], r"batch 2: output 'y' of the float program must be finite, got inf"),
    ],
)
def test_what_does_not_fit_is_said_with_its_place(quantized_text: str, data: Any, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        explained(quantized_text, data)


def test_rows_without_finite_outputs_are_left_out_and_counted() -> None:
    bad = X.copy()
    bad[[3, 39], 1] = np.nan, 1e30  # which squared is infinite
    report = explained(data=[{"x": bad[:30]}, {"x": bad[30:]}], skip_nonfinite=True)
    assert (report.skipped, report.rows) == (2, 38)
    assert replace(report, skipped=0) == explained(data={"x": np.delete(X, [3, 39], 0)})
    assert explained(skip_nonfinite=True) == explained()
    with pytest.raises(
        ModelError, match="no row can be compared, because an output of 'main' is NaN or infinite for each of them"
    ):
        explained(data={"x": bad[3:4]}, skip_nonfinite=True)


RELU = NETWORK.replace(
    "  %1 = math.tanh %0 : tensor<?x8xf32>",
    """  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<?x8xf32>""",
)


def test_what_optional_passes_have_changed_is_measured() -> None:
    """Their regions have other values and other keys than those of the float program."""
    module, data = ir.parse(RELU, "f.mlir"), {"images": rows(40)}
    made = qrt.quantize_program(module, data, passes=["equalize-scales"])
    assert made.module.operation.attributes["quant.passes"].python == ("equalize-scales",)
    report = qrt.quantization.explain_program(ir.parse(str(made.module)), module, data)
    assert any(key.endswith("/equalized") for key in report)
    assert not report.unmatched
    assert report == made.report
    other = ir.parse(str(made.module).replace('quant.passes = ["equalize-scales"], ', ""), "q.mlir")
    blind = qrt.quantization.explain_program(other, module, data)
    assert len(blind.unmatched) == 2 * sum(key.endswith("/equalized") for key in report)
    assert [port.spec for port in blind["matmul.1"].ports] == [port.spec for port in report["matmul.1"].ports]


def test_a_narrower_float_is_what_a_port_stores() -> None:
    """Not the f32 to which the exported program widens it."""
    made = qrt.quantize_program(ir.parse(NETWORK), {"images": rows(20)}, "bf16")
    assert made.report["matmul.0"].weight_bytes == 16 * 8 * 2
    for region in made.report.values():
        assert {(port.spec, port.bits, port.origin) for port in region.ports} == {("bf16", 16, "target")}
    assert {each.reason.rpartition(" ")[2] for each in made.report.floats} == {"bf16"}


@pytest.mark.parametrize("target", ["qrt-cpu", "weight-only"])
def test_a_bias_that_corrects_is_a_port(target: str) -> None:
    """The float program has none. Without it the origins of all ports were lost, and its bytes."""
    module, data = ir.parse(NETWORK), {"images": rows(20)}
    made = qrt.quantize_program(module, data, target, passes=["correct-bias"])
    kernel = "matmul" if target == "qrt-cpu" else "float_matmul"
    region = made.report[f"{kernel}.0"]
    assert [port.name for port in region.ports] == ["a", "w", "bias", "y"]
    assert (region.ports[2].origin, region.ports[2].bits, region.ports[2].is_constant) == ("constraint", 32, True)
    assert region.ports[1].origin == "values"
    assert region.weight_bytes == 16 * 8 + 8 * 4


def test_keys_that_one_program_lacks_are_listed_and_not_measured() -> None:
    report = explained(QUANTIZED.replace("main/add.0", "main/add.7"))
    assert report.unmatched == ("main/add.7 (q.mlir:8)", "main/add.0 (f.mlir:3)")
    assert list(report) == ["main/mul.0"]
    values = [Fraction(float(v)) for v in X.reshape(-1)]
    noise = squares(mul(add(v)) - 4 * v * v for v in values)  # what reads no known value is one with what computes it
    assert report["mul.0"].snr_alone == pytest.approx(decibels(squares(4 * v * v for v in values), noise), abs=1e-9)


def test_many_regions_are_measured_on_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    data = np.random.default_rng(1).uniform(-2, 2, (100, 3)).astype(np.float32)
    whole = explained(data={"x": data})
    monkeypatch.setattr("qrt.quantization.explain.MANY_REGIONS", 1)
    part = explained(data={"x": data})
    assert (whole.rows, whole.sampled, part.rows, part.sampled) == (100, 0, 100, 64)
    assert (part["add.0"].snr, part.outputs) == (whole["add.0"].snr, whole.outputs)
    assert part["add.0"].error_share != whole["add.0"].error_share


def test_arguments_of_other_types_are_refused() -> None:
    module = ir.parse(QUANTIZED)
    with pytest.raises(QuantTypeError, match="against"):
        qrt.quantization.explain_program(module, FLOAT, {"x": X})  # type: ignore[arg-type]

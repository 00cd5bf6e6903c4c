"""Keys, origins and causes from regions to the exported ops. Hazards: a key that the records do not have, one that a
pass or an export loses, a text that changes where nobody asked."""

import re
from typing import Any

import pytest

import qrt
from qrt import ir
from qrt.quantization.annotations.attach_stats_ref import AttachStatsRef, attach_keys
from qrt.quantization.annotations.region_metadata import CAUSE, KERNEL, KEY, ORIGINS
from qrt.quantization.calibration.records import Record
from qrt.quantization.export.export_quant import ExportQuant
from qrt.quantization.fusion.fuse_kernels import FuseKernels
from qrt.quantization.propagation.propagate_quant import Settings, propagate
from qrt.quantization.steps import copied
from qrt.quantization.targets.registry import find
from qrt.quantization.verification.check_quant import CheckQuant
from tests import mlir_opt

FORMS = ("fixed", "codegen", "simulate")
CELL = """
func.func private @cell(%x: tensor<2x4xf32>, %h: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = arith.addf %x, %h : tensor<2x4xf32>
  %1 = math.tanh %0 : tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
func.func @main(%x: tensor<2x4xf32> {qrt.name = "x"}, %s: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<4x2xf32>) {
  %0 = func.call @cell(%x, %s) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = func.call @cell(%x, %0) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = math.ctlz %c : i32
  %w = arith.constant dense<[[0.5, -1.0], [1.0, 0.5], [-0.25, 2.0], [0.75, -0.5]]> : tensor<4x2xf32>
  return %1, %w : tensor<2x4xf32>, tensor<4x2xf32>
}
""".replace("  %2 = math.ctlz %c : i32\n", "")
MIXED = """
func.func @main(%x: tensor<2x4xf32> {qrt.name = "x"}) -> tensor<2x2xf32> {
  %w = arith.constant dense<[[0.5, -1.0], [1.0, 0.5], [-0.25, 2.0], [0.75, -0.5]]> : tensor<4x2xf32>
  %seen = "quant.stats_ref"(%x) {statsKey = "main/matmul.0"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %a = math.atan2 %seen, %x : tensor<2x4xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %0 = linalg.matmul ins(%a, %w : tensor<2x4xf32>, tensor<4x2xf32>) outs(%f : tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = "quant.stats_ref"(%0) {statsKey = "sums"} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = math.tanh %1 : tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}
"""


def keyed(text: str, target: str = "qrt-cpu") -> ir.Module:
    module = ir.parse(text)
    FuseKernels(target=target).run(module)
    AttachStatsRef().run(module)
    attach_keys(module)
    return module


def propagated(text: str, target: str = "qrt-cpu", *, origins: bool = True) -> ir.Module:
    module = keyed(text, target)
    named = {
        str(op.attributes["statsKey"].python): op for op in module.operation.walk() if op.name == "quant.stats_ref"
    }
    records = {key: Record(4, -1.0, 1.0 + 0.25 * n, {}) for n, key in enumerate(named)}
    propagate(module, find(target), Settings(records, origins=origins))
    return module


def said(module: ir.Module, name: str) -> list[Any]:
    return [op.attributes[name].python for op in module.operation.walk() if name in op.attributes]


def exported(module: ir.Module, to: str) -> ir.Module:
    copy = copied(module)
    ExportQuant(to=to).run(copy)
    copy.verify()
    return copy


def test_a_key_is_that_of_the_record() -> None:
    """Where a program has used the label as a key already, both get another one."""
    module = keyed(MIXED)
    assert said(module, KEY) == ["main/math.atan2.0", "sums", "main/lookup.0"]
    taken = keyed(MIXED.replace('"main/matmul.0"', '"main/lookup.0"'))
    assert said(taken, KEY) == ["main/math.atan2.0", "sums", "main/lookup.0'"]
    for each in (module, taken):
        keys = {str(op.attributes["statsKey"].python) for op in each.operation.walk() if op.name == "quant.stats_ref"}
        assert set(said(each, KEY)) <= keys


@pytest.mark.parametrize("to", FORMS)
@pytest.mark.parametrize("text", [CELL, MIXED])
def test_every_export_keeps_keys_kernels_and_origins(text: str, to: str) -> None:
    regions = propagated(text)
    CheckQuant(target="qrt-cpu").run(regions)
    made = exported(regions, to)
    assert said(made, KEY) == said(regions, KEY)
    assert said(made, ORIGINS) == said(regions, ORIGINS)
    assert len(said(made, KERNEL)) == len(said(made, ORIGINS))
    stored = [op for op in made.operation.walk() if KERNEL in op.attributes]
    assert all("!quant.uniform" in str(op.results[0].type) for op in stored)
    assert str(ir.parse(str(made))) == str(made)


def test_each_call_has_the_keys_of_the_function() -> None:
    assert said(propagated(CELL), KEY) == ["cell/add.0", "cell/lookup.0"] * 2


def test_origins_say_where_types_came_from() -> None:
    first, last = map(list, said(propagated(MIXED), ORIGINS))
    assert first == ["records main/math.atan2.0 (minmax)", "values", "records sums (minmax)"]
    assert last == ["records sums (minmax)", "records main/lookup.0 (minmax)"]
    fixed = said(propagated(MIXED, "tflite"), ORIGINS)
    assert list(fixed[1]) == ["records sums (minmax)", "target"]
    bias = MIXED.replace(
        "%f = linalg.fill ins(%zero : f32)", "%b = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>\n"
    )
    bias = bias.replace(
        "outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>\n",
        "%f = linalg.broadcast ins(%b : tensor<2xf32>) outs(%e : tensor<2x2xf32>) dimensions = [0]\n",
    )
    assert said(propagated(bias), ORIGINS)[0][2] == "constraint"
    annotated = MIXED.replace(
        '"quant.stats_ref"(%0) {statsKey = "sums"}',
        '"quant.stats"(%0) {layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>}',
    )
    assert said(propagated(annotated), ORIGINS)[0][2] == "annotation"


RESCALED = """
!a = !quant.uniform<i8:f32, 0.5>
!b = !quant.uniform<i8:f32, 0.25>
func.func @main(%x: tensor<4x!a>) -> tensor<4xf32> {
  %0 = quant.dcast %x : tensor<4x!a> to tensor<4xf32>
  %1 = quant.region (%0) {
  ^bb0(%v: tensor<4xf32>):
    %t = math.absf %v : tensor<4xf32>
    quant.return %t : tensor<4xf32>
  } {input_specs = [f32], output_specs = [!a], kernel = "lookup"} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = quant.region (%1) {
  ^bb0(%v: tensor<4xf32>):
    %t = math.tanh %v : tensor<4xf32>
    quant.return %t : tensor<4xf32>
  } {input_specs = [!b], output_specs = [!b], kernel = "lookup"} : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
"""


@pytest.mark.parametrize("to", FORMS)
def test_a_rescale_keeps_its_cause(to: str) -> None:
    made = exported(propagated(RESCALED), to)
    (cause,) = said(made, CAUSE)
    assert "lookup output 0 is !quant.uniform<i8:f32, 5.000000e-01>" in cause
    assert said(made, KEY) == ["main/lookup.0", "main/lookup.1"]
    (op,) = [op for op in made.operation.walk() if CAUSE in op.attributes]
    assert "2.500000e-01" in str(op.results[0].type)


@pytest.mark.parametrize("to", FORMS)
@pytest.mark.parametrize("text", [CELL, MIXED, RESCALED])
def test_without_keys_the_texts_are_as_they_were(text: str, to: str) -> None:
    """What is left when tags are taken out of the text is the text without them."""
    with_keys = str(exported(propagated(text), to))
    plain = propagated(text, origins=False)
    for op in plain.operation.walk():
        op.attributes.pop(KEY, None)
    without = str(exported(plain, to))
    assert "quant.key" not in without
    assert "quant.cause" not in without
    tag = r'quant\.(key|kernel|origins|cause) = ("(\\.|[^"\\])*"|\[[^\]]*\])'
    stripped = re.sub(rf" \{{{tag}(, {tag})*\}}", "", with_keys)
    assert re.sub(rf"(, {tag})+|{tag}, ", "", stripped) == without


@mlir_opt.needed
@pytest.mark.parametrize("text", [CELL, MIXED])
def test_mlir_opt_reads_what_codegen_keeps(text: str) -> None:
    made = exported(propagated(text), "codegen")
    made.operation.attributes["quant.target"] = ir.StringAttr("qrt-cpu")
    accepted, output = mlir_opt.upstream(str(made), "--allow-unregistered-dialect")
    assert accepted, output
    assert output.count("quant.key") == len(said(made, KEY))
    assert str(qrt.ir.parse(output)) == str(ir.parse(str(made)))

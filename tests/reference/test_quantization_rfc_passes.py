"""What sentences of the propagation RFC say, one by one, of small programs: propagation, export and fusion.
quantization_rfc.toml says which test holds which sentence.
"""

import re

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.ir import run_passes
from qrt.quantization.targets import find
from qrt.types import CalibratedType, NoQuantizedType, UniformType
from tests.quantization import float_text as ops
from tests.quantization.checks import kernel_of, regions, specs
from tests.reference.rfc_programs import (
    CALIBRATED,
    F32,
    FLOATS,
    I8,
    OF_16_BITS,
    OTHER,
    SHAPE,
    one_region,
    passed,
    products,
    program,
    propagated,
    said,
    written,
)

# -- propagation ------------------------------------------------------------------------------------------------------


def _without_specs(module):
    return re.sub(r"(input|output)_specs = \[[^]]*\]", "", str(module))


def test_propagation_changes_specs_alone():
    def build(text, x, w):
        y = text.region("matmul", [x, w], [str(CALIBRATED), str(OTHER)], str(CALIBRATED), ops.matmul)
        return text.region("lookup", [y], [F32], str(CALIBRATED), ops.gelu)

    text = program(build, SHAPE, (6, 3))
    assert _without_specs(propagated(text)) == _without_specs(ir.parse(text))


def test_a_region_is_quantized_as_a_whole():
    """All of its ports are decided, and nothing in it is."""
    module = propagated(one_region("lookup", [CALIBRATED], CALIBRATED, ops.gelu))
    inputs, outputs = said(module)
    assert all(isinstance(spec, UniformType) for spec in (*inputs, *outputs))
    (block,) = regions(module)[0].regions[0].blocks
    assert {str(value.type) for operation in block for value in operation.results} == {FLOATS}


def _callers(text, x, y):
    a, b = (text.op(f"func.call @f({v.name}) : ({v.type}) -> {v.type}", v.shape) for v in (text.stats(x, -1, 1), y))
    return text.region("add", [a, b], [F32, F32], str(CALIBRATED), ops.add)


@pytest.mark.parametrize("functions", ["inline", "duplicate"])
def test_callers_may_need_different_types(functions):
    text = program(lambda t, x, y: _callers(t, x, t.stats(y, -8, 8)), SHAPE, SHAPE)
    same = program(lambda t, x, y: _callers(t, x, t.stats(y, -1, 1)), SHAPE, SHAPE)
    callee = one_region("lookup", [F32], CALIBRATED, ops.tanh).replace("func @main", "func private @f")
    module, merged = (propagated(callee + each, options=f"functions={functions}") for each in (text, same))
    inputs = [said(module, n)[0][0] for n, r in enumerate(regions(module)) if kernel_of(r) == "lookup"]
    assert [round(spec.scale * 255) for spec in inputs] == [2, 16]
    assert len(module.functions) == (3 if functions == "duplicate" else 1)
    assert len(merged.functions) == (2 if functions == "duplicate" else 1), "equal clones are one"


def _contradicting(text, x):
    y = text.region("lookup", [x], [str(CALIBRATED)], str(I8), ops.tanh)
    return text.region("lookup", [y], [str(OTHER)], str(CALIBRATED), ops.tanh)


def test_a_conflict_becomes_a_rescale():
    """Between the two, with its cause; and the codes go through it, once."""
    module = propagated(program(_contradicting))
    (rescale,) = (region for region in regions(module) if kernel_of(region) == "rescale")
    assert (specs(rescale, "input"), specs(rescale, "output")) == ([I8], [OTHER])
    cause = rescale.attribute("quant.cause", ir.StringAttr).value
    assert cause.startswith("f.mlir:2 lookup output 0 is ")
    assert cause.endswith(f": annotate f.mlir:2 as {OTHER}")
    fixed = str(run_passes(module, "export-quant"))
    assert fixed.count("qrt.requantize") == 1
    assert fixed.count("quant.qcast") == 1


def test_a_quantized_program_may_keep_floats():
    quantized = propagated(one_region("lookup", [CALIBRATED], CALIBRATED, ops.tanh))
    kept = propagated(one_region("lookup", [NoQuantizedType("f32")], F32, ops.tanh))
    undecided = ir.parse(one_region("lookup", [CALIBRATED], CALIBRATED, ops.tanh))
    target = find("qrt-cpu")
    assert [qrt.quantization.is_quantized(each) for each in (quantized, kept, undecided)] == [True, True, False]
    assert [qrt.quantization.is_fully_quantized(each, target) for each in (quantized, kept, undecided)] == [
        True,
        False,
        False,
    ]


# -- export -----------------------------------------------------------------------------------------------------------


def _network(text, x):
    w = text.constant(np.random.default_rng(1).normal(size=(6, 6)).astype(np.float32))
    y = text.region("matmul", [x, w], [str(CALIBRATED), F32], str(CalibratedType("f32", 0, 4)), _relu_matmul)
    return text.region("add", [x, y], [F32, F32], str(CalibratedType("f32", -1, 5)), ops.add)


def _relu_matmul(text, x, w):
    return ops.matmul(text, x, w, relu=True)


def test_fixed_kernels_are_ops_with_the_types_of_the_specs():
    module = propagated(program(_network))
    wanted = [said(module, number) for number in range(2)]
    fixed = run_passes(module, "export-quant")
    made = [operation for operation in fixed.operation.walk() if operation.name in ("qrt.matmul", "qrt.add")]
    types = [([v.type.element for v in op.operands], [v.type.element for v in op.results]) for op in made]
    assert types == wanted


def test_generated_code_multiplies_and_shifts():
    """No op of the regions or of qrt is left, and what is superfluous goes."""
    module = propagated(program(_network))
    generated = run_passes(module, "export-quant{to=codegen}")
    names = [operation.name for operation in generated.operation.walk()]
    assert not [name for name in names if name.startswith("qrt.") or name == "quant.region"]
    assert {"arith.muli", "arith.shrsi"} <= {*names}
    fewer = [operation.name for operation in run_passes(generated, "canonicalize,cse").operation.walk()]
    assert len(fewer) < len(names)


def _linear(text, x):
    w, v = (text.constant(np.random.default_rng(n).normal(size=(6, 6)).astype(np.float32)) for n in range(2))
    x = text.stats(x, -1, 1)
    return text.stats(ops.matmul(text, ops.matmul(text, x, w), v), -8, 8)


def test_a_linear_region_is_rescaled_once():
    """All linear ops are one kernel, and its sums are requantized at its end alone."""
    module = passed(program(_linear), "fuse-kernels{linear=true},propagate-quant{target=qrt-cpu}")
    assert [kernel_of(region) for region in regions(module)] == ["linear"]
    generated = run_passes(module, "export-quant{to=codegen}")
    names = [operation.name for operation in generated.operation.walk()]
    assert names.count("linalg.matmul") + names.count("linalg.generic") >= 2
    assert sum("shrsi" in name for name in names) <= 2


def test_bodies_are_inlined_after_quantization():
    """Between casts at the ports, as in the simulation."""
    module = propagated(program(_network))
    simulated = run_passes(ir.parse(str(module)), "export-quant{to=simulate}")
    unfused = run_passes(module, "unfuse-kernels")
    assert not regions(unfused)
    assert "linalg.matmul" in str(unfused)
    assert "quant.qcast" in str(unfused)
    x = np.random.default_rng(0).normal(size=SHAPE).astype(np.float32)
    assert qrt.compile(unfused)(x).tobytes() == qrt.compile(simulated)(x).tobytes()


# -- fusion -----------------------------------------------------------------------------------------------------------


def fused(text, target="qrt-cpu"):
    return [kernel_of(region) for region in regions(passed(text, f"fuse-kernels{{target={target}}}"))]


RELU = {
    "arith": "arith.maximumf %x, %zero : tensor<4xf32>",
    "linalg": "linalg.max ins(%x, %zero : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>",
    "generic": """linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
      ^bb0(%a: f32, %b: f32):
        %c = arith.constant 0.0 : f32
        %m = arith.maximumf %a, %c : f32
        linalg.yield %m : f32
      } -> tensor<4xf32>""",
}


@pytest.mark.parametrize("dialect", RELU)
def test_any_dialect_is_fused(dialect):
    text = f"""func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %zero = arith.constant dense<0.0> : tensor<4xf32>
      %e = tensor.empty() : tensor<4xf32>
      %y = {RELU[dialect]}
      return %y : tensor<4xf32>
    }}"""
    assert fused(text) == ["clamp"]


def test_fusing_depends_on_the_target():
    text = program(ops.gelu)
    assert fused(text) == ["lookup"]
    assert fused(text, "weight-only") == []
    assert [fused(program(ops.tanh), target) for target in ("qrt-cpu", "tflite")] == [["lookup"], ["tanh"]]


def test_a_product_and_a_sum_are_one_kernel():
    assert fused(program(products, SHAPE, (6, 3), (3,))) == ["matmul"]


def test_what_a_target_lacks_is_unfused(tmp_path):
    def build(text, x):
        y = text.region("lookup", [x], [str(CALIBRATED)], str(CALIBRATED), ops.gelu)
        return text.region("add", [y, y], [F32, F32], str(CALIBRATED), ops.add)

    module = run_passes(propagated(program(build)), f"unfuse-kernels{{target={written(tmp_path, OF_16_BITS)}}}")
    assert [kernel_of(region) for region in regions(module)] == ["add"]
    assert "math.erf" in str(module)


def test_fusing_twice_changes_nothing():
    once = passed(program(_linear), "fuse-kernels{target=qrt-cpu}")
    assert str(passed(str(once), "fuse-kernels{target=qrt-cpu}")) == str(once)


def test_fusing_after_quantization_is_for_another_target(tmp_path):
    """The region gets the other target's name for what it computes, and keeps its types."""
    target = written(tmp_path, '[[kernel]]\nname = "tanh"\nports = {q = "i8", y = "i8"}\n')
    module = propagated(one_region("lookup", [CALIBRATED], UniformType("i8", "f32", 1 / 128), ops.tanh))
    before = said(module)
    run_passes(module, f"fuse-kernels{{target={target}}}")
    assert [kernel_of(region) for region in regions(module)] == ["tanh"]
    assert said(module) == before


def test_a_marked_function_is_a_kernel():
    callee = program(ops.tanh).replace("@main", "@gate", 1)
    callee = callee.replace(") {\n", ') attributes {quant.kernel = "lookup"} {\n', 1).replace(
        "func.func", "func.func private", 1
    )
    text = callee + program(lambda t, x: t.op(f"func.call @gate({x.name}) : ({x.type}) -> {x.type}", x.shape))
    assert fused(text) == ["lookup"]

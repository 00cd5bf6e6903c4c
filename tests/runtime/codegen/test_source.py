"""`qrt.compile` with ``codegen``: the programs that it takes and refuses, and the methods of such programs."""

import pickle
import sys

import numpy as np
import pytest

import qrt
from qrt.errors import MissingPackageError, ModelError, QuantTypeError
from qrt.runtime.codegen import target
from tests.runtime.codegen.harness import check

ADD = """func.func @main(%x: tensor<?xi32>) -> tensor<?xi32> {
  %0 = arith.addi %x, %x : tensor<?xi32>
  return %0 : tensor<?xi32>
}"""
TANH = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = math.tanh %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}"""
MATMUL = """
!a = !quant.uniform<i8:f32, 0.05:3>
!w = !quant.uniform<i8:f32, 0.02:-4>
!o = !quant.uniform<i8:f32, 0.1:-5>
func.func private @product(%a: tensor<?x8x!a>, %w: tensor<8x5x!w>) -> tensor<?x5x!o> {
  %r = qrt.matmul %a, %w : (tensor<?x8x!a>, tensor<8x5x!w>) -> tensor<?x5x!o>
  return %r : tensor<?x5x!o>
}
func.func @main(%x: tensor<?x8xf32>, %w: tensor<8x5x!w>) -> tensor<?x5xf32> {
  %a = quant.qcast %x : tensor<?x8xf32> to tensor<?x8x!a>
  %r = call @product(%a, %w) : (tensor<?x8x!a>, tensor<8x5x!w>) -> tensor<?x5x!o>
  %y = quant.dcast %r : tensor<?x5x!o> to tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}
"""


@pytest.mark.parametrize("rows", [0, 1, 4])
def test_quantized_program_with_dynamic_sizes_and_a_call(rows: int) -> None:
    rng = np.random.default_rng(rows)
    check(MATMUL, rng.normal(size=(rows, 8)).astype(np.float32) * 3, rng.integers(-128, 128, (8, 5), np.int8))


def test_each_shape_has_its_code() -> None:
    program = qrt.compile(ADD, codegen=True)
    for count in (3, 0, 17, 3):
        x = np.arange(count, dtype=np.int32)
        assert program(x).tolist() == (2 * x).tolist()


def test_op_without_machine_code() -> None:
    with pytest.raises(ModelError, match=r"<string>:2:.*'math.tanh' op has no machine code; write codegen=\"best-eff"):
        qrt.compile(TANH, codegen=True)
    program = qrt.compile(TANH, codegen="best-effort")
    assert program.coverage()[0].engine != "machine code"
    x = np.float32([0, 1, -2])
    np.testing.assert_array_equal(program(x), qrt.compile(TANH)(x))


@pytest.mark.parametrize(
    ("type", "body", "message"),
    [
        ("bf16", "%0 = arith.addf %x, %x : bf16 return %0 : bf16", "type bf16 have no machine code"),
        ("f16", "%0 = arith.addf %x, %x : f16 return %0 : f16", "type f16 have no machine code"),
        ("vector<4xi32>", "return %x : vector<4xi32>", "has vectors as arguments or results"),
        ("index", "%0 = tensor.empty(%x) : tensor<?xi8> return %0 : tensor<?xi8>", "that is known only at run time"),
        ("i1", "%0 = func.call @main(%x) : (i1) -> i1 return %0 : i1", "'func.call' op is recursive"),
    ],
)
def test_refusals_name_the_op(type: str, body: str, message: str) -> None:
    result = "tensor<?xi8>" if "empty" in body else type
    with pytest.raises(ModelError, match=message):
        qrt.compile(f"func.func @main(%x: {type}) -> {result} {{ {body} }}", codegen=True)


def test_op_that_has_no_lowering() -> None:
    text = """
    !q = !quant.uniform<i8:f32, 0.5>
    func.func @main(%x: tensor<?x?x!q>) -> tensor<1x!q> {
      %0 = qrt.mean %x {axes = [0, 1], keepdims = false} : (tensor<?x?x!q>) -> tensor<!q>
      %1 = qrt.reshape %0 : (tensor<!q>) -> tensor<1x!q>
      return %1 : tensor<1x!q>
    }"""
    with pytest.raises(ModelError, match=r"qrt.mean.*lower"):
        qrt.compile(text, codegen=True)(np.zeros((2, 2), np.int8))
    assert qrt.compile(text, codegen="best-effort")(np.zeros((2, 2), np.int8)).storage.tolist() == [0]


def test_functions_that_are_not_called_need_no_lowering() -> None:
    text = f"""
    func.func private @called(%x: tensor<?xi32>) -> tensor<?xi32> {{ return %x : tensor<?xi32> }}
    func.func @other(%x: tensor<?x?x!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>> {{
      %0 = qrt.mean %x {{axes = [0, 1], keepdims = false}}
          : (tensor<?x?x!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
      return %0 : tensor<!quant.uniform<i8:f32, 0.5>>
    }}
    {ADD.replace("return", "%1 = call @called(%0) : (tensor<?xi32>) -> tensor<?xi32> return").replace("%0 : ", "%1 : ")}
    """
    program = qrt.compile(text, codegen=True)
    assert program(np.int32([4])).tolist() == [8]
    assert len(program.module.functions) == 3


@pytest.mark.parametrize("value", ["best effort", 2, None])
def test_wrong_argument(value: object) -> None:
    with pytest.raises(QuantTypeError, match="'codegen' must be False, True or"):
        qrt.compile(ADD, codegen=value)


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    with pytest.raises(MissingPackageError, match=r'install it by pip install "qrt\[codegen\]"'):
        qrt.compile(ADD, codegen=True)
    qrt.compile(ADD)


def test_steps_are_counted_by_the_interpreter() -> None:
    program = qrt.compile(ADD, codegen=True)
    inputs = {"arg0": np.int32([1, 2])}
    assert program.run(inputs, max_steps=2)["result0"].tolist() == [2, 4]
    with pytest.raises(ModelError, match="max_steps"):
        program.run(inputs, max_steps=1)


def test_methods_of_a_program() -> None:
    program = qrt.compile(ADD, codegen=True)
    inputs = {"arg0": np.int32([1, 2])}
    assert program.run(inputs, interpret=True)["result0"].tolist() == [2, 4]
    assert "machine code" in program.plan_text(inputs)
    assert program.memory((2,)).arena_bytes == 0
    (step,) = program.timings(inputs, repeats=2)
    assert step.engine.startswith("machine code")
    bound = program.bind(inputs)
    bound()
    assert bound.outputs["result0"].tolist() == [2, 4]
    copy = pickle.loads(pickle.dumps(program))
    assert copy.coverage((2,))[0].engine == "machine code"
    assert copy(np.int32([5])).tolist() == [10]


def test_saved_program_runs_without_machine_code(tmp_path) -> None:
    program = qrt.compile(ADD, codegen=True)
    program(np.int32([1, 2]))
    program.save(tmp_path / "add.qrt")
    assert qrt.load_program(tmp_path / "add.qrt")(np.int32([3])).tolist() == [6]


def test_same_text_is_compiled_once() -> None:
    text = ADD.replace("addi", "muli")
    qrt.compile(text, codegen=True)(np.int32([3]))
    before = target._compiled.cache_info().misses
    qrt.compile(text, codegen=True)(np.int32([3]))
    assert target._compiled.cache_info().misses == before


def test_results_are_new_arrays() -> None:
    """Hazard: results that are inputs, constants or each other."""
    text = """func.func @main(%x: tensor<3xi32>) -> (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) {
      %k = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
      %y = arith.addi %x, %k : tensor<3xi32>
      return %x, %k, %y, %y : tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>
    }"""
    x = np.int32([4, 5, 6])
    check(text, x)
    results = qrt.compile(text, codegen=True)(x)
    for result in results:
        result[...] = 0
    assert x.tolist() == [4, 5, 6]
    assert qrt.compile(text, codegen=True)(x)[1].tolist() == [1, 2, 3]
    program = qrt.compile(text, codegen=True)
    first = program(x)
    first[2][...] = 9
    assert first[3].tolist() == [5, 7, 9]
    assert program(x)[1].tolist() == [1, 2, 3]

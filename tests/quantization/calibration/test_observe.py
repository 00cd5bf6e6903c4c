"""Observed values, and programs that tell values and go on with others. Hazards: a split or an order that changes the
records, a value that is not told or told twice, a value that lives longer, an error that names no place; a value that
was converted, or named another way, before it was replaced; one that a kernel reads from memory that somebody else
holds; a reference to memory that is used again.
"""

import re
import tracemalloc
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import qrt
from qrt import ir, kernels
from qrt.errors import ModelError, QuantTypeError
from qrt.ir import Operation, Value
from qrt.quantization.calibration.observe import calibrate_program, flattened, name_of, observed_program, tapped_program
from qrt.quantization.calibration.observers import Calibration

NETWORK = """
func.func @cell(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = arith.constant 0 : index
  %n = tensor.dim %x, %0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%f : tensor<?x8xf32>) -> tensor<?x8xf32>
  %2 = "quant.stats_ref"(%1) {statsKey = "product"} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %3 = math.tanh %2 : tensor<?x8xf32>
  return %3 : tensor<?x8xf32>
}
func.func @main(%x: tensor<?x8xf32> {qrt.name = "x"}) -> tensor<?x8xf32> {
  %w = arith.constant dense<0.37> : tensor<8x8xf32>
  %0 = "quant.stats_ref"(%x) {statsKey = "x"} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = call @cell(%0, %w) : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %2 = call @cell(%1, %w) : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %3 = quant.region(%2) {
  ^bb0(%a: tensor<?x8xf32>):
    %4 = arith.negf %a : tensor<?x8xf32>
    quant.return %4 : tensor<?x8xf32>
  } {input_specs = [f32], output_specs = [f32], kernel = "lookup"} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %5 = "quant.stats_ref"(%3) {statsKey = "y"} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %5 : tensor<?x8xf32>
}
"""


@pytest.fixture(scope="module")
def module() -> ir.Module:
    return ir.parse(NETWORK, filename="net.mlir")


def rows(count: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal((count, 8)).astype(np.float32)


def test_one_digest_for_any_split_order_isa_and_threads(module: ir.Module) -> None:
    data = rows(100)
    whole = calibrate_program(module, {"x": data})
    assert whole.records["product"].count == 2 * 100 * 8  # a function called twice
    found = {whole.digest()}
    rng = np.random.default_rng(1)
    threads = kernels.get_num_threads()
    try:
        for isa, shards in product(kernels.available(), (1, 2, 7)):
            kernels.set_num_threads(2 if shards == 7 else 1)
            parts = np.array_split(rng.permutation(data), shards)
            total = Calibration()
            with kernels.use(isa):
                for part in parts[::-1]:
                    total.merge(calibrate_program(module, {"x": np.array_split(part, shards)}))
            found.add(total.digest())
            assert total.text == whole.text
    finally:
        kernels.set_num_threads(threads)
    assert len(found) == 1
    assert calibrate_program(module, {"x": data[1:]}).digest() not in found


def test_records_are_those_of_the_values(module: ir.Module) -> None:
    """The values of the plan are the interpreter's, and every one is told."""
    data = rows(5)
    expected = Calibration()
    expected.update("x", data)
    expected.update("y", qrt.compile(module, "main").run({"x": data}, interpret=True)["result0"])
    found = calibrate_program(module, {"x": data})
    for key in ("x", "y"):
        assert found.records[key] == expected.records[key]
    assert sorted(found.records) == ["product", "x", "y"]


def test_a_program_that_is_not_observed_has_no_taps(module: ir.Module) -> None:
    program, observed = qrt.compile(module, "main"), observed_program(module, "main")
    assert not any(step.op == "quant.stats_ref" for step in program.coverage())
    taps = [step for step in observed.coverage() if step.engine == "tap"]
    assert len(taps) == 4
    np.testing.assert_array_equal(observed(rows(3)), program(rows(3)))


LOOP = """
func.func @main(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %r = scf.for %i = %0 to %n step %1 iter_args(%a = %x) -> tensor<4xf32> {
    %b = "quant.stats_ref"(%a) {statsKey = "carried"} : (tensor<4xf32>) -> tensor<4xf32>
    %c = arith.addf %b, %b : tensor<4xf32>
    scf.yield %c : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
"""


def test_a_value_of_a_loop_is_told_in_each_turn() -> None:
    found = calibrate_program(ir.parse(LOOP), [{"arg0": np.ones(4, np.float32), "arg1": 3}])
    assert found.records["carried"].histogram == {0x3F80: 4, 0x4000: 4, 0x4080: 4}
    none = calibrate_program(ir.parse(LOOP), [{"arg0": np.ones(4, np.float32), "arg1": 0}])
    assert none.records == {}


def test_a_value_computed_from_constants_is_told() -> None:
    """Planning computes such values before the program runs."""
    text = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
      %0 = arith.addf %c, %c : tensor<2xf32>
      %1 = "quant.stats_ref"(%0) {statsKey = "sum"} : (tensor<2xf32>) -> tensor<2xf32>
      %2 = arith.addf %x, %1 : tensor<2xf32>
      return %2 : tensor<2xf32>
    }"""
    found = calibrate_program(ir.parse(text), {"arg0": np.zeros(2, np.float32)})
    assert (found.records["sum"].low, found.records["sum"].high) == (2, 4)


def test_a_value_lives_until_it_is_told() -> None:
    """Kernels share an arena: the second value would take the place of the first, which nothing else reads."""
    text = """!q = !quant.uniform<i8:f32, 0.5>
    func.func @main(%x: tensor<64x!q>, %y: tensor<64x!q>) -> tensor<64x!q> {
      %0 = quant.dcast %x : tensor<64x!q> to tensor<64xf32>
      %1 = quant.dcast %y : tensor<64x!q> to tensor<64xf32>
      %2 = "quant.stats_ref"(%0) {statsKey = "first"} : (tensor<64xf32>) -> tensor<64xf32>
      %3 = quant.qcast %1 : tensor<64xf32> to tensor<64x!q>
      return %3 : tensor<64x!q>
    }"""
    found = calibrate_program(ir.parse(text), {"arg0": np.full(64, 2, np.int8), "arg1": np.full(64, 100, np.int8)})
    assert (found.records["first"].low, found.records["first"].high) == (1, 1)


def test_arrays_run_in_parts(module: ir.Module) -> None:
    """All of a large array at a time would need memory that grows with it."""
    data = rows(64 * 60)

    def peak(count: int) -> int:
        tracemalloc.start()
        calibrate_program(module, {"x": data[:count]})
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(64)
    assert peak(64 * 60) < peak(64) + (1 << 18)


STATIC = (
    NETWORK.replace("?x8", "4x8")
    .replace("%n = tensor.dim %x, %0 : tensor<4x8xf32>", "")
    .replace("empty(%n)", "empty()")
)


def test_a_static_program_takes_its_rows_from_larger_batches() -> None:
    module = ir.parse(STATIC)
    data = rows(12)
    digests = {calibrate_program(module, {"x": given}).digest() for given in (data, [data[:4], data[4:]])}
    assert digests == {calibrate_program(ir.parse(NETWORK), {"x": data}).digest()}
    with pytest.raises(ModelError, match="batch 1: the number of rows of input 'x' must be a multiple of 4"):
        calibrate_program(module, {"x": [data[:6]]})


def bad_batches() -> Iterator[Any]:
    yield rows(3)
    yield np.where(rows(3) > 1, np.float32(np.inf), rows(3))


BAD: list[tuple[Any, str]] = [
    ({}, "input 'x' (tensor<?x8xf32>) is missing"),
    ({"x": []}, "'data' must have at least one batch for main, got none"),
    ([], "'data' must have at least one batch for main, got none"),
    ({"x": rows(0)}, "input 'x' must have elements, got shape [0, 8]"),
    ({"x": [rows(2), rows(0)]}, "batch 2: input 'x' must have elements, got shape [0, 8]"),
    ({"y": rows(2)}, "no input is named 'y'; the inputs are x"),
    ([{"x": rows(2)}, {}], "batch 2: input 'x' (tensor<?x8xf32>) is missing"),
    ({"x": rows(2)[:, :3]}, "batch 1: input 'x' must be tensor<?x8xf32>, got shape [2, 3]"),
    ({"x": [rows(2), rows(2)[0]]}, "batch 2: input 'x' must be tensor<?x8xf32>, got shape [8]"),
    (
        {"x": rows(2).astype(np.float64)},
        "batch 1: input 'x' must be of dtype float32, because its type is tensor<?x8xf32>, got dtype float64",
    ),
    (
        {"x": bad_batches()},
        "batch 2: input 'x' must be finite, got inf at [0, 6]: fix the data, or leave such values out",
    ),
    ({"x": 3}, "input 'x' must be an array or an iterable of batches, got 3"),
]


@pytest.mark.parametrize(("data", "message"), BAD)
def test_bad_data_is_named(module: ir.Module, data: Any, message: str) -> None:
    with pytest.raises(ModelError, match=re.escape(message)):
        calibrate_program(module, data)


@pytest.mark.parametrize("data", [rows(2), [rows(2)], "x", 5, None])
def test_data_without_names_is_refused(module: ir.Module, data: Any) -> None:
    with pytest.raises(QuantTypeError, match=r"batch 1 must be a mapping from names of inputs to arrays, got an"):
        calibrate_program(module, data)


TWO = """func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.divf %a, %b : tensor<?xf32>
  %1 = "quant.stats_ref"(%0) {statsKey = "quotient"} : (tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}"""


def test_inputs_go_together() -> None:
    module, one = ir.parse(TWO), np.ones(2, np.float32)
    with pytest.raises(ModelError, match="all inputs must have the same number of batches, but input 'arg1' ends"):
        calibrate_program(module, {"arg0": [one, one], "arg1": [one]})
    with pytest.raises(ModelError, match="but input 'arg1' is an array and 'arg0' has batches"):
        calibrate_program(module, {"arg0": [one, one], "arg1": one})
    many = np.ones(200, np.float32)
    with pytest.raises(ModelError, match="but input 'arg0' has rows for 4 and 'arg1' for 1"):
        calibrate_program(module, {"arg0": many, "arg1": one})


def test_a_value_that_is_not_finite_is_named_with_op_and_batch() -> None:
    module, one = ir.parse(TWO, filename="two.mlir"), np.float32([1, 1, 1])
    data = {"arg0": [one, one], "arg1": [one, np.float32([1, 0, 2])]}
    message = r"two.mlir:3:\d+: error: batch 2: the value 'quotient' of 'arith.divf' must be finite, got inf at"
    with pytest.raises(ModelError, match=message):
        calibrate_program(module, data)
    found = calibrate_program(module, data, skip_nonfinite=True)
    assert found.skipped == {"quotient": 1}
    assert found.records["quotient"].count == 5
    clean = Calibration()
    clean.update("quotient", np.ones(4, np.float32))
    clean.update("quotient", np.float32([0.5]))
    assert clean.records == found.records
    assert clean.digest() != found.digest()


def test_a_program_without_keys_is_refused() -> None:
    text = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }"
    with pytest.raises(
        ModelError,
        match=r"f must have quant\.stats_ref ops, .* run the pass attach-stats-ref first",
    ):
        calibrate_program(ir.parse(text), {"arg0": np.zeros(2, np.float32)})


T = "tensor<2x4xf32>"
Q = "tensor<2x4x!quant.uniform<i8:f32, 0.5>>"
HEAD = f"func.func @main(%x: {T}) -> "
COUNTED_LOOP = f"""{HEAD}{T} {{
  %a = arith.constant 0 : index
  %s = arith.constant 1 : index
  %e = arith.constant 3 : index
  %r = scf.for %i = %a to %e step %s iter_args(%c = %x) -> {T} {{
    %0 = arith.addf %c, %c {{my.tap}} : {T}
    scf.yield %0 : {T}
  }}
  return %r : {T}
}}"""
BLOCKS = f"""{HEAD}{T} {{
  cf.br ^next(%x : {T})
^next(%v: {T}):
  %0 = arith.addf %v, %v {{my.tap}} : {T}
  return %0 : {T}
}}"""
PROGRAMS = {
    "an op of the interpreter": f"{HEAD}{T} {{ %0 = arith.addf %x, %x {{my.tap}} : {T}  return %0 : {T} }}",
    "a kernel between kernels": f"{HEAD}{Q} {{ %0 = quant.qcast %x : {T} to {Q}  %1 = qrt.add %0, %0 {{my.tap}} : "
    f"({Q}, {Q}) -> {Q}  %2 = qrt.add %1, %0 : ({Q}, {Q}) -> {Q}  return %2 : {Q} }}",
    "another name of memory that is read later": f"{HEAD}{Q} {{ %0 = quant.qcast %x : {T} to {Q}  "
    f"%1 = quant.scast %0 {{my.tap}} : {Q} to tensor<2x4xi8>  %2 = quant.scast %1 : tensor<2x4xi8> to {Q}  "
    f"%3 = qrt.add %2, %0 : ({Q}, {Q}) -> {Q}  return %3 : {Q} }}",
    "a constant": f"{HEAD}{T} {{ %0 = arith.constant dense<2.0> : {T}  %1 = arith.addf %0, %0 {{my.tap}} : {T}  "
    f"%2 = arith.mulf %1, %x : {T}  return %2 : {T} }}",
    "a loop": COUNTED_LOOP,
    "several blocks": BLOCKS,
    "a call": f"func.func private @f(%x: {T}) -> {T} {{ %0 = arith.addf %x, %x {{my.tap}} : {T}  return %0 : {T} }}\n"
    f"{HEAD}{T} {{ %0 = func.call @f(%x) : ({T}) -> {T}  %1 = func.call @f(%0) : ({T}) -> {T}  return %1 : {T} }}",
}
X = np.float32([[1, 2, 3, 4], [-1, -2, -3, -4]])


def tapped(text: str) -> qrt.Program:
    module = flattened(ir.parse(text), "main")
    taps: dict[Value, str] = {op.results[0]: f"v{n}" for n, op in enumerate(_marked(module))}
    return tapped_program(module, "main", taps)


def _marked(module: ir.Module) -> list[Operation]:
    return [op for op in module.operation.walk() if "my.tap" in op.attributes]


def results(program: qrt.Program, change: Any) -> tuple[Any, list[tuple[str, Any]]]:
    seen = []

    def tap(op: Operation, value: Any) -> Any:
        seen.append((name_of(op), value))
        return change(value)

    (result,) = program.run_arrays(program.arrays_of({"arg0": X}), tap=tap)
    return np.asarray(result), seen


@pytest.mark.parametrize("what", PROGRAMS)
def test_a_run_goes_on_with_the_value_that_a_tap_gives(what: str) -> None:
    """The program with an operation that adds a number in place of the tap is the oracle."""
    text, program = PROGRAMS[what], tapped(PROGRAMS[what])
    plain = np.asarray(qrt.compile(ir.parse(text))(X))
    unchanged, seen = results(program, lambda value: None)
    np.testing.assert_array_equal(unchanged, plain)
    assert len(seen) == {"a loop": 3, "a call": 2}.get(what, 1)
    changed, _ = results(program, lambda value: value + value.dtype.type(1))
    expected = {
        "an op of the interpreter": 2 * X + 1,
        "a kernel between kernels": 3 * X + 0.5,
        "another name of memory that is read later": 2 * X + 0.5,
        "a constant": 5 * X,
        "a loop": 8 * X + 7,
        "several blocks": 2 * X + 1,
        "a call": 4 * X + 3,
    }[what]
    np.testing.assert_array_equal(changed, expected)
    np.testing.assert_array_equal(results(program, lambda value: None)[0], plain)


def test_values_that_were_told_stay_as_they_were() -> None:
    """Memory of one value is not used for another as long as the run is told of."""
    program = tapped(PROGRAMS["a kernel between kernels"])
    _, seen = results(program, lambda value: None)
    np.testing.assert_array_equal(seen[0][1], np.clip(4 * X, -128, 127).astype(np.int8))


def test_annotations_are_gone_and_the_module_stays_as_it_was() -> None:
    text = PROGRAMS["an op of the interpreter"].replace(
        "%0 =", f'%s = "quant.stats_ref"(%x) {{statsKey = "k"}} : ({T}) -> {T}  %0 ='
    )
    module = ir.parse(text)
    before = str(module)
    copy = flattened(module, "main")
    assert "stats_ref" not in str(copy)
    program = tapped_program(copy, "main", {op.results[0]: "v" for op in _marked(copy)})
    program.run_arrays([X], tap=lambda *_: None)
    assert str(module) == before

"""What is done to a program before it is planned. Hazards: the program itself is changed; another op, or another place
of the text, is named by an error; a function that calls itself meets what was made of it; the pipeline that is printed
is not the one that runs, or makes another program."""

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.errors import ModelError, UndefinedError
from qrt.ir import run_passes
from qrt.ir.pipeline import PASSES, module_steps
from qrt.ir.pipeline_text import spell_steps
from qrt.runtime import prepare
from qrt.runtime.compilation import preparation_text
from qrt.runtime.constant_fold import FoldPlanConstants
from tests.runtime.programs import EVERYTHING
from tests.runtime.saved.samples import TEXTS, inputs_of, same

CALLS = """
func.func private @g(%x: tensor<?xi32>, %k: i32) -> tensor<?xi32> {
  %n = arith.constant 2 : index
  %t = tensor.splat %k[%n] : tensor<?xi32>
  %0 = arith.divsi %x, %t : tensor<?xi32>
  return %0 : tensor<?xi32>
}
func.func @main(%x: tensor<?xi32>) -> tensor<?xi32> {
  %a = arith.constant 6 : i32
  %b = arith.constant 3 : i32
  %k = arith.divsi %a, %b : i32
  %0 = call @g(%x, %k) : (tensor<?xi32>, i32) -> tensor<?xi32>
  %c = arith.constant 0 : i32
  %1 = call @g(%0, %c) : (tensor<?xi32>, i32) -> tensor<?xi32>
  return %1 : tensor<?xi32>
}
"""


def test_passes_leave_the_program_as_it_is():
    for text in (EVERYTHING, CALLS):
        module = ir.parse(text)
        before = str(module)
        qrt.compile(module, "main").coverage()
        assert str(module) == before


def test_calls_are_inlined_and_constants_computed():
    (block,) = prepare.prepared(ir.parse(CALLS), "main", saturating=False).function.regions[0].blocks
    names = [op.name for op in block]
    division = ["arith.constant", "tensor.cast", "arith.divsi"]
    assert names == [*division, *division, "func.return"]
    assert [str(op.location).partition(":")[2] for op in block if op.name == "arith.divsi"] == ["5:8", "5:8"]


@pytest.mark.parametrize("interpret", [False, True])
def test_an_error_names_the_op_where_it_is_written(interpret):
    program = qrt.compile(CALLS, "main")
    with pytest.raises(ModelError, match=r":5:8: error: 'arith.divsi' op division by zero") as caught:
        program.run({"arg0": np.int32([4, 8])}, interpret=interpret)
    assert type(caught.value.__cause__) is UndefinedError


@pytest.mark.parametrize("interpret", [False, True])
def test_a_function_that_calls_itself_in_a_region_meets_its_own_constants(interpret):
    """While it is planned its constants hold arrays. The call runs the function as the text has it."""
    program = qrt.compile(
        """func.func @main(%n: i32) -> i32 {
          %zero = arith.constant 0 : i32
          %one = arith.constant 1 : i32
          %two = arith.addi %one, %one : i32
          %q = arith.constant dense<[1, 2]> : tensor<2xi8>
          %s = quant.scast %q : tensor<2xi8> to tensor<2x!quant.uniform<i8:f32, 0.5>>
          %d = quant.dcast %s : tensor<2x!quant.uniform<i8:f32, 0.5>> to tensor<2xf32>
          %i = arith.constant 1 : index
          %f = tensor.extract %d[%i] : tensor<2xf32>
          %v = arith.fptosi %f : f32 to i32
          %done = arith.cmpi sle, %n, %zero : i32
          %r = scf.if %done -> i32 {
            scf.yield %v : i32
          } else {
            %m = arith.subi %n, %one : i32
            %c = func.call @main(%m) : (i32) -> i32
            %e = arith.addi %c, %two : i32
            scf.yield %e : i32
          }
          return %r : i32
        }"""
    )
    assert program.run({"arg0": 5}, interpret=interpret)["result0"] == 11


@pytest.mark.parametrize("interpret", [False, True])
@pytest.mark.parametrize("name", ["never", "called"])
def test_a_function_that_does_not_return_is_the_interpreters(name, interpret):
    program = qrt.compile(
        """func.func @never(%x: i32) -> i32 {
          ub.unreachable
        }
        func.func @called(%x: i32) -> i32 {
          %0 = call @never(%x) : (i32) -> i32
          return %0 : i32
        }""",
        name,
    )
    with pytest.raises(ModelError, match=r":2:\d+: error: 'ub.unreachable' op is reached"):
        program.run({"arg0": 1}, interpret=interpret)


def test_constants_are_folded_once_for_all_shapes(monkeypatch):
    names = []
    fold = FoldPlanConstants.fold

    def noted(self, module, function):
        names.append(self.entry)
        return fold(self, module, function)

    monkeypatch.setattr(FoldPlanConstants, "fold", noted)
    program = qrt.compile(
        """func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
          %0 = arith.negf %x : tensor<?xf32>
          return %0 : tensor<?xf32>
        }"""
    )
    for size in (1, 2, 3):
        program(np.ones(size, np.float32))
    assert len(program._plans) == 3
    assert names == ["main"]


_Q, _U = "tensor<4x!quant.uniform<i8:f32, 0.5>>", "tensor<4x!quant.uniform<u8:f32, 0.25:128>>"
_S = "tensor<2x!quant.uniform<si8:f32, 0.5>>"
"""Stored in what no `arith.constant` has."""
PREPARED = {
    **TEXTS,
    "calls": CALLS.replace("constant 0 : i32", "constant 2 : i32"),
    "fused": f"""func.func @main(%x: {_Q}) -> {_U} {{
      %0 = qrt.concat %x, %x {{axis = 0 : i64}} : ({_Q}, {_Q}) -> tensor<8x!quant.uniform<i8:f32, 0.5>>
      %1 = qrt.clamp %x {{max = 4.0 : f32, min = 0.0 : f32}} : ({_Q}) -> {_Q}
      %2 = qrt.add %1, %1 : ({_Q}, {_Q}) -> {_Q}
      %3 = qrt.requantize %2 : ({_Q}) -> {_U}
      return %3 : {_U}
    }}""",
    "annotated": """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = quant.region(%x) {
      ^bb0(%a: tensor<2xf32>):
        %2 = arith.addf %a, %a : tensor<2xf32>
        quant.return %2 : tensor<2xf32>
      } {input_specs = [f32], kernel = "add", output_specs = [f32]} : (tensor<2xf32>) -> tensor<2xf32>
      %1 = "quant.stats_ref"(%0) {statsKey = "y"} : (tensor<2xf32>) -> tensor<2xf32>
      return %1 : tensor<2xf32>
    }""",
    "constants": f"""func.func @main(%x: tensor<?xf32>) -> ({_U}, tensor<?xf32>, {_S}, i4) {{
      %c = arith.constant dense<[1.0, -2.0, 31.75, 40.0]> : tensor<4xf32>
      %d = arith.constant dense<[1.0, -2.0]> : tensor<2xf32>
      %f = arith.constant 3.5 : f32
      %n = arith.constant 2 : index
      %i = arith.constant 7 : i4
      %0 = quant.qcast %c : tensor<4xf32> to {_U}
      %1 = tensor.splat %f[%n] : tensor<?xf32>
      %2 = arith.addf %1, %1 : tensor<?xf32>
      %3 = arith.addf %2, %x : tensor<?xf32>
      %4 = quant.qcast %d : tensor<2xf32> to {_S}
      %5 = arith.addi %i, %i : i4
      return %0, %3, %4, %5 : {_U}, tensor<?xf32>, {_S}, i4
    }}""",
}


@pytest.mark.parametrize("name", PREPARED)
@pytest.mark.parametrize("saturating", [False, True])
def test_the_printed_pipeline_makes_the_program_that_is_planned(name, saturating):
    """Run by hand it gives a program of the same bits, and of the same steps. There is nothing left to prepare."""
    module = ir.parse(PREPARED[name])
    program = qrt.compile(module, "main", saturating=saturating)
    text = preparation_text(program)
    assert module_steps(text) == prepare.preparation(module, module.function("main"), saturating)
    by_hand = run_passes(ir.parse(PREPARED[name]), text).print(exact=True)
    again = qrt.compile(ir.parse(by_hand, upstream=24), "main", saturating=saturating)
    sizes = [tuple(2 if n is None else n for n in port.type.shape or ()) for port in program.inputs]
    engines = [[(step.op, step.engine) for step in each.coverage(*sizes)] for each in (program, again)]
    assert engines[0] == engines[1]
    for seed in range(3):
        inputs = inputs_of(program, seed, 2)
        assert same(program.run(inputs), again.run(inputs))
    twice = run_passes(ir.parse(by_hand, upstream=24), preparation_text(again)).print(exact=True)
    assert twice == by_hand


@pytest.mark.parametrize("name", ["fused", "annotated", "constants", "calls"])
def test_each_pass_runs_alone(name):
    module = ir.parse(PREPARED[name])
    steps = prepare.preparation(module, module.function("main"), saturating=False)
    assert {step.name for step in steps} <= PASSES.keys()
    for step in steps:
        ir.parse(run_passes(ir.parse(PREPARED[name]), spell_steps([step])).print(exact=True), upstream=24).verify()


def names(text, entry="main"):
    module = ir.parse(text)
    return [step.name for step in prepare.preparation(module, module.function(entry), saturating=False)]


def test_passes_run_that_the_program_needs():
    assert names(PREPARED["calls"]) == ["inline", "fold-plan-constants"]
    assert names(PREPARED["annotated"]) == [
        "inline-regions",
        "fuse-loops",
        "fold-plan-constants",
    ]
    fusing = ["split-concat", "make-tables", "fold-clamp", "fold-sign"]
    assert names(PREPARED["fused"]) == [*fusing, "fold-plan-constants"]


def test_requantizations_that_a_pass_makes_reach_those_behind_it():
    """A concatenation of two types is split into requantizations. No op of the program says that they will be there."""
    text = f"""func.func @main(%x: {_Q}, %y: {_U}) -> tensor<8x!quant.uniform<i8:f32, 0.5>> {{
      %0 = qrt.concat %x, %y {{axis = 0 : i64}} : ({_Q}, {_U}) -> tensor<8x!quant.uniform<i8:f32, 0.5>>
      return %0 : tensor<8x!quant.uniform<i8:f32, 0.5>>
    }}"""
    assert names(text) == ["split-concat", "make-tables", "fold-sign", "fold-plan-constants"]


def test_kernels_of_a_function_that_is_not_called_fuse_nothing():
    text = f"""func.func @other(%x: {_Q}) -> {_Q} {{
      %0 = qrt.clamp %x {{max = 4.0 : f32, min = 0.0 : f32}} : ({_Q}) -> {_Q}
      return %0 : {_Q}
    }}
    func.func private @inner(%x: tensor<4xf32>) -> {_Q} {{
      %0 = quant.qcast %x : tensor<4xf32> to {_Q}
      return %0 : {_Q}
    }}
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %0 = arith.addf %x, %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }}
    func.func @calls(%x: tensor<4xf32>) -> {_Q} {{
      %0 = arith.addf %x, %x : tensor<4xf32>
      %1 = call @inner(%0) : (tensor<4xf32>) -> {_Q}
      return %1 : {_Q}
    }}"""
    assert names(text) == ["fuse-loops", "fold-plan-constants"]
    assert names(text, "calls") == ["inline", "tabulate-casts", "make-tables", "fuse-loops", "fold-plan-constants"]


def test_a_function_of_several_blocks_has_no_plan_to_prepare():
    text = "func.func @main(%x: i32) -> i32 { cf.br ^a(%x : i32)\n^a(%y: i32): return %y : i32 }"
    program = qrt.compile(text)
    assert module_steps(preparation_text(program)) == []
    assert str(run_passes(ir.parse(text), "fold-plan-constants,inline{entry=main canonicalize=false}")) == str(
        ir.parse(text)
    )


def test_a_pass_of_a_plan_needs_to_know_the_function():
    text = "func.func @f() { return }\nfunc.func @g() { return }"
    with pytest.raises(ModelError, match="no function is named 'main'; the functions of the module are: f, g"):
        run_passes(ir.parse(text), "fold-plan-constants")
    with pytest.raises(qrt.errors.VerifyError, match="no function is named @h"):
        run_passes(ir.parse(text), "inline{entry=h}")
    assert run_passes(ir.parse(text), "fold-plan-constants{entry=g},inline{entry=g}") == ir.parse(text)


def test_inlining_into_an_entry_keeps_what_recursion_needs():
    """In a region a recursive call stays, and the function that it names with it; elsewhere it is an error there."""
    text = """func.func private @down(%n: i32, %c: i1) -> i32 {
      %0 = scf.if %c -> i32 {
        %1 = func.call @down(%n, %c) : (i32, i1) -> i32
        scf.yield %1 : i32
      } else {
        scf.yield %n : i32
      }
      return %0 : i32
    }
    func.func @main(%n: i32, %c: i1) -> i32 {
      %0 = func.call @down(%n, %c) : (i32, i1) -> i32
      return %0 : i32
    }
    func.func @endless(%n: i32) -> i32 {
      %0 = func.call @endless(%n) : (i32) -> i32
      return %0 : i32
    }"""
    module = run_passes(ir.parse(text), "inline{entry=main}")
    assert [function.sym_name for function in module.functions] == ["down", "main", "endless"]
    calls = {f.sym_name: [op for op in f.walk() if op.name == "func.call"] for f in module.functions}
    assert {name: len(ops) for name, ops in calls.items()} == {"down": 1, "main": 1, "endless": 1}
    assert calls["main"][0].parent_operation.name == "scf.if"
    with pytest.raises(
        ModelError, match=r":14:5: error: 'func.func' op calls must be at most 64 deep, got deeper or recursive ones"
    ):
        run_passes(ir.parse(text), "inline{entry=endless}")


def test_loops_without_results_and_constants_without_readers_are_no_steps() -> None:
    """A loop that computes nothing is folded to nothing. A vector is in no plan; unread, it needs no step either."""
    text = """func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
      %a = arith.constant 0 : index
      %b = arith.constant 4 : index
      %c = arith.constant 1 : index
      %v = arith.constant dense<1> : vector<4xi32>
      scf.for %i = %a to %b step %c { %n = arith.addi %i, %i : index }
      return %x : tensor<2xi32>
    }"""
    assert "scf.for" not in str(run_passes(ir.parse(text), "fold-plan-constants"))
    assert qrt.compile(text).coverage() == []
    read = text.replace("return", "%w = arith.addi %v, %v : vector<4xi32> return")
    assert [step.op for step in qrt.compile(read).coverage()] == ["arith.constant", "arith.addi"]


def test_a_constant_beyond_memory_is_an_error_of_its_own() -> None:
    """One value stands for all elements in the text: folding it took the memory of all of them."""
    text = "func.func @f() { %0 = arith.constant dense<1.5> : tensor<1000000000000xf32> return }"
    for fold in (lambda: qrt.compile(text), lambda: run_passes(ir.parse(text), "fold-plan-constants")):
        with pytest.raises(ModelError, match=r":1:23: error: 'arith.constant' op needs more memory than is available"):
            fold()


@pytest.mark.parametrize("more", ["", "%x: tensor<?xf32>"], ids=["planned at once", "planned when called"])
def test_memrefs_of_memrefs_are_no_constants(more: str) -> None:
    """They do not run; the error names the operation, not a type of tensors that nobody wrote."""
    text = f"func.func @f({more}) {{ %0 = memref.alloca() : memref<4xmemref<4xi32>> return }}"
    inputs = {"arg0": np.zeros(3, np.float32)} if more else {}
    with pytest.raises(ModelError, match=r"'memref.alloca' op values of type memref<4xi32> cannot be computed"):
        qrt.compile(text).run(inputs)

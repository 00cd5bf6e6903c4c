"""Programs: planning, running, naming, errors. The interpreter is the oracle: it never touches a kernel."""

import copy
import pickle
import threading
from pathlib import Path

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.errors import ModelError, QuantError, QuantTypeError, UndefinedError
from qrt.ir import run_passes
from qrt.ir.dialects.func import inlining
from qrt.ir.passes import inline
from qrt.runtime.interpreter import qrt as qrt_ops
from qrt.runtime.operations import family_call
from qrt.runtime.program import MAX_PLANS
from tests.runtime.programs import CAST, EVERYTHING, assert_same


@pytest.fixture(scope="module")
def everything():
    return qrt.compile(EVERYTHING)


def images(count, seed=0):
    return np.random.default_rng(seed).normal(0, 3, (count, 3, 3, 2)).astype(np.float32)


@pytest.mark.parametrize("isa", qrt.kernels.available())
@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_kernels_equal_the_interpreter_for_every_op(isa, count):
    with qrt.kernels.use(isa):
        program = qrt.compile(EVERYTHING)
        inputs = {"images": images(count)}
        assert_same(program.run(inputs), program.run(inputs, interpret=True))


def test_ports_have_the_names_of_the_text(everything):
    assert [p.name for p in everything.inputs] == ["images"]
    assert [p.name for p in everything.outputs] == ["logits", "result1"]
    logits, pooled = everything(images(2))
    assert logits.shape == (2, 3)
    assert pooled.shape == (2, 2, 2, 4)


def test_coverage_names_a_kernel_for_every_op_that_computes(everything):
    engines = {step.op: step.engine for step in everything.coverage((2, 3, 3, 2))}
    assert set(engines.values()) == {"kernel"}
    assert {"qrt.conv2d", "qrt.matmul", "quant.qcast", "qrt.avg_pool2d"} <= set(engines)


def test_temporaries_share_memory_only_when_they_do_not_live_together(everything):
    plan = everything._plan([everything.inputs[0].type.with_(shape=(64, 3, 3, 2))])
    live = [s for s in plan.details.slots.values() if s.kind == "temporary"]
    for i, a in enumerate(live):
        for b in live[:i]:
            together = a.first <= b.last and b.first <= a.last
            overlap = a.offset < b.offset + b.nbytes and b.offset < a.offset + a.nbytes
            assert not (together and overlap)
    assert plan.memory.arena_bytes < sum(s.nbytes for s in live)


def test_plans_are_bounded(everything):
    for count in range(MAX_PLANS + 4):
        everything(images(count + 1))
    assert len(everything._plans) == MAX_PLANS


def test_many_threads_share_a_program(everything):
    wanted = {n: everything.run({"images": images(n, n)}) for n in range(1, 5)}
    failures = []

    def work():
        for n in list(wanted) * 5:
            try:
                assert_same(everything.run({"images": images(n, n)}), wanted[n])
            except AssertionError as error:
                failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


def test_results_are_fresh_and_not_overwritten_by_the_next_run(everything):
    first = everything(images(2))[0]
    kept = first.copy()
    everything(images(2, seed=9))
    np.testing.assert_array_equal(first, kept)


def test_an_argument_or_a_constant_that_is_returned_is_copied():
    program = qrt.compile(
        """func.func @f(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi8>, tensor<2xf32>) {
             %c = arith.constant dense<[1, 2]> : tensor<2xi8>
             return %x, %c, %x : tensor<2xf32>, tensor<2xi8>, tensor<2xf32>
           }"""
    )
    x = np.float32([1, 2])
    a, c, b = program(x)
    a[0] = c[0] = 9
    assert x.tolist() == b.tolist() == [1, 2]
    assert program(x)[1].tolist() == [1, 2]


def test_quantized_inputs_take_storage_or_a_quant_tensor():
    program = qrt.compile(
        """!q = !quant.uniform<u4:f32, 0.5:3>
           func.func @f(%q: tensor<3x!q>) -> tensor<3xi4> {
             %0 = quant.scast %q : tensor<3x!q> to tensor<3xi4>
             return %0 : tensor<3xi4>
           }"""
    )
    storage = np.uint8([0, 7, 15])
    q = qrt.QuantTensor(storage, qrt.UniformType("u4", "f32", 0.5, 3))
    assert program(storage).tolist() == program(q).tolist() == [0, 7, -1]
    with pytest.raises(ModelError, match="storage values must be in"):
        program(np.uint8([0, 7, 16]))
    with pytest.raises(ModelError, match="QuantTensor"):
        program(qrt.QuantTensor(storage, qrt.UniformType("u4", "f32", 0.25, 3)))


def test_scalars_run():
    program = qrt.compile(
        """func.func @f(%x: f32) -> !quant.uniform<i8:f32, 0.5> {
             %0 = quant.qcast %x : f32 to !quant.uniform<i8:f32, 0.5>
             return %0 : !quant.uniform<i8:f32, 0.5>
           }"""
    )
    q = program(np.float32(1.5))
    assert q.shape == ()
    assert q.storage.item() == 3


def test_unranked_tensors_are_planned_for_each_shape():
    program = qrt.compile(
        """func.func @f(%x: tensor<*xf32>) -> tensor<*x!quant.uniform<i8:f32, 0.5>> {
             %0 = quant.qcast %x : tensor<*xf32> to tensor<*x!quant.uniform<i8:f32, 0.5>>
             return %0 : tensor<*x!quant.uniform<i8:f32, 0.5>>
           }"""
    )
    for shape in [(), (3,), (2, 0, 4), (1, 2, 3, 4)]:
        assert program(np.ones(shape, np.float32)).shape == shape


def test_a_program_pickles_as_text(everything):
    inputs = {"images": images(3)}
    for again in (pickle.loads(pickle.dumps(everything)), copy.copy(everything), copy.deepcopy(everything)):
        assert_same(again.run(inputs), everything.run(inputs))


def test_a_pickle_of_an_earlier_version_says_what_to_do():
    pickled = b"cqrt.runtime.program\n_rebuild\n(I1\nVtext\nVmain\nI00\ntR."
    with pytest.raises(ModelError, match="compile its model again"):
        pickle.loads(pickled)


def test_a_program_of_a_module_names_the_function_that_compiles_it(everything):
    with pytest.raises(QuantTypeError, match=r"write qrt\.compile\(module\)\), got <qrt\.ir\.module\.Module"):
        qrt.Program(everything.module)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, r"input 'images' \(tensor<\?x3x3x2xf32>\) is missing"),
        ({"images": np.zeros((1, 3, 3, 2), np.float32), "more": 1}, "no input is named 'more'"),
        ({"images": np.zeros((1, 3, 3, 3), np.float32)}, r"must be tensor<\?x3x3x2xf32>, got shape \[1, 3, 3, 3\]"),
        ({"images": np.zeros((3, 3, 2), np.float32)}, "got shape"),
        ({"images": np.zeros((1, 3, 3, 2), np.float64)}, r"input 'images' must be of dtype float32, because its"),
        ({"images": np.zeros((1, 3, 3, 2), object)}, "got dtype object"),
        ({"images": np.zeros((1, 3, 3, 2), np.complex64)}, "got dtype complex64"),
        ({"images": "text"}, "got dtype"),
    ],
)
def test_wrong_inputs_are_named(everything, inputs, message):
    with pytest.raises(ModelError, match=message):
        everything.run(inputs)


def test_big_endian_strided_and_read_only_inputs_run(everything):
    x = images(4)
    wanted = everything.run({"images": x})
    frozen = x.copy()
    frozen.flags.writeable = False
    strided = np.asfortranarray(x)
    for variant in (x.astype(">f4"), frozen, strided, np.repeat(x, 2, axis=0)[::2]):
        assert_same(everything.run({"images": variant}), wanted)


def test_recursion_is_an_error_with_a_position():
    text = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = call @main(%x) : (tensor<2xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }"""
    with pytest.raises(ModelError, match="recursive"):
        qrt.compile(text)


def test_functions_are_chosen_by_name():
    text = CAST + CAST.replace("@f", "@g")
    with pytest.raises(ModelError, match="no function is named 'main'; the functions of the module are: f, g"):
        qrt.compile(text)
    assert qrt.compile(text, "g").name == "g"


def test_a_dynamic_channel_axis_is_checked_when_it_runs():
    program = qrt.compile(
        """!q = !quant.uniform<i8:f32:0, {0.5, 1.0}>
           func.func @f(%x: tensor<?xf32>) -> tensor<?x!q> {
             %0 = quant.qcast %x : tensor<?xf32> to tensor<?x!q>
             return %0 : tensor<?x!q>
           }"""
    )
    assert program(np.float32([1, 1])).storage.tolist() == [2, 1]
    with pytest.raises(QuantError, match="number of scales"):
        program(np.float32([1, 1, 1]))


def test_load_refuses_what_it_cannot_read(tmp_path):
    with pytest.raises(ModelError, match="No such file"):
        qrt.load(tmp_path / "absent.mlir")
    with pytest.raises(ModelError, match="must end in"):
        qrt.load(tmp_path / "model.pb")
    (tmp_path / "bad.mlir").write_bytes(b"\xff\xfe")
    with pytest.raises(ModelError, match="UTF-8"):
        qrt.load(tmp_path / "bad.mlir")


def test_what_is_constant_is_computed_once():
    """By the interpreter where no family has the op; shapes that become known reach the ops after them."""
    program = qrt.compile(
        """func.func @f(%x: tensor<2xi32>) -> tensor<2xi32> {
             %c = arith.constant dense<[1, 2]> : tensor<2xi32>
             %d = arith.addi %c, %c : tensor<2xi32>
             %zero = arith.constant 0 : index
             %size = tensor.dim %d, %zero : tensor<2xi32>
             %0 = tensor.empty(%size) : tensor<?xi32>
             %1 = tensor.cast %0 : tensor<?xi32> to tensor<2xi32>
             %2 = arith.addi %1, %d : tensor<2xi32>
             %3 = arith.addi %2, %x : tensor<2xi32>
             return %3 : tensor<2xi32>
           }"""
    )
    assert [(step.op, step.engine) for step in program.coverage()] == [("arith.addi", "kernel")]
    assert program(np.int32([5, 6])).tolist() == [7, 10]


def test_frames_of_a_run_hold_no_constants():
    """Each was computed in a copy of what held all before it."""
    lines = [f"%v{n + 1} = arith.addi %v{n}, %v{n} : i32" for n in range(50)]
    program = qrt.compile(
        f"func.func @f() -> i32 {{ %v0 = arith.constant 1 : i32 {' '.join(lines)} return %v50 : i32 }}"
    )
    assert len(program._plan([]).details.frame) < 10


def test_an_error_in_a_constant_is_one_when_the_program_runs():
    program = qrt.compile(
        """func.func @f() -> i32 {
             %c = arith.constant 0 : i32
             %0 = arith.divsi %c, %c : i32
             return %0 : i32
           }"""
    )
    with pytest.raises(ModelError, match="division by zero"):
        program()


@pytest.mark.parametrize("storage", ["i1", "u1"])
@pytest.mark.parametrize("interpret", [True, False])
def test_storage_casts_of_one_bit(storage, interpret):
    """An i1 is a bool: true is -1 as signed storage and 1 as unsigned, both ways."""
    program = qrt.compile(f"""
        !q = !quant.uniform<{storage}:f32, 1.0>
        func.func @main(%b: tensor<2xi1>) -> (tensor<2x!q>, tensor<2xi1>) {{
          %0 = quant.scast %b : tensor<2xi1> to tensor<2x!q>
          %1 = quant.scast %0 : tensor<2x!q> to tensor<2xi1>
          return %0, %1 : tensor<2x!q>, tensor<2xi1>
        }}""")
    stored, bits = program.run({"arg0": np.array([True, False])}, interpret=interpret).values()
    assert stored.storage.tolist() == [-1 if storage == "i1" else 1, 0]
    assert bits.tolist() == [True, False]


def test_the_ops_of_articles_run_as_what_they_stand_for():
    text = (Path(__file__).parents[1] / "ir" / "passes" / "files" / "quant_kernels.mlir").read_text()
    rng = np.random.default_rng(0)
    inputs = {
        "conv2d": [rng.normal(0, 9, (1, 4, 4, 2)).astype(np.float32), rng.integers(-128, 128, (3, 2, 2, 2), np.int8)],
        "matmul": [rng.integers(-128, 128, (2, 4), np.int8), rng.integers(-128, 128, (4, 3), np.int8)],
    }
    for name, arrays in inputs.items():
        named = {f"arg{i}": array for i, array in enumerate(arrays)}
        written = qrt.compile(text, name)
        meant = qrt.compile(run_passes(qrt.ir.parse(text), "canonicalize"), name)
        lowered = qrt.compile(run_passes(qrt.ir.parse(text), "canonicalize,lower-qrt"), name)
        for program in (written, lowered):
            assert_same(program.run(named), meant.run(named))
            assert_same(program.run(named, interpret=True), meant.run(named))


@pytest.mark.parametrize("interpret", [True, False])
def test_a_shape_that_is_not_as_declared_names_the_op_and_its_place(interpret):
    program = qrt.compile(
        """func.func @f(%x: tensor<?xf32>) -> tensor<3xf32> {
             %0 = tensor.cast %x : tensor<?xf32> to tensor<3xf32>
             return %0 : tensor<3xf32>
           }"""
    )
    with pytest.raises(ModelError, match=r":2:\d+: error: 'tensor.cast' op the result of tensor.cast must be"):
        program.run({"arg0": np.zeros(2, np.float32)}, interpret=interpret)


def doubling(levels):
    """Functions that call the next one twice; the last one counts."""
    lines = [
        f"func.func private @f{n}(%m: memref<1xi64>) {{ call @f{n + 1}(%m) : (memref<1xi64>) -> () "
        f"call @f{n + 1}(%m) : (memref<1xi64>) -> () return }}"
        for n in range(levels)
    ]
    return "\n".join(
        [
            *lines,
            f"func.func private @f{levels}(%m: memref<1xi64>) {{",
            "  %i = arith.constant 0 : index %one = arith.constant 1 : i64",
            "  %0 = memref.load %m[%i] : memref<1xi64> %1 = arith.addi %0, %one : i64",
            "  memref.store %1, %m[%i] : memref<1xi64> return",
            "}",
            "func.func @main(%m: memref<1xi64>) { call @f0(%m) : (memref<1xi64>) -> () return }",
        ]
    )


def test_calls_that_double_are_planned_in_the_length_of_the_text(monkeypatch):
    """2^60 operations from 5 KB of text; running them is bounded by the steps one allows."""
    assert inline.inlined_at_most(ir.parse(doubling(60)).operation) < 1 << 15
    for module in (inlining, inline):
        monkeypatch.setattr(module, "inlined_at_most", lambda root: 1000)
    program = qrt.compile(doubling(60))
    with pytest.raises(ModelError, match="does not end within max_steps, the limit of steps"):
        program.run({"arg0": np.zeros(1, np.int64)}, max_steps=1000)
    inlined = run_passes(ir.parse(doubling(60)), "inline")
    assert sum(1 for _ in inlined.operation.walk()) < 2000


def test_the_operations_of_a_function_are_counted_once():
    """However often it is called when nothing more is inlined."""
    walks = []

    class Function:
        def walk(self):
            walks.append(self)
            return range(9)

    function, budget = Function(), inlining.InliningBudget(20)
    assert [budget.allows(function) for _ in range(50)] == [True, True] + [False] * 48
    assert len(walks) == 1


@pytest.mark.parametrize("budget", [0, 1, 20, 100, 1 << 20])
def test_calls_compute_the_same_inlined_or_not(budget, monkeypatch):
    monkeypatch.setattr(inlining, "inlined_at_most", lambda root: budget)
    memory = np.zeros(1, np.int64)
    qrt.compile(doubling(5)).run({"arg0": memory})
    assert memory[0] == 32
    q = "tensor<4x!quant.uniform<i8:f32, 0.5:3>>"
    text = f"""func.func private @g(%a: {q}, %b: {q}) -> ({q}, {q}) {{
      %0 = qrt.add %a, %b {{requant = "fixed"}} : ({q}, {q}) -> {q}
      return %b, %0 : {q}, {q}
    }}
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %q = quant.qcast %x : tensor<4xf32> to {q}
      %c = arith.constant dense<[1.5, -2.0, 0.0, 3.5]> : tensor<4xf32>
      %w = quant.qcast %c : tensor<4xf32> to {q}
      %0:2 = call @g(%q, %w) : ({q}, {q}) -> ({q}, {q})
      %1:2 = call @g(%0#0, %0#1) : ({q}, {q}) -> ({q}, {q})
      %d = quant.dcast %1#1 : {q} to tensor<4xf32>
      return %d : tensor<4xf32>
    }}"""
    x = np.float32([1.0, 2.0, -3.0, 0.5])
    (result,) = qrt.compile(text).run({"arg0": x}).values()
    assert result.tolist() == [4.0, -2.0, -3.0, 7.5]


@pytest.mark.parametrize("interpret", [False, True])
def test_an_error_has_the_cause_that_it_was_raised_with(interpret):
    """One that is its own cause hangs whoever follows causes, and its own is lost."""
    program = qrt.compile(
        """func.func @main(%x: i32, %y: i32) -> i32 {
          %0 = scf.execute_region -> i32 {
            %1 = func.call @divided(%x, %y) : (i32, i32) -> i32
            scf.yield %1 : i32
          }
          return %0 : i32
        }
        func.func @divided(%x: i32, %y: i32) -> i32 {
          %0 = arith.divsi %x, %y : i32
          return %0 : i32
        }""",
        "main",
    )
    with pytest.raises(ModelError, match=r"arith.divsi") as caught:
        program.run({"arg0": 1, "arg1": 0}, interpret=interpret)
    assert type(caught.value.__cause__) is UndefinedError


@pytest.mark.parametrize("interpret", [False, True])
@pytest.mark.parametrize("depth", ["4", "?"])
def test_an_error_of_an_op_without_a_kernel_names_the_op(depth, interpret):
    """No kernel has parameters for each matrix of two batch dimensions: the reference runs as a step of the plan, and
    it alone sees the multiplier."""
    a = f"tensor<2x1x2x{depth}x!quant.uniform<i8:f32:1, {{0.25}}>>"
    w, out = "tensor<3x4x1x!quant.uniform<i8:f32, 1.0>>", "tensor<2x3x2x1x!quant.uniform<i8:f32, 2.0e-14>>"
    program = qrt.compile(
        f"""func.func @main(%a: {a}, %w: {w}) -> {out} {{
          %0 = qrt.matmul %a, %w {{requant = "fixed_double"}} : ({a}, {w}) -> {out}
          return %0 : {out}
        }}"""
    )
    inputs = {"arg0": np.ones((2, 1, 2, 4), np.int8), "arg1": np.ones((3, 4, 1), np.int8)}
    with pytest.raises(ModelError, match=r"2:\d+: error: 'qrt.matmul' op requant = 'fixed_double' needs a multiplier"):
        program.run(inputs, interpret=interpret)


def test_the_interpreter_infers_types_once_for_the_same_shapes(everything, monkeypatch):
    inferred = []
    monkeypatch.setattr(qrt_ops, "family_call", lambda op, types: inferred.append(op) or family_call(op, types))
    program = qrt.compile(EVERYTHING)
    for count, is_new in ((2, True), (2, False), (3, True), (2, False)):
        inferred.clear()
        found = program.run({"images": images(count)}, interpret=True)
        assert bool(inferred) == is_new
        assert len(inferred) == len(set(inferred))
        assert_same(found, everything.run({"images": images(count)}))


def test_shapes_are_checked_again_when_they_change():
    program = qrt.compile(
        """func.func @f(%x: tensor<?xf32>) -> tensor<3xf32> {
             %0 = tensor.cast %x : tensor<?xf32> to tensor<3xf32>
             return %0 : tensor<3xf32>
           }"""
    )
    for size in (3, 2, 3, 2):
        for interpret in (True, False):
            inputs = {"arg0": np.zeros(size, np.float32)}
            if size == 3:
                program.run(inputs, interpret=interpret)
            else:
                with pytest.raises(ModelError, match=r"tensor\.cast must be"):
                    program.run(inputs, interpret=interpret)


# -- times -------------------------------------------------------------------------------------------------------------


def test_timings_have_a_line_for_each_step_and_shares_of_the_whole(everything):
    inputs = {"images": images(3)}
    steps = everything.timings(inputs, repeats=3)
    assert [(step.name, step.location) for step in steps] == [
        (step.op, step.location) for step in everything.coverage((3, 3, 3, 2))
    ]
    assert all(step.seconds > 0 for step in steps)
    assert sum(step.share for step in steps) == pytest.approx(1)
    assert all(step.engine.startswith("kernel") for step in steps)


def test_a_timed_run_gives_the_bits_of_a_run(everything):
    inputs = {"images": images(5)}
    results, steps = everything.run_timed(inputs)
    assert_same(results, everything.run(inputs))
    assert len(steps) == len(everything.coverage((5, 3, 3, 2)))


def test_timings_leave_the_arrays_of_the_caller_alone():
    program = qrt.compile("""func.func @f(%m: memref<2xi32>, %x: i32) {
      %0 = arith.constant 0 : index
      memref.store %x, %m[%0] : memref<2xi32>
      return
    }""")
    memory = np.zeros(2, np.int32)
    assert [step.name for step in program.timings({"arg0": memory, "arg1": np.int32(7)}, repeats=2)][-1] != ""
    assert memory.tolist() == [0, 0]
    program.run_timed({"arg0": memory, "arg1": np.int32(7)})
    assert memory.tolist() == [7, 0]


@pytest.mark.parametrize(
    ("inputs", "repeats", "message"),
    [
        ({}, 1, r"input 'images' \(tensor<\?x3x3x2xf32>\) is missing"),
        ({"images": images(1)}, 0, "'repeats' must be at least 1, got 0"),
        ({"images": images(1)}, 1.5, "'repeats' must be an integer"),
    ],
)
def test_timings_refuse_what_does_not_run(everything, inputs, repeats, message):
    with pytest.raises(QuantError, match=message):
        everything.timings(inputs, repeats=repeats)


def test_a_run_does_not_look_at_the_clock(everything, monkeypatch):
    monkeypatch.setattr("qrt.runtime.planner.frame_runner.perf_counter", lambda: pytest.fail("it asks for the time"))
    everything.run({"images": images(2)})

"""What passes and the verifier do ends. Hazards: patterns that undo each other, an operation that depends on itself,
which a graph region and a block that nothing reaches allow, a cast that changes only an encoding or a memory space,
constants that no list of sizes or offsets may state, a chain longer than Python's stack."""

from pathlib import Path

import pytest

import qrt
from qrt import ir
from qrt.errors import QuantError, VerifyError
from qrt.ir.core.folding import Folds
from qrt.ir.core.matching import cyclic_operations
from qrt.ir.pipeline import PASSES
from qrt.ir.rewriting.greedy import rewrite_greedily

CYCLES = (Path(__file__).parent / "cycles.txt").read_text().strip().split("\n\n")
"""Operations of which some depend on themselves."""


def parsed(text):
    module = ir.parse(text)
    module.verify()
    return module


def run(module, name):
    PASSES[name]().run(module)
    module.verify()
    return module


def left_alone(text, name="canonicalize"):
    """The program after passes that change nothing of it."""
    module = parsed(text)
    assert run(module, name) == ir.parse(text)


# -- the budget --------------------------------------------------------------------------------------------------------


def swap_forever(op, builder):
    return [builder.value("arith.addi", op.operands[::-1], op.results[0].type, dict(op.attributes))]


def grow_forever(op, builder):
    product = builder.value("arith.muli", op.operands, op.results[0].type, dict(op.attributes))
    return [builder.value("arith.addi", (product, op.operands[1]), op.results[0].type, dict(op.attributes))]


@pytest.mark.parametrize("pattern", [swap_forever, grow_forever])
def test_patterns_without_end_are_an_error_that_names_them(pattern):
    module = ir.parse("func.func @f(%x: i32, %y: i32) -> i32 {\n  %0 = arith.addi %x, %y : i32\n  return %0 : i32\n}")
    patterns = {"arith.addi": (pattern,)}
    with pytest.raises(VerifyError) as caught:
        rewrite_greedily(module.operation, Folds(), lambda operation: patterns.get(operation.name, ()))
    assert caught.value.message.startswith("'arith.addi' op is rewritten without end: after 1,064 rewrites")
    assert f"the last by the pattern '{pattern.__name__}' on 'arith.addi'" in caught.value.message
    assert caught.value.location.line == 2


def test_a_long_chain_that_ends_is_within_the_budget():
    """A `tensor.dim` moves past every insertion of the chain."""
    count = 1500
    lines = "\n".join(f"%{i + 1} = tensor.insert %x into %{i}[%c0] : tensor<?xf32>" for i in range(count))
    text = f"""func.func @f(%0: tensor<?xf32>, %x: f32) -> (tensor<?xf32>, index) {{
    %c0 = arith.constant 0 : index
    {lines}
    %d = tensor.dim %{count}, %c0 : tensor<?xf32>
    return %{count}, %d : tensor<?xf32>, index
    }}"""
    module = run(parsed(text), "canonicalize")
    (dim,) = (op for op in module.operation.walk() if op.name == "tensor.dim")
    assert dim.operands[0].operation is None


# -- casts that change only an encoding --------------------------------------------------------------------------------

_EXP = "%0 = linalg.exp ins(%a : {given}) outs(%b : {given}) -> {given}"
_PRODUCERS = {
    "a named op": _EXP,
    "a fill": "%0 = linalg.fill ins(%x : f32) outs(%b : {given}) -> {given}",
    "a generic op": """%0 = linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}} ins(%a : {given}) outs(%b : {given}) {{
      ^bb0(%in: f32, %out: f32):
        %2 = arith.addf %in, %in : f32
        linalg.yield %2 : f32
      }} -> {given}""",
    "a slice": "%0 = tensor.extract_slice %a[%i] [{size}] [1] : {given} to {given}",
    "an insertion": "%0 = tensor.insert %x into %a[%i] : {given}",
    "a write": "%0 = vector.transfer_write %v, %a[%i] : vector<2xf32>, {given}",
}
_ENCODINGS = [("", ', "e"'), (', "e"', ""), (', "e"', ', "f"')]


@pytest.mark.parametrize("producer", _PRODUCERS)
@pytest.mark.parametrize("encodings", _ENCODINGS)
@pytest.mark.parametrize("name", ["canonicalize", "inline"])
def test_a_cast_behind_an_op_that_changes_the_encoding_stays(producer, encodings, name):
    given, made = (f"tensor<4xf32{encoding}>" for encoding in encodings)
    left_alone(
        f"""func.func @f(%a: {given}, %b: {given}, %x: f32, %i: index, %v: vector<2xf32>) -> {made} {{
        {_PRODUCERS[producer].format(given=given, size=4)}
        %c = tensor.cast %0 : {given} to {made}
        return %c : {made}
        }}""",
        name,
    )


_READERS = {
    "a named op": "%0 = linalg.exp ins(%c : {made}) outs(%b : tensor<?xf32>) -> tensor<?xf32>",
    "an output": "%0 = linalg.exp ins(%b : tensor<?xf32>) outs(%c : {made}) -> {made}",
    "a slice": "%0 = tensor.extract_slice %c[%i] [2] [1] : {made} to tensor<2xf32{encoding}>",
    "a padding": "%0 = tensor.pad %c low[0] high[1] {{ ^bb0(%j: index): tensor.yield %x : f32 }} : {made} to {made}",
    "a read": "%0 = vector.transfer_read %c[%i], %x : {made}, vector<2xf32>",
    "a write": "%0 = vector.transfer_write %v, %c[%i] : vector<2xf32>, {made}",
    "an insertion": "%0 = tensor.insert %x into %c[%i] : {made}",
}


@pytest.mark.parametrize("reader", _READERS)
@pytest.mark.parametrize("encodings", _ENCODINGS)
@pytest.mark.parametrize("size", [4, "?"])
def test_an_op_does_not_take_the_source_of_a_cast_that_changes_the_encoding(reader, encodings, size):
    given, made = f"tensor<{size}xf32{encodings[0]}>", f"tensor<?xf32{encodings[1]}>"
    read = _READERS[reader].format(made=made, encoding=encodings[1])
    type = read.rpartition(" to ")[2] if " to " in read else read.rpartition(", " if "read %c" in read else " ")[2]
    type = read.rpartition("-> ")[2] if "-> " in read else made if reader in ("a write", "an insertion") else type
    left_alone(
        f"""func.func @f(%a: {given}, %b: tensor<?xf32>, %x: f32, %i: index, %v: vector<2xf32>) -> {type} {{
        %c = tensor.cast %a : {given} to {made}
        {read}
        return %0 : {type}
        }}"""
    )


# -- casts that change a memory space, constants that no list states ---------------------------------------------------


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("memref<*xi64>", "memref<*xi64, 1>"),
        ("memref<4xi64>", "memref<4xi64, strided<[?], offset: ?>, 1>"),
        ("memref<4xi64, 1>", "memref<4xi64, strided<[1], offset: ?>>"),
        ("memref<4xi64, strided<[?], offset: ?>>", "memref<4xi64, strided<[1], offset: ?>>"),
    ],
)
def test_a_buffer_of_a_tensor_that_no_cast_or_copy_makes_stays(given, made):
    tensor = "tensor<*xi64>" if "*" in given else "tensor<4xi64>"
    left_alone(
        f"""func.func @f(%m: {given}) -> {made} {{
        %t = bufferization.to_tensor %m : {given} to {tensor}
        %0 = bufferization.to_buffer %t : {tensor} to {made}
        return %0 : {made}
        }}"""
    )


@pytest.mark.parametrize("number", [-1, -(1 << 63)])
@pytest.mark.parametrize(
    "line",
    [
        "%0 = memref.reinterpret_cast %m to offset: [%k], sizes: [%i], strides: [%i] : memref<6xf32> to {view}",
        "%0 = memref.reinterpret_cast %m to offset: [%i], sizes: [%k], strides: [%i] : memref<6xf32> to {view}",
        "%0 = memref.subview %m[%k] [%i] [%i] : memref<6xf32> to {view}",
        "%0 = memref.alloc(%k) : memref<?xf32>",
        "%0 = tensor.empty(%k) : tensor<?xf32>",
    ],
)
def test_a_negative_constant_stays_an_operand(line, number):
    view = "memref<?xf32, strided<[?], offset: ?>>"
    type = line.format(view=view).rpartition(" to ")[2] if "{view}" in line else line.rpartition(" : ")[2]
    left_alone(
        f"""func.func @f(%m: memref<6xf32>, %i: index) -> {type} {{
        %k = arith.constant {number} : index
        {line.format(view=view)}
        return %0 : {type}
        }}"""
    )


@pytest.mark.parametrize(
    "line",
    [
        "%0 = memref.reinterpret_cast %m to offset: [2], sizes: [2], strides: [%k] : memref<6xf32> to {view}",
        "%0 = memref.subview %m[2] [2] [%k] : memref<6xf32> to {view}",
        "scf.forall (%j) = (0) to (%k) step (1) {{ func.call @g(%j) : (index) -> () }}",
    ],
)
def test_the_constant_that_marks_an_operand_stays_one(line):
    module = parsed(
        f"""func.func private @g(index)
        func.func @f(%m: memref<6xf32>) {{
        %k = arith.constant {-(1 << 63)} : index
        {line.format(view="memref<2xf32, strided<[?], offset: 2>>")}
        return
        }}"""
    )
    run(module, "canonicalize")


# -- operations that depend on themselves ------------------------------------------------------------------------------

_PLACES = {"module {{\n{}\n}}": "a module", "func.func @f() {{\nreturn\n^bb1:\n{}\nreturn\n}}": "an unreachable block"}
_NAMES = [
    "canonicalize",
    "cse",
    "dce",
    "inline",
    "constant-fold",
    "fuse-kernels",
    "loop-invariant-code-motion",
    "strip-func-quant-types",
    "normalize-quant-types",
]


@pytest.mark.parametrize("place", _PLACES, ids=_PLACES.values())
@pytest.mark.parametrize("lines", CYCLES, ids=lambda lines: lines.replace("\n", " ")[:60])
def test_passes_end_on_operations_that_depend_on_themselves(lines, place):
    for name in _NAMES:
        module = parsed(place.format(lines))
        cycle = {op.name for op in cyclic_operations(module.operation.walk())} - {"builtin.module", "func.func"}
        assert cycle
        run(module, name)
        if name == "canonicalize" and "func" not in place:
            assert cycle & {op.name for op in module.operation.walk()}


def test_the_operations_beside_a_cycle_are_rewritten():
    module = parsed("%0 = arith.addi %0, %1 : index\n%1 = arith.addi %2, %2 : index\n%2 = arith.constant 4 : index")
    run(module, "canonicalize")
    assert module == ir.parse("%1 = arith.constant 8 : index\n%0 = arith.addi %0, %1 : index")


_IN_LOOP = {
    "a cast": "%s = memref.cast %s : memref<?xf32> to memref<?xf32>\n%e = memref.dim %s, %c0 : memref<?xf32>",
    "two casts": """%s = memref.cast %t : memref<?xf32> to memref<?xf32>
      %t = memref.cast %s : memref<?xf32> to memref<?xf32>
      %e = memref.dim %s, %c0 : memref<?xf32>""",
    "an allocation": "%s = memref.alloc(%e) : memref<?xf32>\n%e = memref.dim %s, %c0 : memref<?xf32>",
    "a view": "%s = memref.view %b[%c0][%e] : memref<?xi8> to memref<?xf32>\n%e = memref.dim %s, %c0 : memref<?xf32>",
    "an affine.apply": "%e = affine.apply affine_map<(d0) -> (d0 + 1)>(%e)",
    "an affine.min": "%e = affine.min affine_map<(d0) -> (d0, 4)>(%e)",
    "a sum": "%e = arith.addi %e, %e : index",
    "a sum by way of a product": "%e = arith.addi %g, %e : index\n%g = arith.muli %e, %e : index",
}


@pytest.mark.parametrize("lines", _IN_LOOP.values(), ids=_IN_LOOP)
@pytest.mark.parametrize("index", ["%e", "symbol(%e)"])
def test_verifying_ends_where_an_index_depends_on_itself(lines, index):
    text = f"""func.func @f(%m: memref<?xf32>, %b: memref<?xi8>) {{
    %c0 = arith.constant 0 : index
    affine.for %i = 0 to 4 {{
      {lines}
      %v = affine.load %m[{index}] : memref<?xf32>
    }}
    return
    }}"""
    with pytest.raises(VerifyError, match=r"does not dominate this use|cannot be used as a"):
        ir.parse(text).verify()


@pytest.mark.parametrize(
    ("first", "line", "index"),
    [
        ("affine.apply affine_map<(d0) -> (d0 + 1)>(%i)", "affine.apply affine_map<(d0) -> (d0 + 1)>({})", "{}"),
        ("arith.addi %n, %n : index", "arith.addi {}, %n : index", "symbol({})"),
    ],
)
def test_an_index_of_a_long_chain_verifies(first, line, index):
    """Longer than the stack of Python is deep."""
    count = 1500
    chain = "\n".join(f"%e{i + 1} = {line.format(f'%e{i}')}" for i in range(count))
    parsed(
        f"""func.func @f(%m: memref<?xf32>, %n: index) {{
        affine.for %i = 0 to 4 {{
          %e0 = {first}
          {chain}
          %v = affine.load %m[{index.format(f"%e{count}")}] : memref<?xf32>
        }}
        return
        }}"""
    )


# -- what is computed before a program runs ----------------------------------------------------------------------------

_ENDLESS = {
    "branches": """func.func @f(%x: i32) -> i32 {
      cf.br ^a(%x : i32)
    ^a(%y: i32):
      cf.br ^a(%y : i32)
    }""",
    "calls": "func.func @f0(%x: i32) -> i32 { return %x : i32 }\n"
    + "\n".join(
        f"func.func @f{i + 1 if i < 38 else ''}(%x: i32) -> i32 {{ %0 = call @f{i}(%x) : (i32) -> i32 "
        f"%1 = call @f{i}(%0) : (i32) -> i32 return %1 : i32 }}"
        for i in range(39)
    ),
    "a loop": """func.func @f(%x: i32) -> i32 {
      %l = arith.constant 0 : index
      %u = arith.constant 9223372036854775807 : index
      %s = arith.constant 1 : index
      %r = scf.for %i = %l to %u step %s iter_args(%a = %x) -> (i32) {
        %b = arith.addi %a, %a : i32
        scf.yield %b : i32
      }
      return %r : i32
    }""",
}
_MAIN = "func.func @main() -> i32 { %c = arith.constant 1 : i32 %0 = call @f(%c) : (i32) -> i32 return %0 : i32 }"


@pytest.mark.parametrize("text", _ENDLESS.values(), ids=_ENDLESS)
@pytest.mark.parametrize("name", ["constant-fold", "inline", "canonicalize", "cse"])
def test_passes_end_on_a_program_that_does_not(text, name):
    run(parsed(f"{text}\n{_MAIN}"), name)


@pytest.mark.parametrize("text", _ENDLESS.values(), ids=_ENDLESS)
def test_a_program_is_compiled_without_end_and_ends_at_its_steps(text):
    program = qrt.compile(f"{text}\n{_MAIN}", "main")
    with pytest.raises(QuantError, match="does not end within max_steps, the limit of steps"):
        program.run({}, max_steps=10_000)


def test_constants_of_tuples_are_not_folded():
    left_alone(
        """func.func @id(%x: tuple<i1, i32>) -> tuple<i1, i32> { return %x : tuple<i1, i32> }
        func.func @main(%x: tuple<i1, i32>) -> tuple<i1, i32> {
          %0 = call @id(%x) : (tuple<i1, i32>) -> tuple<i1, i32>
          return %0 : tuple<i1, i32>
        }""",
        "constant-fold",
    )

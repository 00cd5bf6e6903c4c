"""The pass `constant-fold`: values are those of the program as it was. Hazards: bits lost on the way into a constant (a
NaN's, an unsigned storage's), an error that comes too early, a constant larger than what it stands for."""

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.errors import ModelError
from tests.ir.programs import PROGRAMS

Q, U = "!quant.uniform<i8:f32, 0.5:3>", "!quant.uniform<u8<3:250>:f32, 0.5:130>"
AXIS = "!quant.uniform<i4:f32:0, {0.5, 0.25:3}>"
GENERIC = (
    "linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = "
    '["parallel"]} ins(%a : tensor<2xTYPE>) outs(%e : tensor<2xTYPE>)'
)
CASES = {
    "i1": ("i1", "%r = arith.cmpi slt, %a, %a : i8", "%a = arith.constant 5 : i8"),
    "a shift at an odd width": (
        "i7",
        "%r = arith.shli %a, %b : i7",
        "%a = arith.constant 37 : i7",
        "%b = arith.constant 3 : i7",
    ),
    "i64": ("i64", "%r = arith.addi %a, %a : i64", "%a = arith.constant 4611686018427387904 : i64"),
    "i64s": (
        "tensor<2xi64>",
        "%r = arith.subi %a, %b : tensor<2xi64>",
        "%a = arith.constant dense<[-9223372036854775808, 9223372036854775807]> : tensor<2xi64>",
        "%b = arith.constant dense<[1, -1]> : tensor<2xi64>",
    ),
    "index": ("index", "%r = arith.muli %a, %a : index", "%a = arith.constant -7 : index"),
    "a NaN with a sign": ("f32", "%r = arith.negf %a : f32", "%a = arith.constant 0x7FC00000 : f32"),
    "bf16 NaNs": (
        "tensor<2xbf16>",
        "%r = arith.negf %a : tensor<2xbf16>",
        "%a = arith.constant dense<[0x7FC0, -0.0]> : tensor<2xbf16>",
    ),
    "tf32": (
        "tensor<2xtf32>",
        "%r = arith.mulf %a, %a : tensor<2xtf32>",
        "%a = arith.constant dense<[1.5, 0.1]> : tensor<2xtf32>",
    ),
    "f8": ("f8E4M3FN", "%r = arith.negf %a : f8E4M3FN", "%a = arith.constant 1.5 : f8E4M3FN"),
    "quantized": (
        f"tensor<2x{Q}>",
        f"%r = quant.qcast %a : tensor<2xf32> to tensor<2x{Q}>",
        "%a = arith.constant dense<[1.2, -99.0]> : tensor<2xf32>",
    ),
    "quantized, unsigned": (
        f"tensor<2x{U}>",
        f"%r = quant.qcast %a : tensor<2xf32> to tensor<2x{U}>",
        "%a = arith.constant dense<[1.2, 99.0]> : tensor<2xf32>",
    ),
    "quantized, a scalar": (Q, f"%r = quant.qcast %a : f32 to {Q}", "%a = arith.constant 1.2 : f32"),
    "quantized per axis": (
        f"tensor<2x{AXIS}>",
        f"%r = quant.qcast %a : tensor<2xf32> to tensor<2x{AXIS}>",
        "%a = arith.constant dense<[1.2, -99.0]> : tensor<2xf32>",
    ),
    "a kernel": (
        f"tensor<2x{Q}>",
        f"%r = qrt.add %q, %q : (tensor<2x{Q}>, tensor<2x{Q}>) -> tensor<2x{Q}>",
        "%a = arith.constant dense<[1, 2]> : tensor<2xi8>",
        f"%q = quant.scast %a : tensor<2xi8> to tensor<2x{Q}>",
    ),
    "a structured op": (
        "tensor<2xi32>",
        GENERIC.replace("TYPE", "i32").join(
            (
                "%r = ",
                """ {
                        ^bb0(%x: i32, %y: i32):
                          %i = linalg.index 0 : index
                          %k = arith.index_cast %i : index to i32
                          %s = arith.addi %x, %k : i32
                          linalg.yield %s : i32 } -> tensor<2xi32>""",
            )
        ),
        "%a = arith.constant dense<[1, 2]> : tensor<2xi32>",
        "%e = tensor.empty() : tensor<2xi32>",
    ),
    "a part of a vector": (
        "f32",
        "%r = vector.extract %v[1] : f32 from vector<2xf32>",
        "%v = arith.constant dense<[1.5, -0.0]> : vector<2xf32>",
    ),
    "a loop": (
        "i32",
        "%r = scf.for %i = %l to %u step %s iter_args(%x = %a) -> i32 {"
        " %y = arith.addi %x, %x : i32  scf.yield %y : i32 }",
        "%a = arith.constant 3 : i32",
        "%l = arith.constant 0 : index",
        "%u = arith.constant 9 : index",
        "%s = arith.constant 2 : index",
    ),
}


def program(result, operation, *operands):
    body = "\n".join((*operands, operation))
    return f"func.func @f() -> {result} {{\n{body}\nreturn %r : {result}\n}}"


def values(module):
    found = qrt.compile(module, "f").run({}, interpret=True)["result0"]
    array = np.ascontiguousarray(found.storage if isinstance(found, qrt.QuantTensor) else found)
    return array.dtype, array.shape, array.tobytes()


@pytest.mark.parametrize("name", CASES)
def test_the_bits_are_those_of_the_program_as_it_was(name):
    text = program(*CASES[name])
    module = ir.run_passes(ir.parse(text), "constant-fold")
    assert values(module) == values(ir.parse(text))
    assert {operation.name for operation in module.function("f").walk()} <= {
        "func.func", "arith.constant", "quant.scast", "func.return"
    }  # fmt: skip
    again = ir.run_passes(ir.parse(str(module)), "constant-fold")
    assert str(again) == str(module)


@pytest.mark.parametrize("name", PROGRAMS)
def test_whatever_is_folded_verifies_and_folds_no_further(name):
    module = ir.run_passes(ir.parse(PROGRAMS[name]), "constant-fold")
    assert ir.run_passes(ir.parse(module.print(generic=True)), "constant-fold") == module


KEPT = {
    ("an error", "i8"): "%r = arith.divsi %a, %zero : i8",
    (
        "a result of unknown shape",
        "tensor<?xi8>",
    ): "%n = arith.constant 3 : index\n %r = tensor.splat %a[%n] : tensor<?xi8>",
    ("more elements than the limit", "tensor<1048577xi8>"): "%r = tensor.splat %a : tensor<1048577xi8>",
    ("a loop of many steps", "i8"): """%l = arith.constant 0 : index
        %u = arith.constant 1000000000000 : index
        %s = arith.constant 1 : index
        %r = scf.for %i = %l to %u step %s iter_args(%x = %a) -> i8 { scf.yield %x : i8 }""",
    ("a sum over many pairs", "tensor<i8>"): """%w = arith.constant dense<1> : tensor<1000000xi8>
        %r = linalg.generic {
            indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> ()>],
            iterator_types = ["reduction", "reduction"]
        } ins(%w, %w : tensor<1000000xi8>, tensor<1000000xi8>) outs(%z : tensor<i8>) {
          ^bb0(%x: i8, %y: i8, %o: i8):
            %s = arith.maxsi %x, %y : i8
            %t = arith.maxsi %s, %o : i8
            linalg.yield %t : i8 } -> tensor<i8>""",
    ("a call", "i8"): "%r = func.call @g(%a) : (i8) -> i8",
    ("memory", "i8"): """%m = memref.alloc() : memref<i8>
        memref.store %a, %m[] : memref<i8>
        %r = memref.load %m[] : memref<i8>""",
    ("a value that is known in one branch", "i8"): """%t = arith.constant true
        cf.cond_br %t, ^b(%a : i8), ^b(%zero : i8)
        ^b(%x: i8):
        %r = arith.addi %x, %x : i8""",
}


@pytest.mark.parametrize(("name", "result"), KEPT)
def test_what_stays(name, result):
    text = f"""
    func.func private @g(%x: i8) -> i8 {{ return %x : i8 }}
    func.func @f() -> {result} {{
      %a = arith.constant 5 : i8
      %zero = arith.constant 0 : i8
      %z = arith.constant dense<0> : tensor<i8>
      {KEPT[name, result]}
      return %r : {result}
    }}"""
    module = ir.parse(text)
    module.verify()
    assert ir.run_passes(ir.parse(text), "constant-fold") == module


def test_the_limit_is_an_option():
    text = program("tensor<3xi8>", "%r = tensor.splat %a : tensor<3xi8>", "%a = arith.constant 5 : i8")
    assert "splat" in str(ir.run_passes(ir.parse(text), "constant-fold{max-elements=2}"))
    assert "splat" not in str(ir.run_passes(ir.parse(text), "builtin.module(func.func(constant-fold{max-elements=3}))"))


def test_an_error_is_one_when_the_program_runs_and_stands_where_it_stood():
    text = program("i8", "%r = arith.divsi %a, %b : i8", "%a = arith.constant 5 : i8", "%b = arith.constant 0 : i8")
    module = ir.run_passes(ir.parse(text), "constant-fold")
    with pytest.raises(ModelError, match=r"4:6: error: 'arith.divsi' op"):
        qrt.compile(module)()


def test_what_is_read_may_stand_behind_its_reader():
    text = """func.func @f() -> i32 {
      %a = arith.constant 5 : i32
      cf.br ^first
    ^second:
      %c = arith.muli %b, %b : i32
      return %c : i32
    ^first:
      %b = arith.addi %a, %a : i32
      cf.br ^second
    }"""
    assert "arith.constant 100 : i32" in str(ir.run_passes(ir.parse(text), "constant-fold"))


def test_inside_a_loop_that_stays():
    text = """func.func @f(%n: index, %x: i32) -> i32 {
      %z = arith.constant 0 : index
      %o = arith.constant 1 : index
      %a = arith.constant 5 : i32
      %r = scf.for %i = %z to %n step %o iter_args(%y = %x) -> i32 {
        %c = arith.muli %a, %a : i32
        %d = arith.addi %y, %c : i32
        scf.yield %d : i32
      }
      return %r : i32
    }"""
    module = ir.run_passes(ir.parse(text), "constant-fold")
    assert "arith.constant 25 : i32" in str(module)
    assert "scf.for" in str(module)
    assert "arith.constant 5 :" not in str(module)


NANS = {"f32": 0xFFC01234, "f64": 0xFFF8000000000123, "f16": 0xFE01, "bf16": 0xFFC1, "f8E4M3FN": 0xFF, "tf32": 0x7FE01}


@pytest.mark.parametrize("element", NANS)
@pytest.mark.parametrize("interpret", [False, True])
def test_a_nan_constant_runs_with_all_its_bits(element, interpret):
    bits = NANS[element]
    text = f"""func.func @f() -> (tensor<2x{element}>, {element}) {{
      %a = arith.constant dense<[0x{bits:X}, 1.0]> : tensor<2x{element}>
      %b = arith.constant 0x{bits:X} : {element}
      return %a, %b : tensor<2x{element}>, {element}
    }}"""
    found = qrt.compile(text).run({}, interpret=interpret)
    for value in (found["result0"][0], found["result1"][()]):
        assert int(value.view(f"u{value.dtype.itemsize}")) >> (13 if element == "tf32" else 0) == bits

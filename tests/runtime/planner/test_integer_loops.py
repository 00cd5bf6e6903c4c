"""Integers in the loops of a plan, beside the interpreter. Hazards: a product that does not wrap, a byte that is not
extended, floats that no integer holds, those in lanes that nobody asked for, a promise that the interpreter checks."""

import numpy as np
import pytest

import qrt
from tests.kernels.draws import ISAS
from tests.kernels.sizes_floats import floats, integers
from tests.runtime.planner.test_float_loops import CONTRACTIONS, check, nest

RNG = np.random.default_rng(6)
SUM = "%p = arith.muli %a, %b : i32\n %r = arith.addi %o, %p : i32\n linalg.yield %r : i32"
NARROW = """%w = arith.extsi %b : i8 to i32
  %p = arith.muli %a, %w : i32
  %r = arith.addi %p, %o : i32
  linalg.yield %r : i32"""
NOT_HELD = "a NaN or a number out of the range of i32"


@pytest.mark.parametrize("name", CONTRACTIONS)
def test_contractions(name):
    maps, iterators, shapes = CONTRACTIONS[name]
    check(nest(maps, shapes, SUM, iterators, ["i32"] * 3), [integers(RNG, *shape) for shape in shapes], "contraction")


@pytest.mark.parametrize("k", [0, 1, 2, 33, 300])
def test_bytes_that_are_constant_are_packed_as_integers(k, tmp_path):
    """As the weights of hybrid models are. Those known only at run time are read by the loops."""
    w = RNG.integers(-128, 128, (k, 19))
    text = f"""func.func @main(%x: tensor<5x{k}xi32>, %o: tensor<5x19xi32>) -> tensor<5x19xi32> {{
      %weights = arith.constant dense<{w.tolist() if k else "[]"}> : tensor<{k}x19xi8>
      %0 = linalg.generic {{indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>,
        affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}}
        ins(%x, %weights : tensor<5x{k}xi32>, tensor<{k}x19xi8>) outs(%o : tensor<5x19xi32>) {{
        ^bb0(%a: i32, %b: i8, %o1: i32):
        {NARROW.replace("%o", "%o1")}
      }} -> tensor<5x19xi32>
      return %0 : tensor<5x19xi32>
    }}""".replace("dense<[]>", "dense<>")
    x, start = integers(RNG, 5, k), integers(RNG, 5, 19)
    check(text, [x, start], "contraction")
    made = qrt.compile(text)
    made.save(tmp_path / "m.qrt")
    assert qrt.load_program(tmp_path / "m.qrt")(x, start).tobytes() == made(x, start).tobytes()
    shapes = [(5, max(k, 1)), (max(k, 1), 19), (5, 19)]
    text = nest(["d0, d2", "d2, d1", "d0, d1"], shapes, NARROW, "ppr", ["i32", "i8", "i32"])
    check(text, [integers(RNG, *shapes[0]), RNG.integers(-128, 128, shapes[1], np.int8), start], "float_loops")


REDUCED = {"sum": "addi %o, %a", "product": "muli %a, %o", "difference": "subi %a, %o", "greatest": "maxsi %o, %a",
           "least": "minsi %a, %o"}  # fmt: skip


@pytest.mark.parametrize("element", ["i8", "i16", "i32"])
@pytest.mark.parametrize("name", REDUCED)
def test_reductions(name, element):
    """Of bytes and halves that are extended; both axes."""
    extended = "" if element == "i32" else f"%a = arith.extsi %n : {element} to i32\n"
    body = f"{extended}%r = arith.{REDUCED[name]} : i32\n linalg.yield %r : i32"
    for shape in ((3, 17), (5, 300), (0, 3)):
        for maps, iterators, left in ((["d0, d1", "d1"], "rp", shape[1:]), (["d0, d1", "d0"], "pr", shape[:1])):
            if 0 in left:
                continue
            text = nest(maps, [shape, left], body, iterators, [element, "i32"])
            text = text.replace(f"^bb0(%a: {element}", f"^bb0(%n: {element}") if extended else text
            x = integers(RNG, *shape).astype(element.replace("i", "int"))
            check(text, [x, integers(RNG, *left)], "float_loops")


@pytest.mark.parametrize("target", ["i8", "i16"])
def test_truncated_and_chosen(target):
    """The greater of two numbers, cut, chosen by a comparison of floats."""
    body = f"""%f = arith.cmpf olt, %a, %b : f32
      %m = arith.maxsi %c, %d : i32
      %n = arith.trunci %m : i32 to {target}
      %k = arith.constant -3 : {target}
      %r = arith.select %f, %n, %k : {target}
      linalg.yield %r : {target}"""
    n = 333
    text = nest(["d0"] * 5, [(n,)] * 5, body, "p", ["f32", "f32", "i32", "i32", target])
    kind = target.replace("i", "int")
    check(text, [floats(RNG, n), floats(RNG, n), integers(RNG, n), integers(RNG, n), np.zeros(n, kind)], "float_loops")


@pytest.mark.parametrize("target", ["i8", "i16", "i32"])
@pytest.mark.parametrize("shape", [(1, 1), (1, 15), (2, 16), (3, 17), (1, 256), (2, 257), (33, 3)])
def test_stores(target, shape):
    """Blocks of 16, what is left of them, and elements that do not lie side by side."""
    cut = f"%n = arith.trunci %a : i32 to {target}\n" if target != "i32" else "%n = arith.addi %a, %a : i32\n"
    for map_, result in (("d0, d1", shape), ("d1, d0", shape[::-1])):
        text = nest(["d0, d1", map_], [shape, result], f"{cut}linalg.yield %n : {target}", "pp", ["i32", target])
        check(text, [integers(RNG, *shape), np.zeros(result, target.replace("i", "int"))], "float_loops")


@pytest.mark.parametrize("source", ["i1", "i8", "i16", "i32"])
def test_integers_to_floats(source):
    """Integers of 32 bits are rounded to nearest even."""
    n = 600
    x = integers(RNG, n) if source == "i32" else RNG.integers(-(2**15), 2**15, n)
    x = x.astype("bool" if source == "i1" else source.replace("i", "int"))
    t = f"tensor<{n}x{source}>"
    text = f"""func.func @main(%a: {t}) -> tensor<{n}xf32> {{
      %0 = arith.sitofp %a : {t} to tensor<{n}xf32>
      return %0 : tensor<{n}xf32>
    }}"""
    check(text, [x], "float_loops")


HELD = np.float32([0, -0.0, 0.99, -0.99, 1.5, -2.5, 1e-45, 2147483520, -2147483648, 16777217, -1, 127.99])
BEYOND = np.float32([2147483648, -2147483904, 3e38, -3e38, np.inf, -np.inf, np.nan])


def to_integers(n: int) -> str:
    return f"""func.func @main(%a: tensor<{n}xf32>) -> tensor<{n}xi32> {{
      %0 = arith.fptosi %a : tensor<{n}xf32> to tensor<{n}xi32>
      return %0 : tensor<{n}xi32>
    }}"""


@pytest.mark.parametrize("n", [1, 15, 16, 17, 256, 257, 600])
def test_floats_to_integers(n):
    x = np.resize(HELD, n)
    check(to_integers(n), [x], "float_loops")
    made, loose = qrt.compile(to_integers(n)), qrt.compile(to_integers(n), saturating=True)
    for isa in ISAS:
        with qrt.kernels.use(isa):
            for value in BEYOND:
                for at in {0, n // 2, n - 1}:
                    wrong = x.copy()
                    wrong[at] = value
                    with pytest.raises(qrt.errors.ModelError, match=NOT_HELD):
                        made(wrong)
                    expected = loose.run({loose.inputs[0].name: wrong}, interpret=True)
                    assert loose(wrong).tobytes() == np.asarray(*expected.values()).tobytes()


@pytest.mark.parametrize("n", [1, 7, 9, 17, 270])
def test_lanes_behind_the_last_one_are_no_error(n):
    """They hold zeros, whose reciprocals no integer holds."""
    body = """%c = arith.constant 1.0e3 : f32
      %q = arith.divf %c, %a : f32
      %r = arith.fptosi %q : f32 to i32
      linalg.yield %r : i32"""
    text = nest(["d0", "d0"], [(n,), (n,)], body, "p", ["f32", "i32"])
    check(text, [RNG.uniform(1, 9, n).astype(np.float32), np.zeros(n, np.int32)], "float_loops")


def test_promises_are_left_to_the_interpreter():
    body = "%r = arith.addi %o, %a overflow<nsw> : i32\n linalg.yield %r : i32"
    made = qrt.compile(nest(["d0", "d0"], [(4,), (4,)], body, "p", ["i32", "i32"]))
    assert [step.engine for step in made.coverage()] == ["interpreter"]
    with pytest.raises(qrt.errors.ModelError, match="nsw"):
        made(np.full(4, 2**31 - 1, np.int32), np.ones(4, np.int32))


NEAR_TIES = ("377eff81", "383a3ef1", "38e69cc1", "39c6be5b", "40315b33", "b3000000", "bae0e25c", "bbf0edf1", "c16912cd")
"""All floats whose exponential, as the kernel has it in float64, lies within six units of a tie of float32."""


def test_exponentials_beside_ties():
    x = np.array([int(each, 16) for each in NEAR_TIES], np.uint32).view(np.float32)
    t = f"tensor<{x.size}xf32>"
    check(f"func.func @main(%a: {t}) -> {t} {{ %0 = math.exp %a : {t} return %0 : {t} }}", [x], "float_loops")

"""Numbers of 64 bits, unsigned and narrow integers in the loops of a plan. Hazards: a NaN of the processor, a product
that does not wrap, lanes of one size read as the other, an unsigned number extended by its sign, an index of a loop
that was merged, floats that no integer holds, a constant of 64 bits cut to 32."""

import numpy as np
import pytest

import qrt
from tests.kernels.draws import ISAS
from tests.runtime.planner.test_float_loops import BINARY, PREDICATES, RNG, UNARY, check, nest

HARD = np.float64([0, -0.0, 1, -1, 0.5, -0.5, 1.5, -2.5, 5e-324, 1e-310, 1.7e308, -1.7e308, np.inf, -np.inf, np.nan,
                   2**53 + 2, -(2.0**63), 0.1, 3, 7])  # fmt: skip
DTYPES = {"f32": np.float32, "f64": np.float64, "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32,
          "i64": np.int64, "index": np.int64}  # fmt: skip
with np.errstate(all="ignore"):
    HARD32 = HARD.astype(np.float32)
INTEGERS = ("i8", "i16", "i32", "i64", "index")


def pairs(values):
    return [each.ravel() for each in np.meshgrid(values, values)]


def whole(t, n=None):
    """The ends of an integer type, what lies beside them, and numbers between; or n of such."""
    if t == "i1":
        return RNG.random(n or 8) < 0.5
    info = np.iinfo(DTYPES[t])
    ends = np.array([info.min, info.min + 1, -1, 0, 1, 2, info.max - 1, info.max], DTYPES[t])
    drawn = RNG.integers(info.min, info.max, n or 4, DTYPES[t], endpoint=True)
    return np.concatenate([ends, drawn]) if n is None else np.where(RNG.random(n) < 0.3, RNG.choice(ends, n), drawn)


def looped(op, operands, result, arrays, also=""):
    """One op in the body of a loop."""
    names = [*"ab"[: len(operands)]]
    body = f"%r = {op} {', '.join(f'%{each}' for each in names)} : {also or operands[0]}\n linalg.yield %r : {result}"
    n = arrays[0].size
    check(nest(["d0"] * (len(operands) + 1), [(n,)] * (len(operands) + 1), body, "p", [*operands, result]),
          [*arrays, np.zeros(n, DTYPES[result])], "float_loops")  # fmt: skip


@pytest.mark.parametrize("name", [*(f"arith.{name}" for name in BINARY), "arith.remf"])
def test_every_pair_of_float64(name):
    looped(name, ["f64", "f64"], "f64", pairs(HARD))


@pytest.mark.parametrize("name", [*UNARY, "math.round"])
def test_every_float64(name):
    looped(name, ["f64"], "f64", [np.concatenate([HARD, RNG.normal(0, 1e3, 600)])])


def test_two_steps_of_float32():
    x, y = pairs(HARD32)
    looped("arith.remf", ["f32", "f32"], "f32", [x, y])
    looped("math.round", ["f32"], "f32", [np.append(x, np.float32([0.49999997, -0.49999997, 8388609, 4194303.5]))])


@pytest.mark.parametrize("predicate", [each for each in PREDICATES if each not in ("one", "ueq")])
def test_predicates_of_float64(predicate):
    looped(f"arith.cmpf {predicate},", ["f64", "f64"], "i1", pairs(HARD))


@pytest.mark.parametrize("t", ["i1", *INTEGERS])
@pytest.mark.parametrize("predicate", ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"])
def test_predicates_of_integers(predicate, t):
    looped(f"arith.cmpi {predicate},", [t, t], "i1", pairs(whole(t)))


@pytest.mark.parametrize("t", INTEGERS)
@pytest.mark.parametrize("name", ["addi", "subi", "muli", "maxsi", "minsi", "maxui", "minui", "andi", "ori", "xori"])
def test_integers(name, t):
    looped(f"arith.{name}", [t, t], t, pairs(whole(t)))


@pytest.mark.parametrize("t", INTEGERS)
def test_magnitudes_and_choices(t):
    looped("math.absi", [t], t, [whole(t)]) if t != "index" else None
    body = f"%r = arith.select %a, %b, %o : {t}\n linalg.yield %r : {t}"
    for n in (1, 16, 17, 257, 600):
        text = nest(["d0"] * 3, [(n,)] * 3, body, "p", ["i1", t, t])
        check(text, [whole("i1", n), whole(t, n), whole(t, n)], "float_loops")


WIDTHS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}


@pytest.mark.parametrize(("t", "out"), [(t, out) for t in WIDTHS for out in WIDTHS if t != out])
def test_widths(t, out):
    for name in ["trunci"] if WIDTHS[t] > WIDTHS[out] else ["extsi", "extui"]:
        looped(f"arith.{name}", [t], out, [whole(t, 300)], f"{t} to {out}")


@pytest.mark.parametrize("t", ["i8", "i16", "i32", "i64"])
def test_indices(t):
    for name in ("index_cast", "index_castui"):
        looped(f"arith.{name}", [t], "index", [whole(t, 300)], f"{t} to index")
        looped(f"arith.{name}", ["index"], t, [whole("index", 300)], f"index to {t}")


@pytest.mark.parametrize("out", ["f32", "f64"])
@pytest.mark.parametrize("t", WIDTHS)
def test_integers_to_floats(t, out):
    x = whole(t, 600)
    if t == "i64":
        x[:4] = 2**24 + 1, 2**53 + 1, -(2**53) - 3, 2**63 - 512
    looped("arith.sitofp", [t], out, [x], f"{t} to {out}")
    if t != "i64":
        looped("arith.uitofp", [t], out, [x], f"{t} to {out}")


def test_between_floats():
    near = np.float64([1 + 2.0**-24, 1 + 3 * 2.0**-24, 2.0**-150, 3.5e38, -3.4028235677973366e38, 2.0**-149 * 1.5])
    looped("arith.truncf", ["f64"], "f32", [np.concatenate([HARD, near, RNG.normal(0, 1, 300)])], "f64 to f32")
    looped("arith.extf", ["f32"], "f64", [HARD32], "f32 to f64")


@pytest.mark.parametrize("name", ["fptosi", "fptoui"])
@pytest.mark.parametrize("source", ["f32", "f64"])
@pytest.mark.parametrize("target", ["i8", "i16", "i32", "i64"])
def test_floats_to_integers(source, target, name):
    if (name, target) == ("fptoui", "i64") or (name, source, target) == ("fptosi", "f32", "i32"):
        return  # the first has no step, the other is a step of float32
    bits, n = WIDTHS[target], 37
    least, beyond = (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1)) if name == "fptosi" else (0, 2.0**bits)
    dtype = DTYPES[source]
    held = np.array([0, -0.0, 0.99, -0.99, least, np.nextafter(dtype(beyond), dtype(0)), 1.5, 126.9], dtype)
    wrong = np.array([beyond, np.nextafter(dtype(least - 1), dtype(-np.inf)), np.inf, -np.inf, np.nan], dtype)
    t = f"tensor<{n}x{source}>"
    text = f"""func.func @main(%a: {t}) -> tensor<{n}x{target}> {{
      %0 = arith.{name} %a : {t} to tensor<{n}x{target}>
      return %0 : tensor<{n}x{target}>
    }}"""
    check(text, [np.resize(held, n)], "float_loops")
    made, loose = qrt.compile(text), qrt.compile(text, saturating=True)
    said = f"a NaN or a number out of the range of {'' if name == 'fptosi' else 'unsigned '}{target}"
    for value in wrong:
        x = np.resize(held, n)
        x[n - 1] = value
        expected = loose.run({loose.inputs[0].name: x}, interpret=True)
        for isa in ISAS:
            with qrt.kernels.use(isa):
                with pytest.raises(qrt.errors.ModelError, match=said):
                    made(x)
                assert loose(x).tobytes() == np.asarray(*expected.values()).tobytes()


REDUCED = {
    "sum": ("f64", "%r = arith.addf %o, %a : f64"),
    "fma": ("f64", "%r = math.fma %a, %a, %o : f64"),
    "greatest": ("i64", "%r = arith.maxsi %o, %a : i64"),
    "greatest byte": ("i8", "%r = arith.maxui %o, %a : i8"),
    "product": ("i64", "%r = arith.muli %a, %o : i64"),
    "chosen": ("i32", "%c = arith.cmpi sgt, %a, %o : i32\n %r = arith.select %c, %a, %o : i32"),
    "constant": ("i64", "%k = arith.constant 4294967297 : i64\n %p = arith.addi %a, %k : i64\n"
                        "%r = arith.xori %p, %o : i64"),
    "indexed": ("i64", "%i = linalg.index 0 : index\n %j = linalg.index 1 : index\n %m = arith.muli %i, %j : index\n"
                       "%n = arith.index_cast %m : index to i64\n %p = arith.addi %a, %n : i64\n"
                       "%r = arith.addi %p, %o : i64"),
}  # fmt: skip


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (3, 16), (5, 300), (0, 3), (700, 2)])
@pytest.mark.parametrize("name", REDUCED)
def test_reductions(name, shape):
    t, text = REDUCED[name]

    def draw(*shape):
        return RNG.normal(0, 1, shape) if t == "f64" else whole(t, int(np.prod(shape))).reshape(shape)

    body = f"{text}\n linalg.yield %r : {t}"
    for maps, iterators, left in ((["d0, d1", "d1"], "rp", shape[1:]), (["d0, d1", "d0"], "pr", shape[:1])):
        if 0 not in left and 0 not in shape:
            check(nest(maps, [shape, left], body, iterators, [t, t]), [draw(*shape), draw(*left)], "float_loops")


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 5, 7), (2, 300, 1), (1, 4, 257), (2, 2, 600)])
def test_mixed_sizes_of_lanes(shape):
    """Floats of both widths, integers of three, and the indices of every loop, which keep loops apart."""
    body = """%i = linalg.index 0 : index
      %j = linalg.index 2 : index
      %k = arith.addi %i, %j : index
      %w = arith.index_cast %k : index to i64
      %f = arith.sitofp %w : i64 to f64
      %x = arith.extf %a : f32 to f64
      %c = arith.constant 0.1 : f64
      %p = math.fma %x, %c, %f : f64
      %n = arith.extui %b : i8 to i64
      %q = arith.sitofp %n : i64 to f64
      %s = arith.cmpf olt, %p, %q : f64
      %u = arith.select %s, %p, %q : f64
      %v = arith.truncf %u : f64 to f32
      %r = arith.addf %v, %a : f32
      linalg.yield %r : f32"""
    maps = ["d0, d1, d2", "d2, d0, d1", "d1, d0, d2"]
    shapes = [shape, (shape[2], shape[0], shape[1]), (shape[1], shape[0], shape[2])]
    text = nest(maps, shapes, body, "ppp", ["f32", "i8", "f32"])
    x, b = RNG.normal(0, 30, shapes[0]).astype(np.float32), whole("i8", int(np.prod(shape))).reshape(shapes[1])
    check(text, [x, b, np.zeros(shapes[2], np.float32)], "float_loops")


def test_a_saved_program_has_its_constants(tmp_path):
    body = "%i = linalg.index 0 : index\n %k = arith.constant 5000000000 : index\n %p = arith.muli %i, %k : index\n"
    body += "%n = arith.index_cast %p : index to i64\n %r = arith.addi %n, %a : i64\n linalg.yield %r : i64"
    made = qrt.compile(nest(["d0", "d0"], [(40,)] * 2, body, "p", ["i64", "i64"]))
    x = whole("i64", 40)
    made.save(tmp_path / "m.qrt")
    found = qrt.load_program(tmp_path / "m.qrt")(x, x)
    np.testing.assert_array_equal(found, np.arange(40) * 5000000000 + x)


@pytest.mark.parametrize("index", [-1, 3, 2**62, -(2**63)])
@pytest.mark.parametrize("inserts", [False, True])
def test_a_slice_out_of_bounds_has_one_message(index, inserts):
    """Offsets that only the run knows, in the kernel and in the interpreter; the second of them is wrong."""
    op = (
        "tensor.insert_slice %p into %x[%i, 1, %j] [1, 1, 2] [1, 1, 2] : tensor<1x2xf32> into tensor<4x3x6xf32>"
        if inserts
        else "tensor.extract_slice %x[%i, 1, %j] [1, 1, 2] [1, 1, 2] : tensor<4x3x6xf32> to tensor<1x2xf32>"
    )
    result = "tensor<4x3x6xf32>" if inserts else "tensor<1x2xf32>"
    text = f"""func.func @main(%x: tensor<4x3x6xf32>, %p: tensor<1x2xf32>, %i: index, %j: index) -> {result} {{
      %0 = {op}
      return %0 : {result}
    }}"""
    made = qrt.compile(text)
    wrong = index + 1 if index > 0 else index
    arrays = [np.zeros((4, 3, 6), np.float32), np.zeros((1, 2), np.float32), np.int64(3), np.int64(wrong)]
    inputs = {port.name: array for port, array in zip(made.inputs, arrays, strict=True)}
    assert [step.engine for step in made.coverage()] == ["kernel"]
    messages = []
    for interpret in (False, True):
        with pytest.raises(qrt.errors.ModelError) as caught:
            made.run(inputs, interpret=interpret)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert (
        f"a slice of size 2 from {inputs[made.inputs[3].name]} with stride 2 exceeds dimension 2 of size 6"
        in messages[0]
    )

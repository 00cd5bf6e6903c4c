"""Float programs in the plan, beside the interpreter. Hazards: another order of additions, a product that is rounded
when it must not be, a window off by one, strides of another loop, a constant taken for a spread one, an accumulator
that is overwritten while it is read, a NaN of the processor, flushed subnormals."""

import numpy as np
import pytest

import qrt
from tests.kernels.draws import ISAS
from tests.kernels.sizes_floats import floats

RNG = np.random.default_rng(5)
FMA = "%r = math.fma %a, %b, %o : f32\n linalg.yield %r : f32"
TWICE = "%p = arith.mulf %a, %b : f32\n %r = arith.addf %o, %p : f32\n linalg.yield %r : f32"
EXCHANGED = "%p = arith.mulf %b, %a : f32\n %r = arith.addf %p, %o : f32\n linalg.yield %r : f32"
SQUARE = "%r = math.fma %a, %a, %o : f32\n linalg.yield %r : f32"


def nest(maps, shapes, body, iterators, elements=None):
    """A program of one `linalg.generic`, whose last shape is that of the output."""
    elements = elements or ["f32"] * len(shapes)
    types = [f"tensor<{''.join(f'{n}x' for n in shape)}{e}>" for shape, e in zip(shapes, elements, strict=True)]
    named = [*"ab"[: len(shapes) - 1], "o"] if len(shapes) < 4 else [*"abcdefg"[: len(shapes) - 1], "o"]
    loops = ", ".join(f"d{i}" for i in range(len(iterators)))
    affine = ", ".join(f"affine_map<({loops}) -> ({each})>" for each in maps)
    kinds = ", ".join('"parallel"' if kind == "p" else '"reduction"' for kind in iterators)
    arguments = ", ".join(f"%x{name}: {t}" for name, t in zip(named, types, strict=True))
    inputs = ", ".join(f"%x{name}" for name in named[:-1])
    block = ", ".join(f"%{name}: {e}" for name, e in zip(named, elements, strict=True))
    return f"""func.func @main({arguments}) -> {types[-1]} {{
      %0 = linalg.generic {{indexing_maps = [{affine}], iterator_types = [{kinds}]}}
        ins({inputs} : {", ".join(types[:-1])}) outs(%xo : {types[-1]}) {{
        ^bb0({block}):
        {body}
      }} -> {types[-1]}
      return %0 : {types[-1]}
    }}"""


def check(text, arrays, kernel, threads=1):
    """The plan's bits are the interpreter's on every ISA, and it has one step, which is that kernel. The NaNs of a
    contraction are all the positive one; what the interpreter makes of a NaN among operands is not defined."""
    made = qrt.compile(text)
    inputs = {port.name: array for port, array in zip(made.inputs, arrays, strict=True)}
    expected = [np.asarray(value) for value in made.run(inputs, interpret=True).values()]
    if kernel == "contraction" and expected[0].dtype.kind == "f":
        expected = [np.where(np.isnan(value), np.float32(np.nan), value) for value in expected]
    before = qrt.kernels.get_num_threads()
    qrt.kernels.set_num_threads(threads)
    try:
        for isa in ISAS:
            with qrt.kernels.use(isa):
                found = made.run(inputs)
                steps = [step.detail.partition(" ")[0] for step in made.coverage(*(a.shape for a in arrays))]
            assert steps == [kernel], isa
            for got, wanted in zip(found.values(), expected, strict=True):
                assert np.asarray(got).tobytes() == wanted.tobytes(), isa
    finally:
        qrt.kernels.set_num_threads(before)


MATMUL = (["d0, d2", "d2, d1", "d0, d1"], "ppr")
CONTRACTIONS = {
    "matmul": (*MATMUL, [(7, 9), (9, 19), (7, 19)]),
    "one row": (*MATMUL, [(1, 70), (70, 67), (1, 67)]),
    "one column": (*MATMUL, [(5, 6), (6, 1), (5, 1)]),
    "one of each": (*MATMUL, [(1, 1), (1, 1), (1, 1)]),
    "no depth": (*MATMUL, [(3, 0), (0, 5), (3, 5)]),
    "transposed weights": (["d0, d2", "d1, d2", "d0, d1"], "ppr", [(7, 9), (19, 9), (7, 19)]),
    "batches": (["d0, d1, d3", "d0, d3, d2", "d0, d1, d2"], "pppr", [(3, 4, 5), (3, 5, 17), (3, 4, 17)]),
    "transposed result": (["d0, d2", "d2, d1", "d1, d0"], "ppr", [(18, 9), (9, 4), (4, 18)]),
    "conv2d": (["d0, d1 * 2 + d4, d2 + d5 * 2, d6", "d3, d4, d5, d6", "d0, d1, d2, d3"], "pppprrr",
               [(2, 9, 10, 3), (20, 3, 2, 3), (2, 4, 8, 20)]),
    "conv2d of channels first": (["d0, d4, d2 + d5, d3 + d6", "d1, d4, d5, d6", "d0, d1, d2, d3"], "pppprrr",
                                 [(2, 3, 6, 9), (4, 3, 3, 2), (2, 4, 4, 8)]),
    "groups": (["d0, d1 + d4, d2, d5", "d2, d3, d4, d5", "d0, d1, d2, d3"], "pppprr",
               [(2, 7, 3, 4), (3, 5, 2, 4), (2, 6, 3, 5)]),
    "depthwise": (["d0, d1 + d4, d2 + d5, d3", "d4, d5, d3", "d0, d1, d2, d3"], "pppprr",
                  [(1, 6, 7, 19), (3, 2, 19), (1, 4, 6, 19)]),
    "channels of groups": (["d0, d1 + d3, (d2 floordiv 5) * 2 + d4", "d2, d3, d4", "d0, d1, d2"], "ppprr",
                           [(2, 7, 6), (15, 3, 2), (2, 5, 15)]),
    "channels of groups, transposed": (["d0, (d1 floordiv 20) * 3 + d3, d2", "d1, d3", "d0, d1, d2"], "pppr",
                                       [(2, 6, 7), (40, 3), (2, 40, 7)]),
    "a multiplier": (["d0 + d2, d1 floordiv 2", "d2, d1", "d0, d1"], "ppr", [(7, 4), (3, 8), (5, 8)]),
    "a remainder": (["d0, d1 mod 4, d2", "d2, d1", "d0, d1"], "ppr", [(7, 4, 3), (3, 8), (7, 8)]),
    "reduced loop first": (["d1, d0", "d0, d2", "d1, d2"], "rpp", [(7, 9), (9, 19), (7, 19)]),
    "offset": (["d0 + 2, d2", "d2, d1 + 1", "d0, d1"], "ppr", [(7, 9), (9, 19), (5, 18)]),
}  # fmt: skip


@pytest.mark.parametrize("body", [FMA, TWICE, EXCHANGED], ids=["fma", "twice", "exchanged"])
@pytest.mark.parametrize("name", CONTRACTIONS)
def test_contractions(name, body):
    maps, iterators, shapes = CONTRACTIONS[name]
    check(nest(maps, shapes, body, iterators), [floats(RNG, *shape) for shape in shapes], "contraction")


def test_a_square_and_two_threads():
    check(nest(["d0, d1", "d0", "d0"], [(9, 4), (9,), (9,)], SQUARE, "pr"), [floats(RNG, 9, 4), floats(RNG, 9),
          floats(RNG, 9)], "float_loops")  # fmt: skip
    shapes = [(130, 40), (40, 150), (130, 150)]
    check(nest(MATMUL[0], shapes, FMA, "ppr"), [floats(RNG, *shape) for shape in shapes], "contraction", threads=2)


def test_subnormal_products_are_kept():
    x, w = np.full((2, 3), 1e-30, np.float32), np.full((3, 17), 1e-12, np.float32)
    text = nest(MATMUL[0], [(2, 3), (3, 17), (2, 17)], TWICE, "ppr")
    check(text, [x, w, np.zeros((2, 17), np.float32)], "contraction")
    assert qrt.compile(text)(x, w, np.zeros((2, 17), np.float32)).min() > 0


def test_constants_are_packed_and_spread_ones_read_as_vectors(tmp_path):
    """The weights, and a bias that is broadcast; the program is saved and loaded too."""
    w, bias = floats(RNG, 5, 19), RNG.normal(0, 1, 19).astype(np.float32)
    text = f"""func.func @main(%x: tensor<?x5xf32>) -> tensor<?x19xf32> {{
      %w = arith.constant dense<{np.nan_to_num(w).tolist()}> : tensor<5x19xf32>
      %b = arith.constant dense<{bias.tolist()}> : tensor<19xf32>
      %c = arith.constant 0 : index
      %n = tensor.dim %x, %c : tensor<?x5xf32>
      %e = tensor.empty(%n) : tensor<?x19xf32>
      %i = linalg.broadcast ins(%b : tensor<19xf32>) outs(%e : tensor<?x19xf32>) dimensions = [0]
      %0 = linalg.matmul ins(%x, %w : tensor<?x5xf32>, tensor<5x19xf32>) outs(%i : tensor<?x19xf32>) -> tensor<?x19xf32>
      %z = arith.constant 0.0 : f32
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x19xf32>) -> tensor<?x19xf32>
      %r = arith.maximumf %0, %f : tensor<?x19xf32>
      return %r : tensor<?x19xf32>
    }}"""
    made = qrt.compile(text)
    x = floats(RNG, 11, 5)
    expected = made.run({"arg0": x} if made.inputs[0].name == "arg0" else {made.inputs[0].name: x}, interpret=True)
    (wanted,) = expected.values()
    for isa in ISAS:
        with qrt.kernels.use(isa):
            assert made(x).tobytes() == np.asarray(wanted).tobytes()
            steps = [step.detail.partition(" (")[0] for step in made.coverage(x.shape)]
            assert steps == ["contraction", "float_loops"]
            made.save(tmp_path / "m.qrt")
            assert qrt.load_program(tmp_path / "m.qrt")(x).tobytes() == np.asarray(wanted).tobytes()
    assert made.planned({made.inputs[0].name: x}).executable is not None


@pytest.mark.parametrize(("rows", "channels"), [(1, 3), (7, 3), (12, 16), (300, 1), (4, 128), (6, 129), (1000, 24)])
def test_a_bias_of_few_channels(rows, channels):
    """It stands several times side by side, in so many rows as divide all of them."""
    bias = RNG.normal(0, 1, channels).astype(np.float32).tolist()
    t = f"tensor<{rows}x{channels}xf32>"
    text = f"""func.func @main(%x: {t}) -> {t} {{
      %b = arith.constant dense<{bias}> : tensor<{channels}xf32>
      %0 = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>],
        iterator_types = ["parallel", "parallel"]}} ins(%b : tensor<{channels}xf32>) outs(%x : {t}) {{
        ^bb0(%a: f32, %o: f32):
        %r = arith.addf %o, %a : f32
        linalg.yield %r : f32
      }} -> {t}
      return %0 : {t}
    }}"""
    check(text, [floats(RNG, rows, channels)], "float_loops")


REDUCED = {
    "sum": "%r = arith.addf %o, %a : f32",
    "maximum": "%r = arith.maximumf %o, %a : f32",
    "minimum": "%r = arith.minimumf %a, %o : f32",
    "maxnum": "%r = arith.maxnumf %o, %a : f32",
    "minnum": "%r = arith.minnumf %o, %a : f32",
    "magnitude": "%m = math.absf %a : f32\n %r = arith.maximumf %o, %m : f32",
    "maximum of its own": "%m = arith.subf %a, %o : f32\n %r = arith.maximumf %o, %m : f32",
    "twice": "%m = arith.maximumf %o, %a : f32\n %r = arith.minimumf %m, %a : f32",
    "last": "%r = arith.addf %a, %a : f32",
    "difference": "%p = arith.subf %a, %o : f32\n %r = arith.subf %p, %o : f32",
    "scaled": "%c = arith.constant 0.3 : f32\n %p = arith.mulf %o, %c : f32\n %r = arith.addf %p, %a : f32",
}


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (3, 16), (5, 300), (0, 3), (700, 2), (1, 256)])
@pytest.mark.parametrize("name", REDUCED)
def test_reductions(name, shape):
    """Along the first axis and the last; an axis of no element leaves what was there."""
    body = REDUCED[name] + "\n linalg.yield %r : f32"
    for maps, iterators, left in ((["d0, d1", "d1"], "rp", shape[1:]), (["d0, d1", "d0"], "pr", shape[:1])):
        if 0 in left:
            continue
        text = nest(maps, [shape, left], body, iterators)
        check(text, [floats(RNG, *shape), floats(RNG, *left)], "float_loops")


@pytest.mark.parametrize("op", ["maximumf", "minimumf", "maxnumf", "minnumf"])
def test_extremes_of_long_rows(op):
    """Elements of a row are lanes. Hazards: the order of NaNs and of zeros, and the row that the last part overlaps."""
    rows = np.zeros((9, 777), np.float32)
    rows[1] = -0.0
    rows[2, ::2] = -0.0
    rows[3, [5, 700]] = np.float32([3, 4])
    rows[4, [5, 700]] = np.float32([-4, -3])
    rows[5, [300, 200]] = np.uint32([0x7FC00001, 0xFFC00002]).view(np.float32)
    rows[6] = np.uint32(0x7FC00003).view(np.float32)
    rows[7, [0, 776]] = np.float32([np.inf, -np.inf])
    rows[8, 776], rows[8, 0] = 1e-45, -1e-45
    body = f"%r = arith.{op} %o, %a : f32\n linalg.yield %r : f32"
    text = nest(["d0, d1", "d0"], [rows.shape, rows.shape[:1]], body, "pr")
    for start in (0.0, -0.0, 1.0, np.nan):
        check(text, [rows, np.full(9, start, np.float32)], "float_loops")
    for threads in (1, 2):
        check(text, [rows, np.arange(9, dtype=np.float32) - 4], "float_loops", threads)


def test_a_pool():
    maps = ["d0, d1 * 2 + d4, d2 * 2 + d5, d3", "d4, d5", "d0, d1, d2, d3"]
    body = "%r = arith.maximumf %o, %a : f32\n linalg.yield %r : f32"
    shapes = [(2, 6, 7, 9), (2, 3), (2, 3, 3, 9)]
    text = nest(maps, shapes, body, "pppprr", ["f32", "i1", "f32"])
    check(text, [floats(RNG, *shapes[0]), np.ones(shapes[1], bool), floats(RNG, *shapes[2])], "float_loops")


@pytest.mark.parametrize("bias", ["vector", "splat"])
def test_constants_of_groups(bias):
    """Weights and a broadcast bias that are constant, in a loop that is split; an index of that loop."""
    w = RNG.normal(0, 1, (8, 2)).astype(np.float32).tolist()
    values = RNG.normal(0, 1, 8).astype(np.float32).tolist() if bias == "vector" else 0.5
    text = f"""func.func @main(%x: tensor<5x4xf32>) -> (tensor<5x8xf32>, tensor<5x8xi64>) {{
      %w = arith.constant dense<{w}> : tensor<8x2xf32>
      %b = arith.constant dense<{values}> : tensor<8xf32>
      %e = tensor.empty() : tensor<5x8xf32>
      %i = linalg.broadcast ins(%b : tensor<8xf32>) outs(%e : tensor<5x8xf32>) dimensions = [0]
      %0 = linalg.generic {{indexing_maps = [affine_map<(d0, d1, d2) -> (d0, (d1 floordiv 4) * 2 + d2)>,
        affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
        iterator_types = ["parallel", "parallel", "reduction"]}}
        ins(%x, %w : tensor<5x4xf32>, tensor<8x2xf32>) outs(%i : tensor<5x8xf32>) {{
        ^bb0(%a: f32, %c: f32, %o: f32):
        %r = math.fma %a, %c, %o : f32
        linalg.yield %r : f32
      }} -> tensor<5x8xf32>
      %f = tensor.empty() : tensor<5x8xi64>
      %1 = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1 floordiv 2)>,
        affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}}
        ins(%x : tensor<5x4xf32>) outs(%f : tensor<5x8xi64>) {{
        ^bb0(%a: f32, %o: i64):
        %j = linalg.index 1 : index
        %k = arith.index_cast %j : index to i64
        %n = arith.fptosi %a : f32 to i64
        %r = arith.addi %k, %n : i64
        linalg.yield %r : i64
      }} -> tensor<5x8xi64>
      return %0, %1 : tensor<5x8xf32>, tensor<5x8xi64>
    }}"""
    made, x = qrt.compile(text), RNG.normal(0, 9, (5, 4)).astype(np.float32)
    wanted = [np.asarray(value) for value in made.run({made.inputs[0].name: x}, interpret=True).values()]
    for isa in ISAS:
        with qrt.kernels.use(isa):
            assert {step.engine for step in made.coverage()} == {"kernel"}
            assert [np.asarray(each).tobytes() for each in made(x)] == [each.tobytes() for each in wanted]


BINARY = ("addf", "subf", "mulf", "divf", "maximumf", "minimumf", "maxnumf", "minnumf")
UNARY = ("arith.negf", "math.absf", "math.sqrt", "math.floor", "math.ceil", "math.trunc", "math.roundeven")
PREDICATES = ("oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno")
PAIRS = np.float32([0, -0.0, 1, -1, 0.5, -2.5, 1e-45, -1e-45, 1e-38, 3e38, -3e38, np.inf, -np.inf, np.nan])


@pytest.mark.parametrize("name", BINARY)
def test_every_pair_of_hard_values(name):
    x, y = (each.ravel().astype(np.float32) for each in np.meshgrid(PAIRS, PAIRS))
    t = f"tensor<{x.size}xf32>"
    text = f"func.func @main(%a: {t}, %b: {t}) -> {t} {{ %0 = arith.{name} %a, %b : {t} return %0 : {t} }}"
    check(text, [x, y], "float_loops")


@pytest.mark.parametrize("name", UNARY)
def test_every_hard_value(name):
    x = np.concatenate([PAIRS, RNG.normal(0, 100, 600).astype(np.float32)])
    t = f"tensor<{x.size}xf32>"
    check(f"func.func @main(%a: {t}) -> {t} {{ %0 = {name} %a : {t} return %0 : {t} }}", [x], "float_loops")


@pytest.mark.parametrize("predicate", PREDICATES)
def test_every_predicate(predicate):
    """Compared, and chosen by it. Two predicates have no step."""
    x, y = (each.ravel().astype(np.float32) for each in np.meshgrid(PAIRS, PAIRS))
    t = f"tensor<{x.size}xf32>"
    flags = t.replace("f32", "i1")
    text = f"""func.func @main(%a: {t}, %b: {t}) -> {flags} {{
      %0 = arith.cmpf {predicate}, %a, %b : {t}
      return %0 : {flags}
    }}"""
    if predicate in ("one", "ueq"):
        made = qrt.compile(text)
        assert [step.engine for step in made.coverage()] == ["interpreter"]
        return
    check(text, [x, y], "float_loops")
    body = f"%c = arith.cmpf {predicate}, %a, %b : f32\n %r = arith.select %c, %a, %o : f32\n linalg.yield %r : f32"
    check(nest(["d0", "d0", "d0"], [x.shape] * 3, body, "p"), [x, y, floats(RNG, x.size)], "float_loops")


def test_views_and_broadcasts():
    """Operands whose strides are 0, negative loops' offsets apart, or those of another axis."""
    body = "%p = arith.mulf %a, %b : f32\n %r = arith.subf %p, %o : f32\n linalg.yield %r : f32"
    shapes = [(40, 20), (20, 3), (3, 20, 40)]
    text = nest(["d2, d1", "d1, d0", "d0, d1, d2"], shapes, body, "ppp")
    check(text, [floats(RNG, *shape) for shape in shapes], "float_loops")
    text = nest(["d1 * 2 + 1", "d0", "d0, d1"], [(41,), (3,), (3, 20)], body, "pp")
    check(text, [floats(RNG, 41), floats(RNG, 3), floats(RNG, 3, 20)], "float_loops")


@pytest.mark.parametrize("op", ["math.tan", "math.powf"])
def test_what_has_no_step_is_interpreted(op):
    t = "tensor<4xf32>"
    operands = "%a, %a" if op == "math.powf" else "%a"
    text = f"func.func @main(%a: {t}) -> {t} {{ %0 = {op} {operands} : {t} return %0 : {t} }}"
    made = qrt.compile(text)
    assert [step.engine for step in made.coverage()] == ["interpreter"]


@pytest.mark.parametrize("op", ["exp", "expm1", "log", "log1p", "tanh", "erf", "erfc", "sin", "cos", "rsqrt"])
@pytest.mark.parametrize("shape", [(1,), (5, 3), (2, 129)])
def test_functions_are_kernels(op, shape):
    """A function alone on a tensor, and amid the steps of a body."""
    t = f"tensor<{'x'.join(map(str, shape))}xf32>"
    alone = f"func.func @main(%a: {t}) -> {t} {{ %0 = math.{op} %a : {t} return %0 : {t} }}"
    check(alone, [floats(RNG, *shape)], "float_loops")
    body = f"%s = arith.mulf %a, %a : f32 %f = math.{op} %s : f32 %y = arith.addf %f, %a : f32 linalg.yield %y : f32"
    loops = ", ".join(f"d{i}" for i in range(len(shape)))
    check(nest([loops, loops], [shape, shape], body, "p" * len(shape)), [floats(RNG, *shape)] * 2, "float_loops")


def test_wrong_sizes_are_an_error_when_it_runs():
    """The planner leaves to the interpreter what does not fit."""
    text = """func.func @main(%x: tensor<?x5xf32>, %y: tensor<?x4xf32>, %o: tensor<?x4xf32>) -> tensor<?x4xf32> {
      %0 = linalg.matmul ins(%x, %y : tensor<?x5xf32>, tensor<?x4xf32>) outs(%o : tensor<?x4xf32>) -> tensor<?x4xf32>
      return %0 : tensor<?x4xf32>
    }"""
    made = qrt.compile(text)
    with pytest.raises(qrt.errors.ModelError, match="shapes disagree"):
        made(np.zeros((2, 5), np.float32), np.zeros((6, 4), np.float32), np.zeros((2, 4), np.float32))


def test_a_size_that_only_the_run_knows_leaves_an_op_to_the_interpreter() -> None:
    """The memory that a broadcast fills is never read; its type was taken as if its size were known."""
    text = """func.func @f(%b: tensor<10xf32>, %s: tensor<i64>) -> tensor<?x10xf32> {
      %i = tensor.extract %s[] : tensor<i64>
      %n = arith.index_cast %i : i64 to index
      %e = tensor.empty(%n) : tensor<?x10xf32>
      %0 = linalg.broadcast ins(%b : tensor<10xf32>) outs(%e : tensor<?x10xf32>) dimensions = [0]
      return %0 : tensor<?x10xf32>
    }"""
    b = np.arange(10, dtype=np.float32)
    for n in (0, 1, 3):
        np.testing.assert_array_equal(qrt.compile(qrt.ir.parse(text))(b, np.array(n)), np.tile(b, (n, 1)))

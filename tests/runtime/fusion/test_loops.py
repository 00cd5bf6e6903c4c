"""Element-wise loops that become one, and transposes that move through them, keep every bit: drawn programs with and
without. Hazards: a value with two readers; one that is read at another place, or twice; sizes that are open; an operand
that lacks an axis, before which the order of the others changes; a step that may be an error; a size that does not fit
and is of a value that is no longer made."""

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.ir import run_passes

SHAPES = {"last": (2, 5, 3, 4), "first": (2, 4, 5, 3)}
UNARY = ["math.absf", "arith.negf", "math.floor"]
BINARY = ["arith.addf", "arith.subf", "arith.mulf", "arith.maximumf", "arith.minimumf"]


class Drawn:
    """A program on images with channels first or last, each op of which may read any image before it."""

    def __init__(self, seed, is_open):
        self.draw = np.random.default_rng(seed)
        self.batch = "?" if is_open else "2"
        self.lines, self.values, self.count = [], [], 0

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def type(self, order):
        return f"tensor<{'x'.join([self.batch, *map(str, SHAPES[order][1:])])}xf32>"

    def add(self, text, order):
        name = self.name()
        self.lines.append(f"{name} = {text}")
        self.values.append((name, order))
        return name

    def value(self):
        return self.values[-1 if self.draw.random() < 0.7 else self.draw.integers(len(self.values))]

    def empty(self, order, of):
        name, size, axis = self.name(), self.name(), self.name()
        if self.batch == "2":
            self.lines.append(f"{name} = tensor.empty() : {self.type(order)}")
            return name
        self.lines.append(f"{axis} = arith.constant 0 : index")
        self.lines.append(f"{size} = tensor.dim {of[0]}, {axis} : {self.type(of[1])}")
        self.lines.append(f"{name} = tensor.empty({size}) : {self.type(order)}")
        return name

    def step(self):
        x = self.value()
        kind = self.draw.choice(["transpose", "unary", "binary", "loops", "loops", "loops"])
        if kind == "transpose":
            order, axes = ("first", [0, 3, 1, 2]) if x[1] == "last" else ("last", [0, 2, 3, 1])
            types = f"({self.type(x[1])}) -> {self.type(order)}"
            self.add(f"qrt.transpose {x[0]} {{permutation = {axes}}} : {types}", order)
        elif kind == "unary":
            self.add(f"{self.draw.choice(UNARY)} {x[0]} : {self.type(x[1])}", x[1])
        elif kind == "binary":
            alike = [value for value in self.values if value[1] == x[1]]
            y = alike[self.draw.integers(len(alike))]
            self.add(f"{self.draw.choice(BINARY)} {x[0]}, {y[0]} : {self.type(x[1])}", x[1])
        else:
            self.loops(x)

    def loops(self, x):
        """Two steps on an image, a vector of its channels, and another image, which may be read turned around."""
        order = x[1]
        channel = 1 if order == "first" else 3
        vector = self.name()
        numbers = ", ".join(f"{n:.3f}" for n in self.draw.uniform(-2, 2, 4))
        self.lines.append(f"{vector} = arith.constant dense<[{numbers}]> : tensor<4xf32>")
        y = self.value()
        same, turned = "(a, b, c, d)", "(a, d, b, c)" if order == "last" else "(a, c, d, b)"
        maps = [same, f"({'abcd'[channel]})", same if y[1] == order else turned, same]
        spelled = ", ".join(f"affine_map<(a, b, c, d) -> {map}>" for map in maps)
        kinds = ", ".join(['"parallel"'] * 4)
        init = self.empty(order, x)
        first, second = self.draw.choice(BINARY, 2)
        types = f"{self.type(order)}, tensor<4xf32>, {self.type(y[1])}"
        self.add(
            f"linalg.generic {{indexing_maps = [{spelled}], iterator_types = [{kinds}]}} "
            f"ins({x[0]}, {vector}, {y[0]} : {types}) outs({init} : {self.type(order)}) {{\n"
            f"^bb0(%p: f32, %q: f32, %r: f32, %s: f32):\n  %t = {first} %p, %q : f32\n  %u = {second} %t, %r : f32\n"
            f"  linalg.yield %u : f32\n}} -> {self.type(order)}",
            order,
        )

    def text(self):
        self.values.append(("%x", "first"))
        self.add(
            f"qrt.transpose %x {{permutation = [0, 2, 3, 1]}} : ({self.type('first')}) -> {self.type('last')}", "last"
        )
        for _ in range(8):
            self.step()
        results = self.values[-2:]
        types = ", ".join(self.type(order) for _, order in results)
        returned = ", ".join(name for name, _ in results)
        lines = "\n".join(self.lines)
        return f"func.func @main(%x: {self.type('first')}) -> ({types}) {{\n{lines}\nreturn {returned} : {types}\n}}"


def inputs(seed):
    draw = np.random.default_rng(seed)
    x = draw.normal(0, 100, SHAPES["first"]).astype(np.float32)
    special = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 3e38])
    return [x, np.where(draw.random(x.shape) < 0.3, draw.choice(special, x.shape), x)]


@pytest.mark.parametrize("is_open", [False, True])
def test_results_are_equal_with_and_without(is_open):
    fewer = 0
    for seed in range(60):
        text = Drawn(seed, is_open).text()
        module = ir.parse(text)
        before = sum(1 for _ in module.operation.walk())
        program = qrt.compile(text)
        run_passes(module, "carry-layout,fuse-loops")
        module.verify()
        fewer += sum(1 for _ in module.operation.walk()) < before
        alone = qrt.compile(module)
        given = inputs(seed)
        for x in [*given, given[1][:1], given[0][:0]] if is_open else given:
            wanted = program.run({"arg0": x}, interpret=True)
            for found in (program.run({"arg0": x}), alone.run({"arg0": x}, interpret=True)):
                for name, array in wanted.items():
                    is_nan = np.isnan(array)
                    assert np.array_equal(is_nan, np.isnan(found[name])), text
                    assert array[~is_nan].tobytes() == found[name][~is_nan].tobytes(), text
    assert fewer > 30


def steps(text, *shapes):
    return [step.op for step in qrt.compile(text).coverage(*shapes)]


LOOPS = """linalg.generic {{indexing_maps = [affine_map<(a, b) -> {map}>, affine_map<(a, b) -> (a, b)>],
  iterator_types = ["parallel", "parallel"]}} ins({x} : tensor<?x3xf32>) outs({init} : tensor<?x3xf32>) {{
  ^bb0(%p: f32, %q: f32):
    %t = arith.addf %p, {other} : f32
    linalg.yield %t : f32
  }} -> tensor<?x3xf32>"""


def program(second, between="", result="%1"):
    """Two loops behind an op of a family; sizes are those that two arguments have."""
    first = LOOPS.format(map="(a, b)", x="%0", init="%e", other="%p")
    return f"""func.func @main(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>) -> tensor<?x3xf32> {{
  %zero = arith.constant 0 : index
  %n = tensor.dim %y, %zero : tensor<?x3xf32>
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %m = tensor.dim %x, %zero : tensor<?x3xf32>
  %d = tensor.empty(%m) : tensor<?x3xf32>
  %0 = qrt.pad %x {{padding = [[0, 0], [0, 0]]}} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %a = {first}
  {between}
  %1 = {second}
  return {result} : tensor<?x3xf32>
}}"""


SECOND = LOOPS.format(map="(a, b)", x="%a", init="%d", other="%p")
READS_ITS_RESULT = LOOPS.format(map="(a, b)", x="%a", init="%d", other="%q")


def test_a_long_chain_is_cut_where_registers_end():
    """70 sums. The 64 registers of a loop hold two operands, what the output held, and each result."""
    t = "tensor<3x16xf32>"
    lines = [f"%v{i + 1} = arith.addf %v{i}, %y : {t}" for i in range(70)]
    text = f"func.func @main(%v0: {t}, %y: {t}) -> {t} {{ {' '.join(lines)} return %v70 : {t} }}"
    made = run_passes(ir.parse(text), "fuse-loops")
    bodies = [op for op in made.operation.walk() if op.name == "linalg.generic"]
    assert [len(op.regions[0].blocks[0].operations) - 1 for op in bodies] == [61, 9]


def test_two_loops_are_one_step():
    assert steps(program(SECOND), (2, 3), (2, 3)).count("linalg.generic") == 1


def test_a_size_that_does_not_fit_is_an_error_of_the_fused_loops_too():
    x = np.ones((2, 3), np.float32)
    compiled = qrt.compile(program(SECOND))
    assert compiled.run({"arg0": x, "arg1": x})["result0"].tolist() == np.full((2, 3), 4).tolist()
    with pytest.raises(qrt.QuantError):
        compiled.run({"arg0": x, "arg1": np.ones((3, 3), np.float32)}, interpret=True)
    with pytest.raises(qrt.QuantError):
        compiled.run({"arg0": x, "arg1": np.ones((3, 3), np.float32)})


@pytest.mark.parametrize(
    ("second", "between", "result"),
    [
        (SECOND, "", "%a"),
        (READS_ITS_RESULT, "", "%1"),
        (SECOND, "%extra = arith.addf %a, %a : tensor<?x3xf32>", "%extra"),
    ],
    ids=["the first is a result", "the second reads what its result was", "the first has two readers"],
)  # fmt: skip
def test_loops_stay_apart(second, between, result):
    assert steps(program(second, between, result), (2, 3), (2, 3)).count("linalg.generic") == 2


def test_a_step_that_may_be_an_error_stays_where_it_is():
    text = """func.func @main(%x: tensor<4xf32>) -> tensor<4xi32> {
  %0 = qrt.pad %x {padding = [[0, 0]]} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = arith.addf %0, %0 : tensor<4xf32>
  %2 = arith.fptosi %1 : tensor<4xf32> to tensor<4xi32>
  return %2 : tensor<4xi32>
}"""
    assert steps(text)[-2:] == ["arith.addf", "arith.fptosi"]


@pytest.mark.parametrize("sizes", [(4, 0, 0), (0, 4, 0), (0, 0, 4), (3, 4, 4)])
def test_sizes_that_differ_at_run_time_are_undefined_fused_or_not(sizes):
    text = """func.func @f(%m: tensor<?xi1>, %a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = math.sqrt %b : tensor<?xf32>
  %1 = arith.select %m, %0, %a : tensor<?xi1>, tensor<?xf32>
  return %1 : tensor<?xf32>
}"""
    program = qrt.compile(ir.parse(text))
    arguments = [np.ones(size, dtype) for size, dtype in zip(sizes, (bool, np.float32, np.float32), strict=True)]
    for interpret in (True, False):
        with pytest.raises(qrt.errors.ModelError, match=r"arith\.select %m") as caught:
            program.run(dict(zip(("arg0", "arg1", "arg2"), arguments, strict=True)), interpret=interpret)
        assert isinstance(caught.value.__cause__, qrt.errors.UndefinedError)

"""Functions of floats between two casts become tables that keep every bit. Hazards: a value with two readers or two
sources; elements that have their own scale or constant; a constant that differs from another in its bits alone; an op
that raises an error for some values; sizes that differ at run time; tables of every storage type below 9 bits."""

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.ir import run_passes
from tests.runtime.programs import assert_same

UNARY = ["math.erf", "math.exp", "math.tanh", "math.absf", "arith.negf", "math.floor", "math.sqrt", "math.rsqrt",
         "math.log", "math.cbrt", "math.atan"]  # fmt: skip
BINARY = ["arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf", "arith.minnumf", "math.powf"]
STORAGE = ["i8", "u8", "i8<-127:127>", "i4", "u2", "i7", "u5<3:17>"]
CASTS = ["", ' {zero_point = "after"}', ' {rounding = "half_away"}', ' {rounding = "toward_zero"}']


class Drawn:
    """A program of casts and elementwise ops, each of which may read any float before it or a splat constant."""

    def __init__(self, seed):
        self.draw = np.random.default_rng(seed)
        self.shape = str(self.draw.choice(["16x17x", "?x5x", "256x", "1x2x?x3x"]))
        self.expressed = str(self.draw.choice(["f32", "f32", "f16", "bf16", "f64"]))
        self.floats, self.lines = [], []

    def element(self, storages):
        low = {"u2": 2, "u5<3:17>": 9}.get(storage := str(self.draw.choice(storages)), 3)
        return f"!quant.uniform<{storage}:{self.expressed}, {float(self.draw.choice([0.5, 0.03125, 2.0]))}:{low}>"

    def tensor(self, element):
        return f"tensor<{self.shape}{element}>"

    def add(self, text):
        self.lines.append(f"%{len(self.lines)} = {text}")
        return f"%{len(self.lines) - 1}"

    def operand(self):
        if "?" in self.shape or self.draw.random() < 0.7:
            return self.floats[self.draw.integers(len(self.floats))]
        value = self.draw.choice(["0.0", "-0.0", "1.5", "-3.0", "1.0e-3"])
        return self.add(f"arith.constant dense<{value}> : {self.tensor(self.expressed)}")

    def text(self):
        source, target = self.element(STORAGE), self.element([*STORAGE, "i16", "i32"])
        f, x, y = (self.tensor(element) for element in (self.expressed, source, target))
        self.floats = [self.add(f"quant.dcast %x : {x} to {f}") for _ in range(self.draw.integers(1, 3))]
        for _ in range(self.draw.integers(0, 6)):
            if self.draw.random() < 0.5:
                self.floats.append(self.add(f"{self.draw.choice(UNARY)} {self.operand()} : {f}"))
            else:
                pair = f"{self.operand()}, {self.operand()}"
                if self.draw.random() < 0.3:
                    less = self.add(f"arith.cmpf olt, {pair} : {f}")
                    kind = f"{self.tensor('i1')}, {f}"
                    self.floats.append(self.add(f"arith.select {less}, {self.operand()}, {self.operand()} : {kind}"))
                else:
                    self.floats.append(self.add(f"{self.draw.choice(BINARY)} {pair} : {f}"))
        last = self.add(f"quant.qcast {self.floats[-1]}{self.draw.choice(CASTS)} : {f} to {y}")
        returned = f"return {last} : {y}"
        if self.draw.random() < 0.3:
            returned = f"return {last}, {self.floats[-1]} : {y}, {f}"
        results = returned.partition(" : ")[2]
        body = "\n".join([*self.lines, returned])
        return f"func.func @main(%x: {x}) -> ({results}) {{\n{body}\n}}"


def every_code(program):
    """The storage of an input with each of its values, in the shape of the program."""
    port = program.inputs[0]
    element = port.type.element
    shape = [size or 60 for size in port.type.shape]
    codes = np.resize(np.arange(element.storage_min, element.storage_max + 1), np.prod(shape))
    assert codes.size > element.storage_max - element.storage_min
    return qrt.QuantTensor(codes.reshape(shape), element).storage


def test_drawn_functions_keep_every_bit():
    tables = 0
    for seed in range(100):
        text = Drawn(seed).text()
        program = qrt.compile(text)
        changed = run_passes(ir.parse(text), "tabulate-casts")
        changed.verify(strict=True)
        tables += "qrt.lookup" in str(changed)
        given = {"arg0": every_code(program)}
        expected = program.run(given, interpret=True)
        assert_same(program.run(given), expected)
        assert_same(qrt.compile(changed).run(given, interpret=True), expected)
    assert tables >= 40, tables


T = "tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>"
F = "tensor<2x3xf32>"


def function(body, types=T, result=T, arguments="%x: "):
    return f"func.func @main({arguments}{types}) -> {result} {{\n{body}\n}}"


WIDE, AXIS = "tensor<2x3x!quant.uniform<i16:f32, 0.5:3>>", "tensor<2x3x!quant.uniform<i8:f32:1, {0.5, 0.25, 1.0}>>"
NEAR_MISSES = {
    "16 bits": function(f"%0 = quant.dcast %x : {WIDE} to {F}\n%1 = math.erf %0 : {F}\n"
                        f"%2 = quant.qcast %1 : {F} to {T}\nreturn %2 : {T}", WIDE),
    "scales of an axis": function(f"%0 = quant.dcast %x : {AXIS} to {F}\n%1 = math.erf %0 : {F}\n"
                                  f"%2 = quant.qcast %1 : {F} to {T}\nreturn %2 : {T}", AXIS),
    "result scales of an axis": function(f"%0 = quant.dcast %x : {T} to {F}\n%1 = math.erf %0 : {F}\n"
                                         f"%2 = quant.qcast %1 : {F} to {AXIS}\nreturn %2 : {AXIS}", T, AXIS),
    "constants of elements": function(f"%0 = quant.dcast %x : {T} to {F}\n"
                                      f"%c = arith.constant dense<[[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]> : {F}\n"
                                      f"%1 = arith.addf %0, %c : {F}\n%2 = quant.qcast %1 : {F} to {T}\n"
                                      f"return %2 : {T}"),
    "two sources": function(f"%0 = quant.dcast %x : {T} to {F}\n%1 = quant.dcast %y : {T} to {F}\n"
                            f"%2 = arith.addf %0, %1 : {F}\n%3 = quant.qcast %2 : {F} to {T}\nreturn %3 : {T}",
                            f"{T}, %y: {T}"),
    "another reader": function(f"%0 = quant.dcast %x : {T} to {F}\n%1 = math.erf %0 : {F}\n"
                               f"%2 = quant.qcast %1 : {F} to {T}\nreturn %2, %1 : {T}, {F}", T, f"({T}, {F})"),
    "a float argument": function(f"%0 = quant.dcast %x : {T} to {F}\n%1 = arith.addf %0, %y : {F}\n"
                                 f"%2 = quant.qcast %1 : {F} to {T}\nreturn %2 : {T}", f"{T}, %y: {F}"),
    "a conversion that may be undefined": function(
        f"%0 = quant.dcast %x : {T} to {F}\n%1 = arith.fptosi %0 : {F} to tensor<2x3xi8>\n"
        f"%2 = arith.sitofp %1 : tensor<2x3xi8> to {F}\n%3 = quant.qcast %2 : {F} to {T}\nreturn %3 : {T}"),
    "a reversed loop": function(
        f"%0 = quant.dcast %x : {T} to {F}\n%e = tensor.empty() : {F}\n"
        "%1 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, 2 - b)>, affine_map<(a, b) -> (a, b)>], "
        f'iterator_types = ["parallel", "parallel"]}} ins(%0 : {F}) outs(%e : {F}) {{\n^bb0(%p: f32, %q: f32):\n'
        f"%n = arith.negf %p : f32\nlinalg.yield %n : f32\n}} -> {F}\n"
        f"%2 = quant.qcast %1 : {F} to {T}\nreturn %2 : {T}"),
    "no elements": function(
        f"%0 = quant.dcast %x : {T} to {F}\n%c = arith.constant dense<1.0> : {F}\n%1 = arith.addf %0, %c : {F}\n"
        f"%2 = quant.qcast %1 : {F} to {T}\nreturn %2 : {T}").replace("2x3x", "0x3x"),
    "a scalar": function("%0 = quant.dcast %x : !quant.uniform<i8:f32, 0.5:3> to f32\n%1 = math.erf %0 : f32\n"
                         "%2 = quant.qcast %1 : f32 to !quant.uniform<i8:f32, 0.5:3>\n"
                         "return %2 : !quant.uniform<i8:f32, 0.5:3>", *["!quant.uniform<i8:f32, 0.5:3>"] * 2),
}  # fmt: skip


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_what_is_no_function_of_one_code_stays(name):
    text = NEAR_MISSES[name]
    assert "qrt.lookup" not in str(run_passes(ir.parse(text), "tabulate-casts"))


def test_a_loop_with_scalars_and_splats_becomes_a_table():
    text = function(
        f"%0 = quant.dcast %x : {T} to {F}\n%e = tensor.empty() : {F}\n%h = arith.constant 0.5 : f32\n"
        "%1 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> ()>, "
        'affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} '
        f"ins(%0, %h : {F}, f32) outs(%e : {F}) {{\n^bb0(%p: f32, %s: f32, %q: f32):\n%k = arith.constant 3.0 : f32\n"
        "%n = arith.mulf %p, %s : f32\n%m = arith.addf %n, %k : f32\nlinalg.yield %m : f32\n"
        f"}} -> {F}\n%2 = quant.qcast %1 : {F} to {T}\nreturn %2 : {T}"
    )
    changed = run_passes(ir.parse(text), "tabulate-casts")
    assert "linalg.generic" not in {op.name for op in changed.operation.walk()}
    given = {"arg0": np.int8([[-128, -3, 0], [2, 3, 127]])}
    assert_same(qrt.compile(changed).run(given, interpret=True), qrt.compile(text).run(given, interpret=True))


def test_a_broadcast_constant_is_one_value():
    """Importers write a large tensor of one number as a broadcast."""
    one = "tensor<1xf32>"
    text = function(
        f"%0 = quant.dcast %x : {T} to {F}\n%c = arith.constant dense<-0.25> : tensor<f32>\n"
        f"%d = qrt.reshape %c : (tensor<f32>) -> {one}\n%e = tensor.empty() : tensor<1x3xf32>\n"
        f"%b = linalg.broadcast ins(%d : {one}) outs(%e : tensor<1x3xf32>) dimensions = [1]\n"
        f"%r = qrt.reshape %b : (tensor<1x3xf32>) -> tensor<3xf32>\n"
        f"%f = tensor.empty() : {F}\n%g = linalg.broadcast ins(%r : tensor<3xf32>) outs(%f : {F}) dimensions = [0]\n"
        f"%1 = arith.maximumf %0, %g : {F}\n%2 = quant.qcast %1 : {F} to {T}\nreturn %2 : {T}"
    )
    changed = run_passes(ir.parse(text), "tabulate-casts")
    assert not {op.name for op in changed.operation.walk()} & {"linalg.broadcast", "arith.maximumf"}
    given = {"arg0": np.int8([[-128, -3, 0], [2, 3, 127]])}
    assert_same(qrt.compile(changed).run(given, interpret=True), qrt.compile(text).run(given, interpret=True))


def test_sizes_that_differ_at_run_time_stay_errors():
    t, f = "tensor<?x!quant.uniform<i8:f32, 0.5:3>>", "tensor<?xf32>"
    text = function(
        f"%0 = quant.dcast %x : {t} to {f}\n%e = tensor.empty(%n) : {f}\n"
        "%1 = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], "
        f'iterator_types = ["parallel"]}} ins(%0 : {f}) outs(%e : {f}) {{\n^bb0(%p: f32, %q: f32):\n'
        f"%m = arith.negf %p : f32\nlinalg.yield %m : f32\n}} -> {f}\n"
        f"%2 = quant.qcast %1 : {f} to {t}\nreturn %2 : {t}",
        f"{t}, %n: index",
        t,
    )
    program = qrt.compile(text)
    assert program(np.int8([1, 2]), 2).storage.tolist() == [5, 4]
    with pytest.raises(qrt.errors.ModelError, match="shapes disagree"):
        program(np.int8([1, 2]), 3)


def test_long_chains_and_bodies_that_read_other_values_stay():
    lines = "".join(f"%{i + 1} = arith.negf %{i} : {F}\n" for i in range(3000))
    long = function(f"%0 = quant.dcast %x : {T} to {F}\n{lines}%y = quant.qcast %3000 : {F} to {T}\nreturn %y : {T}")
    body = (
        f"%0 = quant.dcast %x : {T} to {F}\n%e = tensor.empty() : {F}\n"
        "%1 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], "
        f'iterator_types = ["parallel", "parallel"]}} ins(%0 : {F}) outs(%e : {F}) {{\n^bb0(%p: f32, %q: f32):\n'
        f"%n = arith.mulf %p, %s : f32\nlinalg.yield %n : f32\n}} -> {F}\n"
        f"%2 = quant.qcast %1 : {F} to {T}\nreturn %2 : {T}"
    )
    for text in (long, function(body, f"{T}, %s: f32")):
        assert "qrt.lookup" not in str(run_passes(ir.parse(text), "tabulate-casts"))

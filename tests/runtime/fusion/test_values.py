"""Fusing passes keep every bit: drawn programs before and after each. Hazards: a clamp that is not the last thing an op
does; a chain with another reader in its middle; a zero point that joins before the rounding; pads that are no zero
points; a window that padding fills; scales that are nearly equal."""

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.ir import pipeline, run_passes
from qrt.runtime.fusion import FUSING
from tests.runtime.programs import assert_same

PASSES = ["split-concat", "carry-layout", "make-tables", "widen-depthwise", "fold-pad", "fold-clamp", "fold-sign"]
RULES = ["fixed", "fixed_double", "float32", "float64_away", "fixed_double_f32", "half_up_twice"]
SUMS = ["fixed", "scaled20", "fixed_double", "float32_fused"]


class Drawn:
    """A program of ops on images of 5x5x4, each of which may read any value before it."""

    def __init__(self, seed):
        self.draw = np.random.default_rng(seed)
        self.lines = []
        self.images = []  # (name, element)
        self.count = 0

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def element(self):
        draw = self.draw
        storage = str(draw.choice(["i8", "u8", "i8<-127:127>", "u4", "i16"], p=[0.4, 0.3, 0.1, 0.1, 0.1]))
        low, high = {"i": (-128, 127), "u": (0, 255)}[storage[0]] if "4" not in storage else (0, 15)
        zero = int(draw.choice([low, high, draw.integers(low, high + 1)]))
        return f"!quant.uniform<{storage}:f32, {float(np.float32(draw.choice([0.5, 0.03, 0.011]))):.9g}:{zero}>"

    def image(self):
        return self.images[-1 if self.draw.random() < 0.7 else self.draw.integers(len(self.images))]

    def rule(self):
        return str(self.draw.choice(RULES))

    def constant(self, shape, element, storage="i8", low=-128, high=127):
        held, made = self.name(), self.name()
        values = np.array2string(self.draw.integers(low, high + 1, shape), separator=",", threshold=10**6)
        dims = "".join(f"{size}x" for size in shape)
        self.lines.append(f"{held} = arith.constant dense<{' '.join(values.split())}> : tensor<{dims}{storage}>")
        self.lines.append(f"{made} = quant.scast {held} : tensor<{dims}{storage}> to tensor<{dims}{element}>")
        return made, f"tensor<{dims}{element}>"

    def add(self, op, operands, attributes, result, shape="1x5x5x4"):
        name = self.name()
        said = ", ".join(f"{key} = {value}" for key, value in attributes.items())
        types = ", ".join(t for _, t in operands)
        self.lines.append(
            f"{name} = {op} {', '.join(v for v, _ in operands)} {{{said}}} : ({types}) -> tensor<{shape}x{result}>"
        )
        return name, result

    def typed(self, image, shape="1x5x5x4"):
        return image[0], f"tensor<{shape}x{image[1]}>"

    def step(self):
        kinds = ["clamp", "requantize", "sign", "constant", "binary", "conv", "depthwise", "one", "concat", "turned"]
        kind = self.draw.choice(kinds)
        x = self.image()
        rule = {"requant": f'"{self.rule()}"'}
        sums = {"requant": f'"{self.draw.choice(SUMS)}"'}
        is_byte = x[1].startswith(("!quant.uniform<i8", "!quant.uniform<u8"))
        blocks = {"requant": '"half_up_twice_16"'} if self.draw.random() < 0.3 and is_byte else rule
        if kind == "clamp":
            low, high = sorted(self.draw.uniform(-5, 5, 2))
            bounds = {"min": f"{low:.4f}", "max": f"{high:.4f}"}
            bounds.pop(str(self.draw.choice(["min", "max", ""])), None)
            self.images.append(self.add("qrt.clamp", [self.typed(x)], bounds, x[1]))
        elif kind == "requantize":
            self.images.append(self.add("qrt.requantize", [self.typed(x)], blocks, self.element()))
        elif kind == "sign":
            scale, zero = self.draw.choice(["0.5", "0.03"]), int(self.draw.integers(-128, 128))
            types = [f"!quant.uniform<i8:f32, {scale}:{zero}>", f"!quant.uniform<u8:f32, {scale}:{zero + 128}>"]
            if self.draw.random() < 0.5:
                types.reverse()
            first = self.add("qrt.requantize", [self.typed(x)], rule, types[0])
            rule = blocks
            if self.draw.random() < 0.2:
                self.images.append(first)
            self.images.append(self.add("qrt.requantize", [self.typed(first)], rule, types[1]))
        elif kind == "constant":
            operands = [self.typed(x), self.constant((1,), "!quant.uniform<i8:f32, 0.07:-5>")]
            if self.draw.random() < 0.3:
                operands.reverse()
            op = str(self.draw.choice(["add", "sub", "mul"]))
            said = rule if op == "mul" else sums
            self.images.append(self.add(f"qrt.{op}", operands, said, self.element()))
        elif kind == "binary":
            self.images.append(self.add("qrt.add", [self.typed(x), self.typed(self.image())], sums, self.element()))
        elif kind in ("conv", "depthwise"):
            self.images.append(self.convolution(str(kind), x, rule))
        elif kind == "turned":
            self.images.append(self.turned(x, blocks, sums))
        elif kind == "one":
            self.images.append(self.one_channel(x, rule))
        else:
            y, result = self.image(), self.element()
            joined = self.add("qrt.concat", [self.typed(x), self.typed(y)], rule | {"axis": 3}, result, "1x5x5x8")
            w = self.constant((4, 1, 1, 8), "!quant.uniform<i8:f32, 0.02>")
            made = self.add("qrt.conv2d", [self.typed(joined, "1x5x5x8"), w], rule, self.element())
            self.images.append(made)

    def turned(self, x, blocks, sums):
        """Ops on the image with its channels first, between transposes; a rule of places must stay there."""
        shape, there, back = "1x4x5x5", {"permutation": "[0, 3, 1, 2]"}, {"permutation": "[0, 2, 3, 1]"}
        a, b = (self.add("qrt.transpose", [self.typed(each)], there, each[1], shape) for each in (x, self.image()))
        kind = self.draw.choice(["requantize", "add", "concat", "pad", "mean"])
        if kind == "requantize":
            made = self.add("qrt.requantize", [self.typed(a, shape)], blocks, self.element(), shape)
        elif kind == "add":
            made = self.add("qrt.add", [self.typed(a, shape), self.typed(b, shape)], sums, self.element(), shape)
        elif kind == "concat":
            said = {"axis": 2, "requant": '"fixed"'}
            two = self.add("qrt.concat", [self.typed(a, shape)] * 2, said, a[1], "1x4x10x5")
            said = {"sizes": "[1, 4, 5, 5]", "offsets": "[0, 0, 3, 0]"}
            made = self.add("qrt.slice", [self.typed(two, "1x4x10x5")], said, a[1], shape)
        elif kind == "pad":
            said = {"padding": "[[0, 0], [0, 0], [1, 0], [0, 0]]"}
            padded = self.add("qrt.pad", [self.typed(a, shape)], said, a[1], "1x4x6x5")
            said = {"sizes": "[1, 4, 5, 5]", "offsets": "[0, 0, 0, 0]"}
            made = self.add("qrt.slice", [self.typed(padded, "1x4x6x5")], said, a[1], shape)
        else:
            said = {"axes": "[1, 3]", "keepdims": "true", "requant": '"fixed"'}
            mean = self.add("qrt.mean", [self.typed(a, shape)], said, a[1], "1x1x5x1")
            made = self.add("qrt.add", [self.typed(a, shape), self.typed(mean, "1x1x5x1")], sums, self.element(), shape)
        return self.add("qrt.transpose", [self.typed(made, shape)], back, made[1])

    def one_channel(self, x, rule):
        """A depthwise convolution of a single channel, to four."""
        first = self.constant((1, 1, 1, 4), "!quant.uniform<i8:f32, 0.02>")
        one = self.add("qrt.conv2d", [self.typed(x), first], rule, self.element(), "1x5x5x1")
        scales = "!quant.uniform<i8<-127:127>:f32:2, {0.01,0.02,0.005,0.01}>"
        w = self.constant((3, 3, 4), str(self.draw.choice([scales, "!quant.uniform<i8:f32, 0.01>"])), low=-127)
        said = rule | {"padding": "[[1, 1], [1, 1]]"}
        return self.add("qrt.depthwise_conv2d", [self.typed(one, "1x5x5x1"), w], said, self.element())

    def convolution(self, kind, x, rule):
        """A window of 3x3, whose padding stands in a pad, in the op, or in both."""
        outer, inner = (int(n) for n in self.draw.choice([[1, 0], [0, 1]], axis=0))
        given = self.typed(x)
        if outer:
            pad = {"padding": "[[0, 0], [1, 1], [1, 1], [0, 0]]"}
            if self.draw.random() < 0.2:
                pad["value"] = "1.0"
            given = self.typed(self.add("qrt.pad", [given], pad, x[1], "1x7x7x4"), "1x7x7x4")
        shape = (4, 3, 3, 4) if kind == "conv" else (3, 3, 4)
        w = self.constant(shape, "!quant.uniform<i8:f32, 0.01>")
        op = "qrt.conv2d" if kind == "conv" else "qrt.depthwise_conv2d"
        padding = {"padding": f"[[{inner}, {inner}], [{inner}, {inner}]]"} if inner else {}
        return self.add(op, [given, w], rule | padding, self.element())

    def text(self):
        first = self.element()
        self.images.append(("%x", first))
        for _ in range(8):
            self.step()
        results = self.images[-2:]
        returned = ", ".join(name for name, _ in results)
        types = ", ".join(f"tensor<1x5x5x4x{element}>" for _, element in results)
        body = "\n".join(self.lines)
        return f"func.func @main(%x: tensor<1x5x5x4x{first}>) -> ({types}) {{\n{body}\nreturn {returned} : {types} }}"


def values(program, seed):
    element = program.inputs[0].type.element
    draw = np.random.default_rng(seed)
    ends = element.storage_min, element.storage_max + 1
    dtype = qrt.QuantTensor(np.zeros(1, int) + element.storage_min, element).storage.dtype
    for low, high in (ends, (ends[0], ends[0] + 1), (ends[1] - 1, ends[1])):
        yield {"arg0": draw.integers(low, high, (1, 5, 5, 4)).astype(dtype)}


def test_results_are_equal_with_and_without():
    applied = dict.fromkeys(PASSES, 0)
    for seed in range(16):
        text = Drawn(seed).text()
        program = qrt.compile(text)
        after = {"planned": program}
        for name in [*PASSES, ",".join(PASSES)]:
            module = ir.parse(text)
            run_passes(module, name)
            module.verify(strict=True)
            if str(module) != str(ir.parse(text)):
                after[name] = qrt.compile(module)
                applied[name] = applied.get(name, 0) + 1
        for given in values(program, seed):
            expected = program.run(given, interpret=True)
            for name, changed in after.items():
                assert_same(changed.run(given, interpret=name != "planned"), expected), (seed, name)
    assert min(applied.values()) >= 2, applied


def planned(text):
    """The ops of the plan, with what is fused into them."""
    return [(step.op, step.detail.partition(" with ")[2]) for step in qrt.compile(text).coverage()]


Q, U, W = "!quant.uniform<i8:f32, 0.05:3>", "!quant.uniform<u8:f32, 0.05:131>", "!quant.uniform<i8:f32, 0.02>"
SHAPE, PADDED = "tensor<1x8x8x4x", "tensor<1x10x10x4x"
HEAD = f"""func.func @main(%a: {SHAPE}{U}>) -> RESULT {{
  %c = arith.constant dense<3> : tensor<4x3x3x4xi8>
  %w = quant.scast %c : tensor<4x3x3x4xi8> to tensor<4x3x3x4x{W}>
  %k = arith.constant dense<30> : tensor<1xi8>
  %kq = quant.scast %k : tensor<1xi8> to tensor<1x{W}>
"""


def program(body, result, name):
    return HEAD.replace("RESULT", result) + body + f"\n return {name} : {result} }}"


def test_a_block_of_a_network_is_one_step():
    text = program(
        f"""%x = qrt.requantize %a : ({SHAPE}{U}>) -> {SHAPE}{Q}>
        %p = qrt.pad %x {{padding = [[0, 0], [1, 1], [1, 1], [0, 0]]}} : ({SHAPE}{Q}>) -> {PADDED}{Q}>
        %m = qrt.conv2d %p, %w : ({PADDED}{Q}>, tensor<4x3x3x4x{W}>) -> {SHAPE}{Q}>
        %r = qrt.clamp %m {{min = 0.0, max = 6.0}} : ({SHAPE}{Q}>) -> {SHAPE}{Q}>""",
        f"{SHAPE}{Q}>",
        "%r",
    )
    assert planned(text) == [("qrt.conv2d", "qrt.pad qrt.clamp qrt.requantize")]


def test_a_chain_is_one_table():
    text = program(
        f"""%1 = qrt.mul %a, %kq : ({SHAPE}{U}>, tensor<1x{W}>) -> {SHAPE}{Q}>
        %2 = qrt.clamp %1 {{min = -1.0}} : ({SHAPE}{Q}>) -> {SHAPE}{Q}>
        %3 = qrt.sub %kq, %2 : (tensor<1x{W}>, {SHAPE}{Q}>) -> {SHAPE}{W}>
        %4 = qrt.requantize %3 : ({SHAPE}{W}>) -> {SHAPE}{U}>""",
        f"{SHAPE}{U}>",
        "%4",
    )
    assert planned(text) == [("qrt.lookup", "qrt.mul qrt.clamp qrt.sub qrt.requantize")]


def test_a_value_that_two_read_ends_a_chain():
    text = program(
        f"""%1 = qrt.mul %a, %kq : ({SHAPE}{U}>, tensor<1x{W}>) -> {SHAPE}{Q}>
        %2 = qrt.clamp %1 {{min = -1.0}} : ({SHAPE}{Q}>) -> {SHAPE}{Q}>
        %3 = qrt.requantize %2 : ({SHAPE}{Q}>) -> {SHAPE}{W}>
        %4 = qrt.add %2, %3 : ({SHAPE}{Q}>, {SHAPE}{W}>) -> {SHAPE}{Q}>""",
        f"{SHAPE}{Q}>",
        "%4",
    )
    assert planned(text) == [("qrt.lookup", "qrt.mul qrt.clamp"), ("qrt.requantize", ""), ("qrt.add", "")]


def test_tensors_of_rank_0_are_tabulated_too():
    t = "tensor<!quant.uniform<u4:f32, 0.5:3>>"
    made = qrt.compile(f"""func.func @main(%x: {t}) -> {t} {{
      %c = arith.constant dense<-2> : tensor<i4>
      %k = quant.scast %c : tensor<i4> to {t}
      %y = qrt.mul %k, %x : ({t}, {t}) -> {t}
      return %y : {t} }}""")
    for value in range(16):
        given = {"arg0": np.uint8(value)}
        assert_same(made.run(given), made.run(given, interpret=True))
    assert [step.op for step in made.coverage()] == ["qrt.lookup"]


def test_a_sum_whose_zero_point_joins_before_the_rounding_keeps_its_storage():
    """Two ties of float32_fused: with a zero point 128 further on, the offset of their sum rounds otherwise."""
    i8, u8 = "!quant.uniform<i8:f32, 0.075654692947864532:1>", "!quant.uniform<u8:f32, 0.075654692947864532:129>"
    a, b = "!quant.uniform<i8:f32, 0.092147998511791229:12>", "!quant.uniform<i8:f32, 0.064597219228744507:5>"
    fused = qrt.compile(f"""
func.func @main(%a: tensor<2x{a}>, %b: tensor<2x{b}>) -> tensor<2x{u8}> {{
  %0 = qrt.add %a, %b {{requant = "float32_fused"}} : (tensor<2x{a}>, tensor<2x{b}>) -> tensor<2x{i8}>
  %1 = qrt.requantize %0 : (tensor<2x{i8}>) -> tensor<2x{u8}>
  return %1 : tensor<2x{u8}>
}}""")
    given = {"arg0": np.array([97, -73], np.int8), "arg1": np.array([-29, 39], np.int8)}
    assert_same(fused.run(given), fused.run(given, interpret=True))


def test_a_rule_of_places_makes_no_table():
    """An element of a whole block of 16 is rounded otherwise than one behind it."""
    text = program(
        f"""%1 = qrt.clamp %a {{min = -1.0}} : ({SHAPE}{U}>) -> {SHAPE}{U}>
        %2 = qrt.requantize %1 {{requant = "half_up_twice_16"}} : ({SHAPE}{U}>) -> {SHAPE}{W}>""",
        f"{SHAPE}{W}>",
        "%2",
    )
    assert planned(text) == [("qrt.clamp", ""), ("qrt.requantize", "")]


@pytest.mark.parametrize("number", [1, 2])
def test_what_is_read_elsewhere_stays(number):
    """A clamp and its operand are both returned; a pad whose value is another; a window that padding would fill."""
    text = program(
        f"""%m = qrt.add %a, %a : ({SHAPE}{U}>, {SHAPE}{U}>) -> {SHAPE}{Q}>
        %r = qrt.clamp %m {{min = 0.0}} : ({SHAPE}{Q}>) -> {SHAPE}{Q}>
        %s = qrt.add %m, %r : ({SHAPE}{Q}>, {SHAPE}{Q}>) -> {SHAPE}{Q}>""",
        f"{SHAPE}{Q}>",
        "%s",
    )
    assert [op for op, _ in planned(text)] == ["qrt.add", "qrt.clamp", "qrt.add"]
    value = ", value = 1.0" if number == 1 else ""
    far = 1 if number == 1 else 3
    size, padding = 8 + 2 * far, [[0, 0], [far, far], [far, far], [0, 0]]
    padded, out = f"tensor<1x{size}x{size}x4x{Q}>", f"tensor<1x{size - 2}x{size - 2}x4x{Q}>"
    text = program(
        f"""%x = qrt.requantize %a : ({SHAPE}{U}>) -> {SHAPE}{Q}>
        %p = qrt.pad %x {{padding = {padding}{value}}} : ({SHAPE}{Q}>) -> {padded}
        %m = qrt.conv2d %p, %w : ({padded}, tensor<4x3x3x4x{W}>) -> {out}""",
        out,
        "%m",
    )
    assert [op for op, _ in planned(text)] == ["qrt.requantize", "qrt.pad", "qrt.conv2d"]


def test_a_factor_of_channels_stays_because_it_rounds_again():
    """In the scales of the weights it would be rounded once, with the sum, and other values would come of it."""
    gammas = (0.99, 0.63, 1.17, 0.45)
    image, q = "tensor<1x8x8x4x", "!quant.uniform<i8:f32, 0.05:3>"
    g = "tensor<1x1x1x4x!quant.uniform<i8:f32:3, {0.011, 0.007, 0.013, 0.005}>>"  # 90 of each are the gammas

    def layer(scales, end, result):
        w = f"tensor<4x1x1x4x!quant.uniform<i8:f32:0, {{{', '.join(map(str, scales))}}}>>"
        return qrt.compile(f"""func.func @main(%x: {image}{q}>) -> {image}{q}> {{
          %c = arith.constant dense<[[[[9, -3, 5, 1]]], [[[7, 2, -8, 4]]], [[[1, 1, 6, -9]]], [[[3, 8, 2, 2]]]]>
            : tensor<4x1x1x4xi8>
          %w = quant.scast %c : tensor<4x1x1x4xi8> to {w}
          %m = qrt.conv2d %x, %w : ({image}{q}>, {w}) -> {image}{q}>
          {end}
          return {result} : {image}{q}> }}""")

    apart = layer(
        [0.08] * 4,
        f"""%k = arith.constant dense<90> : tensor<1x1x1x4xi8>
          %g = quant.scast %k : tensor<1x1x1x4xi8> to {g}
          %n = qrt.mul %m, %g : ({image}{q}>, {g}) -> {image}{q}>""",
        "%n",
    )
    within = layer([0.08 * gamma for gamma in gammas], "", "%m")
    assert [step.op for step in apart.coverage()] == ["qrt.conv2d", "qrt.mul"]
    x = np.random.default_rng(3).integers(-128, 128, (1, 8, 8, 4)).astype(np.int8)
    assert_same(apart.run({"arg0": x}), apart.run({"arg0": x}, interpret=True))
    got, other = (p.run({"arg0": x})["result0"].storage.astype(int) for p in (apart, within))
    assert np.abs(got - other).max() > 0
    assert np.median(np.abs(got - other)) == 0


def test_each_pass_that_runs_has_a_name():
    apart = {"tabulate-casts", "fuse-loops"}  # test_tabulate_casts.py and test_loops.py draw programs for these
    assert [name for name in FUSING if name not in apart] == PASSES
    assert pipeline.PASSES.keys() >= FUSING.keys()


@pytest.mark.parametrize("more", ["", ", %unused: tensor<?xf32>"], ids=["planned at once", "planned when called"])
@pytest.mark.parametrize(("shape", "axis"), [((4, 1), 1), ((1, 4), 0), ((1, 4), 1), ((1, 0), 0), ((1, 1), 1)])
def test_a_transpose_that_moves_the_channels_is_no_reshape(shape, axis, more):
    """Though it leaves the elements where they are."""
    scales = ", ".join(["0.5", "0.25", "0.125", "1.0"][: shape[axis]])
    given, made = (
        f"tensor<{rows}x{columns}x!quant.uniform<i8:f32:{at}, {{{scales}}}>>"
        for (rows, columns), at in ((shape, axis), (shape[::-1], 1 - axis))
    )
    program = qrt.compile(f"""func.func @main(%x: {given}{more}) -> {made} {{
      %0 = qrt.transpose %x {{permutation = [1, 0]}} : ({given}) -> {made}
      return %0 : {made} }}""")
    inputs = {"arg0": np.arange(shape[0] * shape[1], dtype=np.int8).reshape(shape)}
    inputs |= {"arg1": np.zeros(3, np.float32)} if more else {}
    assert_same(program.run(inputs), program.run(inputs, interpret=True))


@pytest.mark.parametrize(
    ("op", "operands", "attributes", "shape", "element"),
    [
        ("qrt.prelu", ["%0", "%s"], "", "3x3", "!quant.uniform<i16:f32, 0.5>"),
        ("qrt.slice", ["%0"], "{offsets = [1, 0], sizes = [2, 3]}", "2x3", "!quant.uniform<i16:f32, 0.5>"),
        ("quant.cast", ["%0"], "", "3x3", "f32"),
    ],
)
def test_transposes_cancel_around_an_op_that_declares_how(op, operands, attributes, shape, element):
    """Ops that the pass does not name."""
    x, turned = "tensor<3x3x!quant.uniform<i16:f32, 0.5>>", "x".join(shape.split("x")[::-1])
    program = qrt.compile(f"""func.func @main(%x: {x}) -> tensor<{turned}x{element}> {{
      %k = arith.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi16>
      %s = quant.scast %k : tensor<3x3xi16> to {x}
      %0 = qrt.transpose %x : ({x}) -> {x}
      %1 = "{op}"({", ".join(operands)}) {attributes} : ({", ".join([x] * len(operands))}) -> tensor<{shape}x{element}>
      %2 = qrt.transpose %1 : (tensor<{shape}x{element}>) -> tensor<{turned}x{element}>
      return %2 : tensor<{turned}x{element}> }}""")
    assert [step.op for step in program.coverage() if step.op == "qrt.transpose"] == []
    inputs = {"arg0": np.arange(-4, 5, dtype=np.int16).reshape(3, 3) * 700}
    assert_same(program.run(inputs), program.run(inputs, interpret=True))


def test_an_op_of_an_article_is_fused_as_the_op_of_its_family():
    x, w, y = "!quant.uniform<i8:f32, 0.5>", "!quant.uniform<i8:f32, 0.1>", "!quant.uniform<i8:f32, 2.0:4>"
    program = qrt.compile(f"""func.func @main(%x: tensor<1x4x4x2x{x}>) -> tensor<1x4x4x2x{y}> {{
      %k = arith.constant dense<3> : tensor<2x1x1x2xi8>
      %w = quant.scast %k : tensor<2x1x1x2xi8> to tensor<2x1x1x2x{w}>
      %0 = "quant.conv2d"(%x, %w) {{output_scale = 2.0 : f32, output_zero_point = 4 : i32, requant = "fixed"}}
        : (tensor<1x4x4x2x{x}>, tensor<2x1x1x2x{w}>) -> tensor<1x4x4x2x{y}>
      %1 = qrt.clamp %0 {{min = -2.0, max = 6.0}} : (tensor<1x4x4x2x{y}>) -> tensor<1x4x4x2x{y}>
      return %1 : tensor<1x4x4x2x{y}> }}""")
    assert [step.op for step in program.coverage()] == ["quant.conv2d"]
    inputs = {"arg0": np.random.default_rng(0).integers(-128, 128, (1, 4, 4, 2)).astype(np.int8)}
    assert_same(program.run(inputs), program.run(inputs, interpret=True))

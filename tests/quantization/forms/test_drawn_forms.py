"""Drawn bodies, against NumPy. Hazards: axes that are taken in another order; a clamp of a clamp; operands that
broadcast otherwise than NumPy's; windows with other strides, dilations and padding."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from qrt import ir
from qrt.quantization.forms import form_of
from qrt.runtime.interpreter import Interpreter
from tests.quantization.bodies import generic
from tests.quantization.forms.test_forms import computed


def compare(text, seed):
    """The form of a program, if it has one: it computes what the program computes."""
    module = ir.parse(text)
    block = module.functions[0].regions[0].blocks[0]
    form = form_of(block)
    generator = np.random.default_rng(seed)
    arrays = [np.float32(generator.uniform(-3, 3, value.type.shape)) for value in block.arguments]
    (made,) = Interpreter(module).call(module.function("f"), arrays)
    if form is not None and form.family != "lookup":
        wanted = computed(form, [array.astype(np.float64) for array in arrays], made)
        assert wanted.shape == made.shape
        np.testing.assert_allclose(made, wanted, rtol=1e-4, atol=1e-4)
    return form


def tensor(sizes):
    return f"tensor<{''.join(f'{size}x' for size in sizes)}f32>"


PRODUCT = """^bb0(%p: f32, %q: f32, %o: f32):
  %r = arith.mulf {}, {} : f32
  %t = arith.addf {}, {} : f32
  linalg.yield %t : f32"""


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_products_of_any_layout(data):
    """Loops: one that is summed, rows of either operand, and perhaps a batch of both."""
    sizes = {"k": 3, "m": 2, "n": 4, "b": 5, "l": 1}
    batch = data.draw(st.sampled_from(["", "b"]))
    rows = data.draw(st.sampled_from(["m", "ml", "lm", ""]))
    columns = data.draw(st.sampled_from(["n", ""]))
    a, w, out = (
        "".join(data.draw(st.permutations(loops)))
        for loops in (f"{batch}{rows}k", f"{batch}k{columns}", f"{batch}{rows}{columns}")
    )
    loops = "".join(data.draw(st.permutations(f"{batch}{rows}{columns}k")))
    maps = "; ".join(f"({', '.join(loops)}) -> ({', '.join(letters)})" for letters in (a, w, out))
    kinds = " ".join("reduction" if loop == "k" else "parallel" for loop in loops)
    types = [tensor(sizes[loop] for loop in letters) for letters in (a, w, out)]
    factors, terms = data.draw(st.permutations(["%p", "%q"])), data.draw(st.permutations(["%o", "%r"]))
    text = f"""func.func @f(%a: {types[0]}, %w: {types[1]}) -> {types[2]} {{
%z = arith.constant 0.0 : f32
%e = tensor.empty() : {types[2]}
%f = linalg.fill ins(%z : f32) outs(%e : {types[2]}) -> {types[2]}
{generic(maps, kinds, f"%a, %w : {types[0]}, {types[1]}", f"%f : {types[2]}", PRODUCT.format(*factors, *terms), "%y")}
return %y : {types[2]} }}"""
    form = compare(text, 1)
    if out in (batch + rows + columns, batch + columns + rows) and (not batch or len(rows) == len(columns) == 1):
        assert form is not None or (len(rows) > 1 and out != rows + columns)


BOUNDS = st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 2.5])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["max", "min", "clampf", "ogt", "ule"]), BOUNDS, BOUNDS, st.booleans()),
        min_size=1,
        max_size=3,
    )
)
def test_clamps_of_clamps(steps):
    lines, value = [], "%x"
    for n, (kind, low, high, flipped) in enumerate(steps):
        low, high = min(low, high), max(low, high)
        lines += [
            f"%l{n} = arith.constant dense<{low}> : {tensor([64])}",
            f"%h{n} = arith.constant dense<{high}> : {tensor([64])}",
        ]
        pair = f"%l{n}, {value}" if flipped else f"{value}, %l{n}"
        if kind in ("max", "min"):
            lines.append(f"%v{n} = arith.{kind}{'imum' if flipped else 'num'}f {pair} : {tensor([64])}")
        elif kind == "clampf":
            lines.append(f"%v{n} = math.clampf {value} to [%l{n}, %h{n}] : {tensor([64])}")
        else:
            lines.append(f"%c{n} = arith.cmpf {kind}, {pair} : {tensor([64])}")
            lines.append(f"%v{n} = arith.select %c{n}, {value}, %l{n} : tensor<64xi1>, {tensor([64])}")
        value = f"%v{n}"
    body = "\n".join(lines)
    form = compare(
        f"func.func @f(%x: {tensor([64])}) -> {tensor([64])} {{\n{body}\nreturn {value} : {tensor([64])} }}", 2
    )
    assert form is not None
    assert form.family == "clamp"


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_operands_that_broadcast(data):
    shape = (2, 3, 2)
    kept = [data.draw(st.lists(st.integers(0, 2), unique=True, max_size=3)) for _ in range(2)]
    name = data.draw(st.sampled_from(["addf", "subf", "mulf"]))
    types = [tensor(shape[axis] for axis in axes) for axes in kept]
    loops = "(i0, i1, i2)"
    maps = "; ".join(f"{loops} -> ({', '.join(f'i{axis}' for axis in axes)})" for axes in (*kept, range(3)))
    body = f"^bb0(%p: f32, %q: f32, %o: f32): %r = arith.{name} %p, %q : f32  linalg.yield %r : f32"
    form = compare(f"""func.func @f(%a: {types[0]}, %b: {types[1]}) -> {tensor(shape)} {{
%e = tensor.empty() : {tensor(shape)}
{generic(maps, "parallel " * 3, f"%a, %b : {types[0]}, {types[1]}", f"%e : {tensor(shape)}", body, "%y")}
return %y : {tensor(shape)} }}""", 3)  # fmt: skip
    last = all(axes == list(range(3 - len(axes), 3)) for axes in kept)
    assert (form is not None) == (last and max(map(len, kept)) == 3)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_windows(data):
    """Convolutions and maxima of padded images; a maximum may not be padded by a whole window."""
    small = st.integers(1, 2)
    stride, dilation = (data.draw(st.tuples(small, small)) for _ in range(2))
    taps = data.draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    low, high = (data.draw(st.tuples(st.integers(0, 1), st.integers(0, 1))) for _ in range(2))
    op, filters, out = data.draw(st.sampled_from([
        ("conv_2d_nhwc_hwcf", (*taps, 2, 3), 3),
        ("conv_2d_nhwc_fhwc", (3, *taps, 2), 3),
        ("depthwise_conv_2d_nhwc_hwc", (*taps, 2), 2),
        ("pooling_nhwc_max", taps, 2),
    ]))  # fmt: skip
    is_pool = op == "pooling_nhwc_max"
    dilation = (1, 1) if is_pool and data.draw(st.booleans()) else dilation
    padded = [5 + low[0] + high[0], 6 + low[1] + high[1]]
    sizes = [(p - (k - 1) * d - 1) // s + 1 for p, k, d, s in zip(padded, taps, dilation, stride, strict=True)]
    made, images, weights = tensor((1, *sizes, out)), tensor((1, *padded, 2)), tensor(filters)
    start = "0xFF800000" if is_pool else "0.0"
    window = f"%w = tensor.empty() : {weights}" if is_pool else ""
    form = compare(f"""func.func @f(%x: {tensor((1, 5, 6, 2))}{"" if is_pool else f", %w: {weights}"}) -> {made} {{
%z = arith.constant {start} : f32
{window}
%p = tensor.pad %x low[0, {low[0]}, {low[1]}, 0] high[0, {high[0]}, {high[1]}, 0] {{
^bb0(%i: index, %j: index, %k: index, %l: index):
  tensor.yield %z : f32
}} : {tensor((1, 5, 6, 2))} to {images}
%e = tensor.empty() : {made}
%f = linalg.fill ins(%z : f32) outs(%e : {made}) -> {made}
%y = linalg.{op} {{
    strides = dense<{list(stride)}> : tensor<2xi64>, dilations = dense<{list(dilation)}> : tensor<2xi64>}}
  ins(%p, %w : {images}, {weights}) outs(%f : {made}) -> {made}
return %y : {made} }}""", 4)  # fmt: skip
    if is_pool:
        fits = all(max(pair) < k for *pair, k in zip(low, high, taps, strict=True))
        assert (form is not None) == (fits and dilation == (1, 1))
    else:
        assert form is not None

"""fuse-kernels on drawn programs. Hazards: a value that is used inside a pattern and behind it; an operation that is
before what its region takes; other bits."""

import random

import pytest

from tests.quantization.fusion.test_fuse_kernels import fused, regions, same_bits

T, V = "tensor<4x4xf32>", "tensor<4xf32>"
HEAD = f"""%z = arith.constant 0.0 : f32
%zero = arith.constant dense<0.0> : {T}
%two = arith.constant dense<2.0> : {T}
%four = arith.constant dense<4.0> : {V}
%w = arith.constant dense<[[1., 0.5, -1., 2.], [0.25, 1., 0., 1.], [2., -2., 1., 0.5], [1., 1., -0.5, 0.]]> : {T}
%bias = arith.constant dense<[1., -0.5, 0.25, 2.]> : {V}
%e = tensor.empty() : {T}
%v = tensor.empty() : {V}
%f = linalg.fill ins(%z : f32) outs(%e : {T}) -> {T}
%g = linalg.fill ins(%z : f32) outs(%v : {V}) -> {V}
%s = linalg.broadcast ins(%bias : {V}) outs(%e : {T}) dimensions = [0]"""
STATS = f'"quant.stats"({{a}}) {{{{layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>}}}} : ({T}) -> {T}'
STEPS = (
    f"%{{n}} = arith.addf {{a}}, {{b}} : {T}",
    f"%{{n}} = arith.mulf {{a}}, {{b}} : {T}",
    f"%{{n}} = arith.subf {{a}}, %two : {T}",
    f"%{{n}} = arith.addf {{a}}, %s : {T}",
    f"%{{n}} = arith.divf {{a}}, {{b}} : {T}",
    f"%{{n}} = math.tanh {{a}} : {T}",
    f"%{{n}} = arith.maximumf {{a}}, %zero : {T}",
    f"%{{n}} = linalg.min ins({{a}}, %f : {T}, {T}) outs(%e : {T}) -> {T}",
    f"%{{n}} = linalg.matmul ins({{a}}, %w : {T}, {T}) outs(%f : {T}) -> {T}",
    f"%{{n}} = linalg.matmul ins({{a}}, {{b}} : {T}, {T}) outs(%s : {T}) -> {T}",
    f"%{{n}} = linalg.transpose ins({{a}} : {T}) outs(%e : {T}) permutation = [1, 0]",
    f"%{{n}} = {STATS}",
    f"""%r{{n}} = linalg.reduce ins({{a}} : {T}) outs(%g : {V}) dimensions = [0]
  (%l: f32, %m: f32) {{{{ %o = arith.addf %l, %m : f32  linalg.yield %o : f32 }}}}
%q{{n}} = arith.divf %r{{n}}, %four : {V}
%{{n}} = linalg.broadcast ins(%q{{n}} : {V}) outs(%e : {T}) dimensions = [0]""",
)


def drawn(seed, count=14):
    """A program of so many steps, each on what one of the last four has made; two values are returned."""
    draw = random.Random(seed)
    lines, values = [HEAD], ["%x", "%y"]
    for n in range(count):
        a, b = (draw.choice(values[-4:]) for _ in range(2))
        lines.append(draw.choice(STEPS).format(n=f"v{n}", a=a, b=b))
        values.append(f"%v{n}")
    results = f"{draw.choice(values[2:])}, {values[-1]} : {T}, {T}"
    body = "\n".join(lines)
    return f"func.func @f(%x: {T}, %y: {T}) -> ({T}, {T}) {{\n{body}\nreturn {results}\n}}"


@pytest.mark.parametrize("options", [{}, {"linear": "true"}], ids=["kernels", "linear"])
@pytest.mark.parametrize("target", ["tflite", "qrt-cpu", "weight-only"])
def test_drawn_programs_keep_their_bits(target, options):
    found = 0
    for seed in range(5):
        text = drawn(seed)
        module, _ = fused(text, target, **options)
        same_bits(text, module)
        assert str(fused(str(module), target, **options)[0]) == str(module)
        found += len(regions(module))
    assert found

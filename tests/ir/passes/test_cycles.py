"""Every pass on operations that depend on themselves, alone and two or three in a circle, in a graph region and in a
block that nothing reaches. Hazards: a walk from operand to operand that never ends, an operation that is replaced by
its own result, what is beside the circle and reads it."""

from functools import cache
from random import Random

import pytest

from qrt import ir
from qrt.errors import VerifyError
from qrt.ir import run_passes
from qrt.ir.pipeline import PASSES
from tests.ir.passes.test_ends import CYCLES

F, Q = "tensor<4x4xf32>", "tensor<4x4x!quant.uniform<i8:f32, 0.5>>"
_IDENTITY = "affine_map<(a, b) -> (a, b)>"
_CONSTANTS = {
    F: f"%w = arith.constant dense<1.0> : {F}\n%c = arith.constant true\n%k = arith.constant 0 : index",
    Q: f"""%w0 = arith.constant dense<1> : tensor<4x4xi8>\n%w = quant.scast %w0 : tensor<4x4xi8> to {Q}
    %c = arith.constant true\n%k = arith.constant 0 : index""",
}
_MOVES = [
    "{o} = qrt.transpose {i} {{permutation = [1, 0]}} : (T) -> T",
    "{o} = qrt.transpose {i} {{permutation = [0, 1]}} : (T) -> T",
    "{o} = qrt.reshape {i} : (T) -> T",
    "{o} = qrt.concat {i} {{axis = 0 : i64}} : (T) -> T",
    "{o} = qrt.slice {i} {{offsets = [0, 0], sizes = [4, 4], strides = [1, 1]}} : (T) -> T",
    "{o} = tensor.cast {i} : T to T",
    "{o} = tensor.extract_slice {i}[0, 0] [4, 4] [1, 1] : T to T",
    "{o} = linalg.transpose ins({i} : T) outs({i} : T) permutation = [1, 0]",
    "{o} = arith.select %c, {i}, %w : T",
    "{o} = scf.if %c -> (T) {{ scf.yield {i} : T }} else {{ scf.yield %w : T }}",
]
STEPS = {
    F: [
        *_MOVES,
        '{o} = "quant.stats"({i}) {{layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>}} : (T) -> T',
        '{o} = "quant.stats_ref"({i}) {{statsKey = "{o}"}} : (T) -> T',
        '{o} = "quant.coupled_ref"({i}) {{coupledKey = "k"}} : (T) -> T',
        '{o} = "quant.const_fake_quant"({i}) {{min = -1.0 : f32, max = 1.0 : f32, num_bits = 8 : i64}} : (T) -> T',
        f"{{o}}q = quant.qcast {{i}} : T to {Q}\n{{o}} = quant.dcast {{o}}q : {Q} to T",
        "{o} = arith.negf {i} : T",
        "{o} = arith.addf {i}, %w : T",
        "{o} = math.exp {i} : T",
        "{o} = linalg.exp ins({i} : T) outs({i} : T) -> T",
        "{o} = linalg.matmul ins({i}, %w : T, T) outs(%w : T) -> T",
        f"""{{o}} = linalg.generic {{{{indexing_maps = [{_IDENTITY}, {_IDENTITY}],
          iterator_types = ["parallel", "parallel"]}}}} ins({{i}} : T) outs({{i}} : T) {{{{
          ^bb0(%in: f32, %out: f32):
            %sum = arith.addf %in, %in : f32
            linalg.yield %sum : f32
          }}}} -> T""",
        "{o} = tensor.pad {i} low[0, 0] high[0, 0] {{ ^bb0(%m: index, %n: index): %z = arith.constant 0.0 : f32"
        " tensor.yield %z : f32 }} : T to T",
        """{o} = quant.region ({i}, {i}) {{
          ^bb0(%a: T, %b: T):
            %sum = arith.addf %a, %b : T
            quant.return %sum : T
          }} {{input_specs = [f32, f32], output_specs = [f32], kernel = "add"}} : (T, T) -> T""",
    ],
    Q: [
        *_MOVES,
        "{o} = qrt.add {i}, %w : (T, T) -> T",
        "{o} = qrt.clamp {i} {{min = 0.0 : f64, max = 6.0 : f64}} : (T) -> T",
        "{o} = qrt.requantize {i} : (T) -> T",
        "{o} = qrt.pad {i} {{padding = [[0, 0], [0, 0]], value = 0.0 : f64}} : (T) -> T",
        '{o} = qrt.matmul {i}, %w {{requant = "float32"}} : (T, T) -> T',
        "{o} = qrt.leaky_relu {i} {{alpha = 0.5 : f64}} : (T) -> T",
        "{o}s = quant.scast {i} : T to tensor<4x4xi8>\n{o} = quant.scast {o}s : tensor<4x4xi8> to T",
        f"{{o}}d = quant.dcast {{i}} : T to {F}\n{{o}} = quant.qcast {{o}}d : {F} to T",
    ],
}
"""Operations by their type: each makes a value of it from one of it."""
_READERS = {
    F: [
        "%r = tensor.dim {i}, %k : T",
        "%r = arith.negf {i} : T\n%s = arith.negf %r : T",
        '%r = "quant.stats"({i}) {{layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>}} : (T) -> T',
    ],
    Q: [
        f"%r = quant.dcast {{i}} : T to {F}",
        _MOVES[0].format(o="%r", i="{i}") + "\n%s = qrt.add %r, %r : (T, T) -> T",
    ],
}
_PLACES = ["{}", "func.func @f() {{\nreturn\n^bb1:\n{}\nreturn\n}}"]
_OPTIONS = ["fuse-kernels{linear}", "lower-qrt{to=loops}"]
_DEPENDS = "depends on its own result"
_OF_REGIONS = {"check-quant", "export-quant"}
"""Passes that refuse a region whose types are open, in a circle or not."""
_OF_FUNCTIONS = {"fold-plan-constants"}
"""Passes that work on one function, and refuse a program without any."""


def _circle(type, steps, reader=""):
    """Operations of which the first reads the last, and each other one the one before it."""
    count = len(steps)
    lines = [step.format(o=f"%v{n}", i=f"%v{(n - 1) % count}") for n, step in enumerate(steps)]
    lines.append(reader.replace("{{", "{").replace("}}", "}").replace("{i}", "%v0"))
    body = "\n".join(lines).replace("T)", f"{type})").replace(": T", f": {type}").replace("to T", f"to {type}")
    body = body.replace("> T", f"> {type}").replace("(T", f"({type}").replace(", T", f", {type}")
    return f"{_CONSTANTS[type]}\n{body}"


@cache
def _drawn():
    """Circles of one operation of every kind, and some of two and three."""
    draw = Random(0)
    circles = [(type, [step]) for type, steps in STEPS.items() for step in steps]
    for count in (2, 3):
        for _ in range(12):
            type = draw.choice((F, Q))
            circles.append((type, draw.choices(STEPS[type], k=count)))
        circles += [(F, [step] * count) for step in (*_MOVES[:3], *STEPS[F][10:14])]
    return [_circle(type, steps, draw.choice(["", *_READERS[type]])) for type, steps in circles]


def _refusal(text, name):
    """The error of a pass on a program; None where it has none."""
    try:
        run_passes(ir.parse(text), name)
    except VerifyError as error:
        return error
    return None


@pytest.mark.parametrize("name", [*PASSES, *_OPTIONS])
def test_every_pass_ends_on_circles(name):
    """It leaves the circle alone, or names an operation and its place."""
    for lines in (*_drawn(), *CYCLES):
        for place in _PLACES[1:] if name in _OF_FUNCTIONS else _PLACES:
            refusal = _refusal(place.format(lines), name)
            if refusal is not None:
                is_of_region = name in _OF_REGIONS and "must have a quantized type" in refusal.message
                assert is_of_region or _DEPENDS in refusal.message, lines
                assert refusal.location is not None, lines


_FOLLOWING = (
    "attach-stats-ref", "convert-fake-quant", "convert-stats", "equalize-scales", "fold-scales", "propagate-quant"
)  # fmt: skip
"""Passes that follow values through a program."""


@pytest.mark.parametrize("name", _FOLLOWING)
@pytest.mark.parametrize(
    ("lines", "named"),
    [
        (f'%1 = arith.negf %0 : {F}\n%0 = "quant.stats_ref"(%0) {{statsKey = "a"}} : ({F}) -> {F}', "quant.stats_ref"),
        (f"%0 = scf.execute_region -> {F} {{\n%1 = arith.negf %0 : {F}\nscf.yield %1 : {F}\n}}", "scf.execute_region"),
    ],
)
def test_passes_that_follow_values_name_an_operation_of_the_circle(name, lines, named):
    """Neither what reads the circle, nor the function that holds it."""
    text = f"func.func @f() {{\nreturn\n^bb1:\n{lines}\nreturn\n}}"
    refusal = _refusal(text, name)
    assert refusal.message.startswith(f"'{named}' op {_DEPENDS}")
    assert "run canonicalize first" in refusal.message
    assert refusal.location.line == 4 + ("stats" in named)
    run_passes(ir.parse(text), f"canonicalize,{name}")  # as the message says


def test_what_is_beside_a_circle_is_fused():
    text = "\n".join([
        "func.func @f(%x: T) -> T {", "%a = arith.addf %x, %x : T", "%b = arith.mulf %a, %a : T", "return %b : T",
        "^bb1:", "%0 = arith.negf %0 : T", "return %0 : T", "}",
    ]).replace("T", F)  # fmt: skip
    module = run_passes(ir.parse(text), "fuse-loops")
    names = [op.name for op in module.operation.walk()]
    assert names.count("linalg.generic") == 1
    assert "arith.negf" in names

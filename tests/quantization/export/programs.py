"""Programs of one region: a float body for each op family, with drawn types at its ports."""

import numpy as np

from qrt import ir
from qrt.runtime.interpreter import Interpreter
from qrt.types import UniformType

_ZERO = "%zero = arith.constant 0.0 : f32"


def _filled(name, shape):
    filled = f"linalg.fill ins(%zero : f32) outs(%e{name} : {shape}) -> {shape}"
    return f"%e{name} = tensor.empty() : {shape}\n%{name} = {filled}"


def _windowed(name, types, result, stride):
    strides = f"{{strides = dense<{stride}> : tensor<2xi64>}}"
    return f"linalg.{name} {strides} ins({types}) outs(%f : {result}) -> {result}"


def t(*sizes):
    return f"tensor<{''.join(f'{n}x' for n in sizes)}f32>"


_CONV = f"""{_ZERO}
{_filled("f", t(1, 3, 3, 4))}
%1 = {_windowed("conv_2d_nhwc_hwcf", f"%a, %b : {t(1, 7, 7, 2)}, {t(3, 3, 2, 4)}", t(1, 3, 3, 4), 2)}
%2 = linalg.broadcast ins(%c : {t(4)}) outs(%ef : {t(1, 3, 3, 4)}) dimensions = [0, 1, 2]
%y = arith.addf %1, %2 : {t(1, 3, 3, 4)}"""

BODIES = {
    "matmul": (
        (t(3, 5), t(5, 4), t(4)),
        t(3, 4),
        f"""{_ZERO}
{_filled("f", t(3, 4))}
%1 = linalg.matmul ins(%a, %b : {t(3, 5)}, {t(5, 4)}) outs(%f : {t(3, 4)}) -> {t(3, 4)}
%2 = linalg.broadcast ins(%c : {t(4)}) outs(%ef : {t(3, 4)}) dimensions = [0]
%3 = arith.addf %1, %2 : {t(3, 4)}
%4 = arith.constant dense<0.0> : {t(3, 4)}
%y = arith.maximumf %3, %4 : {t(3, 4)}""",
    ),
    "conv2d": ((t(1, 7, 7, 2), t(3, 3, 2, 4), t(4)), t(1, 3, 3, 4), _CONV),
    "depthwise_conv2d": (
        (t(1, 5, 5, 3), t(3, 3, 3)),
        t(1, 3, 3, 3),
        f"""{_ZERO}
{_filled("f", t(1, 3, 3, 3))}
%y = {_windowed("depthwise_conv_2d_nhwc_hwc", f"%a, %b : {t(1, 5, 5, 3)}, {t(3, 3, 3)}", t(1, 3, 3, 3), 1)}""",
    ),
    "add": ((t(2, 3), t(2, 3)), t(2, 3), f"%y = arith.addf %a, %b : {t(2, 3)}"),
    "sub": ((t(2, 3), t(2, 3)), t(2, 3), f"%y = arith.subf %a, %b : {t(2, 3)}"),
    "mul": ((t(2, 3), t(2, 3)), t(2, 3), f"%y = arith.mulf %a, %b : {t(2, 3)}"),
    "clamp": (
        (t(4, 3),),
        t(4, 3),
        f"""%0 = arith.constant dense<-0.5> : {t(4, 3)}
%1 = arith.constant dense<0.75> : {t(4, 3)}
%2 = arith.maximumf %a, %0 : {t(4, 3)}
%y = arith.minimumf %2, %1 : {t(4, 3)}""",
    ),
    "avg_pool2d": (
        (t(1, 4, 4, 2),),
        t(1, 2, 2, 2),
        f"""{_ZERO}
{_filled("f", t(1, 2, 2, 2))}
%w = tensor.empty() : {t(2, 2)}
%1 = {_windowed("pooling_nhwc_sum", f"%a, %w : {t(1, 4, 4, 2)}, {t(2, 2)}", t(1, 2, 2, 2), 2)}
%n = arith.constant dense<4.0> : {t(1, 2, 2, 2)}
%y = arith.divf %1, %n : {t(1, 2, 2, 2)}""",
    ),
    "max_pool2d": (
        (t(1, 4, 4, 2),),
        t(1, 2, 2, 2),
        f"""%zero = arith.constant 0xFF800000 : f32
{_filled("f", t(1, 2, 2, 2))}
%w = tensor.empty() : {t(2, 2)}
%y = {_windowed("pooling_nhwc_max", f"%a, %w : {t(1, 4, 4, 2)}, {t(2, 2)}", t(1, 2, 2, 2), 2)}""",
    ),
    "reshape": ((t(2, 6),), t(12), f"%y = tensor.collapse_shape %a [[0, 1]] : {t(2, 6)} into {t(12)}"),
    "transpose": (
        (t(2, 6),),
        t(6, 2),
        f"""%e = tensor.empty() : {t(6, 2)}
%y = linalg.transpose ins(%a : {t(2, 6)}) outs(%e : {t(6, 2)}) permutation = [1, 0]""",
    ),
    "concat": (
        (t(2, 3), t(2, 1)),
        t(2, 4),
        f"%y = tensor.concat dim(1) %a, %b : ({t(2, 3)}, {t(2, 1)}) -> {t(2, 4)}",
    ),
    "lookup": (
        (t(2, 3),),
        t(2, 3),
        f"""%1 = math.exp %a : {t(2, 3)}
%2 = arith.constant dense<1.0> : {t(2, 3)}
%3 = arith.addf %1, %2 : {t(2, 3)}
%y = arith.divf %a, %3 : {t(2, 3)}""",
    ),
    "mean": (
        (t(2, 4, 3),),
        t(2, 3),
        f"""{_ZERO}
{_filled("f", t(2, 3))}
%1 = linalg.reduce ins(%a : {t(2, 4, 3)}) outs(%f : {t(2, 3)}) dimensions = [1]
  (%in: f32, %acc: f32) {{
    %s = arith.addf %in, %acc : f32
    linalg.yield %s : f32
  }}
%n = arith.constant dense<4.0> : {t(2, 3)}
%y = arith.divf %1, %n : {t(2, 3)}""",
    ),
    "pad": (
        (t(2, 3),),
        t(3, 5),
        f"""%zero = arith.constant 0.0 : f32
%y = tensor.pad %a low[1, 0] high[0, 2] {{
^bb0(%i: index, %j: index):
  tensor.yield %zero : f32
}} : {t(2, 3)} to {t(3, 5)}""",
    ),
}
"""By kernel: the types of the operands, that of the result, and the body that computes %y of %a, %b, %c."""

KEEPING = frozenset({"clamp", "max_pool2d", "reshape", "transpose", "pad"})
_AXES = {"matmul": 1, "conv2d": 3, "depthwise_conv2d": 2}
"""The axis of the channels of the second operand."""


def drawn_specs(kernel, rng):
    """The types of the operands and of the result."""
    count = len(BODIES[kernel][0])
    storage = rng.choice(["i8", "u8", "i7", "i8<-100:90>"])
    specs = [_per_layer(rng, storage), *[_per_layer(rng, "i8") for _ in range(count - 1)]]
    if kernel in _AXES:
        channels = 3 if kernel == "depthwise_conv2d" else 4
        scales = rng.uniform(0.001, 0.01, channels)
        specs[1] = UniformType("i8", "f32", scales, axis=_AXES[kernel], storage_min=-127)
    if count == 3:
        specs[2] = UniformType("i32", "f32", [specs[0].scale * s for s in specs[1].scales], axis=0)
    return specs, specs[0] if kernel in KEEPING else _per_layer(rng, rng.choice(["i8", "u8"]), 0.02)


def _per_layer(rng, storage, scale=0.01):
    name, _, bounds = storage.partition("<")
    low, high = map(int, bounds[:-1].split(":")) if bounds else (None, None)
    made = UniformType(name, "f32", float(rng.uniform(scale, 2 * scale)), 0, storage_min=low, storage_max=high)
    return made.with_(zero_points=int(rng.integers(made.storage_min, made.storage_max + 1)))


def program(kernel, specs, out, constants=(), name=None):
    """A function with one region; operands of the numbers `constants` are constants of these values."""
    types, result, body = BODIES[kernel]
    return function(types, result, body, specs, out, constants, name or kernel)


def function(types, result, body, specs, out, constants=(), kernel="linear"):
    """The text of a function with one region of a body."""
    constants = dict(constants)
    arguments = ", ".join(f"%x{i}: {type}" for i, type in enumerate(types) if i not in constants)
    given = "\n".join(
        f"%x{i} = arith.constant dense<{np.asarray(value).tolist()}> : {types[i]}" for i, value in constants.items()
    )
    inner = ", ".join(f"%{name}: {type}" for name, type in zip("abc", types, strict=False))
    operands = ", ".join(f"%x{i}" for i in range(len(types)))
    specs = ", ".join(map(str, specs))
    return f"""func.func @main({arguments}) -> {result} {{
{given}
%y = quant.region({operands}) {{
^bb0({inner}):
{body}
quant.return %y : {result}
}} {{input_specs = [{specs}], output_specs = [{out}], kernel = "{kernel}"}} : ({", ".join(types)}) -> {result}
return %y : {result}
}}"""


def exported(text, to, target=""):
    """The module after `export-quant`."""
    module = ir.parse(text)
    options = f"to={to}" + (f" target={target}" if target else "")
    return ir.run_passes(module, f"export-quant{{{options}}}")


def ran(module, arrays):
    """What the interpreter computes."""
    function = module.function("main")
    return [np.asarray(array) for array in Interpreter(module).call(function, arrays)]


def drawn_arrays(module, rng, size=1.0):
    """Floats for the arguments."""
    shapes = [type.shape for type in module.function("main").type.inputs]
    return [(rng.normal(size=shape) * size).astype(np.float32) for shape in shapes]

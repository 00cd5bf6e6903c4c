"""Every named op of linalg that qrt knows, its loops two to each extent."""

import re
from collections.abc import Iterator, Sequence

from qrt.ir.dialects.linalg.named import TABLE
from qrt.ir.dialects.linalg.named_bodies import FUNCTIONS
from tests.oracle.draw_types import Draw
from tests.oracle.execution.case import Case
from tests.oracle.execution.draw_elementwise import ULPS
from tests.oracle.execution.draw_expressions import function
from tests.oracle.execution.draw_tensors import tensor
from tests.oracle.execution.draw_values import array
from tests.oracle.execution.values import FLOATS

_SUMS = (("i8", "i32"), ("i16", "i64"), ("i32", "i32"), ("f16", "f32"), ("bf16", "f32"), ("f32", "f32"), ("f64", "f64"))
_NOT_ROUNDED = ("exp", "log", "tanh", "erf", "powf")
_INTEGERS = ("i8", "i16", "i32", "i64")
_NOT_FLOATS = ("div_unsigned", "max_unsigned", "min_unsigned")
_NOT_INTEGERS = ("div", "powf")
_BOOLEANS = ("select",)
"""Tensors of i1 do not execute: unreachable.py."""


def named(draw: Draw) -> Iterator[Case]:
    for name in sorted(TABLE):
        short = name.removeprefix("linalg.")
        kind = f"{short}_signed" if f"{short}_signed" in FUNCTIONS else short
        if TABLE[name].loops:
            yield _of_loops(draw, name, TABLE[name].loops)
        elif kind in FUNCTIONS and kind not in _BOOLEANS:
            yield _elementwise(draw, name, "", kind)
    for kind in FUNCTIONS:
        if kind not in _BOOLEANS:
            yield _elementwise(draw, "linalg.elementwise", f" kind=#linalg.elementwise_kind<{kind}>", kind)
    yield _contract(draw)


def _of_loops(draw: Draw, name: str, loops: str) -> Case:
    """`nhwcyx: n(hy)(wx)c yx -> nhwc`: operands by the letters that index them; a `.` is a zero point."""
    windows = TABLE[name].windows
    step = draw.randint(1, 2) if windows else 1
    inputs, _, output = loops.partition(": ")[2].partition("->")
    shapes = [_shape(operand, step) for operand in inputs.split() if operand != "."]
    out = _shape(output.strip(), step)
    given, made = draw.choice(_SUMS)
    zero_points: list[str] = []
    if "." in inputs:
        given, made = "i8", "i32"
        zero_points = ["%za", "%zb"]
    if "pooling" in name:
        given = made = draw.choice(_INTEGERS if TABLE[name].unsigned else (*_INTEGERS, *FLOATS))
    said = f" {{dilations = dense<1> : tensor<{windows}xi64>, strides = dense<{step}> : tensor<{windows}xi64>}}"
    names = [*(f"%t{i}" for i in range(len(shapes))), *zero_points]
    types = [*(tensor(shape, given) for shape in shapes), *("i32" for _ in zero_points)]
    lines = [
        *(f"{zero} = arith.constant {draw.randint(-128, 127)} : i32" for zero in zero_points),
        f"%r = {name}{said if windows else ''} ins({', '.join(names)} : {', '.join(types)})"
        f" outs(%t{len(shapes)} : {tensor(out, made)}) -> {tensor(out, made)}",
    ]
    return _case(draw, lines, [*((shape, given) for shape in shapes), (out, made)])


def _shape(operand: str, step: int) -> tuple[int, ...]:
    """Each loop has two steps; a window spans those of its two."""
    return tuple(step + 2 if window else 2 for window, _ in re.findall(r"(\(\w\w\))|(\w)", operand))


def _elementwise(draw: Draw, name: str, said: str, kind: str) -> Case:
    arity = FUNCTIONS[kind]
    elements = FLOATS if arity == 1 or kind in _NOT_INTEGERS else (*_INTEGERS, *FLOATS)
    element = draw.choice(_INTEGERS if kind in _NOT_FLOATS else elements)
    t = tensor((2, 3), element)
    names, types = ", ".join(f"%t{i}" for i in range(arity)), ", ".join([t] * arity)
    case = _case(
        draw,
        [f"%r = {name}{said} ins({names} : {types}) outs(%t{arity} : {t}) -> {t}"],
        [((2, 3), element)] * (arity + 1),
    )
    if kind in _NOT_ROUNDED:
        case.ulps, case.path = ULPS, "library"
    if kind == "div_unsigned":
        case.defined = None
    return case


def _contract(draw: Draw) -> Case:
    given, made = draw.choice(_SUMS)
    maps = ", ".join(f"affine_map<(a, b, c) -> ({results})>" for results in ("c, a", "b, c", "b, a"))
    shapes = [(3, 2), (4, 3)]
    line = (
        f"%r = linalg.contract indexing_maps = [{maps}] ins(%t0, %t1 : {tensor(shapes[0], given)},"
        f" {tensor(shapes[1], given)}) outs(%t2 : {tensor((4, 2), made)}) -> {tensor((4, 2), made)}"
    )
    return _case(draw, [line], [*((shape, given) for shape in shapes), ((4, 2), made)])


def _case(draw: Draw, lines: list[str], operands: Sequence[tuple[tuple[int, ...], str]]) -> Case:
    result = tensor(*operands[-1])
    arguments = [f"%t{i}: {tensor(*operand)}" for i, operand in enumerate(operands)]
    text = function(lines, arguments, ["%r"], [result])
    return Case(
        "named ops of linalg", text, [[array(draw, element, shape) for shape, element in operands]], defined=[True]
    )

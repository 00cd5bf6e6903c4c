"""Loops and branches of scalars: scf and cf."""

from collections.abc import Callable, Iterator

from tests.oracle.draw_types import Draw
from tests.oracle.execution.case import Case
from tests.oracle.execution.draw_expressions import Expression, function
from tests.oracle.execution.draw_values import scalar
from tests.oracle.execution.values import FLOATS, INTEGERS, Value, is_float

CALLS = 4
_ELEMENTS = (*INTEGERS[1:], *FLOATS)
_KIND = "loops and branches"


def control(draw: Draw, count: int) -> Iterator[Case]:
    for _ in range(count):
        yield draw.choice(_RULES)(draw, draw.choice(_ELEMENTS))


def body(draw: Draw, element: str, names: list[str], prefix: str, result: str) -> list[str]:
    """Lines of a few ops that are never undefined on values of one type; the last defines `result`."""
    expression = Expression(draw, {element: names}, f"%{prefix}")
    for _ in range(draw.randint(0, 2)):
        expression.never_undefined(element)
    last = expression.never_undefined(element)
    other = "addf" if is_float(element) else "addi"
    return [*expression.lines, f"{result} = arith.{other} {last}, {draw.choice(names)} : {element}"]


def _case(draw: Draw, element: str, lines: list[str], results: list[str], count: bool = True) -> Case:
    """A function of `%a`, `%b`, and a small `%n` of type index."""
    arguments = [f"%a: {element}", f"%b: {element}"] + ["%n: index"] * count
    text = function(lines, arguments, results, [element] * len(results))
    calls = []
    for _ in range(CALLS):
        trips = [Value("index", (), (draw.randint(0, 7),))] * count
        calls.append([scalar(draw, element), scalar(draw, element), *trips])
    return Case(_KIND, text, calls, defined=[True] * CALLS)


_BOUNDS = ["%zero = arith.constant 0 : index", "%one = arith.constant 1 : index"]


def _for(draw: Draw, element: str) -> Case:
    step = draw.randint(1, 3)
    lines = [
        *_BOUNDS,
        f"%step = arith.constant {step} : index",
        f"%r:2 = scf.for %i = %{draw.choice(['zero', 'one'])} to %n step %step"
        f" iter_args(%x = %a, %y = %b) -> ({element}, {element}) {{",
        *body(draw, element, ["%x", "%y"], "u", "%new"),
        f"scf.yield %y, %new : {element}, {element}",
        "}",
    ]
    return _case(draw, element, lines, ["%r#0", "%r#1"])


def _nested_for(draw: Draw, element: str) -> Case:
    lines = [
        *_BOUNDS,
        f"%r = scf.for %i = %zero to %n step %one iter_args(%x = %a) -> ({element}) {{",
        f"%s = scf.for %j = %i to %n step %one iter_args(%y = %x) -> ({element}) {{",
        *body(draw, element, ["%x", "%y", "%b"], "u", "%new"),
        f"scf.yield %new : {element}",
        "}",
        f"scf.yield %s : {element}",
        "}",
    ]
    return _case(draw, element, lines, ["%r"])


def _if(draw: Draw, element: str) -> Case:
    lines = [
        *_BOUNDS,
        f"%c = arith.cmpi {draw.choice(['eq', 'ult', 'sge'])}, %n, %one : index",
        f"%r = scf.if %c -> ({element}) {{",
        *body(draw, element, ["%a", "%b"], "u", "%then"),
        f"scf.yield %then : {element}",
        "} else {",
        *body(draw, element, ["%b", "%a"], "w", "%other"),
        f"scf.yield %other : {element}",
        "}",
    ]
    return _case(draw, element, lines, ["%r"])


def _while(draw: Draw, element: str) -> Case:
    lines = [
        *_BOUNDS,
        f"%r:2 = scf.while (%i = %zero, %x = %a) : (index, {element}) -> (index, {element}) {{",
        "%c = arith.cmpi ult, %i, %n : index",
        f"scf.condition(%c) %i, %x : index, {element}",
        "} do {",
        f"^bb0(%j: index, %y: {element}):",
        *body(draw, element, ["%y", "%b"], "u", "%new"),
        "%next = arith.addi %j, %one : index",
        f"scf.yield %next, %new : index, {element}",
        "}",
    ]
    return _case(draw, element, lines, ["%r#1"])


def _index_switch(draw: Draw, element: str) -> Case:
    lines = [f"%r = scf.index_switch %n -> {element}"]
    for i in range(draw.randint(1, 3)):
        lines += [f"case {i} {{", *body(draw, element, ["%a", "%b"], f"u{i}x", f"%r{i}")]
        lines += [f"scf.yield %r{i} : {element}", "}"]
    return _case(draw, element, [*lines, "default {", f"scf.yield %b : {element}", "}"], ["%r"])


def _execute_region(draw: Draw, element: str) -> Case:
    lines = [
        *_BOUNDS,
        f"%r = scf.execute_region -> {element} {{",
        "%c = arith.cmpi ugt, %n, %one : index",
        f"cf.cond_br %c, ^left, ^end(%a : {element})",
        "^left:",
        *body(draw, element, ["%a", "%b"], "u", "%new"),
        f"cf.br ^end(%new : {element})",
        f"^end(%x: {element}):",
        f"scf.yield %x : {element}",
        "}",
    ]
    return _case(draw, element, lines, ["%r"])


def _branches(draw: Draw, element: str) -> Case:
    """A loop of blocks."""
    lines = [
        *_BOUNDS,
        f"cf.br ^head(%zero, %a : index, {element})",
        f"^head(%i: index, %x: {element}):",
        "%c = arith.cmpi slt, %i, %n : index",
        f"cf.cond_br %c, ^body(%x : {element}), ^end(%x, %b : {element}, {element})",
        f"^body(%y: {element}):",
        *body(draw, element, ["%y", "%b"], "u", "%new"),
        "%next = arith.addi %i, %one : index",
        f"cf.br ^head(%next, %new : index, {element})",
        f"^end(%p: {element}, %q: {element}):",
        *body(draw, element, ["%p", "%q"], "w", "%r"),
    ]
    return _case(draw, element, lines, ["%r"])


def _switch(draw: Draw, element: str) -> Case:
    lines = [
        "%flag = arith.index_cast %n : index to i32",
        "cf.switch %flag : i32, [",
        f"  default: ^end(%b : {element}),",
        f"  {draw.randint(0, 2)}: ^first,",
        f"  {draw.randint(3, 6)}: ^end(%a : {element})",
        "]",
        "^first:",
        *body(draw, element, ["%a", "%b"], "u", "%new"),
        f"cf.br ^end(%new : {element})",
        f"^end(%r: {element}):",
    ]
    return _case(draw, element, lines, ["%r"])


def _call(draw: Draw, element: str) -> Case:
    lines = body(draw, element, ["%a", "%b"], "u", "%r")
    inner = function(lines, [f"%a: {element}", f"%b: {element}"], ["%r"], [element]).replace("@f", "@fhelper", 1)
    calls = [
        f"%s = call @fhelper(%b, %a) : ({element}, {element}) -> {element}",
        f"%r = call @fhelper(%s, %a) : ({element}, {element}) -> {element}",
    ]
    case = _case(draw, element, calls, ["%r"])
    case.text += inner
    return case


def _parallel(draw: Draw, element: str) -> Case:
    """A sum of one value in any order; floats are summed in no order that is promised."""
    element = "i32" if is_float(element) else element
    lines = [
        *_BOUNDS,
        f"%r = scf.parallel (%i) = (%zero) to (%n) step (%one) init (%a) -> {element} {{",
        *([] if element == "index" else ["%i32 = arith.index_cast %i : index to i64"]),
        *([] if element == "index" else [_resized(element)]),
        f"scf.reduce(%{'i' if element == 'index' else 'v'} : {element}) {{",
        f"^bb0(%x: {element}, %y: {element}):",
        f"%s = arith.{draw.choice(['addi', 'muli', 'xori', 'maxsi'])} %x, %y : {element}",
        f"scf.reduce.return %s : {element}",
        "}",
        "}",
    ]
    return _case(draw, element, lines, ["%r"])


def _resized(element: str) -> str:
    return "%v = arith.addi %i32, %i32 : i64" if element == "i64" else f"%v = arith.trunci %i32 : i64 to {element}"


_RULES: tuple[Callable[[Draw, str], Case], ...] = (
    _for,
    _nested_for,
    _if,
    _while,
    _index_switch,
    _execute_region,
    _branches,
    _switch,
    _call,
    _parallel,
)

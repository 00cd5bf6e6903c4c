"""Each op of arith and math alone, on every type that LLVM executes, and on tensors."""

from collections.abc import Iterator

from qrt.ops.elementwise import FLOAT_PREDICATES, INTEGER_PREDICATES, ROUNDING_MODES
from tests.oracle.draw_types import Draw
from tests.oracle.execution import undefined
from tests.oracle.execution.case import Case
from tests.oracle.execution.draw_values import array, scalar
from tests.oracle.execution.values import FLOATS, INTEGERS, STORED, Value, width

CALLS = 8
_QUOTIENTS = ("divsi", "divui", "ceildivsi", "ceildivui", "floordivsi", "remsi", "remui")
_BITS = ("andi", "ori", "xori", "shli", "shrsi", "shrui")
_BINARY = ("addi", "subi", "muli", *_QUOTIENTS, *_BITS, "maxsi", "minsi", "maxui", "minui")
_FLOAT_BINARY = ("addf", "subf", "mulf", "divf", "remf", "maximumf", "minimumf", "maxnumf", "minnumf")
_EXACT_UNARY = ("absf", "ceil", "floor", "trunc", "round", "roundeven", "sqrt", "rsqrt")
_CIRCULAR = ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh")
_TRANSCENDENTAL = ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", *_CIRCULAR, "cbrt", "erf", "erfc")
ULPS = 2
"""The bound for functions of the C library, which qrt rounds once: its error, and roundings of wider formats."""
_LESS_EXACT = {"cbrt": 4, "erfc": 4}
"""Where glibc's own bounds are wider."""


def elementwise(draw: Draw) -> Iterator[Case]:
    """A case for each op and type, its operands drawn."""
    for element in INTEGERS:
        yield from _of_integers(draw, element)
    for element in FLOATS:
        yield from _of_floats(draw, element)
    yield from _conversions(draw)
    yield from _small_floats(draw)
    yield from _comparisons(draw)
    for element in (*INTEGERS, *FLOATS):
        yield _case(draw, f"%r = arith.select %a, %b, %c : {element}", ["i1", element, element], [element])


def on_tensors(draw: Draw) -> Iterator[Case]:
    """Ops that are never undefined, on tensors of some shape."""
    for name in ("addi", "muli", "subi", "maxui", "minsi", "xori"):
        yield _on_tensor(draw, f"arith.{name}", draw.choice(STORED), 2)
    for name in _FLOAT_BINARY:
        yield _on_tensor(draw, f"arith.{name}", draw.choice(FLOATS), 2)
    for name in ("absf", "ceil", "floor", "roundeven", "trunc"):
        yield _on_tensor(draw, f"math.{name}", draw.choice(FLOATS), 1)


def _case(draw: Draw, line: str, inputs: list[str], results: list[str], ulps: int = 0) -> Case:
    """A function of one line on scalars `%a`, `%b`, `%c`; its calls are defined."""
    calls = [[scalar(draw, element) for element in inputs] for _ in range(CALLS)]
    count = len(results)
    names = "%r" if count == 1 else ", ".join(f"%r#{i}" for i in range(count))
    arguments = ", ".join(f"%{name}: {element}" for name, element in zip("abc", inputs, strict=False))
    types = ", ".join(results)
    text = (
        f"func.func @f({arguments}) -> {types if count == 1 else f'({types})'} {{\n"
        f"  {line}\n  return {names} : {types}\n}}\n"
    )
    kind = "ops of arith and math alone" if not ulps else "functions of the C library"
    return Case(kind, text, calls, ulps, path="library" if ulps else "llvm", defined=[True] * CALLS)


def _on_tensor(draw: Draw, name: str, element: str, arity: int) -> Case:
    shape = tuple(draw.randint(1, 4) for _ in range(draw.randint(0, 3)))
    dims = draw.choice(["".join(f"{dim}x" for dim in shape), "?x" * len(shape)])
    tensor = f"tensor<{dims}{element}>"
    arguments = ", ".join(f"%{letter}: {tensor}" for letter in "ab"[:arity])
    operands = ", ".join(f"%{letter}" for letter in "ab"[:arity])
    text = (
        f"func.func @f({arguments}) -> {tensor} {{\n  %r = {name} {operands} : {tensor}\n  return %r : {tensor}\n}}\n"
    )
    calls = [[array(draw, element, shape) for _ in range(arity)] for _ in "ab"]
    return Case("ops of arith and math on tensors", text, calls, defined=[True, True])


# -- integers ----------------------------------------------------------------------------------------------------------


def _of_integers(draw: Draw, element: str) -> Iterator[Case]:
    for name in _BINARY:
        for flag in ("", *(said for op, said in undefined.PROMISES if op == f"arith.{name}")):
            yield _binary(draw, f"arith.{name}", flag, element)
    if element != "index":
        yield _case(draw, f"%r:2 = arith.addui_extended %a, %b : {element}, i1", [element] * 2, [element, "i1"])
        yield _binary(draw, "math.ipowi", "", element)
    for name in ("mulsi_extended", "mului_extended"):
        yield _case(draw, f"%r:2 = arith.{name} %a, %b : {element}", [element] * 2, [element] * 2)
    for name in ("absi", "ctlz", "cttz", "ctpop"):
        yield _case(draw, f"%r = math.{name} %a : {element}", [element], [element])


def _binary(draw: Draw, name: str, flag: str, element: str) -> Case:
    case = _case(draw, f"%r = {name} %a, %b{f' {flag}' if flag else ''} : {element}", [element] * 2, [element])
    if name in ("arith.shli", "arith.shrsi", "arith.shrui", "math.ipowi"):
        size = width(element)
        counts = [draw.randrange(size) if draw.chance(0.8) else bits.bits[0] for _, bits in case.calls]
        case.calls = [[a, Value(element, (), (n,))] for (a, _), n in zip(case.calls, counts, strict=True)]
    if name in ("arith.addi", "arith.muli", "arith.subi") and flag and element != "i1":
        case.calls += [[_small(draw, element), _small(draw, element)] for _ in range(CALLS // 2)]
    case.defined = [
        not undefined.of_integers(name, flag, element, [value.bits[0] for value in call]) for call in case.calls
    ]
    return case


def _small(draw: Draw, element: str) -> Value:
    return Value(element, (), (draw.getrandbits(max(1, width(element) // 2 - 1)),))


# -- floats ------------------------------------------------------------------------------------------------------------


def _of_floats(draw: Draw, element: str) -> Iterator[Case]:
    for name in _FLOAT_BINARY:
        yield _case(draw, f"%r = arith.{name} %a, %b : {element}", [element] * 2, [element])
    yield _case(draw, f"%r = arith.negf %a : {element}", [element], [element])
    yield _case(draw, f"%r = math.copysign %a, %b : {element}", [element] * 2, [element])
    for name in _EXACT_UNARY:
        yield _case(draw, f"%r = math.{name} %a : {element}", [element], [element])
    for name in ("isfinite", "isnan"):
        yield _case(draw, f"%r = math.{name} %a : {element}", [element], ["i1"])
    yield _case(draw, f"%r = math.fma %a, %b, %c : {element}", [element] * 3, [element])
    yield _case(draw, f"%r = math.clampf %a to [%b, %c] : {element}", [element] * 3, [element])
    for name in _TRANSCENDENTAL:
        ulps = _LESS_EXACT.get(name, ULPS)
        yield _case(draw, f"%r = math.{name} %a : {element}", [element], [element], ulps)
    for name in ("atan2", "powf"):
        yield _case(draw, f"%r = math.{name} %a, %b : {element}", [element] * 2, [element], ULPS)
    case = _case(draw, f"%r:2 = math.sincos %a : {element}", [element], [element] * 2, ULPS)
    case.path = "llvm"  # C has no such function
    yield case
    yield _case(draw, f"%r = math.fpowi %a, %b : {element}, i32", [element, "i32"], [element], ULPS)


# -- conversions and comparisons ---------------------------------------------------------------------------------------


def _conversions(draw: Draw) -> Iterator[Case]:
    widths = [element for element in INTEGERS if element != "index"]
    for source in widths:
        for target in widths:
            if width(source) < width(target):
                for name in ("extsi", "extui"):
                    yield _conversion(draw, f"arith.{name}", source, target)
            if width(source) > width(target):
                for flag in ("", "overflow<nsw>", "overflow<nuw>"):
                    yield _conversion(draw, "arith.trunci", source, target, flag)
        for target in FLOATS:
            for name in ("sitofp", "uitofp"):
                yield _conversion(draw, f"arith.{name}", source, target)
            for name in ("fptosi", "fptoui"):
                yield _conversion(draw, f"arith.{name}", target, source)
            if width(source) == width(target):
                yield _conversion(draw, "arith.bitcast", source, target)
                yield _conversion(draw, "arith.bitcast", target, source)
        for name in ("index_cast", "index_castui"):
            yield _conversion(draw, f"arith.{name}", source, "index")
            yield _conversion(draw, f"arith.{name}", "index", source)
    for source in FLOATS:
        for target in FLOATS:
            if width(source) < width(target):
                yield _conversion(draw, "arith.extf", source, target)
            if width(source) > width(target):
                for mode in ("", *ROUNDING_MODES):
                    yield _conversion(draw, "arith.truncf", source, target, mode)


def _conversion(draw: Draw, name: str, source: str, target: str, flag: str = "") -> Case:
    case = _case(draw, f"%r = {name} %a{f' {flag}' if flag else ''} : {source} to {target}", [source], [target])
    case.defined = [not undefined.of_conversion(name, flag, source, target, value.bits[0]) for (value,) in case.calls]
    return case


def _small_floats(draw: Draw) -> Iterator[Case]:
    """f4E2M1FN, and scales of f8E8M0FNU above its least, which mlir-opt takes for zero."""
    read = "%x = arith.bitcast %a : i4 to f4E2M1FN"
    for element in ("f16", "bf16", "f32"):
        plain = _case(draw, f"{read}\n  %r = arith.extf %x : f4E2M1FN to {element}", ["i4"], [element])
        scaled = f"%r = arith.scaling_extf %x, %s : f4E2M1FN, f8E8M0FNU to {element}"
        scaling = _case(draw, f"{read}\n  %s = arith.bitcast %b : i8 to f8E8M0FNU\n  {scaled}", ["i4", "i8"], [element])
        scaling.calls = [[x, Value("i8", (), (max(scale.bits[0], 1),))] for x, scale in scaling.calls]
        for case in (plain, scaling):
            case.path = "expanded"
            yield case


def _comparisons(draw: Draw) -> Iterator[Case]:
    for elements, name, predicates in ((INTEGERS, "cmpi", INTEGER_PREDICATES), (FLOATS, "cmpf", FLOAT_PREDICATES)):
        for element in elements:
            for predicate in predicates:
                line = f"%r = arith.{name} {predicate}, %a, %b : {element}"
                case = _case(draw, line, [element] * 2, ["i1"])
                case.calls[:2] = [[call[0]] * 2 for call in case.calls[:2]]  # equal operands
                yield case

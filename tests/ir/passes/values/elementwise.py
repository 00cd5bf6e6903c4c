"""Functions of arith and math on few values and on constants that identities are about: 0, 1, -1, the ends of a type,
NaNs, infinities and signed zeros; a value beside itself, its negation, and what undoes it."""

import re

from tests.oracle.draw_types import Draw
from tests.oracle.execution.draw_values import bits
from tests.oracle.execution.values import is_float, literal
from tests.oracle.execution.values import width as width_of

_INTEGERS = ("i1", "i4", "i8", "i16", "i32", "i64", "index")
_FLOATS = ("f16", "bf16", "f32", "f64")
_SHAPES = ("{}", "{}", "{}", "vector<2x{}>", "tensor<2x{}>", "tensor<?x{}>")
_FLAGGED = {"addi": "nsw nuw", "subi": "nsw nuw", "muli": "nsw nuw", "shli": "nsw nuw"}
_EXTENDED = ("mulsi_extended", "mului_extended")
_NAMES = """
binary: addi addi subi subi muli muli divsi divui ceildivsi ceildivui floordivsi remsi remui andi andi ori ori xori xori
  shli shrsi shrui maxsi minsi maxui minui
unary: math.absi math.ctlz math.cttz math.ctpop
binary of floats: addf subf mulf divf remf maximumf minimumf maxnumf minnumf
unary of floats: math.absf math.ceil math.floor math.round math.roundeven math.trunc math.sqrt arith.negf arith.negf
tests: math.isnan math.isinf math.isfinite math.isnormal
predicates: eq ne slt sle sgt sge ult ule ugt uge
predicates of floats: false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true
"""
_OPS = {kind: names.split() for kind, names in re.findall(r"^(\w.*?):((?: .*\n)+)", _NAMES, re.MULTILINE)}


class _Function:
    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.shape = draw.choice(_SHAPES)
        self.element = draw.choice([*_INTEGERS, *_FLOATS, "i1", "i8", "i32", "f32"])
        self.lines: list[str] = []
        self.values: dict[str, list[str]] = {self.element: ["%a", "%b"]}

    def type(self, element: str) -> str:
        return self.shape.format(element)

    def add(self, text: str, element: str, results: int = 1) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name}{f':{results}' if results > 1 else ''} = {text}")
        self.values.setdefault(element, []).extend([name] if results == 1 else [f"{name}#{i}" for i in range(results)])
        return self.values[element][-1]

    def constant(self, element: str) -> str:
        size, draw = width_of(element), self.draw
        if is_float(element):
            one = {"f16": 0x3C00, "bf16": 0x3F80, "f32": 0x3F800000, "f64": 0x3FF0000000000000}[element]
            infinity = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF0000000000000}[element]
            sign = 1 << size - 1
            chosen = draw.choice(
                [0, sign, one, one | sign, infinity, infinity | sign, infinity | infinity >> 1, bits(draw, element)]
            )
        else:
            top = 1 << size - 1
            chosen = draw.choice(
                [0, 0, 1, 1, 2 * top - 1, 2 * top - 1, top, top - 1, min(size, 2 * top) - 1, bits(draw, element)]
            )
        text = literal(element, chosen)
        if self.shape == "{}":
            return self.add(f"arith.constant {text}{'' if element == 'i1' else f' : {element}'}", element)
        if "?" in self.shape:  # no constant has its type
            return self.value(element)
        other = literal(element, bits(draw, element))
        several = draw.choice([text, text, f"[{text}, {other}]"])
        return self.add(f"arith.constant dense<{several}> : {self.type(element)}", element)

    def value(self, element: str) -> str:
        known = self.values.get(element)
        if not known:
            return self.cast(element)
        return self.draw.choice(known[-4:])

    def operand(self, element: str) -> str:
        return self.constant(element) if self.draw.chance(0.35) else self.value(element)

    def cast(self, element: str) -> str:
        """From the function's own type."""
        given, source = self.element, self.draw.choice(self.values[self.element])
        if is_float(given) == is_float(element) and "index" not in (given, element):
            wider = width_of(element) > width_of(given)
            name = ("extf" if wider else "truncf") if is_float(element) else ("extsi" if wider else "trunci")
            if width_of(element) == width_of(given):
                name = "bitcast"
        elif "index" in (given, element) and not is_float(given) and not is_float(element):
            name = "index_cast"
        elif is_float(element) and given != "index":
            name = "sitofp"
        else:
            return self.constant_or(element)
        return self.add(f"arith.{name} {source} : {self.type(given)} to {self.type(element)}", element)

    def constant_or(self, element: str) -> str:
        if "?" in self.shape:
            self.shape = "{}" if not self.lines else self.shape
        return self.constant(element)

    def step(self) -> None:
        draw = self.draw
        element = draw.choice(list(self.values))
        type, a, b = self.type(element), self.operand(element), self.operand(element)
        kind = draw.random()
        if kind < 0.1 and element != "index":
            self.convert(element)
        elif kind < 0.2:
            self.compare(element, a, b)
        elif kind < 0.3:
            condition = self.operand("i1") if "i1" in self.values else self.compare(element, a, b)
            both = self.type("i1")
            self.add(f"arith.select {condition}, {a}, {b} : {both + ', ' if self.shape != '{}' else ''}{type}", element)
        elif is_float(element):
            if kind < 0.5:
                self.add(f"{draw.choice(_OPS['unary of floats'])} {a} : {type}", element)
            elif kind < 0.55:
                self.add(f"math.copysign {a}, {b} : {type}", element)
            else:
                self.add(f"arith.{draw.choice(_OPS['binary of floats'])} {a}, {b} : {type}", element)
        elif kind < 0.36:
            self.add(f"{draw.choice(_OPS['unary'])} {a} : {type}", element)
        elif kind < 0.42 and element != "index":
            if draw.chance(0.3):
                self.sum(a, b, element)
            else:
                self.add(f"arith.{draw.choice(_EXTENDED)} {a}, {b} : {type}", element, 2)
        else:
            name = draw.choice(_OPS["binary"])
            flags = _FLAGGED.get(name, "").split()
            flag = f" overflow<{draw.choice(flags)}>" if flags and draw.chance(0.15) else ""
            self.add(f"arith.{name} {a}, {b}{flag} : {type}", element)

    def sum(self, a: str, b: str, element: str) -> None:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name}:2 = arith.addui_extended {a}, {b} : {self.type(element)}, {self.type('i1')}")
        self.values[element].append(f"{name}#0")
        self.values.setdefault("i1", []).append(f"{name}#1")

    def compare(self, element: str, a: str, b: str) -> str:
        type, draw = self.type(element), self.draw
        if is_float(element):
            if draw.chance(0.2):
                return self.add(f"{draw.choice(_OPS['tests'])} {a} : {type}", "i1")
            return self.add(f"arith.cmpf {draw.choice(_OPS['predicates of floats'])}, {a}, {b} : {type}", "i1")
        return self.add(f"arith.cmpi {draw.choice(_OPS['predicates'])}, {a}, {b} : {type}", "i1")

    def convert(self, element: str) -> None:
        """To another width, and sometimes what undoes it."""
        made = self.draw.choice(
            [each for each in (_FLOATS if is_float(element) else _INTEGERS[:-1]) if each != element]
        )
        sizes = width_of(element), width_of(made)
        if sizes[0] == sizes[1]:
            return
        wider, signs = sizes[1] > sizes[0], self.draw.choice("su")
        name = ("extf" if wider else "truncf") if is_float(element) else (f"ext{signs}i" if wider else "trunci")
        both = [self.operand(element), self.value(element)] if self.draw.chance(0.4) else [self.operand(element)]
        for value in both:
            self.add(f"arith.{name} {value} : {self.type(element)} to {self.type(made)}", made)


def elementwise(draw: Draw) -> str:
    """@f of two values of one type."""
    function = _Function(draw)
    for _ in range(draw.randint(2, 6)):
        function.step()
    made = [(name, element) for element, names in function.values.items() for name in names if name.startswith("%v")][
        -3:
    ]
    type = function.type(function.element)
    names, types = ", ".join(name for name, _ in made), ", ".join(function.type(element) for _, element in made)
    body = "".join(f"  {line}\n" for line in function.lines)
    return f"func.func @f(%a: {type}, %b: {type}) -> ({types}) {{\n{body}  return {names} : {types}\n}}\n"

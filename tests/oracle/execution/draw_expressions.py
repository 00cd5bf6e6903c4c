"""Expressions drawn at random: each value is an op of earlier ones, of any type. What an op may leave undefined is
rare: divisors are made odd and shifts are masked. What is undefined all the same is refused by qrt, and not executed.

Bits of NaNs are nobody's promise: they are not looked at (no `bitcast`, no `copysign`).
"""

from collections import defaultdict
from collections.abc import Iterator

from tests.oracle.draw_types import Draw
from tests.oracle.execution.case import Case
from tests.oracle.execution.draw_values import bits, scalar
from tests.oracle.execution.values import FLOATS, INTEGERS, is_float, literal, width

CALLS = 4
_INTEGER_OPS = ["addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui"]
_DIVISIONS = ["divui", "remui", "ceildivui", "divsi", "remsi", "ceildivsi", "floordivsi"]
_FLOAT_OPS = ["addf", "subf", "mulf", "divf", "maximumf", "minimumf"]
_ORDERED = ["oeq", "ogt", "olt", "ole", "one", "ord", "ueq", "ult", "uge", "une", "uno"]
_INTEGER_PREDICATES = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]


class Expression:
    """Lines of ops on named values of each type, which grow."""

    def __init__(self, draw: Draw, values: dict[str, list[str]], prefix: str = "%v") -> None:
        self.draw = draw
        self.values: defaultdict[str, list[str]] = defaultdict(list, {k: [*v] for k, v in values.items()})
        self.lines: list[str] = []
        self._prefix = prefix

    def add(self, text: str, element: str) -> str:
        name = f"{self._prefix}{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.values[element].append(name)
        return name

    def value(self, element: str) -> str:
        """A value of a type: one that is there, or a constant."""
        known = self.values[element]
        return self.draw.choice(known) if known and self.draw.chance(0.85) else self.constant(element)

    def constant(self, element: str, number: int | None = None) -> str:
        chosen = bits(self.draw, element) if number is None else number
        typed = "" if element == "i1" else f" : {element}"
        return self.add(f"arith.constant {literal(element, chosen)}{typed}", element)

    def grow(self, element: str) -> str:
        """An op whose result is of a type."""
        rules = [self._converted, self._selected]
        rules += [self._of_floats] * 4 if is_float(element) else [self._of_integers] * 4
        if element == "i1":
            rules += [self._compared] * 3
        return self.draw.choice(rules)(element)

    def never_undefined(self, element: str) -> str:
        return self._of_floats(element) if is_float(element) else self._of_integers(element, divides=False)

    def _of_integers(self, element: str, divides: bool = True) -> str:
        draw = self.draw
        a, b = self.value(element), self.value(element)
        kind = draw.random()
        if kind < 0.6 or element == "i1" or not divides:
            return self.add(f"arith.{draw.choice(_INTEGER_OPS)} {a}, {b} : {element}", element)
        if kind < 0.75:
            odd = self.add(f"arith.ori {b}, {self.constant(element, 1)} : {element}", element)
            return self.add(f"arith.{draw.choice(_DIVISIONS)} {a}, {odd} : {element}", element)
        if kind < 0.9:
            size = self.constant(element, width(element))
            count = self.add(f"arith.remui {b}, {size} : {element}", element)
            return self.add(f"arith.{draw.choice(['shli', 'shrsi', 'shrui'])} {a}, {count} : {element}", element)
        return self.add(f"math.{draw.choice(['absi', 'ctlz', 'cttz', 'ctpop'])} {a} : {element}", element)

    def _of_floats(self, element: str) -> str:
        draw = self.draw
        if draw.chance(0.15):
            a, b, c = (self.value(element) for _ in "abc")
            return self.add(f"math.fma {a}, {b}, {c} : {element}", element)
        if draw.chance(0.3):
            name = draw.choice(["absf", "ceil", "floor", "trunc", "round", "roundeven", "sqrt"])
            return self.add(f"math.{name} {self.value(element)} : {element}", element)
        a, b = self.value(element), self.value(element)
        return self.add(f"arith.{draw.choice(_FLOAT_OPS)} {a}, {b} : {element}", element)

    def _selected(self, element: str) -> str:
        condition, a, b = self.value("i1"), self.value(element), self.value(element)
        return self.add(f"arith.select {condition}, {a}, {b} : {element}", element)

    def _compared(self, _: str) -> str:
        draw = self.draw
        if draw.chance(0.5):
            element = draw.choice(FLOATS)
            text = f"arith.cmpf {draw.choice(_ORDERED)}, {self.value(element)}, {self.value(element)} : {element}"
        else:
            element = draw.choice(INTEGERS)
            a, b = self.value(element), self.value(element)
            text = f"arith.cmpi {draw.choice(_INTEGER_PREDICATES)}, {a}, {b} : {element}"
        return self.add(text, "i1")

    def _converted(self, element: str) -> str:
        """From any other type."""
        source = self.draw.choice([other for other in (*INTEGERS, *FLOATS) if other != element])
        name = self._conversion(source, element)
        if name is None:
            return self.grow(element)
        return self.add(f"arith.{name} {self.value(source)} : {source} to {element}", element)

    def _conversion(self, source: str, target: str) -> str | None:
        signs = self.draw.choice("su")
        wider = width(target) > width(source)
        if width(target) == width(source) and is_float(source) == is_float(target) and "index" not in (source, target):
            return None
        if is_float(source) and is_float(target):
            return "extf" if wider else "truncf"
        if "index" in (source, target):
            other = target if source == "index" else source
            return None if is_float(other) else f"index_cast{'ui' if signs == 'u' else ''}"
        if is_float(source):
            return f"fpto{signs}i"
        if is_float(target):
            return f"{signs}itofp"
        return f"ext{signs}i" if wider else "trunci"


def expressions(draw: Draw, count: int) -> Iterator[Case]:
    for _ in range(count):
        inputs = [draw.choice([*INTEGERS, *FLOATS]) for _ in range(draw.randint(1, 4))]
        values = defaultdict(list)
        for i, element in enumerate(inputs):
            values[element].append(f"%a{i}")
        expression = Expression(draw, values)
        results = [draw.choice([*INTEGERS, *FLOATS]) for _ in range(draw.randint(1, 2))]
        for _ in range(draw.randint(1, 8)):
            expression.grow(draw.choice([*inputs, *results]))
        names = [expression.grow(element) for element in results]
        yield Case(
            "expressions",
            function(expression.lines, [f"%a{i}: {element}" for i, element in enumerate(inputs)], names, results),
            [[scalar(draw, element) for element in inputs] for _ in range(CALLS)],
        )


def function(lines: list[str], arguments: list[str], names: list[str], results: list[str]) -> str:
    """`@f` of these lines."""
    types = ", ".join(results)
    gives = f" -> {types if len(results) == 1 else f'({types})'}" if results else ""
    body = "".join(f"  {line}\n" for line in lines)
    last = f"  return {', '.join(names)} : {types}\n" if results else "  return\n"
    return f"func.func @f({', '.join(arguments)}){gives} {{\n{body}{last}}}\n"

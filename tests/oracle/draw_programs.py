"""Programs drawn at random: functions of quant casts, arith on floats and integers, calls, and constants."""

import re
from dataclasses import dataclass

from tests.oracle.draw_attributes import attribute_text, dense
from tests.oracle.draw_types import USUAL, Draw, Quantized, Shape, any_type, container, fitting, spaced

_SHAPES: tuple[Shape, ...] = (None, (), (2,), (None,), (2, 4), (None, 4), (4, None), (1, 2, 4), (None, 2, None), (0, 2))
_CONSTANT = "%c"
"""Begins the names of constants and of their casts: no arith op takes them, because upstream computes those."""


@dataclass(frozen=True)
class Typed:
    """A value's type: a scalar or a tensor, of a float (`f32`), an integer (`i8`) or a quantized element."""

    element: str | Quantized
    shape: Shape
    is_scalar: bool

    @property
    def text(self) -> str:
        element = self.element.text if isinstance(self.element, Quantized) else self.element
        return element if self.is_scalar else container(self.shape, element)

    @property
    def kind(self) -> str:
        return "quantized" if isinstance(self.element, Quantized) else "float" if "f" in self.element else "integer"

    def of(self, element: str | Quantized) -> "Typed":
        return Typed(element, self.shape, self.is_scalar)


@dataclass(frozen=True)
class Program:
    """A text, and whether it needs unregistered ops allowed."""

    text: str
    unregistered: bool = False


@dataclass
class _Function:
    """A function while it is drawn."""

    draw: Draw
    unregistered: bool
    callees: list["_Callee"]
    arguments: list[tuple[str, Typed]]

    def __post_init__(self) -> None:
        self.values = list(self.arguments)
        self.lines: list[str] = []
        self.results: list[tuple[str, Typed]] = []

    def body(self) -> None:
        rules = [self.cast] * 8 + [self.arithmetic] * 2 + [self.constant, self.call, self.use]
        for _ in range(self.draw.randint(1, 7)):
            self.draw.choice(rules)()
        kept = self.draw.sample(self.values, min(len(self.values), self.draw.randint(0, 3)))
        self.results = [*kept, *kept[:1]] if self.draw.chance(0.1) else kept

    def add(self, operation: str, type: Typed) -> None:
        name = f"%{len(self.lines)}" if self.draw.chance(0.9) else f"%v_{len(self.lines)}"
        if f" {_CONSTANT}" in operation or f"({_CONSTANT}" in operation:
            name = f"{_CONSTANT}{len(self.lines)}"
        self.lines.append(f"{name} = {operation}")
        self.values.append((name, type))

    def attributes(self) -> str:
        return f" {{foo.a = {attribute_text(self.draw)}}}" if self.draw.chance(0.05) else ""

    def cast(self) -> None:
        name, type = self.draw.choice(self.values)
        op, result = self._cast_of(type)
        if self.draw.chance(0.15):
            self.add(f'"quant.{op}"({name}){self.attributes()} : ({type.text}) -> {result.text}', result)
        else:
            self.add(f"quant.{op} {name}{self.attributes()} : {type.text} to {result.text}", result)

    def _cast_of(self, type: Typed) -> tuple[str, Typed]:
        element = type.element
        if isinstance(element, Quantized):
            if element.width and self.draw.chance(0.3):
                return "scast", type.of(f"i{element.width}")
            return "dcast", type.of(element.expressed)
        alike = [t for _, t in self.values if (t.shape, t.is_scalar) == (type.shape, type.is_scalar)]
        seen = [e for t in alike if isinstance(e := t.element, Quantized)]
        if type.kind == "float":
            known = [e for e in seen if e.expressed == element]
            if known and self.draw.chance(0.4):
                return "qcast", type.of(self.draw.choice(known))
            if self.draw.chance(0.01):
                return "qcast", type.of(any_type(self.draw, element))
            return "qcast", type.of(fitting(self.draw, type.shape, element, scalar=type.is_scalar))
        width = int(element[1:])
        known = [e for e in seen if e.width == width]
        if known and self.draw.chance(0.5):
            return "scast", type.of(self.draw.choice(known))
        expressed = self.draw.choice(USUAL)
        return "scast", type.of(fitting(self.draw, type.shape, expressed, width, scalar=type.is_scalar))

    def arithmetic(self) -> None:
        """Ops that upstream does not fold where no operand is a constant."""
        name, type = self.draw.choice(self.values)
        if type.kind == "quantized" or name.startswith(_CONSTANT):
            return
        other = self.draw.choice([n for n, t in self.values if t.text == type.text and not n.startswith(_CONSTANT)])
        op = self.draw.choice(["addf", "mulf", "divf"] if type.kind == "float" else ["addi", "muli"])
        self.add(f"arith.{op} {name}, {other} : {type.text}", type)

    def constant(self) -> None:
        """A constant and a cast of it."""
        element = self.draw.choice(["f32", "f16", "bf16", "i8", "i32"])
        type = Typed(element, (), True) if self.draw.chance(0.5) else Typed(element, (2,), False)
        if type.is_scalar:
            value = self.draw.choice(["1.5", "-2.0", "0.1"]) if "f" in element else str(self.draw.randint(-9, 9))
            value = f"{value} : {element}"
        else:
            value = dense(self.draw, [2], element).replace("vector", "tensor")
        name = f"{_CONSTANT}{len(self.lines)}"
        self.lines.append(f"{name} = arith.constant {value}")
        op, result = self._cast_of(type)
        self.add(f"quant.{op} {name} : {type.text} to {result.text}", result)

    def call(self) -> None:
        callee = self.draw.choice(self.callees) if self.callees else None
        if callee is None:
            return
        operands = []
        for type in callee.arguments:
            found = [n for n, t in self.values if t.text == type.text and not n.startswith(_CONSTANT)]
            if not found:
                return
            operands.append(self.draw.choice(found))
        name = f"%r{len(self.lines)}"
        results = ", ".join(t.text for t in callee.results)
        signature = f"({', '.join(t.text for t in callee.arguments)}) -> ({results})"
        bound = f"{name}:{len(callee.results)} = " if callee.results else ""
        self.lines.append(
            f"{bound}{self.draw.choice(['call', 'func.call'])} @{callee.name}({', '.join(operands)}) : {signature}"
        )
        self.values += [(f"{name}#{i}", type) for i, type in enumerate(callee.results)]

    def use(self) -> None:
        if self.unregistered:
            used = self.draw.sample(self.values, min(2, len(self.values)))
            names, types = ", ".join(n for n, _ in used), ", ".join(t.text for _, t in used)
            self.lines.append(f'"foo.use"({names}){self.attributes()} : ({types}) -> ()')

    def text(self, name: str, visibility: str) -> str:
        arguments = ", ".join(f"{n}: {t.text}{self.attributes()}" for n, t in self.arguments)
        names, types = ", ".join(n for n, _ in self.results), ", ".join(t.text for _, t in self.results)
        result = f" -> ({types})" if self.results else ""
        lines = "".join(f"  {line}\n" for line in self.lines)
        end = f"return {names} : {types}" if names else "return"
        return f"func.func {visibility}@{name}({arguments}){result} {{\n{lines}  {end}\n}}\n"


@dataclass(frozen=True)
class _Callee:
    name: str
    arguments: tuple[Typed, ...]
    results: tuple[Typed, ...]


def _argument(draw: Draw) -> Typed:
    expressed = draw.choice(USUAL)
    is_scalar = draw.chance(0.25)
    type = Typed(expressed, () if is_scalar else draw.choice(_SHAPES), is_scalar)
    kind = draw.random()
    if kind < 0.5:
        return type
    if kind < 0.65:
        return type.of(f"i{draw.choice([4, 8, 16, 32])}")
    return type.of(fitting(draw, type.shape, expressed, scalar=is_scalar))


def aliased(draw: Draw, text: str, types: list[Typed]) -> str:
    """The program with aliases for some of its types, each in all its places."""
    for index, type in enumerate(draw.sample(types, min(2, len(types)))):
        places = re.compile(rf"(?<=[ (,]){re.escape(type.text)}(?=[ ,)\n])")
        text = f"!t{index} = {type.text}\n" + places.sub(f"!t{index}", text)
    return text


def program(draw: Draw) -> Program:
    """A program that is right, but for what the drawn types break."""
    draw.noise = 0.01 if draw.chance(0.1) else 0.0
    unregistered = draw.chance(0.2)
    callees: list[_Callee] = []
    texts = []
    arguments = [_argument(draw) for _ in range(draw.randint(1, 3))]
    for index in range(draw.randint(1, 3)):
        taken = arguments if draw.chance(0.7) else [_argument(draw)]
        function = _Function(draw, unregistered, callees, [(f"%arg{i}", type) for i, type in enumerate(taken)])
        if draw.chance(0.1):
            results = [_argument(draw) for _ in range(draw.randint(0, 2))]
            signature = ", ".join(t.text for t in taken)
            texts.append(f"func.func private @g{index}({signature}) -> ({', '.join(t.text for t in results)})\n")
            callees.append(_Callee(f"g{index}", tuple(taken), tuple(results)))
        else:
            function.body()
            results = [type for _, type in function.results]
            visibility = draw.choice(["", "", "private ", "public ", "nested "])
            texts.append(function.text(f"g{index}", visibility))
            if not any(name.startswith(_CONSTANT) for name, _ in function.results):
                callees.append(_Callee(f"g{index}", tuple(taken), tuple(results)))
    text = "".join(texts)
    if draw.chance(0.2):
        text = aliased(draw, text, [type for function in callees for type in function.arguments])
    return Program(spaced(draw, text) if draw.chance(0.1) else text, unregistered)

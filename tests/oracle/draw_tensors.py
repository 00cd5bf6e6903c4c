"""Functions drawn at random of casts, slices, reshapes and extents of tensors, with sizes that are often constants."""

from dataclasses import dataclass, field

from tests.oracle.draw_types import Draw

Shape = tuple[int | None, ...]
HEAD = "%a: tensor<4x6xf32>, %b: tensor<?x6xf32>, %v: tensor<24xf32>, %f: f32, %n: index, %m: index"
CONSTANTS = "".join(f"  %k{number} = arith.constant {number} : index\n" for number in (0, 1, 2, 4, 6))


def spelled(shape: Shape) -> str:
    return f"tensor<{'x'.join('?' if size is None else str(size) for size in shape)}xf32>"


@dataclass
class Tensors:
    """A body while it is drawn: the tensors in scope with their shapes, and the true extents behind them."""

    draw: Draw
    lines: list[str] = field(default_factory=list)
    scope: list[tuple[str, Shape, tuple[int, ...]]] = field(
        default_factory=lambda: [("%a", (4, 6), (4, 6)), ("%b", (None, 6), (4, 6)), ("%v", (24,), (24,))]
    )
    extents: list[str] = field(default_factory=lambda: ["%n"])

    def make(self, text: str, shape: Shape, true: tuple[int, ...]) -> None:
        name = f"%t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.scope.append((name, shape, true))

    def hidden(self, true: tuple[int, ...]) -> Shape:
        return tuple(None if self.draw.chance(0.4) else size for size in true)

    def index(self, number: int) -> str:
        """As a number, a constant, or, rarely, a value."""
        known = [str(number), str(number), "%n"] + ([f"%k{number}"] if number in (0, 1, 2, 4, 6) else [])
        return self.draw.choice(known)

    def list(self, numbers: tuple[int, ...]) -> tuple[str, Shape]:
        said = [self.index(number) for number in numbers]
        shape = tuple(None if text.startswith("%") else int(text) for text in said)
        return f"[{', '.join(said)}]", shape

    def cast(self) -> None:
        name, shape, true = self.draw.choice(self.scope)
        made = self.hidden(true)
        self.make(f"tensor.cast {name} : {spelled(shape)} to {spelled(made)}", made, true)

    def slice(self) -> None:
        name, shape, true = self.draw.choice(self.scope)
        part = tuple(self.draw.randint(1, size) for size in true)
        sizes, made = self.list(part)
        where = f"{self.list((0,) * len(true))[0]} {sizes} [{', '.join(['1'] * len(true))}]"
        self.make(f"tensor.extract_slice {name}{where} : {spelled(shape)} to {spelled(made)}", made, part)
        if self.draw.chance(0.5):
            types = f"{spelled(made)} into {spelled(shape)}"
            self.make(f"tensor.insert_slice {self.scope[-1][0]} into {name}{where} : {types}", shape, true)

    def collapse(self) -> None:
        name, shape, true = self.draw.choice([value for value in self.scope if len(value[1]) == 2])
        made: Shape = (None if None in shape else shape[0] * shape[1],)  # type: ignore[operator]  # no None
        types = f"{spelled(shape)} into {spelled(made)}"
        self.make(f"tensor.collapse_shape {name} [[0, 1]] : {types}", made, (true[0] * true[1],))

    def expand(self) -> None:
        name, shape, true = self.draw.choice([value for value in self.scope if len(value[1]) == 1])
        inner = self.draw.choice([size for size in (1, 2, 6) if true[0] % size == 0])
        parts = (true[0] // inner, inner)
        made: Shape = parts if shape[0] is not None else (None, inner)
        outer = str(parts[0]) if shape[0] is not None else self.draw.choice(["%n", "%m"])
        types = f"{spelled(shape)} into {spelled(made)}"
        self.make(f"tensor.expand_shape {name} [[0, 1]] output_shape [{outer}, {inner}] : {types}", made, parts)

    def fill(self) -> None:
        name, shape, true = self.draw.choice(self.scope)
        self.make(f"linalg.fill ins(%f : f32) outs({name} : {spelled(shape)}) -> {spelled(shape)}", shape, true)

    def extent(self) -> None:
        name, shape, _ = self.draw.choice(self.scope)
        axis = self.draw.randint(0, len(shape) - 1)
        self.lines.append(f"%d{len(self.lines)} = tensor.dim {name}, %k{axis} : {spelled(shape)}")
        self.extents.append(f"%d{len(self.lines) - 1}")


def tensors(draw: Draw) -> str:
    """A function of a few such ops that returns the last tensors and extents."""
    body = Tensors(draw)
    for _ in range(draw.randint(2, 7)):
        draw.choice([body.cast, body.cast, body.slice, body.collapse, body.expand, body.fill, body.extent])()
    results = body.scope[-2:]
    types = ", ".join([*(spelled(shape) for _, shape, _ in results), "index"])
    values = ", ".join([*(name for name, _, _ in results), body.extents[-1]])
    lines = "".join(f"  {line}\n" for line in body.lines)
    return f"func.func @f({HEAD}) -> ({types}) {{\n{CONSTANTS}{lines}  return {values} : {types}\n}}\n"

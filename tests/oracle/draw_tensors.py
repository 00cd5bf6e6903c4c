"""Functions drawn at random of casts, slices, paddings, reshapes and extents of tensors, with sizes that are often
constants. They run: the values they are given are the numbers they stand for."""

from dataclasses import dataclass, field

from tests.oracle import draw_numbers
from tests.oracle.draw_numbers import CONSTANTS, NUMBERS, spelled_list
from tests.oracle.draw_types import Draw

Shape = tuple[int | None, ...]
HEAD = f"%a: tensor<4x6xf32>, %b: tensor<?x6xf32>, %v: tensor<24xf32>, %f: f32, {draw_numbers.HEAD}"
PADDING = "{ ^bb0(%i: index, %j: index): tensor.yield %f : f32 }"


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
    larger: list[tuple[str, str]] = field(default_factory=list)
    extents: list[str] = field(default_factory=lambda: ["%n1"])

    def make(self, text: str, shape: Shape, true: tuple[int, ...]) -> None:
        name = f"%t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.scope.append((name, shape, true))

    def hidden(self, true: tuple[int, ...]) -> Shape:
        return tuple(None if self.draw.chance(0.4) else size for size in true)

    def list(self, numbers: tuple[int, ...]) -> tuple[str, Shape]:
        return spelled_list(self.draw, numbers)

    def empty(self, shape: Shape, true: tuple[int, ...]) -> str:
        """A tensor of this shape, to be written to."""
        name = f"%e{len(self.lines)}"
        sizes = [f"%n{size}" for known, size in zip(shape, true, strict=True) if known is None]
        self.lines.append(f"{name} = tensor.empty({', '.join(sizes)}) : {spelled(shape)}")
        return name

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
        if parts[0] not in NUMBERS:
            return
        outer = str(parts[0]) if shape[0] is not None else self.draw.choice(["%n{}", "%n{}", "%k{}"]).format(parts[0])
        types = f"{spelled(shape)} into {spelled(made)}"
        self.make(f"tensor.expand_shape {name} [[0, 1]] output_shape [{outer}, {inner}] : {types}", made, parts)

    def fill(self) -> None:
        name, shape, true = self.draw.choice(self.scope)
        self.make(f"linalg.fill ins(%f : f32) outs({name} : {spelled(shape)}) -> {spelled(shape)}", shape, true)

    def pad(self) -> None:
        """Once or twice, of an argument or of what is filled as it is."""
        name, shape, true = self.draw.choice(self.scope[:2])
        if self.draw.chance(0.2):
            self.make(f"linalg.fill ins(%f : f32) outs({name} : {spelled(shape)}) -> {spelled(shape)}", shape, true)
            name = self.scope[-1][0]
        for _ in range(self.draw.randint(1, 2)):
            lists = [self.list((self.draw.randint(0, 2), self.draw.randint(0, 2))) for _ in range(2)]
            amounts = [tuple(int(number.lstrip("%kn")) for number in text[1:-1].split(", ")) for text, _ in lists]
            sums = [
                (None if None in (size, a, b) else size + a + b)
                for size, a, b in zip(shape, lists[0][1], lists[1][1], strict=True)
            ]
            given, shape = shape, tuple(sums)
            true = tuple(size + a + b for size, a, b in zip(true, *amounts, strict=True))
            nofold = self.draw.choice(["", "", "", " nofold"])
            where = f"{nofold} low{lists[0][0]} high{lists[1][0]} {PADDING}"
            self.make(f"tensor.pad {name}{where} : {spelled(given)} to {spelled(shape)}", shape, true)
            name = self.scope[-1][0]

    def pad_slices(self) -> None:
        """Of one dimension each, as tiles at an edge are."""
        constant = "{ ^bb0(%i: index, %j: index): tensor.yield %zero : f32 }"
        for axis in self.draw.choice([(0, 1), (1, 0), (0, 0)]):
            name, shape, true = self.scope[-1] if len(self.scope[-1][1]) == 2 else self.scope[0]
            if min(true) < 2:
                return
            part = tuple(self.draw.choice([1, 2]) if other == axis else size for other, size in enumerate(true))
            starts = (self.draw.choice([0, 1]) if axis == 0 else 0, self.draw.choice([0, 1]) if axis else 0)
            starts = tuple(
                max(0, min(start, size - 1, size - p)) for start, size, p in zip(starts, true, part, strict=True)
            )
            (offsets, _), (sizes, made) = self.list(starts), self.list(part)
            self.make(
                f"tensor.extract_slice {name}{offsets} {sizes} [1, 1] : {spelled(shape)} to {spelled(made)}", made, part
            )
            high, true = [0, 0], [*part]
            high[axis], true[axis] = 4 - part[axis], 4
            high[axis] = self.draw.choice([high[axis], f"%n{high[axis]}"])
            result = tuple(4 if index == axis else size for index, size in enumerate(made))
            where = f"low[0, 0] high[{high[0]}, {high[1]}] {constant}"
            self.make(
                f"tensor.pad %t{len(self.lines) - 1} {where} : {spelled(made)} to {spelled(result)}",
                result,
                tuple(true),
            )

    def insert_padded(self) -> None:
        """Into what is filled with the same."""
        name, shape, true = self.draw.choice(self.scope[:2])
        low, high = self.draw.choice([(0, 1), (1, 1), (0, 0)]), self.draw.choice([(1, 0), (0, 1)])
        whole = tuple(size + 4 for size in true)
        output = f"%e{len(self.lines)}"
        self.lines.append(f"{output} = tensor.empty() : {spelled(whole)}")
        self.make(f"linalg.fill ins(%f : f32) outs({output} : {spelled(whole)}) -> {spelled(whole)}", whole, whole)
        filled = self.scope[-1][0]
        if self.draw.chance(0.4):
            where = self.draw.choice(["[7, 0] [1, 3] [1, 1]", "[0, 0] [1, 3] [1, 1]"])
            self.make(
                f"tensor.insert_slice %part into {filled}{where} : tensor<1x3xf32> into {spelled(whole)}", whole, whole
            )
            filled = self.scope[-1][0]
        padded = tuple(size + a + b for size, a, b in zip(true, low, high, strict=True))
        made = tuple(None if size is None else full for size, full in zip(shape, padded, strict=True))
        text = f"tensor.pad {name} low{[*low]} high{[*high]} {PADDING} : {spelled(shape)} to {spelled(made)}"
        self.make(text, made, padded)
        sizes = [self.extent_of(self.scope[-1][0], made, axis) for axis in range(2)]
        offsets, _ = self.list((self.draw.randint(0, 1), self.draw.randint(0, 1)))
        where = f"{offsets} [{', '.join(sizes)}] [1, 1]"
        types = f"{spelled(made)} into {spelled(whole)}"
        self.make(f"tensor.insert_slice {self.scope[-1][0]} into {filled}{where} : {types}", whole, whole)

    def extent_of(self, name: str, shape: Shape, axis: int) -> str:
        known = shape[axis]
        if known is not None:
            return str(known)
        self.lines.append(f"%d{len(self.lines)} = tensor.dim {name}, %k{axis} : {spelled(shape)}")
        return f"%d{len(self.lines) - 1}"

    def broadcast(self) -> None:
        """And transpose."""
        name, shape, true = self.draw.choice(self.scope[:3])
        at = self.draw.randint(0, len(shape))
        wide: Shape = (*shape[:at], 2, *shape[at:])
        full = (*true[:at], 2, *true[at:])
        output, order = self.empty(wide, full), [*range(len(wide))]
        self.draw.shuffle(order)
        self.lines.append(
            f"%w{len(self.lines)} = linalg.broadcast ins({name} : {spelled(shape)}) outs({output} : {spelled(wide)}) "
            f"dimensions = [{at}]"
        )
        source, made = f"%w{len(self.lines) - 1}", tuple(wide[axis] for axis in order)
        moved = tuple(full[axis] for axis in order)
        output = self.empty(made, moved)
        text = (
            f"linalg.transpose ins({source} : {spelled(wide)}) outs({output} : {spelled(made)}) permutation = {order}"
        )
        if len(made) == 2:
            self.make(text, made, moved)
        else:
            self.lines.append(f"%x{len(self.lines)} = {text}")
            self.larger.append((f"%x{len(self.lines) - 1}", spelled(made)))

    def extent(self) -> None:
        name, shape, _ = self.draw.choice(self.scope)
        axis = self.draw.randint(0, len(shape) - 1)
        self.lines.append(f"%d{len(self.lines)} = tensor.dim {name}, %k{axis} : {spelled(shape)}")
        self.extents.append(f"%d{len(self.lines) - 1}")


def tensors(draw: Draw) -> str:
    """A function of a few such ops that returns the last tensors and extents."""
    body = Tensors(draw)
    shapes = [body.cast, body.cast, body.slice, body.collapse, body.expand, body.fill, body.extent]
    others = [body.pad, body.pad_slices, body.insert_padded, body.broadcast]
    for _ in range(draw.randint(2, 7)):
        draw.choice(shapes if draw.chance(0.7) else others)()
    results = [(name, spelled(shape)) for name, shape, _ in body.scope[-2:]]
    results = [*body.larger[-1:], *results, (body.extents[-1], "index")]
    values, types = (", ".join(part) for part in zip(*results, strict=True))
    lines = "".join(f"  {line}\n" for line in ["%part = tensor.splat %f : tensor<1x3xf32>", *body.lines])
    zero = "  %zero = arith.constant 0.0 : f32\n"
    return f"func.func @f({HEAD}) -> ({types}) {{\n{CONSTANTS}{zero}{lines}  return {values} : {types}\n}}\n"

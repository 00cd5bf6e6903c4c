"""Functions drawn at random of views of memory: casts, subviews, dimensions regrouped, transposed, reinterpreted. They
run: the values they are given are the numbers they stand for."""

from dataclasses import dataclass, field
from math import prod

from qrt.ir.dialects._shaped.strides import collapsed, expanded, subview
from qrt.types import FloatType, MemRefType, StridedLayout, TensorType
from tests.oracle import draw_numbers
from tests.oracle.draw_numbers import CONSTANTS, NUMBERS, spelled_list
from tests.oracle.draw_types import Draw

F32 = FloatType("f32")
GIVEN = {
    "%a": MemRefType((4, 6), F32),
    "%b": MemRefType((None, 6), F32),
    "%d": MemRefType((None, None), F32, StridedLayout((None, None), None)),
    "%w": MemRefType((24,), F32),
}
HEAD = ", ".join(
    [
        *(f"{name}: {type}" for name, type in GIVEN.items()),
        "%raw: memref<96xi8>, %shape: memref<2xindex>, %f: f32, %yes: i1",
        draw_numbers.HEAD,
    ]
)
Shape = tuple[int, ...]


def hidden(draw: Draw, type: MemRefType) -> MemRefType:
    """The type with less said."""
    layout, said = type.strides, lambda number: None if draw.chance(0.4) else number
    shape = [said(size) for size in type.shape or ()]
    if layout is None or (type.layout is None and draw.chance(0.7)):
        return MemRefType(shape, F32)
    return MemRefType(shape, F32, StridedLayout(tuple(map(said, layout.strides)), said(layout.offset)))


def can_cast(given: MemRefType, made: MemRefType) -> bool:
    old, new = given.strides, made.strides
    assert old is not None
    assert new is not None
    pairs = zip((*old.strides, old.offset), (*new.strides, new.offset), strict=True)
    return all(None in pair or pair[0] == pair[1] for pair in pairs)


@dataclass
class Buffers:
    """A body while it is drawn: the memrefs in scope with their types and true shapes."""

    draw: Draw
    lines: list[str] = field(default_factory=list)
    scope: list[tuple[str, MemRefType, Shape]] = field(
        default_factory=lambda: [(name, type, (24,) if name == "%w" else (4, 6)) for name, type in GIVEN.items()]
    )
    results: list[tuple[str, str]] = field(default_factory=list)

    def make(self, text: str, type: MemRefType, true: Shape) -> None:
        name = f"%m{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.scope.append((name, type, true))

    def result(self, text: str, type: str) -> None:
        self.results.append((f"%r{len(self.lines)}", type))
        self.lines.append(f"{self.results[-1][0]} = {text}")

    def any(self) -> tuple[str, MemRefType, Shape]:
        """Rather what was made last, so that ops meet."""
        return self.draw.choice(self.scope[-2:] if self.draw.chance(0.6) else self.scope)

    def list(self, numbers: Shape) -> tuple[str, tuple[int | None, ...]]:
        return spelled_list(self.draw, numbers)

    def indices(self, true: Shape) -> str:
        return "[" + ", ".join(f"%k{self.draw.choice([n for n in NUMBERS if n < size])}" for size in true) + "]"

    def cast(self) -> None:
        name, type, true = self.any()
        made = hidden(self.draw, type)
        if can_cast(type, made):
            self.make(f"memref.cast {name} : {type} to {made}", made, true)

    def subview(self) -> None:
        name, type, true = self.any()
        whole = self.draw.chance(0.4)
        part = true if whole else tuple(self.draw.randint(1, size) for size in true)
        starts = tuple(0 if whole else self.draw.randint(0, a - b) for a, b in zip(true, part, strict=True))
        steps = tuple(
            self.draw.choice([1, 1, 2]) if (b + s) * 2 <= a else 1 for a, b, s in zip(true, part, starts, strict=True)
        )
        lists = [self.list(numbers) for numbers in (starts, part, steps)]
        made = subview(type, *(numbers for _, numbers in lists))
        assert made is not None
        where = "".join(text for text, _ in lists)
        self.make(f"memref.subview {name}{where} : {type} to {made}", made, part)

    def transpose(self) -> None:
        name, type, true = self.any()
        order = self.draw.choice([tuple(range(len(true))), tuple(range(len(true)))[::-1]])
        layout = type.strides
        assert layout is not None
        assert type.shape is not None
        strides = StridedLayout(tuple(layout.strides[axis] for axis in order), layout.offset)
        keeps = type.layout is None and type.shape == (4, 6) and list(order) == [0, 1]
        made = MemRefType([type.shape[axis] for axis in order], F32, None if keeps else strides)
        dims = ", ".join(f"d{axis}" for axis in range(len(true)))
        moved = ", ".join(f"d{axis}" for axis in order)
        text = f"memref.transpose {name} ({dims}) -> ({moved}) : {type} to {made}"
        self.make(text, made, tuple(true[axis] for axis in order))

    def collapse(self) -> None:
        name, type, true = self.any()
        layout = type.strides
        if len(true) < 2 or layout is None or None in layout.strides[-2:] or type.shape is None:
            return
        groups = [*([axis] for axis in range(len(true) - 2)), [len(true) - 2, len(true) - 1]]
        sizes = [type.shape[axis] for axis in groups[-1]]
        shape = (*type.shape[:-2], None if None in sizes else prod(size or 0 for size in sizes))
        made = collapsed(type, groups, shape)
        is_known = type.layout is None or (
            None not in sizes and layout.strides[-2] == true[-1] * (layout.strides[-1] or 0)
        )
        if made is not None and is_known:
            text = f"memref.collapse_shape {name} {groups} : {type} into {made}"
            self.make(text, made, (*true[:-2], true[-2] * true[-1]))

    def expand(self) -> None:
        name, type, true = self.any()
        inner = self.draw.choice([size for size in (1, 2, 6) if true[-1] % size == 0])
        last = (true[-1] // inner, inner)
        groups = [*([axis] for axis in range(len(true) - 1)), [len(true) - 1, len(true)]]
        assert type.shape is not None
        size = "%n{}" if type.shape[-1] is None else "{}"
        if last[0] not in NUMBERS:
            return
        shape = (*type.shape[:-1], None if type.shape[-1] is None else last[0], inner)
        made = expanded(type, groups, shape)
        if type.shape[-1] is None and self.draw.chance(0.5):
            size = self.draw.choice(["%k{}", "{}"])
        sizes = [f"%n{b}" if a is None else str(a) for a, b in zip(type.shape[:-1], true[:-1], strict=True)]
        if made is not None and all(
            known is not None or b in NUMBERS for known, b in zip(type.shape, true, strict=True)
        ):
            given = ", ".join([*sizes, size.format(last[0]), str(inner)])
            self.make(
                f"memref.expand_shape {name} {groups} output_shape [{given}] : {type} into {made}",
                made,
                (*true[:-1], *last),
            )

    def reinterpret(self) -> None:
        """Within the 24 elements that all memory here has."""
        name, type, _ = self.any()
        whole, part = ((0,), (4, 6), (6, 1)), ((self.draw.randint(0, 2),), (2, 3), (6, 2))
        numbers = self.draw.choice([whole, part])
        lists = [self.list(each) for each in numbers]
        ((_, offset), (_, sizes), (_, strides)) = lists
        made = MemRefType(sizes, F32, StridedLayout(strides, offset[0]))
        if numbers is whole and self.draw.chance(0.5) and strides == (6, 1) and offset == (0,):
            made = MemRefType(sizes, F32)
        source, given = name, str(type)
        if self.draw.chance(0.2):
            source, given = f"%u{len(self.lines)}", "memref<*xf32>"
            self.lines.append(f"{source} = memref.cast {name} : {type} to {given}")
        parts = ", ".join(
            f"{what}: {text}" for what, (text, _) in zip(("offset", "sizes", "strides"), lists, strict=True)
        )
        self.make(f"memref.reinterpret_cast {source} to {parts} : {given} to {made}", made, numbers[1])

    def metadata(self) -> None:
        """Taken apart, and put together again, or nearly."""
        name, type, true = self.any()
        rank, at = len(true), len(self.lines)
        indices = ", ".join(["index"] * (1 + 2 * rank))
        self.lines.append(
            f"%b{at}, %o{at}, %s{at}:{rank}, %t{at}:{rank} = memref.extract_strided_metadata {name} : {type} -> "
            f"memref<f32>, {indices}"
        )
        sizes = [f"%s{at}#{axis}" for axis in range(rank)]
        if self.draw.chance(0.2):
            sizes[0], true = "1", (1, *true[1:])
        strides = ", ".join(f"%t{at}#{axis}" for axis in range(rank))
        shape = [None if text.startswith("%") else 1 for text in sizes]
        made = MemRefType(shape, F32, StridedLayout((None,) * rank, None))
        self.make(
            f"memref.reinterpret_cast %b{at} to offset: [%o{at}], sizes: [{', '.join(sizes)}], strides: [{strides}] : "
            f"memref<f32> to {made}",
            made,
            true,
        )

    def view(self) -> None:
        shift = self.draw.choice(["%k0", "%n0", "%k8", "%n8"])
        sizes = [self.draw.choice(["2", "%k2", "%n2"]), self.draw.choice(["6", "%k6", "%n6"])]
        made = MemRefType([None if size.startswith("%") else int(size) for size in sizes], F32)
        given = ", ".join(size for size in sizes if size.startswith("%"))
        source, type = "%raw", "memref<96xi8>"
        if self.draw.chance(0.4):
            source, type = f"%c{len(self.lines)}", "memref<?xi8>"
            self.lines.append(f"{source} = memref.cast %raw : memref<96xi8> to {type}")
        self.lines.append(f"%v{len(self.lines)} = memref.view {source}[{shift}][{given}] : {type} to {made}")
        name = f"%v{len(self.lines) - 1}"
        self.result(f"memref.dim {name}, %k{self.draw.choice([0, 1])} : {made}", "index")
        self.result(f"memref.load {name}{self.indices((2, 6))} : {made}", "f32")

    def reshape(self) -> None:
        name, type, true = self.draw.choice([value for value in self.scope if value[1].layout is None])
        if prod(true) == 24:
            made = MemRefType((None, None), F32)
            text = f"memref.reshape {name}(%shape) : ({type}, memref<2xindex>) -> {made}"
            self.make(text, made, (4, 6))

    def dim(self) -> None:
        name, type, true = self.any()
        axis = self.draw.randint(0, len(true) - 1)
        self.result(f"memref.dim {name}, %k{min(axis, 4)} : {type}", "index")

    def access(self) -> None:
        name, type, true = self.any()
        if self.draw.chance(0.3):
            self.lines.append(f"memref.store %f, {name}{self.indices(true)} : {type}")
        self.result(f"memref.load {name}{self.indices(true)} : {type}", "f32")

    def fill(self) -> None:
        name, type, true = self.any()
        if self.draw.chance(0.5):
            self.lines.append(f"linalg.fill ins(%f : f32) outs({name} : {type})")
        elif type.layout is None:
            zeros = ", ".join(["%k0"] * len(true))
            self.lines.append(f"%x{len(self.lines)} = vector.load {name}[{zeros}] : {type}, vector<1xf32>")
            vector = f"%x{len(self.lines) - 1}"
            self.lines.append(f"vector.store {vector}, {name}{self.indices(true)} : {type}, vector<1xf32>")

    def tensor(self) -> None:
        """Of a buffer, and a buffer of the tensor that is only read."""
        name, type, true = self.any()
        made, at = hidden(self.draw, type), len(self.lines)
        whole, open_ = (str(TensorType(shape, F32)) for shape in (type.shape, made.shape))
        self.lines.append(f"%t{at} = bufferization.to_tensor {name} restrict : {type} to {whole}")
        self.lines.append(f"%c{at} = tensor.cast %t{at} : {whole} to {open_}")
        self.lines.append(f"%p{at} = bufferization.to_buffer %c{at} read_only : {open_} to {made}")
        self.result(f"memref.load %p{at}{self.indices(true)} : {made}", "f32")
        self.result(f"tensor.dim %c{at}, %k0 : {open_}", "index")

    def scope_of(self) -> None:
        """A scope with memory of its own, which a branch may be around, and something follow."""
        size = self.draw.choice(["%k4", "%k4", ""])
        type = "memref<?xf32>" if size else "memref<4xf32>"
        inner = f"%e = memref.alloca({size}) : {type} memref.store %f, %e[%k0] : {type}"
        taken = f"{inner} %g = memref.load %e[%k0] : {type} memref.store %g, %w[%k3] : memref<24xf32>"
        body = self.draw.choice([taken, "memref.store %f, %w[%k4] : memref<24xf32>"])
        scope = f"memref.alloca_scope {{ {body} }}"
        follows = self.draw.choice(["", "memref.store %f, %w[%k6] : memref<24xf32>"])
        branch = f"scf.if %yes {{ {scope} {follows} }}"
        self.lines.append(
            self.draw.choice([scope, branch, f"scf.for %i = %n0 to %n2 step %k1 {{ {scope} {follows} }}"])
        )


def buffers(draw: Draw) -> str:
    """A function of a few such ops that returns extents and elements, and the last memref."""
    body = Buffers(draw)
    views = [body.cast, body.cast, body.subview, body.transpose, body.collapse, body.expand, body.reinterpret]
    others = [body.metadata, body.view, body.reshape, body.dim, body.access, body.fill, body.tensor]
    others.append(body.scope_of)
    for _ in range(draw.randint(2, 9)):
        draw.choice(views if draw.chance(0.6) else others)()
    body.access()
    name, type, _ = body.scope[-1]
    results = [*body.results[-4:], (name, str(type))]
    values, types = (", ".join(part) for part in zip(*results, strict=True))
    lines = "".join(f"  {line}\n" for line in body.lines)
    return f"func.func @f({HEAD}) -> ({types}) {{\n{CONSTANTS}{lines}  return {values} : {types}\n}}\n"

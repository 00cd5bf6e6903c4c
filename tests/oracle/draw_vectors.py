"""Functions drawn at random of vectors: repeated, reshaped, reordered, taken apart and put together, masked, reduced,
and moved to and from memory. They run: the values they are given are the numbers they stand for.

What qrt leaves on purpose is not drawn: it would forget an error or change a value
(docs/reference/differences_canonicalize_vector.md)."""

from dataclasses import dataclass, field
from math import prod

from tests.oracle import draw_numbers
from tests.oracle.draw_body import Body
from tests.oracle.draw_numbers import CONSTANTS, NUMBERS
from tests.oracle.draw_types import Draw

Shape = tuple[int, ...]
GIVEN: dict[str, Shape] = {
    "%a": (4,),
    "%b": (2, 3),
    "%c": (1, 4),
    "%d": (2, 1, 3),
    "%e": (1,),
    "%f": (2, 2, 2),
    "%o": (),
}
SHAPES = [*GIVEN.values(), (2,), (3,), (3, 2), (1, 1), (4, 1), (1, 2, 1), (6,), (2, 4)]
KINDS = {"f32": "add mul minnumf maxnumf minimumf maximumf", "i32": "add mul minui minsi maxui maxsi and or xor"}


def vector(shape: Shape, element: str) -> str:
    return f"vector<{''.join(f'{size}x' for size in shape)}{element}>"


def head(element: str) -> str:
    vectors = ", ".join(f"{name}: {vector(shape, element)}" for name, shape in GIVEN.items())
    memory = (
        f"%t: tensor<4x6x{element}>, %u: tensor<?x6x{element}>, %m: memref<4x6x{element}>, %q: memref<?x6x{element}>"
    )
    return f"{vectors}, %x: {element}, %y: {element}, {memory}, {draw_numbers.HEAD}"


@dataclass
class Vectors(Body):
    """A body while it is drawn: vectors with their shapes and elements, scalars, and tensors."""

    element: str = "f32"
    open_masks: bool = False
    scope: list[tuple[str, Shape, str]] = field(default_factory=list)
    scalars: list[str] = field(default_factory=lambda: ["%x", "%y", "%x", "%y", "%zero"])
    tensors: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.scope = [(name, shape, self.element) for name, shape in GIVEN.items()]
        self.tensors = [("%t", f"tensor<4x6x{self.element}>"), ("%u", f"tensor<?x6x{self.element}>")]

    # -- what is there -------------------------------------------------------------------------------------------------

    def make(self, text: str, shape: Shape, element: str | None = None) -> None:
        name = self.name()
        self.lines.append(f"{name} = {text}")
        self.scope.append((name, shape, element or self.element))

    def scalar(self, text: str) -> None:
        self.scalars.append(self.name())
        self.lines.append(f"{self.scalars[-1]} = {text}")

    def any(self, rank: int = 0, element: str | None = None) -> tuple[str, Shape, str]:
        """Rather what was made last, so that ops meet."""
        wanted = (self.element, "i1") if element is None else (element,)
        found = [value for value in self.scope if len(value[1]) >= rank and value[2] in wanted]
        return found[-1] if self.draw.chance(0.75) else self.draw.choice(found)

    def of_shape(self, shape: Shape, element: str) -> str:
        """A vector that is there, or is made."""
        found = [name for name, given, of in self.scope if (given, of) == (shape, element)]
        if found and self.draw.chance(0.7):
            return self.draw.choice(found[-3:])
        if element == "i1":
            self.mask_of(shape)
        elif self.draw.chance(0.5):
            self.constant_of(shape)
        else:
            self.make(f"vector.broadcast %x : {element} to {vector(shape, element)}", shape)
        return self.scope[-1][0]

    def number(self) -> int:
        return self.draw.choice([0, 1, 2, 7])

    # -- vectors that are known ----------------------------------------------------------------------------------------

    def constant_of(self, shape: Shape) -> None:
        form = "{}.0" if self.element == "f32" else "{}"
        type = vector(shape, self.element)
        if self.draw.chance(0.5) or not shape:
            self.make(f"arith.constant dense<{form.format(self.number())}> : {type}", shape)
            return
        numbers = [form.format(index) for index in range(prod(shape))]
        for size in shape[:0:-1]:
            numbers = [f"[{', '.join(numbers[at : at + size])}]" for at in range(0, len(numbers), size)]
        self.make(f"arith.constant dense<[{', '.join(numbers)}]> : {type}", shape)

    def constant(self) -> None:
        self.constant_of(self.draw.choice(SHAPES))

    def splat(self) -> None:
        shape = self.draw.choice(SHAPES)
        self.make(
            f"vector.broadcast {self.draw.choice(self.scalars)} : {self.element} to {vector(shape, self.element)}",
            shape,
        )

    def mask_of(self, shape: Shape) -> None:
        type, some = vector(shape, "i1"), self.draw.choice([0.2, 0.6])
        sizes = [size if self.draw.chance(some) else self.draw.choice([0, 1, 1, 1, 2]) for size in shape or (1,)]
        if self.draw.chance(0.3):
            held = [min(size, bound) for size, bound in zip(sizes, shape or (1,), strict=True)]
            held = held if all(held) else [0] * len(held)
            self.make(f"vector.constant_mask [{', '.join(map(str, held))}] : {type}", shape, "i1")
            return
        letters = "kn" if self.open_masks else "k"
        given = ", ".join(f"%{self.draw.choice(letters)}{size if size in NUMBERS else 1}" for size in sizes)
        self.make(f"vector.create_mask {given} : {type}", shape, "i1")

    def mask(self) -> None:
        self.mask_of(self.draw.choice(SHAPES))

    def step(self) -> None:
        size, at = self.draw.choice([1, 2, 4]), self.name()
        type = f"vector<{size}xindex>"
        self.lines.append(f"%s{at[1:]} = vector.step : {type}")
        self.lines.append(f"%l{at[1:]} = arith.constant dense<{self.draw.randint(-1, 5)}> : {type}")
        predicate = self.draw.choice(["eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sge"])
        self.make(f"arith.cmpi {predicate}, %s{at[1:]}, %l{at[1:]} : {type}", (size,), "i1")

    # -- shapes --------------------------------------------------------------------------------------------------------

    def broadcast(self) -> None:
        name, shape, element = self.any()
        made = tuple(self.draw.choice([1, 1, 2, 3]) if size == 1 else size for size in shape)
        most = self.draw.choice([1, 2])
        made = tuple(self.draw.randint(1, most) for _ in range(self.draw.randint(0, 2))) + made
        self.make(f"vector.broadcast {name} : {vector(shape, element)} to {vector(made, element)}", made, element)

    def shape_cast(self) -> None:
        name, shape, element = self.any()
        fitting = [made for made in SHAPES if prod(made) == prod(shape)]
        kept = tuple(size for size in shape if size != 1)
        ones = (1,) * self.draw.randint(0, 2)
        made = self.draw.choice([*fitting, kept + ones, ones + kept, shape + ones, ones + shape])
        made = self.draw.choice([made, self.draw.choice([*fitting, made]), ones + self.draw.choice([*fitting, made])])
        self.make(f"vector.shape_cast {name} : {vector(shape, element)} to {vector(made, element)}", made, element)

    def transpose(self) -> None:
        name, shape, element = self.any(2)
        order = list(range(len(shape)))
        self.draw.shuffle(order)
        made = tuple(shape[axis] for axis in order)
        self.make(
            f"vector.transpose {name}, {order} : {vector(shape, element)} to {vector(made, element)}", made, element
        )

    def shuffle(self) -> None:
        name, shape, element = self.any(0, self.element)
        found = [value for value in self.scope if value[1][1:] == shape[1:] and bool(value[1]) == bool(shape)]
        other, given, _ = self.draw.choice([value for value in found if value[2] == element][-3:])
        if shape and self.draw.chance(0.2):
            self.constant_of(shape)
            other, given = self.scope[-1][0], shape
        size, total = (shape or (1,))[0], (shape or (1,))[0] + (given or (1,))[0]
        # mlir-opt 22 ends with an assertion at elements of other shuffles of vectors without dimensions.
        some = [0] if not shape else [self.draw.randrange(total) for _ in range(self.draw.randint(1, 4))]
        halves = [lane for pair in zip(range(size), range(size, total), strict=False) for lane in pair]
        lanes = self.draw.choice([some, some, list(range(size)), list(range(size, total)), halves])
        types = f"{vector(shape, element)}, {vector(given, element)}"
        self.make(f"vector.shuffle {name}, {other} {lanes} : {types}", (len(lanes), *shape[1:]))

    # -- parts ---------------------------------------------------------------------------------------------------------

    def position(self, shape: Shape, is_given: bool) -> str:
        """At known places; of what the function is given at any."""
        said = []
        for size in shape:
            place = self.draw.randrange(size)
            letters = ["", "", "%k", "%n" if is_given and size > 1 else "%k"]
            said.append(f"{self.draw.choice(letters) if place in NUMBERS else ''}{place}")
        return f"[{', '.join(said)}]"

    def part_of(self, name: str, shape: Shape, element: str, count: int, position: str) -> None:
        rest = shape[count:]
        if rest:
            taken = f"{vector(rest, element)} from {vector(shape, element)}"
            self.make(f"vector.extract {name}{position} : {taken}", rest, element)
        elif element == self.element:
            self.scalar(f"vector.extract {name}{position} : {element} from {vector(shape, element)}")

    def extract(self) -> None:
        name, shape, element = self.any()
        count = self.draw.randint(0 if self.draw.chance(0.1) else min(1, len(shape)), len(shape))
        self.part_of(name, shape, element, count, self.position(shape[:count], name in GIVEN))

    def insert(self) -> None:
        name, shape, element = self.any(0, self.element)
        for _ in range(self.draw.choice([1, 1, 2, prod(shape)])):
            count = self.draw.randint(0 if self.draw.chance(0.05) else min(1, len(shape)), len(shape))
            position = self.position(shape[:count], name in GIVEN)
            rest = shape[count:]
            part = self.of_shape(rest, element) if rest else self.draw.choice(self.scalars)
            type = vector(rest, element) if rest else element
            self.make(f"vector.insert {part}, {name} {position} : {type} into {vector(shape, element)}", shape)
            name = self.scope[-1][0]

    def filled(self) -> None:
        """Every element of a vector is put in, one after another."""
        name, shape, element = self.any(1, self.element)
        for place in self.draw.sample(range(prod(shape[:1])), shape[0]):
            part = self.of_shape(shape[1:], element) if shape[1:] else self.draw.choice(self.scalars)
            type = vector(shape[1:], element) if shape[1:] else element
            self.make(f"vector.insert {part}, {name} [{place}] : {type} into {vector(shape, element)}", shape)
            name = self.scope[-1][0]

    def slice(self) -> None:
        name, shape, element = self.any(1)
        # mlir-opt 22 ends with an assertion at some slices of the first dimensions of what was broadcast.
        count = self.draw.randint(1, len(shape)) if name in GIVEN else len(shape)
        sizes = [self.draw.choice([1, size, self.draw.randint(1, size)]) for size in shape[:count]]
        begins = [self.draw.randint(0, a - b) for a, b in zip(shape, sizes, strict=False)]
        if self.open_masks and element == "i1":
            begins = [0] * count
        made = (*sizes, *shape[count:])
        where = f"offsets = {begins}, sizes = {sizes}, strides = {[1] * count}"
        types = f"{vector(shape, element)} to {vector(made, element)}"
        self.make(f"vector.extract_strided_slice {name} {{{where}}} : {types}", made, element)
        if self.draw.chance(0.3) and count == len(shape):
            self.put_slice(self.scope[-1][0], made, name, shape, element, begins)

    def insert_slice(self) -> None:
        name, shape, element = self.any(1, self.element)
        rank = self.draw.randint(1, len(shape)) if self.draw.chance(0.3) else len(shape)
        sizes = tuple(self.draw.choice([size, self.draw.randint(1, size)]) for size in shape[len(shape) - rank :])
        part = self.of_shape(sizes, element)
        whole = (1,) * (len(shape) - rank) + sizes
        begins = [self.draw.randint(0, a - b) for a, b in zip(shape, whole, strict=True)]
        self.put_slice(part, sizes, name, shape, element, begins)

    def put_slice(self, part: str, sizes: Shape, name: str, shape: Shape, element: str, begins: list[int]) -> None:
        where = f"offsets = {begins}, strides = {[1] * len(sizes)}"
        types = f"{vector(sizes, element)} into {vector(shape, element)}"
        self.make(f"vector.insert_strided_slice {part}, {name} {{{where}}} : {types}", shape, element)

    def elements(self) -> None:
        name, shape, element = self.any(0, self.element)
        rule = self.draw.randint(0, 3)
        if rule == 0:
            values = [self.draw.choice(self.scalars) for _ in range(self.draw.choice([1, 2, 4]))]
        elif rule == 1:
            values = [self.draw.choice(self.scalars)] * self.draw.choice([1, 2, 4])
        elif rule == 2:
            at = self.name()
            self.lines.append(f"{at}:{prod(shape)} = vector.to_elements {name} : {vector(shape, element)}")
            values = [f"{at}#{index}" for index in range(prod(shape))]
            self.scalars.append(self.draw.choice(values))
        else:
            values = []
            count = self.draw.randint(0, len(shape))
            lead = [self.draw.randrange(size) for size in shape[:count]]
            for index in range(prod(shape[count:])):
                rest = [index // prod(shape[axis + 1 :]) % shape[axis] for axis in range(count, len(shape))]
                self.scalar(f"vector.extract {name}{lead + rest} : {element} from {vector(shape, element)}")
                values.append(self.scalars[-1])
        made = self.draw.choice([given for given in [*SHAPES, (len(values),)] if prod(given) == len(values)])
        self.make(f"vector.from_elements {', '.join(values)} : {vector(made, element)}", made)

    def interleave(self) -> None:
        name, shape, element = self.any(1, self.element)
        made = (*shape[:-1], 2 * shape[-1])
        types = f"{vector(shape, element)} -> {vector(made, element)}"
        self.make(f"vector.interleave {name}, {self.of_shape(shape, element)} : {types}", made)

    # -- arithmetic ----------------------------------------------------------------------------------------------------

    def kind(self) -> str:
        return self.draw.choice(KINDS[self.element].split())

    def reduction(self) -> None:
        name, shape, element = self.any(0, self.element)
        flags = " fastmath<nnan>" if element == "f32" and self.draw.chance(0.2) else ""
        if len(shape) < 2:
            start = f", {self.draw.choice(self.scalars)}"
            kind = self.kind()
            start = start if kind == "add" else self.draw.choice(["", start])
            self.scalar(f"vector.reduction <{kind}>, {name}{start}{flags} : {vector(shape, element)} into {element}")
            return
        axes = sorted(self.draw.sample(range(len(shape)), self.draw.randint(0, len(shape))))
        made = tuple(size for axis, size in enumerate(shape) if axis not in axes)
        type = vector(made, element) if made else element
        start = self.of_shape(made, element) if made else self.draw.choice(self.scalars)
        text = f"vector.multi_reduction <{self.kind()}>, {name}, {start} {axes} : {vector(shape, element)} to {type}"
        if made:
            self.make(text, made)
        else:
            self.scalar(text)

    def contract(self) -> None:
        left, right = self.of_shape((2, 3), self.element), self.of_shape((3, 2), self.element)
        type, start = vector((2, 2), self.element), "%zeros"
        if self.draw.chance(0.5):
            start = self.of_shape((2, 2), self.element)
        maps = ", ".join(f"affine_map<(i, j, k) -> ({result})>" for result in ("i, k", "k, j", "i, j"))
        kind = self.draw.choice(["add", "add", self.kind()]) if self.element == "f32" else "add"
        lists = f'indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "reduction"]'
        types = f"{vector((2, 3), self.element)}, {vector((3, 2), self.element)} into {type}"
        self.make(
            f"vector.contract {{{lists}, kind = #vector.kind<{kind}>}} {left}, {right}, {start} : {types}", (2, 2)
        )
        if self.element == "i32":
            pair = [self.scope[-1][0], self.of_shape((2, 2), "i32")]
            self.draw.shuffle(pair)
            self.make(f"arith.addi {', '.join(pair)} : {type}", (2, 2))

    def select(self) -> None:
        name, shape, element = self.any(0, self.element)
        other, mask = self.of_shape(shape, element), self.of_shape(shape, "i1")
        types = f"{vector(shape, 'i1')}, {vector(shape, element)}"
        self.make(f"arith.select {mask}, {name}, {other} : {types}", shape)

    def fma(self) -> None:
        name, shape, element = self.any(0, self.element)
        if element == "f32":
            other = self.of_shape(shape, element)
            self.make(f"vector.fma {name}, {other}, {name} : {vector(shape, element)}", shape)

    # -- memory --------------------------------------------------------------------------------------------------------

    def places(self, letters: str = "kkn") -> str:
        return ", ".join(f"%{self.draw.choice(letters)}{self.draw.choice([0, 1, 2, 3][:rank])}" for rank in (3, 4))

    def map(self, rank: int, broadcasts: bool) -> tuple[str, Shape]:
        """A permutation map that is said, or not, and the dimensions of the memory it names."""
        if rank <= 2 and self.draw.chance(0.6):
            return "", tuple(range(2 - rank, 2))
        names = self.draw.sample(["d0", "d1"], min(rank, self.draw.randint(1, 2) if broadcasts else rank))
        while len(names) < rank:
            names.insert(self.draw.randint(0, len(names)), "0")
        places = tuple(int(name[1]) if name != "0" else -1 for name in names)
        return f"permutation_map = affine_map<(d0, d1) -> ({', '.join(names)})>", places

    def transfer_mask(self, shape: Shape, places: Shape) -> str:
        used = tuple(size for _, size in sorted((p, s) for p, s in zip(places, shape, strict=True) if p >= 0))
        return f", {self.of_shape(used, 'i1')}" if used and self.draw.chance(0.4) else ""

    def attributes(self, map: str, shape: Shape, places: Shape) -> str:
        """Bounds are promised where the greatest index keeps them."""
        held = [place < 0 or size + (2, 3)[place] <= (4, 6)[place] for size, place in zip(shape, places, strict=True)]
        flags = [str(flag and self.draw.chance(0.8)).lower() for flag in held]
        parts = [f"in_bounds = [{', '.join(flags)}]"] * ("true" in flags) + [map] * bool(map)
        return f" {{{', '.join(parts)}}}" if parts else ""

    def read(self) -> None:
        memory, type = self.draw.choice(
            [
                *self.tensors[-2:],
                *self.tensors[-2:],
                ("%m", f"memref<4x6x{self.element}>"),
                ("%q", f"memref<?x6x{self.element}>"),
            ]
        )
        self.read_from(memory, type, self.places(), self.draw.choice([shape for shape in SHAPES if shape]))

    def read_from(self, memory: str, type: str, places: str, shape: Shape) -> None:
        map, axes = self.map(len(shape), True)
        mask, padding = self.transfer_mask(shape, axes), self.draw.choice(["%x", "%zero"])
        rest = f"{mask}{self.attributes(map, shape, axes)} : {type}, {vector(shape, self.element)}"
        self.make(f"vector.transfer_read {memory}[{places}], {padding}{rest}", shape)

    def write(self) -> None:
        """Once, or several times, at places that are apart, or the same."""
        found = [value for value in self.scope if 1 <= len(value[1]) <= 2 and value[2] == self.element]
        name, shape, element = self.draw.choice(found[-4:])
        memory, type = self.draw.choice([*self.tensors[-2:], ("%m", f"memref<4x6x{element}>")])
        map, axes = self.map(len(shape), False)
        places, mask = self.places("k"), self.transfer_mask(shape, axes)
        for _ in range(self.draw.choice([1, 2, 3])):
            if self.draw.chance(0.4):
                map, axes = self.map(len(shape), False)
                mask = self.transfer_mask(shape, axes)
            if self.draw.chance(0.6):
                places = self.places("k" if self.draw.chance(0.7) else "n")
            said = self.attributes(map, shape, axes)
            text = f"vector.transfer_write {name}, {memory}[{places}]{mask}{said} : {vector(shape, element)}, {type}"
            if memory == "%m":
                self.lines.append(text)
                return
            memory = self.name()
            self.lines.append(f"{memory} = {text}")
            self.tensors.append((memory, type))
            rule = self.draw.randint(0, 3)
            if rule == 0:
                self.read_from(memory, type, places, shape)
            elif rule == 1:
                self.read_back(memory, type, places, map, shape, mask)
            elif rule == 2:
                self.read_otherwise(memory, type, places, shape, axes)

    def read_back(self, memory: str, type: str, places: str, map: str, shape: Shape, mask: str) -> None:
        """What was written, or padding."""
        said = f"{{{map}}} " if map else ""
        self.make(
            f"vector.transfer_read {memory}[{places}], %zero{mask} {said}: {type}, {vector(shape, self.element)}", shape
        )

    def read_otherwise(self, memory: str, type: str, places: str, shape: Shape, axes: Shape) -> None:
        """What was written, with its dimensions in another order and others between them."""
        dimensions = list(zip(shape, axes, strict=True))
        self.draw.shuffle(dimensions)
        for _ in range(self.draw.randint(0, 2)):
            dimensions.insert(self.draw.randint(0, len(dimensions)), (self.draw.choice([1, 2]), -1))
        sizes, places_of = (tuple(part) for part in zip(*dimensions, strict=True))
        results = ", ".join("0" if axis < 0 else f"d{axis}" for axis in places_of)
        said = self.attributes(f"permutation_map = affine_map<(d0, d1) -> ({results})>", sizes, places_of)
        self.make(f"vector.transfer_read {memory}[{places}], %x{said} : {type}, {vector(sizes, self.element)}", sizes)

    def through(self) -> None:
        """What was read is written back, or into another tensor."""
        (source, type), (target, _) = self.tensors[-1], self.draw.choice(self.tensors)
        if dict(self.tensors)[target] != type:
            target = source
        shape = self.draw.choice([(4, 6), (2, 3), (4,)])
        map, axes = self.map(len(shape), False)
        places = self.draw.choice(["%k0, %k0", self.places()])
        whole = "" if shape == (4, 6) and places != "%k0, %k0" else self.attributes(map, shape, axes)
        whole = whole or (f" {{{map}}}" if map else "")
        value, made, taken = self.name(), self.name(), vector(shape, self.element)
        self.lines.append(f"{value} = vector.transfer_read {source}[{places}], %x{whole} : {type}, {taken}")
        self.lines.append(f"{made} = vector.transfer_write {value}, {target}[{places}]{whole} : {taken}, {type}")
        self.tensors.append((made, type))

    def cast(self) -> None:
        name, type = self.tensors[-1]
        made = f"tensor<?x6x{self.element}>" if "4" in type.partition("x6")[0] else f"tensor<4x6x{self.element}>"
        self.tensors.append((self.name(), made))
        self.lines.append(f"{self.tensors[-1][0]} = tensor.cast {name} : {type} to {made}")

    def access(self) -> None:
        """A row, loaded or stored, of memory that is cast to say less."""
        size, at = self.draw.choice([1, 2]), self.name()
        given, type, row = f"memref<4x6x{self.element}>", f"memref<?x?x{self.element}>", vector((size,), self.element)
        self.lines.append(f"{at} = memref.cast %m : {given} to {type}")
        if self.draw.chance(0.5):
            self.lines.append(
                f"vector.store {self.of_shape((size,), self.element)}, {at}[{self.places()}] : {type}, {row}"
            )
        self.make(f"vector.load {at}[{self.places()}] : {type}, {row}", (size,))

    def slice_of_tensor(self) -> None:
        """A slice of what a vector is written over, inserted elsewhere."""
        part, whole = f"tensor<2x3x{self.element}>", self.tensors[0][1]
        value, at = self.of_shape((2, 3), self.element), self.name()
        kept = self.draw.choice([(2, 3), (1, 3), (2, 2)])
        cut = f"tensor<{kept[0]}x{kept[1]}x{self.element}>"
        self.lines.append(f"%e{at[1:]} = tensor.empty() : {part}")
        self.lines.append(
            f"%w{at[1:]} = vector.transfer_write {value}, %e{at[1:]}[%k0, %k0] : {vector((2, 3), self.element)}, {part}"
        )
        self.lines.append(
            f"%p{at[1:]} = tensor.extract_slice %w{at[1:]}[0, 0] [{kept[0]}, {kept[1]}] [1, 1] : {part} to {cut}"
        )
        where = f"[%n1, {self.draw.randint(0, 2)}] [{kept[0]}, {kept[1]}] [1, 1]"
        self.lines.append(f"{at} = tensor.insert_slice %p{at[1:]} into %t{where} : {cut} into {whole}")
        self.tensors.append((at, whole))

    def print(self) -> None:
        name, shape, element = self.any()
        self.lines.append(f"vector.print {name} : {vector(shape, element)}")


def vectors(draw: Draw) -> str:
    """A function of a few such ops that returns the last vectors, a scalar and a tensor."""
    element = draw.choice(["f32", "i32"])
    body = Vectors(draw, element=element, open_masks=draw.chance(0.5))
    made = (
        [body.constant] * 2 + [body.splat] + [body.mask] * 3 + [body.elements, body.shuffle, body.insert, body.filled]
    )
    made += [body.broadcast, body.insert_slice, body.contract, body.read, body.step, body.transpose, body.shape_cast]
    taken = [body.extract] * 4 + [body.slice, body.shape_cast, body.transpose] * 3
    taken += [body.broadcast, body.shuffle, body.insert, body.insert_slice, body.reduction, body.elements] * 2
    taken += [body.filled, body.interleave, body.select, body.fma, body.print]
    memory = [body.read, body.write, body.write, body.through, body.cast, body.access, body.slice_of_tensor]
    for _ in range(draw.randint(2, 6)):
        draw.choice(made if draw.chance(0.6) else memory)()
        for _ in range(draw.randint(0, 4)):
            draw.choice(taken)()
    results = [(name, vector(shape, of)) for name, shape, of in body.scope[-8:]]
    results += [(body.scalars[-1], element), body.tensors[-1]]
    values, types = (", ".join(part) for part in zip(*results, strict=True))
    number = "0.0" if element == "f32" else "0"
    zero = f"  %zero = arith.constant {number} : {element}\n"
    zero += f"  %zeros = arith.constant dense<{number}> : {vector((2, 2), element)}\n"
    lines = "".join(f"  {line}\n" for line in body.lines)
    return f"func.func @f({head(element)}) -> ({types}) {{\n{CONSTANTS}{zero}{lines}  return {values} : {types}\n}}\n"

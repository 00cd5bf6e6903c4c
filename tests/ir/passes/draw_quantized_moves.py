"""Random programs that compute with quantized values and move them through control flow and tensors."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random

I8, U8 = "!quant.uniform<i8:f32, 0.5:3>", "!quant.uniform<u8:f32, 0.25:100>"
I4, I16 = "!quant.uniform<i4:f32, 1.0:-2>", "!quant.uniform<i16<-3000:3000>:f32, 0.0078125>"
AXIS = "!quant.uniform<i8:f32:1, {0.5:3, 0.25:-1, 2.0}>"
LINE, GRID = "6", "2x3"
CONTROL = {"%n": "index", "%p": "i1", "%ml": "tensor<6xi1>", "%mg": "tensor<2x3xi1>"}
"""The arguments that control flow and selects read, before the quantized ones."""
_IDENTITY = "affine_map<(d0) -> (d0)>"
_MOST_NESTED = 2


def tensor(shape: str, element: str) -> str:
    return f"tensor<{shape}x{element}>"


class Program:
    """The text of a module, drawn from a seed. `types` are the types of the quantized arguments of `@f`.

    `for_runner` leaves out tensors of i1 and i4, which mlir-opt 22 cannot load, and affine.for, which it cannot
    bufferize.
    """

    def __init__(self, seed: str, *, for_runner: bool = False) -> None:
        self.rng = Random(seed)
        self.for_runner = for_runner
        self.control = dict([*CONTROL.items()][: 2 if for_runner else 4])
        self.layers: list[str] = []
        self.types = self.draw_types()
        self.lines: list[str] = []
        self.scope: list[tuple[str, str]] = []
        self.callees: list[tuple[str, str]] = []
        self._count = self._depth = 0
        for number in range(2):
            type = self.rng.choice(self.types)
            self._function(f"private @f{number}", f"f{number}", type, [type])
            self.callees.append((f"f{number}", type))
        self._function("@f", "", self.rng.choice(self.types), self.types)
        self.text = "\n".join(self.lines)

    def draw_types(self) -> list[str]:
        """Return the types of the values: scalars, lines and grids of two types per layer, and a grid per axis."""
        self.layers = self.rng.sample((I8, U8, I16) if self.for_runner else (I8, U8, I4, I16), 2)
        shaped = [tensor(shape, q) for q in self.layers for shape in (LINE, GRID)]
        return [*self.layers, *shaped, tensor(GRID, AXIS)]

    def plain_steps(self) -> "list[Step]":
        """Return the steps that are no control flow."""
        return [*_MOVES, *_COMPUTING]

    def _function(self, head: str, callee: str, result: str, types: list[str]) -> None:
        self.scope = [(f"%a{callee}{number}", type) for number, type in enumerate(types)]
        arguments = ", ".join(f"{name}: {type}" for name, type in (*self.control.items(), *self.scope))
        self.lines += [f"func.func {head}({arguments}) -> {result} {{"]
        self.lines += ["%zero = arith.constant 0 : index", "%one = arith.constant 1 : index"]
        for type in self.types:  # one value of each type, whatever the arguments are
            if type not in types:
                self._from_float(type)
        for _ in range(self.rng.randint(3, 7 if callee == "" else 4)):
            self.step()
        if self.rng.random() < 0.5:
            result_name = self._blocks(result, callee)
        else:
            result_name = self.pick(result)
        self.lines += [f"return {result_name} : {result}", "}"]

    def _from_float(self, type: str) -> None:
        plain = type.replace(element_of(type), "f32")
        value = f"dense<1.75> : {plain}" if plain != "f32" else "-2.25 : f32"
        self.value(f"quant.qcast {self.hidden(f'arith.constant {value}')} : {plain} to {type}", type)

    def _blocks(self, type: str, callee: str) -> str:
        """End with blocks that pass a value on. Return the name of the last block's argument."""
        left, right = f"^left{callee}", f"^right{callee}"
        a, b, c = self.pick(type), self.pick(type), self.name()
        self.lines.append(f"cf.cond_br %p, {left}({a} : {type}), {right}({b} : {type})")
        self.lines.append(f"{left}({c}: {type}):")
        self.scope.append((c, type))
        self.step()
        self.lines.append(f"cf.br {right}({self.pick(type)} : {type})")
        last = self.name()
        self.lines.append(f"{right}({last}: {type}):")
        return last

    # -- values --------------------------------------------------------------------------------------------------------

    def name(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def hidden(self, text: str) -> str:
        """Append an operation whose result steps do not read. Return its name."""
        name = self.name()
        self.lines.append(f"{name} = {text}")
        return name

    def value(self, text: str, type: str) -> None:
        """Append an operation with one result, which comes into scope."""
        self.scope.append((self.hidden(text), type))

    def pick(self, type: str) -> str:
        """Return the name of a value in scope of the type."""
        return self.rng.choice([name for name, other in self.scope if other == type])

    def any(self, *shapes: str, per_axis: bool = True) -> tuple[str, str]:
        """Return the name and the type of a value in scope, of one of the shapes."""
        return self.rng.choice(
            [
                (name, type)
                for name, type in self.scope
                if (not shapes or shape_of(type) in shapes) and (per_axis or AXIS not in type)
            ]
        )

    def layer(self) -> str:
        return self.rng.choice(self.layers)

    def step(self) -> None:
        steps = self.plain_steps()
        if self._depth < _MOST_NESTED:
            steps += 3 * [step for step in _CONTROL if not (self.for_runner and step is _affine_for)]
        self.rng.choice(steps)(self)

    @contextmanager
    def nested(self, *values: tuple[str, str]) -> Iterator[None]:
        """Draw steps of a body in which more values are in scope, and leave the scope as it was."""
        before = list(self.scope)
        self.scope += values
        self._depth += 1
        for _ in range(self.rng.randint(0, 2)):
            self.step()
        yield
        self._depth -= 1
        self.scope = before


def element_of(type: str) -> str:
    return "!" + type.partition("!")[2].removesuffix(">" if shape_of(type) else "")


def shape_of(type: str) -> str:
    return type.removeprefix("tensor<").partition("x!")[0] if type.startswith("tensor") else ""


Step = Callable[[Program], None]


# -- control flow ------------------------------------------------------------------------------------------------------


def _for(p: Program) -> None:
    carried = [p.any() for _ in range(2)]
    names, types = [p.name(), p.name()], [type for _, type in carried]
    given = ", ".join(f"{name} = {value}" for name, (value, _) in zip(names, carried, strict=True))
    result, listed = p.name(), ", ".join(types)
    p.lines.append(f"{result}:2 = scf.for {p.name()} = %zero to %n step %one iter_args({given}) -> ({listed}) {{")
    with p.nested(*zip(names, types, strict=True)):
        p.lines.append(f"scf.yield {', '.join(map(p.pick, types))} : {listed}")
    p.lines.append("}")
    p.scope += [(f"{result}#{number}", type) for number, type in enumerate(types)]


def _affine_for(p: Program) -> None:
    (value, type), carried, result = p.any(), p.name(), p.name()
    p.lines.append(f"{result} = affine.for {p.name()} = 0 to 2 iter_args({carried} = {value}) -> ({type}) {{")
    with p.nested((carried, type)):
        p.lines.append(f"affine.yield {p.pick(type)} : {type}")
    p.lines.append("}")
    p.scope.append((result, type))


def _while(p: Program) -> None:
    (value, type), result, i, j, x, y = p.any(), *(p.name() for _ in range(5))
    signature = f"(index, {type}) -> (index, {type})"
    p.lines.append(f"{result}:2 = scf.while ({i} = %zero, {x} = {value}) : {signature} {{")
    with p.nested((x, type)):
        again = p.hidden(f"arith.cmpi ult, {i}, %n : index")
        p.lines.append(f"scf.condition({again}) {i}, {p.pick(type)} : index, {type}")
    p.lines += ["} do {", f"^bb0({j}: index, {y}: {type}):"]
    with p.nested((y, type)):
        later = p.hidden(f"arith.addi {j}, %one : index")
        p.lines.append(f"scf.yield {later}, {p.pick(type)} : index, {type}")
    p.lines.append("}")
    p.scope.append((f"{result}#1", type))


def _arms(p: Program, heads: list[str], type: str, result: str) -> None:
    for head in heads:
        p.lines.append(head)
        with p.nested():
            p.lines.append(f"scf.yield {p.pick(type)} : {type}")
    p.lines.append("}")
    p.scope.append((result, type))


def _if(p: Program) -> None:
    (_, type), result = p.any(), p.name()
    _arms(p, [f"{result} = scf.if %p -> ({type}) {{", "} else {"], type, result)


def _switch(p: Program) -> None:
    (_, type), result = p.any(), p.name()
    _arms(p, [f"{result} = scf.index_switch %n -> {type}\ncase 1 {{", "}\ncase 2 {", "}\ndefault {"], type, result)


def _execute(p: Program) -> None:
    (_, type), result = p.any(), p.name()
    _arms(p, [f"{result} = scf.execute_region -> {type} {{"], type, result)


def _call(p: Program) -> None:
    if not p.callees:
        return _if(p)
    callee, type = p.rng.choice(p.callees)
    names, types = ", ".join(p.control), ", ".join(p.control.values())
    return p.value(f"func.call @{callee}({names}, {p.pick(type)}) : ({types}, {type}) -> {type}", type)


# -- operations that move elements -------------------------------------------------------------------------------------


def select(p: Program) -> None:
    value, type = p.any()
    mask = {LINE: "%ml", GRID: "%mg"}.get(shape_of(type))
    if mask in p.control and p.rng.random() < 0.5:
        kinds = f"tensor<{shape_of(type)}xi1>, {type}"
        p.value(f"arith.select {mask}, {value}, {p.pick(type)} : {kinds}", type)
    else:
        p.value(f"arith.select %p, {value}, {p.pick(type)} : {type}", type)


def _scalar(p: Program) -> None:
    value, type = p.any(LINE)
    p.value(f"tensor.extract {value}[%one] : {type}", element_of(type))


def _spread(p: Program) -> None:
    value, element = p.any("")
    type = tensor(p.rng.choice([LINE, GRID]), element)
    match p.rng.randrange(3):
        case 0:
            p.value(f"tensor.splat {value} : {type}", type)
        case 1:
            empty = p.hidden(f"tensor.empty() : {type}")
            p.value(f"linalg.fill ins({value} : {element}) outs({empty} : {type}) -> {type}", type)
        case _:
            six = ", ".join(p.pick(element) for _ in range(6))
            p.value(f"tensor.from_elements {six} : {type}", type)


def _insert(p: Program) -> None:
    value, type = p.any(LINE)
    if p.rng.random() < 0.5:
        p.value(f"tensor.insert {p.pick(element_of(type))} into {value}[%one] : {type}", type)
    else:
        part = tensor("3", element_of(type))
        slice = p.hidden(f"tensor.extract_slice {p.pick(type)}[2] [3] [1] : {type} to {part}")
        p.value(f"tensor.insert_slice {slice} into {value}[0] [3] [2] : {part} into {type}", type)


def _reshape(p: Program) -> None:
    value, type = p.any(LINE, GRID, per_axis=False)
    line, grid = (tensor(shape, element_of(type)) for shape in (LINE, GRID))
    if type == grid:
        p.value(f"tensor.collapse_shape {value} [[0, 1]] : {grid} into {line}", line)
    else:
        p.value(f"tensor.expand_shape {value} [[0, 1]] output_shape [2, 3] : {line} into {grid}", grid)


def _cast(p: Program) -> None:
    value, type = p.any(LINE, GRID)
    unknown = type.replace(f"<{shape_of(type)}x", f"<?{shape_of(type)[1:]}x", 1)
    p.value(f"tensor.cast {p.hidden(f'tensor.cast {value} : {type} to {unknown}')} : {unknown} to {type}", type)


def _concat(p: Program) -> None:
    value, type = p.any(LINE)
    long = tensor("12", element_of(type))
    both = p.hidden(f"tensor.concat dim(0) {value}, {p.pick(type)} : ({type}, {type}) -> {long}")
    p.value(f"tensor.extract_slice {both}[1] [6] [2] : {long} to {type}", type)


def _pad(p: Program) -> None:
    value, type = p.any(LINE)
    element, part = element_of(type), tensor("4", element_of(type))
    slice = p.hidden(f"tensor.extract_slice {value}[1] [4] [1] : {type} to {part}")
    filler = p.pick(element)
    pad = f"tensor.pad {slice} low[1] high[1] {{\n^bb0({p.name()}: index):\ntensor.yield {filler} : {element}\n}}"
    p.value(f"{pad} : {part} to {type}", type)


def _generate(p: Program) -> None:
    value, type = p.any(LINE)
    index, element = p.name(), element_of(type)
    name = p.name()
    p.lines += [f"{name} = tensor.generate {{", f"^bb0({index}: index):"]
    element_name = p.hidden(f"tensor.extract {value}[{index}] : {type}")
    p.lines += [f"tensor.yield {element_name} : {element}", f"}} : {type}"]
    p.scope.append((name, type))


def _transpose(p: Program) -> None:
    value, type = p.any(GRID, per_axis=False)
    turned, line = tensor("3x2", element_of(type)), tensor(LINE, element_of(type))
    empty = p.hidden(f"tensor.empty() : {turned}")
    result = p.hidden(f"linalg.transpose ins({value} : {type}) outs({empty} : {turned}) permutation = [1, 0]")
    p.value(f"tensor.collapse_shape {result} [[0, 1]] : {turned} into {line}", line)


def _copy(p: Program) -> None:
    value, type = p.any(LINE, GRID)
    p.value(f"linalg.copy ins({value} : {type}) outs({p.pick(type)} : {type}) -> {type}", type)


def _broadcast(p: Program) -> None:
    value, type = p.any(LINE)
    part, grid = tensor("3", element_of(type)), tensor(GRID, element_of(type))
    slice = p.hidden(f"tensor.extract_slice {value}[0] [3] [2] : {type} to {part}")
    p.value(f"linalg.broadcast ins({slice} : {part}) outs({p.pick(grid)} : {grid}) dimensions = [0]", grid)


def _generic(p: Program) -> None:
    """A body that selects among scalars."""
    value, type = p.any(LINE)
    element, (x, y, name) = element_of(type), (p.name() for _ in range(3))
    empty = p.hidden(f"tensor.empty() : {type}")
    maps = f'indexing_maps = [{", ".join([_IDENTITY] * 2)}], iterator_types = ["parallel"]'
    p.lines.append(f"{name} = linalg.generic {{{maps}}} ins({value} : {type}) outs({empty} : {type}) {{")
    p.lines.append(f"^bb0({x}: {element}, {y}: {element}):")
    chosen = p.hidden(f"arith.select %p, {x}, {p.pick(element)} : {element}")
    p.lines += [f"linalg.yield {chosen} : {element}", f"}} -> {type}"]
    p.scope.append((name, type))


# -- operations that compute, which other passes lower -----------------------------------------------------------------


def _add(p: Program) -> None:
    value, type = p.any(LINE, GRID, per_axis=False)
    result = tensor(shape_of(type), p.layer())
    other, other_type = p.any(shape_of(type), per_axis=False)
    p.value(f"qrt.add {value}, {other} : ({type}, {other_type}) -> {result}", result)


def _requantize(p: Program) -> None:
    value, type = p.any(LINE, GRID, per_axis=False)
    result = tensor(shape_of(type), p.layer())
    p.value(f"qrt.requantize {value} : ({type}) -> {result}", result)


def _through_floats(p: Program) -> None:
    value, type = p.any()
    plain = type.replace(element_of(type), "f32")
    negated = p.hidden(f"arith.negf {p.hidden(f'quant.dcast {value} : {type} to {plain}')} : {plain}")
    p.value(f"quant.qcast {negated} : {plain} to {type}", type)


def _through_storage(p: Program) -> None:
    """The integers of a value, as another type of the same storage reads them."""
    value, type = p.any(LINE, GRID, "")
    if element_of(type) not in (I8, U8, AXIS) or not {I8, U8} & {*p.layers}:
        return _through_floats(p)
    plain = type.replace(element_of(type), "i8")
    other = type.replace(element_of(type), p.rng.choice([q for q in (I8, U8) if q in p.layers]))
    integers = p.hidden(f"quant.scast {value} : {type} to {plain}")
    return p.value(f"quant.scast {integers} : {plain} to {other}", other)


_CONTROL: list[Step] = [_for, _while, _if, _switch, _execute, _affine_for, _call]
_MOVES: list[Step] = [
    *([select] * 4),
    *(_scalar, _spread, _insert, _reshape, _cast, _concat, _pad, _generate, _transpose, _copy, _broadcast, _generic),
]
_COMPUTING: list[Step] = [_add, _add, _requantize, _through_floats, _through_storage]

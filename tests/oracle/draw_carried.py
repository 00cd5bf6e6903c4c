"""Functions drawn at random of loops that carry tensors, often cast to types that say less of their sizes. They run,
and an iteration keeps the sizes of what it is given."""

from dataclasses import dataclass

from tests.oracle.draw_body import Body
from tests.oracle.draw_types import Draw

HEAD = "%a: tensor<4xf32>, %b: tensor<?xf32>, %f: f32, %c: i1, %n: index, %k: index"
STATIC, DYNAMIC = "tensor<4xf32>", "tensor<?xf32>"
Tensor = tuple[str, str]
"""A name and a type; all have four elements."""


@dataclass
class Carried(Body):
    """A body while it is drawn: `tensors` are those in scope."""

    def make(self, text: str, type: str, tensors: list[Tensor]) -> None:
        name = self.name()
        self.lines.append(f"{name} = {text}")
        tensors.append((name, type))

    def bound(self) -> str:
        return self.draw.choice(["%k0", "%k1", "%k4", "%n", "%n"])

    def block(self, tensors: list[Tensor], depth: int) -> None:
        rules = [self.cast, self.cast, self.write, self.loop, self.side_by_side, self.branch, self.extent]
        for _ in range(self.draw.randint(1, 4)):
            rule = self.draw.choice(rules)
            if depth < 2 or rule in (self.cast, self.write, self.extent):
                rule(tensors, depth)

    def given(self, tensors: list[Tensor], depth: int) -> Tensor:
        """One to carry, which was cast more often than not."""
        if self.draw.chance(0.6):
            self.cast(tensors, depth)
            return tensors[-1]
        return self.draw.choice(tensors)

    def cast(self, tensors: list[Tensor], depth: int) -> None:
        name, type = self.draw.choice(tensors)
        made = self.draw.choice([STATIC, DYNAMIC, DYNAMIC])
        self.make(f"tensor.cast {name} : {type} to {made}", made, tensors)

    def write(self, tensors: list[Tensor], depth: int) -> None:
        name, type = tensors[-1] if self.draw.chance(0.5) else self.draw.choice(tensors)
        kind = self.draw.choice(["element", "slice", "fill"])
        if kind == "element":
            self.make(f"tensor.insert %f into {name}[%k] : {type}", type, tensors)
        elif kind == "slice":
            self.make(f"tensor.insert_slice %part into {name}[%k] [1] [1] : tensor<1xf32> into {type}", type, tensors)
        else:
            self.make(f"linalg.fill ins(%f : f32) outs({name} : {type}) -> {type}", type, tensors)

    def extent(self, tensors: list[Tensor], depth: int) -> None:
        name, type = self.draw.choice(tensors)
        size, made = self.name(), self.name()
        self.lines.append(f"{size} = tensor.dim {name}, %k0 : {type}")
        self.lines.append(f"{made} = arith.subi {size}, %k1 : index")
        self.make(f"tensor.insert %f into {name}[{made}] : {type}", type, tensors)

    def yielded(self, tensors: list[Tensor], type: str, argument: str = "") -> str:
        """A value of the type: the argument, written into and cast, or one that surely has four elements, without which
        qrt leaves what is carried as it is."""
        if argument and self.draw.chance(0.6):
            own = [(argument, type)]
            for _ in range(self.draw.randint(0, 3)):
                self.draw.choice([self.write, self.write, self.cast])(own, 2)
        else:
            own = [self.draw.choice(tensors)]
            self.to_type(STATIC, own)
        self.to_type(type, own)
        return own[-1][0]

    def to_type(self, type: str, tensors: list[Tensor]) -> None:
        name, found = tensors[-1]
        if found != type:
            self.make(f"tensor.cast {name} : {found} to {type}", type, tensors)

    def loop(self, tensors: list[Tensor], depth: int) -> None:
        inits = [self.given(tensors, depth) for _ in range(self.draw.randint(1, 2))]
        made, arguments = self.name(), [self.name() for _ in inits]
        carried = ", ".join(f"{name} = {init}" for name, (init, _) in zip(arguments, inits, strict=True))
        types = [type for _, type in inits]
        head = f"{made}:{len(inits)} = scf.for {self.name()} = {self.bound()} to {self.bound()} step %k1"
        self.lines.append(f"{head} iter_args({carried}) -> ({', '.join(types)}) {{")
        inner = [*tensors, *zip(arguments, types, strict=True)]
        self.block(inner, depth + 1)
        values = [self.yielded(inner, *each) for each in zip(types, arguments, strict=True)]
        self.lines.append(f"scf.yield {', '.join(values)} : {', '.join(types)}\n}}")
        tensors += [(f"{made}#{index}", type) for index, type in enumerate(types)]

    def side_by_side(self, tensors: list[Tensor], depth: int) -> None:
        """Each output is inserted into once: mlir-opt 22 takes the insertions for those of the outputs in order."""
        outputs = [self.given(tensors, depth) for _ in range(self.draw.randint(1, 2))]
        made, variable, arguments = self.name(), self.name(), [self.name() for _ in outputs]
        shared = ", ".join(f"{name} = {value}" for name, (value, _) in zip(arguments, outputs, strict=True))
        types = [type for _, type in outputs]
        bound = self.draw.choice(["1", "4", "%n", "%k0", "%k1"])
        self.lines.append(f"{made}:{len(outputs)} = scf.forall ({variable}) in ({bound}) shared_outs({shared})")
        self.lines[-1] += f" -> ({', '.join(types)}) {{"
        inner = [*tensors, *zip(arguments, types, strict=True)]
        self.block(inner, depth + 1)
        name, type = self.draw.choice(inner)
        part = self.name()
        self.lines.append(f"{part} = tensor.extract_slice {name}[{variable}] [1] [1] : {type} to tensor<1xf32>")
        self.lines.append("scf.forall.in_parallel {")
        for argument, type in zip(arguments, types, strict=True):
            slice_ = f"{argument}[{variable}] [1] [1] : tensor<1xf32> into {type}"
            self.lines.append(f"tensor.parallel_insert_slice {self.draw.choice([part, '%part'])} into {slice_}")
        self.lines.append("}\n}")
        tensors += [(f"{made}#{index}", type) for index, type in enumerate(types)]

    def branch(self, tensors: list[Tensor], depth: int) -> None:
        made, type = self.name(), self.draw.choice([STATIC, DYNAMIC])
        for head in (f"{made} = scf.if %c -> ({type}) {{", "} else {"):
            self.lines.append(head)
            inner = list(tensors)
            self.block(inner, depth + 1)
            self.lines.append(f"scf.yield {self.yielded(inner, type)} : {type}")
        self.lines.append("}")
        tensors.append((made, type))


def carrying(draw: Draw) -> str:
    """A function of nested loops that carry tensors."""
    body = Carried(draw)
    tensors = [("%a", STATIC), ("%b", DYNAMIC)]
    body.block(tensors, 0)
    body.loop(tensors, 0)
    body.block(tensors, 0)
    results = tensors[-2:]
    values, types = (", ".join(part) for part in zip(*results, strict=True))
    constants = "".join(f"  %k{number} = arith.constant {number} : index\n" for number in (0, 1, 4))
    lines = "".join(f"  {line}\n" for line in ["%part = tensor.splat %f : tensor<1xf32>", *body.lines])
    return f"func.func @f({HEAD}) -> ({types}) {{\n{constants}{lines}  return {values} : {types}\n}}\n"

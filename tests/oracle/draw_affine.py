"""Functions of `affine` ops drawn at random: maps of maps, least and greatest numbers, bounds of several results."""

from dataclasses import dataclass

from tests.oracle.draw_body import Body
from tests.oracle.draw_types import Draw

HEAD = "%n: index, %p: index, %m: memref<8xi32>, %x: i32, %y: i32"


@dataclass
class Affine(Body):
    """A body while it is drawn; `indices` are the values that maps may take."""

    def expression(self, names: list[str], depth: int = 0) -> str:
        """A sum with quotients of sums: mlir-opt 22 mistakes the range of a quotient of a remainder."""
        rule = self.draw.randint(0, 7 if depth == 0 else 4)
        if rule <= 2 or depth > 2:
            return self.draw.choice([*names, *names, str(self.draw.randint(0, 9))])
        if rule == 4:
            return f"({self.expression(names, depth + 1)} * {self.draw.choice([-1, 2, 3, 8])})"
        if rule == 3:
            symbols = [name for name in names if name.startswith("s")]
            if symbols and self.draw.chance(0.2):
                return f"({self.draw.choice(names)} * {self.draw.choice(symbols)})"
            return f"({self.expression(names, depth + 1)} + {self.expression(names, depth + 1)})"
        if rule == 5:
            return f"({self.expression(names)} + {self.expression(names, depth + 1)})"
        operator = self.draw.choice(["floordiv", "ceildiv", "mod", "mod"])
        return f"({self.expression(names, depth + 1)} {operator} {self.draw.choice([2, 4, 8])})"

    def map(self, indices: list[str], results: int) -> str:
        """A map and its operands."""
        values = [self.draw.choice(indices) for _ in range(self.draw.randint(1, 3))]
        symbols = [self.draw.choice(["%n", "%p", "%c3"]) for _ in range(self.draw.randint(0, 2))]
        names = [f"d{i}" for i in range(len(values))], [f"s{i}" for i in range(len(symbols))]
        made = ", ".join(self.expression([*names[0], *names[1]]) for _ in range(results))
        stated = f"({', '.join(names[0])})[{', '.join(names[1])}]"
        return f"affine_map<{stated} -> ({made})>({', '.join(values)})[{', '.join(symbols)}]"

    def bound(self, indices: list[str], prefix: str) -> str:
        if self.draw.chance(0.5):
            return str(self.draw.randint(0, 3) if prefix == "max" else self.draw.randint(4, 12))
        results = self.draw.choice([1, 1, 2, 3, 4])
        return f"{prefix} {self.map(indices, results)}" if results > 1 else self.map(indices, 1)

    def block(self, indices: list[str], numbers: list[str], depth: int) -> None:
        for _ in range(self.draw.randint(0, 3)):
            rule = self.draw.choice([self.number, self.number, self.access, self.loop, self.condition])
            if depth < 3 or rule in (self.number, self.access):
                rule(indices, numbers, depth)

    def number(self, indices: list[str], numbers: list[str], depth: int) -> None:
        made = self.name()
        op = self.draw.choice(["apply", "min", "max"])
        self.lines.append(f"{made} = affine.{op} {self.map(indices, 1 if op == 'apply' else self.draw.randint(1, 4))}")
        if op == "apply" or depth == 0:
            indices.append(made)
        place = self.name()
        self.lines.append(f"{place} = arith.andi {made}, %c7 : index")
        self.lines.append(f"memref.store %x, %m[{place}] : memref<8xi32>")

    def access(self, indices: list[str], numbers: list[str], depth: int) -> None:
        place = f"({self.draw.choice(indices)} + symbol(%n)) mod 8"
        self.lines.append(f"affine.store {self.draw.choice(numbers)}, %m[{place}] : memref<8xi32>")

    def carrying(self, op: str, heads: list[str], indices: list[str], numbers: list[str], depth: int) -> None:
        """An op whose regions yield as many numbers as it has results."""
        self.lines.append(op)
        for number, head in enumerate(heads):
            if number:
                self.lines.append(head)
            inner, values = list(indices), list(numbers)
            self.block(inner, values, depth + 1)
            yielded = self.draw.choice(values)
            self.lines.append(f"affine.yield {yielded} : i32")
        self.lines.append("}")

    def loop(self, indices: list[str], numbers: list[str], depth: int) -> None:
        variable = self.name()
        step = self.draw.choice(["", " step 2", " step 4"])
        bounds = f"{variable} = {self.bound(indices, 'max')} to {self.bound(indices, 'min')}{step}"
        if self.draw.chance(0.5):
            self.lines.append(f"affine.for {bounds} {{")
            self.block([*indices, variable, variable], list(numbers), depth + 1)
            self.lines.append("}")
            return
        made, carried, other = self.name(), self.name(), self.name()
        inits = f"{carried} = {self.draw.choice(numbers)}, {other} = {self.draw.choice(numbers)}"
        self.lines.append(f"{made}:2 = affine.for {bounds} iter_args({inits}) -> (i32, i32) {{")
        values = [*numbers, carried, other]
        if self.draw.chance(0.5):
            self.block([*indices, variable], values, depth + 1)
        yielded = self.draw.choice(values), self.draw.choice([carried, other, *values])
        self.lines.append(f"affine.yield {yielded[0]}, {yielded[1]} : i32, i32\n}}")
        numbers += [f"{made}#0", f"{made}#1"]

    def condition(self, indices: list[str], numbers: list[str], depth: int) -> None:
        values = [self.draw.choice(indices) for _ in range(2)]
        left = self.draw.choice(["d0", "d1 * 2", "d0 + d1 * 3", "(d0 + 1) floordiv 4", "0", "d1 - d1"])
        constraint = f"{left} - {self.draw.randint(0, 2)} {self.draw.choice(['>=', '=='])} 0"
        made = self.name()
        head = f"{made} = affine.if affine_set<(d0, d1) : ({constraint})>({', '.join(values)}) -> i32 {{"
        self.carrying(head, ["", "} else {"], indices, numbers, depth)
        numbers.append(made)


def affine_nests(draw: Draw) -> str:
    """A function of affine loops and conditions."""
    body = Affine(draw)
    indices, numbers = ["%n", "%p", "%c3"], ["%x", "%y"]
    body.block(indices, numbers, 0)
    body.block(indices, numbers, 0)
    lines = "".join(f"  {line}\n" for line in body.lines)
    constants = "  %c3 = arith.constant 3 : index\n  %c7 = arith.constant 7 : index\n"
    return f"func.func @f({HEAD}) -> i32 {{\n{constants}{lines}  return {numbers[-1]} : i32\n}}\n"

"""Functions drawn at random whose branches and regions canonicalize: conditions and bounds that are often constants."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.oracle.draw_body import Body
from tests.oracle.draw_types import Draw

HEAD = "%c: i1, %d: i1, %x: i32, %y: i32, %n: index, %m: memref<8xi32>, %q: memref<i1>"
CONSTANTS = """  %t = arith.constant true
  %f = arith.constant false
  %k0 = arith.constant 0 : index
  %k1 = arith.constant 1 : index
  %k4 = arith.constant 4 : index
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
"""


@dataclass
class Structured(Body):
    """A body of nested `scf` ops while it is drawn; `numbers` are the values of i32 in scope. None of several blocks is
    in an `scf.parallel`: mlir-opt 22 may end with an assertion where that has a dimension of one iteration."""

    parallel: int = 0

    def condition(self) -> str:
        return self.draw.choice(["%c", "%c", "%d", "%t", "%f"])

    def bound(self) -> str:
        return self.draw.choice(["%k0", "%k1", "%k4", "%n"])

    def block(self, numbers: list[str], depth: int) -> None:
        for _ in range(self.draw.randint(0, 3)):
            rule = self.draw.choice(self.rules())
            if depth < 3 or rule in (self.sum, self.store, self.store_condition):
                rule(numbers, depth)

    def rules(self) -> list[Callable[[list[str], int], None]]:
        return [self.sum, self.store, self.store_condition, self.branch, self.loop, self.repeat, self.nest, self.other]

    def sum(self, numbers: list[str], depth: int) -> None:
        made = self.name()
        self.lines.append(f"{made} = arith.addi {self.draw.choice(numbers)}, {self.draw.choice(numbers)} : i32")
        numbers.append(made)

    def store(self, numbers: list[str], depth: int) -> None:
        self.lines.append(f"memref.store {self.draw.choice(numbers)}, %m[{self.bound()}] : memref<8xi32>")

    def store_condition(self, numbers: list[str], depth: int) -> None:
        self.lines.append(f"memref.store {self.condition()}, %q[] : memref<i1>")

    def yielding(self, numbers: list[str], results: int, depth: int, op: str = "scf.yield") -> None:
        inner = list(numbers)
        self.block(inner, depth + 1)
        values = [self.draw.choice(inner) for _ in range(results)]
        self.lines.append(f"{op} {', '.join(values)} : {', '.join(['i32'] * results)}" if results else op)

    def opened(self, results: int) -> tuple[str, str, list[str]]:
        """What stands before an op of so many results, its result types, and the results."""
        if not results:
            return "", "", []
        made = self.name()
        head = f"{made} = " if results == 1 else f"{made}:{results} = "
        names = [made] if results == 1 else [f"{made}#{i}" for i in range(results)]
        return head, f" -> ({', '.join(['i32'] * results)})", names

    def branch(self, numbers: list[str], depth: int) -> None:
        results = self.draw.choice([0, 0, 1, 2])
        head, types, made = self.opened(results)
        self.lines.append(f"{head}scf.if {self.condition()}{types} {{")
        self.yielding(numbers, results, depth)
        if results or self.draw.chance(0.5):
            self.lines.append("} else {")
            self.yielding(numbers, results, depth)
        self.lines.append("}")
        numbers.extend(made)

    def loop(self, numbers: list[str], depth: int) -> None:
        results = self.draw.choice([0, 1, 2])
        head, types, made = self.opened(results)
        carried = [self.name() for _ in range(results)]
        inits = ", ".join(f"{name} = {self.draw.choice(numbers)}" for name in carried)
        low, high = (self.bound(), self.bound())
        arguments = f" iter_args({inits}){types}" if results else ""
        self.lines.append(f"{head}scf.for {self.name()} = {low} to {high} step %k1{arguments} {{")
        self.yielding([*numbers, *carried], results, depth)
        self.lines.append("}")
        numbers.extend(made)

    def repeat(self, numbers: list[str], depth: int) -> None:
        """A `scf.while` that counts to three, and carries and forwards other numbers beside the count."""
        carried = [self.name() for _ in range(self.draw.randint(1, 3))]
        count, condition, made = carried[0], self.name(), self.name()
        inits = ", ".join(f"{name} = {self.draw.choice(numbers) if name != count else '%one'}" for name in carried)
        inner = [*numbers, *carried]
        outer, self.lines = self.lines, []
        self.block(inner, depth + 1)
        predicate = self.draw.choice(["slt", "slt", "ne", "ult"])
        self.lines.append(f"{condition} = arith.cmpi {predicate}, {count}, %three : i32")
        if self.draw.chance(0.3):
            self.lines.append(f"scf.if {condition} {{")
            self.yielding(inner, 0, depth + 1)
            self.lines.append("}")
        forwarded = [self.draw.choice([*inner, *carried, *carried]) for _ in range(self.draw.randint(0, 2))]
        place = self.draw.randint(0, len(forwarded))
        forwarded.insert(place, count)
        types = ", ".join(["i32"] * len(forwarded))
        self.lines.append(f"scf.condition({condition}) {', '.join(forwarded)} : {types}")
        arguments = [self.name() for _ in forwarded]
        self.lines.append("} do {\n^bb0(" + ", ".join(f"{name}: i32" for name in arguments) + "):")
        after = [*numbers, *arguments]
        self.block(after, depth + 1)
        if self.draw.chance(0.3):
            again = self.name()
            self.lines.append(f"{again} = arith.cmpi {predicate}, {arguments[place]}, %three : i32")
            self.lines.append(f"memref.store {again}, %q[] : memref<i1>")
        following = self.name()
        self.lines.append(f"{following} = arith.addi {arguments[place]}, %one : i32")
        values = [following, *(self.draw.choice([*after, *arguments]) for _ in carried[1:])]
        given = ", ".join(["i32"] * len(carried))
        self.lines.append(f"scf.yield {', '.join(values)} : {given}\n}}")
        results = f"{made}:{len(forwarded)}" if len(forwarded) > 1 else made
        self.lines = [*outer, f"{results} = scf.while ({inits}) : ({given}) -> ({types}) {{", *self.lines]
        numbers.extend([f"{made}#{i}" for i in range(len(forwarded))] if len(forwarded) > 1 else [made])

    def nest(self, numbers: list[str], depth: int) -> None:
        """A loop of two dimensions, or one in one."""
        first, second, high, few = self.name(), self.name(), self.bound(), self.draw.choice(["%k0", "%k1", "%k1"])
        kind = self.draw.choice(["forall", "parallel", "nested"])
        if kind == "forall":
            low = self.draw.choice(["0", "0", "%k0", "%n"])
            few = self.draw.choice([few, "1", "2"])
            self.lines.append(f"scf.forall ({first}, {second}) = ({low}, 0) to ({high}, {few}) step (1, %k1) {{")
        elif kind == "parallel":
            head = f"scf.parallel ({first}, {second}) = (%k0, %k0) to ({high}, {few}) step (%k1, %k1)"
            self.lines.append(f"{head} {{")
        else:
            low = self.draw.choice(["%k0", "%k0", first])
            self.lines.append(f"scf.parallel ({first}) = (%k0) to ({high}) step (%k1) {{")
            self.lines.append(f"scf.parallel ({second}) = ({low}) to ({few}) step (%k1) {{")
        inner = list(numbers)
        self.parallel += kind != "forall"
        self.block(inner, depth + 1)
        self.parallel -= kind != "forall"
        place = self.name()
        self.lines.append(f"{place} = arith.minui {self.draw.choice([first, second])}, %k4 : index")
        self.lines.append(f"memref.store {self.draw.choice(inner)}, %m[{place}] : memref<8xi32>")
        self.lines.append({"forall": "}", "parallel": "scf.reduce\n}", "nested": "scf.reduce\n}\nscf.reduce\n}"}[kind])

    def other(self, numbers: list[str], depth: int) -> None:
        results = self.draw.choice([0, 1])
        head, _, made = self.opened(results)
        types = " -> i32" if results else ""
        kind = self.draw.choice(["region", "region" if self.parallel else "blocks", "switch", "switch"])
        if kind == "switch":
            self.lines.append(f"{head}scf.index_switch {self.bound()}{types}")
            self.lines.append(f"case {self.draw.randint(0, 1)} {{")
            self.yielding(numbers, results, depth)
            self.lines.append("}\ndefault {")
        else:
            self.lines.append(f"{head}scf.execute_region{types} {{")
        inner = self.branching_off(numbers, results, depth) if kind == "blocks" else numbers
        self.yielding(inner, results, depth)
        self.lines.append("}")
        numbers.extend(made)

    def branching_off(self, numbers: list[str], results: int, depth: int) -> list[str]:
        """Blocks before the last one, which one of them leads to; the values in scope there."""
        inner, passed = list(numbers), self.name()
        self.block(inner, depth + 1)
        here, there = f"^b{passed[1:]}", f"^c{passed[1:]}"
        ways = [f"{here}({self.draw.choice(inner)} : i32)", there]
        self.draw.shuffle(ways)
        self.lines += [f"cf.cond_br {self.condition()}, {', '.join(ways)}", f"{here}({passed}: i32):"]
        if self.draw.chance(0.5):
            self.yielding([*inner, passed], results, depth)
        else:
            self.block([*inner, passed], depth + 1)
            self.lines.append(f"cf.br {there}")
        self.lines.append(f"{there}:")
        return inner


def structured(draw: Draw) -> str:
    """A function of nested conditions and loops."""
    body = Structured(draw)
    numbers = ["%x", "%y"]
    body.block(numbers, 0)
    body.block(numbers, 0)
    lines = "".join(f"  {line}\n" for line in body.lines)
    end = f"  return {draw.choice(numbers)}, {numbers[-1]} : i32, i32\n}}\n"
    return f"func.func @f({HEAD}) -> (i32, i32) {{\n{CONSTANTS}{lines}{end}"


def branching(draw: Draw) -> str:
    """A function of blocks, each of which takes a number and passes one on, to blocks behind it."""
    count = draw.randint(1, 6)
    lines = []
    for block in range(count + 1):
        numbers = ["%x", "%y", f"%b{block}"] if block else ["%x", "%y"]
        lines.append(f"^bb{block}(%b{block}: i32):" if block else CONSTANTS.rstrip())
        if draw.chance(0.4):
            lines.append(f"  %s{block} = arith.muli {draw.choice(numbers)}, {draw.choice(numbers)} : i32")
            numbers.append(f"%s{block}")
        if draw.chance(0.2):
            lines.append(f"  memref.store {draw.choice(['%c', '%d'])}, %q[] : memref<i1>")

        def target(block: int = block, numbers: list[str] = numbers) -> str:
            return f"^bb{draw.randint(block + 1, count)}({draw.choice(numbers)} : i32)"

        if block == count:
            lines.append(f"  return {draw.choice(numbers)} : i32")
        elif draw.chance(0.4):
            lines.append(f"  cf.br {target()}")
        elif draw.chance(0.2):
            flag = draw.choice(["%x", "%k"])
            if flag == "%k":
                lines.append(f"  %k{block}i = arith.constant {draw.randint(0, 2)} : i32")
                flag = f"%k{block}i"
            cases = "".join(f", {value}: {target()}" for value in range(draw.randint(0, 2)))
            lines.append(f"  cf.switch {flag} : i32, [default: {target()}{cases}]")
        else:
            lines.append(f"  cf.cond_br {draw.choice(['%c', '%c', '%d', '%t', '%f'])}, {target()}, {target()}")
    return f"func.func @f({HEAD}) -> i32 {{\n" + "\n".join(lines) + "\n}\n"

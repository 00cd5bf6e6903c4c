"""Drawn programs of loops and branches in each other, whose values go everywhere: carried, forwarded, stored, lost."""

from random import Random

from tests.runtime.planner.control_programs import INT, STATE, T, main

_OPS = ("addi", "subi", "muli", "xori", "maxsi")
_DEEPEST = 2


class _Drawn:
    def __init__(self, draw: Random, has_state: bool) -> None:
        self.draw, self.names, self.has_state = draw, 0, has_state

    def name(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def some(self, values: list[str], count: int) -> list[str]:
        return [self.draw.choice(values) for _ in range(count)]

    def body(self, values: list[str], numbers: list[str], depth: int) -> tuple[str, list[str]]:
        """Lines, and the values that are known behind them."""
        text, known = "", list(values)
        for _ in range(self.draw.randint(0, 4)):
            kind = self.draw.random()
            made, (a, b) = self.name(), self.some(known, 2)
            if kind < (0.6 if self.has_state else 0.77) or (kind >= 0.77 and depth > _DEEPEST):
                text += f"{made} = arith.{self.draw.choice(_OPS)} {a}, {b} : {T}\n"
                known.append(made)
            elif kind < 0.7:
                text += f"{made} = ml_program.global_load @v : {T}\n"
                known.append(made)
            elif kind < 0.77:
                text += f"ml_program.global_store @v = {a} : {T}\n"
            else:
                draw_one = self.loop if kind < 0.84 else self.counted if kind < 0.92 else self.branch
                lines, results = draw_one(known, numbers, depth + 1)
                text += lines
                known += results
        return text, known

    def branch(self, values: list[str], numbers: list[str], depth: int) -> tuple[str, list[str]]:
        count, made = self.draw.randint(1, 3), self.name()
        types, (a, b) = ", ".join([T] * count), self.some(numbers, 2)
        text = f"{made}c = arith.cmpi {self.draw.choice(('slt', 'sgt', 'eq'))}, {a}, {b} : {INT}\n"
        text += f"{made}b = tensor.extract {made}c[] : tensor<i1>\n{made}:{count} = scf.if {made}b -> ({types}) {{\n"
        for end in ("} else {", "}"):
            lines, known = self.body(values, numbers, depth)
            text += f"{lines}scf.yield {', '.join(self.some(known, count))} : {types}\n{end}\n"
        return text, [f"{made}#{number}" for number in range(count)]

    def counted(self, values: list[str], numbers: list[str], depth: int) -> tuple[str, list[str]]:
        """A loop with constant bounds of at most three iterations."""
        count, result, counter = self.draw.randint(1, 4), self.name(), self.name()
        kind = self.draw.choice(("index", "i32", "i64"))
        bounds = self.draw.choice(((0, 3, 1), (-3, 2, 2), (1, 2, 7), (2, 2, 1), (5, 1, 3)))
        arguments = [self.name() for _ in range(count)]
        lines, known = self.body(values + arguments, numbers, depth)
        begin = ", ".join(f"{a} = {b}" for a, b in zip(arguments, self.some(values, count), strict=True))
        types, typed = ", ".join([T] * count), "" if kind == "index" else f" : {kind}"
        text = "".join(
            f"{result}{name} = arith.constant {bound} : {kind}\n" for name, bound in zip("lus", bounds, strict=True)
        )
        text += f"{result}:{count} = scf.for {counter} = {result}l to {result}u step {result}s "
        text += f"iter_args({begin}) -> ({types}){typed} {{\n"
        text += f"{lines}scf.yield {', '.join(self.some(known, count))} : {types}\n}}\n"
        return text, [f"{result}#{number}" for number in range(count)]

    def loop(self, values: list[str], numbers: list[str], depth: int) -> tuple[str, list[str]]:
        """At most three rounds."""
        count, made, i, j = self.draw.randint(1, 4), self.name(), self.name(), self.name()
        before, after = ([self.name() for _ in range(count)] for _ in range(2))
        types, limit = ", ".join([INT, *[T] * count]), self.draw.choice(numbers)
        first, known = self.body(values + before, numbers, depth) if self.draw.random() < 0.5 else ("", values + before)
        forwarded = [self.draw.choice(known) if self.draw.random() < 0.4 else name for name in before]
        second, known = self.body(values + after, [*numbers, j], depth)
        yielded = self.some(after if self.draw.random() < 0.4 else known, count)
        begin = ", ".join(f"{a} = {b}" for a, b in zip(before, self.some(values, count), strict=True))
        text = f"""{made}:{count + 1} = scf.while ({i} = %zero, {begin}) : ({types}) -> ({types}) {{
          {first}{i}a = arith.cmpi slt, {i}, {limit} : {INT}
          {i}b = arith.cmpi slt, {i}, %three : {INT}
          {i}c = arith.andi {i}a, {i}b : tensor<i1>
          {i}d = tensor.extract {i}c[] : tensor<i1>
          scf.condition({i}d) {", ".join([i, *forwarded])} : {types}
        }} do {{
        ^bb0({", ".join([f"{j}: {INT}", *(f"{name}: {T}" for name in after)])}):
          {second}{j}n = arith.addi {j}, %one : {INT}
          scf.yield {", ".join([f"{j}n", *yielded])} : {types}
        }}
        """
        return text, [f"{made}#{number + 1}" for number in range(count)]


def control(draw: Random, has_state: bool = False) -> str:
    """A program with a loop, and what else is drawn around and in it."""
    drawn, numbers = _Drawn(draw, has_state), ["%n", "%one"]
    first, known = drawn.body(["%x", "%y"], numbers, 0)
    second, results = drawn.loop(known, numbers, 0)
    third, known = drawn.body(known + results, numbers, 0)
    constants = "".join(f"%{name} = arith.constant dense<{n}> : {INT}\n" for name, n in {"one": 1, "three": 3}.items())
    returned = drawn.some(known, draw.randint(1, 3))
    types = ", ".join([T] * len(returned))
    return main(constants + first + second + third, ", ".join(returned), types, STATE if has_state else "")

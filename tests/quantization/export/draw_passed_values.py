"""Random programs of quantized kernels between casts, whose float values pass through control flow."""

from tests.ir.passes.draw_quantized_moves import Program, Step, select

FLOATS = "tensor<4xf32>"
TYPES = ("!quant.uniform<i8:f32, 0.1:3>", "!quant.uniform<u8:f32, 0.05:7>")


class PassedValuesProgram(Program):
    """A program as export leaves it before values are carried: `%a0` and `%a1` are float arguments of `@f`."""

    def draw_types(self) -> list[str]:
        return [FLOATS]

    def plain_steps(self) -> list[Step]:
        return [*9 * [_kernel], *2 * [_rounded], *4 * [_read], *2 * [select]]


def _storage(element: str) -> str:
    return FLOATS.replace("f32", element)


def _type(program: Program) -> str:
    return TYPES[program.rng.random() < 0.15]


def _kernel(program: Program) -> None:
    """A sum of quantized values, whose result is dequantized."""
    element = _storage(_type(program))
    casts = [f"quant.qcast {program.pick(FLOATS)} : {FLOATS} to {element}" for _ in range(2)]
    first, second = map(program.hidden, casts)
    total = program.hidden(f"qrt.add {first}, {second} : ({element}, {element}) -> {element}")
    program.value(f"quant.dcast {total} : {element} to {FLOATS}", FLOATS)


def _rounded(program: Program) -> None:
    element = _storage(_type(program))
    stored = program.hidden(f"quant.qcast {program.pick(FLOATS)} : {FLOATS} to {element}")
    program.value(f"quant.dcast {stored} : {element} to {FLOATS}", FLOATS)


def _read(program: Program) -> None:
    program.value(f"math.sin {program.pick(FLOATS)} : {FLOATS}", FLOATS)

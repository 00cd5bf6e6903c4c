"""Reading, verifying, printing and lowering programs, and the memory they take; large decimal constants."""

import tracemalloc

import numpy as np
import pytest

from qrt import ir
from qrt.ir import run_passes

OPERATIONS = 10_000
ELEMENTS = 1_000_000
BYTES_PER_OPERATION = 2048


def casts(count: int = OPERATIONS) -> str:
    quantized = "tensor<4x!quant.uniform<i8:f32, 0.5:3>>"
    lines = ["func.func @f(%v0: tensor<4xf32>) -> tensor<4xf32> {"]
    for n in range(0, count, 2):
        lines.append(f"  %q{n} = quant.qcast %v{n} : tensor<4xf32> to {quantized}")
        lines.append(f"  %v{n + 2} = quant.dcast %q{n} : {quantized} to tensor<4xf32>")
    return "\n".join([*lines, f"  return %v{count} : tensor<4xf32>", "}"])


def kernels() -> str:
    t = "tensor<4x4x!quant.uniform<i8:f32, 0.5:3>>"
    lines = [f"func.func @f(%v0: {t}, %w: {t}) -> {t} {{"]
    for n in range(OPERATIONS):
        lines.append(f'  %v{n + 1} = qrt.matmul %v{n}, %w {{requant = "fixed"}} : ({t}, {t}) -> {t}')
    return "\n".join([*lines, f"  return %v{OPERATIONS} : {t}", "}"])


def distinct() -> str:
    lines = ["func.func @f(%x: tensor<4xf32>) {"]
    for n in range(OPERATIONS):
        lines.append(f"  %{n} = quant.qcast %x : tensor<4xf32> to tensor<4x!quant.uniform<i8:f32, {n + 1}.5>>")
    return "\n".join([*lines, "  return", "}"])


PROGRAMS = {
    "casts": casts(),
    "kernels": kernels(),
    "a type per op": distinct(),
    "generic": ir.parse(casts()).print(generic=True),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_parse_and_verify_10_000_ops(benchmark, name):
    def read():
        module = ir.parse(PROGRAMS[name])
        module.verify()
        return module

    assert len(benchmark(read).function("f").regions[0].blocks[0].operations) == OPERATIONS + 1


@pytest.mark.parametrize("name", PROGRAMS)
def test_memory_per_op(benchmark, report, name):
    """Report the bytes of a module without its text, and the peak while it is read and verified."""
    text = PROGRAMS[name].replace(".5>>", ".25>>")  # types that no other measurement has made

    def measure():
        tracemalloc.start()
        try:
            module = ir.parse(text)
            module.verify()
            return [size / OPERATIONS for size in tracemalloc.get_traced_memory()]
        finally:
            tracemalloc.stop()

    held, peak = benchmark.pedantic(measure, rounds=1)
    report(f"{name}: {held:.0f} bytes per op held, {peak:.0f} at most")
    assert peak <= BYTES_PER_OPERATION


def test_lower_1_000_casts(benchmark):
    def setup():
        return (ir.parse(casts(1_000)), "lower-quant-ops"), {}

    benchmark.pedantic(run_passes, setup=setup, rounds=20)


def test_print_10_000_ops(benchmark):
    module = ir.parse(PROGRAMS["casts"])
    assert benchmark(lambda: str(module)).count("quant.qcast") == OPERATIONS // 2


@pytest.mark.parametrize(
    ("shape", "bits"), [((ELEMENTS,), 8), ((1000, 10, 100), 8), ((ELEMENTS,), 32)], ids=["i8", "nested i8", "i32"]
)
def test_parse_a_decimal_constant_of_1m_integers(benchmark, shape, bits):
    values = np.random.default_rng(0).integers(-(1 << (bits - 1)), 1 << (bits - 1), shape)
    kind = f"tensor<{'x'.join(map(str, shape))}xi{bits}>"
    text = f"%0 = arith.constant dense<{values.tolist()}> : {kind}"
    constant = next(iter(benchmark(ir.parse, text).body))
    assert (constant.attributes["value"].array == values).all()

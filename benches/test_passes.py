"""Passes on 1,000 casts."""

import pytest

from qrt import ir
from qrt.ir import run_passes
from qrt.ir.passes.lower_quant_ops import LowerQuantOps

CASTS = 1_000
CONTAINERS = {"per layer": "tensor<?x4x{}>", "per axis": "tensor<?x4x{}>", "unranked": "tensor<*x{}>", "scalar": "{}"}


def program(kind: str) -> str:
    """Pairs of casts, each pair with a type of its own."""
    lines = []
    container = CONTAINERS[kind]
    for n in range(0, CASTS, 2):
        scales = f":1, {{{n + 1}.5:3, 2.0, 3.0, 4.0:{n % 100}}}" if kind == "per axis" else f", {n + 1}.5:3"
        source, result = container.format("f32"), container.format(f"!quant.uniform<i8:f32{scales}>")
        lines += [
            f"  %{n} = quant.qcast %x : {source} to {result}",
            f"  %{n + 1} = quant.dcast %{n} : {result} to {source}",
        ]
    return "\n".join([f"func.func @f(%x: {container.format('f32')}) {{", *lines, "  return", "}"])


@pytest.mark.benchmark(disable_gc=True)  # as run_passes does
@pytest.mark.parametrize("kind", CONTAINERS)
@pytest.mark.parametrize("strict_upstream", [False, True], ids=["saturating", "upstream"])
def test_lower_1_000_casts(benchmark, kind, strict_upstream):
    text = program(kind)

    lower = LowerQuantOps(**(LowerQuantOps.UPSTREAM if strict_upstream else {}))
    modules = []

    def fresh():
        modules.append(ir.parse(text))
        return modules[-1:], {}

    benchmark.pedantic(lower.run, setup=fresh, rounds=10)
    assert not any(operation.name in ("quant.qcast", "quant.dcast") for operation in modules[-1].operation.walk())


@pytest.mark.parametrize("name", ["canonicalize", "cse", "strip-func-quant-types", "normalize-quant-types"])
def test_pass_on_1_000_casts(benchmark, name):
    text = program("per layer")
    module = benchmark.pedantic(run_passes, setup=lambda: ((ir.parse(text), name), {}), rounds=10)
    module.verify()

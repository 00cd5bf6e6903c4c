"""Raising of integer programs, and the comparison of the raised program with the one before it in the interpreter."""

from collections.abc import Sequence

import numpy as np

from qrt.errors import Diagnostic
from qrt.ir import Module, parse
from qrt.ir.passes.raise_to_qrt import RaiseToQrt
from qrt.ir.remarks import remarks_to
from qrt.runtime.compilation import compile
from qrt.types import IntegerType, TensorType
from tests.ops.harness import Array

REMARK = "op is not raised to a kernel: "


def raised(module: Module) -> list[str]:
    """Raise a module in place, and return the conditions that its remarks name."""
    remarks: list[Diagnostic] = []
    with remarks_to(remarks.append):
        RaiseToQrt().run(module)
    module.verify()
    return [remark.message.partition(REMARK)[2] for remark in remarks]


def kernels(module: Module) -> list[str]:
    return [op.name for op in module.operation.walk() if op.name.startswith("qrt.")]


def results(module: Module, arrays: Sequence[Array], interpret: bool) -> list[Array]:
    program = compile(module)
    inputs = {port.name: array for port, array in zip(program.inputs, arrays, strict=True)}
    return [np.asarray(value) for value in program.run(inputs, interpret=interpret).values()]


def drawn_arguments(module: Module, seed: int) -> list[Array]:
    """Return storage of all integers of the types of a module's function."""
    rng = np.random.default_rng(seed)
    arrays = []
    for argument in module.functions[0].regions[0].blocks[0].arguments:
        t = argument.type
        assert isinstance(t, TensorType)
        assert isinstance(t.element, IntegerType)
        width = t.element.width
        small = min(width, 20)  # sums of longer integers overflow
        values = rng.integers(-(1 << (small - 1)), 1 << (small - 1), [size or 0 for size in t.shape or ()])
        arrays.append(values.astype(f"i{width // 8}"))
    return arrays


def check_raised(text: str, names: Sequence[str], seeds: Sequence[int] = (1, 2)) -> Module:
    """Assert that a program is raised to these ops, without loops, and computes the same bits; return it raised."""
    before, module = parse(text), parse(text)
    assert raised(module) == []
    assert kernels(module) == list(names)
    assert not any(op.name.startswith(("linalg.", "affine.")) for op in module.operation.walk()), str(module)
    check_same(before, module, seeds)
    return module


def check_same(before: Module, module: Module, seeds: Sequence[int] = (1, 2)) -> None:
    """Assert that two modules compute the same bits, the second one also as a planned program."""
    for seed in seeds:
        arrays = drawn_arguments(before, seed)
        expected = results(before, arrays, interpret=True)
        for interpret in (True, False):
            for value, wanted in zip(results(module, arrays, interpret), expected, strict=True):
                np.testing.assert_array_equal(value, wanted, err_msg=str(module))

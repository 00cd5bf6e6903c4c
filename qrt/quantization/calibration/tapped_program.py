"""Programs that tell values while they run, and go on with others where they are told so."""

from collections.abc import Mapping

from qrt.ir import Builder, Module, Operation, StringAttr, UnitAttr, Value
from qrt.ir.core.matching import acyclic_operations
from qrt.ir.core.operations import garbage_uncollected
from qrt.ir.dialects.quant.annotations import IDENTITIES
from qrt.ir.passes.dce import DeadCodeElimination
from qrt.ir.passes.inline import Inline
from qrt.ir.passes.planned import OBSERVED, REPLACED
from qrt.ir.rewriting.rewrite import replace
from qrt.runtime.plan_source import ModuleSource
from qrt.runtime.program import Program

_NAME = "statsKey"


def flattened(module: Module, name: str) -> Module:
    """A copy without annotations, with the bodies of functions in place of calls in the function of that name, and
    without what nothing reads."""
    with garbage_uncollected():
        copy = Module(module.operation.clone({}), module.upstream)
        for op in [op for op in acyclic_operations(copy.operation) if op.name in IDENTITIES]:
            replace(op, op.operands)
        Inline(entry=name, canonicalize=False, remove_unused=False).run(copy)
        DeadCodeElimination().run(copy)
    return copy


def tapped_program(module: Module, function: str, taps: Mapping[Value, str]) -> Program:
    """Plan a function so that ``run_arrays`` tells values by names. The module is changed.

    The tap is given each value with an op, of which ``name_of`` is the name. The run goes on with what it returns, if
    that is not None. Quantized values are given as they are stored.

    >>> import numpy as np
    >>> from qrt import ir
    >>> module = ir.parse("func.func @f(%x: tensor<1xf32>) -> tensor<1xf32> { return %x : tensor<1xf32> }")
    >>> argument = module.functions[0].regions[0].blocks[0].arguments[0]
    >>> program = tapped_program(module, "f", {argument: "x"})
    >>> program.run_arrays(program.arrays_of({"arg0": np.float32([1])}), tap=lambda op, value: value + 1)
    [array([2.], dtype=float32)]
    """
    source = ModuleSource(module, function, is_observed=True)
    for value, name in taps.items():
        attributes = {_NAME: StringAttr(name), REPLACED: UnitAttr()}
        tap = Builder.after(value).emit(OBSERVED, (value,), (value.type,), attributes)
        value.replace_all_uses(tap.results[0])
        tap.set_operand(0, value)
    return Program(source)


def name_of(tap: Operation) -> str:
    """The name of the value that a tap tells."""
    return str(tap.attributes[_NAME].python)

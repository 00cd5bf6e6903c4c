"""What a fold computes of constants is what the interpreter computes of them, and an error of it stays one."""

import numpy as np

from qrt.errors import QuantError
from qrt.ir import Attribute, Operation, Value, parse
from qrt.ir.constants import attribute_array
from qrt.ir.core.matching import constant_of
from qrt.runtime.interpreter import TABLES
from qrt.runtime.interpreter.core import Compiler, ModuleCode, Run
from qrt.runtime.values import of_rank
from tests.ir.passes.values.runs import bits

_MODULE = ModuleCode(parse(""), TABLES, saturating=False)


def wrong_constant(operation: Operation, made: "list[Value | Attribute] | None") -> str:
    """What is wrong about the constants that an operation on constants folds to; nothing of one that does not run."""
    constants = [constant_of(value) for value in operation.operands]
    if made is None or None in constants or operation.regions:
        return ""
    folded_to = [each if isinstance(each, Attribute) else constant_of(each) for each in made]
    if None in folded_to:
        return ""
    compiler = Compiler(_MODULE)
    try:
        steps = compiler.steps([operation])
        known = {value: _array(value, constant) for value, constant in zip(operation.operands, constants, strict=True)}
        folded = [_array(result, constant) for result, constant in zip(operation.results, folded_to, strict=True)]
    except QuantError:
        return ""
    frame = compiler.template.copy()
    frame[0] = Run(10)
    for value, array in known.items():
        frame[compiler.slot(value)] = of_rank(array, value.type)
    try:
        with np.errstate(all="ignore"):
            for step in steps:
                step(frame)
    except QuantError as error:
        return f"folds what is an error: {error}"
    computed = [frame[compiler.slot(result)] for result in operation.results]
    if [bits(value) for value in computed] == [bits(value) for value in folded]:
        return ""
    return f"{operation.name} folds to {folded}, and computes {computed}"


def _array(value: Value, constant: Attribute | None):
    return attribute_array(constant, value.type)

"""Handlers of ``ml_program``. The array of a global is kept in the program's state from run to run.

Loads and stores copy, so that no other value shares the array of a global.
"""

import numpy as np

from qrt.errors import QuantError, UndefinedError
from qrt.ir import DenseElementsAttr, DenseResourceAttr, FloatAttr, IntegerAttr, Operation
from qrt.ir.constants import attribute_array
from qrt.ir.dialects.ml_program.ops import global_of, global_type
from qrt.ops.core import Array
from qrt.runtime.interpreter.core import Builder, Compiler, Frame, Function, Handler, Step, raise_located
from qrt.runtime.values import RUN, as_tensor, of_rank, store
from qrt.types import TensorType


def named_global(op: Operation) -> Operation:
    """Return the `ml_program.global` that a load or store names."""
    global_op = global_of(op)
    assert global_op is not None
    return global_op


def initial_array(op: Operation) -> Array | None:
    """Return the initial array of the global that an op names; None if the global has no initial value.

    Raise QuantError if the initial value's type is not the global's type, which the verifier allows, or if the
    interpreter does not support the type.
    """
    declared, value = global_type(op), op.attributes.get("value")
    if not isinstance(declared, RUN):
        raise QuantError(f"the interpreter does not support a global of type {declared}")
    if value is None:
        return None
    wanted = as_tensor(declared)
    if not isinstance(value, DenseElementsAttr | DenseResourceAttr | IntegerAttr | FloatAttr):
        raise QuantError(f"the interpreter does not support the initial value {value} of a global")
    given = as_tensor(value.type)
    is_of_kind = isinstance(value.type, TensorType) == isinstance(declared, TensorType)
    if not is_of_kind or given.element is not wanted.element or not _is_of(given, wanted):
        raise QuantError(f"the initial value of the global must have the type {declared}, got {value.type}")
    array = attribute_array(value, value.type)
    array.flags.writeable = False
    return array


def _is_of(given: TensorType, wanted: TensorType) -> bool:
    """Return True if a static shape matches the shape ``wanted``, whose dimensions and rank may be dynamic."""
    if given.shape is None or wanted.shape is None:
        return wanted.shape is None
    same_rank = len(given.shape) == len(wanted.shape)
    return same_rank and all(w in (None, g) for g, w in zip(given.shape, wanted.shape, strict=True))


def _load(op: Operation, compiler: Compiler) -> Step:
    named = named_global(op)
    initial, name, declared = initial_array(named), str(named.attributes["sym_name"].python), global_type(named)
    slot = compiler.slot(op.results[0])

    def step(frame: Frame) -> None:
        array = frame[0].state.get(name, initial)
        if array is None:
            raise_located(op, UndefinedError(f"loads the global @{name} before a value is stored in it"))
        frame[slot] = of_rank(array.copy(), declared)

    return step


def _load_const(op: Operation, compiler: Compiler) -> Function:
    array, declared = initial_array(named_global(op)), global_type(named_global(op))
    assert array is not None  # an immutable global has a value
    return lambda: of_rank(array, declared)


def _store(op: Operation, compiler: Compiler) -> Step:
    name, slot = str(named_global(op).attributes["sym_name"].python), compiler.slot(op.operands[0])

    def step(frame: Frame) -> None:
        store(frame[0].state, name, np.asarray(frame[slot]))

    return step


HANDLERS: dict[str, Handler] = {"ml_program.global_load_const": _load_const}
STRUCTURED: dict[str, Builder] = {"ml_program.global_load": _load, "ml_program.global_store": _store}

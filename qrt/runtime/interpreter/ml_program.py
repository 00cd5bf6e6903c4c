"""``ml_program``: globals keep their arrays in the state of the run, which outlives it. A load and a store copy, so
that nobody else holds the array of a global.
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


def found_global(op: Operation) -> Operation:
    """The global that a verified op names."""
    found = global_of(op)
    assert found is not None
    return found


def initial_array(op: Operation) -> Array | None:
    """The array with which a global begins; None where it has no value yet. Raises QuantError for a value that is not
    of its type, which the verifier allows, and for types that do not run.
    """
    declared, value = global_type(op), op.attributes.get("value")
    if not isinstance(declared, RUN):
        raise QuantError(f"names a global of type {declared}, which the interpreter does not support")
    if value is None:
        return None
    wanted = as_tensor(declared)
    if not isinstance(value, DenseElementsAttr | DenseResourceAttr | IntegerAttr | FloatAttr):
        raise QuantError(f"names a global whose initial value {value} is not supported")
    given = as_tensor(value.type)
    is_of_kind = isinstance(value.type, TensorType) == isinstance(declared, TensorType)
    if not is_of_kind or given.element is not wanted.element or not _is_of(given, wanted):
        raise QuantError(f"names a global of type {declared}, whose value is of type {value.type}")
    array = attribute_array(value, value.type)
    array.flags.writeable = False
    return array


def _is_of(given: TensorType, wanted: TensorType) -> bool:
    """Whether a static shape is one that a type leaves open, or its own."""
    if given.shape is None or wanted.shape is None:
        return wanted.shape is None
    same_rank = len(given.shape) == len(wanted.shape)
    return same_rank and all(w in (None, g) for g, w in zip(given.shape, wanted.shape, strict=True))


def _load(op: Operation, compiler: Compiler) -> Step:
    found = found_global(op)
    initial, name, declared = initial_array(found), str(found.attributes["sym_name"].python), global_type(found)
    slot = compiler.slot(op.results[0])

    def step(frame: Frame) -> None:
        array = frame[0].state.get(name, initial)
        if array is None:
            raise_located(op, UndefinedError(f"reads @{name} before it is set"))
        frame[slot] = of_rank(array.copy(), declared)

    return step


def _load_const(op: Operation, compiler: Compiler) -> Function:
    array, declared = initial_array(found_global(op)), global_type(found_global(op))
    assert array is not None  # an immutable global has a value
    return lambda: of_rank(array, declared)


def _store(op: Operation, compiler: Compiler) -> Step:
    name, slot = str(found_global(op).attributes["sym_name"].python), compiler.slot(op.operands[0])

    def step(frame: Frame) -> None:
        store(frame[0].state, name, np.asarray(frame[slot]))

    return step


HANDLERS: dict[str, Handler] = {"ml_program.global_load_const": _load_const}
STRUCTURED: dict[str, Builder] = {"ml_program.global_load": _load, "ml_program.global_store": _store}

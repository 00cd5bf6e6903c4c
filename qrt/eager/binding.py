"""Calls of op families, bound to types, shapes and attributes: how a function's call is made once and found again."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Generic, ParamSpec, TypeVar, get_args

import numpy as np

from qrt.eager import calls
from qrt.errors import QuantTypeError, shown
from qrt.ops import FAMILIES
from qrt.ops.core import Array, BoundCall
from qrt.types import TensorType, UniformType

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, eq=False, slots=True)
class Constant:
    """Storage that never changes; told apart by identity."""

    storage: Array


def bind_family(
    name: str,
    types: tuple[TensorType, ...],
    attributes: tuple[tuple[str, Any], ...],
    kinds: Any,
    out_type: UniformType | None,
    isa: str,
    constants: tuple[tuple[int, Constant], ...] = (),
) -> tuple[TensorType, BoundCall]:
    """(result type, call). ``kinds`` tells attributes apart that are equal: True, 1 and 1.0."""
    family = FAMILIES[name]
    complete = family.complete(dict(attributes))
    if out_type is not None and not isinstance(out_type, UniformType):
        raise QuantTypeError(f"{name}: out_type must be a !quant.uniform type, got {shown(out_type)}")
    declared = None if out_type is None else TensorType(None, out_type)
    result = family.resolve(types, complete, declared)
    return result, family.call(types, result, complete, {i: c.storage for i, c in constants})[0]


bound_family = lru_cache(maxsize=1024)(bind_family)


def kinds_of(value: Any) -> Any:
    return tuple(map(kinds_of, value)) if isinstance(value, tuple) else value.__class__


@lru_cache(maxsize=1024)
def bound_cast(name: str, t: TensorType, attributes: tuple[tuple[str, str], ...], isa: str) -> BoundCall:
    """A cast of a tensor of quantized type ``t``, to it (qcast) or from it (dcast)."""
    family = FAMILIES[name]
    assert isinstance(t.element, UniformType)
    plain = TensorType(t.shape, t.element.expressed_type)
    source, result = (plain, t) if name == "qcast" else (t, plain)
    complete = family.complete(dict(attributes))
    return family.call((source,), family.resolve((source,), complete, result), complete)[0]


@dataclass(slots=True)
class Bound(Generic[R]):
    """A call with the arrays it reads and the one it writes, and what makes the result of that."""

    call: BoundCall
    inputs: tuple[Array, ...]
    storage: Array
    result: Callable[[], R]

    def run(self) -> R:
        self.call(*self.inputs, self.storage)
        return self.result()


def into(out: Array | None, bound: Bound[Array]) -> Bound[Array]:
    """The call with its result in ``out``, if given, which may overlap what it reads."""
    if out is None:
        return bound
    fresh, name = bound.storage, getattr(bound.call, "name", "the op")
    if not (isinstance(out, np.ndarray) and out.flags.writeable):
        raise QuantTypeError(f"{name}: out must be a writable array")
    if out.shape != fresh.shape or out.dtype != fresh.dtype:
        wanted = f"shape {fresh.shape} and dtype {fresh.dtype}"
        raise QuantTypeError(f"{name}: out must have {wanted}, got {out.shape} and {out.dtype}")
    if out.flags.carray and not any(np.may_share_memory(out, array) for array in bound.inputs):
        return replace(bound, storage=out, result=lambda: out)

    def copied() -> Array:
        out[...] = fresh
        return out

    return replace(bound, result=copied)


def eager(bind: Callable[P, Bound[R]]) -> Callable[P, R]:
    """A function that runs what ``bind`` makes of its arguments. Called again with such arguments, it finds the call in
    ``calls`` and ``bind`` does not run: so ``bind`` may ask arrays for types and shapes, never for values, and passes
    its operands on in the order of its parameters."""
    bind.__annotations__["return"] = get_args(bind.__annotations__["return"])[0]  # what callers get
    return calls.Function(bind)

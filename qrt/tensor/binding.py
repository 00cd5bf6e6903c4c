"""Eager calls: an op family bound to the types of tensors, run on their arrays."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, ParamSpec, TypeVar, get_args

import numpy as np

import qrt.kernels as kernels
from qrt.errors import QuantTypeError, shown
from qrt.ops import FAMILIES
from qrt.ops.core import Array, Constants, KernelCall, Shape, element_dtype, static_shape
from qrt.tensor.calls import CallCache, Function, Tensor, call_cache, tensor_of
from qrt.tensor.docstrings import complete_docstring
from qrt.tensor.storage import constant_of, is_packed, operand, pack
from qrt.types import FloatType, TensorType, UniformType, parse_type

F32 = FloatType("f32")
P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class FamilyCall:
    """The kernel call of an op, such as matmul, for operands of given types; the call cache stores it.

    ``reads`` has the indices of the operands that the call takes, in this order. The call contains the other operands
    as constants.
    """

    name: str
    call: KernelCall
    reads: tuple[int, ...]
    result: TensorType
    shape: Shape
    dtype: np.dtype[Any]
    is_in_place: bool
    """True if the call reads and writes the tensors' memory as it is, because no bits are packed."""


@dataclass(slots=True)
class EagerCall(Generic[R]):
    """One call of an op family: the kernel call, and the arrays that it reads and writes.

    ``out`` is the array for the result; None means a new array. ``out`` may overlap the arrays that are read. The
    family call will be stored in ``cache`` under ``key``. The key is None for a call that will not be stored, because
    it was found in the cache or must not be cached.
    """

    family_call: FamilyCall
    inputs: tuple[Array, ...]
    out: Any
    cache: CallCache
    key: tuple[Any, ...] | None

    def run(self) -> R:
        family_call, element = self.family_call, self.family_call.result.element
        memory = None if self.out is None else self._memory()
        data = np.empty(family_call.shape, family_call.dtype)
        family_call.call(*self.inputs, data)
        if isinstance(element, UniformType):
            data = pack(data, element)
        if memory is not None:
            memory[...] = data
            return self.out  # type: ignore[no-any-return]  # R is the class of the family's results
        return tensor_of(data, element, family_call.shape) if isinstance(element, UniformType) else data  # type: ignore[return-value]

    def of_values(self) -> "EagerCall[R]":
        """Return a copy that will not be cached, because values in the arguments determined what was bound."""
        return replace(self, family_call=replace(self.family_call, is_in_place=False), key=None)

    def _memory(self) -> Array:
        """Return the memory of ``out`` after checking that ``out`` has the result's type and is writeable."""
        out, family_call, name = self.out, self.family_call, self.family_call.name
        if isinstance(family_call.result.element, UniformType):
            if out.tensor_type != family_call.result:
                raise QuantTypeError(
                    f"{name}: 'out' must have the result's type {family_call.result}, got {out.tensor_type}"
                )
            if not out._data.flags.writeable:
                raise QuantTypeError(f"{name}: 'out' must be writable, got a read-only tensor")
            return out._data  # type: ignore[no-any-return]
        if not (isinstance(out, np.ndarray) and out.flags.writeable):
            raise QuantTypeError(
                f"{name}: 'out' must be a writable array, got "
                f"{'a read-only array' if isinstance(out, np.ndarray) else shown(out)}"
            )
        if out.shape != family_call.shape or out.dtype != family_call.dtype:
            wanted = f"shape {family_call.shape} and dtype {family_call.dtype}"
            raise QuantTypeError(f"{name}: 'out' must have {wanted}, got shape {out.shape} and dtype {out.dtype}")
        return out


def eager(bind: Callable[P, EagerCall[R]]) -> Callable[P, R]:
    """Return the public function that binds its arguments by ``bind`` and runs the call.

    For arguments of the same types, shapes and attributes the function finds the call in the `CallCache` and does not
    run ``bind``, so ``bind`` must not depend on the values in arrays. The first parameters of ``bind`` must be the
    family's operands, in the order of the family.
    """
    complete_docstring(bind)
    bind.__annotations__["return"] = get_args(bind.__annotations__["return"])[0]  # what callers get
    return Function(bind)


def bind(
    name: str,
    operands: Sequence[Tensor],
    attributes: Mapping[str, Any],
    out_type: UniformType | str | None,
    out: Tensor | None,
) -> EagerCall[Any]:
    """Bind an op family to quantized tensors.

    The type of the result is ``out_type``; if that is None, the type of ``out``; else the family infers it.
    """
    for i, q in enumerate(operands):
        if not isinstance(q, Tensor):
            require_tensor(q, f"{name}: {FAMILIES[name].declaration.operand_name(i)}")
    if out is not None:
        require_tensor(out, f"{name}: out")
        out_type = out.type if out_type is None else out_type
    return bind_arrays(name, operands, attributes, out_type, out)


def bind_arrays(
    name: str,
    operands: Sequence[Tensor | Array],
    attributes: Mapping[str, Any],
    out_type: UniformType | str | None,
    out: Tensor | Array | None,
    element: FloatType = F32,
) -> EagerCall[Any]:
    """Bind an op family to quantized tensors and arrays of ``element``. The result may be an array, too.

    If the family packs an operand that is a `PackedTensor`, this tensor becomes a constant of the call. The call is
    then stored in the cache of the `PackedTensor`.
    """
    declared = None if out_type is None else uniform_type(out_type, f"{name}: 'out_type'")
    key = tuple(sorted(attributes.items()))
    types = tuple([x.tensor_type if isinstance(x, Tensor) else TensorType(x.shape, element) for x in operands])
    packs = FAMILIES[name].packs
    packed = {i: x for i, x in enumerate(operands) if i in packs and isinstance(x, Tensor) and x._cache is not None}
    cache = packed[min(packed)]._cache if packed else call_cache
    words = name, types, key, declared, tuple([(i, x._cache.number) for i, x in packed.items()]), kernels.active()
    family_call: FamilyCall | None = cache.get(words)
    is_kept = family_call is not None
    if family_call is None:
        require_hashable(name, key)
        family_call = bind_family(name, types, attributes, declared, {i: constant_of(x) for i, x in packed.items()})
    inputs = tuple([operand(operands[i]) for i in family_call.reads])
    return EagerCall(family_call, inputs, out, cache, None if is_kept else words)


def uniform_type(given: object, what: str) -> UniformType:
    """Return a quantized type, given as a type or as text; ``what`` names the argument in the error."""
    t = parse_type(given) if isinstance(given, str) and given.lstrip().startswith("!") else given
    if isinstance(t, UniformType):
        return t
    raise QuantTypeError(
        f"{what} must be a !quant.uniform type, got {shown(given)}: give one such as "
        'qrt.UniformType("i8", "f32", 0.5), or the type that qrt.quantize(x, bits=8) chooses'
    )


def bind_family(
    name: str,
    types: tuple[TensorType, ...],
    attributes: Mapping[str, Any],
    out_type: UniformType | None,
    constants: Constants,
) -> FamilyCall:
    family = FAMILIES[name]
    complete = family.complete(attributes)
    result = family.resolve(types, complete, None if out_type is None else TensorType(None, out_type))
    call, _ = family.call(types, result, complete, constants)
    reads = tuple([i for i in range(len(types)) if i not in constants])
    elements = [types[i].element for i in reads] + [result.element]
    is_in_place = not any(map(is_packed, elements))
    shape, dtype = static_shape(result, name), element_dtype(result.element)
    return FamilyCall(name, call, reads, result, shape, dtype, is_in_place)


def require_tensor(q: object, what: str) -> None:
    """Raise QuantTypeError unless ``q`` is a QuantTensor; ``what`` names it in the error."""
    if isinstance(q, Tensor):
        return
    family, _, argument = what.partition(": ")
    hint = ""
    if argument == "out":
        hint = ": give a tensor of the result's type and shape, or omit out=..."
    elif argument == "bias":
        hint = f": qrt.quantize(bias, qrt.bias_type({FAMILIES[family].declaration.operand_name(0)}, w)) makes one"
    elif argument.isidentifier():
        hint = f": qrt.quantize({argument}, bits=8) makes one"
    named = f"{family}: {argument!r}" if argument.isidentifier() else what
    raise QuantTypeError(f"{named} must be a QuantTensor, got {shown(q)}{hint if _holds_numbers(q) else ''}")


def _holds_numbers(x: object) -> bool:
    """Return True for a float, or an array or list of real numbers, for which errors advise ``qrt.quantize``."""
    try:
        return isinstance(x, (np.ndarray, list, float)) and np.asarray(x).dtype.kind in "iuf"
    except (TypeError, ValueError):
        return False


def require_hashable(name: str, attributes: Iterable[tuple[str, object]]) -> None:
    """Raise QuantTypeError for attributes that cannot be part of a cache key, such as lists and arrays."""
    for attribute, value in attributes:
        try:
            hash(value)
        except TypeError:
            raise QuantTypeError(
                f"{name}: {attribute!r} must not be a {type(value).__name__}, got {shown(value)}"
            ) from None

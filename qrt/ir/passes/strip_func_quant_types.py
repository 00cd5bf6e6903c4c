"""Removal of quantized types from function signatures."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from qrt.errors import QuantTypeError
from qrt.ir import Builder, Module, Operation, TypeAttr, Value
from qrt.ir.core.constraints import with_element
from qrt.ir.core.folding import UPSTREAM_FOLDS, Folds
from qrt.ir.core.functions import FuncOp
from qrt.ir.core.traits import COMMUTATIVE
from qrt.ir.dialects.quant.ops import element_of
from qrt.ir.passes.options import option
from qrt.ir.rewriting.rewrite import constants_last, fold_at_once
from qrt.types import AnyQuantizedType, CalibratedType, FunctionType, TensorType, Type, UniformType, check_integrity

_BOUNDARY = ("func.return", "func.call")


@dataclass(frozen=True)
class StripFuncQuantTypes:
    """Replaces quantized types by their storage integers in the types of functions, calls and returns.

    Inserts quant.scast between these integers and the quantized values of other operations. Preserves every value.

    `strict_upstream` also removes all casts that upstream's conversion driver takes for inverses, which can change
    values.
    """

    strict_upstream: bool = option(False, "drop the casts that upstream drops: values change")

    UPSTREAM: ClassVar[Mapping[str, Any]] = {"strict_upstream": True}

    def run(self, module: Module) -> None:
        replaced = _fold(module, self.strict_upstream)
        converter = _Converter()
        for operation in module.operation.walk():
            try:
                if isinstance(operation, FuncOp):
                    converter.function(operation)
                elif operation.name in _BOUNDARY:
                    converter.boundary(operation)
            except QuantTypeError as error:
                raise operation.op_error(
                    f"strip-func-quant-types cannot convert the types of this operation: {error}"
                ) from None
        converter.rest()
        for operation in replaced:
            operation.erase()


def _fold(module: Module, strict_upstream: bool) -> list[Operation]:
    """Replace the result of each `quant.scast` that undoes another `quant.scast` by the original value.

    With `strict_upstream`, fold all operations that upstream's conversion driver folds. Returns the replaced
    operations, which the caller erases.
    """
    if not strict_upstream:
        return fold_at_once(module.operation, Folds(), lambda operation: operation.name == "quant.scast")
    for operation in module.operation.walk():
        if operation.has_trait(COMMUTATIVE):
            constants_last(operation)
    return fold_at_once(module.operation, UPSTREAM_FOLDS, lambda operation: True)


class _Converter:
    """The values whose types the pass changes, and the `quant.scast` operations it inserts, at most one per value."""

    def __init__(self) -> None:
        self.stripped: dict[Value, Type] = {}  # quantized type each had
        self.stored: dict[Value, Value] = {}

    def function(self, function: FuncOp) -> None:
        kind = function.type
        stripped = FunctionType(map(_storage, kind.inputs), map(_storage, kind.results))
        function.attributes["function_type"] = TypeAttr(stripped)
        if not function.is_declaration:
            self._strip(function.regions[0].blocks[0].arguments)

    def boundary(self, operation: Operation) -> None:
        """Change the operands and results of a call or a return to storage integers."""
        if operation.name == "func.call":
            self._strip(operation.results)
        for index, value in enumerate(operation.operands):
            if value not in self.stripped and (storage := _storage(value.type)) is not value.type:
                if value not in self.stored:
                    self.stored[value] = _cast(operation, value, storage)
                operation.set_operand(index, self.stored[value])

    def rest(self) -> None:
        """Cast each changed value back to its quantized type for uses other than calls and returns."""
        for value, type in self.stripped.items():
            others = [(user, index) for user, index in value.uses if user.name not in _BOUNDARY]
            if others:
                cast = _cast(others[0][0], value, type)
                for user, index in others:
                    user.set_operand(index, cast)

    def _strip(self, values: Iterable[Value]) -> None:
        for value in values:
            storage = _storage(value.type)
            if storage is not value.type:
                self.stripped[value] = value.type
                value.type = storage


def _cast(user: Operation, value: Value, type: Type) -> Value:
    """Insert a `quant.scast` of `value` to `type` after its definition, and return the result; errors name `user`.

    Raises VerifyError if the quantization parameters do not fit the shape, or if the storage type is signed or
    unsigned: `quant.scast` accepts signless storage types only.
    """
    form = value.type if _storage(value.type) is not value.type else type
    element = element_of(form)
    if isinstance(element, UniformType | AnyQuantizedType) and not element.is_storage_castable:
        raise user.op_error(
            f"strip-func-quant-types cannot convert an operand of type {type}: quant.scast does not support the "
            "storage "
            f"type {element.storage_type}"
        )
    if isinstance(form, TensorType) and isinstance(element, UniformType):
        try:
            check_integrity(element, form.shape)
        except QuantTypeError as error:
            raise user.op_error(f"strip-func-quant-types cannot convert an operand of type {type}: {error}") from None
    return Builder.after(value).value("quant.scast", (value,), type)


def _storage(type: Type) -> Type:
    """Replace a quantized element type by its storage type, in a scalar or tensor type.

    Other types are returned unchanged. Raises QuantTypeError for `!quant.calibrated`, which has no storage type.
    """
    element = element_of(type)
    if isinstance(element, CalibratedType):
        raise QuantTypeError(f"{element} has no storage type")
    return with_element(type, element.storage_type) if isinstance(element, UniformType | AnyQuantizedType) else type

"""Conversion of the arguments of a builder call, `b.arith.addi(x, y)`, to operands, attributes and result types."""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.errors import DiagnosticError, QuantTypeError, nearest, plural, require, shown
from qrt.ir.core.attribute_kinds import ANY, AttributeKind
from qrt.ir.core.attributes import (
    Attribute,
    Constraint,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    attribute,
    integer_range,
)
from qrt.ir.core.define import AttributeSpec, DeclaredGroup, Definition, listed_attributes, segments
from qrt.ir.core.operations import Operation, Value
from qrt.ir.core.symbols import references
from qrt.ir.core.traits import SYMBOL_TABLE, TERMINATOR
from qrt.ir.text.assembly import inferences
from qrt.ir.text.attribute_parser import AttributeParser
from qrt.ir.text.dense import DenseElementsAttr, ShapedType, static_shape, storage_dtype, wrapped
from qrt.types import (
    FloatType,
    IndexType,
    IntegerType,
    Type,
    parse_type,
)
from qrt.types.scanner import Source

TypeLike = Type | str
_OPERAND = re.compile(r"operand #(\d+)")


def as_type(given: TypeLike) -> Type:
    """Return `given` if it is a Type; parse it if it is a str."""
    require(given, (Type, str), "a type", "a Type or its text")
    return parse_type(given) if isinstance(given, str) else given


def meant(name: str, known: Iterable[str]) -> str:
    meant = nearest(name, known)
    return "" if meant is None else f": did you mean {meant!r}?"


class OperationDraft:
    """Operands and attributes for a new operation, from the positional and named arguments of a builder call."""

    def __init__(
        self, definition: Definition, given: Sequence[Any], named: Mapping[str, Any], attributes: Mapping[str, Any]
    ) -> None:
        self.definition = definition
        self.attributes = {name: self._attribute(name, value) for name, value in attributes.items()}
        groups = definition.operand_groups.declared
        if len(given) > len(groups) > 0 and groups[-1].size == "*":
            given = [*given[: len(groups) - 1], given[len(groups) - 1 :]]
        if len(given) > len(groups):
            names = ", ".join(f"'{group.name}'" for group in groups)
            expected = f"at most {plural(len(groups), 'operand')} ({names})" if groups else "no operands"
            raise QuantTypeError(f"{definition.name}: expected {expected}, got {plural(len(given), 'operand')}")
        slots: dict[str, Any] = dict(zip((group.name for group in groups), given, strict=False))
        for name, value in named.items():
            if name in definition.operand_groups.names:
                if name in slots:
                    raise QuantTypeError(
                        f"{definition.name}: operand '{name}' must be given once, got it by position and by name"
                    )
                slots[name] = value
            elif name in self.attributes:
                raise QuantTypeError(
                    f"{definition.name}: attribute '{name}' must be given once, got it by name and in 'attributes'"
                )
            else:
                self._require_known(name)
                self.attributes[name] = self._attribute(name, value)
        operand_groups = [self._values(group, slots.get(group.name)) for group in groups]
        self.operands = [value for group in operand_groups for value in group]
        self.names = [group.name for group, values in zip(groups, operand_groups, strict=True) for _ in values]
        if definition.operand_groups.uses_segments:
            self.attributes[definition.operand_groups.segments] = segments(*map(len, operand_groups))

    def _values(self, group: DeclaredGroup, given: Any) -> list[Value]:
        what = f"{self.definition.name}: operand '{group.name}'"
        if given is None and group.size:
            return []
        if given is None:
            raise QuantTypeError(f"{what} is missing: expected a Value, by position or as {group.name}=")
        values = [given] if isinstance(given, Value) else given
        if group.size != "*" and not isinstance(given, Value):
            raise QuantTypeError(f"{what} must be a Value, got {shown(given)}: b.constant(value, type) creates one")
        try:
            values = [*values]
        except TypeError:
            values = [given]
        for value in values:
            require(value, Value, what, "Values")
        return values

    def _require_known(self, name: str) -> None:
        """Raise QuantTypeError for an attribute that the op does not declare; the message suggests a similar name."""
        known = self.definition.attributes
        if name not in known and "." not in name and name not in self.definition.properties:
            raise QuantTypeError(f"{self.definition.name} has no attribute '{name}'{listed_attributes(name, known)}")

    def _attribute(self, name: str, value: Any) -> Attribute:
        try:
            return _as_attribute(value, self.definition.attributes.get(name))
        except (QuantTypeError, DiagnosticError) as error:
            message = error.message if isinstance(error, DiagnosticError) else str(error)
            raise QuantTypeError(f"{self.definition.name}: attribute '{name}': {message}") from None

    def result_types(self, given: list[Type] | None) -> list[Type]:
        """Return the types given by the caller, or else the types inferred from operands and attributes."""
        if given is not None:
            return given
        if self.definition.result_types is not None:
            try:
                return self.definition.result_types([value.type for value in self.operands], self.attributes)
            except QuantTypeError as error:
                message = str(error).removeprefix(f"{self.definition.name.rpartition('.')[2]}: ")
                raise QuantTypeError(f"{self.definition.name}: {message}") from None
        return self._following()

    def _following(self) -> list[Type]:
        """Infer the result types from operand types and attributes. Raise QuantTypeError if that is not possible."""
        definition, groups = self.definition, self.definition.result_groups
        known: dict[str, list[Type]] = {name: [] for name in definition.operand_groups.names}
        for name, value in zip(self.names, self.operands, strict=True):
            known[name].append(value.type)
        unsaid = {group.name for group in groups.declared if group.size and group.name not in definition.infer}
        try:
            plan = inferences(definition, known.keys() | unsaid)
        except ValueError:
            names = ", ".join(repr(name) for name in groups.names if name not in unsaid)
            raise QuantTypeError(
                f"{definition.name}: the type of the result {names} cannot be inferred from the operands: give it "
                "as type="
            ) from None
        for name, relation in plan:
            source = relation.source or ""
            typed = getattr(self.attributes.get(source), "type", None)
            known[name] = relation.expected([typed] if isinstance(typed, Type) else known.get(source, []))[:1]
        return [type for name in groups.names for type in known.get(name, [])]

    def check(self, operation: Operation) -> None:
        """Verify the new operation as far as it is complete. Raise QuantTypeError if it is invalid.

        Three kinds of operations are incomplete: operations with regions, terminators, and operations that are outside
        a module or refer to undefined symbols. For these, only counts, attributes and types are verified here; the
        verification of the module checks the rest.
        """
        local = bool(operation.regions) or TERMINATOR in self.definition.traits or not _is_whole(operation)
        check = self.definition.check_signature if local else self.definition.check
        try:
            check(operation)
        except DiagnosticError as error:
            raise QuantTypeError(_OPERAND.sub(self._with_name, error.message)) from None

    def _with_name(self, match: re.Match[str]) -> str:
        index = int(match[1])
        return f"{match[0]} ('{self.names[index]}')" if index < len(self.names) else match[0]


def _root(operation: Operation) -> Operation:
    while (around := operation.parent_operation) is not None:
        operation = around
    return operation


def _is_whole(operation: Operation) -> bool:
    """Return True if an operation is inside a module, and all symbols that it refers to are defined."""
    return _root(operation).name == "builtin.module" and all(
        _is_defined(symbol, operation) for symbol in references(operation)
    )


def _is_defined(symbol: SymbolRefAttr, operation: Operation) -> bool:
    """Return True if a symbol table around an operation defines a symbol.

    A symbol whose operation contains `operation`, such as a recursive function, counts as undefined, because that
    operation is not complete yet.
    """
    around = operation.parent_operation
    while around is not None:
        if around.attributes.get("sym_name") == StringAttr(symbol.path[0]):
            return False
        if around.has_trait(SYMBOL_TABLE) and around.regions[0].blocks[0].symbol(symbol.path[0]) is not None:
            return True
        around = around.parent_operation
    return False


def _as_attribute(value: Any, spec: AttributeSpec | None) -> Attribute:
    """Convert a Python value to an attribute that satisfies `spec`, directly or by parsing the value's text as MLIR."""
    if isinstance(value, Attribute) or spec is None or (spec.kind is None and spec.constraint is None):
        return attribute(value)
    kind = spec.kind or _kind_of(spec.constraint)
    if isinstance(value, bool) or not isinstance(value, str):
        plain = attribute(value)
        if kind.holds(plain):
            return plain
    elif kind.holds(StringAttr(value)):
        return StringAttr(value)
    text = _text(value)
    for spelled in (text, f"<{text}>"):  # enumerations of flags stand in brackets
        parser = AttributeParser(Source(spelled, "<attribute>"), allow_unregistered=False)
        with suppress(DiagnosticError):
            parsed = kind.parse(parser)
            if parser.scanner.at_end() and kind.holds(parsed):
                return parsed
    if isinstance(value, str) and kind.holds(symbol := SymbolRefAttr((value,))):
        return symbol
    wanted = f"one of {', '.join(map(repr, kind.choices))}" if kind.choices else kind.description
    raise QuantTypeError(f"expected {wanted}, got {shown(value)}")


def _kind_of(constraint: Constraint | None) -> AttributeKind:
    """Return the attribute kind of the values that `constraint` allows; its parser accepts any MLIR attribute."""
    assert constraint is not None
    return replace(ANY, holds=lambda value: constraint(value) is None, description="a value that the op allows")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return f"[{', '.join(map(_text, value))}]" if isinstance(value, Iterable) else str(attribute(value).python)


def checked_constant(value: npt.ArrayLike, type: Type) -> Attribute:
    """Convert a Python value or array to the `value` attribute of an `arith.constant` of type `type`.

    Raises QuantTypeError if the type cannot hold the values.
    """
    if isinstance(type, IntegerType | IndexType | FloatType):
        number = np.asarray(value)
        if number.shape != () or number.dtype.kind not in "biuf":
            raise QuantTypeError(f"Builder.constant: 'value' must be a number for the type {type}, got {shown(value)}")
        if isinstance(type, IntegerType) and not type.is_signless:
            raise QuantTypeError(
                f"Builder.constant: 'type' of an integer must be signless, got {type}: write i{type.width}"
            )
        if isinstance(type, FloatType):
            return FloatAttr.of(float(number), type)
        if number.dtype.kind == "f":
            raise QuantTypeError(
                f"Builder.constant: 'value' must be an integer for the type {type}, got {shown(value)}"
            )
        return IntegerAttr(int(number), type)
    if not isinstance(type, ShapedType):
        raise QuantTypeError(
            "Builder.constant: 'type' must be an integer, index, float, tensor or vector type (the types that "
            f"arith.constant supports), got {type}"
        )
    elements = _elements(np.asarray(value), type.element)
    try:
        return DenseElementsAttr(np.broadcast_to(elements, static_shape(type)), type)
    except ValueError:
        raise QuantTypeError(
            f"Builder.constant: 'value' must broadcast to the shape of 'type', {type}, got shape {elements.shape}"
        ) from None


def _elements(array: npt.NDArray[Any], element: Type) -> npt.NDArray[Any]:
    """Return an array in the storage dtype of `element`. Raise QuantTypeError if a value does not fit."""
    dtype = storage_dtype(element)
    if array.dtype.kind not in ("biuf" if isinstance(element, FloatType) else "biu"):
        kinds = "numbers" if isinstance(element, FloatType) else "integers"
        raise QuantTypeError(
            f"Builder.constant: 'value' must be {kinds}, because the elements are {element}, got dtype {array.dtype}"
        )
    if isinstance(element, FloatType):
        if dtype.kind == "f":
            return array.astype(dtype)
        patterns = [element.format.encode_float(float(number)) for number in array.ravel()]
        return np.array(patterns, dtype).reshape(array.shape)
    low, high = integer_range(element)
    if array.size and not low <= int(array.min()) <= int(array.max()) <= high:
        wrong = array.min() if array.min() < low else array.max()
        raise QuantTypeError(
            f"Builder.constant: 'value' must be in [{low}, {high}] for elements of {element}, got {wrong}"
        )
    array = array.astype(dtype)
    return wrapped(array, element) if isinstance(element, IntegerType) and dtype != np.bool_ else array

"""One operator of a file while it is imported: what makes its operations, names their results and says errors."""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from qrt.errors import ModelError, QuantError
from qrt.ir import Operation, StringAttr, Value
from qrt.ir.core.attributes import ArrayAttr, attribute
from qrt.ir.core.traits import have_compatible_shapes
from qrt.ir.dialects.linalg.lowering import LoweringContext
from qrt.models.importing.graph import Graph, Operator
from qrt.models.profiles.model import Kernel
from qrt.ops import OpFamily, family_named
from qrt.ops.core import Array
from qrt.types import TensorType, Type

TENSOR = "qrt.tensor"
"""The attribute with the name that the file gives a result; a list of names where an operation has several results."""


class UnsupportedForm(Exception):
    """A form of an operator that is not supported. The walk collects these, so that one error says all of them."""


class Node:
    """An operator of a graph. ``kernel`` says which kernel of the runtime the last rule is about."""

    graph: Graph
    op: Operator

    def __init__(self) -> None:
        self.kernel: Kernel = "builtin"

    # -- operations -------------------------------------------------------------------------------------------------

    def emit(
        self,
        name: str,
        operands: Sequence[Value] = (),
        attributes: Mapping[str, Any] | None = None,
        result_type: Type | None = None,
    ) -> Value:
        """The result of a new operation. ``result_type`` is its type, or the type of its elements where the shape
        follows; None where all of it follows.
        """
        return self.make(name, operands, attributes, None if result_type is None else [result_type]).result

    def emit_all(
        self,
        name: str,
        operands: Sequence[Value],
        attributes: Mapping[str, Any] | None,
        result_types: Sequence[Type] | None,
    ) -> tuple[Value, ...]:
        """The results of a new operation that has any number of them."""
        return tuple(self.make(name, operands, attributes, result_types).results)

    def make(
        self,
        name: str,
        operands: Sequence[Value],
        attributes: Mapping[str, Any] | None = None,
        result_types: Sequence[Type] | None = None,
        **more: Any,
    ) -> Operation:
        """A new operation. One of a family is checked by the family; ``more`` is what a builder takes for any other."""
        try:
            if (family := family_named(name)) is not None:
                return self._kernel(family, operands, attributes or {}, result_types)
            builder = self.graph.builder(self.op)
            return builder.create(name, *operands, types=result_types, attributes=attributes, **more)
        except QuantError as error:
            raise self.error(str(error)) from None

    def _kernel(
        self,
        family: OpFamily,
        operands: Sequence[Value],
        attributes: Mapping[str, Any],
        result_types: Sequence[Type] | None,
    ) -> Operation:
        types = [value.type for value in operands]
        tensors = tuple(type for type in types if isinstance(type, TensorType))
        count = len(family.declaration.results)
        said = [None] * count if result_types is None else list(map(_as_tensor, result_types))
        results = family.resolve_all(tensors, family.complete(attributes), said)
        for here, there in zip(said, results, strict=True):
            if here is not None and here.shape is not None and not have_compatible_shapes((here, there)):
                self.fail(f"the result is {there}, but the file declares {here}")
        return self.graph.append(
            self.op, family.declaration.op, operands, results, {n: attribute(v) for n, v in attributes.items()}
        )

    def dense(self, array: Array, element: Type) -> Value:
        """A constant. Of a quantized type the array is the storage; it may be a view of the file."""
        return self.graph.constant(array, element, self.op)

    def named(self, value: Value, name: str) -> Value:
        """The value, of which the operation that makes it is given the tensor's name; a copy where it has another."""
        if not _name(value, name):
            value = self.emit("qrt.reshape", [value], None, value.type)
            _name(value, name)
        return value

    # -- rules ------------------------------------------------------------------------------------------------------

    def rule(self, op: str, /, **facts: Any) -> str:
        """The rule that the profile has for an op under these facts. Where it has none, the form is refused."""
        profile = self.graph.profile
        row = profile.find(op, **facts)
        if row is None:
            said = ", ".join(f"{name} = {value}" for name, value in facts.items())
            self.refuse(f"profile {profile.name} has no rule for {op} with {said}")
        self.kernel = row.kernel
        return row.rule

    # -- errors -----------------------------------------------------------------------------------------------------

    def refuse(self, form: str) -> NoReturn:
        """Says that the operator has a form that is not supported."""
        raise UnsupportedForm(form)

    def fail(self, message: str) -> NoReturn:
        """Says that the file is wrong here."""
        raise self.error(message)

    def error(self, message: str) -> ModelError:
        """The error that says what is wrong here."""
        return ModelError(f"{self.graph.place(self.op)}: {message}")


def _as_tensor(type: Type) -> TensorType:
    return type if isinstance(type, TensorType) else TensorType(None, type)


def _name(value: Value, name: str) -> bool:
    """Names a result of an operation as the file does. False where it has another name, or none can be given."""
    made = value.operation
    if made is None:
        return False
    if len(made.results) == 1:
        return made.attributes.setdefault(TENSOR, StringAttr(name)) == StringAttr(name)
    found = made.attributes.get(TENSOR)
    names = list(found.elements) if isinstance(found, ArrayAttr) else [StringAttr("")] * len(made.results)
    if names[value.index] != StringAttr(""):
        return False
    names[value.index] = StringAttr(name)
    made.attributes[TENSOR] = ArrayAttr(tuple(names))
    return True


def lowering_context(node: Node) -> LoweringContext:
    """The end of the function, where nests are made."""
    return LoweringContext(node.graph.block, node.graph.location(node.op))

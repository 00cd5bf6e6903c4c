"""Base class of an operator that is being imported: methods to append operations, name results and raise errors."""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from qrt.errors import ModelError, QuantError
from qrt.ir import Operation, StringAttr, Value
from qrt.ir.core.attributes import ArrayAttr, attribute
from qrt.ir.core.traits import have_compatible_shapes
from qrt.ir.dialects.linalg.lowering import LoweringContext
from qrt.models.importing.graph import Graph, Operator
from qrt.models.profiles.model import Kernel, Profile
from qrt.ops import OpFamily, family_named
from qrt.ops.core import Array
from qrt.types import IndexType, TensorType, Type

TENSOR = "qrt.tensor"
"""The attribute with the file's name for an operation's result, or a list of names for several results."""


class UnsupportedForm(Exception):
    """Exception for an unsupported form of an operator. The importer catches it, to list all forms in one error."""


class Node:
    """An operator of a model file during import.

    ``kernel`` is set by `rule`: the kind of kernel with which the runtime computes the operator ("delegate", "builtin"
    or "reference").
    """

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
        """Append an operation with one result and return the result.

        ``result_type`` is the type of the result. It may also be only the element type if the shape can be inferred
        from the operands, or None if both can be inferred.
        """
        return self.make(name, operands, attributes, None if result_type is None else [result_type]).result

    def emit_all(
        self,
        name: str,
        operands: Sequence[Value],
        attributes: Mapping[str, Any] | None,
        result_types: Sequence[Type] | None,
    ) -> tuple[Value, ...]:
        """Append an operation and return all its results."""
        return tuple(self.make(name, operands, attributes, result_types).results)

    def make(
        self,
        name: str,
        operands: Sequence[Value],
        attributes: Mapping[str, Any] | None = None,
        result_types: Sequence[Type] | None = None,
        **more: Any,
    ) -> Operation:
        """Append an operation and return it.

        For an op of qrt's op families, missing result types are inferred, and all result types are checked. For any
        other op, ``more`` has further arguments of `Builder.create`.
        """
        try:
            if (family := family_named(name)) is not None:
                if name == "qrt.reshape" and result_types is not None:
                    attributes = _with_open_axes(operands, attributes or {}, result_types)
                return self._kernel(family, operands, attributes or {}, result_types)
            builder = self.graph.builder(self.op)
            return builder.create(name, *operands, types=result_types, attributes=attributes, **more)
        except ModelError:  # it names the place already
            raise
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
        declared = [None] * count if result_types is None else list(map(_as_tensor, result_types))
        results = family.resolve_all(tensors, family.complete(attributes), declared)
        for here, there in zip(declared, results, strict=True):
            if here is not None and here.shape is not None and not have_compatible_shapes((here, there)):
                self.fail(f"the inputs give a result of type {there}, but the file declares {here}")
        return self.graph.append(
            self.op, family.declaration.op, operands, results, {n: attribute(v) for n, v in attributes.items()}
        )

    def dense(self, array: Array, element: Type) -> Value:
        """Append a constant. For a quantized element type, ``array`` has the storage values.

        The array may be a view of the file.
        """
        return self.graph.constant(array, element, self.op)

    def named(self, value: Value, name: str) -> Value:
        """Name a value after a tensor of the file and return the value.

        If the value already has another name, a copy (a `qrt.reshape` to the same shape) is named and returned.
        """
        if not _name(value, name):
            value = self.emit("qrt.reshape", [value], None, value.type)
            _name(value, name)
        return value

    # -- rules ------------------------------------------------------------------------------------------------------

    @property
    def profile(self) -> Profile:
        """The profile of the import, which lists a runtime's rounding rules."""
        return self.graph.profile

    def rule(self, op: str, /, **facts: Any) -> str:
        """Return the profile's rounding rule for the op ``op`` with the properties ``facts``.

        Raise UnsupportedForm if the profile has no such rule.
        """
        row = self.profile.find(op, **facts)
        if row is None:
            conditions = ", ".join(f"{name} = {value}" for name, value in facts.items())
            self.refuse(f"profile {self.profile.name} has no rule for {op} with {conditions}")
        self.kernel = row.kernel
        return row.rule

    # -- errors -----------------------------------------------------------------------------------------------------

    def refuse(self, form: str) -> NoReturn:
        """Raise UnsupportedForm: qrt does not support this form of the operator."""
        raise UnsupportedForm(form)

    def fail(self, message: str) -> NoReturn:
        """Raise ModelError: the file is invalid at this operator."""
        raise self.error(message)

    def error(self, message: str) -> ModelError:
        """Return a ModelError whose message begins with the operator's place in the file."""
        return ModelError(f"{self.graph.place(self.op)}: {message}")


def _with_open_axes(
    operands: Sequence[Value], attributes: Mapping[str, Any], result_types: Sequence[Type]
) -> Mapping[str, Any]:
    """Return the attributes of a reshape, with "open_axes" added if two or more sizes are known only at run time.

    "open_axes" lists the axes of the operand from which these sizes are copied. It is added only if the reshape does
    nothing but add or remove axes of size 1.
    """
    given, wanted = (kind.shape if isinstance(kind, TensorType) else None for kind in (operands[0].type, *result_types))
    if given is None or wanted is None or wanted.count(None) < 2 or "open_axes" in attributes:
        return attributes
    own, other = ([axis for axis, size in enumerate(shape) if size != 1] for shape in (given, wanted))
    if [given[axis] for axis in own] != [wanted[axis] for axis in other]:
        return attributes
    return {**attributes, "open_axes": [axis for axis in own if given[axis] is None]}


def _as_tensor(type: Type) -> TensorType:
    return type if isinstance(type, TensorType) else TensorType(None, type)


def _name(value: Value, name: str) -> bool:
    """Set the tensor name of an operation's result.

    Return False if the result already has another name, or if the value is a block argument, which cannot be named.
    """
    operation = value.operation
    if operation is None:
        return False
    if len(operation.results) == 1:
        return operation.attributes.setdefault(TENSOR, StringAttr(name)) == StringAttr(name)
    known = operation.attributes.get(TENSOR)
    names = list(known.elements) if isinstance(known, ArrayAttr) else [StringAttr("")] * len(operation.results)
    if names[value.index] != StringAttr(""):
        return False
    names[value.index] = StringAttr(name)
    operation.attributes[TENSOR] = ArrayAttr(tuple(names))
    return True


def index(node: Node, number: int) -> Value:
    """Append a constant of type index."""
    return node.graph.builder(node.op).constant(number, IndexType())


def lowering_context(node: Node) -> LoweringContext:
    """Return a context that appends loop nests to the function being imported, located at the operator."""
    return LoweringContext(node.graph.block, node.graph.location(node.op))

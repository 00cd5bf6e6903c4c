"""Functions of a module as programs: helpers that choose the function, name its inputs and outputs, and check types."""

from collections.abc import Sequence
from typing import Literal

from qrt.errors import ModelError, QuantTypeError
from qrt.ir import Module, Operation
from qrt.ir.core.functions import FuncOp
from qrt.ir.text.dense import check_extent
from qrt.runtime.operations import failure
from qrt.runtime.ports import Port
from qrt.runtime.values import as_tensor
from qrt.types import IntegerType, MemRefType, QuantileType, TensorType, Type, UniformType, VectorType


def check_values(module: Module) -> None:
    """Raise ModelError at an operation with a value of a type that programs cannot have.

    Examples are a quantized type with float storage, and a tensor with too many elements.
    """
    types = _types_of(module)
    for type, operation in types.items():
        if isinstance(type, TensorType | VectorType):
            try:
                check_extent(type, 8 if isinstance(type, VectorType) else None)
            except QuantTypeError as error:
                raise failure(operation, f"has a value that cannot be computed: {error}") from None
    for type, operation in types.items():
        element = type.element if isinstance(type, TensorType) else type
        if isinstance(element, UniformType):
            element = element.storage_type
            is_run = isinstance(element, IntegerType)
        else:
            is_run = not isinstance(element, QuantileType)
        if not is_run:
            stored = f"the storage type must be an integer, got {element.shown()}"
            raise failure(operation, f"has a value of type {type.shown()}, which cannot run: {stored}")


def _types_of(module: Module) -> dict[Type, Operation]:
    """Return the types of all values in the module, each with the first operation that has a value of the type."""
    types: dict[Type, Operation] = {}
    for operation in module.operation.walk():
        arguments = [value for region in operation.regions for block in region.blocks for value in block.arguments]
        for value in (*operation.results, *arguments):
            types.setdefault(value.type, operation)
    return types


def choose(module: Module, name: str | None) -> FuncOp:
    """Return the named function; without a name, ``main`` or the only function. Raise ModelError if there is none."""
    functions = {function.sym_name: function for function in module.functions}
    if name is None:
        name = "main" if "main" in functions or len(functions) != 1 else next(iter(functions))
    if name not in functions:
        raise ModelError(
            f"no function is named {name!r}; the functions of the module are: {', '.join(functions) or 'none'}"
        )
    if not functions[name].regions[0].blocks:
        raise ModelError(f"function {name!r} cannot be compiled, because it is only declared and has no body")
    return functions[name]


def ports(function: FuncOp, prefix: str) -> tuple[Port, ...]:
    kind: Literal["inputs", "results"] = "inputs" if prefix == "arg" else "results"
    types = getattr(function.type, kind)
    names = [_port_name(function, kind, prefix, number) for number in range(len(types))]
    if len(set(names)) != len(names):
        raise ModelError(f"the {kind} of a function must have different names, got {', '.join(names)}")
    argument_names = function.regions[0].blocks[0].names if prefix == "arg" else ()
    spelled = argument_names if len(argument_names) == len(names) else ("",) * len(names)
    tensors = [as_tensor(t) for t in types]
    return tuple(
        Port(name, tensor, isinstance(t, MemRefType), text)
        for name, tensor, t, text in zip(names, tensors, types, spelled, strict=True)
    )


def _port_name(function: FuncOp, kind: Literal["inputs", "results"], prefix: str, number: int) -> str:
    """Return the declared name of an argument or a result; without one, ``prefix`` and ``number``, as in ``arg0``."""
    name, given = function.port_name(kind, number), function.port_attributes(kind, number).get("qrt.name")
    if name is None and given is not None:
        raise ModelError(
            f"attribute 'qrt.name' of {prefix} #{number} of @{function.sym_name} must be a string, got {given}"
        )
    return f"{prefix}{number}" if name is None else name


def check_dimensions(function: FuncOp, types: Sequence[TensorType]) -> None:
    """Raise ModelError if dimensions of the same name have different sizes in the input types.

    Arguments name their dimensions by the attribute ``{qrt.dimensions = ["batch", ""]}``; "" is a dimension without
    name.
    """
    sizes: dict[str, tuple[int | None, str]] = {}
    for number, t in enumerate(types):
        own = repr(_port_name(function, "inputs", "arg", number))
        for axis, (name, size) in enumerate(zip(function.dimension_names(number), t.shape or (), strict=False)):
            if not name:
                continue
            here = f"dimension {axis} of input {own}"
            known, place = sizes.setdefault(name, (size, here))
            if known != size:
                raise ModelError(
                    f"{place} and {here} must be equal, because both have the name {name!r}, got {known} and {size}"
                )

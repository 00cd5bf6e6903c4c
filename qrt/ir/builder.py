"""Programs made from Python: `b.qrt.matmul(x, w)`."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.errors import DiagnosticError, QuantTypeError, nearest, require, shown
from qrt.ir.core import registry
from qrt.ir.core.attributes import Attribute, FloatAttr, IntegerAttr, StringAttr, TypeAttr, attribute, integer_range
from qrt.ir.core.define import AttributeSpec, Declared, Definition, segments
from qrt.ir.core.operations import NOWHERE, Block, Operation, Region, Value
from qrt.ir.core.traits import TERMINATOR
from qrt.ir.module import Module
from qrt.ir.text.assembly import inferences
from qrt.ir.text.attribute_parser import AttributeParser
from qrt.ir.text.dense import DenseElementsAttr, ShapedType, static_shape, storage_dtype
from qrt.text import Source
from qrt.types import (
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    TensorType,
    Type,
    UniformType,
    parse_type,
)

TypeLike = Type | str
_OPERAND = re.compile(r"operand #(\d+)")


class Builder:
    """Makes operations at a place of a program. ``b.arith.addi(x, y)`` makes an ``arith.addi`` there and gives its
    result: every dialect of qrt is an attribute, and every op of it a method, with a ``_`` behind names that Python
    keeps for itself, as in ``b.func.return_(y)``.

    An op takes its operands in the order of its declaration, or by their names: values, a sequence of values for a
    group of any number (or the values themselves, where it is the last), None for one that may be left out.
    Attributes go by name: Python values, attributes, or MLIR text, as in ``b.arith.cmpi(x, y, predicate="slt")``.
    ``type=`` (``types=`` for several) says the types of results that do not follow from the rest; ``regions=`` and
    ``successors=`` give what the op has of these.

    It gives the result of an op that has one, the results as a tuple of an op that has several, and the operation of
    an op that has none.

    Parameters
    ----------
    place : Module or Block or Operation
        Operations are made at the end of a module's body or of a block, or before an operation.

    Raises
    ------
    QuantTypeError
        If the place is none of these. Where an operation cannot be made, the error names the op and the operand or
        attribute; the program is then as it was.

    Examples
    --------
    >>> from qrt import ir
    >>> module = ir.Module()
    >>> b = ir.Builder(module)
    >>> with b.function("f", ["i32", "i32"]) as (x, y):
    ...     b.func.return_(b.arith.select(b.arith.cmpi(x, y, predicate="slt"), x, y))
    <Operation func.return at <built>:1:1>
    >>> print(module, end="")
    module {
      func.func @f(%arg0: i32, %arg1: i32) -> i32 {
        %0 = arith.cmpi slt, %arg0, %arg1 : i32
        %1 = arith.select %0, %arg0, %arg1 : i32
        return %1 : i32
      }
    }
    """

    __slots__ = ("_before", "block")

    def __init__(self, place: Module | Block | Operation) -> None:
        require(place, (Module, Block, Operation), "Builder: the place", "a Module, a Block or an Operation")
        if isinstance(place, Operation) and place.parent is None:
            raise QuantTypeError("Builder: an operation is made before another one of a block, this one is in none")
        self._before: Operation | None = place if isinstance(place, Operation) else None
        block = place.parent if isinstance(place, Operation) else place.body if isinstance(place, Module) else place
        assert block is not None
        self.block: Block = block

    @classmethod
    def after(cls, place: Operation | Value) -> "Builder":
        """A builder that makes operations behind an operation, or behind the definition of a value.

        Parameters
        ----------
        place : Operation or Value
            In a block.

        Returns
        -------
        Builder

        Raises
        ------
        QuantTypeError
            If the place is in no block.

        Examples
        --------
        >>> from qrt import ir
        >>> function = ir.parse("func.func @f(%x: i32) { return }").functions[0]
        >>> ir.Builder.after(function.regions[0].blocks[0].arguments[0]).constant(1, "i32")
        <Value 0 : i32>
        """
        require(place, (Operation, Value), "Builder.after: the place", "an Operation or a Value")
        owner = place.owner if isinstance(place, Value) else place
        following = owner.first if isinstance(owner, Block) else owner.next if owner is not None else None
        block = owner if isinstance(owner, Block) else owner.parent if owner is not None else None
        if block is None:
            raise QuantTypeError("Builder.after: the place is in no block")
        return cls(block if following is None else following)

    def __getattr__(self, name: str) -> "DialectBuilder":
        if name.startswith("_") or name not in registry.dialects():
            raise AttributeError(f"no dialect is called {name!r}{_meant(name, registry.dialects())}")
        return DialectBuilder(self, name)

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *registry.dialects()])

    def create(
        self,
        name: str,
        *operands: Value | Sequence[Value] | None,
        type: TypeLike | None = None,
        types: Sequence[TypeLike] | None = None,
        regions: Iterable[Region] | None = None,
        successors: Sequence[Block] = (),
        **named: Any,
    ) -> Operation:
        """The operation of an op by its whole name; ``b.arith.addi(x, y)`` is ``b.create("arith.addi", x, y)``, and
        gives the result.

        Parameters
        ----------
        name : str
            The dialect and the name, as ``"arith.addi"``.
        operands : Value, sequence of Value or None
            As the op declares them.
        type, types : Type or str, or a sequence of them, optional
            The types of the results, where they do not follow.
        regions : iterable of Region, optional
            The regions; empty ones if not given.
        successors : sequence of Block, optional
            The blocks that it may branch to.
        named : Any
            Attributes, and operands by name.

        Returns
        -------
        Operation

        Raises
        ------
        QuantTypeError
            If qrt has no such op, or the op refuses what it is given.

        Examples
        --------
        >>> from qrt import ir, parse_type
        >>> b = ir.Builder(ir.Module())
        >>> b.create("arith.constant", value=ir.FloatAttr.of(1.0, parse_type("f32"))).result.type
        <FloatType f32>
        """
        definition = registry.find(name)
        if definition is None:
            dialect = name.partition(".")[0]
            known = [each.name for each in registry.every_definition().values() if each.dialect == dialect]
            raise QuantTypeError(f"qrt has no op called {shown(name)}{_meant(name, known)}")
        given = [type] if type is not None else types
        made = _Making(definition, operands, named)
        owned = [Region() for _ in definition.region_names] if regions is None else list(regions)
        result_types = made.result_types(None if given is None else [*map(as_type, given)])
        operation = definition.operation_class(
            name, made.operands, result_types, made.attributes, owned, successors, NOWHERE, definition
        )
        self._insert(operation)
        # A region is filled later, and what a terminator must pass is its parent's to say: the module verifies both.
        if not owned and TERMINATOR not in definition.traits:
            made.check(operation)
        return operation

    def _insert(self, operation: Operation) -> None:
        if self._before is None:
            self.block.append(operation)
        else:
            self.block.insert_before(self._before, operation)

    def constant(self, value: npt.ArrayLike, type: TypeLike) -> Value:
        """An ``arith.constant``; of a quantized type, the constant of its storage and a ``quant.scast``.

        Parameters
        ----------
        value : array_like
            A number for a scalar type. For a tensor or a vector the elements, in its shape or in one that broadcasts
            to it; for a quantized type the storage.
        type : Type or str
            The type of the value.

        Returns
        -------
        Value

        Raises
        ------
        QuantTypeError
            If the type has no constants, or does not hold the value.

        Examples
        --------
        >>> from qrt import ir
        >>> module = ir.Module()
        >>> b = ir.Builder(module)
        >>> b.constant([[1, -2]], "tensor<1x2x!quant.uniform<i8:f32, 0.5>>")
        <Value 0 : tensor<1x2x!quant.uniform<i8:f32, 5.000000e-01>>>
        >>> print(module, end="")
        module {
          %0 = arith.constant dense<[[1, -2]]> : tensor<1x2xi8>
          %1 = quant.scast %0 : tensor<1x2xi8> to tensor<1x2x!quant.uniform<i8:f32, 5.000000e-01>>
        }
        """
        wanted = as_type(type)
        element = wanted.element if isinstance(wanted, ShapedType) else wanted
        if isinstance(element, UniformType):
            if not isinstance(wanted, TensorType):
                raise QuantTypeError(f"constant: a constant of a quantized type is a tensor, not of {wanted}")
            stored = self.constant(value, TensorType(wanted.shape, IntegerType(element.storage_width)))
            return self.create("quant.scast", stored, type=wanted).result
        return self.create("arith.constant", value=_constant(value, wanted)).result

    @contextmanager
    def function(
        self, name: str, inputs: Sequence[TypeLike], *, names: Sequence[str] | None = None, private: bool = False
    ) -> Iterator[tuple[Value, ...]]:
        """A ``func.func``: in the ``with`` block, operations are made in its body, and the ``with`` statement gives its
        arguments. The types of its results are those that its ``func.return`` returns.

        Parameters
        ----------
        name : str
            The name of the function.
        inputs : sequence of Type or str
            The types of its arguments.
        names : sequence of str, optional
            How programs and the command line call the arguments (``qrt.name``).
        private : bool, default False
            Whether other modules cannot see it.

        Raises
        ------
        QuantTypeError
            If the body does not end in a ``func.return``, or there are other names than arguments.

        Examples
        --------
        >>> from qrt import compile, ir
        >>> module = ir.Module()
        >>> b = ir.Builder(module)
        >>> with b.function("twice", ["f32"], names=["x"]) as (x,):
        ...     returned = b.func.return_(b.arith.addf(x, x))
        >>> compile(module).run({"x": 1.5})
        {'result0': array(3., dtype=float32)}
        """
        block = Block(map(as_type, inputs))
        types = [argument.type for argument in block.arguments]
        named: dict[str, Any] = {"sym_visibility": "private"} if private else {}
        if names is not None:
            if len(names) != len(types):
                raise QuantTypeError(f"function: {len(names)} names for {len(types)} arguments")
            named["arg_attrs"] = [{"qrt.name": each} for each in names]
        region = Region([block])
        made = self.create("func.func", regions=[region], sym_name=name, function_type=FunctionType(types, []), **named)
        outer = self.block, self._before
        self.block, self._before = block, None
        try:
            yield tuple(block.arguments)
        finally:
            self.block, self._before = outer
        last = block.last
        if last is None or last.name != "func.return":
            raise QuantTypeError(f"function: the body of @{name} does not end in a func.return")
        results = [value.type for value in last.operands]
        made.attributes["function_type"] = TypeAttr(FunctionType(types, results))


class DialectBuilder:
    """The ops of one dialect, each a method: what ``b.arith`` is.

    Parameters
    ----------
    builder : Builder
        What makes the operations.
    dialect : str
        The name of a dialect.

    Examples
    --------
    >>> from qrt import ir
    >>> b = ir.Builder(ir.Module())
    >>> "addi" in dir(b.arith)
    True
    """

    __slots__ = ("_builder", "_dialect")

    def __init__(self, builder: Builder, dialect: str) -> None:
        self._builder = builder
        self._dialect = dialect

    def __getattr__(self, name: str) -> Any:
        whole = f"{self._dialect}.{name.removesuffix('_')}"
        if name.startswith("_") or registry.find(whole) is None:
            raise AttributeError(f"the dialect {self._dialect} has no op {name!r}{_meant(name, dir(self))}")

        def make(*operands: Value | Sequence[Value] | None, **named: Any) -> Value | tuple[Value, ...] | Operation:
            operation = self._builder.create(whole, *operands, **named)
            if len(operation.results) == 1:
                return operation.result
            return tuple(operation.results) or operation

        return make

    def __dir__(self) -> list[str]:
        registry.load(self._dialect)
        prefix = f"{self._dialect}."
        return sorted(name.removeprefix(prefix) for name in registry.DEFINITIONS if name.startswith(prefix))


def as_type(given: TypeLike) -> Type:
    """A type, or the one that a text spells."""
    require(given, (Type, str), "a type", "a Type or its text")
    return parse_type(given) if isinstance(given, str) else given


def _meant(name: str, known: Iterable[str]) -> str:
    meant = nearest(name, known)
    return "" if meant is None else f": did you mean {meant!r}?"


class _Making:
    """An operation that is being made: operands and attributes, sorted out by the op's declaration."""

    def __init__(self, definition: Definition, given: Sequence[Any], named: Mapping[str, Any]) -> None:
        self.definition = definition
        self.attributes: dict[str, Attribute] = {}
        groups = definition.operand_groups.declared
        if len(given) > len(groups) > 0 and groups[-1].size == "*":
            given = [*given[: len(groups) - 1], given[len(groups) - 1 :]]
        if len(given) > len(groups):
            names = ", ".join(group.name for group in groups) or "no operands"
            raise QuantTypeError(f"{definition.name} takes {names}: got {len(given)} operands")
        slots: dict[str, Any] = dict(zip((group.name for group in groups), given, strict=False))
        for name, value in named.items():
            if name in definition.operand_groups.names:
                if name in slots:
                    raise QuantTypeError(f"{definition.name}: operand '{name}' is given twice")
                slots[name] = value
            else:
                self.attributes[name] = self._attribute(name, value)
        found = [self._values(group, slots.get(group.name)) for group in groups]
        self.operands = [value for group in found for value in group]
        self.names = [group.name for group, values in zip(groups, found, strict=True) for _ in values]
        if definition.operand_groups.uses_segments:
            self.attributes[definition.operand_groups.segments] = segments(*map(len, found))

    def _values(self, group: Declared, given: Any) -> list[Value]:
        what = f"{self.definition.name}: operand '{group.name}'"
        if given is None and group.size:
            return []
        if given is None:
            raise QuantTypeError(f"{what} is missing")
        values = [given] if isinstance(given, Value) else given
        if group.size != "*" and not isinstance(given, Value):
            raise QuantTypeError(f"{what} must be a Value, got {shown(given)}: b.constant(value, type) makes one")
        try:
            values = [*values]
        except TypeError:
            values = [given]
        for value in values:
            require(value, Value, what, "Values")
        return values

    def _attribute(self, name: str, value: Any) -> Attribute:
        spec = self.definition.attributes.get(name)
        if spec is None and "." not in name and name not in self.definition.properties:
            known = self.definition.attributes
            listed = f"it has {', '.join(known)}" if known else "it has none"
            raise QuantTypeError(f"{self.definition.name} has no attribute '{name}'{_meant(name, known)}; {listed}")
        try:
            return _as_attribute(value, spec)
        except (QuantTypeError, DiagnosticError) as error:
            said = error.message if isinstance(error, DiagnosticError) else str(error)
            raise QuantTypeError(f"{self.definition.name}: attribute '{name}': {said}") from None

    def result_types(self, given: list[Type] | None) -> list[Type]:
        """The types of the results: those that are given, or else follow."""
        if given is not None:
            return given
        if self.definition.result_types is not None:
            try:
                return self.definition.result_types([value.type for value in self.operands], self.attributes)
            except QuantTypeError as error:
                said = str(error).removeprefix(f"{self.definition.name.rpartition('.')[2]}: ")
                raise QuantTypeError(f"{self.definition.name}: {said}") from None
        return self._following()

    def _following(self) -> list[Type]:
        """The types that follow as in a custom form that says those of the operands."""
        definition, groups = self.definition, self.definition.result_groups
        known: dict[str, list[Type]] = {name: [] for name in definition.operand_groups.names}
        for name, value in zip(self.names, self.operands, strict=True):
            known[name].append(value.type)
        unsaid = {group.name for group in groups.declared if group.size and group.name not in definition.infer}
        try:
            plan = inferences(definition, known.keys() | unsaid)
        except ValueError:
            names = ", ".join(repr(name) for name in groups.names if name not in unsaid)
            raise QuantTypeError(f"{definition.name}: the type of {names} does not follow: give type=") from None
        for name, relation in plan:
            source = relation.source or ""
            typed = getattr(self.attributes.get(source), "type", None)
            known[name] = relation.expected([typed] if isinstance(typed, Type) else known.get(source, []))[:1]
        return [type for name in groups.names for type in known.get(name, [])]

    def check(self, operation: Operation) -> None:
        """Verifies it, and takes it away where it is wrong."""
        try:
            self.definition.check(operation)
        except DiagnosticError as error:
            operation.erase()
            raise QuantTypeError(_OPERAND.sub(self._with_name, error.message)) from None

    def _with_name(self, match: re.Match[str]) -> str:
        index = int(match[1])
        return f"{match[0]} ('{self.names[index]}')" if index < len(self.names) else match[0]


def _as_attribute(value: Any, spec: AttributeSpec | None) -> Attribute:
    """A Python value as what an op takes there. What is no such attribute by itself is read as MLIR text."""
    if isinstance(value, Attribute) or spec is None or spec.kind is None:
        return attribute(value)
    kind = spec.kind
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
            found = kind.parse(parser)
            if parser.scanner.at_end() and kind.holds(found):
                return found
    raise QuantTypeError(f"it must be {kind.description}, got {shown(value)}")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return f"[{', '.join(map(_text, value))}]" if isinstance(value, Iterable) else str(attribute(value).python)


def _constant(value: npt.ArrayLike, type: Type) -> Attribute:
    """The attribute of a constant."""
    if isinstance(type, IntegerType | IndexType | FloatType):
        number = np.asarray(value)
        if number.shape != () or number.dtype.kind not in "biuf":
            raise QuantTypeError(f"constant: {type} takes a number, got {shown(value)}")
        if isinstance(type, FloatType):
            return FloatAttr.of(float(number), type)
        if number.dtype.kind == "f":
            raise QuantTypeError(f"constant: {type} takes an integer, got {shown(value)}")
        return IntegerAttr(int(number), type)
    if not isinstance(type, ShapedType):
        raise QuantTypeError(f"constant: there are no constants of {type}")
    elements = _elements(np.asarray(value), type.element)
    try:
        return DenseElementsAttr(np.broadcast_to(elements, static_shape(type)), type)
    except ValueError:
        raise QuantTypeError(f"constant: elements of shape {elements.shape} for {type}") from None


def _elements(array: npt.NDArray[Any], element: Type) -> npt.NDArray[Any]:
    """Elements as a dense constant keeps them."""
    dtype = storage_dtype(element)
    if array.dtype.kind not in ("biuf" if isinstance(element, FloatType) else "biu"):
        raise QuantTypeError(f"constant: elements of {element} are not made of {array.dtype}")
    if isinstance(element, FloatType):
        if dtype.kind == "f":
            return array.astype(dtype)
        patterns = [element.format.encode_float(float(number)) for number in array.flat]
        return np.array(patterns, dtype).reshape(array.shape)
    low, high = integer_range(element)
    if array.size and not low <= int(array.min()) <= int(array.max()) <= high:
        raise QuantTypeError(f"constant: {element} holds {low} to {high}, got {array.min()} to {array.max()}")
    return array.astype(dtype)

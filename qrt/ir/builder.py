"""Builder of operations for users, passes, importers and patterns: `b.qrt.matmul(x, w)`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy.typing as npt

from qrt.errors import QuantTypeError, VerifyError, plural, require, shown
from qrt.ir.core import registry
from qrt.ir.core.attributes import Attribute, LocationAttr, TypeAttr
from qrt.ir.core.constraints import with_element
from qrt.ir.core.operations import Block, Operation, Region, Value
from qrt.ir.making import OperationDraft, TypeLike, as_type, checked_constant, meant
from qrt.ir.module import Module
from qrt.ir.text.dense import ShapedType
from qrt.types import FunctionType, TensorType, Type, UniformType
from qrt.types.scanner import Location


class BuilderObserver:
    """Observer of the changes that a builder makes; the pattern driver uses it to revisit changed operations."""

    def changed(self, operation: Operation) -> None:
        """Handle an operation that is new, was moved, or has a new operand."""

    def copied(self, block: Block) -> None:
        """Handle a rewrite that keeps the operations of `block`, where upstream MLIR copies them to a new block.

        The pattern driver then visits the operations in the order in which upstream visits the copies.
        """

    def erase(self, operation: Operation) -> None:
        operation.erase()


_NOBODY = BuilderObserver()


class Builder:
    """A builder that creates operations at an insertion point of a program.

    ``b.arith.addi(x, y)`` creates an ``arith.addi`` at the insertion point and returns its result. Every dialect is an
    attribute of the builder, and every op is a method of its dialect. An op named like a Python keyword gets a ``_`` at
    the end: ``b.func.return_(y)``.

    Operands are given by position, in the order of the op's declaration, or by name. An operand is a Value; a variadic
    group is a sequence of Values, and may be given as separate arguments if it is the last group. None omits an
    optional operand. Attributes are given by name, as Python values, Attributes or MLIR text:
    ``b.arith.cmpi(x, y, predicate="slt")``. ``type=``, or ``types=`` for several results, gives result types that
    cannot be inferred. ``regions=`` and ``successors=`` give the op's regions and successors. ``attributes=`` takes a
    dict of attributes, for names that are parameters of the method (``{"type": ...}``).

    The method returns the result of an op with one result, a tuple of several results, or the operation if the op has
    no result.

    `emit` and `value` create operations from complete operands, types and attributes without checks; they are for
    passes. The methods that change existing operations are for rewrite patterns; they notify the observer.

    Parameters
    ----------
    place : Module or Block or Operation
        The insertion point: the end of a module's body or of a block, or the position before an operation.
    location : Location, optional
        The location of new operations in error messages; by default that of ``place``.
    observer : BuilderObserver, optional
        The observer to notify of new, changed and erased operations.

    Raises
    ------
    QuantTypeError
        If ``place`` is of another type. The methods raise it if an operation cannot be created: the message names the
        op and the operand or attribute, and the program is unchanged.

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

    __slots__ = ("before", "block", "loc", "location", "observer")

    def __init__(
        self, place: Module | Block | Operation, location: Location | None = None, observer: BuilderObserver = _NOBODY
    ) -> None:
        require(place, (Module, Block, Operation), "Builder: 'place'", "a Module, a Block or an Operation")
        block = place.parent if isinstance(place, Operation) else place.body if isinstance(place, Module) else place
        if block is None:
            raise QuantTypeError(
                f"Builder: 'place' must be an operation in a block, got {shown(place)}, which is in none"
            )
        self.block = block
        self.before = place if isinstance(place, Operation) else None  # None is the end of the block
        self.location = location or (block if self.before is None else self.before).location
        self.loc: LocationAttr | None = None  # the location that later operations have in the text
        self.observer = observer

    @classmethod
    def after(cls, place: Operation | Value, observer: BuilderObserver = _NOBODY) -> "Builder":
        """Return a builder that inserts after an operation, or after the definition of a value.

        Parameters
        ----------
        place : Operation or Value
            An operation in a block, a result of one, or a block argument.
        observer : BuilderObserver, optional
            The observer to notify of new, changed and erased operations.

        Returns
        -------
        Builder

        Raises
        ------
        QuantTypeError
            If ``place`` is not in a block.

        Examples
        --------
        >>> from qrt import ir
        >>> function = ir.parse("func.func @f(%x: i32) { return }").functions[0]
        >>> ir.Builder.after(function.regions[0].blocks[0].arguments[0]).constant(1, "i32")
        <Value 0 : i32>
        """
        require(place, (Operation, Value), "Builder.after: 'place'", "an Operation or a Value")
        owner = place.owner if isinstance(place, Value) else place
        following = owner.first if isinstance(owner, Block) else owner.next if owner is not None else None
        block = owner if isinstance(owner, Block) else owner.parent if owner is not None else None
        if block is None or owner is None:
            raise QuantTypeError(
                f"Builder.after: 'place' must be an operation in a block or the value of one, got {shown(place)}, "
                "which is in none"
            )
        return cls(block if following is None else following, owner.location, observer)

    def at(self, place: Block | Operation) -> "Builder":
        """Return a builder that inserts at the end of a block or before an operation, with the same observer."""
        return Builder(place, observer=self.observer)

    def __getattr__(self, name: str) -> "DialectOps":
        if name.startswith("_") or name not in registry.DIALECTS:
            raise AttributeError(f"qrt has no dialect {name!r}{meant(name, registry.DIALECTS)}")
        return DialectOps(self, name)

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *registry.DIALECTS])

    def create(
        self,
        name: str,
        *operands: Value | Sequence[Value] | None,
        type: TypeLike | None = None,
        types: Sequence[TypeLike] | None = None,
        regions: Iterable[Region] | None = None,
        successors: Sequence[Block] = (),
        attributes: Mapping[str, Any] | None = None,
        **named: Any,
    ) -> Operation:
        """Create an operation of the op ``name``, and return the operation.

        ``b.arith.addi(x, y)`` is the result of ``b.create("arith.addi", x, y)``.

        Parameters
        ----------
        name : str
            The op's name with its dialect, as ``"arith.addi"``.
        operands : Value, sequence of Value or None
            The operands in declared order; a sequence for a variadic group, None for an omitted optional operand.
        type, types : Type or str, or a sequence of them, optional
            The result types, needed if they cannot be inferred.
        regions : iterable of Region, optional
            The regions; by default empty regions, as many as the op declares.
        successors : sequence of Block, optional
            The blocks to which the operation may branch.
        attributes : mapping of str to Any, optional
            Attributes of any name, including names that the op does not declare.
        named : Any
            Attributes that the op declares or whose names have a dialect's prefix, and operands by name.

        Returns
        -------
        Operation

        Raises
        ------
        QuantTypeError
            If there is no such op, or an operand, attribute or type does not fit the op.

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
            known = [op.name for op in registry.every_definition().values() if op.dialect == dialect]
            raise QuantTypeError(f"Builder.create: qrt has no op {shown(name)}{meant(name, known)}")
        given = [type] if type is not None else types
        draft = OperationDraft(definition, operands, named, attributes or {})
        owned = [Region() for _ in definition.region_names] if regions is None else list(regions)
        result_types = draft.result_types(None if given is None else [*map(as_type, given)])
        operation = self.emit(name, draft.operands, result_types, draft.attributes, owned, successors)
        try:
            draft.check(operation)
        except QuantTypeError:
            self.erase(operation)
            raise
        return operation

    def emit(
        self,
        name: str,
        operands: Iterable[Value] = (),
        types: Iterable[Type] = (),
        attributes: dict[str, Attribute] | None = None,
        regions: Iterable[Region] = (),
        successors: Sequence[Block] = (),
    ) -> Operation:
        """Create an operation with exactly these operands, types and attributes, without inference or checks.

        Parameters
        ----------
        name : str
            The name of a registered op, with its dialect.
        operands : iterable of Value, optional
            All operands in one flat list.
        types : iterable of Type, optional
            The types of all results.
        attributes : dict of str to Attribute, optional
            All attributes, including ``operandSegmentSizes`` if the op has it. The operation stores the dict itself.
        regions : iterable of Region, optional
            The regions.
        successors : sequence of Block, optional
            The blocks to which the operation may branch.

        Returns
        -------
        Operation

        Examples
        --------
        >>> from qrt import ir, parse_type
        >>> b = ir.Builder(ir.Module())
        >>> x = b.constant(1, "i32")
        >>> b.emit("arith.extsi", [x], [parse_type("i64")]).result.type
        <IntegerType i64>
        """
        definition = registry.definition(name)
        operation = definition.operation_class(
            name, operands, types, attributes, regions, successors, self.location, definition
        )
        operation.loc = self.loc
        return self.insert(operation)

    def value(
        self, name: str, operands: Iterable[Value], type: Type, attributes: dict[str, Attribute] | None = None
    ) -> Value:
        """Create an operation with one result, without inference or checks (see `emit`), and return the result."""
        return self.emit(name, operands, (type,), attributes).results[0]

    def constant(self, value: npt.ArrayLike | Attribute, type: TypeLike) -> Value:
        """Create an ``arith.constant``, and return its result.

        For a quantized type, a constant of the storage type and a ``quant.scast`` to ``type`` are created.

        Parameters
        ----------
        value : array_like or Attribute
            A number for a scalar type. For a tensor or vector type, an array whose shape broadcasts to the type's
            shape; for a quantized type, the storage integers. An Attribute becomes the ``value`` of the
            ``arith.constant``.
        type : Type or str
            The type of the returned value.

        Returns
        -------
        Value

        Raises
        ------
        QuantTypeError
            If there are no constants of the type, or the value does not fit the type.

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
            if not isinstance(wanted, TensorType) and not isinstance(value, Attribute):
                raise QuantTypeError(
                    f"Builder.constant: 'type' must be a tensor type for quantized elements, got {wanted}: "
                    f"write tensor<{element}> for one element"
                )
            stored = self.constant(value, with_element(wanted, element.storage_type))
            try:
                return self.create("quant.scast", stored, type=wanted).result
            except QuantTypeError:
                assert stored.operation is not None  # the constant, which a program has if it has its cast
                self.erase(stored.operation)
                raise
        if not isinstance(value, Attribute):
            value = checked_constant(value, wanted)
        elif (given := getattr(value, "type", None)) is not wanted:
            raise QuantTypeError(
                f"Builder.constant: 'type' is {wanted}, but the attribute 'value' is {value}, of type {given}: "
                "the two types must be equal"
            )
        return self.value("arith.constant", (), wanted, {"value": value})

    @contextmanager
    def function(
        self, name: str, inputs: Sequence[TypeLike], *, names: Sequence[str] | None = None, private: bool = False
    ) -> Iterator[tuple[Value, ...]]:
        """Create a ``func.func``; within the ``with`` block, the builder inserts into its body.

        The ``with`` statement yields the function's arguments. The result types are those of the operands of the final
        ``func.return``.

        Parameters
        ----------
        name : str
            The name of the function.
        inputs : sequence of Type or str
            The types of the arguments.
        names : sequence of str, optional
            The names of the arguments in compiled programs and on the command line (their attributes ``qrt.name``).
        private : bool, default False
            True gives the function private visibility.

        Raises
        ------
        QuantTypeError
            If the body does not end with a ``func.return``, or the numbers of names and arguments differ.

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
                raise QuantTypeError(
                    f"Builder.function: 'names' must have one name for each of the {plural(len(types), 'type')} in "
                    "'inputs', "
                    f"got {plural(len(names), 'name')}"
                )
            named["arg_attrs"] = [{"qrt.name": argument_name} for argument_name in names]
        region = Region([block])
        function = self.create(
            "func.func", regions=[region], sym_name=name, function_type=FunctionType(types, []), **named
        )
        outer = self.block, self.before
        self.block, self.before = block, None
        try:
            yield tuple(block.arguments)
        finally:
            self.block, self.before = outer
        last = block.last
        if last is None or last.name != "func.return":
            end = "is empty" if last is None else f"ends with '{last.name}'"
            raise QuantTypeError(
                f"Builder.function: the body of @{name} must end with a func.return, but {end}: "
                "write b.func.return_(...) at the end of the `with` block"
            )
        results = [value.type for value in last.operands]
        function.attributes["function_type"] = TypeAttr(FunctionType(types, results))

    # -- changes that the observer hears of ---------------------------------------------------------------------------

    def insert(self, operation: Operation) -> Operation:
        """Insert at the insertion point an operation that is not yet in a block, and return the operation."""
        if self.before is None:
            self.block.append(operation)
        else:
            self.block.insert_before(self.before, operation)
        self.observer.changed(operation)
        return operation

    def absorb(self, block: Block, arguments: Sequence[Value]) -> None:
        """Move all operations of a block to the insertion point, and remove the block.

        Uses of block argument i are replaced by `arguments[i]`.
        """
        for argument, value in zip(block.arguments, arguments, strict=True):
            self.replace_uses(argument, value)
        for operation in block:
            self.insert(operation.detach())
        assert block.parent is not None
        block.parent.blocks.remove(block)

    def inline(self, block: Block, arguments: Sequence[Value]) -> list[Value]:
        """Move the operations of a block to the insertion point, erase the terminator, and return its operands.

        Uses of block argument i are replaced by `arguments[i]`. The block is removed.
        """
        last = block.terminator
        self.absorb(block, arguments)
        values = list(last.operands)
        self.observer.erase(last)
        return values

    def moved(self, block: Block, from_end: bool = False) -> None:
        """Notify the observer of each operation of a block, because the operations have been moved into it.

        The notifications are in text order, or in the reverse order if `from_end`.
        """
        for operation in reversed(block.operations) if from_end else block:
            self.observer.changed(operation)

    def replace_uses(self, value: Value, new: Value) -> None:
        """Replace every use of `value` by `new`, starting with the last use."""
        for operation, index in reversed(list(value.uses)):
            operation.set_operand(index, new)
            self.observer.changed(operation)

    def set_operand(self, operation: Operation, index: int, value: Value) -> None:
        """Replace operand number `index` of an operation by `value`."""
        operation.set_operand(index, value)
        self.observer.changed(operation)

    def set_operands(self, operation: Operation, values: Sequence[Value]) -> None:
        """Replace all operands of an operation."""
        operation.set_operands(values)
        self.observer.changed(operation)

    def replace(self, operation: Operation, values: Sequence[Value]) -> None:
        """Replace each result of an operation by the value at its position in `values`, and erase the operation."""
        for result, value in zip(operation.results, values, strict=True):
            self.replace_uses(result, value)
        self.observer.erase(operation)

    def erase(self, operation: Operation) -> None:
        """Erase an operation whose results have no uses."""
        self.observer.erase(operation)

    def create_valid(
        self,
        name: str,
        operands: Sequence[Value],
        types: Sequence[Type],
        attributes: dict[str, Attribute] | None = None,
    ) -> Operation | None:
        """Create an operation if its op's `verify_signature` accepts it; otherwise create nothing and return None."""
        operation = self.emit(name, operands, types, attributes)
        assert operation.definition is not None
        assert operation.definition.verify_signature is not None
        try:
            operation.definition.verify_signature(operation)
        except VerifyError:
            self.erase(operation)
            return None
        return operation


class DialectOps:
    """Methods that create the ops of one dialect: ``b.arith`` of a Builder ``b`` is a ``DialectOps``.

    Parameters
    ----------
    builder : Builder
        The builder that creates the operations.
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
            raise AttributeError(f"dialect {self._dialect!r} has no op {name!r}{meant(name, dir(self))}")

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

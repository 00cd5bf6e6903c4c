"""Values, operations, blocks and regions. Operations of a block form a linked list; each value records its uses."""

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from qrt.errors import QuantTypeError, VerifyError, plural, shown
from qrt.ir.core.attributes import Attribute, LocationAttr, StringAttr
from qrt.ir.core.registry import TEXT_FORMS
from qrt.types import Type
from qrt.types.core import as_type
from qrt.types.scanner import Location, Source

if TYPE_CHECKING:
    from qrt.ir.core.define import Definition


@contextmanager
def garbage_uncollected() -> Iterator[None]:
    """Disable Python's cyclic garbage collector within the `with` block, which creates many operations.

    Almost all of these operations stay alive, and collection would take a third of the time.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


A = TypeVar("A", bound=Attribute)

NOWHERE = Location(Source("", "<built>"), 0)
"""The location of operations that were not parsed from text."""


class Value:
    """A result of an operation or an argument of a block. `uses` is an ordered set of (user operation, operand index).

    Examples
    --------
    >>> from qrt.ir import parse
    >>> text = "func.func @f(%x: i32) -> i32 { %0 = arith.addi %x, %x : i32  return %0 : i32 }"
    >>> function = parse(text).functions[0]
    >>> argument = function.regions[0].blocks[0].arguments[0]
    >>> argument, [operation.name for operation in argument.users]
    (<Value 0 : i32>, ['arith.addi'])
    """

    __slots__ = ("index", "owner", "type", "uses")

    def __init__(self, type: Type, owner: "Operation | Block | None", index: int) -> None:
        self.type = type
        self.owner = owner
        self.index = index
        self.uses: dict[tuple[Operation, int], None] = {}

    @property
    def operation(self) -> "Operation | None":
        """Operation that has this value as a result; None for a block argument."""
        return self.owner if isinstance(self.owner, Operation) else None

    @property
    def block(self) -> "Block | None":
        """Block of the defining operation or, for a block argument, its block; None if the operation is in no block."""
        return self.owner.parent if isinstance(self.owner, Operation) else self.owner

    @property
    def users(self) -> "list[Operation]":
        """Operations that use this value, each listed once."""
        return list(dict.fromkeys(operation for operation, _ in self.uses))

    def replace_all_uses(self, new: "Value") -> None:
        """Replace every use of this value by `new`."""
        for operation, index in list(self.uses):
            operation.set_operand(index, new)

    def __repr__(self) -> str:
        return f"<Value {self.index} : {self.type.shown()}>"


_NO_NAMES: frozenset[str] = frozenset()


class Operation:
    """One operation of a program.

    `attributes` holds the inherent and the discardable attributes. The definition declares the inherent ones; for an
    unregistered op, whose definition is None, the set `inherent` has their names.

    Parameters
    ----------
    name : str
        The name with its dialect, as "arith.addi".
    operands : iterable of Value, optional
        The operands; the operation is added to their uses.
    result_types : iterable of Type, optional
        The types of the results.
    attributes : dict of str to Attribute, optional
        Inherent and discardable attributes. The dict is stored, not copied.
    regions : iterable of Region, optional
        The regions; the operation becomes their parent.
    successors : sequence of Block, optional
        The blocks to which the operation may branch.
    location : Location, optional
        The source location of the operation's name.
    definition : Definition, optional
        The definition that ``qrt.ir.core.registry.find`` returns for the name; None for an unregistered op.

    Examples
    --------
    >>> from qrt.ir import parse
    >>> text = "func.func @f(%x: i32) -> i32 { %0 = arith.addi %x, %x : i32  return %0 : i32 }"
    >>> [operation.name for operation in parse(text).operation.walk()]
    ['builtin.module', 'func.func', 'arith.addi', 'func.return']
    """

    __slots__ = (
        "attributes",
        "definition",
        "inherent",
        "loc",
        "location",
        "name",
        "next",
        "operands",
        "parent",
        "previous",
        "regions",
        "results",
        "successors",
    )

    def __init__(
        self,
        name: str,
        operands: Iterable[Value] = (),
        result_types: Iterable[Type] = (),
        attributes: dict[str, Attribute] | None = None,
        regions: "Iterable[Region]" = (),
        successors: "Sequence[Block]" = (),
        location: Location = NOWHERE,
        definition: "Definition | None" = None,
    ) -> None:
        self.name = name
        self.definition = definition
        self.location = location
        self.loc: LocationAttr | None = None
        self.attributes: dict[str, Attribute] = {} if attributes is None else attributes
        self.inherent = _NO_NAMES
        self.operands: list[Value] = list(operands)
        for index, operand in enumerate(self.operands):
            operand.uses[self, index] = None
        self.results = [Value(type, self, index) for index, type in enumerate(result_types)]
        self.regions = tuple(regions)
        for region in self.regions:
            region.parent = self
        self.successors: tuple[Block, ...] = ()
        if successors:
            self.set_successors(successors)
        self.parent: Block | None = None
        self.previous: Operation | None = None
        self.next: Operation | None = None

    @property
    def result(self) -> Value:
        """The result of an operation that has exactly one."""
        (only,) = self.results
        return only

    @property
    def parent_operation(self) -> "Operation | None":
        """Operation that contains this one; None at the top level."""
        return self.parent.parent.parent if self.parent is not None and self.parent.parent is not None else None

    def has_trait(self, trait: object) -> bool:
        """Return True if the operation is registered and its definition has the trait."""
        return self.definition is not None and trait in self.definition.traits

    def operand_group(self, name: str) -> list[Value]:
        """Return the operands that the op's definition declares as `name`; the op must be registered."""
        assert self.definition is not None
        return self.definition.operand_group(self, name)

    def attribute(self, name: str, kind: type[A]) -> A:
        """Return the attribute `name`, which must be present and an instance of `kind`; for verified operations."""
        value = self.attributes[name]
        assert isinstance(value, kind)
        return value

    def set_operand(self, index: int, value: Value) -> None:
        """Replace operand number `index` by `value`."""
        del self.operands[index].uses[self, index]
        self.operands[index] = value
        value.uses[self, index] = None

    def set_operands(self, values: Sequence[Value]) -> None:
        """Replace all operands."""
        self.drop_operands()
        self.operands = list(values)
        for index, value in enumerate(values):
            value.uses[self, index] = None

    def drop_operands(self) -> None:
        """Remove all operands."""
        for index, operand in enumerate(self.operands):
            operand.uses.pop((self, index), None)
        self.operands = []

    def set_successors(self, blocks: "Sequence[Block]") -> None:
        """Replace all successors."""
        for block in self.successors:
            block.branches.pop(self, None)
        self.successors = tuple(blocks)
        for block in self.successors:
            block.branches[self] = None

    def take_regions(self) -> "tuple[Region, ...]":
        """Remove the regions from this operation and return them, to be moved to another operation."""
        regions, self.regions = self.regions, ()
        return regions

    def detach(self) -> "Operation":
        """Remove the operation from its block without erasing it, and return it."""
        block = self.parent
        if block is not None:
            before, after = self.previous, self.next
            if before is None:
                block.first = after
            else:
                before.next = after
            if after is None:
                block.last = before
            else:
                after.previous = before
        self.parent = self.previous = self.next = None
        return self

    def erase(self) -> None:
        """Remove the operation, with all operations inside it, from the program. Its results must have no uses."""
        for result in self.results:
            if result.uses:
                uses = plural(len(result.uses), "use")
                raise self.op_error(f"cannot be erased, because result #{result.index} still has {uses}")
        for operation in self.walk():
            operation.drop_operands()
            operation.set_successors(())
        self.detach()

    def clone(self, values: dict[Value, Value]) -> "Operation":
        """Return a copy of the operation and of its regions; the copy is not in a block.

        The copy uses `values[v]` in place of each value v that is a key of `values`, and keeps all other operands. This
        method adds the results and block arguments of the original to `values`, mapped to those of the copy.
        """
        blocks: dict[Block, Block] = {}
        regions = [Region() for _ in self.regions]
        for region, copied in zip(self.regions, regions, strict=True):
            for block in region.blocks:
                blocks[block] = copied.append(Block((value.type for value in block.arguments), block.location))
                values.update(zip(block.arguments, blocks[block].arguments, strict=True))
        copy = type(self)(
            self.name,
            [values.get(value, value) for value in self.operands],
            [value.type for value in self.results],
            dict(self.attributes),
            regions,
            self.successors,
            self.location,
            self.definition,
        )
        copy.loc, copy.inherent = self.loc, self.inherent
        values.update(zip(self.results, copy.results, strict=True))
        for original, block in blocks.items():
            for operation in original:
                inner = block.append(operation.clone(values))
                if inner.successors:
                    inner.set_successors([blocks.get(successor, successor) for successor in inner.successors])
        if len(blocks) > len(regions):  # a block may use what one behind it defines
            for inner in copy.walk():
                for index, value in enumerate(inner.operands):
                    if inner is not copy and value in values:
                        inner.set_operand(index, values[value])
        return copy

    def walk(self) -> "list[Operation]":
        """Return this operation and all operations inside it, as a list in pre-order.

        Later changes of the program do not change the list, so a loop over it may erase or move operations.
        """
        operations: list[Operation] = []
        stack = [self]
        while stack:
            operation = stack.pop()
            operations.append(operation)
            if operation.regions:
                inner = [child for region in operation.regions for block in region.blocks for child in block]
                stack.extend(reversed(inner))
        return operations

    def error(self, message: str, at: Location | None = None) -> VerifyError:
        """Return a VerifyError located at this operation, or at the location `at` of a part of it."""
        return VerifyError(message, self.location if at is None else at)

    def op_error(self, message: str, at: Location | None = None) -> VerifyError:
        """Return a VerifyError as `error` does, with the prefix `'name' op` in the message."""
        return self.error(f"'{self.name}' op {message}", at)

    def __str__(self) -> str:
        text: str = TEXT_FORMS["printed operation"](self)
        return text

    def __repr__(self) -> str:
        return f"<Operation {self.name} at {self.location}>"


class Block:
    """A list of operations, with block arguments.

    `branches` is an ordered set of the operations that have this block as a successor.

    Examples
    --------
    >>> from qrt.ir import parse
    >>> text = "func.func @f(%x: i32) -> i32 { %0 = arith.addi %x, %x : i32  return %0 : i32 }"
    >>> block = parse(text).functions[0].regions[0].blocks[0]
    >>> [operation.name for operation in block], len(block.arguments)
    (['arith.addi', 'func.return'], 1)
    """

    __slots__ = ("_symbols", "arguments", "branches", "first", "last", "location", "names", "parent")

    def __init__(self, types: Iterable[Type | str] = (), location: Location = NOWHERE) -> None:
        self.arguments: list[Value] = []
        for index, given in enumerate(types):
            type = as_type(given) if isinstance(given, str) else given
            if not isinstance(type, Type):
                raise QuantTypeError(f"Block: an item of 'types' must be a Type or its MLIR text, got {shown(given)}")
            self.arguments.append(Value(type, self, index))
        self.names: tuple[str, ...] = ()
        """SSA names of the arguments in the parsed text, such as ``%x``; copies of the block do not have them."""
        self.location = location
        self.parent: Region | None = None
        self.branches: dict[Operation, None] = {}
        self.first: Operation | None = None
        self.last: Operation | None = None
        self._symbols: dict[str, Operation] = {}  # the symbols at the last search

    def __iter__(self) -> Iterator[Operation]:
        return iter(self.operations)

    @property
    def operations(self) -> list[Operation]:
        """New list of the block's operations, so that a loop over it may erase or move operations."""
        operations: list[Operation] = []
        operation = self.first
        while operation is not None:
            operations.append(operation)
            operation = operation.next
        return operations

    def symbol(self, name: str) -> Operation | None:
        """Return the first operation of this block whose `sym_name` is `name`; None if there is none."""
        sought = StringAttr(name)
        symbol = self._symbols.get(name)
        if symbol is None or symbol.parent is not self or symbol.attributes.get("sym_name") != sought:
            self._symbols = {}
            for operation in self:
                defined = operation.attributes.get("sym_name")
                if isinstance(defined, StringAttr):
                    self._symbols.setdefault(defined.value, operation)
            symbol = self._symbols.get(name)
        return symbol

    def add_argument(self, type: Type) -> Value:
        """Append a block argument of this type, and return it."""
        value = Value(type, self, len(self.arguments))
        self.arguments.append(value)
        return value

    def set_arguments(self, values: Iterable[Value]) -> None:
        """Reorder or drop block arguments: `values` are the arguments that remain, in their new order."""
        self.arguments = list(values)
        for index, argument in enumerate(self.arguments):
            argument.index = index

    def append(self, operation: Operation) -> Operation:
        """Append an operation that is not yet in a block, and return it."""
        operation.parent = self
        operation.previous = self.last
        operation.next = None
        if self.last is None:
            self.first = operation
        else:
            self.last.next = operation
        self.last = operation
        return operation

    def insert_before(self, place: Operation, operation: Operation) -> Operation:
        """Insert `operation`, which is in no block yet, before `place`, which is in this block; return `operation`."""
        before = place.previous
        operation.parent, operation.previous, operation.next = self, before, place
        place.previous = operation
        if before is None:
            self.first = operation
        else:
            before.next = operation
        return operation

    def split(self, place: Operation) -> "Block":
        """Move `place` and all operations after it to a new block, inserted after this one; return the new block."""
        assert self.parent is not None
        following = Block((), place.location)
        following.parent = self.parent
        self.parent.blocks.insert(self.parent.blocks.index(self) + 1, following)
        at: Operation | None = place
        while at is not None:
            following_operation = at.next
            following.append(at.detach())
            at = following_operation
        return following

    def take_before(self, region: "Region") -> None:
        """Move all blocks of another region into this block's region, before this block."""
        assert self.parent is not None
        blocks, place = self.parent.blocks, self.parent.blocks.index(self)
        blocks[place:place] = region.blocks
        for block in region.blocks:
            block.parent = self.parent
        region.blocks = []

    @property
    def terminator(self) -> Operation:
        """Last operation of the block, which must not be empty."""
        assert self.last is not None
        return self.last

    @property
    def successors(self) -> "tuple[Block, ...]":
        """Blocks to which the last operation may branch."""
        return self.last.successors if self.last is not None else ()


class Region:
    """A list of blocks, owned by an operation.

    Examples
    --------
    >>> from qrt.ir import parse
    >>> region = parse("func.func @f() { return }").functions[0].regions[0]
    >>> len(region.blocks), region.parent.name
    (1, 'func.func')
    """

    __slots__ = ("blocks", "parent")

    def __init__(self, blocks: Iterable[Block] = ()) -> None:
        self.blocks: list[Block] = []
        self.parent: Operation | None = None
        for block in blocks:
            self.append(block)

    def append(self, block: Block) -> Block:
        """Append a block, and return it."""
        block.parent = self
        self.blocks.append(block)
        return block


def check_branch(operation: Operation, index: int, block: Block, given: list[Value]) -> None:
    """Raise VerifyError unless a branch passes values of the right number and types to its successor number `index`.

    `given` are the operands of `operation` that become the arguments of the successor, `block`.
    """
    expected = len(block.arguments)
    if len(given) != expected:
        message = f"branch has {len(given)} operands for successor #{index}, but target block has {expected}"
        raise operation.error(message)
    for argument, (value, wanted) in enumerate(zip(given, block.arguments, strict=True)):
        if value.type is not wanted.type:
            raise operation.error(f"type mismatch for bb argument #{argument} of successor #{index}")


def incompatible(operation: Operation, inferred: Iterable[Type]) -> VerifyError:
    """Return the VerifyError for an operation whose result types differ from the inferred ones."""
    wanted = ", ".join(f"'{type}'" for type in inferred)
    actual = ", ".join(f"'{value.type}'" for value in operation.results)
    return operation.op_error(f"inferred type(s) {wanted} are incompatible with return type(s) of operation {actual}")

"""Verification of programs: SSA dominance, block structure, symbols, and the verifier of each op."""

from collections.abc import Collection

from qrt.errors import Diagnostic, VerifyError
from qrt.ir.core import places, registry
from qrt.ir.core.attributes import StringAttr, TypeAttr
from qrt.ir.core.discardable import check_attributes
from qrt.ir.core.operations import Block, Operation, Region, Value
from qrt.ir.core.traits import GRAPH_REGION, ISOLATED_FROM_ABOVE, NO_TERMINATOR, SYMBOL, SYMBOL_TABLE, TERMINATOR
from qrt.types import FunctionType, TensorType, Type, UniformType


def verify(operation: Operation, strict: bool = False) -> list[Diagnostic]:
    """Verify an operation, with all operations inside it, and return the warnings.

    A warning is about a zero point outside its storage type's range, which upstream MLIR accepts; `strict` makes it an
    error.

    Raises VerifyError for the first invalid operation in text order; its `diagnostics` lists all errors. As in upstream
    MLIR, each operation that is isolated from above (a function, a module) reports only one error: that of the first
    invalid operation inside it, else the first symbol error, else the first dominance error.
    """
    verifier = _Verifier(strict)
    verifier.isolated(operation)
    if verifier.errors:
        first = verifier.errors[0]
        first.diagnostics = tuple(verifier.found)
        raise first
    return verifier.found


class _Verifier:
    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self.found: list[Diagnostic] = []
        self.errors: list[VerifyError] = []
        self.visible: set[Value] = set()
        self.checked: set[Type] = set()  # types that have been found sound, or have been warned of
        self.inner: list[Operation] = []  # isolated from above, to be verified after what is around them
        self.dominance: VerifyError | None = None  # the first, to be reported if nothing else is

    def isolated(self, operation: Operation) -> bool:
        """Verify an operation that is isolated from above, such as a function, with all operations inside it.

        Record errors, and return True if there are none.
        """
        outer = self.visible, self.inner, self.dominance
        self.visible, self.inner, self.dominance = set(), [], None
        try:
            self._operation(operation)
            sound = [self.isolated(inner) for inner in self.inner]
            if not all(sound):
                return False
            if SYMBOL_TABLE in _traits(operation):
                _check_symbols(operation)
            if self.dominance is not None:
                raise self.dominance
        except VerifyError as error:
            self.errors.append(error)
            self.found.extend(error.diagnostics)
            return False
        finally:
            self.visible, self.inner, self.dominance = outer
        return True

    def _operation(self, operation: Operation) -> None:
        verify_alone(operation)
        for region in operation.regions:
            if region.blocks and region.blocks[0].branches:
                raise operation.error("entry block of region may not have predecessors")
        if SYMBOL in _traits(operation):
            _check_symbol_parent(operation)
        for value in operation.results:
            self._value_type(value.type, operation)
        for attribute in operation.attributes.values():
            if isinstance(attribute, TypeAttr) and isinstance(attribute.type, FunctionType):
                self._value_type(attribute.type, operation)
        for region in operation.regions:
            self._region(region, operation)
        _check_name(operation)

    def _region(self, region: Region, owner: Operation) -> None:
        if not region.blocks:
            return
        if len(region.blocks) == 1:
            ordered = owner.definition is not None and GRAPH_REGION not in owner.definition.traits
            self.visible.difference_update(self._block(region.blocks[0], owner, ordered))
        else:
            self._dominated(region, owner)

    def _block(self, block: Block, owner: Operation, ordered: bool) -> list[Value]:
        """Verify the operations of a block, and return the values that the block defines.

        The values are added to `self.visible`; the caller removes them when all dominated blocks are verified. If
        `ordered`, a value is visible only after its definition, else (in a graph region) in the whole block. `owner` is
        the operation that contains the block.
        """
        visible = self.visible
        added = list(block.arguments)
        visible.update(added)
        for value in added:
            if value.type not in self.checked:
                self._value_type(value.type, owner)
        if not ordered:
            visible.update(_defined(block))
        last = block.last
        for operation in block:
            for operand in operation.operands:
                if operand not in visible:
                    self.dominance = self.dominance or _dominance_error(operation, operand)
            if operation.regions and ISOLATED_FROM_ABOVE in _traits(operation):
                self.inner.append(operation)
            elif operation.regions:
                self._operation(operation)
            else:  # of nearly all operations, so that a call counts
                verify_alone(operation)
                _check_name(operation)
                for value in operation.results:
                    if value.type not in self.checked:
                        self._value_type(value.type, operation)
            if operation is not last and (operation.successors or TERMINATOR in _traits(operation)):
                raise operation.op_error("must be the last operation in the parent block")
            visible.update(operation.results)
            added.extend(operation.results)
        if ordered and NO_TERMINATOR not in _traits(owner):
            _check_terminator(block, owner)
        return added

    def _dominated(self, region: Region, owner: Operation) -> None:
        """Verify a region's blocks along the dominator tree, so that only values from dominating blocks are visible."""
        children, unreachable = dominator_tree(region)
        stack: list[tuple[Block | None, list[Value]]] = [(region.blocks[0], [])]
        while stack:
            block, leaving = stack.pop()
            if block is None:
                self.visible.difference_update(leaving)
                continue
            stack.append((None, self._block(block, owner, ordered=True)))
            stack.extend((child, []) for child in children.get(block, []))
        if not unreachable:
            return
        added = [value for block in region.blocks for value in _defined(block)]
        self.visible.update(added)  # everything dominates what is never reached
        for block in unreachable:
            self._block(block, owner, ordered=True)
        self.visible.difference_update(added)

    def _value_type(self, type: Type, operation: Operation) -> None:
        """Report zero points outside the storage type's range, in a value's type or in the types of a function type."""
        for part in (*type.inputs, *type.results) if isinstance(type, FunctionType) else (type,):
            element = part.element if isinstance(part, TensorType) else part
            if not isinstance(element, UniformType) or part in self.checked:
                continue
            self._zero_points(part, element, operation)
            self.checked.add(part)
        self.checked.add(type)

    def _zero_points(self, type: Type, element: UniformType, operation: Operation) -> None:
        least, greatest = element.default_bounds
        first, last = element.zero_point_bounds
        if least <= first and last <= greatest:
            return
        outside = next(zero for zero in element.zero_points if not least <= zero <= greatest)
        wrong = f"zero point {outside} is outside [{least}, {greatest}], the range of {element.storage}"
        error = operation.op_error(f"has a value of type {type}: {wrong}")
        if self.strict:
            raise error
        self.found.append(Diagnostic("warning", error.message, operation.location))


def _traits(operation: Operation) -> Collection[object]:
    return () if operation.definition is None else operation.definition.traits


def verify_alone(operation: Operation) -> None:
    """Verify an operation by the definition of its op, without the operations inside it. Raise VerifyError."""
    if operation.attributes:
        check_attributes(operation)
    if operation.definition is not None:
        operation.definition.check(operation)


def _check_name(operation: Operation) -> None:
    """Raise VerifyError for an unregistered op in a dialect that does not allow unregistered ops."""
    if operation.definition is None and registry.is_refused(operation.name):
        dialect = operation.name.partition(".")[0]
        raise operation.error(
            f"unregistered operation '{operation.name}' found in dialect ('{dialect}') that does not allow unknown "
            "operations"
        )


def _defined(block: Block) -> list[Value]:
    return [*block.arguments, *(value for operation in block for value in operation.results)]


def _dominance_error(operation: Operation, operand: Value) -> VerifyError:
    index = operation.operands.index(operand)
    if operand.owner is None:
        return operation.error(
            f"operand #{index} is defined neither by an operation nor as a block argument",
            places.operand(operation, index),
        )
    return operation.error(f"operand #{index} does not dominate this use", places.operand(operation, index))


def _check_terminator(block: Block, owner: Operation) -> None:
    last = block.last
    if last is None:
        raise VerifyError("empty block: expect at least a terminator", owner.location)
    if last.definition is not None and TERMINATOR not in last.definition.traits:
        raise last.error("block with no terminator, has '" + last.name + "'")


def _check_symbol_parent(symbol: Operation) -> None:
    parent = symbol.parent_operation
    if parent is not None and parent.definition is not None and SYMBOL_TABLE not in parent.definition.traits:
        raise symbol.op_error("symbol's parent must have the SymbolTable trait")


def _check_symbols(table: Operation) -> None:
    seen: dict[str, Operation] = {}
    for region in table.regions:
        for block in region.blocks:
            for operation in block:
                name = operation.attributes.get("sym_name")
                if not isinstance(name, StringAttr):
                    continue
                if name.value in seen:
                    note = Diagnostic("note", "see existing symbol definition here", seen[name.value].location)
                    message = f"redefinition of symbol named '{name.value}'"
                    raise VerifyError(message, operation.location, (note,))
                seen[name.value] = operation


def dominator_tree(region: Region) -> tuple[dict[Block, list[Block]], list[Block]]:
    """Return ({block: blocks that it immediately dominates}, unreachable blocks) of a region.

    Source: Cooper, Harvey and Kennedy, 'A Simple, Fast Dominance Algorithm'.
    """
    order = _postorder(region)
    number = {block: index for index, block in enumerate(order)}
    predecessors: dict[Block, list[Block]] = {block: [] for block in order}
    for block in order:
        for successor in block.successors:
            if successor in predecessors:
                predecessors[successor].append(block)
    entry = region.blocks[0]
    dominator = {entry: entry}
    changed = True
    while changed:
        changed = False
        for block in reversed(order):
            if block is entry:
                continue
            known = [p for p in predecessors[block] if p in dominator]
            new = known[0]
            for other in known[1:]:
                while new is not other:
                    while number[new] < number[other]:
                        new = dominator[new]
                    while number[other] < number[new]:
                        other = dominator[other]
            if dominator.get(block) is not new:
                dominator[block] = new
                changed = True
    children: dict[Block, list[Block]] = {}
    for block in reversed(order):
        if block is not entry:
            children.setdefault(dominator[block], []).append(block)
    return children, [block for block in region.blocks if block not in number]


def _postorder(region: Region) -> list[Block]:
    order: list[Block] = []
    seen = {region.blocks[0]}
    stack = [(region.blocks[0], iter(region.blocks[0].successors))]
    while stack:
        block, successors = stack[-1]
        following = next((s for s in successors if s not in seen), None)
        if following is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(following.successors)))
    return order

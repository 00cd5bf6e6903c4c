"""Verification: SSA dominance, block structure, symbols, and each op's own rules."""

from collections.abc import Iterator

from qrt.errors import QuantTypeError, VerifyError
from qrt.ir.attributes import StringAttr
from qrt.ir.core import Block, Operation, Region, Value
from qrt.ir.traits import GRAPH_REGION, ISOLATED_FROM_ABOVE, NO_TERMINATOR, SYMBOL_TABLE, TERMINATOR
from qrt.types import TensorType, Type, UniformType, check_integrity


def verify(operation: Operation, strict: bool = False) -> None:
    """Raise VerifyError at the first operation, in text order, that breaks a rule. `strict` also checks what upstream
    leaves unchecked: that quantization parameters fit their tensors on every value, not on `quant` ops alone."""
    _Verifier(strict).operation(operation)


class _Verifier:
    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self.visible: set[Value] = set()
        self.sound: set[Type] = set()  # types whose integrity has been checked

    def operation(self, operation: Operation) -> None:
        if operation.definition is not None:
            operation.definition.check(operation)
        if self.strict:
            for value in operation.results:
                self._integrity(value.type, operation)
        isolated = operation.has_trait(ISOLATED_FROM_ABOVE)
        outer = self.visible
        for region in operation.regions:
            if isolated:
                self.visible = set()
            self._region(region, operation)
            self.visible = outer
        if operation.has_trait(SYMBOL_TABLE):
            _check_symbols(operation)

    def _region(self, region: Region, owner: Operation) -> None:
        if not region.blocks:
            return
        ordered = owner.definition is not None and not owner.has_trait(GRAPH_REGION)
        if not ordered:
            added = [value for block in region.blocks for value in _defined(block)]
            self.visible.update(added)
            for block in region.blocks:
                self._block(block, owner, ordered)
            self.visible.difference_update(added)
        elif len(region.blocks) == 1:
            self.visible.difference_update(self._block(region.blocks[0], owner, ordered))
        else:
            self._dominated(region, owner)

    def _block(self, block: Block, owner: Operation, ordered: bool) -> list[Value]:
        """Check a block; the values it defines stay visible, and are returned."""
        visible = self.visible
        added = list(block.arguments)
        visible.update(added)
        if self.strict:
            for value in added:
                self._integrity(value.type, owner)
        last = block.last
        for operation in block:
            for operand in operation.operands:
                if operand not in visible:
                    raise _dominance_error(operation, operand)
            definition = operation.definition
            if definition is not None and not operation.regions and not self.strict:
                definition.check(operation)
            else:
                self.operation(operation)
            if operation is not last and (
                operation.successors or (definition is not None and TERMINATOR in definition.traits)
            ):
                raise operation.op_error("must be the last operation in the parent block")
            visible.update(operation.results)
            added.extend(operation.results)
        if ordered and not owner.has_trait(NO_TERMINATOR):
            _check_terminator(block, owner)
        return added

    def _dominated(self, region: Region, owner: Operation) -> None:
        """Blocks in the order of the dominator tree, so that what is visible in each is what dominates it."""
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

    def _integrity(self, type: Type, operation: Operation) -> None:
        if type in self.sound:
            return
        self.sound.add(type)
        try:
            if isinstance(type, UniformType) and not type.is_per_layer:
                raise QuantTypeError(f"scalar types may not use per-axis or sub-channel quantization: {type}")
            if isinstance(type, TensorType) and isinstance(type.element, UniformType):
                check_integrity(type.element, type.shape)
        except QuantTypeError as error:
            raise operation.op_error(f"has a value of type {type}: {error}") from None


def _defined(block: Block) -> Iterator[Value]:
    yield from block.arguments
    for operation in block:
        yield from operation.results


def _dominance_error(operation: Operation, operand: Value) -> VerifyError:
    index = operation.operands.index(operand)
    if operand.owner is None:
        return operation.error(f"operand #{index} is not defined by any operation")
    return operation.error(f"operand #{index} does not dominate this use")


def _check_terminator(block: Block, owner: Operation) -> None:
    last = block.last
    if last is None:
        raise VerifyError("empty block: expect at least a terminator", owner.location)
    if last.definition is not None and TERMINATOR not in last.definition.traits:
        raise last.error("block with no terminator, has '" + last.name + "'")


def _check_symbols(table: Operation) -> None:
    seen: dict[str, Operation] = {}
    for region in table.regions:
        for block in region.blocks:
            for operation in block:
                name = operation.attributes.get("sym_name")
                if not isinstance(name, StringAttr):
                    continue
                if name.value in seen:
                    raise operation.error(f"redefinition of symbol named '{name.value}'")
                seen[name.value] = operation


def dominator_tree(region: Region) -> tuple[dict[Block, list[Block]], list[Block]]:
    """(children of each reachable block, unreachable blocks), after Cooper, Harvey and Kennedy, 'A Simple, Fast
    Dominance Algorithm'."""
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

"""Traits of ops, named as in upstream MLIR: properties by which passes and the verifier handle ops generically.

Memory effects and speculation follow upstream MLIR's `SideEffectInterfaces`: an unregistered op may have any effect.
"""

from collections.abc import Callable, Iterable, Sequence

from qrt.ir.core.constraints import Shaped, element_of
from qrt.ir.core.operations import Operation
from qrt.types import TensorType, Type, VectorType

Verify = Callable[[Operation], None]


class Trait:
    """A property of an op, such as `Pure` or `Terminator`, optionally with a verifier.

    `implies` are further traits of every op that has this one. `verify` raises VerifyError for an operation that
    violates the trait. If `of_signature`, `verify` reads only types and attributes, and is called once for all
    operations with the same types and attributes.

    Examples
    --------
    >>> from qrt.ir import parse
    >>> from qrt.ir.core.traits import PURE
    >>> module = parse("func.func @f() { %0 = arith.constant 1 : i32  return }")
    >>> constant = module.functions[0].regions[0].blocks[0].first
    >>> constant.has_trait(PURE)
    True
    """

    __slots__ = ("implies", "name", "of_signature", "verify")

    def __init__(
        self,
        name: str,
        implies: "Iterable[Trait]" = (),
        verify: Verify | None = None,
        of_signature: bool = True,
    ) -> None:
        self.name = name
        self.implies = tuple(implies)
        self.verify = verify
        self.of_signature = of_signature

    def __repr__(self) -> str:
        return f"<Trait {self.name}>"


def expand(traits: Iterable[Trait]) -> tuple[Trait, ...]:
    """Return the traits and, after each, the traits that it implies, without repetitions."""
    expanded: dict[Trait, None] = {}
    pending = list(traits)[::-1]
    while pending:
        trait = pending.pop()
        if trait not in expanded:
            expanded[trait] = None
            pending.extend(reversed(trait.implies))
    return tuple(expanded)


# -- effects ---------------------------------------------------------------------------------------------------------

NO_MEMORY_EFFECT = Trait("NoMemoryEffect")
MEM_READ, MEM_WRITE = Trait("MemRead"), Trait("MemWrite")
MEM_ALLOC = Trait("MemAlloc")
"""Allocates its results, and has no other effect."""
MEM_FREE = Trait("MemFree")
RECURSIVE_MEMORY_EFFECTS = Trait("RecursiveMemoryEffects")
"""Has the effects of the operations inside it, besides its own."""
ALWAYS_SPECULATABLE = Trait("AlwaysSpeculatable")
"""Has no undefined behaviour, so it may be moved to where it would not have run."""
RECURSIVELY_SPECULATABLE = Trait("RecursivelySpeculatable")
PURE = Trait("Pure", implies=(ALWAYS_SPECULATABLE, NO_MEMORY_EFFECT))
"""May be removed, merged and moved."""

_EFFECTS = (MEM_READ, MEM_WRITE, MEM_ALLOC, MEM_FREE)


def memory_effects(operation: Operation, inside: bool = True) -> frozenset[Trait] | None:
    """Return the memory effects (`MEM_READ`, `MEM_WRITE`, `MEM_ALLOC`, `MEM_FREE`) of an operation; None if unknown.

    The effects of operations inside its regions are included if the op has `RECURSIVE_MEMORY_EFFECTS` and `inside` is
    True.
    """
    collected: set[Trait] = set()
    pending = [operation]
    while pending:
        current = pending.pop()
        definition = current.definition
        if definition is None:
            return None
        own = definition.effects(current) if definition.effects is not None else definition.traits
        effects = [effect for effect in _EFFECTS if effect in own]
        collected.update(effects)
        if RECURSIVE_MEMORY_EFFECTS in definition.traits:
            if inside:
                pending.extend(child for region in current.regions for block in region.blocks for child in block)
        elif not effects and definition.effects is None and NO_MEMORY_EFFECT not in definition.traits:
            return None
    return frozenset(collected)


def has_no_memory_effect(operation: Operation) -> bool:
    """Return True if the operation, with all operations inside it, is known to have no memory effect."""
    return memory_effects(operation) == frozenset()


def reads(operation: Operation) -> bool:
    """Return True if the operation may read memory; unknown effects count as a read."""
    effects = memory_effects(operation)
    return effects is None or MEM_READ in effects


def writes(operation: Operation) -> bool:
    """Return True if the operation may write memory; unknown effects count as a write."""
    effects = memory_effects(operation)
    return effects is None or MEM_WRITE in effects


def is_speculatable(operation: Operation) -> bool:
    """Return True if the operation may be executed where the original program would not execute it."""
    if operation.definition is not None and operation.definition.speculatable is not None:
        return operation.definition.speculatable(operation)
    if operation.has_trait(RECURSIVELY_SPECULATABLE):
        return is_speculatable_inside(operation)
    return operation.has_trait(ALWAYS_SPECULATABLE)


def is_speculatable_inside(operation: Operation) -> bool:
    """Return True if all operations in the regions of an operation are speculatable."""
    return all(is_speculatable(child) for region in operation.regions for block in region.blocks for child in block)


def would_be_dead(operation: Operation) -> bool:
    """Return True if an operation may be removed once its results have no uses, as MLIR's `wouldOpBeTriviallyDead`.

    Such an operation is neither a terminator nor a symbol, and its only memory effects are reads and allocations.
    """
    return removal_blocker(operation) is None


def removal_blocker(operation: Operation) -> Operation | None:
    """Return the operation that forbids removing `operation` once its results have no uses; None if nothing does.

    That is `operation` itself, if it is a terminator or a symbol, or the first operation in it that may write or free
    memory.
    """
    if operation.has_trait(TERMINATOR) or operation.has_trait(SYMBOL):
        return operation
    pending = [operation]
    while pending:
        current = pending.pop()
        definition = current.definition
        if definition is not None and RECURSIVE_MEMORY_EFFECTS in definition.traits:
            pending.extend(child for region in current.regions for block in region.blocks for child in block)
        effects = memory_effects(current, inside=False)
        if effects is None or not effects <= {MEM_READ, MEM_ALLOC}:
            return current
    return None


# -- structure -------------------------------------------------------------------------------------------------------


def _verify_single_block(operation: Operation) -> None:
    for index, region in enumerate(operation.regions):
        if len(region.blocks) > 1:
            raise operation.op_error(f"expects region #{index} to have 0 or 1 blocks")
        if region.blocks and region.blocks[0].first is None and not operation.has_trait(NO_TERMINATOR):
            raise operation.op_error("expects a non-empty block")


TERMINATOR = Trait("Terminator")
RETURN_LIKE = Trait("ReturnLike")
"""Terminator whose operands become the results of the parent operation."""
CONSTANT_LIKE = Trait("ConstantLike")
ISOLATED_FROM_ABOVE = Trait("IsolatedFromAbove")
SYMBOL, SYMBOL_TABLE = Trait("Symbol"), Trait("SymbolTable")
LOOP_LIKE = Trait("LoopLike")
"""May run its regions repeatedly."""
NO_TERMINATOR = Trait("NoTerminator")
GRAPH_REGION = Trait("GraphRegion", implies=(NO_TERMINATOR,))
"""The operations of its single block have no order, and the block needs no terminator."""
SINGLE_BLOCK = Trait("SingleBlock", verify=_verify_single_block, of_signature=False)
EXTENSION = Trait("Extension")
"""Op that upstream MLIR does not have."""


def single_block_implicit_terminator(name: str) -> Trait:
    """Return the trait of ops whose regions have a single block that ends with the op `name`.

    A custom form omits this terminator if it has no operands and attributes.
    """

    def verify(operation: Operation) -> None:
        for region in operation.regions:
            last = region.blocks[0].last if region.blocks else None
            if last is not None and last.name != name:
                raise operation.op_error(f"expects regions to end with '{name}', found '{last.name}'")

    return Trait(f"SingleBlockImplicitTerminator<{name}>", (SINGLE_BLOCK,), verify, of_signature=False)


def _verify_no_arguments(operation: Operation) -> None:
    for index, region in enumerate(operation.regions):
        if any(block.arguments for block in region.blocks):
            raise operation.op_error(f"region #{index} should have no arguments")


NO_REGION_ARGUMENTS = Trait("NoRegionArguments", verify=_verify_no_arguments, of_signature=False)


def has_parent(*names: str) -> Trait:
    """Return the trait of ops whose parent operation must be one of `names`."""
    wanted = f"'{names[0]}'" if len(names) == 1 else f"to be one of '{', '.join(names)}'"

    def verify(operation: Operation) -> None:
        parent = operation.parent_operation
        if parent is None or parent.name not in names:
            raise operation.op_error(f"expects parent op {wanted}")

    return Trait(f"HasParent<{', '.join(names)}>", verify=verify, of_signature=False)


# -- types -----------------------------------------------------------------------------------------------------------


def _types(operation: Operation) -> list[Type]:
    return [value.type for value in (*operation.operands, *operation.results)]


def _verify_same_type(operation: Operation) -> None:
    if len(set(_types(operation))) > 1:
        raise operation.op_error("requires the same type for all operands and results")


def _verify_same_type_operands(operation: Operation) -> None:
    if len({value.type for value in operation.operands}) > 1:
        raise operation.op_error("requires all operands to have the same type")


def _verify_same_shape(operation: Operation) -> None:
    if not have_compatible_shapes(_types(operation)):
        raise operation.op_error("requires the same shape for all operands and results")


def have_compatible_shapes(types: Sequence[Type]) -> bool:
    """Return True if values of these types may have the same shape at run time.

    Either all types must be scalars, or all must be shaped types with the same rank and no contradictory static sizes.
    Scalable vectors are compatible only with scalable vectors.
    """
    shaped = [type for type in types if isinstance(type, Shaped)]
    if len(shaped) not in (0, len(types)):
        return False
    if len({isinstance(type, VectorType) and any(type.scalable) for type in shaped}) > 1:
        return False
    shapes = [type.shape for type in shaped if type.shape is not None]
    if len({len(shape) for shape in shapes}) > 1:
        return False
    return all(len(set(sizes) - {None}) < 2 for sizes in zip(*shapes, strict=True))


def _verify_elementwise(operation: Operation) -> None:
    operands, results = (
        [value.type for value in values if isinstance(value.type, VectorType | TensorType)]
        for values in (operation.operands, operation.results)
    )
    if not operands and not results:
        return
    if not operands:
        raise operation.op_error("if a result is non-scalar, then at least one operand must be non-scalar")
    if not results:
        raise operation.op_error("if an operand is non-scalar, then there must be at least one non-scalar result")
    if len(results) != len(operation.results):
        raise operation.op_error("if an operand is non-scalar, then all results must be non-scalar")
    types = [*operands, *results]
    if len(set(map(_base, types))) > 1 or not have_compatible_shapes(types):
        raise operation.op_error("all non-scalar operands/results must have the same shape and base type")


def _base(type: Type) -> tuple[object, bool]:
    """Return (class, is_unranked) of a type, which distinguishes vectors, ranked tensors and unranked tensors."""
    return type.__class__, getattr(type, "shape", ()) is None


def _verify_same_element(operation: Operation) -> None:
    if len(set(map(element_of, _types(operation)))) > 1:
        raise operation.op_error("requires the same element type for all operands and results")


COMMUTATIVE = Trait("Commutative")
"""The operands may be exchanged; in canonical IR constant operands are last."""
ELEMENTWISE = Trait("Elementwise", verify=_verify_elementwise)
"""Computes each element of its results from the elements at the same place."""
SAME_OPERANDS_AND_RESULT_TYPE = Trait("SameOperandsAndResultType", verify=_verify_same_type)
SAME_TYPE_OPERANDS = Trait("SameTypeOperands", verify=_verify_same_type_operands)
SAME_OPERANDS_AND_RESULT_SHAPE = Trait("SameOperandsAndResultShape", verify=_verify_same_shape)
SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE = Trait("SameOperandsAndResultElementType", verify=_verify_same_element)

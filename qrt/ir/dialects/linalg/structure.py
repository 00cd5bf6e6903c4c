"""The parts that all structured ops of `linalg` share: maps, loops, the custom form of operands, and verification."""

from collections.abc import Collection, Iterable, Sequence

from qrt.errors import UndefinedError
from qrt.ir.builder import Builder
from qrt.ir.core.affine import AffineMapAttr, Expression, evaluate
from qrt.ir.core.attribute_kinds import enumeration
from qrt.ir.core.attributes import ArrayAttr, Attribute, DenseArrayAttr, OpaqueAttr
from qrt.ir.core.define import OPERAND_SEGMENTS, segments
from qrt.ir.core.forms import FormParser, FormPrinter, PendingOperation
from qrt.ir.core.operations import Operation, Region, Value
from qrt.ir.core.traits import MEM_READ, MEM_WRITE, RECURSIVE_MEMORY_EFFECTS, RECURSIVELY_SPECULATABLE, Trait
from qrt.ir.dialects._regions.forms import spell_results
from qrt.types import MemRefType, TensorType, Type

MAPS = "indexing_maps"
ITERATOR = enumeration("linalg.iterator_type", "parallel reduction")
TRAITS = frozenset({RECURSIVE_MEMORY_EFFECTS, RECURSIVELY_SPECULATABLE})
Maps = tuple[AffineMapAttr, ...]

CANONICALIZE = ("tensor.canonicalize: from_casts", "linalg.canonicalize: without_elements known_sizes")
"""The patterns that every structured op tries first; those of the op come next, and `CANONICALIZE_BUFFERS` last."""
CANONICALIZE_BUFFERS = ("memref.canonicalize: from_ranked_casts",)


class StructuredOp(Operation):
    """Structured op: a loop nest over inputs and outputs, whose body receives one element of each operand.

    Indexing maps select these elements.
    """

    __slots__ = ()

    @property
    def inputs(self) -> list[Value]:
        return self.operands[: self.input_count]

    @property
    def outputs(self) -> list[Value]:
        return self.operands[self.input_count :]

    @property
    def input_count(self) -> int:
        return self.attribute(OPERAND_SEGMENTS, DenseArrayAttr).values[0]

    @property
    def indexing_maps(self) -> Maps:
        """The indexing map of each operand."""
        raise NotImplementedError

    @property
    def iterators(self) -> tuple[str, ...]:
        """The iterator type of each loop: "parallel" if the loop indexes an output, else "reduction"."""
        maps = self.indexing_maps
        indexed = {result for map in maps[self.input_count :] for result in map.results}
        return tuple("parallel" if ("d", loop) in indexed else "reduction" for loop in range(maps[0].dimensions))


def stated_maps(attribute: Attribute | None) -> Maps:
    """Return the affine maps in an array attribute."""
    assert isinstance(attribute, ArrayAttr)
    return tuple(map for map in attribute.elements if isinstance(map, AffineMapAttr))


def array_of_maps(value: Attribute) -> str | None:
    """Return None if the attribute is an array of affine maps, else an error message."""
    fine = isinstance(value, ArrayAttr) and all(isinstance(map, AffineMapAttr) for map in value.elements)
    return None if fine else "failed to satisfy constraint: AffineMap array attribute"


def iterator(kind: str) -> OpaqueAttr:
    """Return `#linalg.iterator_type<kind>`, which the custom form of `generic` spells as a string."""
    return OpaqueAttr(f"#linalg.iterator_type<{kind}>")


def generic(
    builder: Builder,
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    types: Sequence[Type],
    maps: Sequence[AffineMapAttr],
    kinds: Iterable[str],
    region: Region,
) -> list[Value]:
    """Build a `linalg.generic` with results of these types, and return its results.

    `maps` are the indexing maps of the inputs, then of the outputs; `kinds` are the iterator types of the loops.
    """
    attributes: dict[str, Attribute] = {
        MAPS: ArrayAttr(tuple(maps)),
        "iterator_types": ArrayAttr(tuple(map(iterator, kinds))),
        OPERAND_SEGMENTS: segments(len(inputs), len(outputs)),
    }
    return builder.emit("linalg.generic", [*inputs, *outputs], types, attributes, [region]).results


def rank_of(type: Type) -> int:
    """Return the rank of a ranked tensor or memref; 0 for a scalar. A vector counts as a scalar."""
    return len(shape_of(type) or ())


def shape_of(type: Type) -> Sequence[int | None] | None:
    """Return the shape of a tensor or memref: None for an unranked one, `()` for a scalar."""
    return type.shape if isinstance(type, TensorType | MemRefType) else ()


def scalar_of(type: Type) -> Type:
    """Return the type of the block argument for an operand: its element type, or its own type if it is a scalar."""
    return type.element if isinstance(type, TensorType | MemRefType) else type


def effects(operation: Operation) -> Collection[Trait]:
    """Return the memory effects of a structured op: reads and writes if an operand is a memref, else none."""
    buffers = any(isinstance(value.type, MemRefType) for value in operation.operands)
    return (MEM_READ, MEM_WRITE) if buffers else ()


# -- custom forms: `ins(%a, %b : type, type) outs(%c : type)` --------------------------------------------------------


def parse_operands(parser: FormParser, pending: PendingOperation, segmented: bool = True) -> tuple[int, int]:
    """Parse `ins(...)` and `outs(...)`, and return the numbers of inputs and outputs.

    If `segmented`, set the attribute `operandSegmentSizes` to these numbers.
    """
    inputs, outputs = _parse_group(parser, pending, "ins"), _parse_group(parser, pending, "outs")
    if segmented:
        pending.attributes[OPERAND_SEGMENTS] = segments(inputs, outputs)
    return inputs, outputs


def _parse_group(parser: FormParser, pending: PendingOperation, word: str) -> int:
    scanner = parser.scanner
    if not scanner.accept_word(word):
        return 0
    scanner.expect("(", f" after '{word}'")
    start = scanner.pos
    operands = parser.operand_list() if scanner.at("%") else []
    scanner.expect(":", " before operand types")
    types = scanner.separated(parser.type)
    scanner.expect(")", f" after '{word}' operands")
    if len(operands) != len(types):
        counts = f"got {len(operands)} operands and {len(types)} types"
        raise scanner.error(f"number of operands and types do not match: {counts}", start)
    pending.operands.extend(operands)
    pending.operand_types.extend(types)
    return len(operands)


def print_operands(printer: FormPrinter, operation: StructuredOp) -> None:
    for word, values in (("ins", operation.inputs), ("outs", operation.outputs)):
        if values:
            names = ", ".join(map(printer.name, values))
            printer.word(f"{word}({names} : {', '.join(str(value.type) for value in values)})")


def parse_results(parser: FormParser, pending: PendingOperation) -> None:
    if parser.scanner.accept("->"):
        pending.result_types = parser.types.results()


def print_results(printer: FormPrinter, operation: Operation) -> None:
    if operation.results:
        printer.word(f"-> {spell_results(operation.results)}")


# -- verification ----------------------------------------------------------------------------------------------------


def verify_structured(operation: Operation) -> None:
    """Raise VerifyError if an op violates upstream's `LinalgOp` or `DestinationStyleOpInterface`."""
    assert isinstance(operation, StructuredOp)  # by its definition
    _verify_destinations(operation)
    _verify_semantics(operation)
    maps = operation.indexing_maps
    if len(maps) != len(operation.operands):
        raise operation.op_error(
            f"expected the number of indexing_map ({len(maps)}) to be equal to the number of input/output operands "
            f"({len(operation.operands)})"
        )
    loops = len(operation.iterators)
    for number, (map, value) in enumerate(zip(maps, operation.operands, strict=True)):
        _verify_map(operation, number, map, value.type, loops)
    _verify_loops(operation, maps, loops)
    _verify_body(operation)


def _verify_destinations(operation: StructuredOp) -> None:
    tensors = [value.type for value in operation.outputs if isinstance(value.type, TensorType)]
    if len(tensors) != len(operation.results):
        raise operation.op_error(
            f"expected the number of tensor results ({len(operation.results)}) to be equal to the number of output "
            f"tensors ({len(tensors)})"
        )
    for number, (type, result) in enumerate(zip(tensors, operation.results, strict=True), operation.input_count):
        if type is not result.type:
            raise operation.op_error(
                f"expected type of operand #{number} ('{type}') to match type of corresponding result ('{result.type}')"
            )


def _verify_semantics(operation: StructuredOp) -> None:
    shaped = {type(value.type) for value in operation.operands if isinstance(value.type, TensorType | MemRefType)}
    unshaped = any(not isinstance(value.type, TensorType | MemRefType) for value in operation.outputs)
    unranked = any(shape_of(value.type) is None for value in operation.operands)
    if len(shaped) > 1 or unshaped or unranked:
        raise operation.op_error("expected to have pure tensor or buffer semantics")


def _verify_map(operation: StructuredOp, number: int, map: AffineMapAttr, type: Type, loops: int) -> None:
    if map.symbols:
        raise operation.op_error(f"unexpected symbols in indexing_map #{number}")
    if map.dimensions != loops:
        raise operation.op_error(f"expected indexing_map #{number} to have {loops} dim(s) to match the number of loops")
    if len(map.results) != rank_of(type):
        raise operation.op_error(
            f"expected operand #{number} rank ({rank_of(type)}) to match the result rank of indexing_map "
            f"({len(map.results)})"
        )


def _verify_loops(operation: StructuredOp, maps: Maps, loops: int) -> None:
    """Raise VerifyError unless each loop indexes a dimension of an operand, and the operands' static sizes agree."""
    shapes = [shape_of(value.type) or () for value in operation.operands]
    extents: dict[int, int | None] = {}
    for map, shape in zip(maps, shapes, strict=True):
        for result, size in zip(map.results, shape, strict=True):
            if isinstance(result, tuple) and result[0] == "d":
                extents.setdefault(result[1], size)
    if len(extents) < loops:
        results = tuple(result for map in maps for result in map.results)
        together = AffineMapAttr(loops, 0, results)
        raise operation.op_error(f"invalid indexing maps are non-invertible: ({_bare(together)})")
    ends = [extents[loop] for loop in range(loops)]
    if any(end is None for end in ends):
        return
    last = [end - 1 for end in ends if end is not None]
    for number, (map, shape) in enumerate(zip(maps, shapes, strict=True)):
        for axis, (result, size) in enumerate(zip(map.results, shape, strict=True)):
            if size:
                _verify_dimension(operation, number, axis, result, size, last)


def _bare(map: AffineMapAttr) -> str:
    return str(map).removeprefix("affine_map<").removesuffix(">")


def _verify_dimension(
    operation: StructuredOp, number: int, axis: int, result: Expression, size: int, last: Sequence[int]
) -> None:
    try:
        ends = evaluate(result, [0] * len(last)), evaluate(result, last)
    except UndefinedError as error:
        raise operation.op_error(f"has an indexing map that cannot be evaluated (operand #{number}): {error}") from None
    if min(ends) < 0:
        raise operation.op_error(
            f"unexpected result less than 0 at expression #{axis} in {_bare(operation.indexing_maps[number])}"
        )
    needed = max(ends) + 1
    plain = isinstance(result, tuple) and result[0] == "d"
    if needed != size if plain else needed > size:
        bound = "" if plain else "greater than or equal to "
        raise operation.op_error(
            f"inferred input/output operand #{number} has shape's dimension #{axis} to be {bound}{needed}, "
            f"but found {size}"
        )


def _verify_body(operation: StructuredOp) -> None:
    if len(operation.regions[0].blocks) != 1:
        raise operation.op_error("expects to have 1 region with 1 block")
    arguments = operation.regions[0].blocks[0].arguments
    if len(arguments) != len(operation.operands):
        raise operation.op_error(
            "expected as many non-induction variable region arguments as the number of input/output operands"
        )
    for number, (argument, value) in enumerate(zip(arguments, operation.operands, strict=True)):
        if argument.type is not scalar_of(value.type):
            raise operation.op_error(
                f"expected type of bb argument #{number} ('{argument.type}') to match element or self type of the "
                f"corresponding operand ('{scalar_of(value.type)}')"
            )
    last = operation.regions[0].blocks[0].last
    if last is None or last.name != "linalg.yield":
        raise operation.op_error("expects regions to end with 'linalg.yield'")

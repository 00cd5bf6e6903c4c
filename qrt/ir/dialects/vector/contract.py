"""`vector.contract`, verified by upstream's rules in upstream's order."""

from qrt.ir.core.affine import AffineMapAttr
from qrt.ir.core.attribute_kinds import AFFINE_MAP_ARRAY, array_of, enumeration
from qrt.ir.core.attributes import ArrayAttr, Attribute, OpaqueAttr, StringAttr
from qrt.ir.core.constraints import element_of, same_as
from qrt.ir.core.define import AttributeSpec, Definition
from qrt.ir.core.forms import FormParser, FormPrinter, PendingOperation
from qrt.ir.core.operations import Operation
from qrt.ir.core.traits import PURE
from qrt.ir.dialects.vector.reductions import KIND, require_kind
from qrt.types import IntegerType, Type, VectorType

_ITERATORS = array_of(
    "Iterator type should be an enum.", enumeration("vector.iterator_type", "parallel reduction").holds
)
_CONTRACTION = ("indexing_maps", "iterator_types", "kind")


def maps_of(operation: Operation) -> tuple[AffineMapAttr, ...]:
    """Return the indexing maps of a `vector.contract`."""
    maps = operation.attribute("indexing_maps", ArrayAttr)
    return tuple(map for map in maps.elements if isinstance(map, AffineMapAttr))


def iterators_of(operation: Operation) -> tuple[str, ...]:
    """Return `parallel` or `reduction` for each loop of a `vector.contract`."""
    iterators = operation.attribute("iterator_types", ArrayAttr)
    return tuple(str(iterator).partition("<")[2].removesuffix(">") for iterator in iterators.elements)


def verify_contract(operation: Operation) -> None:
    """Raise VerifyError unless the maps and types form a contraction; the caller checks the combining kind."""
    lhs, rhs, _ = (value.type for value in operation.operands)
    if element_of(lhs) is not element_of(rhs):
        raise operation.op_error("failed to verify that lhs and rhs have same element type")
    element = element_of(lhs)
    if isinstance(element, IntegerType) and not element.is_signless:
        raise operation.op_error("only supports signless integer types")
    maps, iterators = maps_of(operation), iterators_of(operation)
    if len(maps) != 3:
        raise operation.op_error("expected an indexing map for each vector operand")
    for index, (map, value) in enumerate(zip(maps, operation.operands, strict=True)):
        _require_map(operation, index, map, value.type, len(iterators))
    _require_pairs(operation, maps, iterators)
    _require_result(operation, maps)
    if len({result for map in maps for result in map.results}) < len(iterators):
        together = AffineMapAttr(len(iterators), 0, tuple(result for map in maps for result in map.results))
        bare = str(together).removeprefix("affine_map<").removesuffix(">")
        raise operation.op_error(f"invalid indexing maps are non-invertible: ({bare})")


def _require_map(operation: Operation, index: int, map: AffineMapAttr, type: Type, loops: int) -> None:
    rank = len(type.shape) if isinstance(type, VectorType) else 0
    if map.symbols:
        raise operation.op_error(f"expected indexing map {index} to have no symbols")
    if map.dimensions != loops:
        raise operation.op_error(f"expected indexing map {index} to have {loops} number of inputs")
    if len(map.results) != rank:
        raise operation.op_error(f"expected indexing map {index} to have {rank} number of outputs")
    if len(set(_axes(map))) != rank:
        raise operation.op_error(f"expected indexing map {index} to be a projected permutation of its inputs")


def _axes(map: AffineMapAttr) -> list[int]:
    """Return the number of the loop to which each result of an indexing map refers."""
    return [result[1] for result in map.results if isinstance(result, tuple) and result[0] == "d"]


def _require_pairs(operation: Operation, maps: tuple[AffineMapAttr, ...], iterators: tuple[str, ...]) -> None:
    """Raise VerifyError unless both inputs have the same size along each loop that indexes both.

    At least one of these loops must be a reduction.
    """
    left, right = _axes(maps[0]), _axes(maps[1])
    shapes = [value.type.shape for value in operation.operands[:2] if isinstance(value.type, VectorType)]
    for kind, what in (("reduction", "contracting"), ("parallel", "batch")):
        shared = [loop for loop in range(len(iterators)) if iterators[loop] == kind and loop in left and loop in right]
        if kind == "reduction" and not shared:
            raise operation.op_error("expected at least one contracting dimension pair")
        if any(shapes[0][left.index(loop)] != shapes[1][right.index(loop)] for loop in shared):
            raise operation.op_error(f"invalid {what} dimension map")


def _require_result(operation: Operation, maps: tuple[AffineMapAttr, ...]) -> None:
    """Raise VerifyError unless the accumulator and the result have the sizes of the loops that index them."""
    left, right, result_loops = map(_axes, maps)
    lhs, rhs, accumulator = (value.type for value in operation.operands)
    assert isinstance(lhs, VectorType)  # the constraints
    assert isinstance(rhs, VectorType)
    reduced = {loop for loop, kind in enumerate(iterators_of(operation)) if kind == "reduction"} & {*left} & {*right}
    result = operation.results[0].type
    is_scalar = {*left, *right} == reduced
    if any(isinstance(type, VectorType) is is_scalar for type in (result, accumulator)):
        raise operation.op_error("invalid accumulator/result vector shape")
    if not isinstance(result, VectorType):
        return
    if len({*left, *right}) < maps[0].dimensions:
        raise operation.op_error("expected all dimensions to be either a LHS or a RHS dimension")
    extents = dict(zip(right, rhs.shape, strict=True)) | dict(zip(left, lhs.shape, strict=True))
    expected = VectorType([extents[loop] for loop in result_loops], result.element, result.scalable)
    if result is not expected or accumulator is not expected:
        raise operation.op_error(f"invalid accumulator/result vector shape, expected: '{expected}'")


def _parse_contract(parser: FormParser, pending: PendingOperation) -> None:
    scanner = parser.scanner
    start = scanner.skip()
    pending.attributes = parser.dictionary()
    pending.operands = parser.operand_list()
    for name, value in parser.optional_attributes().items():
        if name in pending.attributes:
            raise scanner.error(f"attribute '{name}' occurs more than once in the attribute list", start)
        pending.attributes[name] = value
    iterators = pending.attributes.get("iterator_types")
    if not isinstance(iterators, ArrayAttr):
        raise scanner.error('expected "iterator_types" array attribute', start)
    pending.attributes["iterator_types"] = ArrayAttr(tuple(map(_iterator, iterators.elements)))
    pending.attributes.setdefault("kind", OpaqueAttr("#vector.kind<add>"))
    scanner.expect(":", " before the types")
    pending.operand_types = [parser.type()]
    scanner.expect(",", " between the types")
    pending.operand_types.append(parser.type())
    scanner.expect_word("into", " before the type of the accumulator")
    pending.result_types = [parser.type()]
    pending.operand_types.extend(pending.result_types)


def _iterator(element: Attribute) -> Attribute:
    return OpaqueAttr(f"#vector.iterator_type<{element.value}>") if isinstance(element, StringAttr) else element


def _print_contract(printer: FormPrinter, operation: Operation) -> None:
    names = ArrayAttr(tuple(StringAttr(name) for name in iterators_of(operation)))
    header = operation.attributes | {"iterator_types": names}
    printer.word(f"{{{', '.join(f'{name} = {header[name]}' for name in _CONTRACTION)}}}")
    printer.operands(operation.operands)
    printer.attributes(operation, _CONTRACTION)
    left, right, accumulator = (value.type for value in operation.operands)
    printer.word(f": {left}, {right} into {accumulator}")


def _verify_contract(operation: Operation) -> None:
    verify_contract(operation)
    require_kind(operation, element_of(operation.results[0].type))


OPS = [
    Definition(
        "vector.contract",
        operands=("lhs: vector", "rhs: vector", "acc"),
        results=("result",),
        attributes={
            "indexing_maps": AttributeSpec(kind=AFFINE_MAP_ARRAY, required=True),
            "iterator_types": AttributeSpec(kind=_ITERATORS, required=True),
            "kind": KIND,
        },
        infer={"result": same_as("acc")},
        traits={PURE},
        parse=_parse_contract,
        print=_print_contract,
        verify_signature=_verify_contract,
    ),
]

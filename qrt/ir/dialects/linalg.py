"""`linalg`: `generic` on tensors, and its `yield`."""

from typing import TYPE_CHECKING

from qrt.ir.affine import AffineMapAttr
from qrt.ir.attribute_kinds import enumeration
from qrt.ir.attributes import ArrayAttr, Attribute, DenseArrayAttr, OpaqueAttr, StringAttr
from qrt.ir.core import Operation
from qrt.ir.define import PURE, TERMINATOR, AttributeSpec, Definition, instance_of
from qrt.ir.traits import RETURN_LIKE
from qrt.types import IntegerType, TensorType

if TYPE_CHECKING:
    from qrt.ir.parser import Parser, PendingOperation
    from qrt.ir.printer import Printer

_HEADER = ("doc", "indexing_maps", "iterator_types", "library_call")
_SEGMENTS = "operandSegmentSizes"
_ITERATORS = ("parallel", "reduction", "window")
ITERATOR_TYPE = enumeration("linalg.iterator_type", " ".join(_ITERATORS))
_I32 = IntegerType(32)


def iterator(kind: str) -> OpaqueAttr:
    """`#linalg.iterator_type<parallel>`, which the custom form spells as a string."""
    return OpaqueAttr(f"#linalg.iterator_type<{kind}>")


def segments(inputs: int, outputs: int) -> DenseArrayAttr:
    return DenseArrayAttr(_I32, (inputs, outputs))


def _parse_generic(parser: "Parser", pending: "PendingOperation") -> None:
    scanner = parser.scanner
    start = scanner.skip()
    header = parser.attribute_dictionary()
    types = header.get("iterator_types")
    if isinstance(types, ArrayAttr):
        header["iterator_types"] = ArrayAttr(
            tuple(iterator(e.value) if isinstance(e, StringAttr) else e for e in types.elements)
        )
    if unknown := header.keys() - set(_HEADER):
        raise scanner.error(f"'{min(unknown)}' belongs after 'attrs ='", start, scanner.pos)
    pending.attributes = header
    inputs = _parse_operands(parser, pending, "ins")
    outputs = _parse_operands(parser, pending, "outs")
    pending.attributes[_SEGMENTS] = segments(inputs, outputs)
    if scanner.accept_word("attrs"):
        scanner.expect("=", " after 'attrs'")
        pending.attributes.update(parser.attribute_dictionary())
    pending.regions.append(parser.region(isolated=False, dialect="linalg"))
    if scanner.accept("->"):
        pending.result_types = parser.types.results()


def _parse_operands(parser: "Parser", pending: "PendingOperation", word: str) -> int:
    scanner = parser.scanner
    if not scanner.accept_word(word):
        return 0
    scanner.expect("(", f" after '{word}'")
    operands = parser.operand_list()
    scanner.expect(":", " before operand types")
    types = [parser.type()]
    while scanner.accept(","):
        types.append(parser.type())
    scanner.expect(")", f" after '{word}' operands")
    pending.operands.extend(operands)
    pending.operand_types.extend(types)
    return len(operands)


def _print_generic(printer: "Printer", operation: Operation) -> None:
    entries = []
    for name in _HEADER:
        value = operation.attributes.get(name)
        if name == "iterator_types" and isinstance(value, ArrayAttr):
            value = ArrayAttr(tuple(StringAttr(_kind(element)) for element in value.elements))
        if value is not None:
            entries.append(f"{name} = {value}")
    printer.word(f"{{{', '.join(entries)}}}")
    inputs = _segment_sizes(operation)[0]
    for word, values in (("ins", operation.operands[:inputs]), ("outs", operation.operands[inputs:])):
        if values:
            names = ", ".join(map(printer.name, values))
            printer.word(f"{word}({names} : {', '.join(str(value.type) for value in values)})")
    printer.attributes(operation, elided=(*_HEADER, _SEGMENTS), keyword="attrs = ")
    printer.word("")
    outer = printer.begin(operation.regions[0])
    printer.region(operation.regions[0], entry_said=False)
    printer.end(outer)
    if operation.results:
        types = ", ".join(str(value.type) for value in operation.results)
        printer.word(f"-> {types}" if len(operation.results) == 1 else f"-> ({types})")


def _kind(element: Attribute) -> str:
    return str(element).removeprefix("#linalg.iterator_type<").removesuffix(">")


def _segment_sizes(operation: Operation) -> tuple[int, ...]:
    value = operation.attributes[_SEGMENTS]
    assert isinstance(value, DenseArrayAttr)  # the verifier holds it
    return value.values


def _verify_generic(operation: Operation) -> None:
    sizes = _segment_sizes(operation)
    if len(sizes) != 2 or min(sizes) < 0 or sum(sizes) != len(operation.operands):
        raise operation.op_error(f"attribute '{_SEGMENTS}' does not add up to its {len(operation.operands)} operands")
    maps, iterators = operation.attributes["indexing_maps"], operation.attributes["iterator_types"]
    assert isinstance(maps, ArrayAttr)
    assert isinstance(iterators, ArrayAttr)
    if len(maps.elements) != len(operation.operands):
        raise operation.op_error(
            f"expected the number of indexing_map ({len(maps.elements)}) to be equal to the number of input/output "
            f"operands ({len(operation.operands)})"
        )
    for kind in iterators.elements:
        if _kind(kind) not in _ITERATORS:
            raise operation.op_error(f"iterator types are {', '.join(_ITERATORS)}, not {kind}")
    for index, (map, value) in enumerate(zip(maps.elements, operation.operands, strict=True)):
        _verify_operand(operation, index, map, value.type, len(iterators.elements))
    outputs = [value.type for value in operation.operands[sizes[0] :]]
    if outputs != [value.type for value in operation.results]:
        raise operation.op_error("expected the results to have the types of the outputs")
    _verify_body(operation)


def _verify_operand(operation: Operation, index: int, map: Attribute, type: object, loops: int) -> None:
    if not isinstance(map, AffineMapAttr) or map.symbols:
        raise operation.op_error(f"expected indexing_map #{index} to be an affine map without symbols, not {map}")
    if map.dimensions != loops:
        raise operation.op_error(
            f"expected indexing_map #{index} to have {loops} dim(s) to match the number of loops, not {map.dimensions}"
        )
    rank = type.rank if isinstance(type, TensorType) else 0
    if len(map.results) != rank:
        raise operation.op_error(
            f"expected operand #{index} rank ({rank}) to match the result rank of indexing_map ({len(map.results)})"
        )


def _verify_body(operation: Operation) -> None:
    blocks = operation.regions[0].blocks
    if len(blocks) != 1:
        raise operation.op_error("expects to have 1 region with 1 block")
    elements = [v.type.element if isinstance(v.type, TensorType) else v.type for v in operation.operands]
    if [argument.type for argument in blocks[0].arguments] != elements:
        raise operation.op_error(f"expects the block's arguments to be {', '.join(map(str, elements))}")
    last = blocks[0].last
    results = [v.type.element for v in operation.results if isinstance(v.type, TensorType)]
    if last is None or last.name != "linalg.yield" or [value.type for value in last.operands] != results:
        raise operation.op_error(f"expects the block to end with a linalg.yield of {', '.join(map(str, results))}")


GENERIC = Definition(
    "linalg.generic",
    operands=("operands*",),
    results=("results*",),
    attributes={
        "indexing_maps": AttributeSpec(instance_of(ArrayAttr, "an array of affine maps"), required=True),
        "iterator_types": AttributeSpec(instance_of(ArrayAttr, "an array of iterator types"), required=True),
        _SEGMENTS: AttributeSpec(instance_of(DenseArrayAttr, "an array<i32: inputs, outputs>"), required=True),
        "doc": AttributeSpec(instance_of(StringAttr, "a string")),
        "library_call": AttributeSpec(instance_of(StringAttr, "a string")),
    },
    regions=1,
    traits={PURE},
    parse=_parse_generic,
    print=_print_generic,
    verify=_verify_generic,
)

YIELD = Definition(
    "linalg.yield",
    operands=("values*",),
    traits={PURE, RETURN_LIKE, TERMINATOR},
    format="attr-dict ($values^ `:` type($values))?",
)

OPS = [GENERIC, YIELD]

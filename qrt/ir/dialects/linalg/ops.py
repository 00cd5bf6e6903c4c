"""`linalg`: the structured ops, which represent loop nests. They are `generic` and the named ops."""

from qrt.ir.core.attribute_kinds import ENUMERATIONS, I64
from qrt.ir.core.attributes import ArrayAttr, Attribute, StringAttr, instance_of
from qrt.ir.core.constraints import element_of
from qrt.ir.core.define import OPERAND_SEGMENTS, AttributeSpec, Definition
from qrt.ir.core.forms import FormParser, FormPrinter, PendingOperation
from qrt.ir.core.operations import Operation
from qrt.ir.core.traits import PURE, RETURN_LIKE, TERMINATOR
from qrt.ir.dialects.linalg import forms as linalg_forms
from qrt.ir.dialects.linalg import named as linalg_named
from qrt.ir.dialects.linalg.structure import (
    CANONICALIZE,
    CANONICALIZE_BUFFERS,
    ITERATOR,
    MAPS,
    TRAITS,
    Maps,
    StructuredOp,
    array_of_maps,
    effects,
    iterator,
    parse_operands,
    parse_results,
    print_operands,
    print_results,
    stated_maps,
    verify_structured,
)

_ITERATORS = "iterator_types"
_HEADER = ("doc", MAPS, _ITERATORS, "library_call")


class GenericOp(StructuredOp):
    """`linalg.generic`, whose attributes hold its indexing maps and iterator types."""

    __slots__ = ()

    @property
    def indexing_maps(self) -> Maps:
        return stated_maps(self.attributes[MAPS])

    @property
    def iterators(self) -> tuple[str, ...]:
        return tuple(map(_kind, self.attribute(_ITERATORS, ArrayAttr).elements))


def _kind(element: Attribute) -> str:
    return str(element).removeprefix("#linalg.iterator_type<").removesuffix(">")


def _array_of_iterators(value: Attribute) -> str | None:
    fine = isinstance(value, ArrayAttr) and all(map(ITERATOR.holds, value.elements))
    return None if fine else "failed to satisfy constraint: Iterator type should be an enum."


def _parse_generic(parser: FormParser, pending: PendingOperation) -> None:
    scanner = parser.scanner
    start = scanner.skip()
    header = parser.dictionary()
    types = header.get(_ITERATORS)
    if not isinstance(types, ArrayAttr):
        raise scanner.error('expected "iterator_types" array attribute', start, scanner.pos)
    kinds = [kind.value if isinstance(kind, StringAttr) else _kind(kind) for kind in types.elements]
    for kind in kinds:
        if kind not in ENUMERATIONS["linalg.iterator_type"].cases:
            raise scanner.error(f"unexpected iterator_type ({kind})", start, scanner.pos)
    header[_ITERATORS] = ArrayAttr(tuple(map(iterator, kinds)))
    parse_operands(parser, pending)
    more: dict[str, Attribute] = {}
    if scanner.accept_word("attrs"):
        scanner.expect("=", " after 'attrs'")
        more = parser.attribute_dictionary()
    for given in (header, more):
        for name, value in given.items():
            if name in pending.attributes:
                raise scanner.error(f"attribute '{name}' occurs more than once in the attribute list", start)
            pending.attributes[name] = value
    pending.regions.append(parser.region(isolated=False, dialect="linalg"))
    parse_results(parser, pending)


def _print_generic(printer: FormPrinter, operation: Operation) -> None:
    assert isinstance(operation, GenericOp)
    entries = []
    for name in _HEADER:
        value = operation.attributes.get(name)
        if name == _ITERATORS and isinstance(value, ArrayAttr):
            value = ArrayAttr(tuple(StringAttr(_kind(element)) for element in value.elements))
        if value is not None:
            entries.append(f"{name} = {value}")
    printer.word(f"{{{', '.join(entries)}}}")
    print_operands(printer, operation)
    printer.attributes(operation, elided=(*_HEADER, OPERAND_SEGMENTS), keyword="attrs = ")
    printer.word("")
    with printer.numbered(operation.regions[0]):
        printer.region(operation.regions[0], entry_printed=False)
    print_results(printer, operation)


GENERIC = Definition(
    "linalg.generic",
    operands=("inputs*", "outputs*: shaped"),
    results=("results*: ranked tensor",),
    attributes={
        MAPS: AttributeSpec(array_of_maps, required=True),
        _ITERATORS: AttributeSpec(_array_of_iterators, required=True),
        "doc": AttributeSpec(instance_of(StringAttr, "a string")),
        "library_call": AttributeSpec(instance_of(StringAttr, "a string")),
    },
    regions=1,
    traits=TRAITS,
    effects=effects,
    parse=_parse_generic,
    print=_print_generic,
    verify=verify_structured,
    operation_class=GenericOp,
    canonicalize=(*CANONICALIZE, "linalg.canonicalize: identity", *CANONICALIZE_BUFFERS),
)


def _verify_yield(operation: Operation) -> None:
    parent = operation.parent_operation
    if not isinstance(parent, StructuredOp):
        raise operation.op_error("expected parent op with LinalgOp interface")
    if len(operation.operands) != len(parent.outputs):
        raise operation.op_error(
            f"expected number of yield values ({len(operation.operands)}) to match the number of inits / outs operands "
            f"of the enclosing LinalgOp ({len(parent.outputs)})"
        )
    for number, (value, output) in enumerate(zip(operation.operands, parent.outputs, strict=True), 1):
        if value.type is not element_of(output.type):
            raise operation.op_error(
                f"type of yield operand {number} ('{value.type}') doesn't match the element type of the enclosing "
                f"linalg.generic op ('{element_of(output.type)}')"
            )


YIELD = Definition(
    "linalg.yield",
    operands=("values*",),
    traits={PURE, RETURN_LIKE, TERMINATOR},
    format="attr-dict ($values^ `:` type($values))?",
    verify=_verify_yield,
)


def _verify_index(operation: Operation) -> None:
    parent, dim = operation.parent_operation, operation.attributes["dim"].python
    if not isinstance(parent, StructuredOp):
        raise operation.op_error("expected parent op with LinalgOp interface")
    loops = len(parent.iterators)
    if not 0 <= dim < loops:
        raise operation.op_error(
            f"expected dim ({dim}) to be lower than the number of loops ({loops}) of the enclosing LinalgOp"
        )


INDEX = Definition(
    "linalg.index",
    results=("result: index",),
    attributes={"dim": AttributeSpec(kind=I64, required=True)},
    traits={PURE},
    format="$dim attr-dict `:` type($result)",
    verify=_verify_index,
    canonicalize=("linalg.canonicalize: index_of_one",),
)

OPS = [GENERIC, YIELD, INDEX, *linalg_forms.OPS, *linalg_named.OPS]
STRUCTURED_OPS = tuple(op.name for op in OPS if issubclass(op.operation_class, StructuredOp))
"""The names of the ops that are loop nests."""

__all__ = ["OPS", "STRUCTURED_OPS", "GenericOp", "StructuredOp", "iterator"]

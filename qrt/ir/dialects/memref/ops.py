"""`memref`: buffers, accesses to their elements, and globals."""

from typing import Any

from qrt.ir.core.attribute_kinds import ALIGNMENT, BOOL, UNIT
from qrt.ir.core.attributes import UNIT as PRESENT
from qrt.ir.core.attributes import (
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
    UnitAttr,
    instance_of,
    one_of,
    symbol_text,
)
from qrt.ir.core.constraints import INDEX, add_type_constraint, element_type_of
from qrt.ir.core.define import AttributeSpec, Definition
from qrt.ir.core.folding import Folded, Folds
from qrt.ir.core.forms import FormParser, FormPrinter, PendingOperation
from qrt.ir.core.matching import constant_of, is_known_dimension
from qrt.ir.core.operations import Operation
from qrt.ir.core.symbols import searched_table, symbols
from qrt.ir.core.traits import (
    MEM_ALLOC,
    MEM_FREE,
    MEM_READ,
    MEM_WRITE,
    NO_MEMORY_EFFECT,
    PURE,
    RECURSIVE_MEMORY_EFFECTS,
    RETURN_LIKE,
    SYMBOL,
    TERMINATOR,
    have_compatible_shapes,
)
from qrt.ir.dialects._regions.forms import (
    parse_body,
    parse_optional_results,
    print_body,
    require_edge,
    spell_types,
    terminator_operands,
)
from qrt.ir.dialects._shaped.types import memref_type, require_sizes
from qrt.ir.dialects.memref.views import VIEWS
from qrt.ir.text.affine_parser import parse_affine_map_body
from qrt.ir.text.assembly_elements import DIRECTIVES, Directive
from qrt.ir.text.dense import DenseElementsAttr, DenseResourceAttr, KeptElementsAttr
from qrt.types import IndexType, IntegerType, MemRefType, StridedLayout, TensorType, Type


def _is_line(type: Type, element: Any) -> bool:
    return isinstance(type, MemRefType) and type.rank == 1 and bool(element(type.element))


add_type_constraint(
    "non-0-ranked or unranked memref",
    lambda type: isinstance(type, MemRefType) and type.shape != (),
    "unranked.memref of any type values or non-0-ranked.memref of any type values",
)
add_type_constraint(
    "1D memref of signless integer or index",
    lambda type: _is_line(type, lambda e: isinstance(e, IndexType) or (isinstance(e, IntegerType) and e.is_signless)),
    "1D memref of signless integer or index values",
)
add_type_constraint(
    "1D memref of 8-bit signless integer",
    lambda type: _is_line(type, lambda e: e is IntegerType(8)),
    "1D memref of 8-bit signless integer values",
)

# -- memref.alloc, memref.alloca -------------------------------------------------------------------------------------


def _verify_alloc(operation: Operation) -> None:
    type = memref_type(operation.results[0])
    sizes, symbols = (len(operation.operand_group(n)) for n in ("dynamicSizes", "symbolOperands"))
    require_sizes(operation, type, sizes)
    expected = dynamic_layout_count(type)
    if symbols != expected:
        raise operation.op_error(
            f"symbol operand count does not equal memref symbol count: expected {expected}, got {symbols}"
        )


def dynamic_layout_count(type: MemRefType) -> int:
    """Return the number of dynamic values in a memref's layout: symbols of its map, or dynamic strides and offsets."""
    if isinstance(type.layout, StridedLayout):
        return (type.layout.offset, *type.layout.strides).count(None)
    listed = (type.layout or "").partition(")")[2].partition("->")[0].strip(" []")
    return listed.count(",") + 1 if listed else 0


def _alloc(name: str) -> Definition:
    return Definition(
        name,
        operands=("dynamicSizes*: index", "symbolOperands*: index"),
        results=("memref: memref",),
        attributes={"alignment": AttributeSpec(kind=ALIGNMENT)},
        traits={MEM_ALLOC},
        format="`(` $dynamicSizes `)` (`` `[` $symbolOperands^ `]`)? attr-dict `:` type($memref)",
        verify_signature=_verify_alloc,
        canonicalize=("memref.canonicalize: known_sizes only_written",),
    )


# -- memref.load, memref.store, memref.copy, memref.dim --------------------------------------------------------------


def _verify_load(operation: Operation) -> None:
    rank, count = memref_type(operation.operands[0]).rank, len(operation.operands) - 1
    if rank != count:
        raise operation.op_error(f"incorrect number of indices for load, expected {rank} but got {count}")


def _verify_store(operation: Operation) -> None:
    if memref_type(operation.operands[1]).rank != len(operation.operands) - 2:
        raise operation.op_error("store index operand count not equal to memref rank")


def _verify_copy(operation: Operation) -> None:
    source, target = map(memref_type, operation.operands)
    if source.element is not target.element:
        raise operation.op_error("requires the same element type for all operands")
    if not have_compatible_shapes((source, target)):
        raise operation.op_error("requires the same shape for all operands")


def _fold_dim(operation: Operation, folds: Folds) -> Folded:
    type, index = operation.operands[0].type, constant_of(operation.operands[1])
    shape = type.shape if isinstance(type, MemRefType) else None
    if shape is None or not isinstance(index, IntegerAttr) or not 0 <= index.value < len(shape):
        return None
    size = shape[index.value]
    return None if size is None else [IntegerAttr(size, INDEX)]


def _fold_rank(operation: Operation, folds: Folds) -> Folded:
    rank = memref_type(operation.operands[0]).rank
    return None if rank is None else [IntegerAttr(rank, INDEX)]


# -- memref.alloca_scope ---------------------------------------------------------------------------------------------

_SCOPE_RETURN = "memref.alloca_scope.return"


def _parse_scope(parser: FormParser, pending: PendingOperation) -> None:
    pending.result_types = parse_optional_results(parser)
    parse_body(parser, pending, terminator=_SCOPE_RETURN)
    pending.attributes.update(parser.optional_attributes())


def _print_scope(printer: FormPrinter, operation: Operation) -> None:
    printer.attach(" ")
    if operation.results:
        printer.word(f"-> ({spell_types([value.type for value in operation.results])})")
    print_body(printer, operation, 0, None if operation.results else _SCOPE_RETURN)
    printer.attributes(operation)


def _verify_scope(operation: Operation) -> None:
    if operation.regions[0].blocks[0].arguments:
        raise operation.op_error("region should have no arguments")
    given = terminator_operands(operation, 0)
    require_edge(operation, f"Operation {_SCOPE_RETURN}", "parent", given, operation.results)


# -- memref.global, memref.get_global --------------------------------------------------------------------------------


def _parse_global(parser: FormParser, pending: PendingOperation) -> None:
    scanner = parser.scanner
    if scanner.at('"'):
        pending.attributes["sym_visibility"] = StringAttr(scanner.string())
    if scanner.accept_word("constant"):
        pending.attributes["constant"] = PRESENT
    pending.attributes["sym_name"] = StringAttr(parser.symbol_name())
    scanner.expect(":", " before the type")
    type = parser.type()
    pending.attributes["type"] = TypeAttr(type)
    if not isinstance(type, MemRefType) or not type.has_static_shape:
        raise parser.error_at(pending, f"type should be static shaped memref, but got '{type}'")
    if scanner.accept("="):
        if scanner.accept_word("uninitialized"):
            pending.attributes["initial_value"] = PRESENT
        else:
            pending.attributes["initial_value"] = parser.elements_of(TensorType(type.shape, type.element))
    pending.attributes.update(parser.optional_attributes())


_GLOBAL_ATTRIBUTES = ("sym_name", "sym_visibility", "constant", "type", "initial_value")


def _print_global(printer: FormPrinter, operation: Operation) -> None:
    visibility = operation.attributes.get("sym_visibility")
    if visibility is not None:
        printer.word(str(visibility))
    if "constant" in operation.attributes:
        printer.word("constant")
    printer.word(f"{symbol_text(str(operation.attributes['sym_name'].python))} : {operation.attributes['type']}")
    value = operation.attributes.get("initial_value")
    if isinstance(value, UnitAttr):
        printer.word("= uninitialized")
    elif value is not None:
        printer.word(f"= {str(value).rpartition(' : ')[0]}")
    printer.attributes(operation, _GLOBAL_ATTRIBUTES)


def global_type(operation: Operation) -> MemRefType:
    """Return the type of a `memref.global`."""
    type = operation.attributes["type"].python
    assert isinstance(type, MemRefType)  # the verifier has checked it
    return type


def _verify_global(operation: Operation) -> None:
    type, value = operation.attributes["type"].python, operation.attributes.get("initial_value")
    if not isinstance(type, MemRefType) or not type.has_static_shape:
        raise operation.op_error(f"type should be static shaped memref, but got {type}")
    if isinstance(value, DenseElementsAttr | DenseResourceAttr | KeptElementsAttr):
        given = value.type
        if given.element is not type.element:
            raise operation.op_error(
                f"initial value element expected to be of type '{type.element}', but was of type '{given.element}'"
            )
        if given.shape != type.shape:
            sizes = (", ".join(map(str, shape or ())) for shape in (type.shape, given.shape))
            raise operation.op_error("initial value shape expected to be {} but was {}".format(*sizes))
    elif value is not None and not isinstance(value, UnitAttr):
        raise operation.op_error(f"initial value should be a unit or elements attribute, but got {value}")


def global_of(operation: Operation) -> Operation | None:
    """Return the `memref.global` that a `memref.get_global` names; None if there is none."""
    name, table = operation.attribute("name", SymbolRefAttr), searched_table(operation)
    symbol = symbols(table).get(name.path[-1]) if table is not None else None
    return symbol if symbol is not None and symbol.name == "memref.global" else None


def _verify_get_global(operation: Operation) -> None:
    definition = global_of(operation)
    name = operation.attributes["name"].python
    if definition is None:
        raise operation.op_error(f"'{name}' does not reference a valid global memref")
    type, result_type = global_type(definition), operation.results[0].type
    if type is not result_type:
        raise operation.op_error(
            f"result type '{result_type}' does not match type '{type}' of the global memref @{name}"
        )


# -- (d0, d1) -> (d1, d0) --------------------------------------------------------------------------------------------


def _parse_permutation(parser: FormParser, pending: PendingOperation, names: tuple[str, ...]) -> None:
    pending.attributes[names[0]] = parse_affine_map_body(parser)


def _print_permutation(printer: FormPrinter, operation: Operation, names: tuple[str, ...]) -> None:
    printer.attach(str(operation.attributes[names[0]]).removeprefix("affine_map<").removesuffix(">"))


DIRECTIVES["permutation_map"] = Directive(_parse_permutation, _print_permutation)

# -- the ops ---------------------------------------------------------------------------------------------------------

_ACCESS = {"nontemporal": AttributeSpec(kind=BOOL), "alignment": AttributeSpec(kind=ALIGNMENT)}

OPS = [
    _alloc("memref.alloc"),
    _alloc("memref.alloca"),
    Definition(
        "memref.alloca_scope",
        results=("results*",),
        regions=("bodyRegion: 1",),
        traits={RECURSIVE_MEMORY_EFFECTS},
        implicit_terminator=_SCOPE_RETURN,
        parse=_parse_scope,
        print=_print_scope,
        verify=_verify_scope,
        canonicalize=("memref.canonicalize_scopes: inline_scope hoist_allocations",),
    ),
    Definition(
        _SCOPE_RETURN,
        operands=("results*",),
        traits={TERMINATOR, PURE, RETURN_LIKE},
        parents=("memref.alloca_scope",),
        format="attr-dict ($results^ `:` type($results))?",
    ),
    Definition(
        "memref.dealloc",
        operands=("memref: ranked or unranked memref",),
        traits={MEM_FREE},
        format="$memref attr-dict `:` type($memref)",
        canonicalize=("memref.canonicalize: from_ranked_casts",),
    ),
    Definition(
        "memref.load",
        operands=("memref: memref", "indices*: index"),
        results=("result",),
        attributes=_ACCESS,
        infer={"result": element_type_of("memref", "result type matches element type of 'memref'")},
        traits={MEM_READ},
        format="$memref `[` $indices `]` attr-dict `:` type($memref)",
        verify_signature=_verify_load,
        canonicalize=("memref.canonicalize: from_ranked_casts", "bufferization.canonicalize: load"),
    ),
    Definition(
        "memref.store",
        operands=("value", "memref: memref", "indices*: index"),
        attributes=_ACCESS,
        infer={"value": element_type_of("memref", "type of 'value' matches element type of 'memref'")},
        traits={MEM_WRITE},
        format="$value `,` $memref `[` $indices `]` attr-dict `:` type($memref)",
        verify_signature=_verify_store,
        canonicalize=("memref.canonicalize: store_to_cast",),
    ),
    Definition(
        "memref.copy",
        operands=("source: ranked or unranked memref", "target: ranked or unranked memref"),
        traits={MEM_READ, MEM_WRITE},
        format="$source `,` $target attr-dict `:` type($source) `to` type($target)",
        verify_signature=_verify_copy,
        canonicalize=("memref.canonicalize: from_ranked_casts copy_of_nothing",),
    ),
    Definition(
        "memref.dim",
        operands=("source: non-0-ranked or unranked memref", "index: index"),
        results=("result: index",),
        traits={NO_MEMORY_EFFECT},
        format="attr-dict $source `,` $index `:` type($source)",
        fold=_fold_dim,
        speculatable=is_known_dimension,
        canonicalize=(
            "memref.canonicalize: dim",
            "memref.canonicalize_views: dim_of_reshape",
            "bufferization.canonicalize: dim_of_buffer",
        ),
    ),
    Definition(
        "memref.rank",
        operands=("memref: ranked or unranked memref",),
        results=("result: index",),
        traits={PURE},
        format="$memref attr-dict `:` type($memref)",
        fold=_fold_rank,
    ),
    Definition(
        "memref.global",
        attributes={
            "sym_name": AttributeSpec(instance_of(StringAttr, "a string"), required=True),
            "sym_visibility": AttributeSpec(one_of("public", "private", "nested")),
            "type": AttributeSpec(instance_of(TypeAttr, "a type"), required=True),
            "initial_value": AttributeSpec(),
            "constant": AttributeSpec(kind=UNIT),
            "alignment": AttributeSpec(kind=ALIGNMENT),
        },
        traits={SYMBOL},
        parse=_parse_global,
        print=_print_global,
        verify=_verify_global,
    ),
    Definition(
        "memref.get_global",
        results=("result: memref",),
        attributes={"name": AttributeSpec(instance_of(SymbolRefAttr, "a symbol"), required=True)},
        traits={PURE},
        format="$name `:` type($result) attr-dict",
        verify=_verify_get_global,
    ),
    *VIEWS,
]

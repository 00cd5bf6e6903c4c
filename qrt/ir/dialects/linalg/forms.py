"""The `linalg` ops with special custom forms: `map`, `reduce`, `transpose`, `broadcast`."""

from collections.abc import Callable, Sequence

from qrt.ir.builder import Builder
from qrt.ir.core import registry
from qrt.ir.core.affine import AffineMapAttr
from qrt.ir.core.attribute_kinds import dense_array
from qrt.ir.core.attributes import Attribute, DenseArrayAttr
from qrt.ir.core.constraints import Shaped, element_of
from qrt.ir.core.define import AttributeSpec, Definition
from qrt.ir.core.forms import FormParser, FormPrinter, PendingOperation
from qrt.ir.core.operations import Block, Operation, Region
from qrt.ir.dialects.linalg.structure import (
    CANONICALIZE,
    TRAITS,
    Maps,
    StructuredOp,
    effects,
    parse_operands,
    print_operands,
    rank_of,
    verify_structured,
)
from qrt.ir.text.assembly_elements import DYNAMIC
from qrt.types import IntegerType, TensorType, Type

_I64_ARRAY = dense_array(IntegerType(64))


def _map_of(rank: int, loops: Sequence[int]) -> AffineMapAttr:
    return AffineMapAttr(rank, 0, tuple(("d", loop) for loop in loops))


class _NamedForm(StructuredOp):
    __slots__ = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        """The values of the op's attribute `dimensions` or `permutation`."""
        return self.attribute(_ATTRIBUTE[self.name], DenseArrayAttr).values

    @property
    def input_count(self) -> int:
        return len(self.operands) - 1


class MapOp(_NamedForm):
    """`linalg.map`: applies its body to the elements at each position of its inputs."""

    __slots__ = ()

    @property
    def indexing_maps(self) -> Maps:
        return (AffineMapAttr.identity(rank_of(self.operands[-1].type)),) * len(self.operands)


class ReduceOp(_NamedForm):
    """`linalg.reduce`: one output for each input, without the reduced dimensions."""

    __slots__ = ()

    @property
    def input_count(self) -> int:
        return len(self.operands) // 2

    @property
    def indexing_maps(self) -> Maps:
        rank = rank_of(self.operands[0].type)
        output_map = _map_of(rank, [loop for loop in range(rank) if loop not in self.numbers])
        return (AffineMapAttr.identity(rank),) * self.input_count + (output_map,) * len(self.outputs)

    @property
    def iterators(self) -> tuple[str, ...]:
        rank = rank_of(self.operands[0].type)
        return tuple("reduction" if loop in self.numbers else "parallel" for loop in range(rank))


class TransposeOp(_NamedForm):
    """`linalg.transpose`: dimension `i` of the output is dimension `permutation[i]` of the input."""

    __slots__ = ()

    @property
    def indexing_maps(self) -> Maps:
        rank = len(self.numbers)
        return _map_of(rank, [self.numbers.index(loop) for loop in range(rank)]), AffineMapAttr.identity(rank)


class BroadcastOp(_NamedForm):
    """`linalg.broadcast`: the input, repeated along `dimensions` of the output."""

    __slots__ = ()

    @property
    def indexing_maps(self) -> Maps:
        rank = rank_of(self.operands[-1].type)
        return _map_of(rank, [loop for loop in range(rank) if loop not in self.numbers]), AffineMapAttr.identity(rank)


_ATTRIBUTE = {
    "linalg.reduce": "dimensions",
    "linalg.transpose": "permutation",
    "linalg.broadcast": "dimensions",
}


# -- custom forms ----------------------------------------------------------------------------------------------------


def _parse_shared(parser: FormParser, pending: PendingOperation) -> None:
    """Parse the operands, the `dimensions` or `permutation`, and the attributes; set the result types."""
    _, outputs = parse_operands(parser, pending, segmented=False)
    first = len(pending.operand_types) - outputs
    pending.result_types = [type for type in pending.operand_types[first:] if isinstance(type, TensorType)]
    attribute = _ATTRIBUTE.get(pending.name)
    if attribute is not None:
        if not parser.scanner.accept_word(attribute):
            raise parser.scanner.error(f"expected '{attribute}'")
        parser.scanner.expect("=", f" after '{attribute}'")
        pending.attributes[attribute] = _I64_ARRAY.parse(parser)
    pending.attributes.update(parser.optional_attributes())


def _print_shared(printer: FormPrinter, operation: Operation) -> None:
    assert isinstance(operation, _NamedForm)
    print_operands(printer, operation)
    attribute = _ATTRIBUTE.get(operation.name)
    if attribute is not None:
        printer.word(f"{attribute} = {_I64_ARRAY.spell(operation.attributes[attribute])}")
    printer.attributes(operation, elided=(attribute or "",))


def _parse_copying(parser: FormParser, pending: PendingOperation) -> None:
    _parse_shared(parser, pending)
    block = Block(map(element_of, pending.operand_types))
    if len(pending.operand_types) == 2:  # the verifier rejects other counts
        Builder(block).emit("linalg.yield", block.arguments[:1])
    pending.regions.append(Region([block]))


def _parse_body(parser: FormParser, pending: PendingOperation) -> None:
    """Parse a `linalg.map` or `linalg.reduce`: `{ payload op } operands`, or `operands (block arguments) { body }`."""
    scanner = parser.scanner
    payload: tuple[str, dict[str, Attribute]] | None = None
    if scanner.accept("{"):
        start = scanner.skip()
        payload = scanner.word("an operation name"), parser.optional_attributes()
        if registry.find(payload[0]) is None:
            known = registry.reason(payload[0]) or f"'{payload[0]}' is unknown"
            raise scanner.error(f"custom op {known}", start, scanner.pos)
        scanner.expect("}", " after the payload operation")
    _parse_shared(parser, pending)
    if payload is not None:
        pending.regions.append(_payload_region(pending, *payload))
        return

    def argument() -> tuple[str, int, Type]:
        name, _, at = parser.argument()
        scanner.expect(":", " after an argument")
        return name, at, parser.type()

    arguments = scanner.bracketed("()", argument, " before the body's arguments", " after the body's arguments")
    pending.regions.append(parser.region(isolated=False, dialect="linalg", arguments=arguments))


def _payload_operands(name: str, count: int) -> list[int]:
    """Return the block argument numbers that are the operands of a payload op, the only op of a short body.

    The body has `count` block arguments. The payload of a map takes the inputs; the payload of a reduction takes the
    accumulators, then the inputs.
    """
    if name == "linalg.map":
        return list(range(count - 1))
    return [*range(count // 2, count), *range(count // 2)]


def _payload_region(pending: PendingOperation, name: str, attributes: dict[str, Attribute]) -> Region:
    block = Block(map(element_of, pending.operand_types))
    if not block.arguments:  # the verifier rejects this op
        return Region([block])
    builder = Builder(block)
    operands = [block.arguments[index] for index in _payload_operands(pending.name, len(block.arguments))]
    payload = builder.emit(name, operands, [element_of(pending.operand_types[-1])], attributes)
    defaults = payload.definition.defaults if payload.definition is not None else {}
    payload.attributes = {key: value for key, value in attributes.items() if defaults.get(key) != value}
    builder.emit("linalg.yield", payload.results)
    return Region([block])


def _payload_of(operation: Operation) -> Operation | None:
    """Return the only op of a body, if the short form `{ payload op }` can express the body; None otherwise."""
    block = operation.regions[0].blocks[0]
    first, last = block.first, block.last
    if first is None or first.next is not last or last is None or len(first.results) != 1 or first.regions:
        return None
    wanted = [block.arguments[index] for index in _payload_operands(operation.name, len(block.arguments))]
    output = element_of(operation.operands[-1].type)
    fits = first.operands == wanted and last.operands == first.results and first.results[0].type is output
    return first if fits and wanted else None


def _print_body(printer: FormPrinter, operation: Operation) -> None:
    payload = _payload_of(operation)
    if payload is not None:
        printer.word(f"{{ {payload.name}")
        printer.attributes(payload)
        printer.word("}")
    _print_shared(printer, operation)
    if payload is not None:
        return
    region = operation.regions[0]
    with printer.numbered(region):
        printer.word(f"({', '.join(map(printer.typed_name, region.blocks[0].arguments))})")
        printer.word("")
        printer.region(region, entry_printed=True)


# -- verification ----------------------------------------------------------------------------------------------------


def _verify_reduce(operation: Operation) -> None:
    assert isinstance(operation, ReduceOp)
    if not operation.operands or len(operation.operands) % 2:
        raise operation.op_error("expected equal number of inputs and outputs")
    rank = rank_of(operation.operands[0].type)
    numbers = operation.numbers
    for number in numbers:
        if not 0 <= number < rank:
            raise operation.op_error(f"dimensions for reduction should be in the range [0, {rank - 1}].")
    if list(numbers) != sorted(set(numbers)):
        raise operation.op_error(
            "attribute 'dimensions' failed to satisfy constraint: i64 dense array attribute should be in increasing "
            "order"
        )
    output = rank_of(operation.operands[-1].type)
    if output != rank - len(numbers):
        raise operation.op_error(
            f"number of dimensions after reduction {rank - len(numbers)} doesn't match the init rank {output}"
        )
    verify_structured(operation)


def _stated_sizes(type: Type) -> list[int]:
    """Return a shape with the number `DYNAMIC` for unknown sizes, as upstream's verifier compares shapes."""
    assert isinstance(type, Shaped)  # the constraint
    return [DYNAMIC if size is None else size for size in type.shape or ()]


def _verify_transpose(operation: Operation) -> None:
    assert isinstance(operation, TransposeOp)
    input_rank, output_rank = (rank_of(value.type) for value in operation.operands)
    if sorted(operation.numbers) != list(range(len(operation.numbers))):
        raise operation.op_error("permutation is not valid")
    if input_rank != output_rank:
        raise operation.op_error(f"input rank {input_rank} does not match init rank {output_rank}")
    if input_rank != len(operation.numbers):
        raise operation.op_error(
            f"size of permutation {len(operation.numbers)} does not match the argument rank {input_rank}"
        )
    sizes, output_sizes = (_stated_sizes(value.type) for value in operation.operands)
    for axis, source in enumerate(operation.numbers):
        if sizes[source] != output_sizes[axis]:
            raise operation.op_error(
                f"dim(result, {axis}) = {output_sizes[axis]} doesn't match dim(input, permutation[{axis}]) = "
                f"{sizes[source]}"
            )
    verify_structured(operation)


def _verify_broadcast(operation: Operation) -> None:
    assert isinstance(operation, BroadcastOp)
    input_rank, output_rank = (rank_of(value.type) for value in operation.operands)
    if input_rank + len(operation.numbers) != output_rank:
        raise operation.op_error(
            f"input rank plus added dimensions does not match init rank. input rank: {input_rank}, "
            f"dimensions size: {len(operation.numbers)}, init rank: {output_rank}"
        )
    for index, number in enumerate(operation.numbers):
        if not 0 <= number < output_rank:
            raise operation.op_error(
                f"dimension {index} is out of range. expected range: [0, {output_rank - 1}], got: {number}"
            )
    if len(set(operation.numbers)) < len(operation.numbers):
        raise operation.op_error("dimensions are not unique")
    sizes, output_sizes = (_stated_sizes(value.type) for value in operation.operands)
    source_axes = [axis for axis in range(output_rank) if axis not in operation.numbers]
    for source, axis in enumerate(source_axes):
        if sizes[source] != output_sizes[axis]:
            raise operation.op_error(
                f"input dim {source} should match init dim {axis}. input: {sizes[source]}, init: {output_sizes[axis]}"
            )
    verify_structured(operation)


def _definition(
    name: str,
    operation_class: type[StructuredOp],
    operands: tuple[str, ...],
    copying: bool,
    verify: Callable[[Operation], None],
    canonicalize: tuple[str, ...] = CANONICALIZE,
) -> Definition:
    attribute = _ATTRIBUTE.get(f"linalg.{name}")
    return Definition(
        f"linalg.{name}",
        operands=operands,
        results=("result*: tensor",),
        attributes={} if attribute is None else {attribute: AttributeSpec(kind=_I64_ARRAY, required=True)},
        regions=1,
        traits=TRAITS,
        effects=effects,
        parse=_parse_copying if copying else _parse_body,
        print=_print_shared if copying else _print_body,
        verify=verify,
        operation_class=operation_class,
        canonicalize=canonicalize,
    )


OPS = [
    _definition("map", MapOp, ("inputs*: shaped", "init: shaped"), False, verify_structured),
    _definition("reduce", ReduceOp, ("operands*: shaped",), False, _verify_reduce),
    _definition(
        "transpose",
        TransposeOp,
        ("input: shaped", "init: shaped"),
        True,
        _verify_transpose,
        (
            "linalg.canonicalize: transpose_to_itself",
            *CANONICALIZE,
            "linalg.canonicalize: transpose_of_transpose transpose_of_broadcast transpose_of_fill",
        ),
    ),
    _definition(
        "broadcast",
        BroadcastOp,
        ("input: shaped", "init: shaped"),
        True,
        _verify_broadcast,
        (*CANONICALIZE, "linalg.canonicalize: identity broadcast_of_broadcast"),
    ),
]

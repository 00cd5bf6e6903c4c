"""`quant.region`: a float computation for one kernel, with a type specification for each operand and result.

    %y = quant.region(%x, %w) {
    ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
      %0 = arith.mulf %a, %b : tensor<4xf32>
      quant.return %0 : tensor<4xf32>
    } {input_specs = [!quant.any<i8:f32>, f32], output_specs = [f32], kernel = "mul"} : (...) -> tensor<4xf32>

Without `^bb0` the body uses the names of the operands, as in the propagation RFC (docs/reference/quantization_rfc.md).
"""

from collections.abc import Iterable, Iterator, Sequence

from qrt.errors import QuantTypeError, plural
from qrt.ir.core.attributes import ArrayAttr, Attribute, StringAttr, TypeAttr, instance_of
from qrt.ir.core.constraints import element_of
from qrt.ir.core.define import AttributeSpec, Definition
from qrt.ir.core.forms import FormParser, FormPrinter, OperandName, PendingOperation
from qrt.ir.core.operations import Block, Operation, Value
from qrt.ir.core.traits import (
    EXTENSION,
    ISOLATED_FROM_ABOVE,
    PURE,
    RECURSIVE_MEMORY_EFFECTS,
    RECURSIVELY_SPECULATABLE,
    RETURN_LIKE,
    TERMINATOR,
)
from qrt.ir.dialects._regions.forms import parse_values, spell_values
from qrt.types import FloatType, QuantizedType, TensorType, Type, UniformType, check_integrity

INPUT_SPECS, OUTPUT_SPECS = "input_specs", "output_specs"


class RegionOp(Operation):
    """A `quant.region`, whose ports are its operands and then its results, numbered consecutively."""

    __slots__ = ()

    @property
    def kernel(self) -> str:
        """The name of the kernel that computes the region, such as "mul"."""
        return self.attribute("kernel", StringAttr).value

    @property
    def body(self) -> Block:
        """The only block, whose arguments correspond to the operands and whose terminator is a `quant.return`."""
        return self.regions[0].blocks[0]

    @property
    def input_specs(self) -> list[Type]:
        """The type specification of each operand."""
        return self._specs(INPUT_SPECS)

    @property
    def output_specs(self) -> list[Type]:
        """The type specification of each result."""
        return self._specs(OUTPUT_SPECS)

    @property
    def specs(self) -> list[Type]:
        """The type specification of each port: those of the operands, then those of the results."""
        return [*self.input_specs, *self.output_specs]

    def spec(self, port: int) -> Type:
        """Return the type specification of one port."""
        count = len(self.operands)
        name, index = (INPUT_SPECS, port) if port < count else (OUTPUT_SPECS, port - count)
        spec = self.attribute(name, ArrayAttr).elements[index]
        assert isinstance(spec, TypeAttr)  # of verified operations
        return spec.type

    def port(self, number: int) -> Value:
        """Return the value at one port."""
        count = len(self.operands)
        return self.operands[number] if number < count else self.results[number - count]

    @property
    def ports(self) -> list[Value]:
        """The value at each port: the operands, then the results."""
        return [*self.operands, *self.results]

    def set_specs(self, specs: Sequence[Type]) -> None:
        """Replace all type specifications; `specs` has those of the operands, then those of the results."""
        count = len(self.operands)
        self.attributes[INPUT_SPECS] = spec_array(specs[:count])
        self.attributes[OUTPUT_SPECS] = spec_array(specs[count:])

    def set_spec(self, port: int, spec: Type) -> None:
        """Replace the type specification of the operand or result number `port`; results follow the operands."""
        specs = self.specs
        specs[port] = spec
        self.set_specs(specs)

    def _specs(self, name: str) -> list[Type]:
        return [spec.type for spec in self.attribute(name, ArrayAttr).elements if isinstance(spec, TypeAttr)]


def spec_array(specs: Iterable[Type]) -> ArrayAttr:
    """Return the array attribute that holds these type specifications."""
    return ArrayAttr(tuple(map(TypeAttr, specs)))


# -- text --------------------------------------------------------------------------------------------------------------


def _parse_region(parser: FormParser, pending: PendingOperation) -> None:
    pending.operands = parse_values(parser)
    start = parser.scanner.skip()
    if _has_label(parser) or not pending.operands:
        pending.regions.append(parser.region(True, pending.name))
        _parse_rest(parser, pending)
        return
    # The operand types follow the body, which uses the operands, so the text after the body is parsed first.
    parser.scanner.expect("{", " to begin a region")
    parser.scanner.balanced("a region")
    parser.scanner.expect("}", " to end a region")
    _parse_rest(parser, pending)
    end, parser.scanner.pos = parser.scanner.pos, start
    pending.regions.append(parser.region(True, pending.name, _named_arguments(parser, pending)))
    parser.scanner.pos = end


def _has_label(parser: FormParser) -> bool:
    """Return True if the text of the region begins with a block label, or the region is empty."""
    start = parser.scanner.pos
    has_label = parser.scanner.accept("{") and (parser.scanner.at("^") or parser.scanner.at("}"))
    parser.scanner.pos = start
    return has_label


def _parse_rest(parser: FormParser, pending: PendingOperation) -> None:
    if parser.scanner.at("{"):
        pending.attributes.update(parser.attribute_dictionary(("=", ":")))  # the RFC writes `input_specs: [...]`
    parser.scanner.expect(":", " followed by the region's type")
    pending.operand_types, pending.result_types = parser.signature()


def _named_arguments(parser: FormParser, pending: PendingOperation) -> list[tuple[str, int, Type]]:
    """Return the (name, position in the text, type) of the block arguments of a body without a label.

    The arguments have the names of the region's operands.
    """
    operands: Sequence[OperandName] = pending.operands
    if len(operands) != len(pending.operand_types):
        message = f"'{pending.name}' has {len(operands)} operands but {len(pending.operand_types)} operand types"
        raise parser.error_at(pending, message)
    names: set[str] = set()
    for name, number, at in operands:
        spelled = f"{name}#{number}" if number else name
        if name in names or number:
            wrong = f"'{spelled}' is one of several results" if number else f"operand '{spelled}' is given twice"
            message = f"{wrong}, so the body's arguments cannot take the operands' names: begin the body with ^bb0(...)"
            raise parser.scanner.error(message, at, at + len(name))
        names.add(name)
    return [(name, at, type) for (name, _, at), type in zip(operands, pending.operand_types, strict=True)]


def _print_region(printer: FormPrinter, operation: Operation) -> None:
    printer.attach(f"{spell_values(printer, operation.operands)} ")
    (region,) = operation.regions
    with printer.numbered(region):
        printer.region(region, entry_printed=False)
    printer.attributes(operation)
    printer.attach(" :")
    printer.signature(operation)


# -- verification ------------------------------------------------------------------------------------------------------


def _verify_region(operation: Operation) -> None:
    for what, values in (("input", operation.operands), ("output", operation.results)):
        specs = operation.attribute(f"{what}_specs", ArrayAttr)
        if len(specs.elements) != len(values):
            raise operation.op_error(
                f"attribute '{what}_specs' must have {plural(len(values), 'entry', 'entries')}, one for each {what}, "
                "got "
                f"{len(specs.elements)}"
            )
        for index, (spec, value) in enumerate(zip(specs.elements, values, strict=True)):
            if not _fits(spec, value.type):
                raise operation.op_error(
                    f"entry #{index} of attribute '{what}_specs' must be the element type of {what} #{index}, "
                    f"{value.type}, a narrower float type, or a quantized type with this expressed type that fits the "
                    f"shape, got {spec}"
                )
    blocks = operation.regions[0].blocks
    inputs = [value.type for value in operation.operands]
    if len(blocks) != 1 or [argument.type for argument in blocks[0].arguments] != inputs:
        bodies = "; ".join(f"({_listed(block.arguments)})" for block in blocks) or "none"
        raise operation.op_error(
            f"must have one block with arguments of the operands' types ({_listed(operation.operands)}), got {bodies}"
        )
    last = blocks[0].last
    if last is None or last.name != "quant.return":
        end = "is empty" if last is None else f"ends with '{last.name}'"
        raise operation.op_error(f"must have a body that ends with quant.return, but the body {end}")
    if [value.type for value in last.operands] != [value.type for value in operation.results]:
        raise operation.op_error(
            f"must return values of its result types ({_listed(operation.results)}), but quant.return has operands of "
            f"types ({_listed(last.operands)})"
        )


def _listed(values: Iterable[Value]) -> str:
    return ", ".join(str(value.type) for value in values)


def _fits(spec: Attribute, type: Type) -> bool:
    """Return True if a type specification fits a value of this type.

    The specification must be the element type of the value, a narrower float, or a quantized type whose expressed type
    is the element type and whose parameters fit the shape.
    """
    if not isinstance(spec, TypeAttr):
        return False
    element = element_of(type)
    if isinstance(spec.type, FloatType) and isinstance(element, FloatType) and spec.type.width < element.width:
        return True
    if isinstance(spec.type, UniformType) and not spec.type.is_per_layer:
        if not isinstance(type, TensorType):
            return False
        try:
            check_integrity(spec.type, type.shape)
        except QuantTypeError:
            return False
    return spec.type is element or (isinstance(spec.type, QuantizedType) and spec.type.expressed_type is element)


def outside_bodies(root: Operation) -> Iterator[Operation]:
    """Yield an operation and all operations inside, in program order, except those in the bodies of `quant.region`."""
    stack = [root]
    while stack:
        operation = stack.pop()
        yield operation
        if operation.regions and not isinstance(operation, RegionOp):
            inner = [child for region in operation.regions for block in region.blocks for child in block]
            stack.extend(reversed(inner))


_TYPES = AttributeSpec(instance_of(ArrayAttr, "an array of types"), required=True)

OPS = [
    Definition(
        "quant.region",
        operands=("inputs*",),
        results=("outputs*",),
        attributes={
            INPUT_SPECS: _TYPES,
            OUTPUT_SPECS: _TYPES,
            "kernel": AttributeSpec(instance_of(StringAttr, "a string"), required=True),
        },
        older_names={"logical_kernel": "kernel"},
        regions=("body",),
        traits=(EXTENSION, ISOLATED_FROM_ABOVE, RECURSIVE_MEMORY_EFFECTS, RECURSIVELY_SPECULATABLE),
        parse=_parse_region,
        print=_print_region,
        operation_class=RegionOp,
        verify=_verify_region,
    ),
    Definition(
        "quant.return",
        operands=("results*",),
        traits={EXTENSION, PURE, RETURN_LIKE, TERMINATOR},
        parents=("quant.region",),
        format="attr-dict ($results^ `:` type($results))?",
    ),
]

"""Elements of assembly formats; each parses and prints one piece of a custom form."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from qrt.ir.core import attribute_kinds
from qrt.ir.core.attributes import UNIT, DenseArrayAttr, UnitAttr
from qrt.ir.core.define import Definition
from qrt.ir.core.forms import FormParser, FormPrinter, OperandName, PendingOperation
from qrt.ir.core.operations import Operation, Region, Value
from qrt.ir.core.traits import ISOLATED_FROM_ABOVE
from qrt.types import FunctionType, IntegerType, Type

DYNAMIC = -(1 << 63)
"""MLIR's `ShapedType::kDynamic`: the entry of a static list whose value is an operand."""


class Element:
    """One element of an assembly format. If `space`, a space is printed before it."""

    space = True

    def parse(self, parser: FormParser, pending: PendingOperation) -> None:
        raise NotImplementedError

    def print(self, printer: FormPrinter, operation: Operation) -> None:
        raise NotImplementedError

    def begins(self, parser: FormParser) -> bool:
        """Return True if the text at the parser's position may start this element."""
        return True

    def is_present(self, operation: Operation) -> bool:
        """Return True if the operation has a value, attribute or region that this element prints."""
        return True

    def show(self, printer: FormPrinter, operation: Operation) -> None:
        """Print the element, preceded by a space if `space` is set."""
        if self.space:
            printer.attach(" ")
        self.print(printer, operation)


@dataclass
class LiteralElement(Element):
    text: str

    def parse(self, parser: FormParser, pending: PendingOperation) -> None:
        if not self.text[0].isalpha():
            parser.scanner.expect(self.text)
        elif not parser.scanner.accept_word(self.text):
            raise parser.scanner.unexpected(f"expected '{self.text}'")

    def print(self, printer: FormPrinter, operation: Operation) -> None:
        printer.attach(self.text)

    def begins(self, parser: FormParser) -> bool:
        scanner = parser.scanner
        return scanner.peek_word() == self.text if self.text[0].isalpha() else scanner.at(self.text)


T = TypeVar("T")


def _group(parser: FormParser, size: str, read: Callable[[], T]) -> list[T]:
    """Call `read` once, or for a variadic group (size "*") once for each item separated by commas; return the list."""
    return parser.scanner.separated(read) if size == "*" else [read()]


@dataclass
class Operands(Element):
    """Element `$operand`: the operand, or the operands of an optional or variadic group."""

    definition: Definition
    name: str
    size: str

    def parse(self, parser: FormParser, pending: PendingOperation) -> None:
        if not self.size:
            pending.operand_groups[self.name] = [parser.operand()]
        elif not parser.scanner.at("%"):
            pending.operand_groups[self.name] = []
        else:
            pending.operand_groups[self.name] = parser.operand_list() if self.size == "*" else [parser.operand()]

    def print(self, printer: FormPrinter, operation: Operation) -> None:
        printer.attach(", ".join(map(printer.name, self.definition.operand_group(operation, self.name))))

    def begins(self, parser: FormParser) -> bool:
        return parser.scanner.at("%")

    def is_present(self, operation: Operation) -> bool:
        return bool(self.definition.operand_group(operation, self.name))


class AllOperands(Element):
    """Element `operands`: all operands of the operation."""

    def parse(self, parser: FormParser, pending: PendingOperation) -> None:
        if parser.scanner.at("%"):
            pending.operands = parser.operand_list()

    def print(self, printer: FormPrinter, operation: Operation) -> None:
        printer.attach(", ".join(map(printer.name, operation.operands)))

    def begins(self, parser: FormParser) -> bool:
        return parser.scanner.at("%")


@dataclass
class Attribute(Element):
    """Element `$attribute`: the attribute's value, in the spelling of its kind."""

    definition: Definition
    name: str

    def parse(self, parser: FormParser, pending: PendingOperation) -> None:
        pending.attributes[self.name] = self.kind.parse(parser)

    def print(self, printer: FormPrinter, operation: Operation) -> None:
        printer.attach(self.kind.spell(operation.attributes[self.name]))

    def begins(self, parser: FormParser) -> bool:
        return self.kind.begins(parser)

    def is_present(self, operation: Operation) -> bool:
        value = operation.attributes.get(self.name)
        return value is not None and value != self.definition.attributes[self.name].default

    @property
    def kind(self) -> attribute_kinds.AttributeKind:
        return self.definition.attributes[self.name].kind or attribute_kinds.ANY


class Unit(Attribute):
    """Unit attribute that anchors an optional group: it has no text, and is set if the group's literal is present."""

    space = False

    def parse(self, parser: FormParser, pending: PendingOperation) -> None:
        pending.attributes[self.name] = UNIT

    def print(self, printer: FormPrinter, operation: Operation) -> None:
        pass

    def is_present(self, operation: Operation) -> bool:
        return isinstance(operation.attributes.get(self.name), UnitAttr)


@dataclass
class AttributeDictionary(Element):
    keyword: str
    elided: Iterable[str]
    space = False

    def parse(self, parser: FormParser, pending: PendingOperation) -> None:
        if not self.keyword:
            pending.attributes.update(parser.optional_attributes())
        elif parser.scanner.accept_word(self.keyword):
            pending.attributes.update(parser.attribute_dictionary())

    def print(self, printer: FormPrinter, operation: Operation) -> None:
        printer.attributes(operation, self.elided, self.keyword)


@dataclass
class TypeOf(Element):
    """Element `type($x)`: the types of an operand group or a result group."""

    definition: Definition
    name: str
    is_operand: bool
    size: str

    def parse(self, parser: FormParser, pending: PendingOperation) -> None:
        pending.types[self.name] = _group(parser, self.size, parser.type)

    def print(self, printer: FormPrinter, operation: Operation) -> None:
        printer.attach(", ".join([str(value.type) for value in self._values(operation)]))

    def is_present(self, operation: Operation) -> bool:
        return bool(self._values(operation))

    def _values(self, operation: Operation) -> list[Value]:
        find = self.definition.operand_group if self.is_operand else self.definition.result_group
        return find(operation, self.name)


@dataclass
class FunctionalType(Element):
    """Element `functional-type(a, b)`, printed as `(types of a) -> types of b`."""

    definition: Definition
    inputs: str
    results: str

    def parse(self, parser: FormParser, pending: PendingOperation) -> None:
        for part, types in zip((self.inputs, self.results), parser.signature(), strict=True):
            if part == "operands":
                pending.operand_types = types
            elif part == "results":
                pending.result_types = types
            else:
                pending.types[part] = types

    def print(self, printer: FormPrinter, operation: Operation) -> None:
        printer.attach(str(FunctionType(self._types(self.inputs, operation), self._types(self.results, operation))))

    def _types(self, part: str, operation: Operation) -> list[Type]:
        flat = {"operands": operation.operands, "results": operation.results}.get(part)
        return self.definition.types_of(part, operation) if flat is None else [value.type for value in flat]


@dataclass
class RegionOf(Element):
    """Element `$region`: a region, or the regions of a variadic group."""

    definition: Definition
    name: str
    size: str

    def parse(self, parser: FormParser, pending: PendingOperation) -> None:
        pending.region_groups[self.name] = _group(parser, self.size, lambda: self._region(parser))

    def _region(self, parser: FormParser) -> Region:
        definition = self.definition
        isolated = ISOLATED_FROM_ABOVE in definition.traits
        return parser.region(isolated, definition.name, terminator=definition.implicit_terminator)

    def print(self, printer: FormPrinter, operation: Operation) -> None:
        for index, region in enumerate(self._regions(operation)):
            printer.attach(", " if index else "")
            with printer.numbered(region):
                printer.region(region, entry_printed=False, terminator=self.definition.implicit_terminator)

    def begins(self, parser: FormParser) -> bool:
        return parser.scanner.at("{")

    def is_present(self, operation: Operation) -> bool:
        return any(region.blocks for region in self._regions(operation))

    def _regions(self, operation: Operation) -> Sequence[Region]:
        first = [declared.name for declared in self.definition.region_names].index(self.name)
        return operation.regions[first:] if self.size == "*" else operation.regions[first : first + 1]


@dataclass
class SuccessorOf(Element):
    """Element `$successor`: a successor block, or the blocks of a variadic group."""

    definition: Definition
    name: str
    size: str

    def parse(self, parser: FormParser, pending: PendingOperation) -> None:
        pending.successors += _group(parser, self.size, parser.successor)

    def print(self, printer: FormPrinter, operation: Operation) -> None:
        first = [declared.name for declared in self.definition.successor_names].index(self.name)
        blocks = operation.successors[first:] if self.size == "*" else operation.successors[first : first + 1]
        printer.attach(", ".join(map(printer.label, blocks)))

    def begins(self, parser: FormParser) -> bool:
        return parser.scanner.at("^")


@dataclass
class GroupElement(Element):
    """Optional group `(elements)?` or `(elements):(others)`.

    The group prints `elements` if the operation has the operand, attribute or region that the element `anchor` prints,
    else `others`.
    """

    elements: Sequence[Element]
    others: Sequence[Element]
    anchor: Element
    space = False

    def parse(self, parser: FormParser, pending: PendingOperation) -> None:
        for element in self.elements if self.elements[0].begins(parser) else self.others:
            element.parse(parser, pending)

    def print(self, printer: FormPrinter, operation: Operation) -> None:
        for element in self.elements if self.anchor.is_present(operation) else self.others:
            element.show(printer, operation)


# -- directives of dialects: `name($x, $y)` --------------------------------------------------------------------------


@dataclass(frozen=True)
class Directive:
    """Python functions for the element `name($x, $y)` of assembly formats, with the names ("x", "y") as an argument.

    `parse` stores what it reads in `pending.operand_groups`, `types`, `region_groups` and `attributes`, by name.
    """

    parse: Callable[[FormParser, PendingOperation, tuple[str, ...]], None]
    print: Callable[[FormPrinter, Operation, tuple[str, ...]], None]
    begins: Callable[[FormParser], bool] = lambda parser: True


def parse_mixed(parser: FormParser, brackets: str, what: str) -> tuple[list[OperandName], tuple[int, ...]]:
    """Parse a list of SSA values and integers, such as `[%a, 4]`.

    Return the operands, and one integer for each entry: `DYNAMIC` for an operand. `what` names the list in errors.
    """
    operands: list[OperandName] = []

    def number() -> int:
        if not parser.scanner.at("%"):
            return parser.scanner.integer(64, "an integer or an SSA operand")
        operands.append(parser.operand())
        return DYNAMIC

    static = parser.scanner.bracketed(brackets, number, f" before {what}", f" after {what}")
    return operands, tuple(static)


def _parse_dynamic_indices(parser: FormParser, pending: PendingOperation, names: tuple[str, ...]) -> None:
    pending.operand_groups[names[0]], static = parse_mixed(parser, "[]", "a list of indices")
    pending.attributes[names[1]] = DenseArrayAttr(IntegerType(64), static)


def _print_dynamic_indices(printer: FormPrinter, operation: Operation, names: tuple[str, ...]) -> None:
    static = operation.attribute(names[1], DenseArrayAttr)
    dynamic = iter(operation.operand_group(names[0]))
    printer.attach(f"[{', '.join(printer.name(next(dynamic)) if n == DYNAMIC else str(n) for n in static.values)}]")


DIRECTIVES = {
    "dynamic_indices": Directive(_parse_dynamic_indices, _print_dynamic_indices, lambda parser: parser.scanner.at("[")),
}
"""The directives by name. `dynamic_indices($offsets, $static_offsets)` parses `[%a, 3]` to the operands `[%a]` and the
array `[DYNAMIC, 3]`.
"""


@dataclass
class Call(Element):
    directive: Directive
    names: tuple[str, ...]

    def parse(self, parser: FormParser, pending: PendingOperation) -> None:
        self.directive.parse(parser, pending, self.names)

    def print(self, printer: FormPrinter, operation: Operation) -> None:
        self.directive.print(printer, operation, self.names)

    def begins(self, parser: FormParser) -> bool:
        return self.directive.begins(parser)

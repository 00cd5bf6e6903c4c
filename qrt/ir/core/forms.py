"""The interface between custom forms of ops and the parser and printer of `qrt.ir.text`.

Definitions name the functions of their forms, and the parser reads definitions; so that neither imports the other, both
depend on these protocols.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from qrt.errors import ParseError
from qrt.ir.core.attribute_kinds import AttributeReader
from qrt.ir.core.attributes import Attribute, LocationAttr
from qrt.ir.core.grammar import Line
from qrt.ir.core.operations import Block, Operation, Region, Value
from qrt.types import Type

if TYPE_CHECKING:
    from qrt.ir.core.define import Definition

OperandName = tuple[str, int, int]
"""(name, result number, offset in the text)."""


class PendingOperation:
    """An operation whose text is being read, which a custom form fills in.

    An assembly format collects groups of operands, types and regions by name, and puts them in order at its end.
    """

    __slots__ = (
        "attributes",
        "definition",
        "inherent",
        "name",
        "operand_groups",
        "operand_types",
        "operands",
        "region_groups",
        "regions",
        "result_types",
        "start",
        "successors",
        "types",
    )
    operand_groups: dict[str, list[OperandName]]
    region_groups: dict[str, list[Region]]
    types: dict[str, list[Type]]

    def __init__(self, name: str, definition: "Definition | None", start: int) -> None:
        self.name = name
        self.definition = definition
        self.start = start
        self.operands: list[OperandName] = []
        self.operand_types: list[Type] = []
        self.result_types: list[Type] = []
        self.attributes: dict[str, Attribute] = {}
        self.inherent: frozenset[str] = frozenset()  # names of an unregistered op's properties
        self.regions: list[Region] = []
        self.successors: list[Block] = []

    def clear(self) -> None:
        """Remove everything that a custom form has filled in."""
        self.operands, self.operand_types, self.result_types, self.attributes = [], [], [], {}
        self.inherent = frozenset()


class FormParser(AttributeReader, Protocol):
    """The interface of the parser for custom forms: text is read from the cursor of `scanner` on."""

    def error_at(self, pending: PendingOperation, message: str) -> ParseError:
        """Return the error at an operation's name."""

    def line(self, line: Line, pending: PendingOperation) -> bool:
        """Parse a custom form in the plainest spelling of its format.

        Return False, and read nothing, for another spelling.
        """

    def operand(self) -> OperandName:
        """Read the name of an operand."""

    def argument(self) -> OperandName:
        """Read the name of a block argument."""

    def operand_list(self) -> list[OperandName]:
        """Read one or more operands."""

    def signature(self) -> tuple[list[Type], list[Type]]:
        """Read `(operand types) -> result types`."""

    def optional_attributes(self) -> dict[str, Attribute]:
        """Read an attribute dictionary if one is next; return a new dict either way."""

    def optional_location(self) -> LocationAttr | None:
        """Read `loc(...)` if it is next."""

    def region(
        self,
        isolated: bool,
        dialect: str,
        arguments: Sequence[tuple[str, int, Type]] | None = None,
        terminator: str | None = None,
    ) -> Region:
        """Read `{ blocks }`. `arguments` name the entry block's arguments if the custom form has them."""

    def successor(self) -> Block:
        """Read `^label`."""


class FormPrinter(Protocol):
    """The interface of the printer for custom forms."""

    def word(self, text: str) -> None:
        """Print a word, with a space before it unless it follows an opening parenthesis."""

    def attach(self, text: str) -> None:
        """Print text with no space before it."""

    def new_line(self, deeper: str = "") -> None:
        """Begin a new line of the same operation, as deep as it or deeper."""

    def punctuation(self, text: str) -> None:
        """Print punctuation."""

    def operands(self, values: Sequence[Value]) -> None:
        """Print the names of values."""

    def attributes(
        self, given: Operation | Mapping[str, Attribute], elided: Iterable[str] = (), keyword: str = ""
    ) -> None:
        """Print the attribute dictionary without the elided names, if anything is left; after `keyword` if given."""

    def signature(self, operation: Operation) -> None:
        """Print `(operand types) -> result types`."""

    def name(self, value: Value) -> str:
        """Return the name of a value."""

    def typed_name(self, value: Value) -> str:
        """Return the name of a value, a colon and its type."""

    def label(self, block: Block) -> str:
        """Return the label of a block, such as `^bb1`."""

    def numbered(self, region: Region) -> AbstractContextManager[None]:
        """Number all values of a region, before any is printed."""

    def region(
        self, region: Region, entry_printed: bool, empty_label: bool = True, terminator: str | None = None
    ) -> None:
        """Print `{ blocks }` in the names of `numbered`."""


class CompiledFormat(Protocol):
    """A compiled declarative format, which parses and prints a custom form."""

    line: Line | None

    def parse(self, parser: FormParser, pending: PendingOperation) -> None:
        """Parse the form of an operation after its name."""

    def print(self, printer: FormPrinter, operation: Operation) -> None:
        """Print the form of an operation after its name."""

    def can_express(self, operation: Operation) -> bool:
        """Return whether the printed text can be read again."""

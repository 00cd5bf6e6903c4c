"""Interface between custom forms of ops and the parser and printer in `qrt.ir.text`.

Op definitions refer to functions that parse and print custom forms, and the parser imports the definitions. Both sides
depend only on the protocols of this module, which avoids a circular import.
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
    """Parts of an operation that is being parsed; the parse function of a custom form fills them in.

    A declarative assembly format first collects operands, types and regions by group name (`operand_groups`, `types`,
    `region_groups`), and at the end moves them to `operands`, `operand_types` and `regions` in declared order.
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
        """Reset the fields that a one-line pattern set before it failed, so that the text can be parsed again."""
        self.operands, self.operand_types, self.result_types, self.attributes = [], [], [], {}
        self.inherent = frozenset()


class FormParser(AttributeReader, Protocol):
    """Interface of the parser for custom forms. Each method reads from the position of `scanner` and advances it."""

    def error_at(self, pending: PendingOperation, message: str) -> ParseError:
        """Return a ParseError located at the name of the operation being parsed."""

    def line(self, line: Line, pending: PendingOperation) -> bool:
        """Parse an operation by `line`, a regular expression for the most common spelling of its custom form.

        Return True if the expression matches; otherwise read nothing and return False.
        """

    def operand(self) -> OperandName:
        """Read an operand `%name` or `%name#number`."""

    def argument(self) -> OperandName:
        """Read the `%name` of a block argument."""

    def operand_list(self) -> list[OperandName]:
        """Read one or more operands, separated by commas."""

    def signature(self) -> tuple[list[Type], list[Type]]:
        """Read `(operand types) -> result types`, and return both lists."""

    def optional_attributes(self) -> dict[str, Attribute]:
        """Read an attribute dictionary if the text continues with one; return a new dict in any case."""

    def optional_location(self) -> LocationAttr | None:
        """Read `loc(...)` if the text continues with it; else return None."""

    def region(
        self,
        isolated: bool,
        dialect: str,
        arguments: Sequence[tuple[str, int, Type]] | None = None,
        terminator: str | None = None,
    ) -> Region:
        """Read a region `{ blocks }`; if the text omits the terminator, add an operation of the op `terminator`.

        `isolated` gives the region a new scope of SSA names. Inside the region, ops of the dialect `dialect` may omit
        the dialect's name, as `return` does in a `func.func`. For regions without such a dialect, callers pass the name
        of the op. `arguments` are (name, offset in the text, type) of entry block arguments that the custom form has
        already read.
        """

    def successor(self) -> Block:
        """Read `^label`, and return the block."""


class FormPrinter(Protocol):
    """Interface of the printer for custom forms. Methods append to the text, unless they return a name or a label."""

    def word(self, text: str) -> None:
        """Print a word, with a space before it unless it follows an opening parenthesis."""

    def attach(self, text: str) -> None:
        """Print text with no space before it."""

    def new_line(self, deeper: str = "") -> None:
        """Begin a new line of the same operation, indented like the operation plus the spaces in `deeper`."""

    def punctuation(self, text: str) -> None:
        """Print punctuation."""

    def operands(self, values: Sequence[Value]) -> None:
        """Print the SSA names of values, separated by commas."""

    def attributes(
        self, given: Operation | Mapping[str, Attribute], elided: Iterable[str] = (), keyword: str = ""
    ) -> None:
        """Print an attribute dictionary without the names in `elided`; print nothing if no attribute is left.

        `keyword` is printed before the dictionary.
        """

    def signature(self, operation: Operation) -> None:
        """Print `(operand types) -> result types`."""

    def name(self, value: Value) -> str:
        """Return the SSA name of a value, such as `%0` or `%arg1`."""

    def typed_name(self, value: Value) -> str:
        """Return `%name : type` of a value."""

    def label(self, block: Block) -> str:
        """Return the label of a block, such as `^bb1`."""

    def numbered(self, region: Region) -> AbstractContextManager[None]:
        """Assign SSA names to all values of a region; the region must be printed within the `with` block."""

    def region(
        self, region: Region, entry_printed: bool, empty_label: bool = True, terminator: str | None = None
    ) -> None:
        """Print `{ blocks }` of a region whose values have SSA names from `numbered`.

        If `entry_printed`, the custom form has already printed the entry block's arguments. If `empty_label`, the label
        of an entry block without operations is printed. A final `terminator` without operands and attributes is
        omitted.
        """


class CompiledFormat(Protocol):
    """Compiled declarative assembly format, which parses and prints an op's custom form."""

    line: Line | None

    def parse(self, parser: FormParser, pending: PendingOperation) -> None:
        """Parse the custom form after the op name into `pending`."""

    def print(self, printer: FormPrinter, operation: Operation) -> None:
        """Print the custom form after the op name."""

    def can_express(self, operation: Operation) -> bool:
        """Return True if the operation's custom form can be parsed again; otherwise generic form is printed."""

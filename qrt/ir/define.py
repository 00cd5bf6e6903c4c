"""Definitions of ops: operands, results, attributes, traits and assembly format, declared in a few lines each.

    Definition("quant.qcast", operands=("input",), results=("result",), traits={PURE},
               format="$input attr-dict `:` type($input) `to` type($result)", verify=...)

`name?` is optional and `name*` variadic; either may only come last. The format is a subset of MLIR's declarative
assembly format: `$operand`, `$attribute`, `` `literal` ``, `attr-dict`, `type($value)`, `operands`,
`functional-type(operands, results)`, and one optional group `($operand^ ...)?`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property
from typing import TYPE_CHECKING, Any

from qrt.errors import QuantTypeError
from qrt.ir import grammar
from qrt.ir.attributes import Attribute, StringAttr
from qrt.ir.core import Operation
from qrt.text import pattern

if TYPE_CHECKING:
    from qrt.ir.core import Value
    from qrt.ir.fold import Folds
    from qrt.ir.parser import Parser, PendingOperation
    from qrt.ir.printer import Printer


class Trait(Enum):
    """What passes and the verifier ask of an op without knowing it."""

    __hash__ = object.__hash__  # Enum's own is a Python function, called for every op

    PURE = auto()
    """No effects, and no undefined behaviour: may be removed, merged and moved (upstream's `Pure`)."""
    CONSTANT_LIKE = auto()
    TERMINATOR = auto()
    ISOLATED_FROM_ABOVE = auto()
    SYMBOL = auto()
    SYMBOL_TABLE = auto()
    COMMUTATIVE = auto()
    """Its operands may change places; canonical IR has constants last."""
    EXTENSION = auto()
    """Upstream does not know the op."""
    GRAPH_REGION = auto()
    """Its one block has no order and needs no terminator."""


PURE, CONSTANT_LIKE, TERMINATOR = Trait.PURE, Trait.CONSTANT_LIKE, Trait.TERMINATOR
ISOLATED_FROM_ABOVE, SYMBOL, SYMBOL_TABLE = Trait.ISOLATED_FROM_ABOVE, Trait.SYMBOL, Trait.SYMBOL_TABLE
COMMUTATIVE, EXTENSION, GRAPH_REGION = Trait.COMMUTATIVE, Trait.EXTENSION, Trait.GRAPH_REGION

Constraint = Callable[[Attribute], str | None]
"""Says what is wrong with an attribute, or None."""

_MEMO_LIMIT = 4096
_verified: set[tuple[object, ...]] = set()  # signatures that `verify_signature` has passed


@dataclass(frozen=True)
class AttributeSpec:
    """An attribute the op knows: what it must be, whether it must be there, and whether it is a property (printed in
    `<{...}>` in generic form), which upstream's ops must not have but for their own. A text that says the `default`
    is read as if it said nothing."""

    constraint: Constraint | None = None
    required: bool = False
    is_property: bool = True
    default: Attribute | None = None


@dataclass(frozen=True)
class Definition:
    """One op. `verify_signature` looks at types and attributes only, so equal signatures are checked once;
    `verify` looks at anything. Both raise VerifyError, or QuantTypeError to be reported at the op. `fold` gives the
    results as values or constants where they are known, and changes nothing."""

    name: str
    operands: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    attributes: Mapping[str, AttributeSpec] = field(default_factory=dict)
    regions: int = 0
    traits: frozenset[Trait] | set[Trait] = frozenset()
    format: str | None = None
    verify_signature: Callable[[Operation], None] | None = None
    verify: Callable[[Operation], None] | None = None
    parse: "Callable[[Parser, PendingOperation], None] | None" = None
    print: "Callable[[Printer, Operation], None] | None" = None
    operation_class: type[Operation] = Operation
    fold: "Callable[[Operation, Folds], list[Value | Attribute] | None] | None" = None

    @cached_property
    def assembly(self) -> "Assembly | None":
        """The compiled format."""
        return None if self.format is None else Assembly(self)

    @cached_property
    def properties(self) -> frozenset[str]:
        return frozenset(name for name, spec in self.attributes.items() if spec.is_property)

    @cached_property
    def defaults(self) -> dict[str, Attribute]:
        """The attributes that need not be said, with what their absence means."""
        return {name: spec.default for name, spec in self.attributes.items() if spec.default is not None}

    @property
    def dialect(self) -> str:
        return self.name.partition(".")[0]

    def check(self, operation: Operation) -> None:
        """Verify one operation against this definition."""
        key: tuple[object, ...] | None = None
        if not operation.regions and self.verify_signature is not None:
            key = (
                self.name,
                tuple([value.type for value in operation.operands]),
                tuple([value.type for value in operation.results]),
                tuple(operation.attributes.items()),
            )
            if key in _verified and self.verify is None:
                return
        self._check_counts(operation)
        self._check_attributes(operation)
        try:
            if self.verify_signature is not None:
                self.verify_signature(operation)
            if self.verify is not None:
                self.verify(operation)
        except QuantTypeError as error:
            raise operation.op_error(str(error)) from None
        if key is not None:
            if len(_verified) >= _MEMO_LIMIT:
                _verified.clear()
            _verified.add(key)

    def _check_counts(self, operation: Operation) -> None:
        for what, names, values in (
            ("operand", self.operands, operation.operands),
            ("result", self.results, operation.results),
        ):
            least = sum(name[-1] not in "?*" for name in names)
            most = None if names and names[-1].endswith("*") else len(names)
            if len(values) < least or (most is not None and len(values) > most):
                bound = f"{least}" if least == most else f"{least} or more" if most is None else f"{least} to {most}"
                raise operation.op_error(f"requires {bound} {what}{'s' * (bound != '1')}, but found {len(values)}")
        if len(operation.regions) != self.regions:
            raise operation.op_error(f"requires {self.regions} regions, but found {len(operation.regions)}")
        if operation.successors:
            raise operation.op_error("requires 0 successors")

    def _check_attributes(self, operation: Operation) -> None:
        for name, spec in self.attributes.items():
            value = operation.attributes.get(name)
            if value is None:
                if spec.required:
                    raise operation.op_error(f"requires attribute '{name}'")
            elif spec.constraint is not None and (wrong := spec.constraint(value)) is not None:
                raise operation.op_error(f"attribute '{name}' {wrong}, but is {value}")


def one_of(*choices: str) -> Constraint:
    """A string out of a list."""

    def check(value: Attribute) -> str | None:
        if isinstance(value, StringAttr) and value.value in choices:
            return None
        return f"must be one of {', '.join(map(repr, choices))}"

    return check


def instance_of(kind: type[Attribute], what: str) -> Constraint:
    """An attribute of a class."""
    return lambda value: None if isinstance(value, kind) else f"must be {what}"


# -- assembly formats --------------------------------------------------------------------------------------------------

_FORMAT_TOKEN = re.compile(
    r"\s*(?:`(?P<literal>[^`]+)`|\$(?P<variable>\w+)(?P<anchor>\^)?|type\(\$(?P<type>\w+)\)|(?P<open>\()|(?P<close>\)\?)"
    r"|(?P<word>attr-dict|operands|functional-type\(operands, results\)))"
)

_Parse = Callable[["Parser", "PendingOperation"], bool]
_Print = Callable[["Printer", Operation], None]


@dataclass(frozen=True)
class Line:
    """A format as one pattern over its plainest spelling, and what each group of it is."""

    pattern: re.Pattern[str]
    parts: tuple[str, ...]


class Assembly:
    """A format compiled to two lists of steps, and to a `Line` if it has no optional group."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.parse_steps: list[_Parse] = []
        self.print_steps: list[_Print] = []
        self.elided: set[str] = set()
        self.line = _line(definition)
        group: list[int] | None = None
        position = 0
        text = (definition.format or "").rstrip()
        while position < len(text):
            match = _FORMAT_TOKEN.match(text, position)
            if match is None:
                raise ValueError(f"{definition.name}: bad assembly format at {text[position:]!r}")
            position = match.end()
            if match["open"]:
                group = [len(self.parse_steps)]
            elif match["close"]:
                assert group is not None
                self._close_group(group[0])
                group = None
            else:
                parse, show = self._step(match)
                self.parse_steps.append(parse)
                self.print_steps.append(show)

    def parse(self, parser: "Parser", pending: "PendingOperation") -> None:
        if self.line is not None and parser.line(self.line, pending):
            return
        for step in self.parse_steps:
            step(parser, pending)

    def print(self, printer: "Printer", operation: Operation) -> None:
        for step in self.print_steps:
            step(printer, operation)

    def _close_group(self, start: int) -> None:
        parse, show = self.parse_steps[start:], self.print_steps[start:]

        def parse_group(parser: "Parser", pending: "PendingOperation") -> bool:
            return parser.scanner.at("%") and all(step(parser, pending) is not False for step in parse)

        def print_group(printer: "Printer", operation: Operation) -> None:
            if operation.operands:
                for step in show:
                    step(printer, operation)

        self.parse_steps[start:] = [parse_group]
        self.print_steps[start:] = [print_group]

    def _step(self, match: re.Match[str]) -> tuple[_Parse, _Print]:
        if (literal := match["literal"]) is not None:
            return _literal(literal)
        if (variable := match["variable"]) is not None:
            return self._variable(variable)
        if (variable := match["type"]) is not None:
            return self._type(variable)
        if match["word"] == "attr-dict":
            return (
                lambda parser, pending: _true(pending.attributes.update(parser.optional_attributes())),
                lambda printer, operation: printer.attributes(operation, self.elided),
            )
        if match["word"] == "operands":
            return (
                lambda parser, pending: _true(pending.operands.extend(parser.operand_list())),
                lambda printer, operation: printer.operands(operation.operands),
            )

        def parse_signature(parser: "Parser", pending: "PendingOperation") -> bool:
            pending.operand_types, pending.result_types = parser.signature()
            return True

        return parse_signature, lambda printer, operation: printer.signature(operation)

    def _variable(self, name: str) -> tuple[_Parse, _Print]:
        if name in self.definition.attributes:
            self.elided.add(name)

            def parse_attribute(parser: "Parser", pending: "PendingOperation") -> bool:
                pending.attributes[name] = parser.attribute()
                return True

            return parse_attribute, lambda printer, operation: printer.word(str(operation.attributes[name]))
        index, variadic = _position(name, self.definition.operands)
        if variadic:
            return (
                lambda parser, pending: _true(pending.operands.extend(parser.operand_list())),
                lambda printer, operation: printer.operands(operation.operands[index:]),
            )
        return (
            lambda parser, pending: _true(pending.operands.append(parser.operand())),
            lambda printer, operation: printer.operands(operation.operands[index : index + 1]),
        )

    def _type(self, name: str) -> tuple[_Parse, _Print]:
        of_operand = name in {spec.rstrip("?*") for spec in self.definition.operands}
        names = self.definition.operands if of_operand else self.definition.results
        index, variadic = _position(name, names)
        stop = None if variadic else index + 1

        def parse_type(parser: "Parser", pending: "PendingOperation") -> bool:
            types = pending.operand_types if of_operand else pending.result_types
            types.append(parser.type())
            while variadic and parser.scanner.accept(","):
                types.append(parser.type())
            return True

        def print_type(printer: "Printer", operation: Operation) -> None:
            values = operation.operands if of_operand else operation.results
            printer.word(", ".join(str(value.type) for value in values[index:stop]))

        return parse_type, print_type


def _line(definition: Definition) -> Line | None:
    patterns: list[str] = []
    parts: list[str] = []
    for match in _FORMAT_TOKEN.finditer(definition.format or ""):
        if (literal := match["literal"]) is not None:
            patterns.append(re.escape(literal) + (r"\b" if literal.isalpha() else ""))
        elif (variable := match["variable"]) in definition.operands:
            patterns.append(rf"({grammar.NAME})(?![#])")
            parts.append("operand")
        elif (variable := match["type"]) in definition.operands or variable in definition.results:
            patterns.append(rf"({grammar.TYPE})")
            parts.append("operand type" if variable in definition.operands else "result type")
        elif match["word"] in _LINE_PARTS:
            text, part = _LINE_PARTS[match["word"]]
            patterns.append(text)
            parts.append(part)
        else:
            return None
    return Line(pattern(grammar.SPACE.join(patterns)), tuple(parts))


_OPERAND_LIST = rf"{grammar.NAME}(?:[ ]?,[ ]?{grammar.NAME})*+"
_LINE_PARTS = {
    "attr-dict": (rf"({grammar.ATTRIBUTES})?", "attributes"),
    "operands": (rf"({_OPERAND_LIST})(?![#])", "operands"),
    "functional-type(operands, results)": (rf"({grammar.SIGNATURE})", "signature"),
}


GENERIC_LINE = Line(
    pattern(
        rf"\(({_OPERAND_LIST})?\){grammar.SPACE}(?:<({grammar.ATTRIBUTES})>{grammar.SPACE})?"
        rf"({grammar.ATTRIBUTES})?{grammar.SPACE}:{grammar.SPACE}({grammar.SIGNATURE})"
    ),
    ("operands", "properties", "attributes", "signature"),
)
"""The generic form of an op without regions and successors."""


def _true(_: Any) -> bool:
    return True


def _position(name: str, names: tuple[str, ...]) -> tuple[int, bool]:
    for index, spec in enumerate(names):
        if spec.rstrip("?*") == name:
            return index, spec != name
    raise ValueError(f"the assembly format names {name!r}, which is not declared")


def _literal(text: str) -> tuple[_Parse, _Print]:
    if text.isalpha():

        def parse(parser: "Parser", pending: "PendingOperation") -> bool:
            if not parser.scanner.accept_word(text):
                raise parser.scanner.error(f"expected '{text}'")
            return True

    else:

        def parse(parser: "Parser", pending: "PendingOperation") -> bool:
            parser.scanner.expect(text)
            return True

    return parse, lambda printer, operation: printer.punctuation(text)

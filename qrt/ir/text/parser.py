"""Parser of programs. It parses operations in generic form, blocks and regions, and calls the parsers of custom forms.

For speed, types, signatures and attribute dictionaries that occur again are looked up by their text.
"""

from collections.abc import Mapping, Sequence
from typing import NoReturn

from qrt.ir.core import registry
from qrt.ir.core.attributes import Attribute, LocationAttr
from qrt.ir.core.forms import OperandName, PendingOperation
from qrt.ir.core.grammar import (
    ATTRIBUTES_PATTERN,
    GENERIC_LINE,
    HEAD_PATTERN,
    LOCATION_PATTERN,
    NAMES_PATTERN,
    OPERAND_PATTERN,
    SIGNATURE_PATTERN,
    TYPE_PATTERN,
    Line,
)
from qrt.ir.core.operations import Block, Operation, Region
from qrt.ir.core.traits import ISOLATED_FROM_ABOVE, TERMINATOR
from qrt.ir.text.names import NameParser, Scope
from qrt.ir.text.resources import ResourceParser
from qrt.types import Type
from qrt.types.scanner import Location, Source

_BLOCK_END = ("}", "^")
_MEMO_LENGTH = 512  # characters: a longer text is not looked up


class _Blocks:
    """Block labels of one region, with the first use of each label that is not yet defined."""

    __slots__ = ("defined", "labels", "used")

    def __init__(self) -> None:
        self.labels: dict[str, Block] = {}
        self.defined: set[str] = set()
        self.used: dict[str, int] = {}


class Parser(NameParser, ResourceParser):
    """Parser of a whole program's text."""

    def __init__(self, source: Source, allow_unregistered: bool, upstream: int = 22) -> None:
        super().__init__(source, allow_unregistered, upstream)
        self._types: dict[str, Type] = {}
        self._signatures: dict[str, tuple[list[Type], list[Type]]] = {}
        self._dictionaries: dict[str, dict[str, Attribute]] = {}
        self._blocks = _Blocks()
        self._dialects: list[str] = ["builtin"]  # whose ops may be named without their dialect

    # -- the whole --------------------------------------------------------------------------------------------------

    def program(self) -> Operation:
        """Parse the whole text, and return its `builtin.module`.

        Top-level operations other than a single `builtin.module` are wrapped in a new module.
        """
        scanner = self.scanner
        block = Block()
        while not scanner.at_end():
            if scanner.at("#") or scanner.at("!"):
                self.alias_definition()
            elif scanner.at("{-#"):
                self.resources()
            else:
                operation = block.append(self.operation())
                operation.loc = self.optional_location()
        self._finish_scope()
        only = block.first
        if only is not None and only is block.last and only.name == "builtin.module":
            return only.detach()
        scanner.require_nesting_in_module()
        definition = registry.definition("builtin.module")
        location = Location(self.source, 0)
        return Operation("builtin.module", regions=[Region([block])], location=location, definition=definition)

    # -- operations -------------------------------------------------------------------------------------------------

    def operation(self) -> Operation:
        scanner = self.scanner
        match = HEAD_PATTERN.match(self.source.text, scanner.pos)
        if match is None:
            self._no_operation()
        scanner.pos = match.end()
        names, generic, custom = match.groups()
        start = match.start(match.lastindex or 0) - (generic is not None)
        if custom is None:
            if "\\" in generic:
                scanner.pos = start
                generic = scanner.string("an operation name")
            pending = self._generic(generic, start)
        else:
            pending = self._custom(custom, start)
        definition = pending.definition
        if definition is not None and definition.older_names:
            self._rename(pending, definition.older_names)
        if definition is not None and definition.defaults:
            for name, default in definition.defaults.items():
                if pending.attributes.get(name) == default:
                    del pending.attributes[name]
        kind = Operation if definition is None else definition.operation_class
        operation = kind(
            pending.name,
            self._resolve(pending),
            pending.result_types,
            pending.attributes,
            pending.regions,
            pending.successors,
            Location(self.source, start, match.end()),
            definition,
        )
        operation.inherent = pending.inherent
        if names is not None:
            self._bind(names, match.start(1), operation.results)
        return operation

    def _rename(self, pending: PendingOperation, names: Mapping[str, str]) -> None:
        for older in [name for name in pending.attributes if name in names]:
            if names[older] in pending.attributes:
                newer = names[older]
                message = f"attributes '{newer}' and '{older}' must not both be given: '{older}' is the older name"
                raise self.error_at(pending, message)
            pending.attributes[names[older]] = pending.attributes.pop(older)

    def _no_operation(self) -> NoReturn:
        scanner = self.scanner
        if scanner.match(NAMES_PATTERN) is not None:
            scanner.expect("=", " after SSA name")
            raise scanner.error("expected an operation name")
        raise scanner.error("expected an operation")

    def _custom(self, name: str, start: int) -> PendingOperation:
        definition = registry.find(name)
        if definition is None and "." not in name:
            definition = registry.find(f"{self._dialects[-1]}.{name}")
        if definition is None:
            known = registry.reason(name) or f"'{name}' is unknown"
            raise self.scanner.error(f"custom op {known}", start, start + len(name))
        pending = PendingOperation(definition.name, definition, start)
        if definition.assembly is not None:
            definition.assembly.parse(self, pending)
        elif definition.parse is not None:
            definition.parse(self, pending)
        else:
            raise self.scanner.error(
                f"op '{name}' has no custom form, only the generic form \"{name}\"(...)", start, start + len(name)
            )
        return pending

    def _generic(self, name: str, start: int) -> PendingOperation:
        scanner = self.scanner
        definition = registry.find(name)
        if definition is None and not self.allow_unregistered:
            known = registry.reason(name) or f"'{name}' is unregistered, and accepted only with allow_unregistered=True"
            raise scanner.error(f"op {known}", start, start + len(name) + 2)
        pending = PendingOperation(name, definition, start)
        if self.line(GENERIC_LINE, pending):
            return pending
        scanner.expect("(", " before operands")
        if not scanner.accept(")"):
            pending.operands = self.operand_list()
            scanner.expect(")", " after operands")
        if scanner.accept("["):
            pending.successors = scanner.separated(self.successor)
            scanner.expect("]", " after successors")
        if scanner.at("<"):
            scanner.expect("<")
            pending.attributes.update(self.attribute_dictionary())
            scanner.expect(">", " after properties")
        if scanner.accept("("):
            isolated = definition is not None and ISOLATED_FROM_ABOVE in definition.traits
            dialect = self._dialects[-1]  # the generic form changes nothing about how the ops inside are named
            pending.regions = scanner.separated(lambda: self.region(isolated=isolated, dialect=dialect))
            scanner.expect(")", " after regions")
        inherent = frozenset(pending.attributes)
        for key, value in self.optional_attributes().items():
            if key in pending.attributes:
                raise scanner.error(f"attribute '{key}' occurs more than once", start, scanner.pos)
            pending.attributes[key] = value
        scanner.expect(":", " followed by the operation's type")
        pending.operand_types, pending.result_types = self.signature()
        pending.inherent = inherent if definition is None else frozenset()
        return pending

    # -- whole custom forms at once ---------------------------------------------------------------------------------

    def line(self, line: Line, pending: PendingOperation) -> bool:
        """Parse a custom form at once by the regular expression of its most common spelling, and return True.

        If the text does not match, read nothing and return False: the elements of the assembly format then parse it, or
        report the error.
        """
        scanner = self.scanner
        start = scanner.pos
        match = line.pattern.match(self.source.text, start)
        if match is None:
            return False
        for group, (part, text) in enumerate(zip(line.parts, match.groups(), strict=True), 1):
            if part == "operand":
                pending.operands.append((text, 0, match.start(group)))
            elif part == "operands":
                if text is not None:
                    at = match.start(group)
                    pending.operands = [(name, 0, at) for name in text.replace(" ", "").split(",")]
            elif part == "properties":
                if text is not None:
                    scanner.pos = match.start(group)
                    pending.attributes = dict(self._dictionaries.get(text) or self.optional_attributes())
                    if pending.definition is None:
                        pending.inherent = frozenset(pending.attributes)
            elif part == "attributes":
                if text is not None:
                    scanner.pos = match.start(group)
                    given = self._dictionaries.get(text) or self.optional_attributes()
                    if pending.attributes.keys() & given.keys():
                        break
                    pending.attributes = pending.attributes | given if pending.attributes else given.copy()
            elif part == "signature":
                scanner.pos = match.start(group)
                known = self._signatures.get(text)
                if known is None:
                    known = self.signature()
                    if scanner.pos != match.end(group):
                        break
                pending.operand_types, pending.result_types = known
            else:
                type = self._types.get(text)
                if type is None:
                    scanner.pos = match.start(group)
                    type = self.types.parse()
                    if scanner.pos != match.end(group):
                        break
                    self._types[text] = type
                (pending.operand_types if part == "operand type" else pending.result_types).append(type)
        else:
            scanner.pos = match.end()
            return True
        scanner.pos = start
        pending.clear()
        return False

    # -- parts that custom forms use --------------------------------------------------------------------------------

    def operand(self) -> OperandName:
        match = self.scanner.match(OPERAND_PATTERN)
        if match is None:
            raise self.scanner.error("expected SSA operand")
        number = match[2]
        return match[1], int(number) if number and len(number) < 9 else (1 << 30 if number else 0), match.start(1)

    def argument(self) -> OperandName:
        """Parse the `%name` of a block argument, and raise ParseError if a result number `#n` follows it."""
        name, number, at = self.operand()
        if "#" in self.source.text[at : self.scanner.pos]:
            raise self.scanner.error("result number not allowed in argument list", at, self.scanner.pos)
        return name, number, at

    def operand_list(self) -> list[OperandName]:
        """Parse one or more operands, separated by commas."""
        match = self.scanner.match(NAMES_PATTERN)
        if match is not None and "#" not in match[1] and "," not in match[1]:
            operands = [(match[1], 0, match.start(1))]
        else:
            if match is not None:
                self.scanner.pos = match.start(1)
            operands = [self.operand()]
        while self.scanner.accept(","):
            operands.append(self.operand())
        return operands

    def type(self) -> Type:
        """Parse a type, or look it up if the same text was parsed before."""
        match = TYPE_PATTERN.match(self.source.text, self.scanner.pos)
        if match is None or self._open_aliases:  # inside an alias each type is measured again
            return self.types.parse()
        known = self._types.get(match[1])
        if known is not None:
            self.scanner.pos = match.end()
            return known
        parsed = self.types.parse()
        if self.scanner.pos == match.end():
            self._types[match[1]] = parsed
        return parsed

    def signature(self) -> tuple[list[Type], list[Type]]:
        """Parse `(operand types) -> result types`, and return both lists."""
        match = SIGNATURE_PATTERN.match(self.source.text, self.scanner.pos)
        if match is not None:
            known = self._signatures.get(match[1])
            if known is not None:
                self.scanner.pos = match.end()
                return known
        inputs = self.types.list_in_parentheses()
        self.scanner.expect("->", " in function type")
        parsed = inputs, self.types.results()
        if match is not None and self.scanner.pos == match.end():
            self._signatures[match[1]] = parsed
        return parsed

    def optional_attributes(self) -> dict[str, Attribute]:
        """Parse an attribute dictionary if the text continues with one; return a new dict in any case."""
        if not self.scanner.at("{"):
            return {}
        match = ATTRIBUTES_PATTERN.match(self.source.text, self.scanner.pos)
        if match is None:
            return self.attribute_dictionary()
        known = self._dictionaries.get(match[1])
        if known is not None:
            self.scanner.pos = match.end()
            return dict(known)
        parsed = self.attribute_dictionary()
        if self.scanner.pos == match.end() and len(match[1]) < _MEMO_LENGTH:
            self._dictionaries[match[1]] = parsed
        return dict(parsed)

    def optional_location(self) -> LocationAttr | None:
        if self.scanner.match(LOCATION_PATTERN) is None:
            return None
        text = self.location_body()
        self.scanner.expect(")", " after location")
        return LocationAttr(text)

    # -- regions ----------------------------------------------------------------------------------------------------

    def region(
        self,
        isolated: bool,
        dialect: str,
        arguments: Sequence[tuple[str, int, Type]] | None = None,
        terminator: str | None = None,
    ) -> Region:
        """Parse a region `{ blocks }`; if its single block lacks a terminator, add an operation of the op `terminator`.

        `isolated` gives the region a new scope of SSA names. Inside the region, ops of the dialect `dialect` may omit
        the dialect's name, as `return` does in a `func.func`. For regions without such a dialect, callers pass the name
        of the op. `arguments` are (name, offset in the text, type) of entry block arguments that the custom form has
        already read.
        """
        with self.scanner.nested():
            outer = self._scope, self._names, self._blocks
            self._scope = Scope() if isolated else self._scope
            self._names, self._blocks = [], _Blocks()
            self._dialects.append(dialect)
            region = self._region_body(arguments)
            if isolated:
                self._finish_scope()
            else:
                for name in self._names:
                    del self._scope.values[name]
            self._scope, self._names, self._blocks = outer
            self._dialects.pop()
        if terminator is not None:
            self._terminate(region, terminator)
        return region

    def _terminate(self, region: Region, name: str) -> None:
        if not region.blocks:
            region.append(Block(location=Location(self.source, self.scanner.pos)))
        block = region.blocks[0]
        ended = block.last is not None and block.last.has_trait(TERMINATOR)
        if len(region.blocks) == 1 and not ended:
            location = Location(self.source, self.scanner.pos)
            block.append(Operation(name, location=location, definition=registry.definition(name)))

    def _region_body(self, arguments: Sequence[tuple[str, int, Type]] | None) -> Region:
        scanner = self.scanner
        scanner.expect("{", " to begin a region")
        region = Region()
        entry = Block(location=Location(self.source, scanner.pos))
        if arguments is not None:
            for name, at, type in arguments:
                self._define_entry(name, at, entry.add_argument(type))
            entry.names = tuple([name for name, _, _ in arguments])
        if scanner.at("^") and arguments:
            raise scanner.error("invalid block name in region with named arguments")
        if not scanner.at("^") and (arguments is not None or not scanner.at("}")):
            region.append(entry)
            self._block_body(entry)
        while scanner.at("^"):
            region.append(self._labelled_block())
        scanner.expect("}", " to end a region")
        for label, at in self._blocks.used.items():
            if label not in self._blocks.defined:
                raise scanner.error(f"reference to an undefined block '^{label}'", at, at + len(label) + 1)
        return region

    def _labelled_block(self) -> Block:
        scanner = self.scanner
        start = scanner.skip()
        label = scanner.suffix("^", "a block label")
        block = self._blocks.labels.setdefault(label, Block())
        if label in self._blocks.defined:
            raise scanner.error(f"redefinition of block '^{label}'", start, scanner.pos)
        self._blocks.defined.add(label)
        block.location = Location(self.source, start, scanner.pos)
        if scanner.accept("("):
            names: list[str] = []
            while not block.arguments or scanner.accept(","):
                name, _, at = self.operand()
                scanner.expect(":", " after block argument")
                self._define(name, at, [block.add_argument(self.type())])
                names.append(name)
                self.optional_location()
            scanner.expect(")", " after block arguments")
            block.names = tuple(names)
        scanner.expect(":", " after block label")
        self._block_body(block)
        return block

    def _block_body(self, block: Block) -> None:
        scanner, text = self.scanner, self.source.text
        start = scanner.skip()
        while not text.startswith(_BLOCK_END, start):
            operation = block.append(self.operation())
            start = scanner.skip()
            if text.startswith("loc", start):
                operation.loc = self.optional_location()
                start = scanner.skip()

    def successor(self) -> Block:
        """Parse `^label`, and return that block of the current region."""
        start = self.scanner.skip()
        label = self.scanner.suffix("^", "a block label")
        self._blocks.used.setdefault(label, start)
        return self._blocks.labels.setdefault(label, Block())

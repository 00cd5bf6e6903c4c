"""Resolution of SSA names in text; a name may be used before its definition."""

from qrt.errors import Diagnostic, ParseError, plural
from qrt.ir.core.forms import PendingOperation
from qrt.ir.core.grammar import RESULT_PATTERN
from qrt.ir.core.operations import Value
from qrt.ir.text.attribute_parser import AttributeParser
from qrt.types import Type
from qrt.types.scanner import Location, Source


class Scope:
    """SSA names of a region that is isolated from above, and of the regions inside it that are not isolated."""

    __slots__ = ("forward", "places", "values")

    def __init__(self) -> None:
        self.values: dict[str, list[Value]] = {}
        self.places: dict[str, int] = {}  # where the names that are or were in `values` are defined
        self.forward: dict[str, dict[int, tuple[Value, int]]] = {}  # used, not yet defined: values and first uses


class NameParser(AttributeParser):
    """Attribute parser that also resolves the SSA names of the regions being parsed."""

    def __init__(self, source: Source, allow_unregistered: bool, upstream: int = 22) -> None:
        super().__init__(source, allow_unregistered, upstream)
        self._scope = Scope()
        self._names: list[str] = []  # defined in the open regions, innermost last

    def error_at(self, pending: PendingOperation, message: str) -> ParseError:
        """Return a ParseError located at the name of the operation being parsed."""
        return self.scanner.error(message, pending.start, pending.start + len(pending.name))

    def _error_with_note(self, message: str, name: str, at: int, note: str, earlier: int) -> ParseError:
        """Return a ParseError at the SSA name at offset `at`, with a note at the same name at offset `earlier`."""
        place, before = (Location(self.source, start, start + len(name)) for start in (at, earlier))
        return ParseError(message, place, (Diagnostic("note", note, before),))

    def _expects_other_type(self, name: str, at: int, type: Type, known: Type, earlier: int) -> ParseError:
        message = f"use of value '{name}' expects different type than prior uses: '{type}' vs '{known}'"
        return self._error_with_note(message, name, at, "prior use here", earlier)

    def _resolve(self, pending: PendingOperation) -> list[Value]:
        names, types = pending.operands, pending.operand_types
        if len(names) != len(types):
            message = f"'{pending.name}' has {len(names)} operands but {len(types)} operand types"
            raise self.error_at(pending, message)
        values = self._scope.values
        resolved = []
        for (name, number, at), type in zip(names, types, strict=True):
            known = values.get(name)
            if known is None:
                resolved.append(self._forward(name, number, at, type))
                continue
            if number >= len(known):
                raise self.scanner.error(
                    f"'{name}#{number}' does not exist: '{name}' has {plural(len(known), 'result')}", at
                )
            value = known[number]
            if value.type is not type:
                raise self._expects_other_type(name, at, type, value.type, self._scope.places[name])
            resolved.append(value)
        return resolved

    def _forward(self, name: str, number: int, at: int, type: Type) -> Value:
        """Return a placeholder for result `number` of an SSA name that is used before its definition."""
        waiting = self._scope.forward.setdefault(name, {})
        known = waiting.get(number)
        if known is None:
            value = Value(type, None, number)
            waiting[number] = value, at
            return value
        if known[0].type is not type:
            raise self._expects_other_type(name, at, type, known[0].type, known[1])
        return known[0]

    def _bind(self, names: str, at: int, results: list[Value]) -> None:
        if ":" not in names and "," not in names and len(results) == 1:
            self._define(names, at, results)
            return
        groups = [
            (m[1], int(m[2] or 1) if len(m[2] or "") < 9 else 1 << 30, m.start(1))
            for m in RESULT_PATTERN.finditer(names)
        ]
        bound = sum(count for _, count, _ in groups)
        if bound != len(results) or any(count == 0 for _, count, _ in groups):
            message = f"operation defines {len(results)} results but was provided {bound} to bind"
            raise self.scanner.error(message, at, at + len(names))
        first = 0
        for name, count, offset in groups:
            self._define(name, at + offset, results[first : first + count])
            first += count

    def _define(self, name: str, at: int, values: list[Value]) -> None:
        scope = self._scope
        if name in scope.values:
            message = f"redefinition of SSA value '{name}'"
            raise self._error_with_note(message, name, at, "previously defined here", scope.places[name])
        scope.values[name] = values
        scope.places[name] = at
        self._names.append(name)
        if scope.forward:
            self._define_forward(name, at, values)

    def _define_entry(self, name: str, at: int, value: Value) -> None:
        """Define the SSA name of an entry block argument. Raise ParseError if the name is already used or defined."""
        scope = self._scope
        if name in scope.values or name in scope.forward:
            earlier = scope.places[name] if name in scope.values else next(iter(scope.forward[name].values()))[1]
            message = f"region entry argument '{name}' is already in use"
            raise self._error_with_note(message, name, at, "previously referenced here", earlier)
        self._define(name, at, [value])

    def _define_forward(self, name: str, at: int, values: list[Value]) -> None:
        for number, (value, used) in self._scope.forward.pop(name, {}).items():
            if number >= len(values):
                raise self.scanner.error(
                    f"'{name}#{number}' does not exist: '{name}' has {plural(len(values), 'result')}", used
                )
            new = values[number]
            if new.type is not value.type:
                message = f"definition of SSA value '{name}#{number}' has type '{new.type}'"
                note = f"previously used here with type '{value.type}'"
                raise self._error_with_note(message, name, at, note, used)
            value.replace_all_uses(new)

    def _finish_scope(self) -> None:
        for name, waiting in self._scope.forward.items():
            at = next(iter(waiting.values()))[1]
            raise self.scanner.error(f"use of undeclared SSA value name '{name}'", at, at + len(name))

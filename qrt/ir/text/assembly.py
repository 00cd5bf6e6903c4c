"""Declarative assembly formats: the language of MLIR's `assemblyFormat`, compiled to elements that parse and print.

    "$memref `[` $indices `]` attr-dict `:` type($memref)"

The elements are:

- `$x`: an operand, attribute, region or successor
- `` `text` ``: a literal; an empty literal suppresses the space
- `type($x)`, also as `qualified(type($x))`: the types of an operand or result group
- `operands`: all operands
- `attr-dict`, `attr-dict-with-keyword`: the attributes that no other element prints
- `functional-type(a, b)`: a function type, where a and b are `operands`, `results` or `$x`
- `name($x, $y)`: a directive of `DIRECTIVES`
- `(a $x^ b)?`, or with an alternative `(a $x^):(b)`: an optional group, which is parsed if the text continues with its
  first element, and printed if the operation has the anchor `$x`

A type that the format omits is inferred: from the definition's relations, from its traits, or from a type constraint
that only one type satisfies.
"""

import re
from collections.abc import Sequence

from qrt.ir.core import attribute_kinds, grammar
from qrt.ir.core.constraints import INDEX, Relation, always, same_as
from qrt.ir.core.define import OPERAND_SEGMENTS, RESULT_SEGMENTS, Definition, segments
from qrt.ir.core.forms import FormParser, FormPrinter, OperandName, PendingOperation
from qrt.ir.core.operations import Operation, Region
from qrt.ir.core.traits import SAME_OPERANDS_AND_RESULT_TYPE, SAME_TYPE_OPERANDS
from qrt.ir.text.assembly_elements import (
    DIRECTIVES,
    AllOperands,
    Attribute,
    AttributeDictionary,
    Call,
    Element,
    FunctionalType,
    GroupElement,
    LiteralElement,
    Operands,
    RegionOf,
    SuccessorOf,
    TypeOf,
    Unit,
)
from qrt.types import Type
from qrt.types.scanner import pattern

_TOKEN = re.compile(
    r"\s*(?:`(?P<literal>[^`]*)`|\$(?P<variable>\w+)|(?P<anchor>\^)|qualified\((?P<qualified>type\()?\$(?P<inner>\w+)\)+"
    r"|type\(\$(?P<type>\w+)\)|functional-type\((?P<inputs>[^,]+),(?P<results>[^)]+)\)"
    r"|(?P<word>attr-dict-with-keyword|attr-dict|operands)"
    r"|(?P<directive>\w+)\((?P<names>[^)]*)\)|(?P<open>\()|(?P<other>\)\s*:\s*\()|(?P<close>\)\??))"
)


class _Compiler:
    """Compiler of an assembly format's text into elements, from left to right."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.text = (definition.format or "").rstrip()
        self.position = 0
        self.elided: set[str] = set()
        self.typed: set[str] = set()  # operands and results whose types the format has
        self.after_space = True  # the last element asks for a space after it
        self.after_punctuation = False

    def elements(self) -> tuple[list[Element], Element | None, str]:
        """Parse elements up to the end of the current group or of the format.

        Return (elements, anchor element or None, text that ended the group: ")", "):(" or "").
        """
        elements: list[Element] = []
        anchor: Element | None = None
        while self.position < len(self.text):
            match = _TOKEN.match(self.text, self.position)
            if match is None:
                raise ValueError(
                    f"{self.definition.name}: cannot parse the assembly format at {self.text[self.position :]!r}: "
                    "expected '`text`', '$name', a directive ('attr-dict', 'type($name)', ...) or an optional "
                    "group '(...)?'"
                )
            self.position = match.end()
            if match["anchor"]:
                anchor = elements[-1]
                if isinstance(anchor, Attribute) and anchor.kind is attribute_kinds.UNIT:
                    anchor = elements[-1] = Unit(anchor.definition, anchor.name)
            elif match["close"] or match["other"]:
                return elements, anchor, "):(" if match["other"] else ")"
            elif match["open"]:
                elements.append(self._group())
            elif (literal := match["literal"]) is not None and not literal.strip():
                self.after_space, self.after_punctuation = bool(literal), True
            else:
                elements.append(self._spaced(self._element(match)))
        return elements, anchor, ""

    def _group(self) -> GroupElement:
        elements, anchor, end = self.elements()
        others, _, _ = self.elements() if end == "):(" else ([], None, "")
        if anchor is None:
            raise ValueError(
                f"{self.definition.name}: an optional group '(...)?' of the assembly format must have '^' after one "
                "element, its anchor"
            )
        return GroupElement(elements, others, anchor)

    def _spaced(self, element: Element) -> Element:
        """Set whether a space is printed before the element, by the rules of upstream MLIR's format generator."""
        if isinstance(element, AttributeDictionary):
            self.after_punctuation = False
        elif isinstance(element, LiteralElement):
            tight = ">)}]," if self.after_punctuation else "<>(){}[],"
            is_sign = len(element.text) == 1
            element.space = self.after_space and not (is_sign and element.text in tight)
            self.after_space = not (is_sign and element.text in "<({[")
            self.after_punctuation = not (element.text[0] == "_" or element.text[0].isalpha())
        else:
            element.space = self.after_space or not self.after_punctuation
            self.after_space, self.after_punctuation = True, False
        return element

    def _element(self, match: re.Match[str]) -> Element:
        definition = self.definition
        if match["literal"] is not None:
            return LiteralElement(match["literal"])
        if (name := match["variable"] or (match["inner"] if not match["qualified"] else None)) is not None:
            return self._variable(name)
        if (name := match["type"] or match["inner"]) is not None:
            return self._type(name)
        if match["inputs"]:
            parts = [re.sub(r"^type\(|[$)\s]", "", match[part]) for part in ("inputs", "results")]
            for part, groups in zip(parts, (definition.operand_groups, definition.result_groups), strict=True):
                self.typed.update(groups.names if part in ("operands", "results") else (part,))
            return FunctionalType(definition, *parts)
        if match["directive"]:
            if match["directive"] not in DIRECTIVES:
                raise ValueError(
                    f"{definition.name}: the assembly format has the unknown directive {match['directive']!r}; known "
                    f"are {', '.join(DIRECTIVES)}"
                )
            names = tuple(name.strip(" $") for name in match["names"].split(","))
            self.elided.update(name for name in names if name in definition.attributes)
            return Call(DIRECTIVES[match["directive"]], names)
        if match["word"] == "operands":
            return AllOperands()
        return AttributeDictionary("attributes" if match["word"] == "attr-dict-with-keyword" else "", self.elided)

    def _variable(self, name: str) -> Element:
        definition = self.definition
        if name in definition.attributes:
            self.elided.add(name)
            return Attribute(definition, name)
        for kind, declared in (
            (Operands, definition.operand_groups.declared),
            (RegionOf, definition.region_names),
            (SuccessorOf, definition.successor_names),
        ):
            for group in declared:
                if group.name == name:
                    return kind(definition, name, group.size)
        raise ValueError(f"{definition.name}: the assembly format names {name!r}, which the op does not declare")

    def _type(self, name: str) -> TypeOf:
        self.typed.add(name)
        for groups in (self.definition.operand_groups, self.definition.result_groups):
            for group in groups.declared:
                if group.name == name:
                    return TypeOf(self.definition, name, groups is self.definition.operand_groups, group.size)
        raise ValueError(f"{self.definition.name}: the assembly format names {name!r}, which the op does not declare")


class Assembly:
    """Compiled assembly format: its elements, and for a simple format also a regular expression of the whole text."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        compiler = _Compiler(definition)
        self.elements, _, _ = compiler.elements()
        compiler.elided.update(
            groups.segments for groups in (definition.operand_groups, definition.result_groups) if groups.uses_segments
        )
        self.inferred = inferences(definition, compiler.typed)
        self.line = _line(self)
        self._lists = [element for element in self.elements if isinstance(element, TypeOf) and element.size == "*"]

    def parse(self, parser: FormParser, pending: PendingOperation) -> None:
        line = self.line
        if line is not None and parser.line(line, pending):
            if line.typed is not None:
                self._complete(line.typed, pending)
            return
        pending.operand_groups, pending.types, pending.region_groups = {}, {}, {}
        for element in self.elements:
            element.parse(parser, pending)
        self._finish(parser, pending)

    def print(self, printer: FormPrinter, operation: Operation) -> None:
        for element in self.elements:
            element.show(printer, operation)

    def can_express(self, operation: Operation) -> bool:
        """Return True if the parser can read the form that this format prints for an operation.

        The parser cannot read an empty list of types, which `type($x)` prints for a variadic group without values.
        """
        return all(element.is_present(operation) for element in self._lists)

    def _complete(self, typed: Sequence[str], pending: PendingOperation) -> None:
        """Infer the types that a text matched by `self.line` omits; `typed` names the groups that have types."""
        known = dict(zip(typed, (*pending.operand_types, *pending.result_types), strict=True))
        for name, relation in self.inferred:
            known[name] = relation.compute(INDEX if relation.source is None else known[relation.source])
        pending.operand_types = [known[name] for name in self.definition.operand_groups.names]
        pending.result_types = [known[name] for name in self.definition.result_groups.names]

    def _finish(self, parser: FormParser, pending: PendingOperation) -> None:
        """Concatenate the operands, types and regions of all groups in declared order, and infer the missing types."""
        operands, results = self.definition.operand_groups, self.definition.result_groups
        given, types = pending.operand_groups, pending.types
        if given:
            pending.operands = [operand for name in operands.names for operand in given.get(name, ())]
        elif self.inferred and operands.names:
            given.update(self._split(parser, pending))
        for name, relation in self.inferred:
            count = len(given.get(name, ())) if name in operands.names else 1
            types[name] = self._infer(name, relation, count, parser, pending)
        for groups, present, which in ((operands, pending.operand_types, 0), (results, pending.result_types, 1)):
            if present or not groups.names:
                continue
            flat = [type for name in groups.names for type in types.get(name, ())]
            if which == 0:
                self._check_types(parser, pending)
                pending.operand_types = flat
            else:
                pending.result_types = flat
        if operands.uses_segments:
            pending.attributes[OPERAND_SEGMENTS] = segments(*(len(given.get(name, ())) for name in operands.names))
        if results.uses_segments:
            pending.attributes[RESULT_SEGMENTS] = segments(*(len(types.get(name, ())) for name in results.names))
        for declared in self.definition.region_names:
            missing = [] if declared.size else [Region()]
            pending.regions.extend(pending.region_groups.get(declared.name, missing))

    def _check_types(self, parser: FormParser, pending: PendingOperation) -> None:
        for name, operands in pending.operand_groups.items():
            types = pending.types.get(name, ())
            if len(operands) != len(types):
                raise parser.error_at(pending, f"'{name}' has {len(operands)} operands but {len(types)} types")

    def _split(self, parser: FormParser, pending: PendingOperation) -> dict[str, list[OperandName]]:
        """Split the operands parsed by the element `operands` into the declared groups."""
        groups = self.definition.operand_groups
        count = len(pending.operands)
        if count < groups.single or (count > groups.single and groups.single == len(groups.names)):
            more = "" if groups.single == len(groups.names) else "or more "
            raise parser.error_at(pending, f"'{pending.name}' must have {groups.single} {more}operands, got {count}")
        remaining = iter(pending.operands)
        sizes = [count - groups.single if group.size else 1 for group in groups.declared]
        return {name: [next(remaining) for _ in range(size)] for name, size in zip(groups.names, sizes, strict=True)}

    def _infer(
        self, name: str, relation: Relation, count: int, parser: FormParser, pending: PendingOperation
    ) -> list[Type]:
        source = relation.source or ""
        sources = pending.types.get(source, [])
        if source in self.definition.attributes:
            typed = getattr(pending.attributes.get(source), "type", None)
            sources = [typed] if isinstance(typed, Type) else []
        expected = relation.expected(sources)
        if not expected and count:
            raise parser.error_at(
                pending, f"cannot infer the type of '{name}', because the type of '{source}' is unknown"
            )
        return expected[:1] * count


def inferences(definition: Definition, typed: set[str]) -> list[tuple[str, Relation]]:
    """Return (operand or result name, relation) for each type that the format omits.

    A relation computes one type from another. `typed` names the operands and results whose types the format has. The
    list is ordered so that each relation's source type is known or inferred before it is used.
    """
    candidates = list(definition.infer.items())
    candidates += [
        (relation.source, same_as(target)) for target, relation in candidates if relation.is_same and relation.source
    ]
    known = typed | set(definition.attributes)
    missing: list[str] = []
    for groups in (definition.operand_groups, definition.result_groups):
        for name, constraint in zip(groups.names, groups.constraints, strict=True):
            if constraint is not None and constraint.only is not None:
                candidates.append((name, always(constraint.only)))
            alike = SAME_TYPE_OPERANDS in definition.traits and groups is definition.operand_groups
            if alike or SAME_OPERANDS_AND_RESULT_TYPE in definition.traits:
                candidates.extend((name, same_as(source)) for source in sorted(typed))
            if name not in known:
                missing.append(name)
    plan: list[tuple[str, Relation]] = []
    while missing:
        step = next(((n, r) for n, r in candidates if n in missing and (r.source is None or r.source in known)), None)
        if step is None:
            names = ", ".join(map(repr, missing))
            raise ValueError(
                f"{definition.name}: the assembly format must have a 'type(...)' for {names}, because no type can be "
                "inferred"
            )
        plan.append(step)
        known.add(step[0])
        missing.remove(step[0])
    return plan


# -- lines -----------------------------------------------------------------------------------------------------------


def _line(assembly: Assembly) -> grammar.Line | None:
    patterns: list[str] = []
    parts: list[str] = []
    operands: list[str] = []
    typed: tuple[list[str], list[str]] = [], []
    for element in assembly.elements:
        match element:
            case LiteralElement(text):
                patterns.append(re.escape(text) + (r"\b" if text.isalpha() else ""))
                continue
            case Operands(name=name, size=""):
                operands.append(name)
                text, part = rf"({grammar.NAME})(?![#])", "operand"
            case AllOperands():
                text, part = rf"({grammar.OPERANDS})(?![#])", "operands"
            case TypeOf(name=name, is_operand=is_operand, size=""):
                typed[not is_operand].append(name)
                text, part = rf"({grammar.TYPE})", "operand type" if is_operand else "result type"
            case AttributeDictionary(keyword=""):
                text, part = rf"({grammar.ATTRIBUTES})?", "attributes"
            case FunctionalType(inputs="operands", results="results"):
                text, part = rf"({grammar.SIGNATURE})", "signature"
            case _:
                return None
        patterns.append(text)
        parts.append(part)
    compiled = pattern(grammar.SPACE.join(patterns))
    definition = assembly.definition
    if "signature" in parts and "operands" in parts:
        return grammar.Line(compiled, tuple(parts))
    if operands != definition.operand_groups.names or "signature" in parts or "operands" in parts:
        return None
    if any(relation.source in definition.attributes for _, relation in assembly.inferred):
        return None
    in_order = typed == (definition.operand_groups.names, definition.result_groups.names)
    return grammar.Line(compiled, tuple(parts), None if in_order else (*typed[0], *typed[1]))

"""Definitions of ops: operands, results, attributes, regions, traits and assembly format, in a few lines each.

    Definition("memref.load", operands=("memref: memref", "indices*: index"), results=("result",),
               infer={"result": element_type_of("memref")}, traits={MEM_READ},
               format="$memref `[` $indices `]` attr-dict `:` type($memref)")

An operand or result is declared as `name`, `name?` (optional) or `name*` (variadic), optionally followed by a colon and
its type constraint. An op with more than one optional or variadic group has the attribute `operandSegmentSizes` (or
`resultSegmentSizes`), which holds the size of each group. A region is `name` or `name*`, optionally followed by a colon
and its number of blocks (`1` or `max 1`). A successor is `name` or `name*`, optionally followed by a colon and the name
of the operands passed to that block. Formats: see `qrt.ir.text.assembly`.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from qrt.errors import QuantTypeError, nearest
from qrt.ir.core import places
from qrt.ir.core.attribute_kinds import AttributeKind
from qrt.ir.core.attributes import Attribute, Constraint, DenseArrayAttr
from qrt.ir.core.constraints import Relation, type_constraint
from qrt.ir.core.folding import Fold
from qrt.ir.core.forms import CompiledFormat, FormParser, FormPrinter, PendingOperation
from qrt.ir.core.operations import Operation, Value, check_branch
from qrt.ir.core.registry import TEXT_FORMS
from qrt.ir.core.traits import (
    CONSTANT_LIKE,
    EXTENSION,
    Trait,
    Verify,
    expand,
    has_parent,
    single_block_implicit_terminator,
)
from qrt.types import IntegerType, Type

OPERAND_SEGMENTS, RESULT_SEGMENTS = "operandSegmentSizes", "resultSegmentSizes"

_MEMO_LIMIT = 4096
_verified: set[tuple[object, ...]] = set()  # signatures that have been verified


@dataclass(frozen=True)
class AttributeSpec:
    """Declaration of one attribute of an op.

    `constraint` and `kind` restrict the attribute's value, unless they are None; `kind` also parses and prints it in an
    assembly format. A property (`is_property`) is printed in `<{...}>` in generic form. The text may omit an attribute
    that has a `default`.
    """

    constraint: Constraint | None = None
    required: bool = False
    is_property: bool = True
    default: Attribute | None = None
    kind: AttributeKind | None = None

    def check(self, name: str, operation: Operation) -> None:
        """Raise VerifyError if a required attribute is missing, or if the attribute's value breaks the constraint."""
        value = operation.attributes.get(name)
        if value is None:
            if self.required:
                raise operation.op_error(f"requires attribute '{name}'")
        elif self.constraint is not None and (wrong := self.constraint(value)) is not None:
            raise operation.op_error(f"attribute '{name}' {wrong}, but is {value}")
        elif self.kind is not None and not self.kind.holds(value):
            raise operation.op_error(f"attribute '{name}' failed to satisfy constraint: {self.kind.description}")


@dataclass(frozen=True, slots=True)
class DeclaredGroup:
    """Declaration of operands, results, regions or successors: `name`, `name?` or `name*`, optionally with `: rest`.

    `size` is "" for exactly one value, region or block, "?" for at most one, and "*" for any number. `rest` is the text
    after the colon, or "".
    """

    name: str
    size: str
    rest: str

    @classmethod
    def of(cls, text: str) -> "DeclaredGroup":
        head, _, rest = text.partition(":")
        name = head.strip().rstrip("?*")
        return cls(name, head.strip()[len(name) :], rest.strip())


class Groups:
    """Declared operand groups or result groups of an op; a group is one value, an optional value or a variadic list."""

    def __init__(self, what: str, segments: str, declarations: Iterable[str]) -> None:
        self.what = what
        self.declared = tuple(map(DeclaredGroup.of, declarations))
        self.names = [group.name for group in self.declared]
        self.constraints = [type_constraint(group.rest) if group.rest else None for group in self.declared]
        self.single = sum(not group.size for group in self.declared)
        self.uses_segments = len(self.declared) - self.single > 1
        self.segments = segments
        self.constrained = any(self.constraints)

    def sizes(self, operation: Operation, count: int) -> Sequence[int]:
        """Return the number of values in each group; the operation has `count` values in total."""
        if self.uses_segments:
            attribute = operation.attribute(self.segments, DenseArrayAttr)
            return attribute.values
        return [count - self.single if group.size else 1 for group in self.declared]

    def group(self, name: str, operation: Operation, values: list[Value]) -> list[Value]:
        """Return the values of the group `name`; `values` are all operands, or all results, of the operation."""
        if len(self.declared) == 1:
            return values
        index = self.names.index(name)
        if self.single == len(self.declared):
            return values[index : index + 1]
        sizes = self.sizes(operation, len(values))
        start = sum(sizes[:index])
        return values[start : start + sizes[index]]

    def check_count(self, operation: Operation, count: int) -> None:
        """Raise VerifyError, worded as in upstream MLIR, if `count` values do not fit the declared groups."""
        what = self.what
        if self.single == len(self.declared):
            if count != self.single:
                raise operation.op_error(_wrong_count(what, self.single, count))
        elif count < self.single:
            raise operation.op_error(f"expected {self.single} or more {what}s, but found {count}")
        if self.uses_segments:
            self._check_segments(operation, count)
        for group, size in zip(self.declared, self.sizes(operation, count), strict=True):
            if group.size == "?" and size > 1:
                start = self.names.index(group.name)
                raise operation.op_error(f"{what} group starting at #{start} requires 0 or 1 element, but found {size}")

    def _check_segments(self, operation: Operation, count: int) -> None:
        sizes = operation.attributes.get(self.segments)
        if not isinstance(sizes, DenseArrayAttr) or len(sizes.values) != len(self.declared):
            raise operation.op_error(f"requires attribute '{self.segments}' of {len(self.declared)} sizes")
        if min(sizes.values) < 0:
            raise operation.op_error(f"'{self.segments}' attribute cannot have negative elements")
        if sum(sizes.values) != count:
            raise operation.op_error(
                f"{self.what} count ({count}) does not match with the total size ({sum(sizes.values)}) specified in "
                f"attribute '{self.segments}'"
            )
        for group, size in zip(self.declared, sizes.values, strict=True):
            if not group.size and size != 1:
                raise operation.op_error(
                    f"{self.what} group starting at #{self.names.index(group.name)} requires 1 element, "
                    f"but found {size}"
                )

    def check_types(self, operation: Operation, values: list[Value]) -> None:
        """Raise VerifyError at the first value whose type breaks the constraint of its group."""
        index = 0
        sizes = self.sizes(operation, len(values))
        for group, constraint, size in zip(self.declared, self.constraints, sizes, strict=True):
            if constraint is not None:
                for number, value in enumerate(values[index : index + size], index):
                    if not constraint.holds(value.type):
                        many = "variadic of " if group.size == "*" else ""
                        raise operation.op_error(
                            f"{self.what} #{number} must be {many}{constraint.description}, but got '{value.type}'",
                            places.type_of(operation, self.what, number),
                        )
            index += size


def _wrong_count(what: str, expected: int, count: int) -> str:
    if expected > 1:
        return f"expected {expected} {what}s" + (f", but found {count}" if what == "operand" else "")
    number = "zero" if expected == 0 else "a single" if what == "operand" else "one"
    return f"requires {number} {what}{'s' * (expected == 0)}"


def segments(*sizes: int) -> DenseArrayAttr:
    """Return the attribute `operandSegmentSizes` or `resultSegmentSizes` for groups of these sizes."""
    return DenseArrayAttr(IntegerType(32), sizes)


@dataclass(frozen=True)
class Definition:
    """Definition of one op, the counterpart of an ODS record. For the declaration syntax see the module's docstring.

    Parameters
    ----------
    name : str
        The name with its dialect, as "memref.load".
    operands, results : tuple of str, optional
        Declarations of the operands and of the results.
    attributes : mapping of str to AttributeSpec, optional
        The attributes of the op.
    older_names : mapping of str to str, optional
        Outdated attribute names that the parser accepts, mapped to the present names.
    regions : int or tuple of str, optional
        The number of regions, or the declarations of regions.
    successors : tuple of str, optional
        The declarations of successor blocks.
    traits : collection of Trait, optional
        The traits, such as ``PURE``.
    parents : tuple of str, optional
        The ops that are allowed as the parent operation; any op if empty.
    implicit_terminator : str, optional
        The terminator of its regions' blocks; the text may omit it.
    infer : mapping of str to Relation, optional
        Maps the name of an operand or result to the relation that infers its type.
    result_types : callable, optional
        A function of the operand types and the attributes that returns the result types, for ops without ``infer``.
    format : str, optional
        The declarative assembly format, as ``assemblyFormat`` in ODS.
    verify_signature, verify : callable, optional
        The op's own verifiers. The first reads only types and attributes, so operations with equal types and attributes
        are verified once; the second may read anything. Both raise VerifyError or QuantTypeError.
    parse, print : callable, optional
        The parser and the printer of the custom form of an op without ``format``.
    operation_class : type, optional
        The subclass of Operation that represents the op.
    effects : callable, optional
        A function that returns the memory effects of an operation, if the traits do not determine them.
    speculatable : callable, optional
        A function that returns True if an operation may be speculated, if the traits do not determine that.
    derived : callable, optional
        A function that computes attributes which generic form prints but which operations do not store.
    fold : callable, optional
        A function that returns an existing value or a constant for each result, or None. It must not change the
        program.
    canonicalize : tuple of str, optional
        The canonicalization patterns, in upstream MLIR's order, as ``"module: function function"`` with a module of
        ``qrt.ir.dialects``.
    passed_values : callable, optional
        For a branch: a function that returns the operands passed to each successor.
    pass_values : callable, optional
        For a branch: a function that replaces the operands passed to each successor.

    Examples
    --------
    >>> from qrt.ir.core.registry import definition
    >>> definition("tensor.extract").operands, definition("arith.addi").dialect
    (('tensor: ranked tensor', 'indices*: index'), 'arith')
    """

    name: str
    operands: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    attributes: Mapping[str, AttributeSpec] = field(default_factory=dict)
    older_names: Mapping[str, str] = field(default_factory=dict)
    regions: int | tuple[str, ...] = 0
    successors: tuple[str, ...] = ()
    traits: Collection[Trait] = frozenset()
    parents: tuple[str, ...] = ()
    implicit_terminator: str | None = None
    infer: Mapping[str, Relation] = field(default_factory=dict)
    result_types: Callable[[Sequence[Type], Mapping[str, Attribute]], list[Type]] | None = None
    format: str | None = None
    verify_signature: Callable[[Operation], None] | None = None
    verify: Callable[[Operation], None] | None = None
    parse: Callable[[FormParser, PendingOperation], None] | None = None
    print: Callable[[FormPrinter, Operation], None] | None = None
    operation_class: type[Operation] = Operation
    effects: Callable[[Operation], Collection[Trait]] | None = None
    speculatable: Callable[[Operation], bool] | None = None
    derived: Callable[[Operation], dict[str, Attribute]] | None = None
    fold: Fold | None = None
    canonicalize: tuple[str, ...] = ()
    passed_values: Callable[[Operation], list[list[Value]]] | None = None
    pass_values: Callable[[Operation, Sequence[Sequence[Value]]], None] | None = None
    trait_order: tuple[Trait, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        implied = (
            *((has_parent(*self.parents),) if self.parents else ()),
            *((single_block_implicit_terminator(self.implicit_terminator),) if self.implicit_terminator else ()),
        )
        object.__setattr__(self, "trait_order", expand((*self.traits, *implied)))
        object.__setattr__(self, "traits", frozenset(self.trait_order))

    @cached_property
    def assembly(self) -> CompiledFormat | None:
        """Compiled assembly format, or None without a `format`. It is compiled at the first access."""
        if self.format is None:
            return None
        compiled: CompiledFormat = TEXT_FORMS["assembly"](self)
        return compiled

    @cached_property
    def properties(self) -> frozenset[str]:
        """Names of the attributes that generic form prints in `<{...}>`."""
        segmented = {groups.segments for groups in (self.operand_groups, self.result_groups) if groups.uses_segments}
        return frozenset(name for name, spec in self.attributes.items() if spec.is_property) | segmented

    @cached_property
    def defaults(self) -> dict[str, Attribute]:
        """Default values of the attributes that the text may omit, by name."""
        return {name: spec.default for name, spec in self.attributes.items() if spec.default is not None}

    @property
    def dialect(self) -> str:
        """Dialect of the op: the part of its name before the dot."""
        return self.name.partition(".")[0]

    # -- groups of operands and results -----------------------------------------------------------------------------

    @cached_property
    def operand_groups(self) -> Groups:
        """The declared groups of operands."""
        return Groups("operand", OPERAND_SEGMENTS, self.operands)

    @cached_property
    def result_groups(self) -> Groups:
        """The declared groups of results."""
        return Groups("result", RESULT_SEGMENTS, self.results)

    def operand_group(self, operation: Operation, name: str) -> list[Value]:
        """Return the operation's operands in the group declared as `name`."""
        return self.operand_groups.group(name, operation, operation.operands)

    def result_group(self, operation: Operation, name: str) -> list[Value]:
        """Return the operation's results in the group declared as `name`."""
        return self.result_groups.group(name, operation, operation.results)

    @cached_property
    def region_names(self) -> tuple[DeclaredGroup, ...]:
        """Parsed declarations of the regions."""
        return tuple(map(DeclaredGroup.of, ("",) * self.regions if isinstance(self.regions, int) else self.regions))

    @cached_property
    def successor_names(self) -> tuple[DeclaredGroup, ...]:
        """Parsed declarations of the successors."""
        return tuple(map(DeclaredGroup.of, self.successors))

    # -- verification -----------------------------------------------------------------------------------------------

    def check(self, operation: Operation) -> None:
        """Verify one operation against this definition. Raise VerifyError at the first error, in upstream MLIR's order.

        The order is: counts, attributes, types, relations between types, regions and successors, traits, the op's own
        verifiers.
        """
        key: tuple[object, ...] | None = None
        if self._is_memoized:
            key = (
                self.name,
                tuple([value.type for value in operation.operands]),
                tuple([value.type for value in operation.results]),
                tuple(operation.attributes.items()),
            )
        known = key is not None and key in _verified
        plain = not (operation.regions or operation.successors or self.region_names or self.successor_names)
        if known and plain and not self._other_rules:
            return
        if not plain:
            self._check_counts(operation)
        try:
            if not known:
                self._check_signature(operation)
            if not plain:
                self._check_structure(operation)
            for verify in self._other_rules if known else self._rules:
                verify(operation)
        except QuantTypeError as error:
            family = f"{operation.name.rpartition('.')[2]}: "  # which a call of the function has to say
            raise operation.op_error(str(error).removeprefix(family)) from None
        if key is not None:
            if len(_verified) >= _MEMO_LIMIT:
                _verified.clear()
            _verified.add(key)

    def check_signature(self, operation: Operation) -> None:
        """Verify an operation's counts, attributes and types, and run the verifiers that read only these."""
        self._check_counts(operation)
        try:
            self._check_signature(operation)
            for verify in self._signature_rules:
                verify(operation)
        except QuantTypeError as error:
            raise operation.op_error(str(error)) from None

    @cached_property
    def _signature_rules(self) -> list[Verify]:
        """Verifiers of traits and of the op that read only types and attributes."""
        return [rule for rule in self._rules if rule not in self._other_rules]

    @cached_property
    def _rules(self) -> list[Verify]:
        """Verifiers of the traits, then those of the op."""
        own = (self.verify_signature, self.verify)
        return [rule for rule in (*(trait.verify for trait in self.trait_order), *own) if rule is not None]

    @cached_property
    def _other_rules(self) -> list[Verify]:
        """Verifiers that read more than types and attributes, such as regions or the parent operation."""
        of_signature = [trait.verify for trait in self.trait_order if trait.of_signature] + [self.verify_signature]
        return [rule for rule in self._rules if rule not in of_signature]

    @cached_property
    def _is_memoized(self) -> bool:
        """True if `check` caches the types and attributes that it has verified, because a cache lookup is faster.

        Constants are not cached: the lookup would hash and compare all their elements.
        """
        groups = self.operand_groups, self.result_groups
        rules = len(self._rules) > len(self._other_rules) or self.infer or any(group.constrained for group in groups)
        return bool(rules) and CONSTANT_LIKE not in self.traits

    def _check_signature(self, operation: Operation) -> None:
        self.result_groups.check_count(operation, len(operation.results))
        self.operand_groups.check_count(operation, len(operation.operands))
        if EXTENSION in self.traits:
            check_names(operation, self.attributes)
        for name, spec in self.attributes.items():
            spec.check(name, operation)
        if self.operand_groups.constrained:
            self.operand_groups.check_types(operation, operation.operands)
        if self.result_groups.constrained:
            self.result_groups.check_types(operation, operation.results)
        if self.infer:
            self._check_relations(operation)

    def _check_relations(self, operation: Operation) -> None:
        for target, relation in self.infer.items():
            sources = () if relation.source is None else self.types_of(relation.source, operation)
            for expected in relation.expected(sources):
                if any(type is not expected for type in self.types_of(target, operation)):
                    raise operation.op_error(f"failed to verify that {self._describe(target, relation)}")

    def _describe(self, target: str, relation: Relation) -> str:
        if not relation.is_same:
            return relation.describe(target)
        alike = [name for name, other in self.infer.items() if other.is_same and other.source == relation.source]
        declared = [*self.operand_groups.names, *self.attributes, *self.result_groups.names]
        named = sorted([str(relation.source), *alike], key=declared.index)
        return f"all of {{{', '.join(named)}}} have same type"

    def types_of(self, name: str, operation: Operation) -> list[Type]:
        """Return the types of the operands or results in the group `name`, or the type of the attribute `name`."""
        if name in self.operand_groups.names:
            return [value.type for value in self.operand_group(operation, name)]
        if name in self.result_groups.names:
            return [value.type for value in self.result_group(operation, name)]
        type = getattr(operation.attributes.get(name), "type", None)
        return [type] if isinstance(type, Type) else []

    def _check_counts(self, operation: Operation) -> None:
        for what, declared, count in (
            ("region", self.region_names, len(operation.regions)),
            ("successor", self.successor_names, len(operation.successors)),
        ):
            many = bool(declared) and declared[-1].size == "*"
            least = len(declared) - many
            if count < least or (count > least and not many):
                if what == "region":
                    raise operation.op_error(_wrong_count(what, least, count))
                raise operation.op_error(f"requires {least} successor{'s' * (least != 1)} but found {count}")

    def _check_structure(self, operation: Operation) -> None:
        for index, region in enumerate(operation.regions):
            declared = self.region_names[min(index, len(self.region_names) - 1)]
            most = "at most " if declared.rest == "max 1" else ""
            if len(region.blocks) > 1 if most else declared.rest == "1" and len(region.blocks) != 1:
                named = f" ('{declared.name}')" if declared.name else ""
                raise operation.op_error(
                    f"region #{index}{named} failed to verify constraint: region with {most}1 blocks"
                )
        for index, (block, successor) in enumerate(zip(operation.successors, self.successor_names, strict=False)):
            if successor.rest:
                check_branch(operation, index, block, self.operand_group(operation, successor.rest))


def listed_attributes(name: str, known: Collection[str]) -> str:
    """Return the end of an error about the unknown attribute `name`: the known attributes, and a similar name."""
    if not known:
        return ": it accepts no attributes"
    listed, similar = ", ".join(map(repr, known)), nearest(name, known)
    hint = f"; did you mean '{similar}'?" if similar else ""
    return f": {'its only attribute is' if len(known) == 1 else 'its attributes are'} {listed}{hint}"


def check_names(operation: Operation, known: Collection[str], likeness: float = 0.0) -> None:
    """Raise VerifyError for an attribute that is not in `known`, is no property and has no dialect prefix.

    If `likeness` is above 0, raise only for a probable misspelling: some name in `known` has at least this similarity
    (a ratio of `difflib`).
    """
    for name in operation.attributes:
        if name in known or "." in name or (operation.definition and name in operation.definition.properties):
            continue
        if likeness and nearest(name, known, likeness) is None:
            continue
        message = f"has no attribute '{name}'{listed_attributes(name, known)}"
        raise operation.op_error(message, places.attribute(operation, name))

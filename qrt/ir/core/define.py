"""Definitions of ops: operands, results, attributes, regions, traits and assembly format, in a few lines each.

    Definition("memref.load", operands=("memref: memref", "indices*: index"), results=("result",),
               infer={"result": element_type_of("memref")}, traits={MEM_READ},
               format="$memref `[` $indices `]` attr-dict `:` type($memref)")

An operand or result is `name`, `name?` (optional) or `name*` (variadic), then its type's constraint after a colon. With
more than one group of unknown size the property `operandSegmentSizes` (`resultSegmentSizes`) holds the sizes. A region
is `name` or `name*`, then after a colon the number of its blocks (`1`, `max 1`). A successor is `name` or `name*`, then
after a colon the operands that are passed to its block. Formats: see `qrt.ir.text.assembly`.
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
    """The declaration of an attribute of an op.

    `constraint`, or a `kind`, which also defines its spelling in a format, tests its value. The other members tell
    whether it is required, and whether it is a property: properties are printed in `<{...}>` in generic form, and
    upstream refuses unknown ones. A text may leave out an attribute that has a `default`.
    """

    constraint: Constraint | None = None
    required: bool = False
    is_property: bool = True
    default: Attribute | None = None
    kind: AttributeKind | None = None

    def check(self, name: str, operation: Operation) -> None:
        """Raise VerifyError if the operation's attribute is not as declared."""
        value = operation.attributes.get(name)
        if value is None:
            if self.required:
                raise operation.op_error(f"requires attribute '{name}'")
        elif self.constraint is not None and (wrong := self.constraint(value)) is not None:
            raise operation.op_error(f"attribute '{name}' {wrong}, but is {value}")
        elif self.kind is not None and not self.kind.holds(value):
            raise operation.op_error(f"attribute '{name}' failed to satisfy constraint: {self.kind.description}")


@dataclass(frozen=True, slots=True)
class DeclaredPort:
    """A declared operand, result, region or successor: `name`, `name?` or `name*`, and the constraint after its
    colon.
    """

    name: str
    size: str
    rest: str

    @classmethod
    def of(cls, text: str) -> "DeclaredPort":
        head, _, rest = text.partition(":")
        name = head.strip().rstrip("?*")
        return cls(name, head.strip()[len(name) :], rest.strip())


class Groups:
    """The operands or the results of an op, in groups."""

    def __init__(self, what: str, segments: str, declarations: Iterable[str]) -> None:
        self.what = what
        self.declared = tuple(map(DeclaredPort.of, declarations))
        self.names = [group.name for group in self.declared]
        self.constraints = [type_constraint(group.rest) if group.rest else None for group in self.declared]
        self.single = sum(not group.size for group in self.declared)
        self.uses_segments = len(self.declared) - self.single > 1
        self.segments = segments
        self.constrained = any(self.constraints)

    def sizes(self, operation: Operation, count: int) -> Sequence[int]:
        """Return the size of each group."""
        if self.uses_segments:
            attribute = operation.attribute(self.segments, DenseArrayAttr)
            return attribute.values
        return [count - self.single if group.size else 1 for group in self.declared]

    def group(self, name: str, operation: Operation, values: list[Value]) -> list[Value]:
        """Return the values of one group."""
        if len(self.declared) == 1:
            return values
        index = self.names.index(name)
        if self.single == len(self.declared):
            return values[index : index + 1]
        sizes = self.sizes(operation, len(values))
        start = sum(sizes[:index])
        return values[start : start + sizes[index]]

    def check_count(self, operation: Operation, count: int) -> None:
        """Raise VerifyError, with upstream's text, if the number of values does not fit the groups."""
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
        """Raise VerifyError at the first value whose type breaks its group's constraint."""
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
    """Return an attribute `operandSegmentSizes` with the number of values of each group."""
    return DenseArrayAttr(IntegerType(32), sizes)


@dataclass(frozen=True)
class Definition:
    """The definition of one op, as its ODS record declares it. The module's docstring shows how groups are declared.

    Parameters
    ----------
    name : str
        The dialect and the name, as "memref.load".
    operands, results : tuple of str, optional
        The groups of operands and of results.
    attributes : mapping of str to AttributeSpec, optional
        The attributes of the op.
    older_names : mapping of str to str, optional
        Former names of attributes that texts may use, with their present names.
    regions : int or tuple of str, optional
        The number of its regions, or their names.
    successors : tuple of str, optional
        The blocks that it may branch to.
    traits : collection of Trait, optional
        Its properties.
    parents : tuple of str, optional
        The ops that may contain it.
    implicit_terminator : str, optional
        The op that ends its blocks, which texts may omit.
    infer : mapping of str to Relation, optional
        The types of operands and results that are inferred from other types.
    result_types : callable, optional
        The types of the results for operand types and attributes, if ``infer`` does not give them.
    format : str, optional
        Upstream's ``assemblyFormat``.
    verify_signature, verify : callable, optional
        Its own rules. The first reads only types and attributes, so equal signatures are checked once; the second reads
        anything. Both raise VerifyError, or QuantTypeError to be reported at the op.
    parse, print : callable, optional
        Functions for its custom form, if it has no ``format``.
    operation_class : type, optional
        The subclass of Operation for its operations.
    effects, speculatable : callable, optional
        Functions that return the memory effects of an operation, if they depend on its types, and True if it may be
        speculated, if its traits do not tell.
    derived : callable, optional
        A function that returns attributes that follow from the rest and are in upstream's generic form.
    fold : callable, optional
        A function that returns the results as values or constants, if they are known. It changes nothing.
    canonicalize : tuple of str, optional
        The patterns that the pass tries, in upstream's order: a module of ``qrt.ir.dialects``, a colon, and its
        functions.
    passed_values, pass_values : callable, optional
        Functions that return the operands that a branch passes to each of its successors, and that replace them.

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
        """The compiled format; it is compiled when a text is first read or printed."""
        if self.format is None:
            return None
        compiled: CompiledFormat = TEXT_FORMS["assembly"](self)
        return compiled

    @cached_property
    def properties(self) -> frozenset[str]:
        """The names of the attributes in `<{...}>` in generic form."""
        segmented = {groups.segments for groups in (self.operand_groups, self.result_groups) if groups.uses_segments}
        return frozenset(name for name, spec in self.attributes.items() if spec.is_property) | segmented

    @cached_property
    def defaults(self) -> dict[str, Attribute]:
        """The attributes that a text may omit, with their default values."""
        return {name: spec.default for name, spec in self.attributes.items() if spec.default is not None}

    @property
    def dialect(self) -> str:
        """The part of the name before the dot."""
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
        """Return the operands declared as `name`."""
        return self.operand_groups.group(name, operation, operation.operands)

    def result_group(self, operation: Operation, name: str) -> list[Value]:
        """Return the results declared as `name`."""
        return self.result_groups.group(name, operation, operation.results)

    @cached_property
    def region_names(self) -> tuple[DeclaredPort, ...]:
        """The declared names of the regions."""
        return tuple(map(DeclaredPort.of, ("",) * self.regions if isinstance(self.regions, int) else self.regions))

    @cached_property
    def successor_names(self) -> tuple[DeclaredPort, ...]:
        """The declared names of the successors."""
        return tuple(map(DeclaredPort.of, self.successors))

    # -- verification -----------------------------------------------------------------------------------------------

    def check(self, operation: Operation) -> None:
        """Verify one operation against this definition, in upstream's order: counts, attributes, types, relations
        between types, regions and successors, traits, the op's own rules."""
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
        """Verify everything that does not depend on an operation's place: attributes, types, and the rules on these."""
        self._check_counts(operation)
        try:
            self._check_signature(operation)
            for verify in self._signature_rules:
                verify(operation)
        except QuantTypeError as error:
            raise operation.op_error(str(error)) from None

    @cached_property
    def _signature_rules(self) -> list[Verify]:
        """The rules that read only the signature."""
        return [rule for rule in self._rules if rule not in self._other_rules]

    @cached_property
    def _rules(self) -> list[Verify]:
        """The rules of traits and of the op itself, in order."""
        own = (self.verify_signature, self.verify)
        return [rule for rule in (*(trait.verify for trait in self.trait_order), *own) if rule is not None]

    @cached_property
    def _other_rules(self) -> list[Verify]:
        """The rules that read more than the signature."""
        of_signature = [trait.verify for trait in self.trait_order if trait.of_signature] + [self.verify_signature]
        return [rule for rule in self._rules if rule not in of_signature]

    @cached_property
    def _is_memoized(self) -> bool:
        """True if looking up a verified signature costs less than checking its rules.

        It does not for a constant, whose value would be hashed and compared.
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
        """Return the types of the operands or results called `name`, or of the attribute of that name."""
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


def check_names(operation: Operation, known: Collection[str], likeness: float = 0.0) -> None:
    """Raise VerifyError for an unknown attribute without a dialect's prefix, because nothing would read it. With a
    `likeness`, raise only for a name that may be a known one misspelt.
    """
    for name in operation.attributes:
        if name in known or "." in name or (operation.definition and name in operation.definition.properties):
            continue
        meant = nearest(name, known, likeness or 0.6)
        if meant is None and likeness:
            continue
        hint = f", did you mean '{meant}'?" if meant else ";"
        listed = f"its attributes are {', '.join(known)}" if known else "it has none"
        message = f"has no attribute '{name}'{hint} {listed}"
        raise operation.op_error(message, places.attribute(operation, name))

"""The choice of quantized types for the values that control flow passes on.

Loop and block arguments, and results of loops, branches and selects are *targets*. A *source* is an operand that
control flow passes on to targets, such as the initial value of a loop. Targets that share a source form a group, which
has one type. A source fits its group if it is stored in the group's type; otherwise it must be rounded.

A target is *exposed* if an operation reads its value, or a value to which control flow passes it on, as a float.
Rounding must not change such floats, so a source that is rounded must not reach an exposed target.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from qrt.ir import Module, Operation, Value
from qrt.ir.core.constraints import element_of, is_float
from qrt.ir.dialects._regions.trip_counts import runs
from qrt.quantization.propagation.forwarded_values import forwarded
from qrt.types import Type, UniformType

Source = tuple[Operation, int]
"""An operation, and the number of its operand that is passed on."""
_LOOPS = ("scf.for", "affine.for", "scf.while")


@dataclass(frozen=True)
class QuantizedGroup:
    """Block arguments or results that become quantized, the operands that are passed on to them, and their type."""

    targets: list[Value]
    sources: list[Source]
    type: Type


@dataclass(eq=False)
class _Group:
    """Targets that share sources, and therefore have one type; `type` is None until a source has a quantized type."""

    targets: list[Value]
    sources: list[Source] = field(default_factory=list)
    type: Type | None = None
    stays_float: bool = False


class PassedValues:
    """The values that control flow passes on in a module, and the choice of those that become quantized.

    Targets are loop and block arguments, and results of loops, branches and selects. Sources are the operands that are
    passed on to targets. Targets that share a source form a group, which has one type.
    """

    def __init__(self, module: Module) -> None:
        self._group_of: dict[Value, _Group] = {}
        self._targets: dict[Source, list[Value]] = defaultdict(list)
        self._sources: dict[Value, list[Source]] = defaultdict(list)
        self._exposed: set[Value] = set()
        for op in module.operation.walk():
            self._add(op)
        self._groups = list(dict.fromkeys(self._group_of.values()))
        self._find_types()
        while self._leave_exposed():
            pass

    def quantized_groups(self) -> "list[QuantizedGroup]":
        """Return the groups of block arguments and results that become quantized, with their sources and types."""
        return [
            QuantizedGroup(group.targets, group.sources, group.type)
            for group in self._groups
            if group.type is not None and not group.stays_float
        ]

    def is_target_of_same_type(self, source: Source) -> bool:
        """Return True if the operand ``source`` is itself a target, with the type of the targets it is passed on to."""
        op, index = source
        return op.operands[index] in self._group_of and self.is_fitting(source)

    def is_fitting(self, source: Source) -> bool:
        """Return True if the operand ``source`` already has the quantized type of the targets it is passed on to."""
        op, index = source
        return self._stored_type(op.operands[index]) is self._group(source).type

    def _group(self, source: Source) -> _Group:
        return self._group_of[self._targets[source][0]]

    def keeps_initial(self, source: Source) -> bool:
        """Return True if a loop without iterations must return its initial value ``source`` unrounded."""
        return any(self._is_mendable(source, target) for target in self._targets[source] if target in self._exposed)

    # -- groups --------------------------------------------------------------------------------------------------------

    def _add(self, op: Operation) -> None:
        if op.name == "func.call":
            return
        for edge in forwarded(op):
            if is_float(edge.target.type):
                self._connect((edge.operation, edge.index), edge.target)
        if op.name in ("scf.for", "affine.for") and not runs(op):
            first = len(op.operands) - len(op.results)
            for number, result in enumerate(op.results):
                if is_float(result.type):
                    self._connect((op, first + number), result)

    def _connect(self, source: Source, target: Value) -> None:
        group = self._group_of.setdefault(target, _Group([target]))
        if source not in self._targets:
            group.sources.append(source)
        else:
            other = self._group(source)
            if other is not group:
                small, large = sorted((group, other), key=lambda either: len(either.targets))
                large.targets += small.targets
                large.sources += small.sources
                for moved in small.targets:
                    self._group_of[moved] = large
        self._targets[source].append(target)
        self._sources[target].append(source)

    def _readers(self, group: _Group) -> Iterator[_Group]:
        """Yield each group to which a target of ``group`` is passed on."""
        for target in group.targets:
            for use in target.uses:
                if use in self._targets:
                    yield self._group(use)

    # -- types ---------------------------------------------------------------------------------------------------------

    def _stored_type(self, value: Value) -> Type | None:
        """Return the quantized type in which a value is stored; None if it is a float, or its group has no type yet."""
        group = self._group_of.get(value)
        if group is not None:
            return None if group.stays_float else group.type
        stored = source_of(value)
        return None if stored is None else stored.type

    def _find_types(self) -> None:
        """Give each group the type of its first quantized source; a group without quantized sources stays float.

        The initial value of a loop is considered only if no other source of the group has a quantized type.
        """
        self._spread(self._groups, counts_initial=False)
        for group in self._groups:
            self._spread([group], counts_initial=True)
        for group in self._groups:
            group.stays_float = group.type is None

    def _spread(self, groups: Iterable[_Group], *, counts_initial: bool) -> None:
        pending = list(groups)
        while pending:
            group = pending.pop()
            if group.type is None:
                sources = [(op, i) for op, i in group.sources if counts_initial or op.name not in _LOOPS]
                types = [self._stored_type(op.operands[i]) for op, i in sources]
                group.type = next((type for type in types if type is not None), None)
                pending += [] if group.type is None else self._readers(group)

    # -- rounded sources and exposed targets ---------------------------------------------------------------------------

    def _leave_exposed(self) -> bool:
        """Keep those groups float in which rounding a source would change a float that an operation reads.

        Returns True if a group that was to be quantized now stays float.
        """
        self._find_exposed()
        pending = [group for group in self._groups if not group.stays_float]
        changed = False
        while pending:
            group = pending.pop()
            if not group.stays_float and any(map(self._is_lost, group.sources)):
                group.stays_float = changed = True
                pending += self._readers(group)
        return changed

    def _find_exposed(self) -> None:
        """Find the exposed targets, whose float values an operation reads, so that no rounded source may reach them.

        A target is also exposed if its value is passed on to an exposed target.
        """
        self._exposed = set()
        pending = [target for target, group in self._group_of.items() if self._is_read(target, group)]
        while pending:
            target = pending.pop()
            if target not in self._exposed:
                self._exposed.add(target)
                values = [op.operands[i] for op, i in filter(self.is_fitting, self._sources[target])]
                pending += [value for value in values if value in self._group_of]

    def _is_read(self, target: Value, group: _Group) -> bool:
        """Return True if the target's ``group`` becomes quantized, but a use needs the target's value as a float."""
        if group.stays_float:
            return False
        for user, index in target.uses:
            if (user, index) not in self._targets:
                if not is_cast(user, group.type):
                    return True
            elif self._group((user, index)).stays_float or not self.is_fitting((user, index)):
                return True
        return False

    def _is_lost(self, source: Source) -> bool:
        """Return True if rounding the operand ``source`` to its group's type would change a float that is read."""
        if self.is_fitting(source):
            return False
        exposed = [target for target in self._targets[source] if target in self._exposed]
        return not all(self._is_mendable(source, target) for target in exposed)

    def _is_mendable(self, source: Source, target: Value) -> bool:
        """Return True if a select can give the initial value ``source`` to float readers of the result ``target``."""
        op, _ = source
        if op.name != "scf.for" or target not in op.results or self.is_fitting(source):
            return False
        reached = [value for use in target.uses for value in self._targets.get(use, ())]
        return not any(value in self._exposed and not self._group_of[value].stays_float for value in reached)


def source_of(value: Value) -> Value | None:
    """Return the quantized operand of the `quant.dcast` that computes a float value; None for any other value."""
    source = value.operation
    if (
        source is None
        or source.name != "quant.dcast"
        or not isinstance(element_of(source.operands[0].type), UniformType)
    ):
        return None
    return source.operands[0]


def is_cast(user: Operation, type: Type | None) -> bool:
    """Return True if an operation is a `quant.qcast` to this type that rounds by the default rule."""
    return user.name == "quant.qcast" and user.results[0].type is type and not user.attributes

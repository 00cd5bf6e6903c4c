"""Which folds and patterns fired: those that are registered, wrapped while a sweep runs. The product is not slower."""

import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from unittest import mock

from qrt.ir.core import registry, simplify_regions
from qrt.ir.dialects.arith.fold import rules
from qrt.ir.dialects.func import inlining
from qrt.ir.dialects.linalg.ops import STRUCTURED_OPS
from qrt.ir.passes import (
    canonicalize,
    cse,
    inline,
    linalg_generic,
    lower_quant_ops,
)
from qrt.ir.rewriting import greedy
from qrt.ir.rewriting.rewrite import canonicalizations
from tests.ir.passes.values.constants import wrong_constant

FIRED: Counter[str] = Counter()
"""How often each did, since it was last cleared."""


def label(function: Callable) -> str:
    """The name of a function, and what it was made with."""
    name, _, _ = function.__qualname__.partition(".<locals>")
    held = inspect.getclosurevars(function).nonlocals if hasattr(function, "__code__") else {}
    said = [value.__name__ if callable(value) else str(value) for value in held.values() if value is not None]
    return f"{name}({', '.join(said)})" if ".<locals>" in function.__qualname__ else name


class Registered:
    """Everything that is registered, by name, in two kinds."""

    def __init__(self) -> None:
        self.folds: set[str] = set()
        self.patterns: set[str] = set()
        self.wrong: list[str] = []

    def watched(self, kind: set[str], name: str, function: Callable, fired: Callable = lambda made: made is not None):
        kind.add(name)

        def watching(*arguments, **options):
            made = function(*arguments, **options)
            if fired(made):
                FIRED[name] += 1
            return made

        return watching

    def fold(self, op: str, fold: Callable) -> Callable:
        """A fold of several rules is watched rule by rule, and what it computes is compared."""
        watched = self.rules(op, fold)

        def compared(operation, folds):
            made = watched(operation, folds)
            found = wrong_constant(operation, made)
            if found:
                self.wrong.append(found)
            return made

        return compared

    def rules(self, op: str, fold: Callable) -> Callable:
        held = inspect.getclosurevars(fold).nonlocals if hasattr(fold, "__code__") else {}
        if fold.__qualname__ != rules(fold).__qualname__:
            return self.watched(self.folds, f"{op}: {label(fold)}", fold)
        constants = held["constants"]
        return rules(
            *(self.watched(self.folds, f"{op}: {label(each)}", each) for each in held["identities"]),
            constants=self.watched(self.folds, f"{op}: {label(constants)}", constants),
        )

    def set_of(self, patterns: dict) -> dict:
        """Named ops of linalg share theirs, but for those that one alone has."""
        several = Counter(each for op in STRUCTURED_OPS for each in patterns.get(op, ()))
        made = {}
        for op, each_of in patterns.items():
            made[op] = tuple(
                self.watched(
                    self.patterns,
                    f"{'linalg' if op in STRUCTURED_OPS and several[each] > 5 else op}: {label(each)}",
                    each,
                )
                for each in each_of
            )
        return made


def _true(made: object) -> bool:
    return bool(made)


_FUNCTIONS = (
    (simplify_regions, "_erase_unreachable", _true),
    (simplify_regions, "_erase_dead_arguments", _true),
    (greedy, "constants_last", _true),
    (greedy, "is_dead", _true),
    (greedy, "_erase_dead", _true),
    (greedy._Constants, "known", _true),
    (cse, "_simplify", _true),
    (inline, "_inline", lambda made: made is not None),
    (inlining, "_put_blocks", lambda made: True),
    (linalg_generic, "as_generic", lambda made: made is not None),
    (lower_quant_ops, "_lower_ranked", lambda made: True),
    (lower_quant_ops, "_lower_unranked", lambda made: True),
)
"""What passes do by themselves."""


@contextmanager
def watched() -> Iterator[Registered]:
    """While it lasts, `FIRED` counts."""
    registered = Registered()
    with ExitStack() as stack:
        for name, definition in sorted(registry.every_definition().items()):
            if definition.fold is not None:
                before = definition.fold
                object.__setattr__(definition, "fold", registered.fold(name, before))
                stack.callback(object.__setattr__, definition, "fold", before)
        definitions = registry.every_definition()
        patterns = registered.set_of({name: canonicalizations(each) for name, each in definitions.items()})
        by_definition = {id(definition): patterns[name] for name, definition in definitions.items()}
        stack.enter_context(
            mock.patch.object(canonicalize, "canonicalizations", lambda definition: by_definition[id(definition)])
        )
        generalize = registered.watched(registered.patterns, "linalg: generalize", linalg_generic.generalize)
        stack.enter_context(mock.patch.object(linalg_generic, "generalize", generalize))
        constants = registered.set_of(canonicalize.CONSTANT_CASTS)
        stack.enter_context(mock.patch.object(canonicalize, "CONSTANT_CASTS", constants))
        for owner, name, fired in _FUNCTIONS:
            said = f"{owner.__name__.rpartition('.')[2]}.{name}"
            wrapped = registered.watched(registered.patterns, said, getattr(owner, name), fired)
            stack.enter_context(mock.patch.object(owner, name, wrapped))
        yield registered

"""Records have the meaning of dataclasses: each test asks both."""

import copy
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field, fields, is_dataclass, replace
from functools import partial
from typing import Any, ClassVar

import pytest

from qrt.records import record

Decorator = Callable[..., Any]
BOTH = (False, True)
KINDS = [{"frozen": frozen, "eq": eq, "slots": slots} for frozen in BOTH for eq in BOTH for slots in BOTH]


def made(decorator: Decorator, **kind: bool) -> Any:
    """A class with every sort of field."""

    @decorator(**kind)
    class Point:
        """A place."""

        COUNT: ClassVar[int] = 3
        x: int
        y: int = 2
        tags: list[str] = field(default_factory=list, compare=False)
        hidden: str = field(default="h", repr=False)
        sum: int = field(init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "sum", self.x + self.y)

    return Point


@record(frozen=True, slots=True)
class Kept:
    """One that pickles by its name."""

    a: int
    b: tuple[int, ...] = ()


def outcome(call: Callable[[], Any]) -> str:
    """What a call gives, or the error that it raises."""
    try:
        return repr(call())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def takes(instance: object, name: str) -> bool:
    """Whether an instance takes a value under a name. CPython words the refusal in several ways."""
    try:
        setattr(instance, name, 4)
    except (AttributeError, TypeError):
        return False
    return True


CALLS: list[Callable[[Any], Any]] = [
    lambda c: c(1),
    lambda c: c(1, 5, ["t"], "z"),
    lambda c: c(x=3, hidden="k").hidden,
    lambda c: c(),
    lambda c: c(1, nonsense=2),
    lambda c: c(1, 2, [], "h", 5),
    lambda c: c(1) == c(1, tags=["other"]),
    lambda c: c(1) == c(1, hidden="other"),
    lambda c: c(1) == 1,
    lambda c: len({hash(each) for each in [c(1), c(1, tags=["other"])]}),
    lambda c: c(1).tags is c(1).tags,
    lambda c: setattr(c(1), "x", 4),
    lambda c: delattr(c(1), "x"),
    lambda c: takes(c(1), "unknown"),
    lambda c: replace(c(1), y=7),
    lambda c: [each.name for each in fields(c)],
    lambda c: is_dataclass(c),
    lambda c: c.__match_args__,
    lambda c: str(inspect.signature(c)),
    lambda c: c.__doc__,
    lambda c: copy.copy(c(1, 9)),
    lambda c: copy.deepcopy(c(1, 9)),
    lambda c: hasattr(c(1), "__dict__"),
    lambda c: c.__hash__ is None,
    lambda c: c.COUNT,
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_a_record_does_what_a_dataclass_does(kind: dict[str, bool], number: int) -> None:
    ours, theirs = (outcome(partial(CALLS[number], made(each, **kind))) for each in (record, dataclass))
    assert ours == theirs


def test_a_subclass_has_the_fields_of_its_base_first() -> None:
    found = []
    for decorator in (record, dataclass):

        @decorator(frozen=True)
        class Base:
            a: int
            b: int = 2

        @decorator(frozen=True)
        class Derived(Base):
            c: int = 3

        found.append((repr(Derived(1)), Derived(1) == Base(1), Derived(1, 2, 3) == Derived(1), hash(Derived(1)) != 0))
    assert found[0] == found[1]


def test_a_class_keeps_the_methods_that_it_has() -> None:
    for decorator in (record, dataclass):

        @decorator(frozen=True)
        class Own:
            a: int

            def __repr__(self) -> str:
                return "own"

            def __eq__(self, other: object) -> bool:
                return True

            def __hash__(self) -> int:
                return 7

        assert (repr(Own(1)), Own(1) == Own(2), hash(Own(1))) == ("own", True, 7)


def test_without_equality_instances_are_themselves() -> None:
    point = made(record, frozen=True, eq=False, slots=False)
    a, b = point(1), point(1)
    assert a != b
    assert len({a, b}) == 2


def test_a_frozen_record_with_slots_pickles() -> None:
    kept = Kept(3, (4, 5))
    assert pickle.loads(pickle.dumps(kept)) == kept
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'a'"):
        kept.a = 4  # type: ignore[misc]


def test_init_is_not_compiled_before_it_is_called_often() -> None:
    """Most classes of a process have a few instances; what has many is made by a function of its own."""
    point = made(record, frozen=True, eq=True, slots=True)
    first = point(1)
    assert not inspect.isfunction(vars(point)["__init__"])
    many = [point(1) for _ in range(100)]
    assert inspect.isfunction(vars(point)["__init__"])
    assert {repr(each) for each in (first, *many)} == {repr(made(dataclass, frozen=True)(1))}


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_a_record_that_is_made_often_is_the_same(kind: dict[str, bool], number: int) -> None:
    """The compiled ``__init__`` and the one before it are two writings of one rule."""
    often = made(record, **kind)
    for _ in range(100):
        often(1)
    assert outcome(partial(CALLS[number], often)) == outcome(partial(CALLS[number], made(dataclass, **kind)))

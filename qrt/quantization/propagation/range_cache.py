"""Ranges that were chosen before: a search types one program again and again, and most of its values have the storage
that they had the last time.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

Value = TypeVar("Value")
_KEPT: ContextVar[dict[Any, tuple[Any, Any]] | None] = ContextVar("qrt_kept_ranges", default=None)


@contextmanager
def ranges_kept() -> Iterator[None]:
    """Lets propagation choose each range once, as long as this is entered."""
    token = _KEPT.set({} if _KEPT.get() is None else _KEPT.get())
    try:
        yield
    finally:
        _KEPT.reset(token)


def kept(key: Callable[[], Any], holds: Any, make: Callable[[], Value]) -> Value:
    """What ``make`` gives, or gave for this key. ``holds`` stays alive with it, so that a key may have its `id`."""
    known = _KEPT.get()
    if known is None:
        return make()
    name = key()
    if name not in known:
        known[name] = make(), holds
    found: Value = known[name][0]
    return found

"""Registries that are as they were after a test has added to them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from qrt import registry
from qrt.ir.core import registry as dialects
from qrt.ir.pipeline import PASSES
from qrt.quantization.targets.registry import TARGETS


@contextmanager
def restored_registries() -> Iterator[None]:
    """Forget the passes, targets, dialects and ops that are added meanwhile, and which packages are installed. The
    tables of the interpreter stay."""
    tables: list[dict[str, Any]] = [PASSES._entries, TARGETS._entries, dialects.DIALECTS._entries]
    before = [dict(table) for table in tables]
    registry.installed.cache_clear()
    yield
    added = dialects.DIALECTS._entries.keys() - before[-1].keys()
    dialects._loaded -= added
    for name in [name for name in dialects.DEFINITIONS if name.partition(".")[0] in added]:
        del dialects.DEFINITIONS[name]
    for table, entries in zip(tables, before, strict=True):
        table.clear()
        table.update(entries)
    registry.installed.cache_clear()

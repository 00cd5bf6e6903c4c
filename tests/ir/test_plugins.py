"""Dialects from outside the tree. Hazards: a room that takes the name of another; a dialect that was asked for before
it was registered; a package whose room does not load."""

import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import qrt
from qrt import ir, registry
from qrt.ir.core.constraints import same_as
from qrt.ir.core.registry import DIALECTS
from qrt.ir.core.traits import PURE
from tests.registries import restored_registries

NEGATE = ir.Definition(
    "outer.negate",
    operands=("x: signless-integer-like",),
    results=("y",),
    infer={"y": same_as("x")},
    traits={PURE},
    format="$x attr-dict `:` type($x)",
)
ROOM = SimpleNamespace(OPS=[NEGATE], HANDLERS={"outer.negate": lambda op, compiler: np.negative})
TEXT = "func.func @f(%x: i32) -> i32 {\n  %y = outer.negate %x : i32\n  return %y : i32\n}"


@pytest.fixture(autouse=True)
def _forget() -> object:
    """What a test registers is gone after it."""
    with restored_registries():
        yield


def test_a_registered_dialect_is_read_verified_printed_and_run() -> None:
    with pytest.raises(qrt.errors.ParseError, match=r"outer\.negate"):
        ir.parse(TEXT)
    ir.register_dialect("outer", ROOM)
    module = ir.parse(TEXT)
    module.verify()
    assert "outer.negate %arg0 : i32" in str(module)
    assert ir.parse(str(module)) == module
    assert qrt.compile(module)(np.int32(5)) == -5
    with pytest.raises(qrt.errors.VerifyError, match="operand #0 must be signless-integer-like"):
        ir.parse(TEXT.replace("i32", "f32")).verify()
    b = ir.Builder(ir.Module())
    with b.function("g", ["i8"]) as (x,):
        b.func.return_(b.outer.negate(x))


def test_an_entry_point_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "outer_room.py").write_text(
        "from tests.ir.test_plugins import ROOM\nOPS, HANDLERS = ROOM.OPS, ROOM.HANDLERS\n"
    )
    info = tmp_path / "outer-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: outer\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[qrt.dialects]\nouter = outer_room\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert "outer" in DIALECTS
    assert qrt.compile(ir.parse(TEXT))(np.int32(7)) == -7
    sys.modules.pop("outer_room", None)


def test_a_package_that_does_not_load_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {"broken": EntryPoint("broken", "no_such_module_at_all", "qrt.ir.dialects")}
    monkeypatch.setattr(registry, "installed", lambda group: entries)
    with pytest.raises(
        qrt.QuantError,
        match="the dialect 'broken' cannot be loaded from the entry point no_such_module_at_all: No module",
    ):
        ir.parse('"broken.op"() : () -> ()')


def test_names_and_rooms_that_are_refused() -> None:
    ir.register_dialect("outer", ROOM)
    ir.register_dialect("outer", ROOM)
    for name, room, message in (
        ("arith", SimpleNamespace(OPS=[ir.Definition("arith.mine")]), "named 'arith' is registered already"),
        ("gpu", SimpleNamespace(OPS=[ir.Definition("gpu.mine")]), "register_dialect: 'name' must not be the name"),
        ("outer", SimpleNamespace(OPS=[NEGATE]), "named 'outer'"),
        ("empty", SimpleNamespace(OPS=[]), "must have a non-empty list OPS"),
        ("empty", None, "must have a non-empty list OPS"),
        ("empty", SimpleNamespace(OPS=[NEGATE]), "must have only Definitions of ops named"),
        ("empty", SimpleNamespace(OPS=[3]), "must have only Definitions of ops named"),
    ):
        with pytest.raises(qrt.QuantError, match=message):
            ir.register_dialect(name, room)

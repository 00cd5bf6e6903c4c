"""What qrt names as MLIR's and unsupported is registered in mlir-opt 22, and nothing that is registered is left out."""

import os
import re
from pathlib import Path

import pytest

from qrt.ir.core import registry
from qrt.ir.core.registry import DIALECTS, every_definition
from qrt.ir.core.traits import EXTENSION
from tests import mlir_opt

pytestmark = mlir_opt.needed
OURS = {name for name, op in every_definition().items() if not name.startswith("qrt.") and EXTENSION not in op.traits}
LISTED = {f"{dialect}.{name}" for dialect, names in registry.UNSUPPORTED_OPS.items() for name in names.split()}


def registered(names):
    """Those that are registered ops: in custom form these are parsed, whatever is wrong with them then."""
    ordered = sorted(names)
    errors = mlir_opt.errors("// -----\n".join(f"{name} ?\n" for name in ordered), "--split-input-file")
    unknown = {error.split("'")[1] for error in errors if error.endswith("is unknown")}
    return set(ordered) - unknown


def test_every_op_that_is_listed_is_registered():
    assert registered([*LISTED, "vector.nonsense"]) == LISTED


@pytest.mark.skipif(not os.environ.get("QRT_REQUIRE_ORACLE"), reason="it reads all of a library")
def test_every_op_that_is_registered_is_supported_or_listed():
    """The names of ops are strings in the library: of what looks like one, mlir-opt says which are."""
    (program,), _ = mlir_opt.FOUND
    library = (Path(program).parents[1] / "lib" / "libMLIR.so").read_bytes()
    found = {
        name.decode()
        for each in DIALECTS.own
        for name in re.findall(rb"%s\.[a-z_0-9.]+(?=\0)" % each.encode(), library)
    }
    assert len(found & OURS) > 0.9 * len(OURS)
    assert registered(found - OURS) == LISTED


def test_every_dialect_is_supported_or_listed():
    accepted, output = mlir_opt.upstream("", "--show-dialects")
    assert accepted
    theirs = set(output.split("Available Dialects: ")[1].split()[0].split(","))
    assert theirs == registry.UNSUPPORTED_DIALECTS | (set(DIALECTS.own) - {"qrt"})

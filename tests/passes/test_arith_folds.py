"""What arith and math fold to is what mlir-opt 22 folds to. Hazards: a wrong reading of a constant at odd widths or of
i1, a fold of what is undefined, the sign of a NaN or a zero."""

from tests import mlir_opt
from tests.passes import arith_folds, arith_patterns
from tests.passes.test_upstream import disagreements

pytestmark = mlir_opt.needed


def test_folds_as_upstream():
    assert not list(disagreements(arith_folds.PROGRAMS, "canonicalize"))


def test_patterns_as_upstream():
    assert not list(disagreements(arith_patterns.PROGRAMS, "canonicalize"))

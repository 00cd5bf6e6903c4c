"""What leaves a loop raises only where the loop would have. Hazard: a loop of no iterations that becomes an error."""

from itertools import product

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.errors import QuantError
from qrt.ir import run_passes

PARTIAL = {
    "quotient": "arith.floordivsi %i, %z : i32",
    "remainder": "arith.remui %i, %z : i32",
    "shift": "arith.shli %i, %i : i32",
    "sum": "arith.addi %i, %i overflow<nsw> : i32",
    "power": "math.ipowi %z, %m : i32",
    "conversion": "arith.fptosi %x : f32 to i32",
    "element": "tensor.extract %t[%far] : tensor<4xi32>",
    "element of an unknown size": "tensor.extract %u[%far] : tensor<?xi32>",
}
LOOPS = {
    "scf.for": "scf.for %a = %c0 to %n step %c1 {",
    "affine.for": "affine.for %a = 0 to %n {",
    "scf.parallel": "scf.parallel (%a) = (%c0) to (%n) step (%c1) {",
    "scf.forall": "scf.forall (%a) in (%n) {",
    "scf.for in a loop that runs": "affine.for %b = 0 to 2 { scf.for %a = %c0 to %n step %c1 {",
}
INPUTS = {
    "i": np.int32(2**30 + 5),
    "z": np.int32(0),
    "m": np.int32(-1),
    "x": np.float32("nan"),
    "t": np.arange(4, dtype=np.int32),
    "u": np.arange(4, dtype=np.int32),
    "far": np.int64(7),
}
TYPES = {"t": "tensor<4xi32>", "u": "tensor<?xi32>", "x": "f32", "far": "index"}


def program(operation, loop):
    arguments = ", ".join(f'%{name}: {TYPES.get(name, "i32")} {{qrt.name = "{name}"}}' for name in INPUTS)
    return f"""func.func @f({arguments}, %n: index {{qrt.name = "n"}}, %out: memref<i32> {{qrt.name = "out"}}) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      {loop}
        %r = {operation}
        memref.store %r, %out[] : memref<i32>
      {"}" * loop.count("{")}
      return
    }}"""


def outcome(module, trips):
    out = np.zeros((), np.int32)
    try:
        qrt.compile(module).run({**INPUTS, "n": np.int64(trips), "out": out}, interpret=True)
    except QuantError:
        return "error"
    return int(out)


@pytest.mark.parametrize(("operation", "loop"), list(product(PARTIAL, LOOPS)))
def test_a_loop_without_iterations_stays_valid(operation, loop):
    text = program(PARTIAL[operation], LOOPS[loop])
    for trips, expected in ((0, 0), (1, "error")):
        assert outcome(ir.parse(text), trips) == expected
        assert outcome(run_passes(ir.parse(text), "loop-invariant-code-motion"), trips) == expected


def test_what_is_undefined_moves_as_upstream_moves_it():
    text = program(PARTIAL["conversion"], LOOPS["scf.for"])
    assert outcome(run_passes(ir.parse(text), "loop-invariant-code-motion", strict_upstream=True), 0) == "error"

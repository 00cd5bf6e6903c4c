"""`qrt opt` beside mlir-opt: the same flags print the same text on the same stream."""

import io
import re
import sys

import pytest

from qrt.cli import main
from tests import mlir_opt

TEXT = """func.func @f(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  %1 = arith.addi %x, %x : i32
  %2 = arith.addi %0, %1 : i32
  return %2 : i32
}
func.func private @unused() {
  return
}
func.func private @declared(i32)
func.func @g(%x: memref<2xi32>) {
  %0 = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  call @declared(%0#0) : (tensor<3xi32>) -> ()
  return
}
""".replace("(i32)\nfunc.func @g", "(tensor<3xi32>)\nfunc.func @g").replace("%0#0", "%0")
NESTED = "--pass-pipeline=builtin.module(func.func(cse),func.func(cse),symbol-dce)"
SCOPES = ("--mlir-print-ir-module-scope", "--mlir-disable-threading")
BOTH = ("--mlir-print-ir-before-all", "--mlir-print-ir-after-all")


def named(text):
    """Constants have no names in qrt: those of upstream begin so."""
    return re.sub(r"%(cst|0)\b", "%_", text)


@mlir_opt.needed
@pytest.mark.parametrize(
    "flags",
    [
        ("--cse", "--symbol-dce", *BOTH),
        ("-cse", "-cse", "-mlir-print-ir-after-all", "-mlir-print-ir-after-change"),
        ("--cse", "--mlir-print-ir-after-change"),
        ("--cse", "--symbol-dce", "--mlir-print-ir-before=symbol-dce", "--mlir-print-ir-after=cse"),
        ("--cse", *BOTH, "--mlir-print-local-scope"),
        ("--cse", *BOTH, "--mlir-print-op-generic"),
        (NESTED, *BOTH, "--mlir-disable-threading"),
        (NESTED, "--mlir-print-ir-after-all", "--mlir-print-ir-after-change", "--mlir-disable-threading"),
        ("--pass-pipeline=builtin.module(func.func(cse),symbol-dce)", "--mlir-print-ir-after-all", *SCOPES),
        (NESTED, "--dump-pass-pipeline"),
        ("--dump-pass-pipeline",),
        ("--cse", "--symbol-dce", "--dump-pass-pipeline=true", "--verify-each=false"),
        ("--mlir-print-op-generic=false", "--mlir-elide-elementsattrs-if-larger=2"),
        ("--mlir-elide-elementsattrs-if-larger=3",),
    ],
)
def test_the_streams_are_alike(flags, capsys, monkeypatch):
    theirs = mlir_opt.run(TEXT, *flags)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert main(["opt", *flags]) == theirs.returncode == 0
    ours = capsys.readouterr()
    assert named(ours.err) == named(theirs.stderr.decode())
    assert named(ours.out) == named(
        theirs.stdout.decode().removesuffix("\n") if "local-scope" not in str(flags) else theirs.stdout.decode()
    )

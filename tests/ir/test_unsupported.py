"""What MLIR registers and qrt does not support is said by name, and never taken for a slip of the pen."""

import pytest

from qrt import ir
from qrt.errors import ParseError
from qrt.ir.core import registry
from qrt.ir.core.registry import DIALECTS, every_definition

OPS = [f"{dialect}.{name}" for dialect, names in registry.UNSUPPORTED_OPS.items() for name in names.split()]


def message(text):
    with pytest.raises(ParseError) as caught:
        ir.parse(text)
    return caught.value.message


@pytest.mark.parametrize("name", ["vector.mask", "linalg.pack", "vector.scalable.insert"])
def test_an_op_is_named(name):
    assert message(f"{name} %0") == f"custom op '{name}' is an op of MLIR that qrt does not support"
    assert message(f'"{name}"() : () -> ()') == f"op '{name}' is an op of MLIR that qrt does not support"
    assert ir.parse(f'"{name}"() : () -> ()', allow_unregistered=True)


def test_a_dialect_is_named():
    said = "'gpu.launch' is of the MLIR dialect 'gpu', which qrt does not support"
    assert message("gpu.launch") == f"custom op {said}"
    assert message('"gpu.launch"() : () -> ()') == f"op {said}"


def test_the_payload_of_a_map_is_named():
    text = "func.func @f(%%a: memref<4xf32>) { linalg.map { %s } ins(%%a : memref<4xf32>) outs(%%a : memref<4xf32>) }"
    assert message(text % "complex.abs") == "custom op 'complex.abs' is an op of MLIR that qrt does not support"
    assert message(text % "math.nonsense") == "custom op 'math.nonsense' is unknown"


def test_what_mlir_does_not_know_is_unknown():
    assert message("vector.nonsense") == "custom op 'vector.nonsense' is unknown"
    assert (
        message('"nobodys.op"() : () -> ()')
        == "op 'nobodys.op' is unregistered, and accepted only with allow_unregistered=True"
    )


def test_what_is_supported_is_not_listed():
    assert not set(OPS) & set(every_definition())
    assert not registry.UNSUPPORTED_DIALECTS & set(DIALECTS.own)
    assert len(set(OPS)) == len(OPS)

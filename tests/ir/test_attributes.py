"""Attributes and the types that hold them, as mlir-opt 22 prints them."""

import pytest

from qrt import ir
from qrt.errors import ParseError

PRINTED = {
    "memref<4xf32, 3 : i64>": "memref<4xf32, 3>",
    "memref<4xf32, 0 : i8>": "memref<4xf32>",
    "memref<4xf32, affine_map<(d0) -> (d0)>, 1>": "memref<4xf32, 1>",
    "memref<4xf32, strided<[2],offset:0x1>, 1 : i32>": "memref<4xf32, strided<[2], offset: 1>, 1 : i32>",
    "memref<4xf32, strided < [ ? ] , offset : ? >>": "memref<4xf32, strided<[?], offset: ?>>",
    "memref<4xf32, strided<[2], offset: 0>>": "memref<4xf32, strided<[2]>>",
    "memref<*xf32, {a = 1}>": "memref<*xf32, {a = 1 : i64}>",
    "tensor<4xf32, 5>": "tensor<4xf32, 5 : i64>",
    "strided<[3,4],offset:7>": "strided<[3, 4], offset: 7>",
    "dense<[0.5, -2.]> : tensor<2xf80>": "dense<[5.000000e-01, -2.000000e+00]> : tensor<2xf80>",
    "dense<[[18446744073709551616]]> : tensor<1x1xi65>": "dense<-18446744073709551616> : tensor<1x1xi65>",
    "dense<> : tensor<0xi128>": "dense<> : tensor<0xi128>",
    "dense<true> : tensor<2xui1>": "dense<true> : tensor<2xui1>",
    "0 : i0": "0 : i0",
    "!quant.uniform<i8<- 5: 0x7>:f32, 1.0: - // comment\n 3>": "!quant.uniform<i8<-5:7>:f32, 1.000000e+00:-3>",
    "!quant.calibrated<f32<- 1.0:2.0>>": "!quant.calibrated<f32<-1.000000e+00:2.000000e+00>>",
    "-1.0 : f8E8M0FNU": "0xFF : f8E8M0FNU",
    "@f : // comment\n : @g": "@f::@g",
}


@pytest.mark.parametrize("text", PRINTED)
def test_attributes_print_as_upstream_prints_them(text):
    module = ir.parse(f"module attributes {{q.a = {text}}} {{ }}")
    assert str(module).splitlines()[0] == f"module attributes {{q.a = {PRINTED[text]}}} {{"


def test_a_module_outside_of_modules_is_printed_in_full():
    """Its short name is that of the default dialect, which is func inside a function."""
    nested = '"a.b"() ({ builtin.module { } }) : () -> ()'
    text = f"func.func @f() {{ builtin.module {{ module {{ }} }} {nested} return }}"
    module = ir.parse(text, allow_unregistered=True)
    assert str(module).count("builtin.module") == 2
    assert ir.parse(str(module), allow_unregistered=True) == module


def test_types_of_known_dialects_are_never_opaque():
    with pytest.raises(ParseError, match="a dialect that is not registered"):
        ir.parse('"a.b"() {t = !func.foo<i8>} : () -> ()', allow_unregistered=True)


def test_a_result_number_may_stand_apart():
    text = '%0:2 = "a.b"() : () -> (i32, i32) "a.b"(%0 // comment\n #1, %0 #0) : (i32, i32) -> ()'
    first, second = ir.parse(text, allow_unregistered=True).operation.regions[0].blocks[0]
    assert second.operands == [first.results[1], first.results[0]]

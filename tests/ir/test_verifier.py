"""Rules that need built IR or control flow, and the strict verification that programs run under."""

import pytest

from qrt import ir
from qrt.errors import VerifyError
from qrt.types import parse_type


def verify(text, strict=False):
    ir.parse(text, allow_unregistered=True).verify(strict)


def test_a_value_dominates_along_every_path_or_not_at_all():
    diamond = """func.func @f() {{
      "t.br"()[^bb1, ^bb2] : () -> ()
    ^bb1:
      %0 = "t.a"() : () -> i32
      "t.br"()[^bb3] : () -> ()
    ^bb2:
      "t.br"()[^bb3] : () -> ()
    ^bb3:
      {use}
      return
    }}"""
    verify(diamond.format(use=""))
    with pytest.raises(VerifyError, match="operand #0 does not dominate this use"):
        verify(diamond.format(use='"t.use"(%0) : (i32) -> ()'))


def test_a_value_dominates_blocks_that_stand_before_it_in_the_text():
    verify("""func.func @f() {
      "t.br"()[^bb2] : () -> ()
    ^bb1:
      "t.use"(%0) : (i32) -> ()
      return
    ^bb2:
      %0 = "t.a"() : () -> i32
      "t.br"()[^bb1] : () -> ()
    }""")


def test_everything_dominates_an_unreachable_block():
    verify("""func.func @f() {
      return
    ^bb1:
      "t.use"(%0) : (i32) -> ()
      "t.br"()[^bb1] : () -> ()
    ^bb2:
      %0 = "t.a"() : () -> i32
      "t.br"()[^bb2] : () -> ()
    }""")


def test_many_blocks_are_no_recursion():
    blocks = "\n".join(f'^bb{n}:\n"t.br"()[^bb{n + 1}] : () -> ()' for n in range(1, 5000))
    verify(f'func.func @f() {{\n"t.br"()[^bb1] : () -> ()\n{blocks}\n^bb5000:\nreturn\n}}')


def test_a_function_sees_nothing_of_the_outside():
    with pytest.raises(Exception, match="undeclared SSA value name '%0'"):
        verify('%0 = "t.a"() : () -> i32\nfunc.func @f() -> i32 { return %0 : i32 }')


def test_the_order_of_a_module_is_free():
    verify('"t.use"(%0) : (i32) -> ()\n%0 = "t.a"() : () -> i32')


def test_strict_checks_what_upstream_leaves_unchecked():
    text = "func.func @f(%x: tensor<3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) { return }"
    verify(text)
    with pytest.raises(VerifyError, match="does not match number of scales"):
        verify(text, strict=True)
    with pytest.raises(VerifyError, match="scalar types"):
        verify("func.func @f(%x: !quant.uniform<i8:f32:0, {1.0, 2.0}>) { return }", strict=True)
    with pytest.raises(VerifyError, match="does not match number of scales"):
        verify(
            'func.func @f() {\n%0 = "t.a"() : () -> tensor<3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>\nreturn }',
            strict=True,
        )


def test_a_passed_signature_is_not_passed_for_other_types():
    """Signatures are checked once: the memory of it must tell attributes and types apart."""
    text = "func.func @f(%x: f32) {{ %0 = quant.qcast %x {a}: f32 to !quant.uniform<i8:{e}, 1.0>  return }}"
    verify(text.format(a="", e="f32"))
    with pytest.raises(VerifyError):
        verify(text.format(a="", e="f16"))
    with pytest.raises(VerifyError):
        verify(text.format(a='{scale = "times"} ', e="f32"))
    verify(text.format(a="", e="f32"))


def test_a_built_operation_is_checked_like_a_parsed_one():
    module = ir.parse("func.func @f(%x: f32) { %0 = quant.qcast %x : f32 to !quant.uniform<i8:f32, 1.0>  return }")
    cast = module.function("f").regions[0].blocks[0].first
    cast.result.type = parse_type("!quant.uniform<i8:f16, 1.0>")
    with pytest.raises(VerifyError, match="expected to match float type"):
        module.verify()
    cast.result.type = parse_type("!quant.uniform<i8:f32, 1.0>")
    cast.operands[0] = ir.Value(parse_type("f32"), None, 0)
    with pytest.raises(VerifyError, match="is defined neither by an operation nor as a block argument"):
        module.verify()


SUBVIEW = "static_offsets = array<i64: 0>, static_sizes = array<i64: 2>, static_strides = array<i64: 1>"


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (
            f'"memref.subview"(%m) <{{{SUBVIEW}}}> : (memref<4xf32>) -> memref<2xf32, strided<[1]>>',
            "requires attribute 'operandSegmentSizes' of 4 sizes",
        ),
        (
            f'"memref.subview"(%m, %m) <{{operandSegmentSizes = array<i32: 2, 0, 0, 0>, {SUBVIEW}}}> '
            ": (memref<4xf32>, memref<4xf32>) -> memref<2xf32, strided<[1]>>",
            "operand group starting at #0 requires 1 element, but found 2",
        ),
        (
            '"arith.cmpi"(%i, %i) <{predicate = "eq"}> : (i32, i32) -> i1',
            "attribute 'predicate' failed to satisfy constraint",
        ),
    ],
)
def test_groups_and_attributes_of_generic_forms(op, message):
    """A custom form writes sizes and kinds itself: only the generic form can get them wrong."""
    module = ir.parse(f"func.func @f(%m: memref<4xf32>, %i: i32) {{ %0 = {op} return }}")
    with pytest.raises(VerifyError, match=message):
        module.verify()


def test_a_masked_transfer_of_vectors_is_refused_in_generic_form_too():
    """Its custom form is refused as upstream refuses it; mlir-opt 22 ends with an assertion on the generic one."""
    with pytest.raises(VerifyError, match="does not support masks with vector element type"):
        verify("""func.func @f(%m: memref<?xvector<4xf32>>, %i: index, %x: vector<4xf32>, %k: vector<1xi1>) {
          %0 = "vector.transfer_read"(%m, %i, %x, %k) {permutation_map = affine_map<(i) -> (i)>, in_bounds = [true],
            operandSegmentSizes = array<i32: 1, 1, 1, 1>}
            : (memref<?xvector<4xf32>>, index, vector<4xf32>, vector<1xi1>) -> vector<1x4xf32>
          return
        }""")


def test_a_zero_point_out_of_range_is_a_warning_and_strictly_an_error():
    module = ir.parse("func.func @f(%x: tensor<2x!quant.uniform<i8:f32, 0.5:300>>) { return }")
    assert [found.severity for found in module.verify()] == ["warning"]
    with pytest.raises(VerifyError, match="zero point 300 is outside"):
        module.verify(strict=True)

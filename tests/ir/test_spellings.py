"""Forms that do not come back as they were written: what a text may say and a printer leaves out. The others stand in
spellings.mlir. Hazards: a cache of upstream's that is dropped, or believed where it contradicts the op."""

import re
from pathlib import Path

import pytest

from qrt import ir
from qrt.errors import VerifyError
from tests import mlir_opt
from tests.mlir_opt import upstream

DOT = """func.func @f(%a: tensor<2xf32>, %s: tensor<f32>) -> tensor<f32> {{
  %0 = linalg.dot {} ins(%a, %a : tensor<2xf32>, tensor<2xf32>) outs(%s : tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}}"""
MAPS = "linalg.memoized_indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]"


def verified(text):
    module = ir.parse(text)
    module.verify()
    return module


@pytest.mark.parametrize("said", ["", f"{{{MAPS}}}"])
def test_memoized_maps_are_printed_in_generic_form_alone(said):
    module = verified(DOT.format(said))
    assert MAPS in module.print(generic=True)
    assert "memoized" not in str(module)
    assert ir.parse(module.print(generic=True)) == module == ir.parse(DOT.format(""))


def test_memoized_maps_are_the_ops_own():
    with pytest.raises(
        VerifyError,
        match=re.escape(
            "'linalg.dot' op attribute 'linalg.memoized_indexing_maps' must be the indexing maps of the op, "
            "[affine_map<(d0) -> (d0)>"
        ),
    ):
        verified(DOT.format(f"{{{MAPS}}}".replace("-> (d0)>", "-> (0)>", 1)))


def test_what_upstream_does_not_memoize_is_an_attribute():
    text = """func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
      %0 = linalg.exp {linalg.memoized_indexing_maps = 3}
          ins(%a : tensor<2xf32>) outs(%a : tensor<2xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }"""
    assert "{linalg.memoized_indexing_maps = 3 : i64}" in verified(text).print(generic=True)


@mlir_opt.needed
def test_memoized_maps_are_upstreams():
    """Of every named op that has them."""
    text = (Path(__file__).parent / "linalg_named.mlir").read_text()
    accepted, output = upstream(text, "--mlir-print-op-generic")
    assert accepted, output
    for name, value in re.findall(r"^(#map\d*) = (.*)$", output, re.MULTILINE):
        output = re.sub(rf"{name}\b", value, output)
    said = re.findall(r"memoized_indexing_maps = .*?\]", output)
    assert said == re.findall(r"memoized_indexing_maps = .*?\]", verified(text).print(generic=True))
    assert said


def test_attributes_of_arguments_that_say_nothing_are_left_out():
    module = verified("func.func @f() attributes {res_attrs = []} { return }")
    assert "res_attrs" not in str(module)
    assert "res_attrs = []" in module.print(generic=True)


def test_a_map_without_a_value_is_no_indexing_map():
    """Upstream ends with an assertion."""
    text = """func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {{
      %0 = linalg.generic {{
          indexing_maps = [affine_map<(i) -> (i {})>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
          ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) {{
      ^bb0(%x: f32, %y: f32):
        linalg.yield %x : f32
      }} -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }}"""
    for divisor in ("mod -3", "mod 0", "floordiv 0"):
        with pytest.raises(VerifyError, match="has an indexing map that cannot be evaluated"):
            verified(text.format(divisor))

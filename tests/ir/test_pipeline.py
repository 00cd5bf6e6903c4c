"""Pipelines as text, and dce. Hazards: options silently ignored, a pass that removes what has effects or is used."""

from dataclasses import dataclass

import pytest

from qrt import ir
from qrt.errors import ParseError, VerifyError
from qrt.ir import run_passes
from qrt.ir.pipeline import PASSES
from qrt.ir.pipeline_text import parse_pipeline


@dataclass(frozen=True)
class Example:
    """A pass with an option of every kind."""

    zero_point: str = "kernel"
    count: int = 1
    fold: bool = False

    def run(self, module):
        pass


@dataclass(frozen=True)
class Needy:
    """A pass with an option that must be given."""

    target: str

    def run(self, module):
        pass


KNOWN = {"example": Example, "needy": Needy, **PASSES}


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("", []),
        ("builtin.module( ),any(example)", [Example()]),
        ("example", [Example()]),
        ("example{zero-point=in-loop count=-3 fold}", [Example("in-loop", -3, True)]),
        ("example{fold=false},example{ }", [Example(), Example()]),
        (
            r'example{zero-point="a }\n\"\u00e9" count=2},example{zero-point=a"b}',
            [Example('a }\n"é', 2), Example('a"b')],
        ),
        (
            " builtin.module( func.func(example,needy{target=a}), example ) , example",
            [Example(), Needy("a"), Example(), Example()],
        ),
    ],
)
def test_pipelines(text, passes):
    assert parse_pipeline(text, KNOWN) == passes


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("unknown", f"'unknown' does not refer to a registered pass; the passes are {', '.join(sorted(KNOWN))}", 1),
        ("canonicalise", "'canonicalise' does not refer to a registered pass; did you mean 'canonicalize'?", 1),
        ("example,", "expected a pass name", 9),
        ("example example", "expected ','", 9),
        ("example{colour=1}", "no option 'colour'; its options are 'zero-point', 'count', 'fold'", 9),
        ("example{count=many}", "option 'count' must be an integer, got 'many'", 15),
        ("example{fold=maybe}", "option 'fold' must be true or false, got 'maybe'", 14),
        ("example{count}", "option 'count' must have a value: expected count=VALUE", 9),
        ("example{zero-point=}", "option 'zero-point' must be a text", 20),
        ("example{", "expected an option name", 9),
        ('example{count="1"}', "option 'count' must be an integer, got '\"1\"'", 15),
        (
            r'example{zero-point="\q"}',
            "option 'zero-point': the quoted value is not a valid JSON string: Invalid \\escape",
            20,
        ),
        ("needy", "requires the option 'target', which is missing", 6),
        ("func.func(example", "expected ')'", 18),
        ("module(example)", "passes can be nested in 'any(...)'", 1),
        ("a.b(" * 1000, "nested more than", 257),
    ],
)
def test_bad_pipelines_are_diagnostics(text, message, column):
    with pytest.raises(ParseError) as caught:
        parse_pipeline(text, KNOWN)
    assert message in caught.value.message
    assert caught.value.location.column == column


def test_dce_removes_pure_operations_down_to_their_sources():
    module = ir.parse("""func.func @f(%x: f32) -> f32 {
      %0 = arith.constant 1.0 : f32
      %1 = quant.qcast %0 : f32 to !quant.uniform<i8:f32, 0.5>
      %2 = quant.dcast %1 : !quant.uniform<i8:f32, 0.5> to f32
      %3 = arith.constant 2.0 : f32
      return %3 : f32
    }""")
    assert run_passes(module, "builtin.module(func.func(dce))") is module
    assert [o.name for o in module.function("f").regions[0].blocks[0]] == ["arith.constant", "func.return"]


def test_dce_keeps_what_is_used_or_unknown():
    text = """func.func @f() {
      %0 = arith.constant 1 : i32
      %1 = "t.effect"(%0) : (i32) -> i32
      %2 = call @f2() : () -> i32
      return
    }
    func.func private @f2() -> i32"""
    module = ir.parse(text, allow_unregistered=True)
    run_passes(module, "dce")
    assert module == ir.parse(text, allow_unregistered=True)


def test_a_module_is_verified_before_the_first_pass():
    module = ir.parse("func.func @f() -> i32 { return }")
    with pytest.raises(VerifyError):
        run_passes(module, "dce")

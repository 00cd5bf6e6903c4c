"""An attribute that an op of ours does not have is refused, as a misspelt one would change nothing: `maximum` for `max`
ran unclamped. Names with a dialect's prefix are anybody's."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from qrt.errors import VerifyError
from qrt.ir import Module, Operation, attribute, parse
from qrt.ir.core.registry import every_definition
from qrt.ir.core.traits import EXTENSION

HERE = Path(__file__).parent
TEXTS = [(HERE / name).read_text() for name in ("ops.mlir", "extras.mlir")]
OURS = sorted(name for name, definition in every_definition().items() if EXTENSION in definition.traits)


def operations(name: str) -> Iterator[tuple[Module, Operation]]:
    for text in TEXTS:
        module = parse(text)
        yield from ((module, operation) for operation in module.operation.walk() if operation.name == name)


def example(name: str) -> tuple[Module, Operation]:
    return next(operations(name))


def test_these_are_all() -> None:
    assert {name.partition(".")[0] for name in OURS} == {"qrt", "quant"}
    assert {"qrt.clamp", "quant.region", "quant.return", "quant.stats", "quant.cast", "quant.matmul"} < set(OURS)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", OURS)
def test_a_name_that_the_op_lacks_is_refused(name: str, strict: bool) -> None:
    module, operation = example(name)
    assert operation.definition is not None
    listed = ", ".join(f"'{key}'" for key in operation.definition.attributes)
    operation.attributes["zzzzzz"] = attribute(1)
    several = len(operation.definition.attributes) > 1
    told = (
        f"its {'attributes are' if several else 'only attribute is'} {listed}" if listed else "it accepts no attributes"
    )
    with pytest.raises(VerifyError, match=re.escape(f"'{name}' op has no attribute 'zzzzzz': {told}")):
        module.verify(strict=strict)
    del operation.attributes["zzzzzz"]
    operation.attributes["dialect.zzzzzz"] = attribute(1)
    module.verify()


NAMES = [(name, known) for name in OURS for known in every_definition()[name].attributes]


@pytest.mark.parametrize(
    ("name", "known"), [*NAMES, *(("quant.qcast", n) for n in ("rounding", "zero_point", "scale"))]
)
def test_a_misspelt_name_is_told_the_right_one(name: str, known: str) -> None:
    module, operation = example(name)
    for wrong in (f"{known}s", known.replace("_", "") + "x", known[1:]):
        if wrong in every_definition()[name].attributes or len(wrong) < 3:
            continue
        said = operation.attributes.pop(known, None)
        operation.attributes[wrong] = attribute(1)
        with pytest.raises(VerifyError, match=f"has no attribute '{wrong}': its .*; did you mean '{known}'\\?"):
            module.verify()
        del operation.attributes[wrong]
        if said is not None:
            operation.attributes[known] = said


def test_a_cast_of_upstream_takes_other_names() -> None:
    module, operation = example("quant.qcast")
    operation.attributes["note"] = attribute(1)
    module.verify(strict=True)


@pytest.mark.parametrize(("wrong", "right"), [("maximum", "max"), ("minimum", "min")])
def test_the_place_is_the_name(wrong: str, right: str) -> None:
    t = "tensor<2x!quant.uniform<i8:f32, 1.0>>"
    text = f"func.func @f(%x: {t}) {{ %0 = qrt.clamp %x {{{wrong} = 2.0 : f64}} : ({t}) -> {t}  return }}"
    with pytest.raises(VerifyError, match=f"did you mean '{right}'") as caught:
        parse(text).verify()
    place = caught.value.location
    assert place.source.text[place.start : place.end] == wrong

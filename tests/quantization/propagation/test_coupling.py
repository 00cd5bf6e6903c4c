"""Hazard: values are meant to have one type, and silently have two."""

import re

import pytest

from tests.quantization.propagation.programs import A, B, T, constant, function, range_of, region, run


def coupled(first: str, second: str) -> str:
    lines = [
        first,
        second,
        *(f'%c{n} = "quant.coupled_ref"(%{n}) {{coupledKey = "k"}} : ({T}) -> {T}' for n in (0, 1)),
        *(region(f"%r{n}", "op", f"%c{n}", output=A) for n in (0, 1)),
    ]
    return function("%x", *lines)


NEAR = region("%0", "op", "%x", A, range_of(-1, 1))


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (NEAR, region("%1", "op", "%x", A, range_of(-2, 2)), []),
        (
            region("%0", "op", "%x", A, A),
            region("%1", "op", "%x", A, B),
            ["5:7 .*it is .*2.5.*-01>, .* is .*5.0.*-01>"],
        ),
        (NEAR, region("%1", "op", "%x", A, range_of(-100, 100)), ["5:7 .*annotate both as one type"]),
        (
            NEAR,
            region("%1", "wide", "%x", "f32", range_of(-1, 1)),
            ["5:7 .*'k' couples this value without effect: it is .*i16"],
        ),
        (NEAR, constant("%1", 1, 2, 3, 4), ["5:7 .*each use of a constant has its own type"]),
    ],
)
def test_values_that_cannot_be_coupled_are_remarked(first: str, second: str, said: list[str]) -> None:
    found = [f"{each.location} {each.message}" for each in run(coupled(first, second)).remarks]
    assert len(found) == len(said)
    assert all(re.search(pattern, each) for pattern, each in zip(said, found, strict=True)), found

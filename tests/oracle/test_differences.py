"""Each deliberate difference from mlir-opt 22: what qrt does, that mlir-opt does otherwise, that the comparison knows
it by its name and no other, and that the page of its dialect tells it. Hazard: a difference that is gone, or
swallows more.
"""

from collections import Counter

import pytest

from tests import mlir_opt
from tests.docs.documents import DIALECTS, sections
from tests.oracle import compare
from tests.oracle.differences import DIFFERENCES, INCOMPARABLE
from tests.oracle.draw_programs import Program
from tests.oracle.verdicts import ours


def of_attribute(text):
    return f"module attributes {{q.a = {text}}} {{ }}"


CASES = {
    "sub-channel zero points are read as written": (
        of_attribute("!quant.uniform<u8:f32:{0:1}, {{1.0:200}}>"),
        "!quant.uniform<u8:f32:{0:1}, {{1.000000e+00:200}}>",
    ),
    "sub-channel scales in hexadecimal are doubles": (
        of_attribute("!quant.uniform<i8:f32:{0:1}, {{16777217.0}}>"),
        "!quant.uniform<i8:f32:{0:1}, {{0x4170000000000000}}>",
    ),
    "brackets in comments are ignored": (
        of_attribute("!quant.uniform<i8: // >\n f32, 1.0>"),
        "!quant.uniform<i8:f32, 1.000000e+00>",
    ),
    "affine maps are printed in place": (
        of_attribute("memref<2xi8, affine_map<(d0) -> (d0 + 1)>>"),
        "memref<2xi8, affine_map<(d0) -> (d0 + 1)>>",
    ),
    "f80 and f128 that are not doubles are printed as bits": (
        of_attribute("dense<0x1653> : tensor<1xf80>"),
        "dense<0x00000000000000001653> : tensor<1xf80>",
    ),
    "a splat without elements is printed as `dense<>`": (
        of_attribute("dense<1> : tensor<0xi8>"),
        "dense<> : tensor<0xi8>",
    ),
    "NaN scales are errors": (
        of_attribute("!quant.uniform<i8:f32, 0x7FF8000000000000>"),
        "scale nan out of expressed type range",
    ),
    "f80 and f128 may be expressed types": (
        of_attribute("!quant.uniform<i8:f80, 1.0>"),
        "!quant.uniform<i8:f80, 1.000000e+00>",
    ),
    "sub-channel zero points may be negative or beyond the storage type": (
        of_attribute("!quant.uniform<i8:f32:{0:1}, {{1.0:-3, 1.0:300}}>"),
        "{{1.000000e+00:-3, 1.000000e+00:300}}",
    ),
    "negative numbers of f8E8M0FNU are NaN": (of_attribute("-1.0 : f8E8M0FNU"), "0xFF : f8E8M0FNU"),
    "infinities saturate in formats that have none": (of_attribute("1.0e400 : f6E2M3FN"), "7.500000e+00 : f6E2M3FN"),
    "aliases may be used before their definition": ("module attributes {q.a = #b} { }\n#b = 1 : i8", "q.a = 1 : i8"),
    "isolated regions may reuse names from outside": (
        "%0 = arith.constant 1 : i8 func.func @f(%0: i32) { return }",
        "^bb0(%arg0: i32)",
    ),
    "a cast of a type without scales is an error": (
        "func.func @f(%x: f32) { %0 = quant.qcast %x : f32 to !quant.any<i8:f32> return }",
        "has no storage type",
    ),
    "casts of storage of known sign are not lowered": (
        "func.func @f(%x: f32) { %0 = quant.qcast %x : f32 to !quant.uniform<ui8<0:216>:f32, 1.0:3> return }",
        "the storage type must be an integer, got ui8",
    ),
}
AFTER = {
    "a cast of a type without scales is an error": "lower-quant-ops",
    "casts of storage of known sign are not lowered": "lower-quant-ops",
}


def test_every_difference_has_a_case():
    assert CASES.keys() == {difference.name for difference in DIFFERENCES} | INCOMPARABLE.keys()


@pytest.mark.parametrize("name", CASES)
def test_what_qrt_does(name):
    text, expected = CASES[name]
    verdict = ours(Program(text), AFTER.get(name, ""))
    assert expected in (verdict.printed or verdict.error)


def test_the_pages_of_dialects_tell_every_difference_and_no_other():
    tables = [sections(page.read_text()).get("Differences", "") for page in DIALECTS.values()]
    rows = [line.split(" | ") for table in tables for line in table.splitlines() if line.startswith("| ")]
    assert all(len(row) == 4 for row in rows)
    told = [row[0].removeprefix("| ") for row in rows if row[0] != "| name"]
    assert sorted(told) == sorted(CASES)


@mlir_opt.needed
@pytest.mark.parametrize("name", CASES)
def test_mlir_opt_does_otherwise(name, monkeypatch):
    explained = Counter()
    monkeypatch.setattr(compare, "EXPLAINED", explained)
    monkeypatch.setattr(compare, "TALLY", Counter())
    program = Program(CASES[name][0])
    after = AFTER.get(name)
    if after is None:
        reports, _ = compare.disagreements([program], "")
    else:
        reports = compare.disagreements_after([program], after)
    assert reports == []
    assert explained == {name: 1}

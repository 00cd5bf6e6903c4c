"""The table of forms in docs/lowering.md. Hazards: a row whose operations the pass does not write, and a lowered
program that computes other bits than the kernels."""

import re
from collections import defaultdict
from typing import NamedTuple

import numpy as np
import pytest

from qrt.ir import Module, parse, run_passes
from qrt.runtime.compilation import compile
from tests.docs.documents import ROOT

PAGE = (ROOT / "docs" / "lowering.md").read_text()
PROGRAMS = {
    name: re.search(rf"`{name}`.*?```mlir\n(.*?)```", PAGE, re.DOTALL)[1]  # type: ignore[index]
    for name in ("conv2d.mlir", "dot.mlir", "article.mlir")
}


class Row(NamedTuple):
    """A row of the table."""

    form: str
    program: str
    options: str
    stage: str
    operations: frozenset[str]


def rows() -> list[Row]:
    """Return the rows of the table of forms."""
    section = PAGE.split("## Each form, with its program\n")[1].split("\n## ")[0]
    table = []
    for line in re.findall(r"^\| (?!form|---)(.*) \|$", section, re.MULTILINE):
        form, program, options, stage, operations = (cell.strip() for cell in line.split("|"))
        names = frozenset(re.findall(r"`([\w.]+)`", operations))
        table.append(Row(form, program.strip("`"), options.strip("`"), stage.strip("`"), names))
    return table


def lowered(row: Row) -> Module:
    return run_passes(parse(PROGRAMS[row.program]), f"lower-qrt{{{row.options}}},lower-quant-ops")


def written(module: Module) -> dict[str, set[str]]:
    """Return the names of the operations at each stage; the empty stage has those of lowered casts."""
    names = defaultdict(set)
    for operation in module.operation.walk():
        names[operation.loc.text.strip('"') if operation.loc is not None else ""].add(operation.name)
    return names


def test_the_table_has_the_forms() -> None:
    assert len(rows()) == len({row.form for row in rows()}) == 14
    assert {row.stage for row in rows()} == {
        "", "accumulate", "zero-point", "bias", "requantize", "output zero point", "clamp",
    }  # fmt: skip


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.form)
def test_a_form_is_written(row: Row) -> None:
    module = lowered(row)
    assert row.operations
    assert row.operations <= written(module)[row.stage]
    assert not [op.name for op in module.operation.walk() if op.name in ("quant.cast", "quant.conv2d", "qrt.conv2d")]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.form)
def test_a_form_has_the_bits_of_the_kernel(row: Row) -> None:
    text = PROGRAMS[row.program]
    if "requant=float32" in row.options:
        text = text.replace("{strides", '{requant = "float32", strides')
    kernel, rng = compile(parse(text)), np.random.default_rng(0)
    arrays = [
        rng.normal(0, 2, port.type.shape).astype(np.float32)
        if str(port.type).endswith("f32>")
        else rng.integers(-128, 128, port.type.shape, np.int8)
        for port in kernel.inputs
    ]
    np.testing.assert_array_equal(storage(compile(lowered(row))(*arrays)), storage(kernel(*arrays)))


def storage(value: object) -> np.ndarray:
    return np.asarray(getattr(value, "storage", value))

"""The work of passes of quantization is proportional to the number of regions. Hazards: a pass that visits all users of
a value for each of them, all ports of a region for each of them, or the whole function for each region. Lines of Python
are counted, not seconds; benches/test_growth.py measures up to 10,000 regions."""

import pytest

from qrt import ir
from qrt.ir.dialects.quant.region import RegionOp
from qrt.ir.remarks import remarks_to
from tests.ir.passes.test_growth import lines_run
from tests.quantization.growing import PASSES, PROGRAMS, joined, prepared

SMALL, LARGE = 60, 240
BUDGETS = {
    "fuse-kernels": 12_000,
    "propagate-quant": 9_000,
    "check-quant": 7_000,
    "export-quant to kernels": 10_000,
    "export-quant to generated code": 18_000,
}
"""The most lines of Python that a pass may run for a region. An `scf.if` counts to the regions in its arms."""


def runner(program, name, size):
    """Return a function that runs one pass on a program, after the passes before it."""
    module = prepared(program(size), name)

    def run():
        with remarks_to(None):
            ir.run_passes(module, PASSES[name])

    return run


@pytest.mark.parametrize("name", PASSES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_work_grows_with_the_number_of_regions(program, name):
    """Four times the regions take at most 4.2 times the lines, and no region more than the budget."""
    runner(program, name, 8)()  # what is prepared once, such as the target
    small, large = (lines_run(runner(program, name, size)) for size in (SMALL, LARGE))
    assert large <= 4.2 * small
    assert large <= BUDGETS[name] * LARGE


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_programs_have_as_many_regions(program):
    """A program whose operations stay float would measure nothing."""
    module = prepared(program(40), "check-quant")
    operations = list(module.operation.walk())
    assert sum(len(operation.operands) for operation in operations if operation.name == "quant.region") >= 40


@pytest.mark.parametrize("name", ["propagate-quant", "check-quant"])
def test_the_types_of_a_region_are_not_read_for_each_operand(name, monkeypatch):
    """Hazard: a list of all types is made where one is needed."""
    count, read = 400, 0
    run, specs = runner(joined, name, count), RegionOp._specs

    def counted(region, side):
        nonlocal read
        types = specs(region, side)
        read += len(types)
        return types

    monkeypatch.setattr(RegionOp, "_specs", counted)
    run()
    assert 0 < read <= 40 * count

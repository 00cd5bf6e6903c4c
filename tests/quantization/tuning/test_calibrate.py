"""One pass over data. Hazards: a sample or records that depend on the split, the order, the ISA or the threads; data
that are read twice."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import qrt
from qrt import ir, kernels
from qrt.quantization.steps import NamedProgram, named
from qrt.quantization.targets.registry import find
from qrt.quantization.tuning.calibrate import calibrated
from tests.quantization.workflow.programs import NETWORK, rows


@pytest.fixture(scope="module")
def program() -> NamedProgram:
    return named(ir.parse(NETWORK), find("qrt-cpu"))


def seen(program: NamedProgram, data: Any) -> Any:
    return calibrated(program.module, data, None, skip_nonfinite=False)


def test_records_and_a_sample_in_one_pass(program: NamedProgram) -> None:
    data = rows(300)
    once = seen(program, ({"images": part} for part in np.array_split(data, 3)))
    assert once.calibration.digest() == qrt.quantization.calibrate_program(program.module, {"images": data}).digest()
    assert len(once.sample) == 256
    given = {row.tobytes() for row in data}
    assert all(row.tobytes() in given for batch in once.sample.batches() for row in batch["images"])


def test_any_split_and_order_keeps_one_sample(program: NamedProgram) -> None:
    data = rows(280)
    digests = set()
    threads = kernels.get_num_threads()
    try:
        for isa, shards in product((kernels.active(), "ref"), (1, 2, 7)):
            kernels.set_num_threads(2 if shards == 7 else 1)
            parts = np.array_split(np.random.default_rng(shards).permutation(data), shards)
            with kernels.use(isa):
                found = [seen(program, {"images": np.array_split(part, shards)}) for part in parts]
            total = found.pop()
            for other in found:
                total.calibration.merge(other.calibration)
                total.sample.merge(other.sample)
            digests.add((total.calibration.digest(), total.sample.digest()))
    finally:
        kernels.set_num_threads(threads)
    assert len(digests) == 1


def test_a_program_that_fixes_its_rows_keeps_its_runs() -> None:
    text = "func.func @f(%x: tensor<2x4xf32>) -> tensor<2x4xf32> { %0 = math.tanh %x : tensor<2x4xf32>  "
    module = ir.parse(f"{text}return %0 : tensor<2x4xf32> }}")
    found = seen(named(module, find("qrt-cpu")), {"arg0": rows(8)[:, :4]})
    assert [batch["arg0"].shape for batch in found.sample.batches()] == [(2, 4)] * 4

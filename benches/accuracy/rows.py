"""The rows of a network, measured by several processes."""

from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import cache
from multiprocessing import get_context
from tempfile import TemporaryDirectory

from benches.accuracy.assignments import assignments
from benches.accuracy.data import kept
from benches.accuracy.measure import BUDGET, Case, Row, measured
from qrt.quantization.calibration.records import RECORD_METHODS, RecordMethod
from qrt.quantization.tuning.optional_passes import OPTIONAL_PASSES, Wanted

TARGETS = ("qrt-cpu", "int4-weights")


@cache
def kept_case(name: str) -> Case:
    """A network that was trained before, in a process of its own."""
    return Case.of(name, *kept(name))


def row_of(name: str, folder: str, target: str, method: RecordMethod, passes: Wanted, budget: str | None) -> Row:
    """A row. The data of a target is seen once: a checkpoint in the folder keeps the records."""
    row = measured(kept_case(name), target, method, passes, budget, checkpoint=f"{folder}/{target}")
    print(f"{name}: {row}", flush=True)
    return row


def rows_of(case: Case, jobs: int) -> list[Row]:
    """Each method with the passes that gain, and with the default method each pass alone, and none."""
    asked: list[tuple[str, RecordMethod, Wanted, str | None]] = []
    for target in TARGETS:
        asked += [(target, method, "auto", None) for method in RECORD_METHODS]
        asked += [(target, "mse", passes, None) for passes in ((), *((name,) for name in OPTIONAL_PASSES))]
    if case.name == "digits":
        asked.append(("qrt-cpu", "mse", "auto", BUDGET))
    with TemporaryDirectory() as folder, ProcessPoolExecutor(jobs, get_context("spawn")) as workers:
        found = [workers.submit(row_of, case.name, folder, *each) for each in asked]
        rows = [each.result() for each in found]
    if case.name == "digits":
        rows += assignments(case, Fraction(BUDGET.partition("=")[2]))
    return rows

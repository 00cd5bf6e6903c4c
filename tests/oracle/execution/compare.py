"""mlir-runner and qrt on the same cases: the same bits, or a difference that is explained by name."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from qrt.errors import QuantError
from tests.oracle.execution import driver, ours
from tests.oracle.execution.case import Case
from tests.oracle.execution.differences import explanation
from tests.oracle.execution.distance import distance
from tests.oracle.execution.ours import Refusal, Results
from tests.oracle.execution.values import Value, is_float, number

EXECUTIONS: Counter[str] = Counter()
"""Calls that both executed, by kind. Printed at the end of the run, as all that follows."""
OPS: Counter[str] = Counter()
"""Ops of the functions that both executed."""
UNDEFINED: Counter[str] = Counter()
"""Calls that an op leaves undefined, by kind: qrt refuses them, and they are not executed."""
EXPLAINED: Counter[str] = Counter()
UNEXPLAINED: Counter[str] = Counter()
_BATCH = 100


def disagreements(cases: Sequence[Case]) -> list[str]:
    """Reports of what the two disagree on without an explanation."""
    reports: list[str] = []
    for first in range(0, len(cases), _BATCH):
        batch = cases[first : first + _BATCH]
        results = [_ours(case, reports) for case in batch]
        defined = [_defined(case, found) for case, found in zip(batch, results, strict=True)]
        for case, found, outcome in zip(defined, results, driver.execute(defined), strict=True):
            _compare(case, [values for values in found if isinstance(values, list)], outcome, reports)
    UNEXPLAINED["unexplained"] += len(reports)
    return reports


def _ours(case: Case, reports: list[str]) -> list[Results]:
    """qrt's results of each call. Reported: a program it does not compile, a plan that differs from the interpreter, a
    call that it refuses without cause or does not refuse."""
    try:
        compiled = ours.program(case.text)
        meant = ours.program(case.meant) if case.meant else compiled
    except QuantError as error:
        reports.append(f"{case.text}\n  qrt: {error}")
        return [Refusal.of(error)] * len(case.calls)
    results: list[Results] = []
    for i, call in enumerate(case.calls):
        plain = ours.run(case, compiled, call, interpret=True)
        others = [ours.run(case, compiled, call, interpret=False)]
        if case.meant and isinstance(plain, list):
            others.append(ours.run(case, meant, call, interpret=False))
        expected = isinstance(plain, list) if case.defined is None else case.defined[i]
        if isinstance(plain, list) is not expected or not all(_same(plain, other) for other in others):
            said = "" if case.defined is None else f"upstream {'defines' if expected else 'does not define'} it\n  "
            told = "\n  ".join(map(_told, [plain, *others]))
            reports.append(f"{case.text}\n  {_shown(call)}\n  {said}interpreted, then planned:\n  {told}")
        UNDEFINED[case.kind] += isinstance(plain, Refusal)
        results.append(plain)
    return results


def _same(plain: Results, other: Results) -> bool:
    if isinstance(plain, Refusal):
        return plain.is_undefined and isinstance(other, Refusal) and other.is_undefined
    return isinstance(other, list) and distance(plain, other) == 0


def _defined(case: Case, results: list[Results]) -> Case:
    """The case with the calls that have results."""
    return replace(case, calls=[call for call, r in zip(case.calls, results, strict=True) if isinstance(r, list)])


def _compare(case: Case, mine: list[list[Value]], outcome: driver.Outcome, reports: list[str]) -> None:
    if isinstance(outcome, str):
        if case.calls:
            reports.append(f"{case.text}\n  mlir-runner: {outcome[:2000]}")
        return
    EXECUTIONS[case.kind] += len(case.calls)
    OPS.update(case.ops)
    for call, our, their in zip(case.calls, mine, outcome, strict=True):
        if distance(our, their) <= case.ulps:
            continue
        if name := explanation(case, call, their):
            EXPLAINED[name] += 1
        else:
            reports.append(
                f"{case.text}\n  {_shown(call)}\n  qrt:         {_shown(our)}\n  mlir-runner: {_shown(their)}"
            )


def _told(results: Results) -> str:
    return results.error if isinstance(results, Refusal) else _shown(results)


def _shown(values: Sequence[Value]) -> str:
    def element(bits: int, of: str) -> str:
        return f"{number(bits, of)!r} (0x{bits:X})" if is_float(of) else f"0x{bits:X}"

    return "; ".join(
        f"{value.element}{list(value.shape) if value.shape else ''} "
        + " ".join(element(bits, value.element) for bits in value.bits)
        for value in values
    )

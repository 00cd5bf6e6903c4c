"""The search for bit widths under a budget (docs/reference/bits.md)."""

import hashlib
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from os import PathLike

from qrt.errors import QuantTypeError
from qrt.quantization.calibration.records import Record, RecordMethod, write_records
from qrt.quantization.comparison.measure import Reference
from qrt.quantization.propagation.ranges import ranges_kept
from qrt.quantization.search.bits import WidthChoice, with_widths
from qrt.quantization.search.budget import Budget, Metric, name_of
from qrt.quantization.search.goals import goal_of
from qrt.quantization.search.journal import Journal, opened
from qrt.quantization.search.runner import Runner
from qrt.quantization.search.trial_runs import TrialResult, Trials
from qrt.quantization.search.width_candidates import Search
from qrt.quantization.steps import NamedProgram, Trial, quantized
from qrt.quantization.targets.model import Target
from qrt.quantization.tuning.calibrate import Progress
from qrt.quantization.tuning.optional_passes import Wanted


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What a search has found.

    Attributes
    ----------
    named : NamedProgram
        The program with the widths, as ``!quant.any`` at its ports.
    trial : Trial
        The same, quantized, with the biases that the passes give it.
    reached : bool
        Whether it is within the budget. If not, it is the nearest that was found.
    said : str
        One line that says what was reached.
    choices : tuple of WidthChoice
        The ports whose width was searched.
    best : TrialResult
        The widths and figures of the program.
    trials : tuple of TrialResult
        All that were run, in order.
    """

    named: NamedProgram
    trial: Trial
    reached: bool
    said: str
    choices: tuple[WidthChoice, ...]
    best: TrialResult
    trials: tuple[TrialResult, ...]


def searched(
    named: NamedProgram,
    target: Target,
    records: Mapping[str, Record],
    method: RecordMethod,
    reference: Reference,
    budget: str | Budget,
    metric: Metric | None = None,
    journal: str | PathLike[str] | None = None,
    progress: Progress | None = None,
    passes: Wanted = (),
) -> SearchResult:
    """Chooses bit widths under a budget. The program is not changed.

    Parameters
    ----------
    named : NamedProgram
        The float program in regions.
    target : Target
        The device, which offers widths.
    records : mapping of str to Record
        The records of its values.
    method : str
        How ranges are chosen.
    reference : Reference
        Its outputs over a sample.
    budget : str or Budget
        ``size=0.6``, ``snr=33`` or ``drop=0.005``.
    metric : callable, optional
        The user's: of a compiled program, larger for better. It goes with ``size`` and ``drop``.
    journal : str or path, optional
        A file of trials, which is made or continued.
    progress : callable, optional
        A function that is told "search" and the number of the trial, before each.
    passes : "auto" or sequence of str, optional
        As for ``quantize_program``. With ``correct-bias`` among them each trial is measured after it.

    Returns
    -------
    SearchResult
        The best program that was found.

    Raises
    ------
    QuantTypeError
        If the budget is none.
    ModelError
        If the metric raises or returns no finite number, or the journal is of another search.
    """
    wanted = budget if isinstance(budget, Budget) else Budget.parse(budget)
    if metric is not None and wanted.kind == "snr":
        raise QuantTypeError("budget snr= is measured at the outputs: give size= or drop= with a metric")
    with ExitStack() as stack:
        stack.enter_context(ranges_kept())
        run = Runner(named, target, records, method, reference, metric, progress, passes)
        kept = None
        if journal is not None:
            subject = _subject(named, target, records, method, reference, wanted, metric, passes)
            kept = stack.enter_context(opened(journal, subject))
        of_float = _of_float(kept, run) if metric is not None and wanted.kind == "drop" else None
        goal = goal_of(wanted, run.choices, of_float, has_metric=metric is not None)
        trials = Trials(run.default, run, goal.key, kept)
        Search(run.choices, trials, goal).run()
    best = trials.best
    chosen = with_widths(named, run.choices, best.widths)
    trial, _ = run.corrected(quantized(chosen, target, records, method))
    every = tuple(trials.tried.values())
    return SearchResult(chosen, trial, goal.is_reached(best), goal.said(best), run.choices, best, every)


def _of_float(journal: Journal | None, run: Runner) -> float:
    """The metric of the float program, which a journal may have."""
    lines = [] if journal is None else [line for line in journal.lines if "of_float" in line]
    if lines:
        return float(lines[0]["of_float"])
    value = run.of_float()
    if journal is not None:
        journal.append({"of_float": value})
    return value


def _subject(
    named: NamedProgram,
    target: Target,
    records: Mapping[str, Record],
    method: RecordMethod,
    reference: Reference,
    budget: Budget,
    metric: Metric | None,
    passes: Wanted,
) -> dict[str, str]:
    """What a journal is about, as texts and digests."""
    data = hashlib.sha256(write_records(records).encode())
    for batch in reference.batches:
        for name, array in sorted(batch.items()):
            data.update(f"{name} {array.dtype} {array.shape} ".encode())
            data.update(array.tobytes())
    return {
        "program": hashlib.sha256(str(named.module).encode()).hexdigest(),
        "function": reference.function,
        "data": data.hexdigest(),
        "target": f"{target.name} {hashlib.sha256(_target_text(target).encode()).hexdigest()[:16]}",
        "method": method,
        "budget": f"{budget.kind}={budget.limit}",
        "metric": "none" if metric is None else name_of(metric),
        "passes": passes if isinstance(passes, str) else ",".join(passes),
    }


def _target_text(target: Target) -> str:
    """All that a target says; a function by its name."""
    parts: list[object] = [target.coarser_bias]
    for kernel in target.kernels:
        constraint = name_of(kernel.constraint) if callable(kernel.constraint) else kernel.constraint
        parts.append((kernel.name, kernel.inputs, kernel.outputs, constraint, kernel.constrained, kernel.multiplier))
        parts.append(sorted(kernel.default.items()))
    return repr(parts)

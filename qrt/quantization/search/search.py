"""The search for bit widths under a budget (docs/reference/bits.md)."""

import hashlib
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from os import PathLike

from qrt.errors import QuantTypeError
from qrt.quantization.calibration.records import Record, RecordMethod, write_records
from qrt.quantization.comparison.measure import Reference
from qrt.quantization.propagation.ranges import ranges_cached
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
    """The result of a search for bit widths.

    Attributes
    ----------
    named : NamedProgram
        The float program with the chosen widths, as ``!quant.any`` at operands and results of regions.
    trial : Trial
        The same program quantized, with the biases of the ``correct-bias`` pass if it ran.
    reached : bool
        True if the program is within the budget; False if no program is, and this one comes nearest.
    summary : str
        One line that compares the program with the budget.
    choices : tuple of WidthChoice
        The operands and results whose widths were searched.
    best : TrialResult
        The widths and the figures of the program.
    trials : tuple of TrialResult
        All trials, in order.
    """

    named: NamedProgram
    trial: Trial
    reached: bool
    summary: str
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
    """Search the bit widths of a program's weights and values under a budget. ``named`` is not changed.

    Parameters
    ----------
    named : NamedProgram
        The float program, in regions.
    target : Target
        The target, which offers widths.
    records : mapping of str to Record
        The records of the program's values.
    method : str
        The method that chooses ranges.
    reference : Reference
        The float program's outputs over a sample.
    budget : str or Budget
        The budget: ``size=0.6``, ``snr=33`` or ``drop=0.005``.
    metric : callable, optional
        Only with ``size`` or ``drop``: a function that takes a compiled program and returns its score, larger is
        better.
    journal : str or path, optional
        A file of trials, which is created or continued.
    progress : callable, optional
        A callback that gets "search", the number of the trial, and None, before each trial.
    passes : "auto" or sequence of str, optional
        The optional passes, as for ``quantize_program``. With ``correct-bias``, each trial is measured after that pass.

    Returns
    -------
    SearchResult
        The best program and all trials.

    Raises
    ------
    QuantTypeError
        If the budget cannot be parsed.
    ModelError
        If the metric raises an exception or returns no finite number, or the journal belongs to another search.
    """
    wanted = budget if isinstance(budget, Budget) else Budget.parse(budget)
    if metric is not None and wanted.kind == "snr":
        raise QuantTypeError(
            "'budget' must be size= or drop= if a metric is given: the kind snr is measured at the outputs"
        )
    with ExitStack() as stack:
        stack.enter_context(ranges_cached())
        run = Runner(named, target, records, method, reference, metric, progress, passes)
        trial_journal = None
        if journal is not None:
            subject = _subject(named, target, records, method, reference, wanted, metric, passes)
            trial_journal = stack.enter_context(opened(journal, subject))
        of_float = _of_float(trial_journal, run) if metric is not None and wanted.kind == "drop" else None
        goal = goal_of(wanted, run.choices, of_float, has_metric=metric is not None)
        trials = Trials(run.default, run, goal.key, trial_journal)
        Search(run.choices, trials, goal).run()
    best = trials.best
    chosen = with_widths(named, run.choices, best.widths)
    trial, _ = run.corrected(quantized(chosen, target, records, method))
    every = tuple(trials.tried.values())
    return SearchResult(chosen, trial, goal.is_reached(best), goal.summary(best), run.choices, best, every)


def _of_float(journal: Journal | None, run: Runner) -> float:
    """Return the metric of the float program: from the journal if it is there, else from a run."""
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
    """Return the texts and digests that identify a search in its journal."""
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
    """Return a text that identifies the kernels of a target, for a search's journal.

    A constraint that is a Python function is written as the function's name.
    """
    parts: list[object] = [target.coarser_bias]
    for kernel in target.kernels:
        constraint = [name_of(part) if callable(part) else part for part in kernel.constraints]
        parts.append((kernel.name, kernel.inputs, kernel.outputs, constraint, kernel.constrained, kernel.multiplier))
        parts.append(sorted(kernel.default.items()))
    return repr(parts)

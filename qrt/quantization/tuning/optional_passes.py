"""The choice of those optional passes that reduce the error at the outputs (docs/reference/passes_optional.md)."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, get_args

from qrt.errors import Diagnostic, QuantError, QuantTypeError, shown
from qrt.ir import ArrayAttr, Module, StringAttr
from qrt.ir.core.operations import garbage_uncollected
from qrt.ir.remarks import remarks_to
from qrt.ir.rewriting.rewrite import replace
from qrt.quantization.annotations.attach_stats_ref import attach_keys
from qrt.quantization.annotations.region_metadata import PASSES
from qrt.quantization.calibration.observe import calibrate_program
from qrt.quantization.calibration.records import Record, RecordMethod
from qrt.quantization.checking.regions import REGION, operations_of
from qrt.quantization.comparison.measure import Noise, Reference
from qrt.quantization.scaling.equalize_scales import equalized
from qrt.quantization.scaling.fold_scales import folded
from qrt.quantization.steps import NamedProgram, Trial, copied, exported, quantized
from qrt.quantization.targets.model import Target
from qrt.quantization.tuning.bias_correction import corrected
from qrt.runtime.compilation import compile
from qrt.tensor.arrays import as_array

OptionalPass = Literal["fold-scales", "equalize-scales", "correct-bias"]
OPTIONAL_PASSES: Final[tuple[OptionalPass, ...]] = get_args(OptionalPass)
"""The passes in the order in which they are tried."""
Wanted = Literal["auto"] | Sequence[str]
"""The passes to run: ``"auto"`` for those that reduce the error, or names of passes to run in any case."""

Records = Mapping[str, Record]


def improved(
    program: NamedProgram,
    target: Target,
    records: Records,
    method: RecordMethod,
    reference: Reference,
    wanted: Wanted = "auto",
) -> tuple[NamedProgram, dict[str, Record]]:
    """Apply ``fold-scales`` and ``equalize-scales`` to a float program; return the new program and its records.

    By default, a pass is applied only if it reduces the quantized program's error at the outputs, measured on the
    sample. The returned program has a remark with the gain or loss of each pass. Values that ``equalize-scales``
    multiplied get records from a run on the sample. All other values keep their records.
    """
    on = chosen(wanted)
    latest_records = dict(records)
    before: Noise | None = None
    for name in OPTIONAL_PASSES[:2]:
        if name not in on:
            continue
        changed = _changed(program, target, name)
        if changed is None:
            if wanted != "auto":
                program = _with_remark(program, f"{name} is off: there is nothing that it changes")
            continue
        if name == "equalize-scales" and not _computes_the_same(changed.module, program.module, reference):
            program = _with_remark(program, f"{name} is off: a value between leaves the normal numbers of its type")
            continue
        before = before or _noise(program, target, latest_records, method, reference)
        new_records = latest_records | _records_of_new_keys(changed.module, latest_records, reference)
        try:
            after = _noise(changed, target, new_records, method, reference)
        except QuantError as error:
            program = _with_remark(program, _refusal(name, error, wanted))
            continue
        is_on = after.cost < before.cost or wanted != "auto"
        remark = _remark(name, before, after, is_on=is_on)
        if is_on:
            program, latest_records, before = changed, new_records, after
        program = NamedProgram(program.module, (*program.remarks, remark))
    return program, latest_records


def with_corrected_bias(trial: Trial, target: Target, reference: Reference, wanted: Wanted = "auto") -> Trial:
    """Apply ``correct-bias`` to a quantized program if this reduces the error at its outputs over the sample.

    If ``wanted`` names the pass, it is applied even without a gain. The new trial has a remark with the gain or loss.
    Its regions have the new biases, so they no longer compute the values of the float program.
    """
    return corrected_and_measured(trial, target, reference, wanted)[0]


def corrected_and_measured(
    trial: Trial, target: Target, reference: Reference, wanted: Wanted = "auto"
) -> tuple[Trial, Noise | None]:
    """Return the result of ``with_corrected_bias``, and its error at the outputs, or None if this was not measured."""
    name = OPTIONAL_PASSES[2]
    if name not in chosen(wanted):
        return trial, None
    with garbage_uncollected():
        regions = corrected(trial.regions, target, reference.function, reference.batches)
    if regions is None:
        return trial, None
    try:
        new = exported(regions, target, ())
    except QuantError as error:
        remark = Diagnostic("remark", _refusal(name, error, wanted))
        return Trial(trial.regions, trial.module, (*trial.remarks, remark)), None
    before, after = reference.noise(trial.module), reference.noise(new.module)
    is_on = after.cost < before.cost or wanted != "auto"
    final, noise = (new, after) if is_on else (trial, before)
    return Trial(final.regions, final.module, (*trial.remarks, _remark(name, before, after, is_on=is_on))), noise


def chosen(wanted: Wanted) -> Sequence[str]:
    """Return the names of the passes to try. Raise QuantTypeError for an unknown name."""
    if isinstance(wanted, str) and wanted == "auto":
        return OPTIONAL_PASSES
    if isinstance(wanted, str) or not isinstance(wanted, Sequence):
        raise QuantTypeError(f"passes must be 'auto' or a sequence of names, got {shown(wanted)}")
    for name in wanted:
        if not isinstance(name, str) or name not in OPTIONAL_PASSES:
            raise QuantTypeError(f"passes must be among {', '.join(OPTIONAL_PASSES)}, got {shown(name)}")
    return wanted


def changed_as(program: NamedProgram, target: Target, quantized: Module) -> NamedProgram:
    """Apply to a float program the optional passes that ran on it before ``quantized`` was made from it.

    An attribute of ``quantized`` lists these passes. They depend only on the program's constants, and therefore give
    the same result. Values then have the keys that they have in ``quantized``.
    """
    for name in passes_of(quantized):
        program = _changed(program, target, name) or program
    return program


def passes_of(module: Module) -> list[str]:
    """Return the names of the optional passes that changed the float program, from an attribute of the module."""
    attribute = module.operation.attributes.get(PASSES)
    names = (
        [element.value for element in attribute.elements if isinstance(element, StringAttr)]
        if isinstance(attribute, ArrayAttr)
        else []
    )
    return [name for name in names if name in OPTIONAL_PASSES[:2]]


def _changed(program: NamedProgram, target: Target, name: str) -> NamedProgram | None:
    """Return a program after the pass ``name``; None if the pass changes nothing."""
    copy = copied(program.module)
    remarks: list[Diagnostic] = []
    with garbage_uncollected(), remarks_to(remarks.append):
        is_changed = folded(copy, target) if name == "fold-scales" else equalized(copy)
        attach_keys(copy)
    if not is_changed:
        return None
    copy.operation.attributes[PASSES] = ArrayAttr(tuple(map(StringAttr, (*passes_of(program.module), name))))
    gone = _places(program.module) - _places(copy)
    earlier = [remark for remark in program.remarks if id(remark.location) not in gone]
    return NamedProgram(copy, (*earlier, *remarks))


def _places(module: Module) -> set[int]:
    """Return the ids of the locations of operations outside of regions, to find remarks on folded ones."""
    return {
        id(op.location) for op in operations_of(module) if op.name not in (REGION, "quant.stats_ref", "arith.constant")
    }


def _noise(
    program: NamedProgram, target: Target, records: Records, method: RecordMethod, reference: Reference
) -> Noise:
    return reference.noise(quantized(program, target, records, method).module)


def _computes_the_same(one: Module, other: Module, reference: Reference) -> bool:
    """Return True if two programs have bit-identical outputs on the sample."""
    programs = [compile(module, reference.function) for module in (one, other)]
    for batch in reference.batches:
        outputs = [[as_array(value).tobytes() for value in program.run(batch).values()] for program in programs]
        if outputs[0] != outputs[1]:
            return False
    return True


def _records_of_new_keys(module: Module, records: Records, reference: Reference) -> dict[str, Record]:
    """Return records for the values whose keys are not in ``records``, from a run on the sample."""
    copy = copied(module)
    named = [op for op in copy.operation.walk() if op.name == "quant.stats_ref"]
    new = [op for op in named if op.attribute("statsKey", StringAttr).value not in records]
    if not new:
        return {}
    for operation in named:
        if operation not in new:
            replace(operation, operation.operands)
    calibration = calibrate_program(copy, reference.batches, reference.function, skip_nonfinite=True)
    return calibration.records


def _refusal(name: str, error: QuantError, wanted: Wanted) -> str:
    """Return a remark that a pass is off because quantization fails after it.

    If the user asked for the pass, the error is raised instead.
    """
    if wanted != "auto":
        raise error
    return f"{name} is off: {str(error).splitlines()[0]}"


def _with_remark(program: NamedProgram, message: str) -> NamedProgram:
    return NamedProgram(program.module, (*program.remarks, Diagnostic("remark", message)))


def _remark(name: str, before: Noise, after: Noise, *, is_on: bool) -> Diagnostic:
    gain = f"signal-to-noise at the outputs over the sample: {before.snr:.2f} dB without it, {after.snr:.2f} dB with it"
    return Diagnostic("remark", f"{name} is {'on' if is_on else 'off'}: {gain}")

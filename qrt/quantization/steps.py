"""The steps of a quantization: fuse a float program into regions, choose the types, check and export the result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from qrt.errors import Diagnostic, VerifyError
from qrt.ir import Module, StringAttr
from qrt.ir.core.operations import garbage_uncollected
from qrt.ir.passes.dce import DeadCodeElimination
from qrt.ir.remarks import remarks_to
from qrt.quantization.annotations.attach_stats_ref import AttachStatsRef, attach_keys
from qrt.quantization.annotations.region_metadata import TARGET
from qrt.quantization.calibration.records import Record, RecordMethod
from qrt.quantization.checking.regions import shown
from qrt.quantization.export.export_quant import ExportQuant
from qrt.quantization.fusion.fuse_kernels import STAYS_FLOAT, FuseKernels
from qrt.quantization.propagation.propagate_quant import Settings, propagate
from qrt.quantization.targets.model import Target
from qrt.quantization.verification.check_quant import CheckQuant, float_ports

Remarks = tuple[Diagnostic, ...]


@dataclass(frozen=True, eq=False)
class NamedProgram:
    """A float program whose operations are wrapped in ``quant.region``s, with record keys on values of unknown range.

    Callers run passes on copies of ``module``, not on the module itself. ``remarks`` are the remarks of the passes that
    fused the program.
    """

    module: Module
    remarks: Remarks


@dataclass(frozen=True, eq=False)
class Trial:
    """A quantized program before and after export.

    In ``regions``, all operands and results of regions have types, but values are still floats. ``module`` is the
    exported program, in operations of the dialect ``qrt``. ``remarks`` are those of all passes from the choice of types
    to the export.
    """

    regions: Module
    module: Module
    remarks: Remarks


def copied(module: Module) -> Module:
    """Return a deep copy of a module."""
    return Module(module.operation.clone({}), module.upstream)


def named(module: Module, target: Target) -> NamedProgram:
    """Return a copy of a float program in which operations are fused into regions for the target's kernels.

    Each value of unknown range gets a `quant.stats_ref`, whose key identifies the record of the value.
    """
    copy = copied(module)
    copy.verify()
    remarks: list[Diagnostic] = []
    with garbage_uncollected(), remarks_to(remarks.append):
        FuseKernels(target=target.name).run(copy)
        AttachStatsRef().run(copy)
        attach_keys(copy)
    return NamedProgram(copy, tuple(remarks))


def quantized(program: NamedProgram, target: Target, records: Mapping[str, Record], method: RecordMethod) -> Trial:
    """Choose the types of a copy of a program from calibration records, check the result and export it."""
    regions = copied(program.module)
    remarks: list[Diagnostic] = []
    with garbage_uncollected(), remarks_to(remarks.append):
        propagate(regions, target, Settings(dict(records), method, origins=True))
    return exported(regions, target, tuple(remarks))


def exported(regions: Module, target: Target, earlier: Remarks) -> Trial:
    """Check and export a program whose regions all have types, and return the program before and after export.

    ``earlier`` are the remarks of the passes that have run before.
    """
    remarks = [*earlier]
    with garbage_uncollected(), remarks_to(remarks.append):
        CheckQuant(target=target.name).run(regions)
        module = copied(regions)
        ExportQuant(target=target.name).run(module)
        DeadCodeElimination().run(module)  # removes float weights that the optional passes replaced
        module.operation.attributes[TARGET] = StringAttr(target.name)
    return Trial(regions, module, tuple(remarks))


def check_full(program: NamedProgram, trial: Trial, target: Target) -> None:
    """Raise VerifyError if an operation stays float, or if a port stays float although the target can quantize it.

    The error lists each operation without a kernel, and each such port.
    """
    errors = [
        VerifyError(remark.message, remark.location)
        for remark in program.remarks
        if remark.location is not None and STAYS_FLOAT in remark.message
    ]
    for port in float_ports(trial.regions, target):
        errors.append(port.region.op_error(f"({port.region.kernel}): {port} is {shown(port.spec)}, and stays float"))
    if errors:
        raise all_of(errors)


def all_of(errors: Sequence[VerifyError]) -> VerifyError:
    """Combine several errors into one error, which has the message of the first and a diagnostic for each."""
    notes = tuple(Diagnostic("note", violation.message, violation.location) for violation in errors[1:])
    error = VerifyError(errors[0].message, errors[0].location, notes)
    error.diagnostics = tuple(Diagnostic("error", violation.message, violation.location) for violation in errors)
    return error

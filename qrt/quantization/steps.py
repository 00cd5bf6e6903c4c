"""The steps of a quantization, as all parts of the workflow use them: a named float program, and what becomes of it."""

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
from qrt.quantization.checking.check_quant import CheckQuant, float_ports
from qrt.quantization.checking.regions import shown
from qrt.quantization.export.export_quant import ExportQuant
from qrt.quantization.fusion.fuse_kernels import STAYS_FLOAT, FuseKernels
from qrt.quantization.propagation.propagate_quant import Settings, propagate
from qrt.quantization.targets.model import Target

Remarks = tuple[Diagnostic, ...]


@dataclass(frozen=True, eq=False)
class NamedProgram:
    """A float program in regions, whose values have the names that records have. It is not changed.

    ``remarks`` is what the passes said of it.
    """

    module: Module
    remarks: Remarks


@dataclass(frozen=True, eq=False)
class Trial:
    """A quantized program: in regions whose ports have types, which computes floats (``regions``), and as ops of qrt
    (``module``). ``remarks`` is what the passes said."""

    regions: Module
    module: Module
    remarks: Remarks


def copied(module: Module) -> Module:
    """A copy, for passes to work on."""
    return Module(module.operation.clone({}), module.upstream)


def named(module: Module, target: Target) -> NamedProgram:
    """A copy of a float program in regions, with a key on each value whose range is open."""
    copy = copied(module)
    copy.verify()
    remarks: list[Diagnostic] = []
    with garbage_uncollected(), remarks_to(remarks.append):
        FuseKernels(target=target.name).run(copy)
        AttachStatsRef().run(copy)
        attach_keys(copy)
    return NamedProgram(copy, tuple(remarks))


def quantized(program: NamedProgram, target: Target, records: Mapping[str, Record], method: RecordMethod) -> Trial:
    """Types for all ports, checked, and the export."""
    regions = copied(program.module)
    remarks: list[Diagnostic] = []
    with garbage_uncollected(), remarks_to(remarks.append):
        propagate(regions, target, Settings(dict(records), method, origins=True))
    return exported(regions, target, tuple(remarks))


def exported(regions: Module, target: Target, said: Remarks) -> Trial:
    """The check and the export of a program whose ports all have types. ``said`` is what passes have said of it."""
    remarks = [*said]
    with garbage_uncollected(), remarks_to(remarks.append):
        CheckQuant(target=target.name).run(regions)
        module = copied(regions)
        ExportQuant(target=target.name).run(module)
        DeadCodeElimination().run(module)  # float weights of which the optional passes have made others
        module.operation.attributes[TARGET] = StringAttr(target.name)
    return Trial(regions, module, tuple(remarks))


def check_full(program: NamedProgram, trial: Trial, target: Target) -> None:
    """Raises VerifyError where something stays float: it names each operation without a kernel, and each port that the
    target can quantize."""
    found = [
        VerifyError(each.message, each.location)
        for each in program.remarks
        if each.location is not None and STAYS_FLOAT in each.message
    ]
    for port in float_ports(trial.regions, target):
        found.append(port.region.op_error(f"({port.region.kernel}): {port} is {shown(port.spec)}, and stays float"))
    if found:
        raise all_of(found)


def all_of(found: Sequence[VerifyError]) -> VerifyError:
    """One error that names several places."""
    notes = tuple(Diagnostic("note", each.message, each.location) for each in found[1:])
    error = VerifyError(found[0].message, found[0].location, notes)
    error.diagnostics = tuple(Diagnostic("error", each.message, each.location) for each in found)
    return error

"""The pass `propagate-quant`, which chooses the types of all operands and results of regions."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from qrt.errors import ModelError, QuantTypeError, shown
from qrt.files import read_text
from qrt.ir import Module, StringAttr
from qrt.ir.dialects.quant.element_types import express
from qrt.ir.passes.options import option
from qrt.quantization.annotations.convert_fake_quant import ConvertFakeQuant
from qrt.quantization.annotations.convert_stats import moved_stats, remark_left
from qrt.quantization.calibration.records import RECORD_METHODS, Record, RecordMethod, read_records
from qrt.quantization.propagation.classes import Classes, remark_uncoupled
from qrt.quantization.propagation.decide import Decider
from qrt.quantization.propagation.functions import FUNCTIONS, Functions, separate
from qrt.quantization.propagation.graph import build
from qrt.quantization.propagation.ranges import Ranges, attach, ranges_cached
from qrt.quantization.propagation.rescale import Rescaler, write_specs
from qrt.quantization.propagation.rescale_causes import RescaleCauses
from qrt.quantization.propagation.select import UNDECIDED, Undecided, select
from qrt.quantization.propagation.type_origins import write_origins
from qrt.quantization.targets.model import Target
from qrt.quantization.targets.registry import find


@dataclass(frozen=True)
class PropagateQuant:
    """Gives every operand and result of every quant.region a type, so that the constraints of a target's kernels hold.

    Inserts a rescale where a value is defined with one type and used with another; the attribute `quant.cause` of the
    rescale tells why. A region for which no type can be chosen stays float, with a remark that names the missing
    annotation.
    """

    target: str = option("qrt-cpu", "the target, as a name or the path of a .toml file")
    records: str = option("", "a file with records of the values that quant.stats_ref names")
    method: str = option("minmax", "the method that chooses ranges from records and constants", RECORD_METHODS)
    functions: str = option("inline", "how to replace calls of functions that have regions", FUNCTIONS)
    max_widening: int = option(0, "the greatest factor by which joining an edge may widen a range; 0: the target's")
    undecided: str = option("float", "whether a region that nobody decides stays float or is an error", UNDECIDED)

    def __post_init__(self) -> None:
        for name, choices in (("method", RECORD_METHODS), ("functions", FUNCTIONS), ("undecided", UNDECIDED)):
            if getattr(self, name) not in choices:
                raise QuantTypeError(f"{name} must be one of {', '.join(choices)}, got {getattr(self, name)!r}")
        if self.max_widening < 0:
            raise QuantTypeError(f"max-widening must be at least 1, or 0 for the target's, got {self.max_widening}")

    def run(self, module: Module) -> None:
        records = read_records(read_text(self.records), self.records) if self.records else None
        if records is not None:
            _check_keys(module, records, self.records)
        settings = Settings(
            records,
            cast(RecordMethod, self.method),
            cast(Functions, self.functions),
            self.max_widening,
            undecided=cast(Undecided, self.undecided),
        )
        propagate(module, find(self.target), settings)


@dataclass(frozen=True)
class Outcome:
    """Counts of one run of the pass: the visits of regions, the upper bound of visits, and the inserted rescales."""

    visits: int
    bound: int
    rescales: int


@dataclass(frozen=True)
class Settings:
    """The options of a propagation.

    ``max_widening`` limits the effect of giving two ports one type: it is the greatest factor by which the range of
    either may widen. 0 stands for the target's default, ``2 ** rescale_cost``. With ``origins``, each region gets an
    attribute that tells what each of its types was chosen from.
    """

    records: dict[str, Record] | None = None
    method: RecordMethod = "minmax"
    functions: Functions = "inline"
    max_widening: int = 0
    origins: bool = False
    undecided: Undecided = "float"


def propagate(
    module: Module, target: Target, settings: Settings | None = None, *, order: Sequence[int] | None = None
) -> Outcome:
    """Choose the types of a module's regions for a target, and insert rescales; the module is changed in place.

    ``order`` lists numbers of regions that are visited first, for tests: it does not affect the result.
    """
    settings = settings or Settings()
    clones = separate(module, settings.functions)  # each call may have annotations of its own
    left = moved_stats(module)
    ConvertFakeQuant().run(module)
    express(module, keeps_ranges=True)
    graph = build(module)
    read = set(graph.references)
    remark_left(statistics for statistics in left if statistics not in read)
    select(graph, target, settings.undecided)
    ranges = Ranges(settings.method)
    with ranges_cached():  # copies of a function's body have the same keys and constants
        widening = Fraction(settings.max_widening or target.max_widening)
        Classes(graph, attach(graph, settings.records), ranges, widening)
        decider = Decider(graph, target, ranges, order, settings.undecided)
        decider.run()
    if settings.origins:
        write_origins(graph, decider, settings.records or {}, settings.method)
    remark_uncoupled(graph)
    for reference in graph.references:
        reference.results[0].replace_all_uses(reference.operands[0])
        reference.erase()
    write_specs(graph.regions)
    rescales = Rescaler(graph, RescaleCauses(graph, target)).run()
    clones.merge(module)
    return Outcome(decider.visits, decider.bound, rescales)


def _check_keys(module: Module, records: dict[str, Record], name: str) -> None:
    """Raise ModelError if none of the records has the key of a value in the program.

    ``name`` is the name of the file of records.
    """
    references = (op for op in module.operation.walk() if op.name == "quant.stats_ref")
    keys = [op.attribute("statsKey", StringAttr).value for op in references]
    if not any(key in records for key in keys):
        known = f"are {shown(keys[0])}, ..." if keys else "are none"
        given = f"the keys of its records are {shown(min(records, default=''))}, ..."
        raise ModelError(f"{name}: the records must be of this program, but {given}, and those of the program {known}")

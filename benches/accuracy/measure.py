"""Measures of a quantized network: accuracy, answers and signal-to-noise ratio on data that is held out."""

from collections.abc import Sequence
from dataclasses import dataclass

import qrt
from benches.accuracy.data import Array, Split
from benches.accuracy.programs import inputs, program
from qrt.quantization.calibration.records import RecordMethod

BUDGET = "size=0.8"
"""Of the weights' bytes, on digits."""
WITHOUT_FLOATS = frozenset({"builtin.module", "func.func", "func.return", "arith.constant", "quant.scast"})


@dataclass(frozen=True)
class Case:
    """A trained network with its data and the logits of its float program."""

    name: str
    split: Split
    module: qrt.ir.Module
    logits: Array

    @classmethod
    def of(cls, name: str, split: Split, constants: dict[str, Array]) -> "Case":
        module = qrt.ir.parse(program(name, constants), f"{name}.mlir")
        return cls(name, split, module, qrt.compile(module).run(inputs(name, split.test))["logits"])

    @property
    def right(self) -> int:
        """Return the number of right answers."""
        return int((self.logits.argmax(axis=1) == self.split.test_labels).sum())

    @property
    def calibration(self) -> dict[str, Array]:
        """Training data by the names of inputs."""
        return inputs(self.name, self.split.train)


@dataclass(frozen=True)
class Row:
    """Comparison of a quantized network with floats: `same` counts equal answers, and `lost` right answers."""

    target: str
    method: str
    passes: str
    same: int
    lost: int
    count: int
    snr: float

    @property
    def points(self) -> float:
        """Percent of the answers that were lost."""
        return 100 * self.lost / self.count


def compared(case: Case, target: str, method: str, passes: str, logits: Array) -> Row:
    answers = logits.argmax(axis=1)
    same = int((answers == case.logits.argmax(axis=1)).sum())
    lost = case.right - int((answers == case.split.test_labels).sum())
    return Row(target, method, passes, same, lost, len(answers), float(qrt.metrics.snr(case.logits, logits)))


def measured(
    case: Case,
    target: str,
    method: RecordMethod = "mse",
    passes: str | Sequence[str] = "auto",
    budget: str | None = None,
    checkpoint: str | None = None,
) -> Row:
    """Quantizes on training data alone, and runs on what is held out. The program consists of kernels."""
    made = qrt.quantize_program(
        case.module, case.calibration, target, method, passes=passes, budget=budget, checkpoint=checkpoint
    )
    check_kernels(made)
    said = passes if isinstance(passes, str) else ", ".join(passes) or "none"
    said += f", `{budget}`" if budget else ""
    return compared(case, target, method, said, made.program.run(inputs(case.name, case.split.test))["logits"])


def check_kernels(made: "qrt.quantization.QuantizedProgram") -> None:
    """Raises ValueError unless every step is a kernel, and floats are cast at the border alone."""
    slow = [step for step in made.program.coverage() if step.engine != "kernel"]
    if slow:
        raise ValueError(f"{len(slow)} steps are no kernels: {slow[0]}")
    for operation in made.module.operation.walk():
        if operation.name == "quant.qcast":
            inside = operation.operands[0].operation is not None
        elif operation.name == "quant.dcast":
            inside = any(user.name != "func.return" for user in operation.results[0].users)
        else:
            inside = not operation.name.startswith("qrt.") and operation.name not in WITHOUT_FLOATS
        if inside:
            raise ValueError(f"{operation.name} computes or casts floats within the program")

"""The origins of types: texts in reports that tell what each type was chosen from.

| origin | the type was |
|---|---|
| `records main/x (mse)` | chosen from the calibration record `main/x` by the method `mse` |
| `values` | chosen from the elements of a constant |
| `annotation` | given by an annotation, or chosen from an annotated range |
| `target` | prescribed by the kernel, which may be a float type |
| `constraint` | derived by the kernel's constraint, or given larger scales for a bias |
| `float` | not chosen: the values stay float |
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from qrt.ir import ArrayAttr, StringAttr
from qrt.quantization.annotations.region_metadata import ORIGINS
from qrt.quantization.calibration.records import Record, RecordMethod
from qrt.quantization.propagation.decide import Decider, is_own_constant
from qrt.quantization.propagation.graph import Class, PropagationGraph, PropagationNode
from qrt.types import NoQuantizedType

_MOST_KEYS: Final = 2
"""The most keys of records that an origin lists."""


def write_origins(
    graph: PropagationGraph, decider: Decider, records: Mapping[str, Record], method: RecordMethod
) -> None:
    """Set an attribute of each region that lists, for each operand and result, what its type was chosen from."""
    origins = _Origins(decider, records, method)
    for region in graph.regions:
        texts = ["float" if node is None else origins.of(node) for node in region.nodes]
        region.operation.attributes[ORIGINS] = ArrayAttr(tuple(map(StringAttr, texts)))


@dataclass(frozen=True)
class _Origins:
    decider: Decider
    records: Mapping[str, Record]
    method: RecordMethod

    def of(self, node: PropagationNode) -> str:
        class_ = node.in_class
        if node.own is not None:
            return "constraint"
        if isinstance(node.type, NoQuantizedType) and not isinstance(node.spec, NoQuantizedType):
            return "float"
        if class_.given is not None:
            return "annotation" if any(other.spec is class_.given for other in class_.nodes) else "target"
        if self.decider.proposed.get(class_) is not class_.type:
            return "constraint"
        if is_own_constant(class_):
            return "values"
        return self._of_records(class_) or "annotation"

    def _of_records(self, class_: Class) -> str:
        groups = dict.fromkeys(node.group for node in class_.nodes if node.group is not None)
        keys = sorted({key for group in groups for key in group.keys if key in self.records})
        more = f" and {len(keys) - _MOST_KEYS} more" if len(keys) > _MOST_KEYS else ""
        return f"records {', '.join(keys[:_MOST_KEYS])}{more} ({self.method})" if keys else ""

"""docs/reference/targets_operations.md: the operations with a quantized form, and the reasons of the others.
`make expected` writes it.
"""

from qrt.ops import FAMILIES
from qrt.quantization.targets.declared import WITHOUT_REGIONS
from qrt.quantization.targets.registry import TARGETS, find
from tests.docs.documents import ROOT

PAGE = ROOT / "docs" / "reference" / "targets_operations.md"
_HEAD = """# Operations of targets

A [target](targets.md) describes the kernels of a device. The table [`[operations]`](targets.md#the-table-operations)
in the file of a target gives it a kernel for each operation of qrt that can be quantized. This page lists these
operations, for readers who write such a file. A second table lists all other operations, with the reason why they
cannot be quantized. The columns of the first table are:

| column | meaning |
|---|---|
| operation | the name of the operation in the dialect [`qrt`](dialects/qrt.md), and of the kernel |
| constraint | the [constraint](targets.md#constraints) between the types of the kernel's operands and results, unless \
the file gives the kernel another constraint |
| bits of operands | the widths of operands that the operation accepts |
| targets | the targets of qrt that have a kernel for the operation, apart from `weight-only`, whose only kernel is \
`float_matmul` |

"""
_WITHOUT = """Quantization makes a [region](dialects/quant.md#regions) for each float operation that a kernel can
compute. It makes none for these operations of qrt:
"""


def page() -> str:
    """The page as the declarations have it."""
    return _HEAD + _forms() + "\n" + _reasons()


def _forms() -> str:
    rows = ["| operation | constraint | bits of operands | targets |", "|---|---|---|---|"]
    own = [find(name) for name in TARGETS.own if name != "weight-only"]
    for name, family in FAMILIES.items():
        traits = family.traits
        if traits.constraint is None:
            continue
        lacking = [target.name for target in own if not target.signatures(name)]
        targets = "all but " + ", ".join(f"`{target}`" for target in lacking) if lacking else "all"
        bits = f"at most {traits.operand_bits}" if traits.operand_bits < 32 else "any"
        rows.append(f"| `{name}` | `{traits.constraint}` | {bits} | {targets} |")
    return "\n".join(rows) + "\n"


def _reasons() -> str:
    by_reason: dict[str, list[str]] = {}
    for name, reason in WITHOUT_REGIONS.items():
        by_reason.setdefault(reason, []).append(f"`{name}`")
    rows = [_WITHOUT, "| operations for which no region is made | reason |", "|---|---|"]
    rows += [f"| {', '.join(names)} | {reason} |" for reason, names in by_reason.items()]
    return "\n".join(rows) + "\n"

"""Writes README.md: conv2d.mlir lowered, stage by stage. `python -m examples.lowering.readme` from the root."""

import re
import textwrap
from pathlib import Path

from qrt.ir import parse, run_passes

FOLDER = Path(__file__).parent
SOURCE = FOLDER / "conv2d.mlir"
README = FOLDER / "README.md"

INTRODUCTION = """\
# A convolution, lowered

This command lowers the convolution of [conv2d.mlir](conv2d.mlir) to loops and integer arithmetic:

    qrt opt examples/lowering/conv2d.mlir --lower-qrt='to=loops zero-point=in-loop' --mlir-print-debuginfo

This page shows what the command prints, stage by stage, for readers who want to recognize or write such arithmetic. The
location of each operation names its stage. [Lowering](../../docs/lowering.md) derives the arithmetic.
`python -m examples.lowering.readme` writes this page.

This is the program:

"""

STAGES = {
    "accumulate": (
        "Accumulate",
        "The input is padded with its zero point, so that the padding stands for 0. Stored integers are extended to "
        "i32, by `extsi` if they are signed and by `extui` if not. Their products are summed. 18 products of at most "
        "131 * 128 stay below 2^31, so i32 holds the sum.",
    ),
    "zero-point": (
        "Zero points",
        "With `zero-point=in-loop` the zero points are subtracted before the product: 3 from the input, 128 from the "
        "weights.",
    ),
    "bias": (
        "Bias",
        "The bias has the scale 0.05 * 0.02 and the zero point 0, so it is added unchanged. The bounds of its type "
        "keep the sum below 2^31. Without these bounds the sum would continue in i64.",
    ),
    "requantize": (
        "Requantize",
        "The sum is multiplied by M = 0.05 * 0.02 / 0.1, written as M0 / 2^N with 31 bits in M0. The product has 64 "
        "bits. The rounding constant is half of 2^N. An i64 accumulator would need a 128-bit product, in two halves.",
    ),
    "output zero point": ("Output zero point", "The zero point of the result, -5, is added."),
    "clamp": ("Clamp", "The value is clamped to the bounds of i8. Then its low 8 bits are kept."),
}

AFTER = """\
## After the sum instead

With `zero-point=post-accumulation`, the default, the loop multiplies the stored integers without subtracting zero
points. The sum is then corrected, once for each result, by the sums of the windows and of the filters, and by the
number of products times both zero points. This is the correction, written with `linalg`:

"""


def lowered(options: str) -> str:
    """The text of the lowered program, with locations."""
    return run_passes(parse(SOURCE.read_text()), f"lower-qrt{{{options}}}").print(locations=True)


def stage(text: str, name: str) -> str:
    """The lines of a stage; a loop or a body is of the stage that stands where it closes."""
    lines, opened, chosen = text.splitlines(), list[int](), set[int]()
    for number, line in enumerate(lines):
        is_close, location = line.lstrip().startswith("}"), f'loc("{name}")'
        begin = opened.pop() if is_close and opened else number
        if location in line:
            chosen |= {begin, number}
            if lines[begin + 1 : number] and lines[begin + 1].lstrip().startswith("^"):
                chosen.add(begin + 1)
        if line.endswith("{"):
            opened.append(number)
    kept = [re.sub(r' loc\("[^"]*"\)$', "", lines[number]) for number in sorted(chosen)]
    return textwrap.dedent("\n".join(kept))


def readme() -> str:
    """The whole page."""
    parts = [INTRODUCTION, block(SOURCE.read_text().rstrip())]
    text = lowered("to=loops zero-point=in-loop")
    for name, (title, explanation) in STAGES.items():
        parts.append(f"\n## {title}\n\n{explanation}\n\n{block(stage(text, name))}")
    parts.append(f"\n{AFTER}{block(stage(lowered(''), 'zero-point'))}")
    return "".join(parts)


def block(code: str) -> str:
    return f"```\n{code}\n```\n"


if __name__ == "__main__":
    README.write_text(readme())

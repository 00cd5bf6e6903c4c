"""Every op drawn with all that its lowering depends on, and compared with everything that computes it.

QRT_ORACLE_SEED draws others. With QRT_REQUIRE_ORACLE seven times as many are drawn, and mlir-runner 22 executes some.
"""

import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice

import pytest

from tests import mlir_opt
from tests.ir.passes.lower_qrt.compare import COUNTS, DrawnProgram, compare
from tests.ir.passes.lower_qrt.draw_ops import SAMPLE
from tests.ir.passes.lower_qrt.draw_types import ANY, WIDE, WIDTHS, OpDraw
from tests.ir.passes.lower_qrt.upstream import case, stored
from tests.ops.harness import Array
from tests.oracle.execution.driver import execute

SEED = os.environ.get("QRT_ORACLE_SEED", "1")
IS_FULL = bool(os.environ.get("QRT_REQUIRE_ORACLE"))
ANY_WIDTH = WIDTHS + WIDE
EVERY_WIDTH = range(1, 33)
WILD = 40
"""Programs of each op whose scales are drawn from all that their types allow, refused ones among them."""
UPSTREAM_WIDTHS = (8, 8, 8, 8, 16, 16, 32)
BIASED = ("matmul", "conv2d", "depthwise_conv2d")
REFUSED = "refused"
_BATCH = 50
_SHOWN = 3


def programs(
    name: str, kind: str = "", widths: Sequence[int] = ANY_WIDTH, multiplier: str = ""
) -> Iterator[tuple[str, DrawnProgram]]:
    """Without end, each with the seed that draws it."""
    for number in count():
        seed = f"{name} {number} {kind}{SEED}"
        yield seed, DrawnProgram.of(OpDraw(seed, widths, multiplier), name)


def for_upstream(
    kind: str, widths: Sequence[int], allowed: Callable[[DrawnProgram], bool]
) -> Iterator[tuple[DrawnProgram, Array]]:
    """Programs of every op, and their results; a few without QRT_REQUIRE_ORACLE."""
    for name, size in SAMPLE.items():
        drawn = (program for _, program in programs(name, kind, widths) if allowed(program))
        results = ((program, compare(program)) for program in drawn)
        found = ((program, result) for program, result in results if result is not None)
        yield from islice(found, size * 4 // 5 + 1 if IS_FULL else 1)


def test_every_op_is_drawn_often() -> None:
    assert sum(SAMPLE.values()) >= 200


@pytest.mark.parametrize("name", SAMPLE)
def test_drawn(name: str) -> None:
    wanted, reports = SAMPLE[name] * (7 if IS_FULL else 1), list[str]()
    for seed, drawn in programs(name):
        report = difference(seed, drawn)
        wanted -= report != REFUSED
        reports += [report] if report not in ("", REFUSED) else []
        if wanted == 0:
            break
    assert not reports, "\n\n".join([f"{len(reports)} programs differ", *reports[:_SHOWN]])


@pytest.mark.parametrize("name", SAMPLE)
def test_any_scales(name: str) -> None:
    """Scales at the ends of the expressed type's range and far from each other, for operands, bias and result, per
    layer, per axis and in blocks; storage of every width. What cannot be computed is refused, and nothing else."""
    drawn = islice(
        programs(name, "any ", EVERY_WIDTH, ANY), WILD * (2 if name in BIASED else 1) * (7 if IS_FULL else 1)
    )
    reports = [report for seed, program in drawn if (report := difference(seed, program)) not in ("", REFUSED)]
    assert not reports, "\n\n".join([f"{len(reports)} programs differ", *reports[:_SHOWN]])


def difference(seed: str, drawn: DrawnProgram) -> str:
    """What differs, if anything; REFUSED where the op or its lowering is refused."""
    try:
        return REFUSED if compare(drawn) is None else ""
    except Exception as error:
        told = traceback.format_exc(limit=-3)
        return f"seed {seed!r}: {drawn.options}\n{error!r}\n{told}\n{drawn}"


@mlir_opt.needed
def test_mlir_opt_reads_what_is_lowered() -> None:
    """Of any storage, with quantized types at the borders."""
    texts = [str(drawn.lowered()) for drawn, _ in for_upstream("read ", ANY_WIDTH, is_readable)]
    done = mlir_opt.run("\n// -----\n".join(texts), "--split-input-file")
    assert done.returncode == 0, done.stderr.decode()[:2000]
    COUNTS["read by"]["mlir-opt 22"] += len(texts)


@mlir_opt.needed
def test_mlir_runner_computes_the_same_bits() -> None:
    """Of storage in whole bytes: upstream's buffers of less do not run."""
    cases, expected = [], []
    for drawn, result in for_upstream("executed ", UPSTREAM_WIDTHS, is_executable):
        values = [stored(drawn.op.arrays[i], drawn.op.elements[i]) for i in drawn.given]
        cases.append(case(drawn.lowered(), values))
        expected.append(stored(result, drawn.result().element))
    reports = list[str]()
    for first in range(0, len(cases), _BATCH):
        batch = slice(first, first + _BATCH)
        for run, outcome, value in zip(cases[batch], execute(cases[batch]), expected[batch], strict=True):
            COUNTS["compared with"]["mlir-runner 22"] += 1
            if outcome != [[value]]:
                reports.append(f"{run.text}\n{str(outcome)[:1000]}\nnot {value}")
    assert not reports, "\n\n".join([f"{len(reports)} programs differ", *reports[:_SHOWN]])


def is_readable(drawn: DrawnProgram) -> bool:
    """mlir-opt 22 ends with an assertion where it reads a negative zero point of a sub-channel type."""
    return not any(t.is_sub_channel and min(t.zero_points) < 0 for t in drawn.op.elements)


def is_executable(drawn: DrawnProgram) -> bool:
    """mlir-opt 22 bufferizes tensor.pad, or a part of tensor.concat, of no elements to a subview that it refuses."""
    if drawn.op.name == "concat":
        return all(array.size for array in drawn.op.arrays)
    padding = drawn.op.attributes.get("padding", ())
    return drawn.op.arrays[0].size > 0 or not any(map(any, padding))

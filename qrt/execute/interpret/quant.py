"""``quant`` on arrays: casts by their references, regions as their float bodies, annotations as the identity, and ops
of articles that are the ``qrt`` ones of the same name."""

from qrt.execute.interpret.core import Builder, Compiler, Frame, Handler, Step, as_it_is
from qrt.execute.interpret.qrt import bind_family, handlers
from qrt.execute.interpret.regions import moves, single_block
from qrt.ir import Operation


def _region(op: Operation, compiler: Compiler) -> Step:
    body = single_block(compiler, op.regions[0])
    operands = [compiler.slot(value) for value in op.operands]
    finish = moves(compiler, op.regions[0].blocks[0].terminator.operands, op.results)

    def run(frame: Frame) -> None:
        body.enter(frame, [frame[slot] for slot in operands])
        finish(frame)

    return run


HANDLERS: dict[str, Handler] = {
    **handlers("quant"),
    **dict.fromkeys(("quant.cast", "quant.conv2d", "quant.matmul"), bind_family),
    **dict.fromkeys(("quant.stats", "quant.stats_ref", "quant.coupled_ref"), as_it_is),
}
STRUCTURED: dict[str, Builder] = {"quant.region": _region}

"""Handlers of ``quant`` on arrays.

Casts run the reference implementations of `qrt.ops`, `quant.region` runs its float body, annotations return their
operand, and fake quantizations run as two casts. `quant.cast`, `quant.conv2d` and `quant.matmul` run as the ``qrt`` ops
of the same name. `quant.stats_ref` returns its operand and passes it to the run's ``tap``."""

from typing import Any

from qrt.ir import Operation
from qrt.ir.dialects.quant import FAKE_QUANTS
from qrt.ir.dialects.quant.fake_quant import fake_quant_type
from qrt.ops import FAMILIES
from qrt.runtime.interpreter.core import Builder, Compiler, Frame, Function, Handler, Step, identity
from qrt.runtime.interpreter.qrt import bind_family, handlers
from qrt.runtime.interpreter.regions import moves, single_block
from qrt.runtime.values import as_tensor


def _region(op: Operation, compiler: Compiler) -> Step:
    body = single_block(compiler, op.regions[0])
    operands = [compiler.slot(value) for value in op.operands]
    finish = moves(compiler, op.regions[0].blocks[0].terminator.operands, op.results)

    def run(frame: Frame) -> None:
        body.enter(frame, [frame[slot] for slot in operands])
        finish(frame)

    return run


def _stats_ref(op: Operation, compiler: Compiler) -> Step:
    (source,), (result,) = map(compiler.slot, op.operands), map(compiler.slot, op.results)

    def run(frame: Frame) -> None:
        value = frame[result] = frame[source]
        if frame[0].tap is not None:
            other = frame[0].tap(op, value)
            if other is not None:
                frame[result] = other

    return run


def _fake_quant(op: Operation, compiler: Compiler) -> Function:
    floats = as_tensor(op.operands[0].type)
    element = fake_quant_type(op)
    qcast, dcast = FAMILIES["qcast"], FAMILIES["dcast"]

    def run(array: Any) -> Any:
        expressed = floats.with_(shape=array.shape)
        stored = qcast.resolve((expressed,), qcast.complete({}), expressed.with_(element=element))
        storage = qcast.reference([array], (expressed,), stored, qcast.complete({}))
        return dcast.reference([storage], (stored,), expressed, dcast.complete({}))

    return run


HANDLERS: dict[str, Handler] = {
    **handlers("quant"),
    **dict.fromkeys(("quant.cast", "quant.conv2d", "quant.matmul"), bind_family),
    **dict.fromkeys(("quant.stats", "quant.coupled_ref"), identity),
    **dict.fromkeys(FAKE_QUANTS, _fake_quant),
}
STRUCTURED: dict[str, Builder] = {"quant.region": _region, "quant.stats_ref": _stats_ref}

"""``quant`` on arrays: casts by their references, and ops of articles that are the ``qrt`` ones of the same name."""

from qrt.execute.interpret.core import Handler
from qrt.execute.interpret.qrt import bind_family, handlers

HANDLERS: dict[str, Handler] = {
    **handlers("quant"),
    **dict.fromkeys(("quant.cast", "quant.conv2d", "quant.matmul"), bind_family),
}

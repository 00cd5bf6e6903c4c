"""Dumps of the IR before and after passes, printed on standard error as ``mlir-opt`` prints them.

A pass that is nested in an op, such as `func.func`, dumps each operation of this name separately. Upstream MLIR runs
all nested passes on the first operation, then all on the second, and so on. qrt prints the dumps in the same order.
"""

import argparse
import sys
from collections.abc import Callable, Iterator

from qrt.errors import QuantError
from qrt.ir import Module, Operation
from qrt.ir.pipeline import PassObserver, title
from qrt.ir.pipeline_text import PipelineStep

Spell = Callable[[Module], str]


class Dumps(PassObserver):
    """An observer of a pipeline that prints the dumps requested by the options; `spell` returns a program's text."""

    def __init__(self, options: argparse.Namespace, spell: Spell) -> None:
        self.options, self.spell = options, spell
        self._group: tuple[str, ...] = ()
        self._dumped: dict[Operation, list[str]] = {}
        self._before: dict[Operation, str] = {}

    def before(self, module: Module, step: PipelineStep, anchors: tuple[str, ...]) -> None:
        if anchors != self._group:
            self.flush()
            self._group = anchors
        options = self.options
        if options.mlir_print_ir_before_all or step.name in options.mlir_print_ir_before:
            self._dump(module, "Before", step)
        if options.mlir_print_ir_after_change and self._is_shown_after(step):
            self._before = {root: self._text(module, root) for root in _roots(module, anchors)}

    def after(self, module: Module, step: PipelineStep, anchors: tuple[str, ...], seconds: float) -> None:
        if self._is_shown_after(step) and not self.options.mlir_print_ir_after_failure:
            self._dump(module, "After", step)
            self._before = {}

    def failed(self, module: Module, step: PipelineStep, anchors: tuple[str, ...]) -> None:
        self.flush()
        if self._is_shown_after(step):
            for root in _roots(module, anchors):
                self._keep(root, f"After {title(step)} Failed", step, self._text_of_broken(module, root))

    def flush(self) -> None:
        """Print the recorded dumps: all of one operation, then all of the next."""
        for texts in self._dumped.values():
            sys.stderr.write("".join(texts))
        self._dumped = {}

    def _is_shown_after(self, step: PipelineStep) -> bool:
        return self.options.mlir_print_ir_after_all or step.name in self.options.mlir_print_ir_after

    def _dump(self, module: Module, when: str, step: PipelineStep) -> None:
        for root in _roots(module, self._group):
            text = self._text(module, root)
            if when == "Before" or self._before.get(root) != text:
                self._keep(root, f"{when} {title(step)}", step, text)
        if not self._group:
            self.flush()

    def _keep(self, root: Operation, when: str, step: PipelineStep, text: str) -> None:
        """Record the dump of an operation, to be printed by `flush`."""
        heading = f"// -----// IR Dump {when} ({step.name}){self._within(root)} //----- //\n"
        end = "\n" if self.options.mlir_print_local_scope or not self._is_whole(root) else "\n\n"
        self._dumped.setdefault(root, []).append(f"{heading}{text}{end}")

    def _is_whole(self, root: Operation) -> bool:
        return root.parent is None or self.options.mlir_print_ir_module_scope

    def _text(self, module: Module, root: Operation) -> str:
        return self.spell(module if self._is_whole(root) else Module(root, module.upstream))

    def _text_of_broken(self, module: Module, root: Operation) -> str:
        """Return the text of `root`, in generic form if the module is invalid."""
        try:
            module.verify()
        except QuantError:
            return Module(root, module.upstream).print(generic=True)
        return self._text(module, root)

    def _within(self, root: Operation) -> str:
        """Return the words of a dump's heading that name `root`; an empty text unless dumps show the whole module."""
        if not self.options.mlir_print_ir_module_scope:
            return ""
        name = root.attributes.get("sym_name")
        return f" ('{root.name}' operation{f': @{name.python}' if name is not None else ''})"


def _roots(module: Module, anchors: tuple[str, ...]) -> list[Operation]:
    """Return the operations on which a pass runs that is nested in `anchors`, a tuple of op names, outermost first."""
    roots = [module.operation]
    for anchor in anchors:
        roots = [child for root in roots for child in _children(root) if anchor in (child.name, "any")]
    return roots


def _children(operation: Operation) -> Iterator[Operation]:
    for region in operation.regions:
        for block in region.blocks:
            yield from block

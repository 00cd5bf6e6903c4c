"""Printer of operations in upstream MLIR's syntax. Values are numbered; SSA names of the source are not preserved."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from qrt.ir.core.attributes import Attribute, quote, spell_entries
from qrt.ir.core.operations import Block, Operation, Region, Value
from qrt.ir.text.dense import Blob, DenseResourceAttr
from qrt.types import FunctionType, Type

_STORAGE_OF_22 = {"si": "i", "ui": "u"}
_STRING_OR_STORAGE = re.compile(
    r'"(?:[^"\\]|\\.)*"|(?<=!quant\.uniform<)(?:si|ui)(?=\d)|(?<=!quant\.any<)(?:si|ui)(?=\d)'
)


def print_program(
    root: Operation, upstream: int, generic: bool = False, locations: bool = False, exact: bool = False
) -> str:
    """Return the text of a whole program, with the resource section of its constants.

    `upstream` is the MLIR version whose syntax is used. The syntax of version 22 and earlier writes storage types `siN`
    as `iN` and `uiN` as `uN`; with `exact`, they are printed as `siN` and `uiN` nevertheless.
    """
    printer = Printer(generic, locations)
    if generic:
        printer.number_all(root)
    printer.operation(root)
    printer.resources()
    text = printer.text()
    if exact or upstream > 22 or ("<si" not in text and "<ui" not in text):
        return text
    return _STRING_OR_STORAGE.sub(lambda match: _STORAGE_OF_22.get(match[0], match[0]), text)


def print_operation(operation: Operation, generic: bool = False) -> str:
    """Return the text of one operation; values are named as in the text of the whole program."""
    printer = Printer(generic, locations=False)
    printer.name_as_inside(operation)
    printer.operation(operation)
    return printer.text()


class _OperationReached(Exception):
    """Internal signal: the printer has reached the operation that `name_as_inside` looks for."""


class Printer:
    """Printer that collects the text of operations; custom forms call its methods."""

    def __init__(self, generic: bool, locations: bool) -> None:
        self.generic = generic
        self.locations = locations
        self._parts: list[str] = []
        self._indent = ""
        self._names: dict[Value, str] = {}
        self._results = 0  # the next number of a result, and of an entry block's argument
        self._arguments = 0
        self._blocks: dict[Block, str] = {}
        self._blobs: dict[str, Blob] = {}
        self._wanted: Operation | None = None
        self._signatures: dict[tuple[tuple[Type, ...], tuple[Type, ...]], str] = {}

    def text(self) -> str:
        return "".join(self._parts)

    # -- for custom forms -------------------------------------------------------------------------------------------

    def word(self, text: str) -> None:
        """Print a word, with a space before it unless it follows an opening parenthesis."""
        self._parts.append(text if self._parts and self._parts[-1].endswith("(") else f" {text}")

    def attach(self, text: str) -> None:
        """Print text with no space before it."""
        self._parts.append(text)

    def new_line(self, deeper: str = "") -> None:
        """Begin a new line of the same operation, indented like the operation plus the spaces in `deeper`."""
        self._parts.append(f"\n{self._indent}{deeper}")

    def punctuation(self, text: str) -> None:
        if text in ("(", ")", ","):
            self._parts.append(text)
        else:
            self.word(text)

    def operands(self, values: Sequence[Value]) -> None:
        if values:
            self.word(", ".join(map(self.name, values)))

    def attributes(
        self, given: Operation | Mapping[str, Attribute], elided: Iterable[str] = (), keyword: str = ""
    ) -> None:
        """Print an attribute dictionary without the names in `elided`; print nothing if no attribute is left.

        `keyword` is printed before the dictionary.
        """
        attributes = given.attributes if isinstance(given, Operation) else given
        if not attributes:
            return
        items = sorted((name, value) for name, value in attributes.items() if name not in elided)
        self._note(attributes.values())
        if items:
            self._parts.append(f" {keyword} " if keyword else " ")
            self._parts.append(spell_entries(items))

    def signature(self, operation: Operation) -> None:
        types = tuple([v.type for v in operation.operands]), tuple([v.type for v in operation.results])
        text = self._signatures.get(types)
        if text is None:
            text = self._signatures[types] = str(FunctionType(*types))
        self.word(text)

    def name(self, value: Value) -> str:
        """Return the SSA name of a value, such as `%0`, `%0#1` or `%arg0`.

        For a value that is not in scope, return the error text of upstream MLIR's printer.
        """
        return self._names.get(value, "<<UNKNOWN SSA VALUE>>")

    def typed_name(self, value: Value) -> str:
        return f"{self.name(value)}: {value.type}"

    @contextmanager
    def numbered(self, region: Region) -> Iterator[None]:
        """Assign SSA names to all values of a region, for printing within the `with` block.

        All are named in advance because a use may precede its definition. Nested regions continue the numbering, as in
        upstream MLIR.
        """
        outer = self._results, self._arguments
        if not self.generic:
            self._number(region)
        yield
        self._results, self._arguments = outer

    def number_all(self, operation: Operation) -> None:
        """Assign a distinct SSA name to every value inside an operation, in upstream MLIR's order for generic form.

        A region is numbered before the regions nested in it; of several regions of an operation the last is numbered
        first.
        """
        stack = list(operation.regions)
        while stack:
            region = stack.pop()
            self._number(region)
            stack.extend(inner for block in region.blocks for child in block for inner in child.regions)

    def _number(self, region: Region) -> None:
        for index, block in enumerate(region.blocks):
            for argument in block.arguments:
                if index == 0:
                    self._names[argument] = f"%arg{self._arguments}"
                    self._arguments += 1
                else:
                    self._names[argument] = f"%{self._results}"
                    self._results += 1
            for operation in block:
                self.name_results(operation)

    def name_as_inside(self, operation: Operation) -> None:
        """Name the values in scope at an operation as in the text of the whole program.

        The program is printed up to the operation, and that text is discarded.
        """
        root = operation
        while root.parent_operation is not None:
            root = root.parent_operation
        self.name_results(root)
        if self.generic:
            self.number_all(root)
        if root is operation:
            return
        self._wanted = operation
        try:
            self.operation(root)
        except _OperationReached:
            self._forget(operation, is_reached=True)
        except Exception:  # something around it is not whole yet, and has no form
            self._forget(operation, is_reached=False)
        else:  # the form of something around it leaves out what is inside
            self._forget(operation, is_reached=False)

    def _forget(self, operation: Operation, is_reached: bool) -> None:
        """Discard the text printed so far.

        If printing did not reach the operation, number the values of the regions around it instead.
        """
        self._wanted, self._indent = None, ""
        self._parts.clear()
        if is_reached:
            return
        around: list[Region] = []
        inner: Operation | None = operation
        while inner is not None and inner.parent is not None and inner.parent.parent is not None:
            around.append(inner.parent.parent)
            inner = inner.parent_operation
        self._results = self._arguments = 0
        for region in reversed(around):
            self._number(region)

    def name_results(self, operation: Operation) -> None:
        results = operation.results
        if not results:
            return
        base = f"%{self._results}"
        self._results += 1
        if len(results) == 1:
            self._names[results[0]] = base
        else:
            for index, result in enumerate(results):
                self._names[result] = f"{base}#{index}"

    def label(self, block: Block) -> str:
        """Return the label of a block, such as `^bb1`."""
        return self._blocks.get(block, "<<UNKNOWN BLOCK>>")

    def region(
        self, region: Region, entry_printed: bool, empty_label: bool = True, terminator: str | None = None
    ) -> None:
        """Print `{ blocks }` of a region whose values have SSA names from `numbered`.

        If `entry_printed`, the custom form has already printed the entry block's arguments. If `empty_label`, the label
        of an entry block without operations is printed. A final `terminator` without operands and attributes is
        omitted.
        """
        self._parts.append("{\n")
        for index, block in enumerate(region.blocks):
            self._blocks[block] = f"^bb{index}"
        comments = self._predecessors(region) if len(region.blocks) > 1 else {}
        for index, block in enumerate(region.blocks):
            lone_empty = empty_label and block.first is None and not entry_printed
            if index or (not entry_printed and (block.arguments or lone_empty)):
                arguments = ", ".join(map(self.typed_name, block.arguments))
                label = f"{self._blocks[block]}({arguments})" if arguments else self._blocks[block]
                self._parts.append(f"{self._indent}{label}:{comments.get(block, '')}\n")
            self._indent += "  "
            for operation in block:
                if not (operation.name == terminator and operation is block.last and _is_empty(operation)):
                    self.operation(operation)
            self._indent = self._indent[:-2]
        self._parts.append(f"{self._indent}}}")

    def _predecessors(self, region: Region) -> dict[Block, str]:
        """Return upstream MLIR's comment `// pred: ^bb1` for the label of each block except the entry block."""
        predecessors: dict[Block, list[str]] = {block: [] for block in region.blocks[1:]}
        for block in region.blocks:
            for successor in block.successors:
                if successor in predecessors:
                    predecessors[successor].append(self._blocks[block])
        return {
            block: f"  // {'pred' if len(names) == 1 else f'{len(names)} preds'}: {', '.join(names)}"
            if names
            else "  // no predecessors"
            for block, names in predecessors.items()
        }

    # -- operations -------------------------------------------------------------------------------------------------

    def operation(self, operation: Operation) -> None:
        """Print one operation on its own line, indented."""
        if operation is self._wanted:
            raise _OperationReached
        parts = self._parts
        parts.append(self._indent)
        if operation.results:
            base = self.name(operation.results[0]).partition("#")[0]
            parts.append(f"{base} = " if len(operation.results) == 1 else f"{base}:{len(operation.results)} = ")
        definition = operation.definition
        assembly = None if definition is None else definition.assembly
        is_generic_only = assembly is not None and not assembly.can_express(operation)
        if self.generic or definition is None or is_generic_only or (assembly is None and definition.print is None):
            self._generic_form(operation)
        else:
            name = operation.name
            if name in _SHORT and self._default_dialect(operation) == definition.dialect:
                name = name.partition(".")[2]
            parts.append(name)
            if assembly is not None:
                assembly.print(self, operation)
            elif definition.print is not None:
                definition.print(self, operation)
        if self.locations and operation.loc is not None:
            parts.append(f" {operation.loc}")
        parts.append("\n")

    def _default_dialect(self, operation: Operation) -> str:
        parent = operation.parent_operation
        return "builtin" if parent is None else parent.name.partition(".")[0]

    def _generic_form(self, operation: Operation) -> None:
        parts = self._parts
        parts.append(f"{quote(operation.name)}({', '.join(map(self.name, operation.operands))})")
        if operation.successors:
            parts.append(f"[{', '.join(map(self.label, operation.successors))}]")
        definition = operation.definition
        names = operation.inherent if definition is None else definition.properties
        defaults = {} if definition is None else definition.defaults
        given = {name: value for name, value in operation.attributes.items() if name in names}
        inherent = sorted((defaults | given).items())
        if inherent:
            parts.append(f" <{spell_entries(inherent)}>")
        if operation.regions:
            parts.append(" (")
            for index, region in enumerate(operation.regions):
                parts.append(", " if index else "")
                with self.numbered(region):
                    self.region(region, entry_printed=False)
            parts.append(")")
        self._note(operation.attributes.values())
        derived = {} if definition is None or definition.derived is None else definition.derived(operation)
        discardable = {name: value for name, value in operation.attributes.items() if name not in given} | derived
        self.attributes(discardable)
        parts.append(" :")
        self.signature(operation)

    # -- resources --------------------------------------------------------------------------------------------------

    def _note(self, values: Iterable[Attribute]) -> None:
        for value in values:
            if isinstance(value, DenseResourceAttr) and value.blob.data is not None:
                self._blobs.setdefault(value.blob.key, value.blob)

    def resources(self) -> None:
        """Print the resource section, with the bytes of all `dense_resource` constants that were printed."""
        if not self._blobs:
            return
        entries = ",\n".join(
            f'      {key if key.isidentifier() else quote(key)}: "0x'
            f'{(blob.alignment.to_bytes(4, "little") + (blob.data or b"")).hex().upper()}"'
            for key, blob in sorted(self._blobs.items())
        )
        self._parts.append(f"\n{{-#\n  dialect_resources: {{\n    builtin: {{\n{entries}\n    }}\n  }}\n#-}}\n")


def _is_empty(operation: Operation) -> bool:
    return not operation.operands and not operation.attributes


_SHORT = frozenset({"builtin.module", "func.return", "func.call"})
"""Ops that print without their dialect where it is the default: elsewhere upstream's printer keeps it."""

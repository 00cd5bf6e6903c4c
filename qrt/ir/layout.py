"""What a memref type says after its element: a layout, `strided<[2, ?], offset: 1>` or an affine map, and a memory
space. Rules and spelling are those of mlir-opt 22; the text is kept, for nothing here reads it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qrt.ir.affine import AffineMapAttr
from qrt.ir.attributes import Attribute, DictAttr, IntegerAttr, StringAttr

if TYPE_CHECKING:
    from qrt.ir.attribute_parser import AttributeParser


@dataclass(frozen=True, slots=True)
class StridedLayoutAttr(Attribute):
    """`strided<[strides], offset: n>`; `None` is dynamic."""

    strides: tuple[int | None, ...]
    offset: int | None

    def spell(self, elide: bool = False) -> str:
        offset = "" if self.offset == 0 else f", offset: {_spell(self.offset)}"
        return f"strided<[{', '.join(map(_spell, self.strides))}]{offset}>"


def _spell(size: int | None) -> str:
    return "?" if size is None else str(size)


def parse_strided_layout(parser: "AttributeParser", start: int) -> StridedLayoutAttr:
    """What stands after the word `strided`. Raises ParseError."""
    scanner = parser.scanner
    scanner.expect("<", " after 'strided'")
    scanner.expect("[", " before strides")
    strides: list[int | None] = []
    if not scanner.accept("]"):
        strides.append(_size(parser))
        while scanner.accept(","):
            strides.append(_size(parser))
        scanner.expect("]", " after strides")
    offset: int | None = 0
    if scanner.accept(","):
        if not scanner.accept_word("offset"):
            raise scanner.error("expected 'offset' after comma")
        scanner.expect(":", " after 'offset'")
        offset = _size(parser)
    scanner.expect(">", " closing the strided layout")
    return StridedLayoutAttr(tuple(strides), offset)


def _size(parser: "AttributeParser") -> int | None:
    scanner = parser.scanner
    return None if scanner.accept("?") else scanner.integer(what="a 64-bit signed integer or '?'")


def memref_suffix(parser: "AttributeParser", rank: int | None) -> str | None:
    """The text of a memref's layout and memory space, what is default left out; `None` where nothing is left. `rank` is
    `None` for an unranked memref. Raises ParseError."""
    scanner = parser.scanner
    layout: Attribute | None = None
    space: Attribute | None = None
    while True:
        start = scanner.skip()
        value = parser.attribute()
        if isinstance(value, AffineMapAttr | StridedLayoutAttr):
            if rank is None:
                raise scanner.error("cannot have affine map for unranked memref type", start, scanner.pos)
            if space is not None:
                raise scanner.error("expected memory space to be last in memref type", start, scanner.pos)
            _check_rank(parser, value, rank, start)
            layout = value
        elif space is not None:
            raise scanner.error("multiple memory spaces specified in memref type", start, scanner.pos)
        elif not isinstance(value, IntegerAttr | StringAttr | DictAttr):
            raise scanner.error("unsupported memory space Attribute", start, scanner.pos)
        else:
            space = value
        if not scanner.accept(","):
            break
    if rank is not None and layout == AffineMapAttr.identity(rank):
        layout = None
    if isinstance(space, IntegerAttr) and space.value == 0:
        space = None
    return ", ".join(value.spell(elide=True) for value in (layout, space) if value is not None) or None


def _check_rank(parser: "AttributeParser", layout: Attribute, rank: int, start: int) -> None:
    error = parser.scanner.error
    if isinstance(layout, StridedLayoutAttr) and len(layout.strides) != rank:
        raise error("expected the number of strides to match the rank", start, parser.scanner.pos)
    if isinstance(layout, AffineMapAttr) and layout.dimensions != rank:
        message = f"memref layout mismatch between rank and affine map: {rank} != {layout.dimensions}"
        raise error(message, start, parser.scanner.pos)

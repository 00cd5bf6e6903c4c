"""Parser of `!quant.uniform`, `!quant.any`, `!quant.calibrated`, `!quant.none` and `!quant.quantile`."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from qrt._ext.scale_lists import read_scales
from qrt.errors import QuantTypeError
from qrt.types.builtin import FloatType, IntegerType
from qrt.types.core import Type
from qrt.types.parameters import Array, check_scale, check_scales
from qrt.types.quantile import QuantileType, parse_quantile_storage
from qrt.types.quantized import UniformType
from qrt.types.scanner import MAX_NESTING, Scanner
from qrt.types.storage import FLOAT_STORAGE, default_bounds, parse_storage
from qrt.types.unmapped import AnyQuantizedType, CalibratedType, NoQuantizedType

_LONG = 256
"""The number of characters from which a list of scales is parsed at once, as arrays."""
_STORAGE_INTEGER = re.compile(r"(?:i|si|u|ui)\d+", re.ASCII)


def built(scanner: Scanner, build: Callable[[], Type], at: int) -> Type:
    """Return `build()`. Convert its QuantTypeError to a ParseError located from offset `at` to the current position."""
    try:
        return build()
    except QuantTypeError as error:
        raise scanner.error(str(error), at, max(scanner.pos, at + 1)) from None


class QuantizedTypeParser:
    """Parser of quantized types at a Scanner's position, in the syntax of an upstream MLIR version.

    `parse_type` parses an expressed type or a quantile type.
    """

    def __init__(self, scanner: Scanner, upstream: int, parse_type: Callable[[], Type]) -> None:
        self.scanner, self.upstream, self.parse_type = scanner, upstream, parse_type

    def read(self, mnemonic: str, at: int) -> Type:
        """Parse `<...>` after `!quant.mnemonic`, and return the type; the mnemonic begins at offset `at`."""
        scanner = self.scanner
        if mnemonic not in _QUANT:
            raise scanner.error(f"unknown quantized type {mnemonic}", at, at + len(mnemonic))
        scanner.expect("<", f" in !quant.{mnemonic}")
        with scanner.nested():
            result: Type = _QUANT[mnemonic](self, at)
        scanner.expect(">", f" in !quant.{mnemonic}")
        return result

    def _storage(self) -> dict[str, Any]:
        scanner = self.scanner
        start = scanner.skip()
        storage = self._table() if scanner.at("!") else self._plain_storage(start)
        arguments: dict[str, Any] = {"storage": storage}
        if scanner.accept("<"):
            low_at = scanner.skip()
            arguments["storage_min"] = low = scanner.integer(what="a storage minimum")
            scanner.expect(":", " between storage bounds")
            high_at = scanner.skip()
            arguments["storage_max"] = high = scanner.integer(what="a storage maximum")
            least, greatest = default_bounds(*parse_storage(storage))
            for what, bound, at in (("minimum", low, low_at), ("maximum", high, high_at)):
                if not least <= bound <= greatest:
                    raise scanner.error(f"illegal storage type {what}: {bound}", at)
            if low >= high:
                raise scanner.error(f"illegal storage min and storage max: ({low}:{high})", low_at, scanner.pos)
            scanner.expect(">", " after storage bounds")
        return arguments

    def _table(self) -> QuantileType:
        """Parse a `!quant.quantile` type that is the storage type of another type."""
        start = self.scanner.pos
        table = self.parse_type()
        if not isinstance(table, QuantileType):
            raise self.scanner.error("expected a storage type", start, self.scanner.pos)
        return table

    def _plain_storage(self, start: int) -> str:
        scanner = self.scanner
        word = scanner.word("a storage type")
        if word in FLOAT_STORAGE:
            self._require_24(f"storage type {word}", start)
        elif _STORAGE_INTEGER.fullmatch(word) is None:
            raise scanner.error("illegal storage type: expected iN or uN", start, scanner.pos)
        self._checked(lambda: parse_storage(word), start)
        return word

    def _expressed(self) -> FloatType:
        start = self.scanner.skip()
        expressed = self.parse_type()
        if not isinstance(expressed, FloatType):
            raise self.scanner.error(f"invalid expressed type {expressed}: expected a float type", start)
        return expressed

    def _uniform(self, at: int) -> Type:
        scanner = self.scanner
        arguments = self._storage()
        scanner.expect(":", " before the expressed type")
        expressed = arguments["expressed"] = self._expressed()
        if not scanner.accept(":"):
            scanner.expect(",", " before the scale")
            arguments["scales"], arguments["zero_points"] = self._scale(expressed)
            return UniformType(**arguments)
        if scanner.accept("{"):
            arguments["block_sizes"] = self._blocks()
        else:
            arguments["axis"] = self._axis()
        scanner.expect(",", " before the scales")
        scales, zero_points = self._plain_scales(expressed) or map(np.array, self._nested_scales(expressed))
        if "axis" in arguments:  # upstream reads nested braces here and flattens them
            scales, zero_points = scales.ravel(), None if zero_points is None else zero_points.ravel()
        return built(scanner, lambda: UniformType(scales=scales, zero_points=zero_points, **arguments), at)

    def _axis(self) -> int:
        start = self.scanner.skip()
        axis = self.scanner.integer(32, "a quantized dimension")
        if axis < 0:
            raise self.scanner.error(f"illegal quantized dimension: {axis}", start, self.scanner.pos)
        return axis

    def _blocks(self) -> list[tuple[int, int]]:
        scanner = self.scanner
        blocks: list[tuple[int, int]] = []
        if scanner.accept("}"):
            return blocks
        while not blocks or scanner.accept(","):
            axis = self._axis()
            scanner.expect(":", " between axis and block size")
            start = scanner.skip()
            size = scanner.integer(what="a block size")
            if size <= 0:
                raise scanner.error(f"illegal block size: {size}", start, scanner.pos)
            blocks.append((axis, size))
        scanner.expect("}", " after block sizes")
        return blocks

    def _plain_scales(self, expressed: FloatType) -> tuple[Array, Array | None] | None:
        """Parse a long list of scales and zero points at once, and return both as arrays.

        If the list is short, unusual or wrong, return None and leave the scanner in place: ``_nested_scales`` then
        parses the list or reports the error.
        """
        scanner = self.scanner
        start = scanner.skip()
        end = scanner.text.find(">", start)
        if end - start < _LONG:
            return None
        text = scanner.text[start:end].rstrip(" \t\r\n\0")
        scales = read_scales(text)
        if scales is None or scanner.depth + scales[0].ndim > MAX_NESTING:
            return None
        try:
            check_scales(scales[0].ravel(), expressed)
        except QuantTypeError:
            return None
        scanner.require_depth(scales[0].ndim)
        scanner.pos = start + len(text)
        return scales

    def _nested_scales(self, expressed: FloatType) -> tuple[list[Any], list[Any]]:
        scanner = self.scanner
        scanner.expect("{", " before the scales")
        scales: list[Any] = []
        zeros: list[Any] = []
        with scanner.nested():
            while True:
                start = scanner.skip()
                scale, zero = self._nested_scales(expressed) if scanner.at("{") else self._scale(expressed)
                if scales and _shape_of(scale) != _shape_of(scales[0]):
                    raise scanner.error("the rows of the scales have different shapes", start, scanner.pos)
                scales.append(scale)
                zeros.append(zero)
                if not scanner.accept(","):
                    break
        scanner.expect("}", " after the scales")
        return scales, zeros

    def _scale(self, expressed: FloatType) -> tuple[Any, Any]:
        scanner = self.scanner
        negative = scanner.accept("-")
        value, start, end = scanner.float_literal("a float scale")
        self._checked(lambda: check_scale(-value if negative else value, expressed), start - negative, end)
        zero = scanner.integer(what="a zero point") if scanner.accept(":") else 0
        return value, zero

    def _any(self, at: int) -> Type:
        arguments = self._storage()
        if self.scanner.accept(":"):
            arguments["expressed"] = self._expressed()
        return AnyQuantizedType(**arguments)

    def _quantile(self, at: int) -> Type:
        self._require_24("!quant.quantile", at)
        scanner = self.scanner
        start = scanner.skip()
        storage = scanner.word("a storage type")
        self._checked(lambda: parse_quantile_storage(storage), start)
        scanner.expect(":", " before the quantile type")
        start = scanner.skip()
        kind = self.parse_type()
        if not isinstance(kind, FloatType | IntegerType):
            raise scanner.error(f"quantile type must be a float or integer type, not {kind}", start, scanner.pos)
        scanner.expect(",", " before the quantiles")
        quantiles = scanner.bracketed("{}", self._quantile_value, " before the quantiles", " after the quantiles")
        bounds: tuple[int, ...] = ()
        if scanner.accept(","):
            scanner.expect("<", " before storage bounds")
            low = scanner.integer(what="a storage minimum")
            scanner.expect(":", " between storage bounds")
            bounds = low, scanner.integer(what="a storage maximum")
            scanner.expect(">", " after storage bounds")
        return built(scanner, lambda: QuantileType(storage, kind, quantiles, *bounds), at)

    def _quantile_value(self) -> float:
        sign = -1.0 if self.scanner.accept("-") else 1.0
        return sign * self.scanner.float_literal("a quantile")[0]

    def _require_24(self, what: str, start: int) -> None:
        if self.upstream < 24:
            message = f"{what} is not part of MLIR {self.upstream}, the version that is read: give --upstream=24"
            raise self.scanner.error(message, start, max(self.scanner.pos, start + 1))

    def _calibrated(self, at: int) -> Type:
        scanner = self.scanner
        expressed = self._expressed()
        scanner.expect("<", " before the calibrated range")
        start = scanner.skip()
        low = scanner.float_literal("a float minimum")[0]
        scanner.expect(":", " in the calibrated range")
        high = scanner.float_literal("a float maximum")[0]
        result = built(scanner, lambda: CalibratedType(expressed, low, high), start)
        scanner.expect(">", " after the calibrated range")
        return result

    def _checked(self, check: Callable[[], object], start: int, end: int | None = None) -> None:
        try:
            check()
        except QuantTypeError as error:
            raise self.scanner.error(str(error), start, self.scanner.pos if end is None else end) from None


def _shape_of(value: Any) -> list[int]:
    shape = []
    while isinstance(value, list):
        shape.append(len(value))
        value = value[0]
    return shape


_QUANT: dict[str, Callable[[QuantizedTypeParser, int], Type]] = {
    "uniform": QuantizedTypeParser._uniform,
    "any": QuantizedTypeParser._any,
    "calibrated": QuantizedTypeParser._calibrated,
    "none": lambda parser, at: NoQuantizedType(parser._expressed()),
    "quantile": QuantizedTypeParser._quantile,
}

"""Sparse constants `sparse<indices, values>`, which list the positions and values of nonzero elements."""

import math

import numpy as np

from qrt.errors import ParseError
from qrt.ir.text.dense import Array, DenseElementsAttr, ShapedType, is_backed, static_shape, storage_dtype
from qrt.ir.text.dense_literal import DenseLiteral
from qrt.types import IntegerType, TensorType, Type, VectorType
from qrt.types.scanner import Scanner, Source

MAX_ELEMENTS = 1 << 24
"""A sparse constant with more elements than this is stored as text: a short text can declare any number of elements."""


class SparseElementsAttr(DenseElementsAttr):
    """A constant `sparse<indices, values> : type`.

    Row i of `indices` is the position of `values[i]`; of equal rows the first one counts. All other elements are 0.

    Examples
    --------
    >>> type = TensorType((3,), IntegerType(32))
    >>> values = DenseElementsAttr(np.int32([7, 5]), TensorType((2,), IntegerType(32)))
    >>> constant = SparseElementsAttr(np.array([[2], [0]]), values, type)
    >>> str(constant), constant.array.tolist()
    ('sparse<[[2], [0]], [7, 5]> : tensor<3xi32>', [5, 0, 7])
    """

    __slots__ = ("indices", "values")

    def __init__(self, indices: Array, values: DenseElementsAttr, type: ShapedType) -> None:
        array = np.zeros(static_shape(type), storage_dtype(type.element))
        array[tuple(indices[::-1].T)] = values.array[::-1]
        super().__init__(array, type)
        self.indices = indices
        self.values = values

    def spell(self, elide: bool = False) -> str:
        if not len(self.indices):
            return f"sparse<> : {self.type}"
        rows = self.indices.tolist()
        is_one_number = len(rows) == 1 and len(set(rows[0])) == 1  # as upstream spells it
        values = str(self.values).removeprefix("dense<").rpartition("> : ")[0]
        return f"sparse<{rows[0][0] if is_one_number else rows}, {values}> : {self.type}"


class SparseLiteral:
    """Unparsed text inside `sparse<...>`: the type needed to parse the elements follows the closing bracket."""

    __slots__ = ("end", "indices", "scanner", "start", "values")

    def __init__(self, scanner: Scanner) -> None:
        """Advance the scanner past the closing angle bracket, and record the texts of indices and values."""
        self.scanner = scanner
        self.start = scanner.skip()
        self.indices = self.values = ""
        if not scanner.at(">"):
            self.indices = scanner.balanced("sparse indices", stop=",")
            scanner.expect(",", " after sparse indices")
            self.values = scanner.balanced("sparse values")
        self.end = scanner.pos
        scanner.expect(">", " closing sparse elements")

    def elements(self, type: Type) -> SparseElementsAttr | None:
        """Parse the literal, and return the constant of type `type`; None if NumPy arrays cannot hold its elements.

        Raises ParseError for an invalid literal.
        """
        if not isinstance(type, TensorType | VectorType) or not type.shape or None in type.shape:
            return None
        if not is_backed(type.element) or math.prod(size or 0 for size in type.shape) > MAX_ELEMENTS:
            return None
        try:
            return self._elements(type, type.shape)
        except ParseError as error:
            raise self.scanner.error(error.message, self.start, self.end) from None

    def _elements(self, type: ShapedType, shape: tuple[int | None, ...]) -> SparseElementsAttr:
        indices, values = (DenseLiteral(Scanner(Source(f"{text}\n>"))) for text in (self.indices, self.values))
        rows, listed = indices.bracket_shape, values.bracket_shape
        if not self.indices or rows == [0]:
            rows, listed = [0, len(shape)], [0]
        rows = [1, len(shape)] if rows is None else rows
        if rows[1:] != [len(shape)] and (len(rows) > 1 or len(shape) > 1):
            raise self._mismatch(shape, rows, listed)
        if listed is not None and len(listed) != 1:
            raise self.scanner.error("expected 1-d tensor for sparse element values", self.start, self.end)
        if listed not in (None, rows[:1]):
            raise self._mismatch(shape, rows, listed)
        if rows[0]:
            array = indices.elements(TensorType(rows, IntegerType(64))).array.reshape(rows[0], len(shape))
        else:
            array = np.zeros((0, len(shape)), np.int64)
        for number, row in enumerate(array.tolist()):
            if not all(0 <= index < (size or 0) for index, size in zip(row, shape, strict=True)):
                raise self.scanner.error(
                    f"sparse index #{number} is not contained within the value shape, with index={row}, and "
                    f"type='{type}'",
                    self.start,
                    self.end,
                )
        return SparseElementsAttr(array, values.elements(TensorType(rows[:1], type.element)), type)

    def _mismatch(self, shape: tuple[int | None, ...], rows: list[int], listed: list[int] | None) -> ParseError:
        return self.scanner.error(
            f"expected shape ({list(shape)}); inferred shape of indices literal ({rows}); inferred shape of values "
            f"literal ({listed or []})",
            self.start,
            self.end,
        )

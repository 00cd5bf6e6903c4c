"""The choice of bit widths under a budget (docs/reference/bits.md)."""

from qrt.quantization.search.budget import Budget, Metric
from qrt.quantization.search.search import SearchResult, searched

__all__ = ["Budget", "Metric", "SearchResult", "searched"]

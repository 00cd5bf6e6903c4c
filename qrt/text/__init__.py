"""The text of types and programs: the one scanner with places and carets, and the spelling of floats."""

from qrt.text.scanner import MAX_NESTING, Location, Scanner, Source, pattern

__all__ = ["MAX_NESTING", "Location", "Scanner", "Source", "pattern"]

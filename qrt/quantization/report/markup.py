"""Markup of a page: elements that are closed, and text that is escaped. It is HTML, and well-formed XML too."""

from html import escape

from qrt.quantization.report.figures import visible

_EMPTY = ("input", "meta", "path")
"""Elements in which nothing stands."""


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def element(name: str, /, *inside: str, **attributes: str) -> Markup:
    """An element with what stands in it. What is no markup is escaped. An underscore ends names that Python reserves,
    and stands for a hyphen elsewhere.

    >>> element("p", "a<b", element("b", "!"), class_="x")
    '<p class="x">a&lt;b<b>!</b></p>'
    """
    said = "".join(f' {key.rstrip("_").replace("_", "-")}="{_escaped(value)}"' for key, value in attributes.items())
    return Markup(f"<{name}{said}>{joined(*inside)}</{name}>" if name not in _EMPTY else f"<{name}{said}/>")


def joined(*inside: str) -> Markup:
    """Markup, and text that becomes markup, one after the other."""
    return Markup("".join(each if isinstance(each, Markup) else _escaped(each) for each in inside))


def _escaped(text: str) -> str:
    return escape(visible(text))

"""Formatting of figures for text and HTML, and escapes for characters that a terminal or browser would interpret."""

from math import inf


def visible(text: str) -> str:
    r"""Return a text with every invisible character written as an escape.

    >>> visible("main/\x1b[31mé\u202e\n")
    'main/\\x1b[31mé\\u202e\\n'
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )


def specified(spec: str) -> str:
    """Return the text of a type with `...` in place of a list of scales.

    >>> specified("!quant.uniform<i8<-127:127>:f32:0, {0.5,0.25:3}>"), specified("!quant.uniform<i8:f32, 0.5>")
    ('!quant.uniform<i8<-127:127>:f32:0, {...}>', '!quant.uniform<i8:f32, 0.5>')
    """
    head, brace, _ = spec.partition(", {")
    return f"{head}, {{...}}>" if brace and head.startswith("!quant.uniform<") else spec


def share(part: float) -> str:
    """Return a share between 0 and 1 in percent. Only an exact 0 or 1 is written as 0% or 100%.

    >>> [share(part) for part in (0, 0.0001, 0.1234, 0.9999, 1)]
    ['0%', '<0.1%', '12.3%', '>99.9%', '100%']
    """
    if part in (0, 1):
        return "100%" if part else "0%"
    if part < 0.001:
        return "<0.1%"
    return ">99.9%" if 0.999 < part < 1 else f"{100 * part:.1f}%"


def decibels(ratio: float) -> str:
    """Return a ratio, given in decibels, as text without the unit.

    >>> decibels(41.16), decibels(float("inf"))
    ('41.2', 'exact')
    """
    return "exact" if ratio == inf else f"{ratio + 0.0:.1f}"


def ratio(value: float) -> str:
    """Return a signal-to-noise ratio, given in decibels, as text with the unit."""
    text = decibels(value)
    return text if text == "exact" else f"{text} dB"


def number(value: float) -> str:
    """Return a number as text with four significant digits.

    >>> number(0.0078740166500210762), number(1e6), number(-0.0)
    ('0.007874', '1e+06', '0')
    """
    return f"{value + 0.0:.4g}"


def amount(count: int, most: int = 6) -> str:
    """Return a count in at most ``most`` characters, rounded if it is longer.

    >>> amount(99999), amount(100000), amount(100000, 9), amount(2**32)
    ('99,999', '1.0e5', '100,000', '4.3e9')
    """
    full = f"{count:,}"
    return full if len(full) <= most else f"{count:.1e}".replace("e+0", "e").replace("e+", "e")

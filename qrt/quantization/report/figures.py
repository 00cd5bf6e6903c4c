"""Figures as the text and the page write them, and names without characters that a terminal or a page would obey."""

from math import inf


def visible(text: str) -> str:
    r"""A text in one line whose every character is seen: others are written as escapes.

    >>> visible("main/\x1b[31mé\u202e\n")
    'main/\\x1b[31mé\\u202e\\n'
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def specified(spec: str) -> str:
    """A type without a list of scales, of which the greatest is said beside it.

    >>> specified("!quant.uniform<i8<-127:127>:f32:0, {0.5,0.25:3}>"), specified("!quant.uniform<i8:f32, 0.5>")
    ('!quant.uniform<i8<-127:127>:f32:0, {...}>', '!quant.uniform<i8:f32, 0.5>')
    """
    head, brace, _ = spec.partition(", {")
    return f"{head}, {{...}}>" if brace and head.startswith("!quant.uniform<") else spec


def share(part: float) -> str:
    """A share in percent. Neither 0 nor the whole is said of what is only near.

    >>> [share(part) for part in (0, 0.0001, 0.1234, 0.9999, 1)]
    ['0%', '<0.1%', '12.3%', '>99.9%', '100%']
    """
    if part in (0, 1):
        return "100%" if part else "0%"
    if part < 0.001:
        return "<0.1%"
    return ">99.9%" if 0.999 < part < 1 else f"{100 * part:.1f}%"


def decibels(ratio: float) -> str:
    """A ratio without its unit.

    >>> decibels(41.16), decibels(float("inf"))
    ('41.2', 'exact')
    """
    return "exact" if ratio == inf else f"{ratio + 0.0:.1f}"


def ratio(value: float) -> str:
    """A signal-to-noise ratio with its unit."""
    found = decibels(value)
    return found if found == "exact" else f"{found} dB"


def number(value: float) -> str:
    """A number of four digits.

    >>> number(0.0078740166500210762), number(1e6), number(-0.0)
    ('0.007874', '1e+06', '0')
    """
    return f"{value + 0.0:.4g}"


def amount(count: int, most: int = 6) -> str:
    """A count in at most so many characters, rounded where it is longer.

    >>> amount(99999), amount(100000), amount(100000, 9), amount(2**32)
    ('99,999', '1.0e5', '100,000', '4.3e9')
    """
    full = f"{count:,}"
    return full if len(full) <= most else f"{count:.1e}".replace("e+0", "e").replace("e+", "e")

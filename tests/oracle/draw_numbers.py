"""Numbers as drawn functions say them: as such, as constants, and as arguments that are given these numbers."""

from tests.oracle.draw_types import Draw

NUMBERS = (0, 1, 2, 3, 4, 6, 8, 12, 24)
HEAD = ", ".join(f"%n{number}: index" for number in NUMBERS)
CONSTANTS = "".join(f"  %k{number} = arith.constant {number} : index\n" for number in NUMBERS)


def spelled_number(draw: Draw, number: int) -> str:
    choices = [str(number)] * 2 + ([f"%k{number}", f"%n{number}"] if number in NUMBERS else [])
    return draw.choice(choices)


def spelled_list(draw: Draw, numbers: tuple[int, ...]) -> tuple[str, tuple[int | None, ...]]:
    """A list, and what of it is said."""
    said = [spelled_number(draw, number) for number in numbers]
    return f"[{', '.join(said)}]", tuple(None if text.startswith("%") else int(text) for text in said)

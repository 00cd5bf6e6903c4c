"""Attributes drawn at random, as text."""

from tests.oracle.draw_types import EXPRESSED, Draw, integer, scale, type_text

_STRINGS = ['""', '"a"', '"a b\\n\\t"', '"\\22\\\\"', '"\\00\\7F\\FF"', '"é"', '"%x"']


def number(draw: Draw) -> str:
    kind = draw.choice(["", " : f32", f" : {draw.choice(EXPRESSED)}", " : f64"])
    sign = draw.choice(["", "", "-"])
    if draw.chance(0.15) and kind:
        return f"0x{draw.getrandbits(draw.choice([8, 16, 32, 64])):X}{kind}"
    return f"{sign}{scale(draw, 'f32')}{kind}"


def whole(draw: Draw) -> str:
    width = draw.choice([0, 1, 4, 8, 16, 32, 64, 65, 128])
    return f"{integer(draw)}{draw.choice(['', ' : index', f' : i{width}', f' : si{width}', f' : ui{width}'])}"


def _literal(draw: Draw, shape: list[int], element: str) -> str:
    if not shape:
        return element_text(draw, element)
    return f"[{', '.join(_literal(draw, shape[1:], element) for _ in range(shape[0]))}]"


def element_text(draw: Draw, element: str) -> str:
    """One number of a dense constant."""
    if element in ("i1", "ui1"):
        return draw.choice(["true", "false", "0", "1"])
    if element in EXPRESSED:
        return draw.choice(
            [
                "0.0",
                "-0.0",
                "1.5",
                "2." if element == "f8E8M0FNU" else "-2.",
                "0.1",
                "3.0e2",
                "1" if draw.chance(draw.noise) else "1.",
                f"0x{draw.getrandbits(16):X}",
            ]
        )
    return draw.choice([str(draw.randint(-8, 7)), str(draw.randint(0, 300 if draw.chance(draw.noise) else 15)), "0x7"])


def dense(draw: Draw, shape: list[int] | None = None, element: str | None = None) -> str:
    """A dense constant of integers or floats: nested, splat or empty."""
    element = element or draw.choice(["i1", "ui1", "i4", "i8", "ui8", "si16", "i32", "i64", "index", *EXPRESSED])
    shape = (
        [draw.randint(0 if draw.chance(0.1) else 1, 3) for _ in range(draw.randint(0, 3))] if shape is None else shape
    )
    body = element_text(draw, element) if draw.chance(0.3) else _literal(draw, shape, element)
    if 0 in shape and body[0] == "[":
        body = ""
    container = "vector" if draw.chance(0.1) else "tensor"
    return f"dense<{body}> : {container}<{''.join(f'{dim}x' for dim in shape)}{element}>"


def _array(draw: Draw) -> str:
    element = draw.choice(["i1", "i8", "i16", "i32", "i64", "f32", "f64", "f16", "i4"])
    values = [element_text(draw, element) for _ in range(draw.randint(0, 3))]
    return f"array<{element}{': ' if values else ''}{', '.join(values)}>"


def attribute_text(draw: Draw, depth: int = 0) -> str:
    """Any attribute."""
    rules = [
        lambda: number(draw),
        lambda: whole(draw),
        lambda: draw.choice(_STRINGS),
        lambda: draw.choice(["true", "false", "unit", "@f", '@f::@"g h"']),
        lambda: dense(draw),
        lambda: _array(draw),
        lambda: type_text(draw),
    ]
    if depth < 2:
        rules.append(lambda: f"[{', '.join(attribute_text(draw, depth + 1) for _ in range(draw.randint(0, 3)))}]")
        rules.append(lambda: entries(draw, depth + 1))
    return draw.choice(rules)()


def entries(draw: Draw, depth: int = 1) -> str:
    """A dictionary, its names in any order."""
    names = draw.sample(["a", "b.c", '"d e"', "f", "value", "_g", '"h"'], draw.randint(0, 3))
    return f"{{{', '.join(n if draw.chance(0.2) else f'{n} = {attribute_text(draw, depth)}' for n in names)}}}"

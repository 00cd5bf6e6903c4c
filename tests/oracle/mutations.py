"""One change to a program's text: of a token, or of what the program says."""

import re
from collections.abc import Callable

from tests.oracle.draw_programs import Program
from tests.oracle.draw_types import Draw

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|->|::|[%@#!^]?[\w$.]+|\S|\s+')
_VOCABULARY = (
    *"(){}[]<>,:=-+*?%@#!^&|.",
    *(
        "->",
        "::",
        "0",
        "1",
        "-1",
        "0x1",
        "1.0",
        "f32",
        "i8",
        "u8",
        "tensor",
        "!quant",
        "!quant.uniform",
        "to",
        "%0",
        "@g0",
    ),
    *(
        "return",
        "func.func",
        "quant.qcast",
        "quant.dcast",
        "quant.scast",
        "private",
        "loc(unknown)",
        '"a"',
        "//",
        "\\",
        "é",
    ),
    *("module", "attributes", "^bb0:", "99999999999999999999", "x", "?x", "*x", "true", "dense", "memref", "vector"),
)
_TENSOR = re.compile(r"tensor<(\*x|(?:[\d?]+x)*)")
_TYPE = re.compile(
    r"tensor<(?:\*x|(?:[\d?]+x)*)(?:!quant\.\w+<[^()%]*?>>|[a-z]+\d+>)|!quant\.uniform<[^()%{]*?>|\b[if]\d+\b"
)


def mutated(draw: Draw, program: Program) -> Program:
    """The program with one change, which may happen to leave it right."""
    rule = draw.choice(_OF_TOKENS if draw.chance(0.4) else _OF_MEANING)
    changed = rule(draw, program.text)
    return Program(program.text + "}" if changed is None else changed, program.unregistered)


# -- tokens ------------------------------------------------------------------------------------------------------------


def _tokens(draw: Draw, text: str, change: Callable[[list[str], int, int], None]) -> str:
    tokens = _TOKEN.findall(text)
    places = [i for i, token in enumerate(tokens) if not token.isspace()]
    first, second = draw.choice(places), draw.choice(places)
    change(tokens, first, second)
    return "".join(tokens)


def delete_token(draw: Draw, text: str) -> str:
    return _tokens(draw, text, lambda tokens, at, _: tokens.__setitem__(at, ""))


def duplicate_token(draw: Draw, text: str) -> str:
    space = draw.choice(["", " "])
    return _tokens(draw, text, lambda tokens, at, _: tokens.insert(at, tokens[at] + space))


def swap_tokens(draw: Draw, text: str) -> str:
    def change(tokens: list[str], first: int, second: int) -> None:
        tokens[first], tokens[second] = tokens[second], tokens[first]

    return _tokens(draw, text, change)


def swap_neighbours(draw: Draw, text: str) -> str:
    def change(tokens: list[str], at: int, _: int) -> None:
        tokens[at : at + 2] = reversed(tokens[at : at + 2])

    return _tokens(draw, text, change)


def replace_token(draw: Draw, text: str) -> str:
    return _tokens(draw, text, lambda tokens, at, other: tokens.__setitem__(at, tokens[other]))


def replace_by_word(draw: Draw, text: str) -> str:
    word = draw.choice(_VOCABULARY)
    return _tokens(draw, text, lambda tokens, at, _: tokens.__setitem__(at, word))


def insert_word(draw: Draw, text: str) -> str:
    word = draw.choice(_VOCABULARY)
    return _tokens(draw, text, lambda tokens, at, _: tokens.insert(at, f" {word} "))


# -- meaning -----------------------------------------------------------------------------------------------------------


def _replaced(draw: Draw, text: str, pattern: str, new: Callable[[re.Match[str]], str]) -> str | None:
    """One match changed, or with it every other place where a type is written that holds it, so that the program stays
    one whose types agree and its verifiers see the change."""
    matches = list(re.finditer(pattern, text))
    if not matches:
        return None
    match = draw.choice(matches)
    changed = new(match)
    holding = next((m for m in _TYPE.finditer(text) if m.start() <= match.start() and match.end() <= m.end()), None)
    if holding is not None and draw.chance(0.6):
        before, after = holding[0][: match.start() - holding.start()], holding[0][match.end() - holding.start() :]
        return text.replace(holding[0], before + changed + after)
    return text[: match.start()] + changed + text[match.end() :]


def change_dimension(draw: Draw, text: str) -> str | None:
    return _replaced(draw, text, r"(?<=[<x])\d+(?=x)", lambda m: draw.choice(["0", "1", "2", "3", "8", "?"]))


def change_dynamic(draw: Draw, text: str) -> str | None:
    return _replaced(draw, text, r"\?(?=x)", lambda m: draw.choice(["1", "2", "4", "*"]))


def change_rank(draw: Draw, text: str) -> str | None:
    return _replaced(
        draw, text, _TENSOR.pattern, lambda m: draw.choice(["tensor<", "tensor<*x", "tensor<2x", m[0] + "1x"])
    )


def change_scalar(draw: Draw, text: str) -> str | None:
    return _replaced(draw, text, r"tensor<(?:\*x|(?:[\d?]+x)*)([a-z]\w*)>", lambda m: m[1])


def change_tensor(draw: Draw, text: str) -> str | None:
    return _replaced(
        draw, text, r"(?<= )(?:[if]\d+|!quant\.uniform<[^(){}%]*?>)(?=[,) \n])", lambda m: f"tensor<{m[0]}>"
    )


def change_width(draw: Draw, text: str) -> str | None:
    return _replaced(
        draw, text, r"(?<=[<x ])(s?i|ui?)\d+", lambda m: m[1] + draw.choice(["1", "4", "8", "16", "32", "33"])
    )


def change_expressed(draw: Draw, text: str) -> str | None:
    return _replaced(
        draw, text, r"b?f\d+", lambda m: draw.choice(["f32", "f64", "f16", "bf16", "f8E5M2", "tf32", "i8"])
    )


def change_axis(draw: Draw, text: str) -> str | None:
    return _replaced(draw, text, r"(?<=:)\d+(?=, \{)", lambda m: draw.choice(["0", "1", "2", "3", "-1", "2147483648"]))


def change_scales(draw: Draw, text: str) -> str | None:
    """One scale more or fewer."""
    if draw.chance(0.5):
        return _replaced(draw, text, r"[\d.eE+-]+(?::-?\d+)?, (?=[\d{])", lambda m: m[0] * 2)
    return _replaced(draw, text, r"(?<=[{ ])[\d.eE+-]+(?::-?\d+)?, (?=\d)", lambda m: "")


def change_block(draw: Draw, text: str) -> str | None:
    return _replaced(draw, text, r"(?<=\d:)\d+(?=[,}])", lambda m: draw.choice(["0", "1", "2", "3", "4", "8", "-1"]))


def change_number(draw: Draw, text: str) -> str | None:
    return _replaced(
        draw, text, r"-?\d+\.?\d*", lambda m: draw.choice(["0", "1", "0.0", "1.0", "-1.0", "-1", "300", "0x10"])
    )


def rename_value(draw: Draw, text: str) -> str | None:
    names = re.findall(r"%\w+(?:#\d+)?", text) or ["%0"]
    return _replaced(draw, text, r"%\w+(?:#\d+)?", lambda m: draw.choice([*names, "%other", m[0] + "#1", m[0] + "#0"]))


def rename_op(draw: Draw, text: str) -> str | None:
    ops = [
        "quant.qcast",
        "quant.dcast",
        "quant.scast",
        "arith.addf",
        "arith.addi",
        "qcast",
        "quant.cast",
        "func.return",
    ]
    return _replaced(draw, text, r"\b(?:quant|arith|func)\.\w+", lambda m: draw.choice(ops))


def drop_line(draw: Draw, text: str) -> str:
    lines = text.splitlines(keepends=True)
    del lines[draw.randrange(len(lines))]
    return "".join(lines)


def move_line(draw: Draw, text: str) -> str:
    lines = text.splitlines(keepends=True)
    line = lines.pop(draw.randrange(len(lines)))
    lines.insert(draw.randint(0, len(lines)), line)
    return "".join(lines)


def drop_result(draw: Draw, text: str) -> str | None:
    return _replaced(
        draw, text, r"(?:%\w+(?::\d+)? = |(?<=return )%\w+, | -> \([^()]*\)(?= \{)|:\d+(?= =))", lambda m: ""
    )


_OF_TOKENS = (
    delete_token,
    duplicate_token,
    swap_tokens,
    swap_neighbours,
    replace_token,
    replace_by_word,
    insert_word,
)
_OF_MEANING = (
    change_dimension,
    change_dynamic,
    change_rank,
    change_scalar,
    change_tensor,
    change_width,
    change_expressed,
    change_axis,
    change_scales,
    change_block,
    change_number,
    rename_value,
    rename_op,
    drop_line,
    move_line,
    drop_result,
)

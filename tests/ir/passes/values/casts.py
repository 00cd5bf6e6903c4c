"""Chains of casts: of integers through narrower and wider types, of index, of floats, of bits."""

from tests.oracle.draw_types import Draw

_INTEGERS = ("i1", "i4", "i8", "i13", "i16", "i32", "i63", "i64")
_FLOATS = ("f16", "bf16", "f32", "f64", "tf32", "f8E5M2", "f8E4M3FN")
_WIDTHS = {"tf32": 19, "bf16": 16, "f8E5M2": 8, "f8E4M3FN": 8, "index": 64}


def width(element: str) -> int:
    return _WIDTHS.get(element) or int(element[1:])


def chain(draw: Draw) -> str:
    """@f of one value, which is cast several times; half of the time back to what it was."""
    first = draw.choice([*_INTEGERS, "index", "index", *_FLOATS])
    shape = draw.choice(["{}", "{}", "{}", "vector<3x{}>", "tensor<2x{}>", "tensor<?x{}>"])
    element, lines = first, []
    for _ in range(draw.randint(2, 5)):
        element = _cast(draw, lines, shape, element, first)
    result, last = shape.format(element), f"%{len(lines) - 1}" if lines else "%x"
    body = "".join(f"  {line}\n" for line in lines)
    return f"func.func @f(%x: {shape.format(first)}) -> {result} {{\n{body}  return {last} : {result}\n}}\n"


def _cast(draw: Draw, lines: list[str], shape: str, given: str, first: str) -> str:
    """Add a cast; what it makes."""
    made = first if draw.chance(0.4) else draw.choice([*_INTEGERS, *_FLOATS, "index"])
    names = _names(given, made)
    if not names:
        return given
    value = f"%{len(lines) - 1}" if lines else "%x"
    lines.append(f"%{len(lines)} = arith.{draw.choice(names)} {value} : {shape.format(given)} to {shape.format(made)}")
    return made


def _names(given: str, made: str) -> list[str]:
    """The casts from one element to another."""
    if "index" in (given, made):
        other = made if given == "index" else given
        return ["index_cast", "index_castui"] if given != made and other in _INTEGERS else []
    sizes, floats = (width(given), width(made)), (given in _FLOATS, made in _FLOATS)
    bits = ["bitcast"] if sizes[0] == sizes[1] and given != made else []
    if all(floats):
        return bits if sizes[0] == sizes[1] else ["extf"] if sizes[0] < sizes[1] else ["truncf"]
    if any(floats):
        return [*bits, *(["fptosi", "fptoui"] if floats[0] else ["sitofp", "uitofp"])]
    return ["bitcast"] if sizes[0] == sizes[1] else ["extsi", "extui"] if sizes[0] < sizes[1] else ["trunci"]

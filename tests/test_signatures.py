"""Arguments that do not fit a signature. Hazards: Python's own words, a TypeError of the body taken for one of the
call, a caller's `self` counted as an argument."""

from typing import Any

import pytest

from qrt.errors import QuantTypeError, check_signature, check_signatures


@check_signature
def function(a: Any, /, b: Any, *, option: Any = None) -> Any:
    return a + b


@check_signatures
class Kind:
    def __init__(self, a: Any) -> None:
        self.a = a

    def method(self, b: Any = 1) -> Any:
        return self.a + b

    def none(self) -> None:
        return None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: function(1), "function: an argument is missing: 'b'"),
        (lambda: function(), "function: an argument is missing: 'a', 'b'"),
        (lambda: function(1, 2, 3), "function: expected at most 2 arguments by position, got 3"),
        (lambda: function(1, 2, b=3), "function: the argument 'b' is given twice"),
        (lambda: function(a=1, b=2), "function: the argument 'a' must be given by position, not by name"),
        (lambda: function(1, 2, opton=3), "function: no argument is named 'opton': did you mean 'option'?"),
        (lambda: function(1, 2, zzz=3), "function: no argument is named 'zzz': the arguments are a, b, option"),
        (lambda: Kind(), "Kind: an argument is missing: 'a'"),
        (lambda: Kind(1).method(2, 3), "method: expected at most 1 argument by position, got 2"),
        (lambda: Kind(1).none(b=1), "none: no argument is named 'b': it accepts no arguments"),
    ],
)
def test_misfits(call: Any, message: str) -> None:
    with pytest.raises(QuantTypeError) as caught:
        call()
    assert str(caught.value) == message


def test_an_error_of_the_body_is_no_misfit() -> None:
    for call in (lambda: function(1, "a"), lambda: Kind(1).method("a")):
        with pytest.raises(TypeError, match="unsupported operand") as caught:
            call()
        assert not isinstance(caught.value, QuantTypeError)


def test_what_fits_runs() -> None:
    assert function(1, b=2) == 3
    assert Kind(1).method() == 2
    assert function.__name__ == "function"

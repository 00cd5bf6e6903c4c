"""Runs of one function, for the tests of each dialect."""

import pytest

from qrt import ir
from qrt.errors import ModelError
from qrt.runtime.interpreter import Interpreter


def run(text, *arguments, name=None, max_steps=None):
    """The results of the only function of a module, or of the one called `name`."""
    module = ir.parse(text)
    module.verify()
    return Interpreter(module).call(module.function(name), arguments, max_steps)


def refused(text, *arguments, message, max_steps=None):
    """Runs a function that raises an error with this message, at an op and a position."""
    with pytest.raises(ModelError, match=message) as caught:
        run(text, *arguments, max_steps=max_steps)
    assert str(caught.value).startswith("<string>:")

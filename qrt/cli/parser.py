"""Argument parsers that accept options in the style of LLVM's tools.

An option may have one dash or two, ``--flag=false`` unsets a flag, and the error about an unknown option suggests a
similar one.
"""

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from qrt.errors import MAX_MESSAGE, nearest, shortened

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


class ShortParser(argparse.ArgumentParser):
    """Argument parser that shortens long arguments in its error messages."""

    def error(self, message: str) -> NoReturn:
        super().error(shortened(message, MAX_MESSAGE))


class VerbParser(ShortParser):
    """An argument parser of one command; its error messages show the usage of this command.

    An option with ``nargs="?"`` takes a value only after ``=``, as in ``--flag=value``, and never from the next
    argument. `epilog_maker` returns the text at the end of the help; it is called only when help is printed.
    """

    epilog_maker: Callable[[], str] | None = None

    def format_help(self) -> str:
        if self.epilog_maker is not None:
            self.epilog = self.epilog_maker()
        return super().format_help()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        denied: list[str] = []
        namespace, extra = super().parse_known_args(self._plain(args or (), denied), namespace)
        if extra:
            self._unknown(extra[0])
        for name in denied:
            setattr(namespace, name, False)
        return namespace, extra

    def _plain(self, given: Sequence[str], denied: list[str]) -> list[str]:
        """Rewrite LLVM-style arguments for argparse, and add the flags that are given as ``=false`` to ``denied``."""
        plain: list[str] = []
        for number, argument in enumerate(given):
            if argument == "--":
                return [*plain, *given[number:]]
            if argument.startswith("-") and f"-{argument.partition('=')[0]}" in self._option_string_actions:
                argument = f"-{argument}"
            name, equals, value = argument.partition("=")
            action = self._option_string_actions.get(name)
            if action is not None and action.nargs == 0 and action.const is True and equals:
                if value.lower() not in _BOOLEANS:
                    self.error(f"for the {name} option: expected true, false, 1 or 0, got {value!r}")
                if not _BOOLEANS[value.lower()]:
                    denied.append(action.dest)
                    continue
                argument = name
            plain.append(f"{argument}=" if action is not None and action.nargs == "?" and not equals else argument)
        return plain

    def _unknown(self, argument: str) -> NoReturn:
        name = argument.partition("=")[0]
        if not name.startswith("-"):
            self.error(f"unexpected argument {argument!r}")
        meant = nearest(f"--{name.lstrip('-')}", self._option_string_actions)
        self.error(f"unknown option {name!r}{f'; did you mean {meant!r}?' if meant is not None else ''}")

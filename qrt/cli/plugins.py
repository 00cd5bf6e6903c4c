"""``--load-dialect-plugin`` and ``--load-pass-plugin``: Python files that register ops and passes."""

import argparse
from collections.abc import Sequence

from qrt.plugins import load_plugin

_FLAGS = {
    "--load-dialect-plugin": "run a Python file that calls qrt.ir.register_dialect",
    "--load-pass-plugin": "run a Python file that calls qrt.ir.register_pass",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the files. Each may be given several times."""
    for flag, text in _FLAGS.items():
        parser.add_argument(flag, action="append", default=[], metavar="FILE.py", help=text)


def load_plugins(given: Sequence[str]) -> None:
    """Run the files that the arguments name, in their order.

    Other options are parsed afterwards, because a file may add to them. Raises ModelError if a file does not load.
    """
    finder = argparse.ArgumentParser(prog="qrt", add_help=False, allow_abbrev=False)
    for flag in _FLAGS:
        finder.add_argument(flag, flag[1:], action="append", default=[], dest="files", metavar="FILE.py")
    if any(argument.lstrip("-").startswith("load-") for argument in given):
        for file in finder.parse_known_args(given)[0].files:
            load_plugin(file)

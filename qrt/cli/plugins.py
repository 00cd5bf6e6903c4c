"""Options ``--load-dialect-plugin`` and ``--load-pass-plugin``, which run Python files that register ops and passes."""

import argparse
from collections.abc import Sequence

from qrt.plugins import load_plugin

_FLAGS = {
    "--load-dialect-plugin": "run a Python file that calls qrt.ir.register_dialect",
    "--load-pass-plugin": "run a Python file that calls qrt.ir.register_pass",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add both options; each may be given several times."""
    for flag, text in _FLAGS.items():
        parser.add_argument(flag, action="append", default=[], metavar="FILE.py", help=text)


def load_plugins(given: Sequence[str]) -> None:
    """Run the plugin files named by the arguments, in order. Raise ModelError if a file fails.

    The remaining arguments are parsed afterwards, because a plugin may register passes, and each pass is an option.
    """
    finder = argparse.ArgumentParser(prog="qrt", add_help=False, allow_abbrev=False)
    for flag in _FLAGS:
        finder.add_argument(flag, flag[1:], action="append", default=[], dest="files", metavar="FILE.py")
    if any(argument.lstrip("-").startswith("load-") for argument in given):
        for file in finder.parse_known_args(given)[0].files:
            load_plugin(file)

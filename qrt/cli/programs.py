"""The program that a command runs: of a text or a model, which is compiled, or a saved one."""

import argparse
from pathlib import Path

from qrt.errors import ModelError
from qrt.models.programs import load
from qrt.runtime.load import load_program
from qrt.runtime.program import Program


def is_saved(file: str) -> bool:
    """Whether a file's name says that it is a saved program."""
    return Path(file).suffix == ".qrt"


def program_of(options: argparse.Namespace, *, saturating: bool = False, max_bytes: int | None = None) -> Program:
    """The program of a command's file, function and profile. ModelError where a saved one is asked to be another."""
    file: str = options.file
    if not is_saved(file):
        module = load(file, profile=options.profile, max_bytes=max_bytes)
        return Program(module, options.function, saturating=saturating)
    if options.profile is not None or saturating:
        raise ModelError(f"{file}: --profile and --saturating are for qrt compile: the program is saved with them")
    program = load_program(file)
    if options.function not in (None, program.name):
        raise ModelError(f"{file}: no function is named {options.function!r}; {program.name!r} is saved")
    return program

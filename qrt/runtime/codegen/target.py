"""LLVM for this process's CPU: compilation of a module's text to machine code, cached by the text."""

import threading
from functools import lru_cache
from typing import Any

from llvmlite import binding

SPEED_LEVEL = 2
_MISCOMPILED = "@llvm.masked.store"
"""The name of masked stores in LLVM's text, which only the vectorizer of loops makes.

LLVM 22 writes 8 bytes for a masked store of one 4-byte element that was truncated from 8 bytes.
"""
_LOCK = threading.Lock()


class MachineCode:
    """A compiled module. ``address`` is the address of its function ``entry``. The code is freed with this object."""

    def __init__(self, text: str) -> None:
        machine = _target_machine()
        module = _optimized(text, machine, vectorized=True)
        if _MISCOMPILED in str(module):
            module = _optimized(text, machine, vectorized=False)
        self._engine = binding.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()
        self.address: int = self._engine.get_function_address("entry")


def _optimized(text: str, machine: Any, *, vectorized: bool) -> Any:
    """Parse the text of an LLVM module, run LLVM's passes on it, and return it."""
    module = binding.parse_assembly(text)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    options = binding.create_pipeline_tuning_options(speed_level=SPEED_LEVEL)
    options.loop_vectorization = vectorized
    options.slp_vectorization = options.loop_unrolling = True
    passes = binding.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    return module


def _target_machine() -> Any:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_default_triple()
    return target.create_target_machine(cpu=cpu_name(), features=_features(), opt=SPEED_LEVEL)


def cpu_name() -> str:
    """Return LLVM's name of this CPU."""
    name: str = binding.get_host_cpu_name()
    return name


def _features() -> str:
    features: str = binding.get_host_cpu_features().flatten()
    return features


@lru_cache(maxsize=64)
def _compiled(text: str) -> MachineCode:
    return MachineCode(text)


def compile_text(text: str) -> MachineCode:
    """Compile the text of an LLVM module to machine code, or return the cached code of the same text.

    The CPU, its features and LLVM do not change within a process, so that the text is enough to identify the code.
    """
    with _LOCK:
        return _compiled(text)

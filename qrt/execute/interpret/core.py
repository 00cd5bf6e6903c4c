"""The shape of a handler."""

from collections.abc import Callable, Sequence
from typing import Any

from qrt.ir import Operation
from qrt.ops.core import Array

Handler = Callable[[Operation, Sequence[Array], Any], Sequence[Array]]

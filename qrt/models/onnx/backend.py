"""qrt as a backend of the package `onnx`: a `Backend` class with the interface of `onnx.backend`.

>>> import numpy as np
>>> from onnx import TensorProto, helper
>>> ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
>>> graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "graph", ports[:1], ports[1:])
>>> model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
>>> run_model(model, [np.float32([-1, 2])])[0].tolist()
[0.0, 2.0]
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from qrt.errors import ModelError, QuantTypeError, plural, require, shown
from qrt.extras import extra
from qrt.models.onnx.exporting.operation_metadata import without_states
from qrt.models.onnx.importing import Importer
from qrt.models.onnx.model import Model
from qrt.models.onnx.read import read
from qrt.models.onnx.types import NUMBERS, numpy_dtype
from qrt.models.profiles import profile as profile_of
from qrt.ops.core import Array
from qrt.runtime.compilation import compile
from qrt.runtime.program import Program

_base: Any = extra("onnx.backend.base", "onnx")
_MAX_PROGRAMS = 8
"""The number of programs that a prepared model caches: one for each set of values of the inputs that are fixed at
import."""


class PreparedModel(_base.BackendRep):  # type: ignore[misc]  # of a package without types
    """A model that is ready to run.

    If the import needs the value of an input, such as a scale, the array given to the first `run` becomes a constant of
    the compiled program. A later `run` with another array for that input compiles another program.

    Parameters
    ----------
    model : Model
        The model, as `qrt.models.onnx.read.read` returns it.
    profile : str
        The name of the profile whose arithmetic the operators follow, such as "ort" for that of ONNX Runtime.
    dtypes : sequence of dtype
        The NumPy dtype to which each output is converted, in the file's order. None leaves the output unconverted.
    """

    def __init__(self, model: Model, profile: str, dtypes: Sequence[Any]) -> None:
        self.model, self.profile, self._dtypes = model, profile_of(profile), dtypes
        self._programs: list[tuple[dict[str, Array], Program]] = []

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Run the model and return its outputs, in the file's order.

        Parameters
        ----------
        inputs : array, sequence or mapping
            One array for a model with one input, a sequence of arrays in the file's order, or a mapping from the
            inputs' names to arrays.
        **kwargs
            No options are accepted.

        Raises
        ------
        ModelError
            If the model has an operator in an unsupported form, or its run fails.
        QuantTypeError
            If the inputs do not match those of the model.
        """
        if kwargs:
            raise QuantTypeError(f"run: qrt's backend accepts no options, got {next(iter(kwargs))!r}")
        given = self._named(inputs)
        outputs = self._program(given).run(given)
        arrays = [np.asarray(getattr(value, "storage", value)) for value in outputs.values()]
        pairs = zip(arrays, self._dtypes, strict=True)
        return tuple(array if dtype is None else array.astype(dtype, copy=False) for array, dtype in pairs)

    def _named(self, inputs: Any) -> dict[str, Array]:
        ports = self.model.graph.inputs
        if isinstance(inputs, Mapping):
            values = dict(inputs)
        else:
            arrays = [inputs] if isinstance(inputs, np.ndarray) else list(inputs)
            if len(arrays) != len(ports):
                raise QuantTypeError(
                    f"run: 'inputs' must have {plural(len(ports), 'array')}, one for each input of the model, got "
                    f"{len(arrays)}"
                )
            values = {port.name: array for port, array in zip(ports, arrays, strict=True)}
        dtypes = {port.name: port.dtype for port in ports}
        return {
            name: _array(value).astype(numpy_dtype(dtypes[name]), copy=False) if name in dtypes else value
            for name, value in values.items()
        }

    def _program(self, given: dict[str, Array]) -> Program:
        for fixed, program in self._programs:
            if all(name in given and np.array_equal(given[name], value) for name, value in fixed.items()):
                return program
        importer = Importer(self.model, self.profile, given=given)
        program = compile(importer.run(), "main")
        self._programs.append(({name: np.array(given[name]) for name in importer.fixed}, program))
        del self._programs[:-_MAX_PROGRAMS]
        return program


class Backend(_base.Backend):  # type: ignore[misc]
    """The class that `onnx.backend` requires of a backend: it prepares models, and runs models and single nodes."""

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **kwargs: Any) -> PreparedModel:
        """Import a model so that it can be run repeatedly.

        Parameters
        ----------
        model : ModelProto or bytes
            The model, or the content of its file.
        device : str, default "CPU"
            Only the CPU is supported.
        **kwargs
            ``profile``, the name of the profile whose arithmetic the operators follow: by default "ort", ONNX Runtime.

        Raises
        ------
        ModelError
            If the model is invalid, or the device is not the CPU.
        """
        profile = kwargs.pop("profile", "ort")
        if kwargs:
            raise QuantTypeError(f"prepare: qrt's backend accepts no option but 'profile', got {next(iter(kwargs))!r}")
        require(profile, str, "the profile of a backend", "a string")
        if not cls.supports_device(device):
            raise ModelError(f"'device' must be 'CPU', the only device that qrt supports, got {shown(device)}")
        content = model if isinstance(model, bytes) else model.SerializeToString()
        stateless = without_states(read(content))
        return PreparedModel(stateless, profile, [_output_dtype(port.dtype) for port in stateless.graph.outputs])

    @classmethod
    def run_model(cls, model: Any, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
        """Prepare a model and run it once. The parameters are those of `prepare` and of `PreparedModel.run`."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls, node: Any, inputs: Any, device: str = "CPU", outputs_info: Any = None, **kwargs: Any
    ) -> tuple[Any, ...]:
        """Run a single node as a model.

        Parameters
        ----------
        node : NodeProto
            The node.
        inputs : sequence of arrays
            The arrays of the node's inputs in order. An omitted optional input, whose name in the node is empty, has no
            array.
        device : str, default "CPU"
            Only the CPU is supported.
        outputs_info : optional
            Ignored: the types follow from the inputs.
        **kwargs
            ``opset_version``, by default 17, and ``profile``, as for `prepare`.
        """
        helper: Any = extra("onnx.helper", "onnx")
        opset = kwargs.pop("opset_version", 17)
        arrays = [np.asarray(value) for value in inputs]
        names = [name for name in node.input if name]
        if len(arrays) not in (len(names), len(set(names))):
            raise QuantTypeError(
                f"run_node: 'inputs' must have {plural(len(names), 'array')} for the inputs {names} of the node, "
                f"got {len(arrays)}"
            )
        if len(arrays) < len(names):  # an array for each name: the node reads one of them twice
            names = list(dict.fromkeys(names))
        values = dict(zip(names, arrays, strict=True))
        ports = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in values.items()
        ]
        outputs = [helper.make_empty_tensor_value_info(name) for name in node.output if name]
        graph = helper.make_graph([node], "node", ports, outputs)
        opsets = [helper.make_opsetid(domain, version) for domain, version in {"": opset, "com.microsoft": 1}.items()]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        return cls.run_model(model, list(values.values()), device, **kwargs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Return True if the device is the CPU: "CPU", or "CPU:" and a number."""
        return device.partition(":")[0] == "CPU"


def _array(value: Any) -> Array:
    """Return an input as a NumPy array. For types that NumPy lacks, the input may be a ``TensorProto`` of `onnx`."""
    if hasattr(value, "SerializeToString"):
        helper: Any = extra("onnx.numpy_helper", "onnx")
        value = helper.to_array(value)
    return np.asarray(value)


def _output_dtype(dtype: str) -> Any:
    """Return the NumPy dtype that the package `onnx` uses for an ONNX dtype such as "int4". Return None for ""."""
    if not dtype:
        return None
    helper: Any = extra("onnx.helper", "onnx")
    number = next(number for number, name in NUMBERS.items() if name == dtype)
    return helper.tensor_dtype_to_np_dtype(number)


is_compatible = Backend.is_compatible
prepare = Backend.prepare
run_model = Backend.run_model
run_node = Backend.run_node
supports_device = Backend.supports_device

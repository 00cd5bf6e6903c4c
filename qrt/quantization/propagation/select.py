"""The selection of a kernel signature for each region.

A kernel has one or more signatures, each with a port (accepted types) for each operand and result. A signature fits a
region if each port accepts the specification of its operand or result:

- ``!quant.uniform``: the port has the same storage type, and bounds that include the type's bounds. A per-axis or
  sub-channel type has the channels or blocks of the port. At a symmetric port, zero points are in the middle of the
  storage.
- ``!quant.any``: the port's storage has at least as many bits and values.
- ``!quant.none`` and a narrower float: the port has this float type.
- ``!quant.calibrated`` and the expressed type: any port.

Regions are visited in program order. A signature is searched in three rounds; the first round that finds one ends the
search. In the first round, the signature must fit the region's specifications, and also the types that are already
known where its operands are defined. In the second, it must fit the region's specifications. In the third, operands
with a fixed type are ignored, because they can be rescaled. Of several signatures, the one with the fewest bits over
all ``!quant.any`` ports is selected. Of signatures with the same number of bits, the first of the target is selected.

If no round finds a signature, annotations are changed. A narrow type may be stored in the wider storage of a port, with
the same storage values. If that does not help, annotations at ports that the target keeps float are dropped. The
signature that fits after the fewest changes is selected. Otherwise the whole region stays float. Each change emits a
remark. With ``undecided=error``, a region that would stay float is an error, unless one of its ports is annotated
``!quant.none``.
"""

from collections.abc import Sequence
from typing import Literal, get_args

from qrt.errors import nearest, shown
from qrt.ir.core.constraints import element_of
from qrt.ir.remarks import remark
from qrt.quantization.propagation.graph import (
    LINEAR,
    RESCALE,
    GraphRegion,
    PropagationGraph,
    PropagationNode,
    is_decided,
    stays_float,
)
from qrt.quantization.propagation.layout import layout_of_port
from qrt.quantization.propagation.stored_codes import stored_in
from qrt.quantization.targets.model import Spec, Target, TargetKernel, TargetPort
from qrt.quantization.targets.patterns import body_form
from qrt.types import AnyQuantizedType, FloatType, NoQuantizedType, TensorType, UniformType

Hints = Sequence[TargetPort | Spec | None]
Undecided = Literal["float", "error"]
"""The treatment of a region without types: it stays float with a remark, or it is an error."""
UNDECIDED: tuple[Undecided, ...] = get_args(Undecided)


def select(graph: PropagationGraph, target: Target, undecided: Undecided = "float") -> None:
    """Select a kernel signature for each region. Store it in the region, and its ports in the region's nodes."""
    for region in graph.regions:
        if region.name in (RESCALE, LINEAR):
            _take(region, _of_any_types(region))
            continue
        if all(isinstance(node.spec, NoQuantizedType) for node in region.floats):
            continue  # the region stays float and needs no kernel
        signatures = target.signatures(region.name)
        if not signatures:
            raise region.operation.error(_unknown(region, target))
        if callable(signatures[0].pattern) or signatures[0].family != region.name:
            region.form = body_form(region.operation.regions[0].blocks[0], region.name, target)
        hints = [_hint(node) for node in region.nodes]
        signature = _best(region, signatures, hints) or _best(region, signatures) or _with_rescales(region, signatures)
        signature = signature or _with_other_types(region, signatures, target)
        if signature is not None:
            _take(region, signature)
        elif any(isinstance(node.spec, NoQuantizedType) for node in region.floats):
            stay_float(region, _no_floats(region, target))
        elif undecided == "error" or not any(_misfits(region, kernel) is not None for kernel in signatures):
            raise region.operation.error(_misfit(region, signatures, target))
        else:
            stay_float(region, _misfit(region, signatures, target))


def fits(port: TargetPort, spec: Spec, node: PropagationNode) -> bool:
    """Return True if a kernel's port accepts the type ``spec`` for the operand or result of a node."""
    if isinstance(spec, UniformType):
        return _fits_uniform(port, spec, node)
    if stays_float(spec, node.element):
        float_type = spec if isinstance(spec, FloatType) else node.element
        return port.is_float and port.storage == float_type.name
    if isinstance(spec, AnyQuantizedType) and not port.is_wildcard:
        return _is_enough(port, spec)
    return port.blocks is None or (node.constant is not None and layout_of_port(port, node) is not None)


def kept_type(port: TargetPort, element: FloatType) -> Spec:
    """Return the type at a float port: the port's float type if narrower than ``element``, else `!quant.none`."""
    stored = FloatType(port.storage)
    return stored if stored.width < element.width else NoQuantizedType(element)


def _fits_uniform(port: TargetPort, spec: UniformType, node: PropagationNode) -> bool:
    if port.is_float:
        return False
    if not port.is_wildcard:
        assert port.low is not None
        assert port.high is not None
        is_within = port.low <= spec.storage_min <= spec.storage_max <= port.high
        if spec.storage != port.storage or not is_within:
            return False
        if port.symmetric and not is_symmetric(spec, port.low, port.high):
            return False
    layout = layout_of_port(port, node)
    if spec.is_per_layer:
        return port.blocks is None
    return layout is not None and layout.is_of(spec)


def is_symmetric(spec: UniformType, low: int, high: int) -> bool:
    """Return True if every zero point of a type is in the middle of the storage bounds ``low`` to ``high``."""
    return bool((spec.zero_point_array == (low + high + 1) // 2).all())


def _is_enough(port: TargetPort, spec: AnyQuantizedType) -> bool:
    if port.is_float:
        return FloatType(port.storage).width >= spec.storage_width
    assert port.low is not None
    assert port.high is not None
    return spec.is_met_by(int(port.storage[1:]), port.low, port.high)


def _best(region: GraphRegion, signatures: Sequence[TargetKernel], hints: Hints = ()) -> TargetKernel | None:
    """Return the fitting signature that gives ports annotated `!quant.any` the fewest bits; the first if several do."""
    asking = [node for node in region.floats if isinstance(node.spec, AnyQuantizedType)]
    fitting = (kernel for kernel in signatures if _misfits(region, kernel, hints) == [])
    if not asking:
        return next(fitting, None)
    return min(fitting, key=lambda kernel: sum(_bits(kernel, region, node) for node in asking), default=None)


def _bits(kernel: TargetKernel, region: GraphRegion, node: PropagationNode) -> int:
    """Return the storage width that a signature gives a node annotated `!quant.any`.

    This is the annotated width if the signature's port accepts any integer type.
    """
    ports = kernel.ports(region.inputs, len(region.nodes) - region.inputs)
    assert ports is not None
    port = (*ports[0], *ports[1])[node.index]
    if port.is_wildcard:
        assert isinstance(node.spec, AnyQuantizedType)
        return node.spec.storage_width
    return FloatType(port.storage).width if port.is_float else int(port.storage[1:])


def _misfits(region: GraphRegion, kernel: TargetKernel, hints: Hints = ()) -> list[PropagationNode] | None:
    """Return the nodes whose types a signature does not accept; None if the number of operands or results differs."""
    ports = kernel.ports(region.inputs, len(region.nodes) - region.inputs)
    if ports is None:
        return None
    pairs = [(node, port) for node, port in zip(region.nodes, (*ports[0], *ports[1]), strict=True) if node is not None]
    return [
        node
        for node, port in pairs
        if not fits(port, node.spec, node) or (hints and not _agrees(port, hints[node.index], node))
    ]


def _hint(node: PropagationNode | None) -> TargetPort | Spec | None:
    """Return the port or type that a node should have so that no rescale is needed; None without a preference.

    For an operand without a type, this is the port or type of the operand's definition. For a result, it is the fixed
    type of a use.
    """
    if node is None or node.group is None or is_decided(node.spec, node.element):
        return None
    if isinstance(node.spec, AnyQuantizedType):
        return None
    if not node.is_input:
        return next((use.spec for use in node.group.uses if use.region is None), None)
    if len(node.group.definitions) != 1:
        return None
    (source,) = node.group.definitions
    if source.spec is not source.element and not stays_float(source.spec, source.element):
        return source.spec if is_decided(source.spec, source.element) else source.port or source.spec
    return source.port


def _agrees(port: TargetPort, hint: TargetPort | Spec | None, node: PropagationNode) -> bool:
    if hint is None or port.is_wildcard:
        return True
    if not isinstance(hint, TargetPort):
        return fits(port, hint, node)
    return hint.is_wildcard or (hint.storage, hint.low, hint.high) == (port.storage, port.low, port.high)


def _with_rescales(region: GraphRegion, signatures: Sequence[TargetKernel]) -> TargetKernel | None:
    """Return the best signature that fits if the fixed types of operands are ignored; None if there is none.

    If there is one, these fixed types are removed from the operands' specifications, so that a rescale converts the
    operands.
    """
    fixed = [node for node in region.floats if node.is_input and _is_fixed_outside(node)]
    specs = [node.spec for node in fixed]
    for node in fixed:
        node.spec = node.element
    signature = _best(region, signatures) if fixed else None
    if signature is None:
        for node, spec in zip(fixed, specs, strict=True):
            node.spec = spec
    return signature


def _is_fixed_outside(node: PropagationNode) -> bool:
    if not isinstance(node.spec, UniformType) or node.group is None:
        return False
    return any(source.spec is node.spec for source in node.group.definitions)


def _take(region: GraphRegion, kernel: TargetKernel) -> None:
    region.kernel = kernel
    ports = kernel.ports(region.inputs, len(region.nodes) - region.inputs)
    assert ports is not None
    for node, port in zip(region.nodes, (*ports[0], *ports[1]), strict=True):
        if node is not None:
            node.port = port


def _of_any_types(region: GraphRegion) -> TargetKernel:
    """Return a signature whose ports accept any type, for rescales and regions with the kernel ``linear``.

    The ports of ``linear`` have 8 bits by default.
    """
    inputs = tuple(TargetPort(f"x{i}") for i in range(region.inputs))
    outputs = tuple(TargetPort(f"y{i}") for i in range(len(region.nodes) - region.inputs))
    default = {port.name: TargetPort(port.name, "i8") for port in (*inputs, *outputs)} if region.name == LINEAR else {}
    return TargetKernel(region.name, inputs, outputs, default=default)


def stay_float(region: GraphRegion, reason: str) -> None:
    """Keep all operands and results of a region float, and emit a remark with the reason."""
    remark(region.operation, f"{region.name} stays float: {reason}")
    region.kernel = None
    for node in region.floats:
        node.spec, node.port = NoQuantizedType(node.element), None


def _no_floats(region: GraphRegion, target: Target) -> str:
    port = next(node for node in region.floats if isinstance(node.spec, NoQuantizedType))
    return f"{port.where} is {port.spec}, and no signature of {target.name} accepts floats there"


def _with_other_types(region: GraphRegion, signatures: Sequence[TargetKernel], target: Target) -> TargetKernel | None:
    """Return the first signature that fits with the fewest changes of annotations, and make these changes.

    A change stores a narrow type in a wider storage. If such changes are not enough, annotated types are dropped at
    ports that the target keeps float. Each change emits a remark. The result is None if no signature fits with any
    changes.
    """
    for drops in (False, True):
        options = [(specs, k) for k in signatures if (specs := _other_types(region, k, drops=drops)) is not None]
        if options:
            specs, kernel = min(options, key=lambda option: len(option[0]))
            for node, spec in specs.items():
                remark(region.operation, _other_type(node, spec, target))
                node.spec = spec
            return kernel
    return None


def _other_types(region: GraphRegion, kernel: TargetKernel, *, drops: bool) -> dict[PropagationNode, Spec] | None:
    """Return changed types for the nodes that a signature does not accept; None if one of them cannot be made to fit.

    ``drops`` also allows dropping quantized types at float ports.
    """
    misfits = _misfits(region, kernel)
    ports = kernel.ports(region.inputs, len(region.nodes) - region.inputs)
    if misfits is None or ports is None:
        return None
    specs: dict[PropagationNode, Spec] = {}
    for node in misfits:
        port = (*ports[0], *ports[1])[node.index]
        if not isinstance(node.spec, UniformType):
            return None
        if drops and port.is_float:
            specs[node] = node.element
            continue
        stored = stored_in(port, node.spec)
        if stored is None or not fits(port, stored, node):
            return None
        specs[node] = stored
    return specs


def _other_type(node: PropagationNode, spec: Spec, target: Target) -> str:
    given = node.spec.shown()
    if isinstance(spec, UniformType):
        return f"{node.where} stores the codes of {given} as {spec.shown()}: {target.name} has no narrower kernel"
    return f"{node.where} is a float: its annotation {given} is dropped, because {target.name} keeps floats there"


def _unknown(region: GraphRegion, target: Target) -> str:
    names = list(dict.fromkeys(kernel.name for kernel in target.kernels))
    near = nearest(region.name, names)
    meant = f": did you mean {shown(near)}?" if near else f": it has {', '.join(names)}"
    return f"the target {target.name} has no kernel {shown(region.name)}{meant}"


def _misfit(region: GraphRegion, signatures: Sequence[TargetKernel], target: Target) -> str:
    """Return an error message for a region that no signature fits; it names a port whose type is not accepted.

    This is the first unaccepted port of the signature with the fewest unaccepted ports.
    """
    tried = [(bad, kernel) for kernel in signatures if (bad := _misfits(region, kernel)) is not None]
    if not tried:
        count = f"{region.inputs} operands and {len(region.nodes) - region.inputs} results"
        return f"target {target.name} has no kernel {shown(region.name)} with {count}"
    bad, kernel = min(tried, key=lambda pair: len(pair[0]))
    ports = kernel.ports(region.inputs, len(region.nodes) - region.inputs)
    assert ports is not None
    port = (*ports[0], *ports[1])[bad[0].index]
    bounds = "" if port.low is None else f"<{port.low}:{port.high}>"
    blocks = "" if port.blocks is None else f" in blocks {dict(port.blocks)}"
    return (
        f"no signature of {shown(region.name)} in target {target.name} fits: {bad[0].where} is {_described(bad[0])}, "
        f"but port {port.name!r} needs {port.storage}{bounds}{blocks}{' symmetric' if port.symmetric else ''}"
    )


def _described(node: PropagationNode) -> str:
    if node.spec is node.element:
        type = node.value.type
        return f"{'a constant' if node.constant is not None else 'not constant, but'} {type.shown()}"
    shape = node.value.type.shape if isinstance(node.value.type, TensorType) else ()
    return f"{node.spec.shown()} of shape {shape}" if element_of(node.value.type) is not node.spec else str(node.spec)

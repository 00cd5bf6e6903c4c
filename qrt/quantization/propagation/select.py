"""Which signature of its kernel each region has.

A signature fits a region if each port takes what is known of the operand or result there:

- ``!quant.uniform``: its storage, bounds within the port's, a zero point in the middle where the port is symmetric, and
  scales for the channels or blocks that the port has, or one scale.
- ``!quant.any``: storage of as many bits, and of as many values.
- ``!quant.none`` and a narrower float: the port is of this float.
- ``!quant.calibrated`` and the expressed type: any port.

Regions come in program order. A signature is taken that fits the region's own specifications and what the definitions
of its operands have by then; else one that fits its own; else one that fits if operands are rescaled from the types
that their definitions have. Of several, the one is taken that has the fewest bits, added up over the ports that say
``!quant.any``, and of equals the first of the target. A kernel is a whole: where no signature fits only because a port
is ``!quant.none``, the region stays float, and a remark says so.
"""

from collections.abc import Sequence

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
    is_kept,
)
from qrt.quantization.propagation.layout import layout_of_port
from qrt.quantization.targets.model import Spec, Target, TargetKernel, TargetPort
from qrt.types import AnyQuantizedType, FloatType, NoQuantizedType, TensorType, UniformType

Hints = Sequence[TargetPort | Spec | None]


def select(graph: PropagationGraph, target: Target) -> None:
    """Gives each region its kernel, and its nodes their ports."""
    for region in graph.regions:
        if region.name in (RESCALE, LINEAR):
            _take(region, _of_any_types(region))
            continue
        if all(isinstance(node.spec, NoQuantizedType) for node in region.floats):
            continue  # it stays float: no kernel is asked
        signatures = target.signatures(region.name)
        if not signatures:
            raise region.operation.error(_unknown(region, target))
        hints = [_hint(node) for node in region.nodes]
        found = _best(region, signatures, hints) or _best(region, signatures) or _with_rescales(region, signatures)
        if found is not None:
            _take(region, found)
        elif any(isinstance(node.spec, NoQuantizedType) for node in region.floats):
            _keep(region, target)
        else:
            raise region.operation.error(_misfit(region, signatures, target))


def fits(port: TargetPort, spec: Spec, node: PropagationNode) -> bool:
    """Whether a port takes what is known of a node."""
    if isinstance(spec, UniformType):
        return _fits_uniform(port, spec, node)
    if is_kept(spec, node.element):
        kept = spec if isinstance(spec, FloatType) else node.element
        return port.is_float and port.storage == kept.name
    if isinstance(spec, AnyQuantizedType) and not port.is_wildcard:
        return _is_enough(port, spec)
    return port.blocks is None or (node.constant is not None and layout_of_port(port, node) is not None)


def kept_type(port: TargetPort, element: FloatType) -> Spec:
    """The type of a port of floats."""
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
    """Whether every zero point is in the middle of a port's storage."""
    return bool((spec.zero_point_array == (low + high + 1) // 2).all())


def _is_enough(port: TargetPort, spec: AnyQuantizedType) -> bool:
    if port.is_float:
        return FloatType(port.storage).width >= spec.storage_width
    assert port.low is not None
    assert port.high is not None
    return spec.is_met_by(int(port.storage[1:]), port.low, port.high)


def _best(region: GraphRegion, signatures: Sequence[TargetKernel], hints: Hints = ()) -> TargetKernel | None:
    """Of the signatures that fit, the first with the fewest bits where a least width is asked for."""
    asking = [node for node in region.floats if isinstance(node.spec, AnyQuantizedType)]
    fitting = (kernel for kernel in signatures if _misfits(region, kernel, hints) == [])
    if not asking:
        return next(fitting, None)
    return min(fitting, key=lambda kernel: sum(_bits(kernel, region, node) for node in asking), default=None)


def _bits(kernel: TargetKernel, region: GraphRegion, node: PropagationNode) -> int:
    """How many bits a node that asks for a least width has under a signature. A wildcard has as many under each."""
    ports = kernel.ports(region.inputs, len(region.nodes) - region.inputs)
    assert ports is not None
    port = (*ports[0], *ports[1])[node.index]
    if port.is_wildcard:
        assert isinstance(node.spec, AnyQuantizedType)
        return node.spec.storage_width
    return FloatType(port.storage).width if port.is_float else int(port.storage[1:])


def _misfits(region: GraphRegion, kernel: TargetKernel, hints: Hints = ()) -> list[PropagationNode] | None:
    """The nodes that do not fit a signature; None where it has other numbers of ports."""
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
    """What the definition of an operand has, where the operand says nothing itself; for a result, the type that is
    fixed where it is used.
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
    if source.spec is not source.element and not is_kept(source.spec, source.element):
        return source.spec if is_decided(source.spec, source.element) else source.port or source.spec
    return source.port


def _agrees(port: TargetPort, hint: TargetPort | Spec | None, node: PropagationNode) -> bool:
    if hint is None or port.is_wildcard:
        return True
    if not isinstance(hint, TargetPort):
        return fits(port, hint, node)
    return hint.is_wildcard or (hint.storage, hint.low, hint.high) == (port.storage, port.low, port.high)


def _with_rescales(region: GraphRegion, signatures: Sequence[TargetKernel]) -> TargetKernel | None:
    """The first signature that fits if operands need not have the types that are fixed where they are defined."""
    fixed = [node for node in region.floats if node.is_input and _is_fixed_outside(node)]
    specs = [node.spec for node in fixed]
    for node in fixed:
        node.spec = node.element
    found = _best(region, signatures) if fixed else None
    if found is None:
        for node, spec in zip(fixed, specs, strict=True):
            node.spec = spec
    return found


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
    """The signature of what needs no kernel of a target: a rescale, and a linear region, whose code export generates.
    Ports of a linear region of which nothing is known have 8 bits.
    """
    inputs = tuple(TargetPort(f"x{i}") for i in range(region.inputs))
    outputs = tuple(TargetPort(f"y{i}") for i in range(len(region.nodes) - region.inputs))
    default = {port.name: TargetPort(port.name, "i8") for port in (*inputs, *outputs)} if region.name == LINEAR else {}
    return TargetKernel(region.name, inputs, outputs, default=default)


def _keep(region: GraphRegion, target: Target) -> None:
    """Leaves a region float: all of its ports are."""
    port = next(node for node in region.floats if isinstance(node.spec, NoQuantizedType))
    remark(
        region.operation,
        f"{region.name} stays float: {port.where} is {port.spec}, and no signature of {target.name} "
        "accepts floats there",
    )
    for node in region.floats:
        node.spec = NoQuantizedType(node.element)


def _unknown(region: GraphRegion, target: Target) -> str:
    names = list(dict.fromkeys(kernel.name for kernel in target.kernels))
    near = nearest(region.name, names)
    meant = f": did you mean {shown(near)}?" if near else f": it has {', '.join(names)}"
    return f"the target {target.name} has no kernel {shown(region.name)}{meant}"


def _misfit(region: GraphRegion, signatures: Sequence[TargetKernel], target: Target) -> str:
    """The port on which the nearest signature fails."""
    tried = [(bad, kernel) for kernel in signatures if (bad := _misfits(region, kernel)) is not None]
    if not tried:
        count = f"{region.inputs} operands and {len(region.nodes) - region.inputs} results"
        return f"no signature of {shown(region.name)} in target {target.name} has {count}"
    bad, kernel = min(tried, key=lambda each: len(each[0]))
    ports = kernel.ports(region.inputs, len(region.nodes) - region.inputs)
    assert ports is not None
    port = (*ports[0], *ports[1])[bad[0].index]
    bounds = "" if port.low is None else f"<{port.low}:{port.high}>"
    blocks = "" if port.blocks is None else f" in blocks {dict(port.blocks)}"
    return (
        f"no signature of {shown(region.name)} in target {target.name} fits: {bad[0].where} is {_said(bad[0])}, "
        f"but port {port.name!r} needs {port.storage}{bounds}{blocks}{' symmetric' if port.symmetric else ''}"
    )


def _said(node: PropagationNode) -> str:
    if node.spec is node.element:
        type = node.value.type
        return f"{'a constant' if node.constant is not None else 'not constant, but'} {type.shown()}"
    shape = node.value.type.shape if isinstance(node.value.type, TensorType) else ()
    return f"{node.spec.shown()} of shape {shape}" if element_of(node.value.type) is not node.spec else str(node.spec)

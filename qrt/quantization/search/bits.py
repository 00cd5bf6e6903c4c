"""The operands and results of regions whose bit widths a search chooses (docs/reference/bits.md).

Regions are numbered in program order. A *place* is a pair: the number of a region and the number of a port (operands
first, then results). When types are chosen, each call of a function gets copies of the function's regions. All copies
of a place share one specification, that of the region in the function.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Generic, TypeVar

from qrt.ir import Module, StringAttr
from qrt.ir.core.constraints import element_of
from qrt.ir.core.operations import garbage_uncollected
from qrt.ir.dialects.quant.region import RegionOp
from qrt.quantization.annotations.region_metadata import KEY
from qrt.quantization.propagation.functions import separate
from qrt.quantization.propagation.graph import GraphRegion, PropagationGraph, PropagationNode, build
from qrt.quantization.propagation.select import fits
from qrt.quantization.steps import NamedProgram, copied
from qrt.quantization.targets.model import Target, TargetKernel, TargetPort
from qrt.types import AnyQuantizedType, FloatType, TensorType, UniformType

Place = tuple[int, int]
"""The number of a region and the number of its port, with operands first, then results."""
Widths = tuple[int, ...]
"""The width of each choice, in order."""

MOST_BITS = 16
"""The greatest width in bits that a search chooses; wider integers are biases and sums."""
_NUMBER = "quant.number"
Key = TypeVar("Key", int, Place)


@dataclass(frozen=True)
class WidthChoice:
    """Operands and results of regions that share one bit width, which a search chooses.

    Attributes
    ----------
    name : str
        The region and the port of the first of ``places``: "main/conv2d.1 w".
    places : tuple of (int, int)
        The number of the region and of the port (operands, then results), for each operand or result.
    widths : tuple of int
        The widths that the target offers, ascending.
    default : int
        The width without a search; one of ``widths``.
    elements : int
        The number of elements of a weight; 0 for a computed value.
    """

    name: str
    places: tuple[Place, ...]
    widths: tuple[int, ...]
    default: int
    elements: int

    @property
    def is_weight(self) -> bool:
        """True if the values are constants of the program."""
        return self.elements > 0


def numbered(named: NamedProgram) -> NamedProgram:
    """Return a copy of a program in which each region has a number, stored in an attribute that passes preserve."""
    module = copied(named.module)
    for number, region in enumerate(_regions(module)):
        region.attributes[_NUMBER] = StringAttr(str(number))
    return NamedProgram(module, named.remarks)


def with_widths(named: NamedProgram, choices: Sequence[WidthChoice], widths: Widths) -> NamedProgram:
    """Return a copy of a program with a `!quant.any` at each port whose chosen width is not the default."""
    module = copied(named.module)
    regions = list(_regions(module))
    for choice, width in zip(choices, widths, strict=True):
        if width == choice.default:
            continue
        for number, port in choice.places:
            element = element_of(regions[number].port(port).type)
            assert isinstance(element, FloatType)
            regions[number].set_spec(port, AnyQuantizedType(f"i{width}", element))
    return NamedProgram(module, named.remarks)


def widths_of(regions: Module) -> dict[Place, int]:
    """Return the bit width at each (region, port) of a numbered program with chosen types.

    The width of a float is 32. If copies of a region differ, the greatest width is returned.
    """
    widths: dict[Place, int] = {}
    for region in _regions(regions):
        if _NUMBER in region.attributes:  # a rescale has none
            for port, spec in enumerate(region.specs):
                width = spec.storage_width if isinstance(spec, UniformType) else 32
                place = _number(region), port
                widths[place] = max(width, widths.get(place, 0))
    return widths


def stored_bits(choices: Sequence[WidthChoice], widths: dict[Place, int]) -> int:
    """Return the total number of bits of all weights, given the width at each (region, port)."""
    return sum(
        choice.elements * max(widths[place] for place in choice.places) for choice in choices if choice.is_weight
    )


def choices_of(named: NamedProgram, target: Target, default_widths: dict[Place, int]) -> tuple[WidthChoice, ...]:
    """Return the width choices of a numbered program: its weights in program order, then computed values.

    ``default_widths`` has the width at each (region, port) without a search. Computed values are included if they may
    be wider. Weights are included even if they have only one width, because they count for the size.
    """
    module = copied(named.module)
    names = _names(module)
    with garbage_uncollected():
        separate(module, "inline")
        graph = build(module)
        offers = _OfferedWidths(graph, target)
        choices = [*_weights(offers, default_widths, names), *_values(graph, offers, default_widths, names)]
    return tuple(choices)


def _regions(module: Module) -> Iterator[RegionOp]:
    return (operation for operation in module.operation.walk() if isinstance(operation, RegionOp))


def _number(region: RegionOp) -> int:
    return int(region.attribute(_NUMBER, StringAttr).value)


def _names(module: Module) -> list[str]:
    """Return the names of all regions, by region number."""
    keys = (region.attributes.get(KEY) for region in _regions(module))
    return [key.value if isinstance(key, StringAttr) else f"region {number}" for number, key in enumerate(keys)]


class _OfferedWidths:
    """The bit widths that a target offers for the operands and results of a program's regions."""

    def __init__(self, graph: PropagationGraph, target: Target) -> None:
        self.regions = graph.regions
        self._kernels = {region: _fitting(region, target.signatures(region.name)) for region in graph.regions}

    def of(self, node: PropagationNode) -> set[int]:
        """Return the widths that a target offers at a port.

        If the port accepts any integer type, these are the widths of all ports of the kernel.
        """
        region = _region_of(node)
        kernels = self._kernels[region]
        ports = [_port(kernel, region, node.index) for kernel in kernels]
        if any(port.is_wildcard for port in ports):
            ports = [_port(kernel, region, other.index) for kernel in kernels for other in region.floats]
        return {width for port in ports if (width := _width(port)) is not None}

    def name(self, node: PropagationNode, names: list[str]) -> str:
        """Return the name of a width choice whose first port is ``node``, given the names of all regions."""
        number, index = _place(node)
        kernel = next(iter(self._kernels[_region_of(node)]), None)
        return f"{names[number]} {f'port {index}' if kernel is None else _port(kernel, _region_of(node), index).name}"

    def tied(self, region: GraphRegion) -> list[PropagationNode]:
        """Return the ports of a region that must have one type, because of the kernel's constraint `same_scale`."""
        kernel = next(iter(self._kernels[region]), None)
        if kernel is None or "same_scale" not in kernel.constraints:
            return []
        return [node for node in region.floats if kernel.relates(_port(kernel, region, node.index))]


def _fitting(region: GraphRegion, kernels: Iterable[TargetKernel]) -> list[TargetKernel]:
    """Return the kernel signatures that accept the type specifications of all ports of a region."""
    fitting = []
    for kernel in kernels:
        ports = kernel.ports(region.inputs, len(region.nodes) - region.inputs)
        if ports is not None:
            every = [*ports[0], *ports[1]]
            if all(fits(every[node.index], node.spec, node) for node in region.floats):
                fitting.append(kernel)
    return fitting


def _port(kernel: TargetKernel, region: GraphRegion, index: int) -> TargetPort:
    ports = kernel.ports(region.inputs, len(region.nodes) - region.inputs)
    assert ports is not None
    return (*ports[0], *ports[1])[index]


def _width(port: TargetPort) -> int | None:
    return None if port.is_float or port.is_wildcard else int(port.storage[1:])


def _is_open(node: PropagationNode) -> bool:
    """Return True if a port may get a least width: its specification is empty, or just a least width without bounds."""
    spec = node.spec
    return spec is node.element or (isinstance(spec, AnyQuantizedType) and spec.has_default_bounds)


def _region_of(node: PropagationNode) -> GraphRegion:
    assert node.region is not None
    return node.region


def _place(node: PropagationNode) -> Place:
    operation = _region_of(node).operation
    assert isinstance(operation, RegionOp)
    return _number(operation), node.index


class _Classes(Generic[Key]):
    """Disjoint sets of keys (union-find); each set is represented by its first key."""

    def __init__(self) -> None:
        self._into: dict[Key, Key] = {}

    def first(self, key: Key) -> Key:
        """Return the representative of the set that contains a key; a new key becomes a set of its own."""
        self._into.setdefault(key, key)
        while self._into[key] != key:
            key = self._into[key]
        return key

    def join(self, one: Key, other: Key) -> None:
        first, second = self.first(one), self.first(other)
        if first != second:
            self._into[second] = first


# -- weights -----------------------------------------------------------------------------------------------------------


def _weights(offers: _OfferedWidths, default_widths: dict[Place, int], names: list[str]) -> Iterator[WidthChoice]:
    """Yield a width choice for each distinct constant; equal constants share a choice."""
    classes = _Classes[Place]()
    nodes: dict[Place, list[PropagationNode]] = {}
    places: dict[object, Place] = {}
    computed = {_place(node) for region in offers.regions for node in region.floats if node.constant is None}
    for region in offers.regions:
        for node in region.floats:
            place = _place(node)
            if place not in computed and default_widths.get(place, 32) <= MOST_BITS:
                nodes.setdefault(place, []).append(node)
                classes.join(places.setdefault(_content(node), place), place)
    members: dict[Place, list[Place]] = {}
    for place in nodes:
        members.setdefault(classes.first(place), []).append(place)
    for class_places in members.values():
        of_all = [node for place in class_places for node in nodes[place]]
        default = max(default_widths[place] for place in class_places)
        elements = sum({_content(node): _elements(node) for node in of_all}.values())
        if elements:
            widths = _weight_widths(of_all, offers, default)
            yield WidthChoice(offers.name(of_all[0], names), tuple(class_places), widths, default, elements)


def _weight_widths(nodes: list[PropagationNode], offers: _OfferedWidths, default: int) -> tuple[int, ...]:
    """Return the widths that all uses of a weight accept.

    Only the default is returned if a use has a given type, or must have the type of another port.
    """
    if not all(_is_open(node) and node not in offers.tied(_region_of(node)) for node in nodes):
        return (default,)
    common = set.intersection(*(offers.of(node) for node in nodes))
    return tuple(sorted({width for width in common if width <= MOST_BITS} | {default}))


def _content(node: PropagationNode) -> object:
    array = node.constant
    assert array is not None
    return str(array.dtype), array.shape, hashlib.sha256(array.tobytes()).digest()


def _elements(node: PropagationNode) -> int:
    type = node.value.type
    return prod(size or 1 for size in type.shape) if isinstance(type, TensorType) and type.shape is not None else 1


# -- values ------------------------------------------------------------------------------------------------------------


def _values(
    graph: PropagationGraph, offers: _OfferedWidths, default_widths: dict[Place, int], names: list[str]
) -> Iterator[WidthChoice]:
    """Yield a width choice for each computed value whose producers, and some consumers, accept a greater width."""
    classes = _Classes[int]()
    groups = {
        id(group): group for group in graph.value_groups if not group.is_constant and (group.definitions or group.uses)
    }
    seen: dict[Place, int] = {}
    for key, group in groups.items():
        classes.first(key)
        for node in (*group.definitions, *group.uses):
            if node.region is not None:
                classes.join(seen.setdefault(_place(node), key), key)
    for region in graph.regions:
        tied = [id(node.group) for node in offers.tied(region) if id(node.group) in groups]
        for one, other in pairwise(tied):
            classes.join(one, other)
    members: dict[int, list[PropagationNode]] = {}
    for key, group in groups.items():
        members.setdefault(classes.first(key), []).extend((*group.definitions, *group.uses))
    for nodes in members.values():
        yield from _value(nodes, offers, default_widths, names)


def _value(
    nodes: list[PropagationNode], offers: _OfferedWidths, default_widths: dict[Place, int], names: list[str]
) -> Iterator[WidthChoice]:
    """Yield the width choice of a computed value, if its producers and a consumer accept a greater width."""
    if any(node.region is None or not _is_open(node) for node in nodes):
        return
    nodes = sorted(nodes, key=lambda node: (node.is_input, node.number))
    default = max(default_widths.get(_place(node), 32) for node in nodes)
    wider = {width for node in nodes for width in offers.of(node) if default < width <= MOST_BITS}
    for width in sorted(wider):
        taking = [node for node in nodes if width in offers.of(node)]
        uses = [node for node in nodes if node.is_input]
        is_whole = all(node in taking for node in nodes if not node.is_input)
        is_useful = not uses or any(node.is_input for node in taking)
        tied = {node for region in {_region_of(n): None for n in nodes} for node in offers.tied(region)}
        if is_whole and is_useful and all(node in taking for node in nodes if node in tied):
            places = tuple(dict.fromkeys(map(_place, taking)))
            yield WidthChoice(offers.name(taking[0], names), places, (default, width), default, 0)
            return

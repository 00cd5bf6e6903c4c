"""The optional pass `correct-bias`, which corrects the mean error of each output channel of a product in its bias."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from qrt.errors import QuantError
from qrt.ir import Builder, Module, Operation, StringAttr
from qrt.ir.core.constraints import element_of
from qrt.ir.rewriting.rewrite import erase_dead
from qrt.numerics.float_text import FORMATS
from qrt.numerics.sums import exact_sums, nearest_float
from qrt.ops.core import Array
from qrt.quantization.calibration.observe import observed_program
from qrt.quantization.checking.kernels import violation
from qrt.quantization.checking.regions import regions_of
from qrt.quantization.comparison.measure import Batches
from qrt.quantization.export.casts import Casts
from qrt.quantization.export.unfuse_kernels import put_back
from qrt.quantization.scaling.biases import add_bias, unclamped
from qrt.quantization.scaling.products import Product, product_of
from qrt.quantization.steps import copied
from qrt.quantization.targets.constraints import bias_fits, constraint_of
from qrt.quantization.targets.model import Spec, Target
from qrt.types import FloatType, NoQuantizedType, QuantizedType, UniformType


def corrected(regions: Module, target: Target, function: str, batches: Batches) -> Module | None:
    """Return a copy of a quantized program whose biases compensate the mean errors; None if no bias changes.

    ``regions`` is the program in regions with chosen types. For each quantized product, the float product and the
    quantized product are computed from values of the float program. The mean of their difference over the batches is
    added to the bias. A product without a bias gets one if its kernel accepts a bias. Sums are exact, and each new bias
    is rounded once.
    """
    copy = copied(regions)
    products = _quantized_products(copy)
    sums = _errors(copied(regions), function, batches)
    changed = [_correct(product, sums[number], target) for number, product in enumerate(products) if number in sums]
    return copy if any(changed) else None


def _quantized_products(module: Module) -> list[Product]:
    """Return the products of a program with at least one quantized factor."""
    products = [product for region in regions_of(module) if (product := product_of(region)) is not None]
    return [
        product
        for product in products
        if any(
            isinstance(product.region.input_specs[operand.number], UniformType) for operand in product.form.operands[:2]
        )
    ]


# -- the mean error ----------------------------------------------------------------------------------------------------


@dataclass
class _Error:
    """The sum of the errors of each output channel of a product, and the number of values in each sum."""

    sums: list[Fraction] = field(default_factory=list)
    count: int = 0
    is_finite: bool = True

    def add(self, values: Array, sign: int) -> None:
        """Add values of the float product (sign 1), or subtract values of the quantized product (sign -1)."""
        rows = values.astype(np.float64).reshape(-1, values.shape[-1])
        self.is_finite &= bool(np.isfinite(rows).all())
        if self.is_finite:
            latest = [sign * total for total in exact_sums(rows)]
            self.sums = [a + b for a, b in zip(self.sums, latest, strict=True)] if self.sums else latest
            self.count += len(rows) if sign > 0 else 0


def _errors(module: Module, function: str, batches: Batches) -> dict[int, _Error]:
    """Return the errors of the quantized products that ran and had only finite values, by product number."""
    casts = Casts()
    for number, product in enumerate(_quantized_products(module)):
        for sign in (1, -1):
            copy = unclamped(product)
            open_specs: list[Any] = [element_of(value.type) for value in copy.ports]
            copy.set_specs(open_specs if sign > 0 else [*product.region.input_specs, open_specs[-1]])
            key = {"statsKey": StringAttr(f"{number}/{sign}")}
            value = copy.results[0]
            Builder.after(value).emit("quant.stats_ref", [value], [value.type], dict(key))
            if sign < 0:
                put_back(copy, casts)
    casts.finish()
    errors: dict[int, _Error] = {}

    def tap(operation: Operation, value: Any) -> None:
        number, sign = operation.attribute("statsKey", StringAttr).value.split("/")
        errors.setdefault(int(number), _Error()).add(np.asarray(value), int(sign))

    program = observed_program(module, function)
    for batch in batches:
        program.run_arrays(program.arrays_of(batch), tap=tap)
    return {number: error for number, error in errors.items() if error.is_finite and error.count}


# -- the new bias ------------------------------------------------------------------------------------------------------


def _correct(product: Product, error: _Error, target: Target) -> bool:
    """Add the mean error of each channel to the bias of a product. Return True if the bias changed."""
    old = product.bias
    before = np.zeros(len(error.sums)) if old is None else old
    after = np.array(
        [
            _nearest(Fraction(float(b)) + s / error.count, product.element)
            for b, s in zip(before, error.sums, strict=True)
        ]
    )
    spec = _bias_spec(product, target)
    if spec is None:
        return False
    if isinstance(spec, UniformType):
        after = np.where(bias_fits(after, spec.scale_array, spec.storage) > 0, before, after)
    after = np.where(np.isfinite(after), after, before)
    if (after == before).all():
        return False
    if old is not None:
        product.set_constants(product.weights, after)
        return True
    region = add_bias(product, after, spec)
    if product_of(region) is None or violation(region, target) is not None:
        erase_dead([region])
        return False
    product.region.results[0].replace_all_uses(region.results[0])
    erase_dead([product.region])
    return True


def _bias_spec(product: Product, target: Target) -> Spec | None:
    """Return the type that a product's bias has or would get; None if the kernel accepts no bias.

    The other operands of the product have types already.
    """
    region = product.region
    if len(product.form.operands) > 2:
        return _spec(region.input_specs[product.form.operands[2].number])
    given = [_spec(spec) for spec in region.input_specs]
    for kernel in target.signatures(region.kernel):
        ports = kernel.ports(3, 1)
        if ports is None:
            continue
        inputs: list[Spec] = [*given, product.element]
        outputs = [_spec(spec) for spec in region.output_specs]
        if ports[0][2].is_float:
            stored = FloatType(ports[0][2].storage)
            return NoQuantizedType(stored) if stored is product.element else stored
        try:
            constraint_of(kernel, coarser_bias=target.coarser_bias)(inputs, outputs)
        except QuantError:
            continue
        if inputs[:2] == given and isinstance(inputs[2], UniformType):
            return inputs[2]
    return None


def _spec(spec: object) -> Spec:
    assert isinstance(spec, QuantizedType | FloatType)  # a port of floats
    return spec


def _nearest(number: Fraction, element: FloatType) -> float:
    """Round a rational number to a float type once, half to even; out of range, the result is infinite."""
    form = FORMATS[element.name]
    exponent = max(int(np.frexp(nearest_float(number))[1]) - 1, form.min_exponent)
    unit = Fraction(2) ** (exponent - form.precision + 1)
    nearest = round(number / unit) * unit
    return float(nearest) if abs(nearest) <= element.largest else np.inf

"""Ensembles of trees. Hazards: a feature equal to a node's value, a NaN, a tree that is a leaf, a target without a
weight, members of a set at the ends of its sorted list, a feature between two members, a node that no root leads to."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from tests.models.beside import Case
from tests.models.onnx.writing import model, node, port, tensor

_MEMBER = 6
AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")


@dataclass
class _Drawn:
    """The lists of a TreeEnsemble, while its nodes are drawn."""

    rng: np.random.Generator
    modes: tuple[int, ...]
    features: int
    columns: dict[str, list[Any]] = field(default_factory=dict)
    members: list[float] = field(default_factory=list)
    leaves: int = 0

    def add(self, **row: Any) -> int:
        for name, value in row.items():
            self.columns.setdefault(name, []).append(value)
        return len(self.columns["modes"]) - 1

    def leaf(self) -> dict[str, int]:
        self.leaves += 1
        return {"id": self.leaves - 1, "leaf": 1}

    def tree(self, depth: int) -> int:
        """Draw a tree, and return the number of its root."""
        mode = int(self.rng.choice(self.modes))
        own = self.add(modes=mode, featureids=int(self.rng.integers(self.features)),
                       splits=float(self.rng.integers(-2, 10)) / 2, missing_value_tracks_true=int(self.rng.integers(2)),
                       truenodeids=0, trueleafs=0, falsenodeids=0, falseleafs=0)  # fmt: skip
        if mode == _MEMBER:
            self.members += [*self.rng.permutation(10)[: self.rng.integers(1, 10)].tolist(), np.nan]
        for side in ("true", "false"):
            if depth == 1 or self.rng.random() < 0.2:
                target = self.leaf()
            else:
                target = {"id": self.tree(depth - 1), "leaf": 0}
            self.columns[f"{side}nodeids"][own], self.columns[f"{side}leafs"][own] = target["id"], target["leaf"]
        return own


def ensemble(rng: np.random.Generator, modes: tuple[int, ...], aggregate: str, dtype: str, transform: int = 0) -> Case:
    features, targets = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    drawn = _Drawn(rng, modes, features)
    roots = [drawn.tree(int(rng.integers(1, 6))) for _ in range(int(rng.integers(1, 6)))]
    if len(roots) > 1 and rng.random() < 0.3:
        del roots[int(rng.integers(len(roots)))]
    lists: dict[str, Any] = {f"nodes_{name}": values for name, values in drawn.columns.items()}
    for name, of in (("nodes_splits", dtype), ("nodes_modes", "uint8")):
        lists[name] = tensor(name, np.asarray(lists[name], of))
    if drawn.members:
        lists["membership_values"] = tensor("membership_values", np.asarray(drawn.members, dtype))
    weights = (rng.uniform(0, 0.3, drawn.leaves) if transform else rng.normal(0, 2, drawn.leaves)).astype(dtype)
    lists |= {"leaf_weights": tensor("leaf_weights", weights), "tree_roots": roots, "n_targets": targets,
              "leaf_targetids": rng.integers(targets, size=drawn.leaves).tolist(),
              "aggregate_function": AGGREGATES.index(aggregate), "post_transform": transform}  # fmt: skip
    if rng.random() < 0.2:
        del lists["nodes_missing_value_tracks_true"]
    named = {"float32": "FLOAT", "float64": "DOUBLE"}[dtype]
    made = node("TreeEnsemble", ["x"], ["y"], domain="ai.onnx.ml", **lists)
    x = rng.integers(-2, 20, (int(rng.integers(200, 400)), features)) / 2
    x[rng.random(x.shape) < 0.05] = rng.choice([np.nan, np.inf, -np.inf])
    ports = [port("x", named, ("n", features))], [port("y", named, (None, targets))]
    return Case(model([made], *ports), [[x.astype(dtype)]], ulp=0)


def classic(rng: np.random.Generator, aggregate: str) -> Case:
    """A TreeEnsembleRegressor: each node of two levels is a node of one feature, and each leaf may have two targets."""
    trees, features, targets = int(rng.integers(1, 8)), int(rng.integers(1, 6)), int(rng.integers(1, 4))
    modes = [str(rng.choice(["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"])) for _ in range(3 * trees)]
    numbers = range(7 * trees)
    own = [number % 7 for number in numbers]
    leaves = [number for number in numbers if own[number] > 2]
    lists: dict[str, Any] = {
        "nodes_treeids": [number // 7 for number in numbers], "nodes_nodeids": own,
        "nodes_featureids": rng.integers(features, size=7 * trees).tolist(),
        "nodes_values": (rng.integers(-2, 10, 7 * trees) / 2).tolist(),
        "nodes_modes": [modes[number // 7 * 3 + own[number]] if own[number] < 3 else "LEAF" for number in numbers],
        "nodes_truenodeids": [2 * number + 1 if number < 3 else 0 for number in own],
        "nodes_falsenodeids": [2 * number + 2 if number < 3 else 0 for number in own],
        "target_treeids": [number // 7 for number in leaves], "target_nodeids": [own[number] for number in leaves],
        "target_ids": rng.integers(targets, size=len(leaves)).tolist(), "n_targets": targets,
        "target_weights": rng.normal(0, 2, len(leaves)).tolist(), "aggregate_function": aggregate,
    }  # fmt: skip
    if rng.random() < 0.5:
        lists["base_values"] = rng.normal(0, 2, targets).tolist()
    made = node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", **lists)
    x = (rng.integers(-2, 20, (int(rng.integers(200, 400)), features)) / 2).astype(np.float32)
    content = model([made], [port("x", shape=("n", features))], [port("y", shape=(None, targets))])
    return Case(content, [[x]], ulp=0)


CASES: dict[str, Callable[[np.random.Generator], Case]] = {}
for _aggregate in AGGREGATES:
    for _dtype in ("float32", "float64"):
        _name = f"TreeEnsemble {_dtype}, {_aggregate}"
        CASES[_name] = partial(ensemble, modes=(0, 1, 2, 3, 4, 5), aggregate=_aggregate, dtype=_dtype)
    CASES[f"TreeEnsembleRegressor, {_aggregate}"] = partial(classic, aggregate=_aggregate)
CASES["TreeEnsemble float32, sets"] = partial(ensemble, modes=(0, 6), aggregate="SUM", dtype="float32")
CASES["TreeEnsemble float64, sets"] = partial(ensemble, modes=(6,), aggregate="SUM", dtype="float64")

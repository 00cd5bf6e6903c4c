"""Pipelines of scikit-learn, fitted to drawn data, as skl2onnx exports them; and the attributes of one small tree."""

from collections.abc import Iterator
from typing import Any

import numpy as np

FEATURES = 6
TREE: dict[str, Any] = {
    "nodes_treeids": [0, 0, 0, 0, 0], "nodes_nodeids": [0, 1, 2, 3, 4], "nodes_featureids": [0, 1, 0, 0, 0],
    "nodes_values": [0.5, 2.0, 0.0, 0.0, 0.0], "nodes_modes": ["BRANCH_LEQ", "BRANCH_GT", "LEAF", "LEAF", "LEAF"],
    "nodes_truenodeids": [1, 2, 0, 0, 0], "nodes_falsenodeids": [4, 3, 0, 0, 0],
}  # fmt: skip
TARGETS: dict[str, Any] = {
    "target_treeids": [0, 0, 0], "target_nodeids": [2, 3, 4], "target_ids": [0, 0, 0],
    "target_weights": [1.0, 2.0, 4.0], "n_targets": 1,
}  # fmt: skip


def drawn(classes: int = 0) -> tuple[Any, Any]:
    """Rows of features, and their labels, or numbers if there are no classes."""
    rng = np.random.default_rng(classes)
    x = rng.normal(0, 2, (120, FEATURES)).astype(np.float32)
    score = x @ rng.normal(size=FEATURES) + x[:, 0] * x[:, 1]
    return x, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes)) * 2 + 3 if classes else score


def models() -> Iterator[tuple[str, Any, int]]:
    """Each model that is not fitted, with its name and the number of classes, 0 for a regression."""
    from sklearn.decomposition import PCA, TruncatedSVD
    from sklearn.ensemble import (
        ExtraTreesRegressor,
        GradientBoostingClassifier,
        GradientBoostingRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, SGDClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import (
        Binarizer,
        MaxAbsScaler,
        MinMaxScaler,
        Normalizer,
        PolynomialFeatures,
        RobustScaler,
        StandardScaler,
    )
    from sklearn.svm import SVC, SVR
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    yield "scaled logistic", make_pipeline(StandardScaler(), LogisticRegression()), 3
    yield "logistic of two", make_pipeline(MinMaxScaler(), LogisticRegression()), 2
    yield "linear", make_pipeline(RobustScaler(), LinearRegression()), 0
    yield "ridge", make_pipeline(SimpleImputer(), MaxAbsScaler(), Ridge()), 0
    yield "normalized", make_pipeline(Normalizer("l1"), LogisticRegression()), 4
    yield "normalized by roots", make_pipeline(Normalizer("l2"), Ridge()), 0
    yield "binarized", make_pipeline(Binarizer(threshold=0.5), SGDClassifier(random_state=0)), 3
    yield "components", make_pipeline(PCA(3), LogisticRegression()), 3
    yield "singular vectors", make_pipeline(TruncatedSVD(3), LinearRegression()), 0
    yield "polynomials", make_pipeline(PolynomialFeatures(2), LinearRegression()), 0
    yield "tree", DecisionTreeClassifier(random_state=0), 3
    yield "tree of two", DecisionTreeClassifier(max_depth=4, random_state=0), 2
    yield "tree of numbers", DecisionTreeRegressor(max_depth=5, random_state=0), 0
    yield "forest", RandomForestClassifier(12, random_state=0), 3
    yield "forest of two", RandomForestClassifier(12, random_state=0), 2
    yield "forest of numbers", RandomForestRegressor(12, random_state=0), 0
    yield "extra trees", ExtraTreesRegressor(8, random_state=0), 0
    yield "boosted", GradientBoostingClassifier(n_estimators=10, random_state=0), 3
    yield "boosted of two", GradientBoostingClassifier(n_estimators=10, random_state=0), 2
    yield "boosted numbers", GradientBoostingRegressor(n_estimators=10, random_state=0), 0
    yield "network", make_pipeline(StandardScaler(), MLPClassifier((8,), tol=10, n_iter_no_change=2, random_state=0)), 3
    for kernel in ("linear", "poly", "rbf", "sigmoid"):
        yield f"support vectors, {kernel}", make_pipeline(StandardScaler(), SVR(kernel=kernel)), 0
        for classes in (2, 3):
            fitted = make_pipeline(StandardScaler(), SVC(kernel=kernel))
            yield f"support vectors of {classes}, {kernel}", fitted, classes


def exported(model: Any, classes: int) -> bytes:
    """Fit a model, and return its file."""
    from skl2onnx import to_onnx

    x, y = drawn(classes)
    return bytes(to_onnx(model.fit(x, y), x[:1]).SerializeToString())

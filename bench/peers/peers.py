"""How each package trains, with corresponding parameters: `train(matrix)` returns a function from histories to dense scores.

The objective of the factorizations is that of Hu, Koren and Volinsky with the weight 10 for observed entries, rank 64 and lambda 5; the full-rank models are
EASE with lambda 200, exact or sparse."""
from typing import Any, Callable, Dict, NamedTuple

RANK, LAMBDA, WEIGHT, ITERATIONS = 64, 5.0, 10.0, 15
EASE_LAMBDA, NEIGHBOURS = 200.0, 100

Scores = Callable[[Any], Any]


class Peer(NamedTuple):
    module: str
    model: str
    train: Callable[[Any], Scores]


def _poise_ease(X: Any) -> Scores:
    import poise

    return poise.EASE(regularization=EASE_LAMBDA).fit(X, show_progress=False).predict


def _poise_neighbours(X: Any) -> Scores:
    import poise

    return poise.EASE(regularization=EASE_LAMBDA, neighbours=NEIGHBOURS).fit(X, show_progress=False).predict


def _poise_wmf(X: Any) -> Scores:
    import poise

    return poise.WMF(factors=RANK, regularization=LAMBDA, alpha=WEIGHT).fit(X, show_progress=False).predict


def _implicit(X: Any) -> Scores:
    import implicit.als

    model = implicit.als.AlternatingLeastSquares(factors=RANK, regularization=LAMBDA, alpha=WEIGHT, iterations=ITERATIONS, random_state=1)
    model.fit(X, show_progress=False)
    return lambda rows: model.recalculate_user(range(rows.shape[0]), rows) @ model.item_factors.T


def _irspack_ease(X: Any) -> Scores:
    import irspack

    return irspack.DenseSLIMRecommender(X, reg=EASE_LAMBDA).learn().get_score_cold_user


def _irspack_ials(X: Any) -> Scores:
    import irspack

    # Every entry has the weight alpha0, an observed one 1 + alpha0: both divided by alpha0 give WEIGHT and LAMBDA.
    alpha0 = 1 / (WEIGHT - 1)
    model = irspack.IALSRecommender(X, n_components=RANK, alpha0=alpha0, reg=LAMBDA * alpha0, nu=0, train_epochs=ITERATIONS)
    return model.learn().get_score_cold_user


def _sansa(X: Any) -> Scores:
    from sansa import SANSA, ICFGramianFactorizerConfig, SANSAConfig, UMRUnitLowerTriangleInverterConfig

    model = SANSA(SANSAConfig(l2=EASE_LAMBDA, weight_matrix_density=min(1.0, NEIGHBOURS / X.shape[1]),
                              gramian_factorizer_config=ICFGramianFactorizerConfig(),
                              lower_triangle_inverter_config=UMRUnitLowerTriangleInverterConfig()))
    model.fit(X)
    first, second = model.weights
    return lambda rows: ((rows @ first) @ second).toarray()


def _cmfrec(X: Any) -> Scores:
    from cmfrec import CMF_implicit

    # Its weight of an observed entry is 1 + alpha.
    model = CMF_implicit(k=RANK, lambda_=LAMBDA, alpha=WEIGHT - 1, niter=ITERATIONS, verbose=False)
    model.fit(X.tocoo())
    return lambda rows: model.factors_multiple(X=rows) @ model.B_.T


PEERS: Dict[str, Peer] = {
    "poise-ease": Peer("poise", f"EASE, lambda {EASE_LAMBDA:g}", _poise_ease),
    "poise-neighbours": Peer("poise", f"EASE, {NEIGHBOURS} neighbours", _poise_neighbours),
    "poise-wmf": Peer("poise", f"WMF, rank {RANK}, to convergence", _poise_wmf),
    "irspack-ease": Peer("irspack", f"DenseSLIM (EASE), reg {EASE_LAMBDA:g}", _irspack_ease),
    "irspack-ials": Peer("irspack", f"iALS, rank {RANK}, {ITERATIONS} epochs", _irspack_ials),
    "sansa": Peer("sansa", f"SANSA, {NEIGHBOURS} weights an item", _sansa),
    "implicit": Peer("implicit", f"ALS, rank {RANK}, {ITERATIONS} iterations", _implicit),
    "cmfrec": Peer("cmfrec", f"CMF_implicit, rank {RANK}, {ITERATIONS} iterations", _cmfrec),
}

"""The full-rank models."""
from __future__ import annotations

from typing import Any, Optional

from ._matrix import as_scipy
from ._recommender import Memory, Recommender


class FullRank(Recommender):
    """The full-rank item-item autoencoder: scores are x B with an items x items matrix B, the exact minimum of

        || sqrt(W) o (X - X B) ||^2 + regularization |B|^2 + dropout / (1 - dropout) |diag(X'X)^1/2 B|^2.

    With `regularization_exponent` nu the regularization of an item's row of B depends on its users: regularization (users /
    g)^nu, g their geometric mean over items; 0 is the same for every item.
    `neighbours` K keeps K entries in each column of B, those of the items that share most users with the column's own, and
    solves exactly for these. Nothing of the size items x items is held, and `certificate_["explained_share"]` is the share of the
    dense optimum that the model explains. 0 means all items.
    `feature_weight` is the weight of the items' features, where the data have them (`fit(..., item_features=...)`): items with
    similar features then come close, also those that nobody has; 0 ignores them.
    `zero_diagonal` forbids an item to predict itself (EASE). `weighting` and `alpha` weight the observed entries: `constant`
    (every entry alpha; 1 is unweighted), `none`, `linear` (1 + alpha r), `log` (1 + alpha log(1 + r / epsilon)),
    `user-oriented`, `item-oriented` (both bounded by `clip`), `inverse-popularity` (exponent `gamma`), `column`
    (alpha r), r being the matrix's values. `alpha_negative` weighs disliked entries (`fit(..., dislikes=...)`), whose target is 0;
    1 is the weight of all that was not observed. `tolerance` bounds `certificate_["worst_column"]`.

    `num_threads` 0 and `n_jobs` -1 are all cores; results do not depend on them. `memory_limit` ("8G", or bytes) is
    80 % of the machine's by default; a model that would not fit raises MemoryError. `device` is auto, cpu or cuda.

    >>> import poise
    >>> data = poise.split(poise.synth("demo"))
    >>> model = poise.FullRank(regularization=50, alpha=2).fit(data, show_progress=False)
    >>> model.converged_, model.certificate_["worst_column"] < 1e-6
    (True, True)
    """

    _family = "full-rank"
    zero_diagonal: bool
    dropout: float
    regularization_exponent: float

    def __init__(
        self,
        regularization: float = 100.0,
        *,
        alpha: float = 1.0,
        zero_diagonal: bool = False,
        dropout: float = 0.0,
        regularization_exponent: float = 0.0,
        neighbours: int = 0,
        feature_weight: float = 1.0,
        weighting: str = "constant",
        epsilon: float = 1.0,
        gamma: float = 0.5,
        clip: float = 10.0,
        alpha_negative: float = 1.0,
        tolerance: float = 1e-6,
        num_threads: int = 0,
        n_jobs: Optional[int] = None,
        memory_limit: Memory = None,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        self._keep(locals())

    @property
    def weights_(self) -> Any:
        """B, items x items; sparse if the model is sparse."""
        tensors = self._fitted().tensors()
        if "B" in tensors:
            return tensors["B"]
        offsets, indices, values = (tensors[f"B.{part}"] for part in ("offsets", "indices", "values"))
        return as_scipy(((self.n_items_, self.n_items_), offsets, indices, values))

    @property
    def item_factors(self) -> Any:
        """B', so that scores are `fold_in(user_items) @ item_factors.T`."""
        return self.weights_.T

    def fold_in(self, user_items: Any) -> Any:
        """The histories as 0/1, the only input of these models.

        >>> import poise, scipy.sparse
        >>> x = scipy.sparse.csr_matrix([[3, 1, 0], [1, 1, 1], [0, 1, 1], [1, 0, 0]])
        >>> model = poise.FullRank(regularization=1).fit(x, show_progress=False)
        >>> model.fold_in(x[0]).toarray().tolist()
        [[1.0, 1.0, 0.0]]
        """
        shape, offsets, indices, _ = self._histories(user_items)
        return as_scipy((shape, offsets, indices, None))


class EASE(FullRank):
    """EASE (Steck, 2019): the full-rank model with a zero diagonal; weighted according to `weighting` and `alpha`.

    >>> import poise
    >>> poise.EASE(regularization=300)
    EASE(regularization=300)
    """

    zero_diagonal = True
    dropout = 0.0

    def __init__(
        self,
        regularization: float = 500.0,
        *,
        alpha: float = 1.0,
        regularization_exponent: float = 0.0,
        neighbours: int = 0,
        feature_weight: float = 1.0,
        weighting: str = "constant",
        epsilon: float = 1.0,
        gamma: float = 0.5,
        clip: float = 10.0,
        alpha_negative: float = 1.0,
        tolerance: float = 1e-6,
        num_threads: int = 0,
        n_jobs: Optional[int] = None,
        memory_limit: Memory = None,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        self._keep(locals())


class EDLAE(FullRank):
    """EDLAE (Steck, 2020): EASE with dropout, which regularizes an item in proportion to its number of users.

    >>> import poise
    >>> poise.EDLAE(regularization=200, dropout=0.5)
    EDLAE(regularization=200, dropout=0.5)
    """

    zero_diagonal = True

    def __init__(
        self,
        regularization: float = 300.0,
        *,
        dropout: float = 0.33,
        alpha: float = 1.0,
        regularization_exponent: float = 0.0,
        neighbours: int = 0,
        feature_weight: float = 1.0,
        weighting: str = "constant",
        epsilon: float = 1.0,
        gamma: float = 0.5,
        clip: float = 10.0,
        alpha_negative: float = 1.0,
        tolerance: float = 1e-6,
        num_threads: int = 0,
        n_jobs: Optional[int] = None,
        memory_limit: Memory = None,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        self._keep(locals())

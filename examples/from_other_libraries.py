"""The same work in Poise as in a NumPy script for EASE, and in code for implicit's ALS.

    python3 examples/from_other_libraries.py
"""
import numpy as np
import scipy.sparse

import poise

data = poise.split(poise.synth("demo"))
X: scipy.sparse.csr_matrix = data.train

# EASE as its paper prints it.
G = X.T.dot(X).toarray().astype(np.float64)
G[np.diag_indices_from(G)] += 50.0
P = np.linalg.inv(G)
B = P / (-np.diag(P))
B[np.diag_indices_from(B)] = 0

# The same in Poise: any number of items that fits in memory, in float32 with a proof of its accuracy.
ease = poise.EASE(regularization=50).fit(X, show_progress=False)
assert ease.certificate_ is not None
print(f"largest difference of an entry of B: {np.abs(ease.weights_ - B).max():.1e}")
print(f"proven: within {ease.certificate_['relative']:.1e} of the optimum\n")

# Code that was written for implicit's AlternatingLeastSquares:
#
#     model = implicit.als.AlternatingLeastSquares(factors=32, regularization=5.0, alpha=5.0, iterations=15)
#     model.fit(user_items)
#     ids, scores = model.recommend(userid, user_items[userid], N=5)
#     model.similar_items(itemid); model.similar_users(userid); model.user_factors; model.item_factors
#
# implicit's alpha multiplies the values of the matrix, which Poise calls the weighting "column"; where all values are 1
# it is the default, "constant".
user_items = X
model = poise.WMF(factors=32, regularization=5.0, alpha=5.0, iterations=100)
model.fit(user_items, show_progress=False)
ids, scores = model.recommend(3, user_items[3], N=5)
print("for user 3:", ids, scores.round(3))
ids, scores = model.recommend(np.arange(3), user_items[:3], N=5)
print("for users 0, 1 and 2:\n", ids)
print("like item 10:", model.similar_items(10, N=3))
print("like user 3:", model.similar_users(3, N=3))
print("factors:", model.user_factors.shape, model.item_factors.shape)

# Users who come later need no training: their rows are enough.
newcomer = scipy.sparse.csr_matrix(([1.0, 1.0], ([0, 0], [10, 20])), shape=(1, X.shape[1]))
print("for a newcomer with items 10 and 20:", model.recommend(0, newcomer, N=3)[0])

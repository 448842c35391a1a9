#!/usr/bin/env python3
"""Makes the reference sets of this folder: `make_reference.py FOLDER` writes NAME/pro_sg/*.csv and NAME/reference.json.

Small generated data with a long tail, and the figures of every model on them from dense float64 algebra. Nothing of Poise is
used, and nothing of its way to solve: full-rank columns are direct solves of their normal equations, the zero diagonal is a
system without that coordinate, low-rank factors come from alternating exact steps, U's by one dense system of all its
unknowns. Draws are those of Python's random.Random.random, whose sequence never changes.
"""
import json
import math
import pathlib
import random
import sys

import numpy as np
import scipy.linalg

METRICS = ("recall@20", "recall@50", "ndcg@100")
CLIP, EPSILON, GAMMA = 10, 1, 0.5
NEAR = 2e-4  # two scores of a user that differ by less than this share of its largest may swap in float32

# --- data


def draw_users(draw, users, items, tastes, most):
    """Histories {item: count}. Popularity falls with the item's number, and each user is faithful to one taste."""
    histories = []
    for user in range(users):
        size = 5 + int((most - 5) * draw.random() ** 2.5)
        history = {}
        while len(history) < size:
            item = int(items * draw.random() ** 1.8)
            if item % tastes == user % tastes or draw.random() < 0.25:
                history[item] = 1 + min(int(-1.5 * math.log(1 - draw.random())), 20)
        histories.append(history)
    return histories


def add_bundle(histories, item, twin):
    """Whoever has an item has its twin."""
    for history in histories:
        history.pop(twin, None)
        if item in history:
            history[twin] = history[item]


def split(draw, histories, held_out, kept):
    """The parts of Liang's layout as rows (uid, sid, count): the last users are test, those before them validation. A fifth
    of a held-out history is the target; items of `kept` stay in the fold-in."""
    train, rest = histories[:-2 * held_out], histories[-2 * held_out:]
    parts = {"train": [(u, i, n) for u, history in enumerate(train) for i, n in sorted(history.items())]}
    catalogue = {item for history in train for item in history}
    for k, name in enumerate(("validation", "test")):
        fold_in, targets = [], []
        for u, history in enumerate(rest[k * held_out:(k + 1) * held_out], len(train) + k * held_out):
            items = sorted(item for item in history if item in catalogue)
            order = sorted((item for item in items if item not in kept), key=lambda _: draw.random())
            chosen = set(order[:int(0.2 * len(items))])
            for item in items:
                (targets if item in chosen else fold_in).append((u, item, history[item]))
        parts[name + "_tr"], parts[name + "_te"] = fold_in, targets
    return parts, catalogue


def write_parts(folder, parts, items):
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in parts.items():
        (folder / f"{name}.csv").write_text("uid,sid,count\n" + "".join(f"{u},{i},{n}\n" for u, i, n in rows))
    (folder / "unique_sid.txt").write_text("".join(f"item-{i}\n" for i in range(items)))


def read_parts(folder):
    """What write_parts wrote."""
    return {path.stem: [tuple(map(int, line.split(","))) for line in path.read_text().split()[1:]] for path in folder.glob("*.csv")}


def matrix(rows, items):
    """Counts, one row for each uid in order of appearance."""
    users = {uid: k for k, uid in enumerate(dict.fromkeys(u for u, _, _ in rows))}
    result = np.zeros((len(users), items))
    for u, i, n in rows:
        result[users[u], i] = n
    return result, users


class Data:
    def __init__(self, parts, items):
        self.counts, _ = matrix(parts["train"], items)
        self.X = (self.counts > 0).astype(float)
        self.users, self.items = self.X.shape
        self.G = self.X.T @ self.X
        self.test_counts, uids = matrix(parts["test_tr"], items)
        self.test_X = (self.test_counts > 0).astype(float)
        targets = {k: set() for k in range(len(uids))}
        for u, i, _ in parts["test_te"]:
            targets[uids[u]].add(i)
        self.targets = [targets[k] for k in range(len(uids))]
        assert all(self.targets), "each test user has a target"


# --- weights (a row of the table in docs/models.md each)


class Weighting:
    def __init__(self, data, scheme, alpha):
        self.scheme, self.alpha = scheme, alpha
        self.item_users = data.X.sum(0)
        self.mean_history = data.X.sum() / data.users
        self.b = np.ones(data.items)
        if scheme == "item-oriented":
            absent = data.users - self.item_users
            self.b = np.clip(absent / absent.mean(), 1 / CLIP, CLIP)

    def dense(self, counts):
        """W of these rows: a b' off the entries, w on them."""
        X = counts > 0
        a = np.ones(len(counts))
        if self.scheme == "user-oriented":
            a = np.clip(X.sum(1) / self.mean_history, 1 / CLIP, CLIP)
        w = {
            "constant": lambda: self.alpha * np.ones(counts.shape),
            "user-oriented": lambda: self.alpha * np.ones(counts.shape),
            "item-oriented": lambda: self.alpha * np.ones(counts.shape),
            "linear": lambda: 1 + self.alpha * counts,
            "log": lambda: 1 + self.alpha * np.log(1 + counts / EPSILON),
            "inverse-popularity": lambda: self.alpha
            * np.minimum(CLIP, (self.item_users / self.item_users.max()) ** -GAMMA)
            * np.ones(counts.shape),
            "column": lambda: self.alpha * counts,
        }[self.scheme]()
        return np.where(X, w, np.outer(a, self.b))


# --- metrics


def metrics_of(data, scores):
    """Means over the test users; equal scores go to the lower index. And by how much at most each mean could move if all
    pairs of scores that are nearly equal, and not exactly, were in the other order."""
    discounts = 1 / np.log2(np.arange(2, data.items + 2))
    found = {name: [] for name in METRICS}
    slack = {name: 0.0 for name in METRICS}
    for u, targets in enumerate(data.targets):
        candidates = [i for i in range(data.items) if data.test_X[u, i] == 0]
        near = NEAR * max(abs(scores[u, i]) for i in candidates)

        def measure(shift):
            order = sorted(candidates, key=lambda i: (-(scores[u, i] + shift * (i in targets)), i))
            hit = np.array([i in targets for i in order], dtype=float)
            values = {}
            for cut in (20, 50):
                values[f"recall@{cut}"] = hit[:cut].sum() / min(cut, len(targets))
            ideal = discounts[:min(100, len(targets))].sum()
            values["ndcg@100"] = (hit[:100] * discounts[:len(hit[:100])]).sum() / ideal
            return values

        plain, best, worst = measure(0), measure(near), measure(-near)
        for name in METRICS:
            found[name].append(plain[name])
            slack[name] += max(best[name] - plain[name], plain[name] - worst[name]) / len(data.targets)
    means = {name: round(float(np.mean(values)), 9) for name, values in found.items()}
    return {**means, "users": len(data.targets)}, {name: round(value, 9) for name, value in slack.items()}


def entry_of(data, case, objective, scores, **more):
    test, slack = metrics_of(data, scores)
    return {**case, "objective": float(objective), **more, "test": test, "slack": slack}


# --- models


def popularity(data):
    scores = np.tile(data.X.sum(0), (len(data.targets), 1))
    return metrics_of(data, scores)[0]  # counts are equal or not, in every arithmetic


def full_rank_lambdas(data, case):
    p, users = case["dropout"], np.diag(data.G)  # every item has some
    scale = (users / np.exp(np.log(users).mean())) ** case.get("lambda_exponent", 0)
    return case["lambda"] * scale + p / (1 - p) * users


def full_rank_objective(data, case, B):
    """Of any matrix."""
    W = Weighting(data, case["weighting"], case["alpha"]).dense(data.counts)
    return (W * (data.X - data.X @ B) ** 2).sum() + (full_rank_lambdas(data, case)[:, None] * B**2).sum()


def full_rank(data, case):
    W = Weighting(data, case["weighting"], case["alpha"]).dense(data.counts)
    X, n = data.X, data.items
    B = np.zeros((n, n))
    for i in range(n):
        free = np.delete(np.arange(n), i) if case["zero_diagonal"] else np.arange(n)
        H = (X.T * W[:, i]) @ X + np.diag(full_rank_lambdas(data, case))
        c = X.T @ (W[:, i] * X[:, i])
        solve = scipy.linalg.cho_factor(H[np.ix_(free, free)])
        beta = scipy.linalg.cho_solve(solve, c[free])
        beta += scipy.linalg.cho_solve(solve, c[free] - H[np.ix_(free, free)] @ beta)
        B[free, i] = beta
    return entry_of(data, case, full_rank_objective(data, case, B), data.test_X @ B, observed_weight=float((W * X).sum()))


def eigenpairs(data, rank):
    s, Q = np.linalg.eigh(data.G)
    return np.maximum(s[::-1][:rank], 0), Q[:, ::-1][:, :rank]


def balanced(U, V, metric):
    """The same U V' with |metric U| = |V|: the least that weight decay can cost."""
    left, inner = np.linalg.qr(metric @ U)
    right, outer = np.linalg.qr(V)
    P, s, Qt = np.linalg.svd(inner @ outer.T)
    root = np.sqrt(s)
    return U @ np.linalg.pinv(inner, rcond=1e-13) @ P * root, right @ Qt.T * root


def alternate(objective, step, start):
    """Rounds until the objective falls by less than 1e-13 of itself ten times in a row; the objectives after each."""
    pair, values, still = start, [objective(*start)], 0
    while still < 10:
        assert len(values) < 20_000, "the rounds do not end"
        pair = step(*pair)
        values.append(objective(*pair))
        assert values[-1] <= values[-2] * (1 + 1e-10), "a round never raises the objective"
        still = still + 1 if values[-2] - values[-1] < 1e-13 * values[-1] else 0
    return pair, values


def objectives_after(values):
    return {str(k): float(values[min(k, len(values) - 1)]) for k in (1, 2, 5, 10, 20, 50)}


def is_unweighted(case):
    return case["weighting"] == "constant" and case["alpha"] == 1 and case.get("lambda_exponent", 0) == 0


def awmf(data, case):
    W = Weighting(data, case["weighting"], case["alpha"]).dense(data.counts)
    X, G, n, d, lam, kind = data.X, data.G, data.items, case["rank"], case["lambda"], case["regularizer"]
    s, Q = eigenpairs(data, d)

    def closed_form(lam):
        if kind == "weight-decay":
            root = np.sqrt(np.maximum(0, 1 - lam / s))
            return Q * root, Q * root
        if kind == "dropout":
            return Q * (s / (s + lam)), Q
        t = np.maximum(0, np.sqrt(s) - lam)
        return Q * np.sqrt(t / s), Q * np.sqrt(t)

    def objective(U, V):
        fit = (W * (X - X @ U @ V.T) ** 2).sum()
        if kind == "dropout":
            return fit + lam * (U @ V.T).ravel() @ (U @ V.T).ravel()
        return fit + lam * ((U**2).sum() if kind == "weight-decay" else ((X @ U) ** 2).sum()) + lam * (V**2).sum()

    grams = [(X.T * W[:, i]) @ X for i in range(n)]  # X' diag(W_:i) X
    right_side = X.T @ (W * X)

    def step(U, V):
        Z = X @ U
        regularizer = lam * (U.T @ U if kind == "dropout" else np.eye(d))
        V = np.stack([np.linalg.solve((Z.T * W[:, i]) @ Z + regularizer, Z.T @ (W[:, i] * X[:, i])) for i in range(n)])
        # All of U at once: unknown (j, k) is U[j, k].
        H = np.einsum("iab,ik,il->akbl", grams, V, V, optimize=True)
        identity = np.eye(d)
        added = {"weight-decay": (np.eye(n), identity), "dropout": (np.eye(n), V.T @ V), "data-weight-decay": (G, identity)}
        H += lam * np.einsum("ab,kl->akbl", *added[kind])
        H, c = H.reshape(n * d, n * d), (right_side @ V).reshape(n * d)
        singular = kind == "data-weight-decay" and np.linalg.matrix_rank(G) < n
        U = (np.linalg.lstsq(H, c, rcond=1e-11)[0] if singular else scipy.linalg.solve(H, c, assume_a="pos")).reshape(n, d)
        if kind == "dropout":
            return U, V
        return balanced(U, V, np.eye(n) if kind == "weight-decay" else X)

    if is_unweighted(case):
        U, V = closed_form(lam)
        return entry_of(data, case, objective(U, V), data.test_X @ U @ V.T, rounds=0, converged=True)
    least = s[-1] / 2 if kind != "data-weight-decay" else np.sqrt(s[-1]) / 2
    (U, V), values = alternate(objective, step, closed_form(min(lam, least)))
    return entry_of(data, case, values[-1], data.test_X @ U @ V.T, rounds=len(values) - 1, converged=True,
                    objective_after=objectives_after(values))


def wmf(data, case):
    weighting = Weighting(data, case["weighting"], case["alpha"])
    W = weighting.dense(data.counts)
    X, d, nu = data.X, case["rank"], case["lambda_exponent"]
    alpha = 1 if case["weighting"] in ("linear", "log") else case["alpha"]

    def user_lambdas(X):
        return case["lambda"] * (X.sum(1) + data.items / alpha) ** nu

    of_users, of_items = user_lambdas(X), case["lambda"] * (X.sum(0) + data.users / alpha) ** nu

    def rows(W, X, V, lambdas):
        return np.stack([np.linalg.solve((V.T * w) @ V + lam * np.eye(d), V.T @ (w * x)) for w, x, lam in zip(W, X, lambdas)])

    def objective(U, V):
        return (W * (X - U @ V.T) ** 2).sum() + (of_users @ U**2).sum() + (of_items @ V**2).sum()

    def step(U, V):
        V = rows(W.T, X.T, U, of_items)
        U = rows(W, X, V, of_users)
        return balanced(U, V, np.eye(data.users)) if nu == 0 else (U, V)

    s, Q = eigenpairs(data, d)
    P, lam = X @ Q / np.sqrt(s), case["lambda"]
    if not is_unweighted(case):
        lam = min(lam, np.sqrt(s[-1]) / 2)
    root = np.sqrt(np.maximum(0, np.sqrt(s) - lam))
    pair, more = (P * root, Q * root), {"rounds": 0}
    value = objective(*pair)
    if not is_unweighted(case):
        pair, values = alternate(objective, step, pair)
        value, more = values[-1], {"rounds": len(values) - 1, "objective_after": objectives_after(values)}
    scores = rows(weighting.dense(data.test_counts), data.test_X, pair[1], user_lambdas(data.test_X)) @ pair[1].T
    return entry_of(data, case, value, scores, converged=True, **more)


# --- the sets


def full_rank_cases(points):
    return [{"weighting": w, "alpha": a, "lambda": lam, "dropout": p, "zero_diagonal": z} for w, a, lam, p in points for z in (False, True)]


def long_tail():
    """More users than items: X'X is regular."""
    draw = random.Random(20240)
    histories = draw_users(draw, 220 + 2 * 40, 60, 4, 26)
    full = full_rank_cases([
        ("constant", 1, 2, 0), ("constant", 1, 20, 0), ("constant", 1, 2, 0.33), ("constant", 2, 5, 0), ("constant", 20, 20, 0),
        ("constant", 0.5, 10, 0), ("constant", 2, 5, 0.33), ("linear", 0.5, 10, 0), ("log", 2, 10, 0), ("user-oriented", 1, 10, 0),
        ("user-oriented", 3, 10, 0), ("item-oriented", 2, 10, 0), ("item-oriented", 2, 10, 0.2), ("inverse-popularity", 1, 10, 0),
        ("column", 1, 10, 0),
    ]) + [{**case, "lambda_exponent": nu} for nu, points in (
        (0.5, [("constant", 1, 20, 0), ("constant", 5, 10, 0), ("item-oriented", 2, 10, 0)]),
        (-0.5, [("constant", 1, 10, 0), ("log", 2, 10, 0)]),
        (1, [("constant", 1, 5, 0.33), ("constant", 2, 10, 0.2)]),
    ) for case in full_rank_cases(points)]
    asymmetric = [{"regularizer": r, "rank": d, "lambda": lam, "weighting": w, "alpha": a}
                  for r, lam in (("weight-decay", 3.0), ("dropout", 5.0), ("data-weight-decay", 0.5))
                  for d, w, a in ((4, "constant", 1), (8, "constant", 1), (4, "constant", 5), (4, "user-oriented", 2),
                                  (4, "item-oriented", 2), (4, "log", 2))]
    factors = [{"rank": d, "lambda": lam, "lambda_exponent": nu, "weighting": w, "alpha": a}
               for d, lam, nu, w, a in ((4, 1.0, 0, "constant", 1), (8, 1.0, 0, "constant", 1), (4, 1.0, 0, "constant", 5),
                                        (4, 1.0, 0, "user-oriented", 2), (4, 1.0, 0, "item-oriented", 2),
                                        (4, 1.0, 0, "linear", 2), (4, 0.05, 1.0, "constant", 10))]
    return draw, histories, 40, (), full, asymmetric, factors


def bundle():
    """Fewer users than items, and two items that are always together: X'X is singular, and at small lambda nearly so."""
    draw = random.Random(7)
    histories = draw_users(draw, 50 + 2 * 30, 70, 3, 24)
    add_bundle(histories, 2, 69)
    full = full_rank_cases([("constant", 1, 0.01, 0), ("constant", 1, 5, 0), ("constant", 1, 1, 0.33), ("constant", 5, 0.01, 0),
                            ("constant", 5, 5, 0), ("log", 2, 0.1, 0)])
    asymmetric = [{"regularizer": r, "rank": 4, "lambda": lam, "weighting": "constant", "alpha": a}
                  for r, lam in (("weight-decay", 2.0), ("dropout", 3.0), ("data-weight-decay", 0.5)) for a in (1, 5)]
    factors = [{"rank": 4, "lambda": 0.5, "lambda_exponent": 0, "weighting": "constant", "alpha": a} for a in (1, 5)]
    return draw, histories, 30, (2, 69), full, asymmetric, factors


SETS = {"long-tail": long_tail, "bundle": bundle}


def make(folder, name):
    draw, histories, held_out, kept, full, asymmetric, factors = SETS[name]()
    parts, catalogue = split(draw, histories, held_out, kept)
    items = len(catalogue)
    assert catalogue == set(range(items)), "each item has a training user"
    write_parts(folder / name / "pro_sg", parts, items)
    data = Data(parts, items)
    reference = {
        "data": {"train_users": data.users, "items": items, "train_interactions": len(parts["train"])},
        "schemes": f"clip {CLIP}, epsilon {EPSILON}, gamma {GAMMA}",
        "popularity": popularity(data),
        "full_rank": [full_rank(data, case) for case in full],
        "awmf": [awmf(data, case) for case in asymmetric],
        "wmf": [wmf(data, case) for case in factors],
    }
    (folder / name / "reference.json").write_text(json.dumps(reference, indent=1) + "\n")


if __name__ == "__main__":
    for each in SETS:
        make(pathlib.Path(sys.argv[1]), each)

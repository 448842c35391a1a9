"""Choosing parameters, and the paper's question: does weighting help?

    python3 examples/does_weighting_help.py
"""
import pandas
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

import poise

data = poise.split(poise.synth("demo", scale=0.5))
print(data, "\n")

# A search on the validation part: for each alpha the best lambda, then the best alpha, below 1 and above it. Give it a
# journal=FILE and it goes on after an interruption.
found = poise.search(data, poise.EASE(), show_progress=False)
table = pandas.DataFrame(found.table)
print(table[["lambda", "alpha", "validation ndcg@100", "validation ndcg@100 stderr"]].round(4).to_string(index=False))
assert found.best is not None and found.best_model is not None
print("best:", found.best_model, "test", found.best["test"]["ndcg@100"], "\n")

# The same by hand, with scikit-learn's tools: models have its parameter protocol.
best_by_hand = max(
    ParameterGrid({"regularization": [1, 10, 100], "alpha": [1, 2]}),
    key=lambda parameters: poise.evaluate(
        clone(poise.EASE()).set_params(**parameters).fit(data, show_progress=False), data.validation
    )["metrics"]["ndcg@100"]["mean"],
)
print("by hand:", best_by_hand, "\n")

# The paper's experiment: for each kind of model the best weighted against the best unweighted one, all chosen on
# validation and measured once on test users.
study = poise.study({"demo": data}, ranks=[10], models="wmf,full-rank,ease", show_progress=False)
columns = ["model", "rank", "zero_diagonal", "weighted", "alpha", "lambda", "test ndcg@100", "test ndcg@100 stderr"]
print(pandas.DataFrame(study.table)[columns].round(4).to_string(index=False), "\n")
for pair in study.pairs:
    if pair["metric"] == "ndcg@100":
        low, high = pair["interval"]
        name = pair["model"] + (", zero diagonal" if pair["zero_diagonal"] else "")
        print(f"{name}: weighted less unweighted {pair['difference']:+.4f} ({low:+.4f} to {high:+.4f}), p = {pair['p']:.3f}")
print()
for conclusion in study.conclusions:
    print("-", conclusion["sentence"])

# study.markdown, study.latex, study.csv and study.html hold the report; study.save("folder") writes the files.
print(f"\nthe page has {len(study.html) / 1e6:.1f} MB and needs no network")

"""From a table of interactions to recommendations: data, models, figures, reasons, files.

    python3 examples/first_steps.py
"""
import tempfile
from pathlib import Path

import numpy as np
import pandas

import poise

# A log as a shop or a service has it: who, what, how often. Here it is made up; yours may come from
# pandas.read_csv, a database, or straight from a file with poise.Dataset.from_file("ratings.csv").
made_up = poise.synth("demo", values=True)
entries = made_up.train.tocoo()
log = pandas.DataFrame(
    {
        "customer": [f"customer {user}" for user in made_up.users[entries.row]],
        "product": [f"product {item}" for item in made_up.items[entries.col]],
        "count": entries.data,
    }
)
print(log.head(3), "\n")

# Ids may be texts or whole numbers. Some customers are held out whole, to measure on.
data = poise.split(poise.Dataset.from_dataframe(log, "customer", "product", "count"))
print(data, "\n")

# Models: the baseline, EASE, EASE with dropout, matrix factorization with weights. Each is solved exactly, and says how
# far it can be from the optimum.
models: list[poise.Recommender] = [
    poise.Popularity(),
    poise.EASE(regularization=50),
    poise.EDLAE(regularization=20, dropout=0.3),
    poise.AWMF(factors=50, regularizer="dropout", regularization=100),
    poise.WMF(factors=32, regularization=5, alpha=5),
]
rows = []
for model in models:
    model.fit(data, show_progress=False)
    metrics = poise.evaluate(model, data.test)["metrics"]
    rows.append(
        {
            "model": repr(model),
            **{name: f"{estimate['mean']:.4f} +- {estimate['stderr']:.4f}" for name, estimate in metrics.items()},
            "certificate": model.certificate_["relative"] if model.certificate_ else None,
        }
    )
print(pandas.DataFrame(rows).to_string(index=False), "\n")

# What to show a customer, and why. A customer is a row of what they have; nobody has to be in the training data.
ease = models[1]
customer = 7
history = data.test.fold_in[customer]
products, scores = ease.recommend(customer, history, N=3)
print("has", data.items[history.indices][:5].tolist(), "...")
for product, score in zip(products, scores):
    why = ease.explain(customer, history, int(product), N=2)
    because = ", ".join(f"{data.items[item]} ({part:+.3f})" for item, part in why.contributions)
    print(f"  {data.items[product]:<14} {score:.3f}  because of {because}")

# Many at once, with what is sold out left out.
sold_out = data.item_index(["product 1", "product 2"])
batch, _ = ease.recommend(np.arange(5), data.test.fold_in[:5], N=4, filter_items=sold_out)
print("\nfor five customers:\n", data.items[batch])

# What goes with a product.
near, likeness = ease.similar_items(ease.item_index("product 499"), N=3)
print("\nlike product 499:", list(zip(data.items[near], likeness.round(3))))

# A model is one file, which the program `poise` reads as well.
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "ease.model"
    ease.save(path)
    again = poise.load(path)
    assert np.array_equal(again.recommend(customer, history, N=3)[0], products)
    print(f"\n{path.name}: {path.stat().st_size / 1e6:.1f} MB, {again!r}")

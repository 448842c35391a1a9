"""A study of shuffled data finds nothing."""
import random

from studying import study


def shuffled(pairs, seed):
    """Swaps the items of random pairs of interactions: every user and item keeps its number of them."""
    draw = random.Random(seed)
    pairs = list(pairs)
    present = set(pairs)
    for _ in range(8 * len(pairs)):
        a, b = draw.randrange(len(pairs)), draw.randrange(len(pairs))
        (u, i), (v, j) = pairs[a], pairs[b]
        if (u, j) not in present and (v, i) not in present:
            present -= {pairs[a], pairs[b]}
            pairs[a], pairs[b] = (u, j), (v, i)
            present |= {pairs[a], pairs[b]}
    return pairs


def test_shuffled_data_teach_nothing(poise, tmp_path):
    poise("synth", "--like", "demo", "--out", tmp_path / "demo.csv")
    pairs = [tuple(line.split(",")) for line in (tmp_path / "demo.csv").read_text().splitlines()[1:]]
    counts = {}
    for _, item in pairs:
        counts[item] = counts.get(item, 0) + 1
    head = set(sorted(counts, key=counts.get)[-120:])  # quick, and no fewer users
    pairs = [pair for pair in pairs if pair[1] in head]
    results = {}
    for name, rows in (("real", pairs), ("shuffled", shuffled(pairs, 3))):
        assert all(sorted(row[k] for row in rows) == sorted(pair[k] for pair in pairs) for k in (0, 1))
        (tmp_path / f"{name}.csv").write_text("user,item\n" + "".join(f"{user},{item}\n" for user, item in rows))
        poise("prepare", tmp_path / f"{name}.csv", "--out", tmp_path / name)
        results[name] = study(tmp_path / name, tmp_path / f"study-{name}", "--models", "weight-decay,ease", "--ranks", 10,
                              "--no-expand")
    statement = "No model is measurably better than popularity"
    for row in results["shuffled"].json["against_popularity"]:
        assert row["difference"] < 0 or row["corrected_p"] > 0.05
    assert results["shuffled"].text("tables.md").startswith(f"# {statement}\n")
    assert [conclusion["sentence"].startswith(statement) for conclusion in results["shuffled"].json["conclusions"]
            if conclusion["overall"]] == [True]
    assert "No row beats popularity" in results["shuffled"].text("tables.md")
    assert statement in results["shuffled"].text("report.html")
    for row in results["real"].json["against_popularity"]:
        assert row["difference"] > 0.05 and row["corrected_p"] < 1e-6
    assert statement not in results["real"].text("tables.md")
    assert "All 4 rows beat popularity" in results["real"].text("tables.md")

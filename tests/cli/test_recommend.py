"""Recommendations from the command line."""
import csv
import io

import pytest


@pytest.fixture
def counts(data, poise, tmp_path):
    """Training users of each item, counted from the exported split."""
    poise("prepare", tmp_path / "log.csv", "--out", tmp_path / "again", "--export-pro-sg", tmp_path / "pro_sg")
    ids = (tmp_path / "pro_sg" / "unique_sid.txt").read_text().split("\n")[:-1]
    result = dict.fromkeys(ids, 0)
    for line in (tmp_path / "pro_sg" / "train.csv").read_text().split("\n")[1:-1]:
        result[ids[int(line.split(",")[1])]] += 1
    return result


def ranked(counts, without=()):
    order = list(counts)
    return sorted((i for i in order if i not in without), key=lambda i: (-counts[i], order.index(i)))


def items_of(result):
    return [row["item"] for row in result["recommendations"]]


def test_most_popular_first_without_the_history(poise, model, counts):
    history = ranked(counts)[:3]
    result = poise("recommend", model, "--items", ",".join(history), "-k", 5, "--json").json
    assert items_of(result) == ranked(counts, history)[:5]
    assert [row["score"] for row in result["recommendations"]] == [counts[i] for i in items_of(result)]


def test_formats_agree(poise, model):
    as_json = poise("recommend", model, "--items", "i1", "--format", "json").json
    rows = list(csv.DictReader(io.StringIO(poise("recommend", model, "--items", "i1", "--format", "csv").out)))
    assert [r["item"] for r in rows] == items_of(as_json)
    table = poise("recommend", model, "--items", "i1").out.split("\n")
    assert [line.split()[1] for line in table if line] == items_of(as_json)


def test_history_exclude_only(poise, tmp_path, model, counts):
    order = ranked(counts)
    (tmp_path / "history").write_text(f"{order[0]}\r\n\n{order[0]}\n")
    (tmp_path / "exclude").write_text(f"{order[1]}\nnot an item\n")
    (tmp_path / "only").write_text("\n".join(order[:4]))
    result = poise("recommend", model, "--history", tmp_path / "history", "--exclude", tmp_path / "exclude", "--only",
                   tmp_path / "only", "--json")
    assert items_of(result.json) == order[2:4]
    assert "1 ids are not items" in result.err


def test_more_than_there_are(poise, model, counts):
    assert len(items_of(poise("recommend", model, "--items", "i1", "-k", 100000, "--json").json)) == len(counts) - 1


def test_errors(poise, tmp_path, model):
    (tmp_path / "list").write_text("i1\n\nnonsense\n")
    assert f"{tmp_path / 'list'}:3: the model does not know the item 'nonsense'" in poise(
        "recommend", model, "--history", tmp_path / "list", code=3).err
    assert "'nonsense' (its first one is 'i" in poise("recommend", model, "--items", "i1,nonsense", code=3).err
    poise("recommend", model, "--history", tmp_path / "missing", code=3)
    poise("recommend", model, "--history", tmp_path, code=3)
    poise("recommend", model, code=2)
    poise("recommend", model, "--items", "i1", "--history", "x", code=2)
    poise("recommend", model, "--items", "i1", "-k", "0", code=2)


def test_explain_needs_a_model_that_uses_the_history(poise, model):
    for extra in ((), ("--json",)):
        assert "does not use the history" in poise("recommend", model, "--items", "i1", "--explain", *extra, code=2).err
    assert "--explain" in poise("recommend", model, "--items", "i1", "--explain", "--format", "csv", code=2).err


def test_similar_needs_a_model_that_uses_the_history(poise, model):
    assert "does not use the history" in poise("similar", model, "--item", "i1", code=2).err
    assert "'nonsense'" in poise("similar", model, "--item", "nonsense", code=3).err
    poise("similar", model, code=2)
    poise("similar", model, "--item", "i1", "-k", "0", code=2)
    poise("similar", model.parent / "missing", "--item", "i1", code=3)


@pytest.fixture
def batch(tmp_path):
    """Three users; Zoe, whose name needs quotes, has two items that the model does not know and one that it does."""
    path = tmp_path / "histories.csv"
    path.write_text('user,item\nann,i3\n"Zoe, B",i1\n"Zoe, B",new1\nann,i2\n"Zoe, B",new2\nbob,new1\nann,i3\n')
    return path


def test_histories(poise, model, batch):
    result = poise("recommend", model, "--histories", batch, "-k", 5, "--json")
    assert "3 entries skipped" in result.err
    users = result.json["users"]
    assert [user["user"] for user in users] == ["ann", "Zoe, B", "bob"]
    alone = poise("recommend", model, "--items", "i2,i3", "-k", 5, "--json").json
    assert users[0]["recommendations"] == alone["recommendations"]
    assert len(users[2]["recommendations"]) == 5
    rows = list(csv.reader(io.StringIO(poise("recommend", model, "--histories", batch, "-k", 5, "--format", "csv").out)))
    assert rows[0] == ["user", "item", "score"]
    assert rows[1:] == [[user["user"], row["item"], f"{row['score']:g}"] for user in users for row in user["recommendations"]]
    table = poise("recommend", model, "--histories", batch, "-k", 5).out.split("\n")
    assert [line for line in table if line and not line.startswith(" ")] == ["ann", "Zoe, B", "bob"]
    assert poise("recommend", model, "--histories", batch, "--quiet", "--json").err == ""


def test_histories_of_the_training_log(poise, model, log, tmp_path):
    whole = poise("recommend", model, "--histories", log, "-k", 3, "--json").json["users"]
    assert len(whole) == 60 and all(len(user["recommendations"]) == 3 for user in whole)
    (tmp_path / "only").write_text("i4\n")
    only = poise("recommend", model, "--histories", log, "--only", tmp_path / "only", "--json").json["users"]
    lines = [line.split(",") for line in log.read_text().split("\n")[1:-1]]
    has = {user for user, item, _ in lines if item == "i4"}
    assert {user["user"] for user in only if not user["recommendations"]} == has


def test_histories_keep_their_values(poise, data, tmp_path):
    """A model whose weights come from values weights a history's own."""
    poise("train", data, "--model", "wmf", "--rank", 4, "--lambda", 1, "--weighting", "log", "--alpha", 3, "--out", tmp_path / "wmf")
    file = tmp_path / "valued.csv"

    def scores(text, *flags):
        file.write_text("user,item,rating\n" + text)
        found = poise("recommend", tmp_path / "wmf", "--histories", file, "--json", *flags).json["users"][0]["recommendations"]
        return {row["item"]: row["score"] for row in found}

    once = scores("u,i1,1\n")
    alone = poise("recommend", tmp_path / "wmf", "--items", "i1", "--json").json["recommendations"]
    assert once == {row["item"]: row["score"] for row in alone}
    thrice = scores("u,i1,3\n")
    assert thrice != once
    assert scores("u,i1,1\nu,i1,2\n") == thrice  # values of a pair add up, as in prepare
    assert scores("u,i1,3\n", "--columns", "user,item") == once
    file.write_text("user,item,rating\nu,i1,-2\n")
    assert "values >= 0" in poise("recommend", tmp_path / "wmf", "--histories", file, code=3).err


@pytest.fixture
def ease(data, poise, tmp_path):
    poise("train", data, "--model", "ease", "--lambda", 5, "--out", tmp_path / "ease")
    return tmp_path / "ease"


def test_an_empty_history_is_said(poise, ease, model, batch, tmp_path):
    (tmp_path / "empty").write_text("\n")
    result = poise("recommend", ease, "--history", tmp_path / "empty", "-k", 3, "--json")
    assert "the history is empty: every score is 0" in result.err
    assert [row["score"] for row in result.json["recommendations"]] == [0, 0, 0]
    assert poise("recommend", ease, "--history", tmp_path / "empty", "--quiet").err == ""
    assert "1 of 3 users have no history of items that the model knows" in poise("recommend", ease, "--histories", batch).err
    # Popularity scores nobody by a history.
    assert poise("recommend", model, "--history", tmp_path / "empty").err == ""
    assert poise("recommend", ease, "--items", "i1").err == ""


def test_explained_tables_say_of_how_many(poise, ease):
    table = poise("recommend", ease, "--items", "i1,i2,i3,i4,i5", "-k", 2, "--explain").out
    assert table.count("(3 of 5 in the history)") == 2
    assert "in the history" not in poise("recommend", ease, "--items", "i1,i2,i3", "-k", 2, "--explain").out


def test_lists_may_begin_with_a_byte_order_mark(poise, ease, tmp_path):
    (tmp_path / "plain").write_text("i1\ni2\n")
    (tmp_path / "marked").write_text("\ufeffi1\r\ni2\r\n")
    for flags in (["--history"], ["--items", "i3", "--exclude"], ["--items", "i3", "--only"]):
        plain = poise("recommend", ease, *flags, tmp_path / "plain", "--json")
        marked = poise("recommend", ease, *flags, tmp_path / "marked", "--json")
        assert plain.out == marked.out and plain.err == marked.err == ""


def test_an_item_that_was_perhaps_meant(poise, tmp_path):
    rows = [f"u{u},{item}\n" for u in range(9) for item in ("White Heart", "Red Mug", "85123A", "85124", "x17", "x18")]
    (tmp_path / "shop.csv").write_text("user,item\n" + "".join(rows))
    poise("prepare", tmp_path / "shop.csv", "--out", tmp_path / "shop")
    poise("train", tmp_path / "shop", "--model", "popularity", "--out", tmp_path / "popular")

    def error(item):
        return poise("recommend", tmp_path / "popular", "--items", item, code=3).err
    assert "did you mean 'White Heart'?" in error("white hart")
    assert "did you mean '85123A'?" in error("85123a")
    for other in ("85125", "x19", "y17x", "nothing like it"):  # another number is another item
        assert "did you mean" not in error(other)


def test_what_was_seen_is_not_recommended(poise, ease, log, tmp_path):
    """Low ratings are no part of the history that is scored, and are not recommended either."""
    lines = [line.split(",") for line in log.read_text().split("\n")[1:-1]]
    seen = {}
    liked = {}
    for user, item, rating in lines:
        seen.setdefault(user, set()).add(item)
        if float(rating) > 3.5:
            liked.setdefault(user, set()).add(item)
    result = poise("recommend", ease, "--histories", log, "--keep-above", 3.5, "-k", 25, "--json")
    users = result.json["users"]
    assert {user["user"] for user in users} == set(seen)
    low = sum(float(rating) <= 3.5 for _, _, rating in lines)
    assert f"{low} rows with a value not above the threshold" in result.err
    items = {item for _, item, _ in lines}
    for user in users:
        assert {row["item"] for row in user["recommendations"]} == items - seen[user["user"]]
    # The scores are those of what was liked.
    one = next(user for user in users if liked.get(user["user"]))
    alone = poise("recommend", ease, "--items", ",".join(sorted(liked[one["user"]])), "-k", 25, "--json").json
    scores = {row["item"]: row["score"] for row in alone["recommendations"]}
    assert all(scores[row["item"]] == row["score"] for row in one["recommendations"])


def test_a_user_who_liked_nothing_is_still_there(poise, ease, tmp_path):
    (tmp_path / "h.csv").write_text("user,item,rating\nann,i1,5\nbob,i2,1\nann,i3,0.1\nann,i3,5\n")
    result = poise("recommend", ease, "--histories", tmp_path / "h.csv", "--keep-above", 0.1, "-k", 25, "--json")
    ann, bob = result.json["users"]
    assert "1 rows with a value not above" in result.err  # 0.1 itself, though float32 would make it larger
    low = poise("recommend", ease, "--histories", tmp_path / "h.csv", "--keep-above", 3, "-k", 25, "--json")
    ann, bob = low.json["users"]
    assert bob["user"] == "bob" and "i2" not in {row["item"] for row in bob["recommendations"]}
    assert {row["score"] for row in bob["recommendations"]} == {0}
    assert "1 of 2 users have no history" in low.err
    only = poise("recommend", ease, "--items", "i1,i3", "-k", 25, "--json").json
    assert ann["recommendations"] == only["recommendations"]


def test_histories_are_read_as_prepare_reads(poise, model, tmp_path):
    shop = tmp_path / "shop.csv"
    shop.write_text("Invoice;Stock;Qty;Cust\nI1;i1;2;ann\nI2;i2;-1;ann\nI3;i3;1;bob\nI4;i4;x;bob\n")
    flags = ["--columns", "Cust,Stock,Qty", "--keep-above", 0]
    assert "shop.csv:5:" in poise("recommend", model, "--histories", shop, *flags, code=3).err
    result = poise("recommend", model, "--histories", shop, *flags, "--skip-bad-lines", "-k", 25, "--json")
    assert "user = column 4 (Cust), item = column 2 (Stock)" in result.err
    assert "1 rows with a value not above the threshold" in result.err and "1 bad lines skipped" in result.err
    ann, bob = result.json["users"]
    assert (ann["user"], bob["user"]) == ("ann", "bob")
    items = {row["item"] for row in ann["recommendations"]}
    assert "i1" not in items and "i2" not in items  # i2 came back: it is known, though not liked
    movielens = tmp_path / "ratings.dat"
    movielens.write_text("1::i1::5::978300760\n1::i2::2::978302109\n")
    liked = poise("recommend", model, "--histories", movielens, "-k", 25, "--json")
    assert "movielens" in liked.err and "i2" not in {row["item"] for row in liked.json["users"][0]["recommendations"]}
    for flag in (["--columns", "a,b"], ["--keep-above", 1], ["--delimiter", ";"], ["--header", "no"], ["--skip-bad-lines"]):
        assert "--histories" in poise("recommend", model, "--items", "i1", *flag, code=2).err
    poise("recommend", model, "--histories", shop, "--columns", "Cust", code=2)


def test_history_sources_exclude_each_other(poise, model, batch, tmp_path):
    poise("recommend", model, "--items", "i1", "--histories", batch, code=2)
    poise("recommend", model, "--histories", batch, "--history", batch, code=2)
    poise("recommend", model, "--histories", tmp_path / "missing", code=3)
    poise("recommend", model, "--histories", batch, "--explain", code=2)


def users_of(result):
    return {row["user"]: items_of(row) for row in result["users"]}


def test_pairs_that_are_never_recommended(poise, model, batch, tmp_path):
    everything = ["recommend", model, "--histories", batch, "-k", 100000, "--json"]
    plain = users_of(poise(*everything).json)
    user, other = list(plain)[:2]
    (tmp_path / "pairs.csv").write_text(f"user,item\n{user},{plain[user][0]}\n{user},{plain[user][2]}\n{user},no such item\n"
                                        f"{user},{plain[user][0]}\nstranger,{plain[user][1]}\n")
    result = poise(*everything, "--exclude-pairs", tmp_path / "pairs.csv")
    filtered = users_of(result.json)
    assert filtered.pop(user) == [item for place, item in enumerate(plain.pop(user)) if place not in (0, 2)]
    assert filtered == plain and filtered[other]
    assert "1 rows are of users without a history" in result.err and "1 rows skipped" in result.err
    (tmp_path / "empty.csv").write_text("")
    assert "empty.csv" in poise(*everything, "--exclude-pairs", tmp_path / "empty.csv", code=3).err
    assert "missing.csv" in poise(*everything, "--exclude-pairs", tmp_path / "missing.csv", code=3).err
    poise("recommend", model, "--items", "i1", "--exclude-pairs", tmp_path / "pairs.csv", code=2)


def test_diversify(poise, ease, model, batch, tmp_path):
    plain = ["recommend", ease, "--histories", batch, "-k", 8, "--explain", "--json"]
    assert poise(*plain, "--diversify", 0).out == poise(*plain).out
    diverse = poise(*plain, "--diversify", 0.6, "--threads", 1)
    assert diverse.out == poise(*plain, "--diversify", 0.6, "--threads", 3).out
    lists, usual = users_of(diverse.json), users_of(poise(*plain).json)
    assert lists != usual and all(lists[user][0] == usual[user][0] for user in usual)
    for row in diverse.json["users"]:
        for each in row["recommendations"]:
            assert sum(reason["contribution"] for reason in each["because"]) == pytest.approx(each["score"], abs=1e-5)
    every = items_of(poise("recommend", ease, "--items", "i1", "-k", 100000, "--json").json)
    assert sorted(items_of(poise("recommend", ease, "--items", "i1", "-k", 100000, "--diversify", 1, "--json").json)) == sorted(every)
    (tmp_path / "config.toml").write_text("diversify = 0.6\n")
    assert poise(*plain, "--config", tmp_path / "config.toml").out == diverse.out
    for wrong in ("1.5", "-0.1", "nan", "much"):
        poise("recommend", ease, "--items", "i1", f"--diversify={wrong}", code=2)
    assert "similar items need a model" in poise("recommend", model, "--items", "i1", "--diversify", 0.3, code=2).err

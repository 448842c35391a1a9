"""Liang et al.'s split, written a second time: plain Python over rows, with NumPy's own random numbers."""
import numpy as np


def number_or_text(ids):
    try:
        return [float(i) for i in ids]
    except ValueError:
        return [i.encode() for i in ids]


def split(rows, held_out, seed=98765, share=0.2, min_user_items=5, min_item_users=0):
    """rows: (user, item) in file order, as texts. Returns the files' rows as sorted (uid, sid), and unique_sid."""
    rows = list(dict.fromkeys(rows))
    users_of = {}
    for user, item in rows:
        users_of.setdefault(item, []).append(user)
    rows = [(u, i) for u, i in rows if len(users_of[i]) >= min_item_users]
    items_of = {}
    for user, item in rows:
        items_of.setdefault(user, []).append(item)
    rows = [(u, i) for u, i in rows if len(items_of[u]) >= min_user_items]

    users = list({u for u, _ in rows})
    keys = dict(zip(users, number_or_text(users)))
    users.sort(key=lambda u: (keys[u], u.encode()))
    order = np.random.RandomState(seed).permutation(len(users))
    users = [users[k] for k in order]
    uid = {u: k for k, u in enumerate(users)}
    first_validation, first_test = len(users) - 2 * held_out, len(users) - held_out
    train_rows = [(u, i) for u, i in rows if uid[u] < first_validation]
    catalogue = list(dict.fromkeys(i for _, i in train_rows))
    sid = {i: k for k, i in enumerate(catalogue)}

    files = {"train.csv": [(uid[u], sid[i]) for u, i in train_rows], "unique_sid.txt": catalogue}
    outside = 0
    for name, first, last in (("validation", first_validation, first_test), ("test", first_test, len(users))):
        random = np.random.RandomState(seed)
        part = {}
        for u, i in rows:
            if first <= uid[u] < last:
                if i in sid:
                    part.setdefault(u, []).append(i)
                else:
                    outside += 1
        fold_in, targets = [], []
        for u in sorted(part, key=lambda u: (keys[u], u.encode())):
            items = part[u]
            chosen = np.zeros(len(items), dtype=bool)
            if len(items) >= 5:
                chosen[random.choice(len(items), size=int(share * len(items)), replace=False)] = True
            for item, is_target in zip(items, chosen):
                (targets if is_target else fold_in).append((uid[u], sid[item]))
        files[name + "_tr.csv"], files[name + "_te.csv"] = fold_in, targets
    for name in files:
        if name.endswith(".csv"):
            files[name].sort()
    return files, outside


def read_exported(folder):
    files = {"unique_sid.txt": (folder / "unique_sid.txt").read_text().split("\n")[:-1]}
    for path in folder.glob("*.csv"):
        lines = path.read_text().split("\n")
        assert lines[0] == "uid,sid" and lines[-1] == ""
        files[path.name] = [tuple(map(int, line.split(","))) for line in lines[1:-1]]
    return files

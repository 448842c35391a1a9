"""Flags, JSON, config files, help, completion, determinism: what scripts rely on."""
import json
import os
import pty
import subprocess
import tomllib

import pytest

from conftest import PROGRAM

HELP = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True).stdout
COMMANDS = [line.split()[0] for line in HELP.split("Commands:\n")[1].split("\n\n")[0].split("\n")]


def test_no_command_and_unknown_command(poise):
    assert subprocess.run([PROGRAM], capture_output=True).returncode == 2
    assert "frobnicate" in poise("frobnicate", code=2).err
    assert "prepare" in poise("--help").out
    assert poise("--version").out.startswith("poise ")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_examples(poise, command):
    text = poise(command, "--help").out
    assert "Example" in text and f"poise {command}" in text.split("Example")[1]


@pytest.mark.parametrize("arguments", [
    ("prepare",),
    ("prepare", "x", "--out", "y", "--no-such-flag"),
    ("prepare", "x", "--out", "y", "--target-share", "2"),
    ("prepare", "x", "--out", "y", "--target-share", "0"),
    ("prepare", "x", "--out", "y", "--target-share", "1"),
    ("prepare", "x", "--out", "y", "--target-share", "-0.1"),
    ("prepare", "x", "--out", "y", "--min-user-items", "-1"),
    ("prepare", "x", "--out", "y", "--split", "sideways"),
    ("prepare", "x", "--out", "y", "--split", "given"),
    ("prepare", "x", "--out", "y", "--test", "z"),
    ("prepare", "x", "--out", "y", "--export-values"),
    ("prepare", "x", "--out", "y", "--split", "none", "--export-pro-sg", "z"),
    ("prepare", "x", "--out", "y", "--columns", "a"),
    ("synth", "--like", "nothing", "--out", "y"),
    ("synth", "--like", "demo", "--scale", "0", "--out", "y"),
    ("train", "x", "--model", "psychic", "--out", "y"),
    ("doctor", "--threads", "0"),
    ("doctor", "--threads", "many"),
    ("doctor", "--memory-limit", "lots"),
    ("completion", "tcsh"),
    ("prepare", "x", "--out", "y", "--target-share", "nan"),
    ("prepare", "x", "--out", "y", "--keep-above", "nan"),
    ("prepare", "x", "--out", "y", "--keep-above", "-inf"),
    ("prepare", "x", "--out", "y", "--keep-above", "1e999"),
    ("prepare", "x", "--out", "y", "--columns", "a,b,c,d,e"),
    ("prepare", "x", "--out", "y", "--columns", "a,,c"),
    ("prepare", "x", "--out", ""),
    ("prepare", "", "--out", "y"),
    ("prepare", "x", "--out", "y", "--export-pro-sg", ""),
    ("prepare", "x", "--out", "y", "--split", "given", "--test", ""),
    ("prepare", "x", "--out", "y", "--seed", "-1"),
    ("synth", "--like", "demo", "--scale", "inf", "--out", "y"),
    ("synth", "--like", "demo", "--scale", "nan", "--out", "y"),
    ("synth", "--like", "demo", "--out", ""),
    ("train", "x", "--model", "popularity", "--out", ""),
    ("evaluate", "x", "y", "--per-user", ""),
    ("doctor", "--memory-limit", "0"),
    ("doctor", "--memory-limit", "63M"),
    ("doctor", "--memory-limit", "-1G"),
    ("doctor", "--memory-limit", "1X"),
    ("doctor", "--memory-limit", "1e400G"),
    ("doctor", "--seed", "x"),
    ("serve",),
    ("serve", "--demo", "--port", "70000"),
    ("serve", "--demo", "--host", "0.0.0.0"),
    ("serve", "--demo", "--rate-limit", "-1"),
    ("help", "frobnicate"),
])
def test_bad_flags(poise, arguments):
    assert len(poise(*arguments, code=2).err) < 300, "a sentence"


@pytest.mark.parametrize("text, size", [("1.5G", 3 << 29), ("64M", 64 << 20), ("100mb", 100 << 20), ("1 GiB", 1 << 30),
                                        ("0.5T", 1 << 39), ("100000000", 10**8), ("200000K", 200000 << 10)])
def test_memory_limit_units(poise, text, size):
    assert poise("doctor", "--memory-limit", text, "--json").json["memory_limit_bytes"] == size


@pytest.mark.parametrize("name", ["x.csv.gz", "x.zst", "x.tsv", "x.TXT"])
def test_synth_writes_no_such_file(poise, tmp_path, name):
    assert ".csv" in poise("synth", "--like", "demo", "--out", tmp_path / name, code=2).err
    assert list(tmp_path.iterdir()) == []


def test_synth_csv_in_capitals(poise, tmp_path):
    poise("synth", "--like", "demo", "--scale", "0.1", "--out", tmp_path / "X.CSV")
    assert (tmp_path / "X.CSV").read_text().startswith("user,item\n")


def test_columns_leave_the_input_alone(poise, tmp_path, log):
    first = poise("prepare", "--columns", "user,item", log, "--out", tmp_path / "a", "--json").json
    second = poise("prepare", log, "--out", tmp_path / "b", "--columns", "user,item", "--json").json
    assert first == second


def test_seed_is_a_shared_flag(poise, tmp_path, data, model):
    poise("train", data, "--model", "popularity", "--seed", 7, "--out", tmp_path / "seeded")
    assert (tmp_path / "seeded").read_bytes() == model.read_bytes()
    poise("evaluate", model, data, "--seed", 7)


def test_evaluation_on_other_data(poise, tmp_path, log, data, model):
    same = poise("evaluate", model, data, "--json")
    assert same.json["same_data"] is True and "other data" not in same.err
    poise("prepare", log, "--out", tmp_path / "other", "--target-share", "0.4")
    other = poise("evaluate", model, tmp_path / "other", "--json")
    assert other.json["same_data"] is False and "other data" in other.err


def test_contradicting_flags(poise, tmp_path, log):
    poise("prepare", log, "--out", tmp_path / "d", "--split", "given", "--test", log, "--min-user-items", "3", code=2)
    poise("prepare", log, "--out", tmp_path / "d", "--split", "none", "--held-out-users", "3", code=2)
    poise("prepare", log, "--columns", "user,item", "--keep-above", "3", "--out", tmp_path / "d", code=2)


def test_bad_metrics(poise, model, data):
    for metrics in ("recall", "recall@", "recall@0", "recall@x", "speed@10", "", "recall@20,"):
        poise("evaluate", model, data, "--metrics", metrics, code=2)


def test_missing_gpu(poise, tmp_path, data, model):
    if poise("doctor", "--json").json["cuda"]["devices"]:
        pytest.skip("this machine has a GPU")
    for command in (("doctor",), ("evaluate", model, data), ("train", data, "--model", "popularity", "--out", tmp_path / "m"),
                    ("search", data, "--model", "full-rank"), ("study", data, "--out", tmp_path / "s"),
                    ("recommend", model, "--items", "i1")):
        error = poise(*command, "--device", "cuda", code=4).err
        assert "CUDA" in error and "--device cpu" in error
    assert not (tmp_path / "m").exists() and not (tmp_path / "s").exists()
    poise("doctor", "--device", "gpu", code=2)


def test_device_is_reported(poise, tmp_path, data, model):
    for device in ("cpu", "auto"):
        assert poise("evaluate", model, data, "--device", device, "--json").json["device"] == "cpu"
        trained = poise("train", data, "--model", "full-rank", "--out", tmp_path / device, "--device", device, "--json").json
        assert trained["device"] == "cpu"
        found = poise("search", data, "--model", "full-rank", "--lambda", 1, "--alpha", 1, "--no-expand", "--device", device,
                      "--json").json
        assert found["device"] == "cpu"
    # What a model file holds does not depend on it.
    assert (tmp_path / "cpu").read_bytes() == (tmp_path / "auto").read_bytes()


def test_doctor(poise):
    result = poise("doctor", "--json").json
    assert set(result) >= {"version", "blas", "threads", "memory_bytes", "cuda"}
    assert "OpenBLAS" in result["blas"]
    kernels = result["kernels"]
    assert kernels["core"] in result["blas"] and kernels["chosen_by"] in ("openblas", "poise", "environment")
    assert kernels["product_gflops"] > 0 and kernels["peak_gflops"] > 0
    assert isinstance(result["cuda"]["built"], bool) and isinstance(result["cuda"]["devices"], list)
    text = poise("doctor").out
    if not result["cuda"]["built"]:
        assert result["cuda"] == {"built": False, "devices": []} and "built without CUDA" in text
    for gpu in result["cuda"]["devices"]:
        assert gpu["name"] in text and gpu["memory_bytes"] > 0
    assert poise("doctor", "--threads", "3", "--json").json["threads"] == 3


def test_idle_threads_spin_briefly(poise, data, tmp_path):
    """Training starts itself again with a short spin, unless the environment says how threads are to wait."""
    def waiting(command, **variables):
        environment = {k: v for k, v in os.environ.items() if k not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
        environment |= {"OMP_DISPLAY_ENV": "VERBOSE", **variables}
        return poise(*command, env=environment).err

    train = ["train", data, "--model", "popularity", "--out", tmp_path / "m"]
    if "GOMP_SPINCOUNT" not in waiting(train):
        pytest.skip("another runtime than libgomp, as with clang")
    assert "GOMP_SPINCOUNT = '1000'" in waiting(train)
    assert "GOMP_SPINCOUNT = '1000'" not in waiting(train, OMP_WAIT_POLICY="passive")
    assert "GOMP_SPINCOUNT = '7'" in waiting(train, GOMP_SPINCOUNT="7")
    assert "GOMP_SPINCOUNT = '1000'" not in waiting(["info", tmp_path / "m"])


def test_a_slip_in_a_required_flag_is_named(poise, data, tmp_path):
    error = poise("train", data, "--modle", "wmf", "--out", tmp_path / "m", code=2).err
    assert "there is no --modle" in error and "did you mean '--model'?" in error


@pytest.mark.parametrize("arguments, meant", [
    (("trian",), "train"),
    (("help", "reccomend"), "recommend"),
    (("--hlep",), "--help"),
    (("doctor", "--thread", "2"), "--threads"),
    (("doctor", "--thread=2"), "--threads"),
    (("train", "x", "--model", "wmf", "--out", "y", "--lamda", "3"), "--lambda"),
    (("train", "x", "--model", "wmf", "--out", "y", "-lambda", "3"), "--lambda"),
    (("recommend", "x", "--itmes", "a"), "--items"),
    (("train", "x", "--model", "full_rank", "--out", "y"), "full-rank"),
    (("train", "x", "--model", "eaze", "--out", "y"), "ease"),
    (("train", "x", "--model", "wmf", "--out", "y", "--weighting", "lineer"), "linear"),
    (("train", "x", "--model", "awmf", "--out", "y", "--regularizer", "droput"), "dropout"),
    (("prepare", "x", "--out", "y", "--format", "movie-lens"), "movielens"),
    (("prepare", "x", "--out", "y", "--split", "user"), "users"),
    (("evaluate", "x", "y", "--on", "tset"), "test"),
    (("evaluate", "x", "y", "--metrics", "recall@20,ndgc@100"), "ndcg"),
    (("search", "x", "--model", "wmf", "--weighting", "constant,lgo"), "log"),
    (("search", "x", "--model", "wmf", "--metric", "recal@5"), "recall"),
    (("study", "x", "--out", "y", "--models", "ease,edlea"), "edlae"),
    (("study", "x", "--out", "y", "--compare-paper", "ml20m"), "ml-20m"),
    (("doctor", "--device", "cdua"), "cuda"),
])
def test_did_you_mean(poise, arguments, meant):
    error = poise(*arguments, code=2).err
    assert f"did you mean '{meant}'?" in error and error.count("\n") == 1


def test_no_wild_guesses(poise, tmp_path):
    for arguments in (("frobnicate",), ("doctor", "--frobnicate"), ("doctor", "--device", "abacus")):
        assert "did you mean" not in poise(*arguments, code=2).err
    (tmp_path / "typo.toml").write_text("thraeds = 2\n")
    assert "did you mean 'threads'?" in poise("doctor", "--config", tmp_path / "typo.toml", code=2).err


def test_values_too_few_or_too_many(poise):
    assert "poise: --model needs a value;" in poise("train", "x", "--out", "y", "--model", code=2).err
    assert "poise: --out is given too often" in poise("train", "x", "--model", "wmf", "--out", "y", "--out", "z", code=2).err


def test_flags_come_after_the_command(poise):
    assert "the command comes before --threads" in poise("--threads", 2, "doctor", code=2).err


def test_an_argument_too_many(poise):
    assert "'extra' is one argument too many" in poise("info", "x", "extra", code=2).err


def test_json_keys(poise, tmp_path, log, data, model):
    prepared = poise("prepare", log, "--out", tmp_path / "again", "--json").json
    assert list(prepared)[:12] == ["users", "items", "interactions", "density", "duplicates", "empty_ids", "below_threshold",
                                   "outside_catalogue", "skipped_lines", "train", "validation", "test"]
    assert list(prepared)[12:] == ["filtered_users", "filtered_items", "filtered_interactions"]
    trained = poise("train", data, "--model", "popularity", "--out", tmp_path / "m", "--json").json
    assert set(trained) >= {"model", "rank", "lambda", "alpha", "weighting", "objective", "observed_weight", "certificate",
                            "iterations", "rounds", "converged", "seconds", "peak_bytes"}
    assert trained["seconds"]["total"] > 0 and trained["peak_bytes"] > 0
    phases = ["start", "load", "weights", "estimate", "device", "train", "report", "save"]
    seconds = trained["seconds"]
    assert sum(seconds[phase] for phase in phases) <= seconds["total"]
    assert seconds["save write"] + seconds["save sync"] <= seconds["save"]
    evaluated = poise("evaluate", model, data, "--metrics", "coverage@5,map@3", "--json").json
    assert set(evaluated) == {"users", "users_without_targets", "known_targets", "metrics", "same_data", "device", "seconds", "phases"}
    phases = evaluated["phases"]
    assert evaluated["seconds"] == phases["evaluate"]
    assert set(phases) == {"total", "start", "load model", "load data", "device", "evaluate", "report"}
    assert sum(time for phase, time in phases.items() if phase != "total") <= phases["total"]
    assert evaluated["metrics"]["coverage@5"]["stderr"] is None
    assert evaluated["metrics"]["map@3"]["stderr"] >= 0
    assert poise("info", data, "--json").json["interactions"] == prepared["interactions"]
    info = poise("info", model, "--json").json
    assert info["data_checksum"] == poise("info", data, "--json").json["checksum"]
    assert info["options"] == {"model": "popularity"}
    shown = poise("info", model).out
    assert "--model popularity" in shown and "converged" in shown and "objective" not in shown, "null is not shown"


def test_quiet(poise, tmp_path, log):
    result = poise("prepare", log, "--out", tmp_path / "d", "--quiet", "--json")
    assert result.err == ""


def test_config_file(poise, tmp_path, log):
    (tmp_path / "options.toml").write_text('split = "none"\nmin-user-items = 8\ncolumns = ["user", "item", "rating"]\nkeep-above = 2.5\n')
    by_file = poise("prepare", log, "--out", tmp_path / "a", "--config", tmp_path / "options.toml", "--json").json
    by_flags = poise("prepare", log, "--out", tmp_path / "b", "--split", "none", "--min-user-items", 8, "--columns",
                     "user,item,rating", "--keep-above", 2.5, "--json").json
    assert by_file == by_flags and by_file["test"] is None and by_file["below_threshold"] > 0
    flag_wins = poise("prepare", log, "--out", tmp_path / "c", "--config", tmp_path / "options.toml", "--min-user-items", 1,
                      "--json").json
    assert flag_wins["users"] > by_file["users"]
    (tmp_path / "typo.toml").write_text("min-user-itms = 8\n")
    assert "itms" in poise("prepare", log, "--out", tmp_path / "d", "--config", tmp_path / "typo.toml", code=2).err
    poise("prepare", log, "--out", tmp_path / "d", "--config", tmp_path / "missing.toml", code=3)


@pytest.mark.parametrize("line, what", [
    ("[x]", "[x]"),
    ("bogus", "NAME = VALUE"),
    ("split = none", "quotes"),
    ("split = ", "NAME = VALUE"),
    ('split = "none', "quote"),
    ('split = "no\\qne"', "escape"),
    ('columns = ["a" "b"]', "array"),
    ('split = "none" x', "NAME = VALUE"),
    ('split = 1979-05-27', "a value is text"),
    ('a.b = 1', "[a]"),
    ('columns = []', "empty"),
    ('min-user-items = -1', "--min-user-items"),
    ('split = "sideways"', "--split"),
    ('k-core = "perhaps"', "true or false"),
    ('print-config = true', "print-config"),
    ('k-core = true\nk-core = true', "redefine"),
])
def test_config_errors_name_file_and_line(poise, tmp_path, log, line, what):
    (tmp_path / "options.toml").write_text("# a comment\nthreads = 1\n" + line + "\n")
    error = poise("prepare", log, "--out", tmp_path / "a", "--config", tmp_path / "options.toml", code=2).err
    assert what in error and "options.toml: line " + ("4" if what == "redefine" else "3") in error


def test_config_file_is_toml(poise, tmp_path, log):
    text = f"""# how
INPUT = '{log}'   # where from
"out" = "{tmp_path}/d\\u0061ta"
columns = [
  "user",  # first
  'item', "rating",
]
min-user-items = 1_0
k-core = true
"""
    (tmp_path / "options.toml").write_bytes(text.replace("\n", "\r\n").encode())
    first = poise("prepare", "--config", tmp_path / "options.toml", "--json").json
    second = poise("prepare", log, "--out", tmp_path / "b", "--columns", "user,item,rating", "--min-user-items", 10, "--k-core",
                   "--json").json
    assert first == second and (tmp_path / "data").exists()
    (tmp_path / "text.toml").write_text('columns = "user,item,rating"\nmin-user-items = 10\nk-core = true')
    assert poise("prepare", log, "--out", tmp_path / "c", "--config", tmp_path / "text.toml", "--json").json == first


@pytest.mark.parametrize("delimiter", ["#", "'", '"', "\\t", "\t", "\\", "::", "[,]", "1", "é", "a'\"#"])
def test_print_config_keeps_any_text(poise, tmp_path, delimiter):
    def printed(*arguments):
        return poise("prepare", *arguments, "--print-config").out
    text = printed("x", "--out", "007", "--delimiter=" + delimiter)
    (tmp_path / "printed.toml").write_text(text)
    assert printed("--config", tmp_path / "printed.toml") == text
    assert tomllib.loads(text)["delimiter"] == delimiter or delimiter == "1"


def test_print_config_is_a_config_file(poise, tmp_path, log):
    text = poise("prepare", log, "--out", tmp_path / "a", "--min-user-items", 8, "--columns", "user,item,rating", "--print-config").out
    assert not (tmp_path / "a").exists()
    (tmp_path / "printed.toml").write_text(text)
    first = poise("prepare", "--config", tmp_path / "printed.toml", "--json").json
    second = poise("prepare", log, "--out", tmp_path / "b", "--min-user-items", 8, "--columns", "user,item,rating", "--json").json
    assert first == second
    assert (tmp_path / "a" / "data.poise").read_bytes() == (tmp_path / "b" / "data.poise").read_bytes()


# Enough of each command for its options to be printed; a second line has options that go with others.
COMMAND_LINES = [
    ("synth", "--like", "demo", "--out", "x.csv"),
    ("prepare", "a.csv", "b.csv", "--out", "data"),
    ("prepare", "a.csv", "--out", "data", "--split", "given", "--test", "t.csv", "--keep-above", "-1", "--delimiter", ","),
    ("train", "data", "--model", "full-rank", "--out", "m"),
    ("certify", "m", "data"),
    ("update", "m", "data", "--log", "new.csv"),
    ("train", "data", "--model", "ease", "--out", "m", "--lambda", "1e3", "--keep-top", "5"),
    ("search", "data", "--model", "wmf"),
    ("search", "data", "--model", "wmf", "--lambda", "1,2.5", "--weighting", "log,constant", "--rank", "3"),
    ("study", "data", "more", "--out", "s"),
    ("study", "data", "--out", "s", "--models", "ease,wmf", "--compare-paper", "msd", "--time-limit", "2h", "--no-expand"),
    ("evaluate", "m", "data"),
    ("recommend", "m", "--items", "a,b"),
    ("recommend", "m", "--items", "a"),
    ("recommend", "m", "--history", "h.txt", "-k", "3", "--explain"),
    ("recommend", "m", "--histories", "h.csv", "--columns", "a,b", "--header", "yes", "--skip-bad-lines"),
    ("similar", "m", "--item", "007"),
    ("serve", "m"),
    ("serve", "--demo"),
    ("serve", "m", "wmf=w", "--ab", "wmf=0.1", "--allow-host", "a", "--allow-host", "b", "--rate-limit", "2.5", "--watch"),
    ("export", "m", "--item-factors", "f.npy"),
    ("info", "m"),
    ("doctor", "--threads", "2", "--memory-limit", "2G"),
    ("completion", "bash"),
    ("completion", "fish"),
]


def test_every_command_has_a_line_to_print():
    assert {line[0] for line in COMMAND_LINES} >= set(COMMANDS)


@pytest.mark.parametrize("line", COMMAND_LINES, ids=" ".join)
def test_print_config_is_read_back(poise, tmp_path, line):
    command, *arguments = line
    text = poise(command, *arguments, "--print-config").out
    tomllib.loads(text)
    (tmp_path / "printed.toml").write_text(text)
    assert poise(command, "--config", tmp_path / "printed.toml", "--print-config").out == text
    # Some programs begin every text with a byte-order mark.
    (tmp_path / "marked.toml").write_text("\ufeff" + text)
    assert poise(command, "--config", tmp_path / "marked.toml", "--print-config").out == text


def test_a_printed_config_recommends(poise, model, tmp_path):
    flags = ["--items", "i1,i2", "-k", 3]
    (tmp_path / "printed.toml").write_text(poise("recommend", model, *flags, "--print-config").out)
    assert poise("recommend", "--config", tmp_path / "printed.toml").out == poise("recommend", model, *flags).out


def test_same_bytes_for_any_thread_count(poise, tmp_path):
    seen = set()
    for threads in (1, 2, 5):
        folder = tmp_path / str(threads)
        poise("synth", "--like", "demo", "--values", "--out", tmp_path / f"{threads}.csv", "--threads", threads)
        poise("prepare", tmp_path / f"{threads}.csv", "--out", folder, "--threads", threads)
        poise("train", folder, "--model", "popularity", "--out", folder / "model", "--threads", threads)
        result = poise("evaluate", folder / "model", folder, "--metrics", "recall@20,ndcg@100,map@10,stratified-recall@20",
                       "--per-user", folder / "users.csv", "--threads", threads, "--json").json
        seen.add(((tmp_path / f"{threads}.csv").read_bytes(), (folder / "data.poise").read_bytes(),
                  (folder / "model").read_bytes(), (folder / "users.csv").read_bytes(), json.dumps(result["metrics"])))
    assert len(seen) == 1


def test_synth_folder_is_the_prepared_csv(poise, tmp_path):
    poise("synth", "--like", "demo", "--seed", 5, "--out", tmp_path / "x.csv")
    poise("prepare", tmp_path / "x.csv", "--out", tmp_path / "a")
    poise("synth", "--like", "demo", "--seed", 5, "--out", tmp_path / "b")
    assert (tmp_path / "a" / "data.poise").read_bytes() == (tmp_path / "b" / "data.poise").read_bytes()


def test_per_user_file(poise, tmp_path, model, data):
    result = poise("evaluate", model, data, "--on", "validation", "--metrics", "recall@5,coverage@5", "--per-user",
                   tmp_path / "users.csv", "--json").json
    lines = (tmp_path / "users.csv").read_text().split()
    assert lines[0] == "user,recall@5" and len(lines) == result["users"] + 1
    mean = sum(float(line.split(",")[1]) for line in lines[1:]) / result["users"]
    assert mean == pytest.approx(result["metrics"]["recall@5"]["mean"])


EVERY_METRIC = ("recall@5,ndcg@5,precision@5,map@5,hit-rate@5,mrr@5,stratified-recall@5,auc,popularity@5,tail-share@5,novelty@5,"
                "diversity@5,calibration@5,coverage@5,gini@5,entropy@5")


def test_every_metric(poise, tmp_path, model, data):
    result = poise("evaluate", model, data, "--metrics", EVERY_METRIC, "--per-user", tmp_path / "users.csv", "--json").json
    metrics = result["metrics"]
    assert list(metrics) == EVERY_METRIC.split(",")
    of_all = {"coverage@5", "gini@5", "entropy@5"}
    assert all((figure["stderr"] is None) == (name in of_all) for name, figure in metrics.items())
    rows = [line.split(",") for line in (tmp_path / "users.csv").read_text().split()]
    assert rows[0] == ["user"] + [name for name in metrics if name not in of_all]
    for column, name in list(enumerate(rows[0]))[1:]:
        assert sum(float(row[column]) for row in rows[1:]) / result["users"] == pytest.approx(metrics[name]["mean"])
    # Popularity shows few items, and the popular ones.
    assert metrics["gini@5"]["mean"] > 0.5 and 0 < metrics["auc"]["mean"] < 1 and metrics["tail-share@5"]["mean"] < 0.5
    assert poise("evaluate", model, data, "--metrics", "auc", "--json", "--threads", 1).json["metrics"]["auc"] == metrics["auc"]
    assert "auc  " in poise("evaluate", model, data, "--metrics", "auc,gini@3").out
    (tmp_path / "config.toml").write_text('metrics = "diversity@5,auc"\n')
    assert list(poise("evaluate", model, data, "--config", tmp_path / "config.toml", "--json").json["metrics"]) == ["diversity@5", "auc"]
    assert "without @" in poise("evaluate", model, data, "--metrics", "auc@5", code=2).err
    assert "'novelty'" in poise("evaluate", model, data, "--metrics", "novelty", code=2).err
    assert "did you mean 'diversity'" in poise("evaluate", model, data, "--metrics", "diversty@5", code=2).err


def test_completion(poise, tmp_path):
    script = tmp_path / "completion"
    script.write_text(poise("completion", "bash").out)
    def complete(*words):
        probe = f'source {script}; COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}; _poise; echo "${{COMPREPLY[@]}}"'
        return subprocess.run(["bash", "-c", probe], capture_output=True, text=True, check=True).stdout.split()
    assert complete("poise", "ev") == ["evaluate"]
    assert complete("poise", "prepare", "--keep") == ["--keep-above"]
    assert "--threads" in complete("poise", "train", "--")
    assert {"--items", "--history", "--histories", "-k", "--columns"} <= set(complete("poise", "recommend", "x", "-"))
    assert complete("poise", "train", "--weighting", "in") == ["inverse-popularity"]
    assert "full-rank" in complete("poise", "train", "--model", "''")
    assert complete("poise", "train", "--model", "=", "po") == ["popularity"]
    assert set(complete("poise", "train", "--device", "=")) == {"auto", "cpu", "cuda"}
    assert complete("poise", "search", "--weighting", "log,co") == ["log,constant", "log,column"]
    assert complete("poise", "study", "--models", "ease,ed") == ["ease,edlae"]
    assert complete("poise", "study", "--models", "wmf,ease-") == ["wmf,ease-nu", "wmf,ease-features"]
    assert complete("poise", "completion", "''") == ["bash", "zsh", "fish"]
    assert complete("poise", "help", "ev") == ["evaluate"]
    # Files and folders where there is one to name, and nothing where there is not.
    folder = tmp_path / "some folder"
    folder.mkdir()
    (tmp_path / "some file").write_text("")
    begin = f"'{tmp_path}/some'"
    assert complete("poise", "train", "x", "--lambda", begin) == []
    assert complete("poise", "recommend", "x", "--items", begin) == []
    assert " ".join(complete("poise", "prepare", "x", "--out", begin)) == str(folder)
    assert " ".join(complete("poise", "recommend", begin)).count("/some ") == 2
    assert " ".join(complete("poise", "recommend", "m", "--history", begin)).count("/some ") == 2


def test_progress_bar_only_on_a_terminal(tmp_path):
    command = [PROGRAM, "synth", "--like", "netflix", "--scale", "0.2", "--out", str(tmp_path / "x.csv")]
    plain = subprocess.run(command, capture_output=True, text=True)
    assert "\r" not in plain.stderr
    main, worker = pty.openpty()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=worker)
    os.close(worker)
    shown = b""
    while True:
        try:
            part = os.read(main, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    assert process.wait() == 0
    assert b"\r" in shown and b"% " in shown and b"left" in shown


def test_messages_that_cannot_be_written(tmp_path, log):
    """The work counts, not who listens."""
    for k, redirection in enumerate(("2>&-", "2>/dev/full", "<&- 2>&-")):
        for arguments, code in ((f"prepare '{log}' --out '{tmp_path / str(k)}'", 0), ("frobnicate", 2), ("doctor --threads x", 2), ("", 2)):
            command = f"'{PROGRAM}' {arguments} {redirection}"
            process = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE)
            assert process.returncode == code, command
        assert (tmp_path / str(k) / "data.poise").exists()


def test_results_that_cannot_be_written(log):
    for arguments in (["--help"], ["--version"], ["prepare", "--help"], ["help", "train"], ["completion", "bash"], ["doctor"],
                      ["doctor", "--json"], ["doctor", "--print-config"]):
        full = subprocess.run([PROGRAM, *arguments], stdout=open("/dev/full", "w"), stderr=subprocess.PIPE, text=True)
        assert full.returncode == 4 and "standard output" in full.stderr, arguments
    closed = subprocess.run(["bash", "-c", f"'{PROGRAM}' doctor >&-"], stderr=subprocess.PIPE, text=True)
    assert closed.returncode == 4 and "standard output" in closed.stderr


def test_help_of_a_command(poise):
    assert poise("help", "prepare").out == poise("prepare", "--help").out


def test_completion_as_json(poise):
    assert poise("completion", "bash", "--json").json == {"bash": poise("completion", "bash").out}


def test_closed_output(model):
    process = subprocess.Popen(["bash", "-c", f"'{PROGRAM}' info '{model}' | true; exit ${{PIPESTATUS[0]}}"], stderr=subprocess.PIPE)
    process.communicate()
    assert process.returncode == 0
    full = subprocess.run([PROGRAM, "info", model], stdout=open("/dev/full", "w"), stderr=subprocess.PIPE, text=True)
    assert full.returncode == 4 and "standard output" in full.stderr

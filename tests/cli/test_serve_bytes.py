"""1 000 random requests of every kind: the server's answers are the bytes that the program prints, with one worker and with eight."""
import json
import random
import threading

import pytest

from conftest import HANG, run
from serving import NAMES, models, serving  # noqa: F401, fixtures

ITEMS = [f"i{i}" for i in range(60)]
DECODER = json.JSONDecoder()


def lists(text, name="recommendations"):
    """The bytes of every list of this name, in order."""
    found, at = [], 0
    while (at := text.find(f'"{name}":[', at)) >= 0:
        begin = at + len(name) + 3
        at = DECODER.raw_decode(text, begin)[1]
        found.append(text[begin:at])
    return found


class Program:
    """What the program prints. One run answers all histories with the same options."""

    def __init__(self, models, log, folder):
        self.models, self.log, self.folder = models, log, folder

    def recommendations(self, options, histories):
        (self.folder / "histories.csv").write_text("user,item\n" + "".join(
            f"h{h},{item}\n" for h, history in enumerate(histories) for item in history or ["unknown"]))
        return lists(self.run(options, self.folder / "histories.csv"))

    def of_users(self, options):
        text = self.run(options, self.log)
        return dict(zip((each["user"] for each in json.loads(text)["users"]), lists(text)))

    def run(self, options, log):
        arguments = ["recommend", self.models / f"{options['model']}.model", "--histories", log, "-k", options["k"], "--json"]
        for name in ("exclude", "only"):
            if name in options:
                (self.folder / name).write_text("\n".join(options[name]) + "\n")
                arguments += [f"--{name}", self.folder / name]
        return run(*arguments, *(["--explain"] if options.get("explain") else [])).out


def random_options(draw):
    options = {"model": draw.choice(NAMES), "k": draw.choice([1, 3, 20, 100])}
    if draw.random() < 0.4:
        options["exclude"] = draw.choices(ITEMS + ["unknown"], k=5)
    if draw.random() < 0.3:
        options["only"] = draw.choices(ITEMS + ["unknown"], k=15)
    if draw.random() < 0.5 and options["model"] != "popularity":
        options["explain"] = True
    return options


@pytest.fixture(scope="module")
def asked(models, shop, tmp_path_factory):
    """1 000 requests: path, body, and the lists that the program prints for them."""
    draw = random.Random(3)
    program = Program(models, shop.parent / "log.csv", tmp_path_factory.mktemp("program"))
    single, known = [], []
    for _ in range(25):
        options = random_options(draw)
        histories = [draw.choices(ITEMS, k=draw.randrange(0, 12)) for _ in range(20)]
        single += [{**options, "history": history} for history in histories]
        known += program.recommendations(options, histories)
        users = draw.sample(sorted((of_users := program.of_users(options)).items()), 8)
        assert len(of_users) == 240
        single += [{**options, "user": user} for user, _ in users]
        known += [bytes_ for _, bytes_ in users]
    requests = [("/v1/recommend", body, [expected]) for body, expected in zip(single, known)]
    for _ in range(100):
        chosen = draw.choices(range(len(single)), k=draw.randrange(1, 8))
        requests.append(("/v1/recommend", {"batch": [single[k] for k in chosen]}, [known[k] for k in chosen]))
    for _ in range(140):
        k = draw.randrange(len(single))
        body = {name: value for name, value in single[k].items() if name != "model"}
        requests.append(("/v1/compare", {**body, "models": [single[k]["model"]] * 2}, [known[k]] * 2))
    for model in NAMES[:3]:
        for item in draw.sample(ITEMS, 10):
            printed = run("similar", models / f"{model}.model", "--item", item, "-k", 5, "--json").out
            requests.append(("/v1/similar", {"model": model, "item": item, "k": 5}, lists(printed, "similar")))
    while len(requests) < 1000:
        requests.append(draw.choice(requests))
    draw.shuffle(requests)
    assert len(requests) == 1000
    return requests


def wrong_answers(server, requests):
    connection = server.connect()
    wrong = []
    for path, body, expected in requests:
        status, _, text = server.ask("POST", path, body, connection=connection)
        if status != 200 or lists(text, "similar" if path == "/v1/similar" else "recommendations") != expected:
            wrong.append((path, body, status, text))
    return wrong


@pytest.mark.parametrize("threads, flags", [(1, ["--map"]), (8, [])])
def test_answers_are_the_bytes_of_the_program(models, shop, tmp_path, asked, threads, flags):
    (tmp_path / "titles.csv").write_text("id,title\n" + "".join(f"{item},Title of {item}\n" for item in ITEMS[:50]))
    with serving(tmp_path / "s", *[models / f"{name}.model" for name in NAMES], "--titles", tmp_path / "titles.csv", "--histories",
                 shop.parent / "log.csv", "--threads", threads, *flags) as server:
        if threads == 1:
            assert wrong_answers(server, asked) == []
            return
        # Eight clients at once, each with all requests of its own eighth.
        results = [None] * threads

        def ask(client):
            results[client] = wrong_answers(server, asked[client::threads])

        clients = [threading.Thread(target=ask, args=(client,)) for client in range(threads)]
        for client in clients:
            client.start()
        for client in clients:
            client.join(HANG)
        assert results == [[]] * threads

"""poise.serve: a server in this process."""
import json
import urllib.request

import numpy as np
import pytest

import poise


@pytest.fixture(scope="module")
def data():
    return poise.split(poise.synth("demo"))


@pytest.fixture(scope="module")
def model(data):
    return poise.EASE(regularization=50).fit(data, show_progress=False)


def ask(server, path, body=None):
    request = urllib.request.Request(server.url + path, None if body is None else json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def test_answers_are_those_of_recommend(data, model):
    with poise.serve(model, titles={str(item): f"Title {item}" for item in data.items}) as server:
        history = data.test.fold_in[0]
        answer = ask(server, "v1/recommend", {"history": [str(item) for item in data.items[history.indices]], "k": 5})
        ids, scores = model.recommend(0, history, N=5)
        assert [row["item"] for row in answer["recommendations"]] == [str(item) for item in data.items[ids]]
        assert np.array_equal(np.float32([row["score"] for row in answer["recommendations"]]), scores)
        assert all(title == f"Title {item}" for item, title in answer["titles"].items())
        assert server.url in server._repr_html_()
    with pytest.raises(OSError):
        ask(server, "v1/livez")


def test_several_models_by_name(data, model):
    server = poise.serve({"ease": model, "popular": poise.Popularity().fit(data, show_progress=False)})
    assert ask(server, "v1/readyz")["models"] == ["ease", "popular"]
    server.stop()
    server.stop()


@pytest.mark.parametrize("host, url", [("127.0.0.2", "http://127.0.0.2:"), ("localhost", "http://localhost:"), ("::1", "http://[::1]:")])
def test_loopback_addresses(model, host, url):
    with poise.serve(model, host=host) as server:
        assert server.url.startswith(url) and ask(server, "v1/livez") == {"status": "alive"}


def test_refusals(model):
    with pytest.raises(ValueError, match="other machines"):
        poise.serve(model, host="0.0.0.0")
    with pytest.raises(ValueError, match="no model"):
        poise.serve({})

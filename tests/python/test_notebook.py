"""What notebooks show: HTML, in which ids and names are texts and nothing else."""
import html.parser

import pandas
import pytest

import poise

HOSTILE = "<script>alert('x')</script>\"&<img src=x onerror=alert(1)>"
ALLOWED = {"div", "strong", "table", "tr", "th", "td", "p"}


class Reader(html.parser.HTMLParser):
    """Collects elements and texts; every element must be closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts = [], set(), []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        assert attributes == []
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def read(shown):
    reader = Reader(shown._repr_html_())
    assert reader.tags <= ALLOWED
    return " ".join(reader.texts)


@pytest.fixture(scope="module")
def hostile():
    rows = [(f"{HOSTILE}{user}", f"{HOSTILE}{item}") for user in range(40) for item in range(8) if (user + item) % 3]
    return poise.Dataset.from_dataframe(pandas.DataFrame(rows, columns=["user", "item"]))


def test_data(hostile, demo):
    assert "<script>" in read(hostile)
    text = read(demo)
    assert "validation" in text and "1920" in text


def test_models(hostile, demo):
    model = poise.EASE(50)
    assert "not fitted" in read(model) and "regularization" in read(model)
    text = read(model.fit(hostile, show_progress=False))
    assert "<script>" in text and "certificate, relative" in text
    assert "objective" in read(poise.Popularity().fit(demo, show_progress=False))


def test_figures(demo):
    text = read(poise.evaluate(poise.Popularity().fit(demo, show_progress=False), demo.test))
    assert "ndcg@100 0.3408" in text and "240 users" in text


def test_searches(demo):
    found = poise.search(demo, poise.EASE(), regularization=[10, 100], alpha=[1], grid="paper", expand=False, show_progress=False)
    text = read(found)
    assert "best: EASE(regularization=100.0)" in text and "validation ndcg@100" in text and "2 points" in text
    nothing = poise.SearchResult({**found.results, "points": [], "best": None, "complete": False}, None)
    assert "not complete" in read(nothing)


def test_studies(demo):
    result = poise.study({HOSTILE: demo}, ranks=[], models="full-rank", grid="paper", points=2, show_progress=False)
    text = read(result)
    assert HOSTILE in text and "full-rank" in text and "test ndcg@100" in text

"""Servers and browsers for the tests of the explorer page, and what several of them check. POISE is the program."""
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "report"), str(TESTS / "cli")]

from browser import PATH, Browser  # noqa: E402
from page_driver import Driver  # noqa: E402
from serving import PROGRAM, serving  # noqa: E402

needs_browser = pytest.mark.skipif(PATH is None, reason="no Chromium is installed")
LIKED = ["Fading Light", "Lost Crossing", "Amber Bridge"]  # the demo's items 2, 3 and 1
KEY = "a-key-of-some-length"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("demo"), "--demo") as server:
        yield server


@pytest.fixture(scope="module")
def browser():
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture
def page(browser, server):
    """The page of the demo, just opened; at the end it must have said nothing and asked nobody else."""
    page = Driver(browser, f"http://127.0.0.1:{server.port}/")
    page.open()
    yield page
    assert browser.complaints() == []
    paths = [url.removeprefix(page.url) for url in browser.requests()]
    assert all(path in ("", "data:,") or path.startswith("v1/") for path in paths), paths


@pytest.fixture
def liking(page):
    page.like(*LIKED)
    page.until_listed("3 liked items")
    return page


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], check=True, stdout=subprocess.PIPE).stdout


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    run("synth", "--like", "demo", "--scale", "0.2", "--out", folder / "log.csv")
    run("prepare", folder / "log.csv", "--out", folder / "data")
    return folder / "data"


@pytest.fixture(scope="module")
def guarded(data, tmp_path_factory):
    """A server of one model that asks for a key, with titles that try to be markup."""
    folder = tmp_path_factory.mktemp("guarded")
    run("search", data, "--model", "ease", "--points", "3", "--out", folder / "ease.model")
    (folder / "titles.csv").write_text('id,title\n1,"<img src=x onerror=""window.hurt = 1""> & <b>bold</b>"\n'
                                       "2,</script><script>window.hurt = 2</script>\n"
                                       f"3,{'A long title without an end ' * 12}\n4,{'x' * 200}\n5,שלום עולם\n")
    (folder / "keys").write_text(f"page:{KEY}\n")
    with serving(folder / "run", folder / "ease.model", "--items", folder / "titles.csv", "--api-key-file", folder / "keys") as server:
        server.model = folder / "ease.model"
        yield server


def fill(page):
    """The page with something at every place."""
    page.like(*LIKED)
    page.until_listed("3 liked items")
    page.click("#lists li:nth-child(2) button", "Exclude")
    page.choose("#other", "wmf")
    page.focus("#user")
    page.type("1")
    page.press("Enter")
    page.click("#liked button", "Similar")
    page.until("document.querySelectorAll('#lists li').length === 20 && document.querySelectorAll('#neighbours li').length === 10 && "
               "document.querySelectorAll('#history li').length > 0")


def card(page, place=1):
    article = f"#cards article:nth-of-type({place}) > dl"
    return dict(zip(page.texts(f"{article} > dt"), page.texts(f"{article} > dd")))


def network_errors(browser):
    """Takes the browser's own words on refused requests out of the events, and gives their addresses."""
    refused = [event for event in browser.events
               if event.get("method") == "Log.entryAdded" and event["params"]["entry"]["source"] == "network"]
    for event in refused:
        browser.events.remove(event)
    return [event["params"]["entry"]["url"] for event in refused]

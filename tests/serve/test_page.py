"""The explorer page of `poise serve` in a browser. POISE is the program; POISE_SCREENSHOTS, where set, is a folder for pictures."""
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "report"), str(TESTS / "cli"), str(TESTS / "serve")]

from browser import PATH, Browser  # noqa: E402
from page_driver import Driver  # noqa: E402
from serving import PROGRAM, serving  # noqa: E402

pytestmark = pytest.mark.skipif(PATH is None, reason="no Chromium is installed")
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


def signed(value):
    """Two significant digits with a sign, as the page writes contributions."""
    if abs(value) < 1e-4:
        return f"{value:+.0e}".replace("e-0", "e-").replace("-", "−", value < 0)
    exponent = int(f"{abs(value):.1e}".split("e")[1])
    return f"{value:+.{max(0, 1 - exponent)}f}".replace("-", "−")


def reasons(because, titles):
    plus = [each for each in because if each["contribution"] > 0][:3]
    minus = sorted((each for each in because if each["contribution"] < 0), key=lambda each: each["contribution"])[:2]
    name = lambda each: f"{titles[each['item']]} {signed(each['contribution'])}"
    parts = ([f"because of {', '.join(map(name, plus))}"] if plus else []) + ([f"despite {', '.join(map(name, minus))}"] if minus else [])
    rest = [each["contribution"] for each in because if each not in plus and each not in minus and each["contribution"] != 0]
    more = f"; {len(rest)} other{'s' * (len(rest) != 1)} {signed(sum(rest))}" if rest else ""
    return ", ".join(parts) + more


def recommended(server, **request):
    return server.post("/v1/recommend", {"history": ["2", "3", "1"], "k": 10, "explain": True, **request})


def check_list(page, place, answer):
    """The list at this place shows the server's answer: items in order, titles, reasons."""
    list_of = f"#lists .list:nth-of-type({place})"
    entries = answer["recommendations"]
    assert page.items(list_of) == [entry["item"] for entry in entries]
    assert page.texts(f"{list_of} .title") == [answer["titles"][entry["item"]] for entry in entries]
    assert page.texts(f"{list_of} .reasons") == [reasons(entry["because"], answer["titles"]) for entry in entries if "because" in entry]


def test_one_file_that_its_policy_covers(server):
    _, headers, text = server.ask("GET", "/")
    nonce = re.search(r"script-src 'nonce-(\w+)'", headers["Content-Security-Policy"]).group(1)
    tags = re.findall(r"<(?:script|style|link|img|iframe)\b[^>]*>", text)
    assert tags == ['<link rel="icon" href="data:,">', f'<style nonce="{nonce}">', f'<script nonce="{nonce}">']
    assert "{{" not in text and "innerHTML" not in text and len(text) < 50_000


def test_search_finds_what_the_server_finds(page, server):
    assert page.items("#found") == [item["id"] for item in server.get("/v1/items?limit=8&model=ease")["items"]]
    page.search("gold")
    page.until("document.querySelector('#search-note').textContent.endsWith('found:')")
    assert page.items("#found") == [item["id"] for item in server.get("/v1/items?q=gold&limit=8")["items"]]
    page.search("zebra")
    page.until("document.querySelector('#search-note').textContent.startsWith('No item')")
    assert page.items("#found") == []


def test_recommendations_come_with_signed_reasons(liking, server):
    answer = recommended(server)
    check_list(liking, 1, answer)
    assert any("despite" in text and "−" in text for text in liking.texts(".reasons"))
    assert liking.text("#lists-note") == "10 recommendations of ease for 3 liked items."


def test_an_item_is_added_and_removed_with_one_click(liking, server):
    first = liking.items("#lists")[0]
    liking.click("#lists li:first-child button", "Like")
    liking.until_listed("4 liked items")
    assert liking.items("#liked") == ["2", "3", "1", first]
    check_list(liking, 1, recommended(server, history=["2", "3", "1", first]))
    liking.click("#liked li:first-child button", "Remove")
    liking.until_listed("3 liked items")
    check_list(liking, 1, recommended(server, history=["3", "1", first]))
    # A button that says Like is pressed where the item is liked, and releases it.
    liking.search("Lost Crossing")
    liking.until("document.querySelector('#found [data-item=\"3\"]')")
    pressed = "document.querySelector('#found [data-item=\"3\"] button').getAttribute('aria-pressed')"
    assert liking.evaluate(pressed) == "true"
    liking.click('#found [data-item="3"] button')
    liking.until_listed("2 liked items")
    assert liking.evaluate(pressed) == "false"
    liking.click("#clear")
    assert liking.items("#liked") == [] and liking.focused() == "query"
    liking.until("document.querySelector('#lists-note').textContent.startsWith('Pick an item') && !document.querySelector('#lists li')")


def test_an_excluded_item_is_gone_until_it_is_allowed(liking, server):
    first = liking.items("#lists")[0]
    liking.click("#lists li:first-child button", "Exclude")
    liking.until(f"!document.querySelector('#lists [data-item=\"{first}\"]')")
    check_list(liking, 1, recommended(server, exclude=[first]))
    assert liking.items("#excluded") == [first]
    liking.click("#excluded button", "Allow")
    liking.until(f"document.querySelector('#lists [data-item=\"{first}\"]')")
    check_list(liking, 1, recommended(server))
    assert liking.evaluate("document.querySelector('#excluding').hidden")


def test_the_slider_sets_the_length(liking, server):
    liking.focus("#k")
    for _ in range(5):
        liking.press("ArrowRight")
    liking.until_listed("3 liked items", k=15)
    assert liking.text("#k-shown") == "15"
    check_list(liking, 1, recommended(server, k=15))


def test_two_models_side_by_side_with_differences_marked(liking, server):
    liking.choose("#other", "wmf")
    liking.until("document.querySelectorAll('#lists .list').length === 2")
    answers = [recommended(server, model="ease"), recommended(server, model="wmf")]
    orders = [[entry["item"] for entry in answer["recommendations"]] for answer in answers]
    for here in (0, 1):
        check_list(liking, here + 1, answers[here])
        expected = []
        for place, item in enumerate(orders[here]):
            there = orders[1 - here].index(item) if item in orders[1 - here] else None
            expected.append("only here" if there is None else "same place" if there == place
                            else f"{'↑' if place < there else '↓'} {abs(place - there)}")
        marks = liking.texts(f"#lists .list:nth-of-type({here + 1}) .mark")
        assert [re.match(r"only here|same place|[↑↓] \d+", mark).group() for mark in marks] == expected
    common = len(set(orders[0]) & set(orders[1]))
    assert f" {common} of them are also in the list of wmf." in liking.text("#lists-note")
    boxes = liking.evaluate("[...document.querySelectorAll('#lists .list')].map(each => each.getBoundingClientRect().x)")
    assert boxes[1] > boxes[0] + 300, "side by side"
    # The model of popularity has no reasons, and the first model can be changed as well.
    liking.choose("#model", "wmf")
    liking.until("document.querySelectorAll('#lists .list').length === 1 && document.querySelector('#lists h3').textContent === 'wmf'")
    check_list(liking, 1, answers[1])
    liking.choose("#other", "popularity")
    liking.until("document.querySelectorAll('#lists .list').length === 2")
    popular = recommended(server, model="popularity", explain=False)
    check_list(liking, 2, popular)
    assert liking.texts("#cards h3") == ["wmf", "popularity"]


@pytest.mark.parametrize("width", [1280, 390])
def test_similar_items_are_a_graph_to_walk_along(page, server, width):
    page.open(width)
    page.like(LIKED[2])
    page.click("#liked button", "Similar")
    page.until("document.querySelectorAll('#neighbours li').length === 10")
    expected = server.post("/v1/similar", {"item": "1", "k": 10})
    assert page.items("#neighbours") == [each["item"] for each in expected["similar"]]
    assert page.text("#similar-title") == "Similar to Amber Bridge" and page.focused() == "similar-title"
    assert page.evaluate("document.querySelectorAll('#graph .node').length") == 11
    assert page.evaluate("document.querySelectorAll('#graph line.near').length") == 10
    lists = {each: [other["item"] for other in server.post("/v1/similar", {"item": each, "k": 10})["similar"]]
             for each in page.items("#neighbours")}
    joined = {frozenset((a, b)) for a in lists for b in lists[a] if b in lists}
    assert page.evaluate("document.querySelectorAll('#graph line.far').length") == len(joined)
    problems = page.evaluate("""(() => {
        const frame = document.querySelector('#graph').getBoundingClientRect();
        const boxes = [...document.querySelectorAll('#graph text')].map(each => [each.textContent, each.getBoundingClientRect()]);
        const outside = boxes.filter(([, box]) => box.left < frame.left || box.right > frame.right || box.bottom > frame.bottom);
        const over = boxes.flatMap(([a, one], k) => boxes.slice(k + 1).filter(([, two]) => one.left < two.right && two.left < one.right &&
            one.top < two.bottom && two.top < one.bottom).map(([b]) => [a, b]));
        return [outside, over];
    })()""")
    assert problems == [[], []], "labels lie in the frame and beside each other"
    # A click on a node goes there; so does the button in the list below, for those without a mouse.
    page.click("#graph .node:not(.centre) circle")
    page.until("document.querySelectorAll('#neighbours li').length === 10 && "
               "document.querySelector('#graph .centre title').textContent !== 'Amber Bridge'")
    nearest = expected["titles"][expected["similar"][0]["item"]]
    assert page.text("#similar-title") == f"Similar to {nearest}"
    next_title = page.texts("#neighbours .title")[3]
    page.click("#neighbours li:nth-child(4) button", "Similar")
    page.until(f"document.querySelector('#graph .centre title')?.textContent === {json.dumps(next_title)}")
    page.click("#liked button", "Similar")
    page.until("document.querySelector('#graph .centre title')?.textContent === 'Amber Bridge'")
    page.click("#neighbours li:first-child button", "Like")
    assert page.items("#liked") == ["1", expected["similar"][0]["item"]]
    page.browser.call("Emulation.setDeviceMetricsOverride", width=700, height=900, deviceScaleFactor=1, mobile=False)
    page.until("document.querySelector('#graph').viewBox.baseVal.width === document.querySelector('#graph').clientWidth")
    page.choose("#model", "wmf")
    page.until("document.querySelector('#similar-note').textContent.includes('by wmf')")
    assert page.items("#neighbours") == [each["item"] for each in server.post("/v1/similar", {"item": "1", "k": 10, "model": "wmf"})["similar"]]


def test_a_users_history(page, server):
    page.focus("#user")
    page.type("17")
    page.press("Enter")
    page.until("document.querySelectorAll('#history li').length > 0")
    history = server.get("/v1/users/17/history")
    assert page.items("#history") == [entry["item"] for entry in history["history"]]
    assert page.texts("#history .score") == [f"× {entry['value']:,.0f}" for entry in history["history"]]
    page.click("#take")
    page.until_listed("user 17")
    check_list(page, 1, recommended_user(server, "17"))
    assert page.items("#liked") == page.items("#history")
    # Once it is changed it is a history of its own.
    page.click("#liked li:first-child button", "Remove")
    rest = page.items("#history")[1:]
    page.until_listed(f"{len(rest)} liked items")
    check_list(page, 1, recommended(server, history=rest))


def recommended_user(server, user):
    return server.post("/v1/recommend", {"user": user, "k": 10, "explain": True})


def network_errors(browser):
    """Takes the browser's own words on refused requests out of the events, and gives their addresses."""
    refused = [event for event in browser.events
               if event.get("method") == "Log.entryAdded" and event["params"]["entry"]["source"] == "network"]
    for event in refused:
        browser.events.remove(event)
    return [event["params"]["entry"]["url"] for event in refused]


def test_what_the_server_refuses_is_said_in_its_words(page, browser):
    page.focus("#user")
    page.type("no/body?&é")
    page.press("Enter")
    page.until("document.querySelector('#history-note').classList.contains('problem')")
    assert page.text("#history-note") == "there is no user 'no/body?&é'"
    page.choose("#model", "popularity")
    page.search("Amber Bridge")
    page.press("Enter")
    page.until("document.querySelector('#liked button')")
    page.click("#liked button", "Similar")
    page.until("document.querySelector('#similar-note').classList.contains('problem')")
    assert "similar items need a model that does" in page.text("#similar-note")
    assert sorted(url.removeprefix(page.url) for url in network_errors(browser)) == ["v1/similar", "v1/users/no%2Fbody%3F%26%C3%A9/history"]


def test_the_card_says_what_a_model_is(page, server):
    page.choose("#other", "wmf")
    for place, model in enumerate(server.get("/v1/models")["models"][:2]):
        shown = card(page, place + 1)
        assert shown["family"].split(",")[0] == model["model"]
        assert shown["lambda"] == model["options"]["lambda"] and shown["alpha"] == model["options"]["alpha"]
        assert f"{model['report']['certificate']['relative']:.1e}".replace("e-0", "e-") in shown["certificate"]
        assert shown["data"] == f"700 items, checksum {model['data_checksum']}"
        assert shown["file"] == f"checksum {model['checksum']}"
        others = page.texts(f"#cards article:nth-of-type({place + 1}) details dt")
        assert set(others) | {"rank", "lambda", "alpha", "weighting", "model"} >= set(model["options"])


def fill(page):
    """The page with something at every place."""
    page.like(*LIKED)
    page.click("#lists li:nth-child(2) button", "Exclude")
    page.choose("#other", "wmf")
    page.focus("#user")
    page.type("1")
    page.press("Enter")
    page.click("#liked button", "Similar")
    page.until("document.querySelectorAll('#lists li').length === 20 && document.querySelectorAll('#neighbours li').length === 10 && "
               "document.querySelectorAll('#history li').length > 0")


def test_every_control_has_a_name(page):
    fill(page)
    named = page.names("button", "searchbox", "textbox", "combobox", "slider", "link", "image", "img", "list", "region")
    assert all(name.strip() for role, name in named if role != "list"), named
    names = {name for role, name in named}
    assert {"Search items by title or id", "User id", "Model", "Compare with", "Like Amber Bridge", "Remove Fading Light",
            "Similar to Amber Bridge", "Recommendations of ease", "Recommendations of wmf"} <= names
    assert any(role == "slider" and name.startswith("Items") for role, name in named)
    assert len(page.names("button")) > 80
    assert page.evaluate("document.documentElement.lang") == "en"
    levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3')].map(each => Number(each.tagName[1]))")
    assert levels[0] == 1 and levels.count(1) == 1 and all(b <= a + 1 for a, b in zip(levels, levels[1:]))
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(each => each.id)")
    assert len(ids) == len(set(ids))


CONTRASTS = """(() => {
    const parts = text => text.match(/[\\d.]+/g).map(Number);
    const light = colour => colour.slice(0, 3).map(part => part / 255)
        .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, k) => sum + part * [0.2126, 0.7152, 0.0722][k], 0);
    const behind = element => {
        for (let each = element; each; each = each.parentElement) {
            const colour = parts(getComputedStyle(each).backgroundColor);
            if (colour.length === 3 || colour[3] === 1) return colour;
        }
    };
    const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
    const shown = each => each.getClientRects().length > 0;
    const texts = [...document.querySelectorAll('body *')].filter(each => shown(each) &&
        [...each.childNodes].some(node => node.nodeType === 3 && node.data.trim()) && !['SCRIPT', 'STYLE', 'title'].includes(each.tagName));
    const result = texts.map(each => [each.tagName + '.' + (each.className.baseVal ?? each.className), 4.5,
        ratio(parts(each.closest('svg') ? getComputedStyle(each).fill : getComputedStyle(each).color), behind(each))]);
    for (const each of document.querySelectorAll('button, input:not([type=range]), select')) if (shown(each))
        result.push([each.tagName + ' edge', 3, ratio(parts(getComputedStyle(each).borderTopColor), behind(each.parentElement))]);
    for (const each of document.querySelectorAll('#graph circle, #graph line.near'))
        result.push([each.tagName, 3, ratio(parts(getComputedStyle(each)[each.tagName === 'line' ? 'stroke' : 'fill']), behind(each))]);
    return result;
})()"""


@pytest.mark.parametrize("dark", [False, True])
def test_contrast(page, browser, dark):
    fill(page)
    browser.colours(dark)
    found = page.evaluate(CONTRASTS)
    assert len(found) > 200 and {"BUTTON.", "SPAN.mark only", "B.plus", "text.", "circle", "OUTPUT."} <= {name for name, _, _ in found}
    assert [each for each in found if each[2] < each[1]] == []


def test_the_keyboard_is_enough(page, server):
    page.press("Tab")
    assert page.focused().startswith("Skip to")
    page.press("Enter")
    assert page.focused() == "lists-title"
    page.focus("#query")
    page.type("Fading Light")
    page.until("document.querySelectorAll('#found li').length === 1")
    page.press("ArrowDown")
    assert page.focused() == "Like Fading Light"
    page.press(" ")
    page.until_listed("1 liked item")
    assert page.focused() == "Like Fading Light", "the focus stays"
    page.press("ArrowUp")
    assert page.focused() == "query"
    # From the model on, Tab leads to the slider and to the first recommendation.
    page.focus("#model")
    stops = []
    while not stops or not stops[-1].startswith("Like"):
        page.press("Tab")
        stops.append(page.focused())
    first = page.texts("#lists .title")[0]
    assert stops == ["other", "k", f"Like {first}"]
    page.press("Enter")
    page.until_listed("2 liked items")
    assert page.focused() == f"Like {page.texts('#lists .title')[0]}", "the focus is at the new first one"
    page.press("Tab")
    page.press("Enter")
    page.until("document.querySelectorAll('#excluded li').length === 1")
    page.focus("#excluded button")
    page.press("Enter")
    page.until("document.querySelector('#excluding').hidden")
    assert page.focused() == "lists-title", "the focus is not lost with the button"
    page.focus("#liked button")
    page.press("Enter")
    assert page.focused() == f"Remove {first}"
    page.press("Enter")
    assert page.focused() == "liked-title" and page.items("#liked") == []


@pytest.mark.parametrize("width", [1280, 390])
def test_fits_its_width_and_follows_the_colours(page, browser, width):
    page.open(width)
    fill(page)
    for dark in (False, True):
        browser.colours(dark)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, background[4:-1].split(","))) < 382) == dark
        if "POISE_SCREENSHOTS" in os.environ:
            pictures = pathlib.Path(os.environ["POISE_SCREENSHOTS"])
            pictures.mkdir(parents=True, exist_ok=True)
            browser.screenshot(pictures / f"explorer-{width}-{'dark' if dark else 'light'}.png")
    sizes = page.evaluate("[...document.querySelectorAll('button, select, input')].map(each => each.getBoundingClientRect())"
                          ".filter(box => box.width > 0).map(box => Math.min(box.width, box.height))")
    assert min(sizes) >= 24, "large enough for a finger"


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], check=True, stdout=subprocess.PIPE).stdout


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    run("synth", "--like", "demo", "--scale", "0.2", "--out", folder / "log.csv")
    run("prepare", folder / "log.csv", "--out", folder / "data")
    return folder / "data"


def card(page, place=1):
    article = f"#cards article:nth-of-type({place}) > dl"
    return dict(zip(page.texts(f"{article} > dt"), page.texts(f"{article} > dd")))


def test_cards_of_sparse_models(browser, data, tmp_path):
    run("train", data, "--model", "ease", "--lambda", "50", "--neighbours", "10", "--out", tmp_path / "few.model")
    run("train", data, "--model", "ease", "--lambda", "50", "--keep-top", "10", "--out", tmp_path / "kept.model")
    reports = [json.loads(run("info", tmp_path / f"{name}.model", "--json"))["report"] for name in ("few", "kept")]
    with serving(tmp_path / "run", tmp_path / "few.model", tmp_path / "kept.model") as server:
        page = Driver(browser, f"http://127.0.0.1:{server.port}/")
        page.open()
        page.choose("#other", "kept")
        few, kept = card(page), card(page, 2)
        assert page.texts("#found .title")[0].startswith("Item "), "without titles there are ids"
    low, high = reports[0]["certificate"]["explained_share"]
    assert few["neighbours"] == "10" and few["certificate"].startswith("on these neighbours proven")
    assert few["explains"] == f"{100 * low:.1f} to {100 * high:.1f} % of what the best dense model would"
    assert few["validation"] == f"ndcg@100 {reports[0]['validation']['ndcg@100']:.4f}"
    assert kept["keep-top"] == "10" and "explains" not in kept
    assert kept["validation"] == f"ndcg@100 {reports[1]['kept']['validation']['ndcg@100']['kept']:.4f}"
    assert browser.complaints() == []


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


def test_a_key_is_asked_for_and_kept_in_memory_only(browser, guarded):
    page = Driver(browser, f"http://127.0.0.1:{guarded.port}/")
    page.open(ready="#access:not([hidden])")
    assert page.focused() == "key" and page.evaluate("document.querySelector('#explorer').hidden")
    assert ("textbox", "API key") in page.names("textbox")
    page.type("a-wrong-key-of-some-length")
    page.press("Enter")
    page.until("document.querySelector('#served-note').textContent === 'this key is not known here'")
    page.evaluate("document.querySelector('#key').select()")
    page.type(KEY)
    page.press("Enter")
    page.until("document.querySelector('#found button')")
    assert page.evaluate("document.querySelector('#access').hidden")
    assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie, location.href]") == [0, 0, "", page.url]
    assert page.evaluate("document.querySelector('#key').value") == "", "the key is not left in the form"
    assert {url.removeprefix(page.url) for url in network_errors(browser)} == {"v1/models"}
    assert browser.complaints() == []
    assert page.evaluate("document.querySelector('#comparing').hidden && document.querySelector('#histories').hidden"), "one model, no histories"
    figures = json.loads(run("info", guarded.model, "--json"))["report"]
    for part in ("validation", "test"):
        assert card(page)[part] == ", ".join(f"{name} {value['mean']:.4f} ± {value['stderr']:.4f}" for name, value in figures[part].items())


@pytest.mark.parametrize("width", [1280, 390])
def test_titles_are_text_whatever_they_say(browser, guarded, width):
    page = Driver(browser, f"http://127.0.0.1:{guarded.port}/")
    page.open(width, ready="#access:not([hidden])")
    page.type(KEY)
    page.press("Enter")
    page.until("document.querySelector('#found button')")
    titles = {id: guarded.get(f"/v1/items?q={id}&limit=1", Authorization=f"Bearer {KEY}")["items"][0]["title"] for id in "12345"}
    for id in titles:
        page.search(id)
        page.until(f"document.querySelector('#found [data-item]')?.dataset.item === '{id}'")
        page.press("Enter")
        page.until(f"document.querySelector('#liked [data-item=\"{id}\"]')")
    page.until_listed("5 liked items")
    assert page.texts("#liked .title") == list(titles.values())
    page.click("#liked button", "Similar")
    page.until("document.querySelectorAll('#neighbours li').length === 10")
    assert page.text("#similar-title") == f"Similar to {titles['1']}"
    assert page.evaluate("[window.hurt === undefined, document.querySelectorAll('main img, main b:not([class]), main script').length]") == [True, 0]
    assert page.evaluate("document.documentElement.scrollWidth") == width
    network_errors(browser)
    assert browser.complaints() == []


def test_a_server_that_has_gone_is_said(browser, tmp_path):
    with serving(tmp_path / "gone", "--demo") as server:
        page = Driver(browser, f"http://127.0.0.1:{server.port}/")
        page.open()
    page.search("gold")
    page.until("document.querySelector('#search-note').classList.contains('problem')")
    assert page.text("#search-note") == "The server cannot be reached."


def test_complaints_and_requests_are_noticed(browser, server):
    """So that the checks at the end of each test can fail."""
    page = Driver(browser, f"http://127.0.0.1:{server.port}/")
    page.open()
    page.evaluate("fetch('http://127.0.0.1:9/x').catch(() => {}); console.error('no')")
    page.evaluate("document.body.setAttribute('style', 'color: red')")
    page.evaluate("new Promise(done => setTimeout(done, 50))")
    texts = json.dumps(browser.complaints())
    assert "'no'" in texts or '"no"' in texts
    assert "connect-src" in texts and "style-src" in texts

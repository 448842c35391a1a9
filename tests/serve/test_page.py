"""What a person does on the explorer page of `poise serve`, in a browser."""
import json
import re

import pytest

from page_fixtures import (LIKED, Driver, browser, card, data, liking, needs_browser, network_errors, page, run, server,  # noqa: F401
                           serving)

pytestmark = needs_browser


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

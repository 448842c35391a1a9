"""The explorer page for everyone and against everything: names, contrast, keyboard, phones, keys, hostile titles.
POISE_SCREENSHOTS, where set, is a folder for pictures."""
import base64
import http.server
import json
import os
import pathlib
import threading

import pytest

from page_fixtures import (KEY, Driver, browser, card, data, fill, guarded, needs_browser, network_errors, page, run, server,  # noqa: F401
                           serving)

pytestmark = needs_browser


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
    assert len(found) > 200 and {"BUTTON.", "SPAN.mark only", "BDI.plus", "text.", "circle", "OUTPUT."} <= {name for name, _, _ in found}
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


def test_a_key_is_asked_for_and_kept_in_memory_only(browser, guarded):
    page = Driver(browser, f"http://127.0.0.1:{guarded.port}/")
    page.open(ready="#access:not([hidden])")
    assert page.focused() == "key" and page.evaluate("document.querySelector('#explorer').hidden")
    assert ("textbox", "API key") in page.names("textbox") and page.text("#served-note") == "This server wants an API key."
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
    # A title from right to left does not turn the sign of its contribution around, and a long one is cut.
    signs = page.evaluate("""[...document.querySelectorAll('.reasons .plus, .reasons .minus')].map(each => {
        const range = document.createRange();
        range.setStart(each.firstChild, 0);
        range.setEnd(each.firstChild, 1);
        return range.getBoundingClientRect().x - each.getBoundingClientRect().x;
    })""")
    assert len(signs) > 20 and max(map(abs, signs)) < 1
    assert max(map(len, page.texts(".reasons bdi"))) == 40
    assert page.evaluate("Math.max(...[...document.querySelectorAll('#liked .title')].map(each => each.clientHeight))") < 90
    page.click("#liked button", "Similar")
    page.until("document.querySelectorAll('#neighbours li').length === 10")
    assert page.text("#similar-title") == f"Similar to {titles['1']}"
    assert page.evaluate("[window.hurt === undefined, document.querySelectorAll('main img, main b, main script').length]") == [True, 0]
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


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Pictures(http.server.BaseHTTPRequestHandler):
    """Another host, which notes who asks."""

    def do_GET(self):
        self.server.asked.append((self.path, self.headers["Referer"]))
        self.send_response(200 if self.path == "/2.png" else 404)
        self.send_header("Content-Type", "image/png")
        self.end_headers()
        self.wfile.write(base64.b64decode(PIXEL) if self.path == "/2.png" else b"")

    def log_message(self, *_):
        pass


@pytest.fixture
def picture_host():
    host = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pictures)
    host.asked = []
    thread = threading.Thread(target=host.serve_forever)
    thread.start()
    yield host
    host.shutdown()
    thread.join()
    host.server_close()


@pytest.mark.parametrize("allowed", [False, True])
def test_pictures_come_from_allowed_hosts_alone(browser, data, tmp_path, picture_host, allowed):
    origin = f"http://127.0.0.1:{picture_host.server_address[1]}"
    run("train", data, "--model", "ease", "--lambda", "50", "--out", tmp_path / "ease.model")
    (tmp_path / "titles.csv").write_text(f'id,title,image\n1,One,"data:image/png;base64,{PIXEL}"\n2,Two,{origin}/2.png\n'
                                         f"3,Three,/local.png\n4,Four,{origin}.evil.example/4.png\n5,Five,javascript:alert(1)\n6,Six,\n")
    flags = ["--picture-origin", origin] if allowed else []
    with serving(tmp_path / "run", tmp_path / "ease.model", "--titles", tmp_path / "titles.csv", *flags) as server:
        page = Driver(browser, f"http://127.0.0.1:{server.port}/")
        page.open()
        loaded = "[...document.querySelectorAll('#found img')].map(each => [each.closest('li').dataset.item, each.alt, each.naturalWidth])"
        page.until("document.querySelectorAll('#found li').length >= 6 && [...document.querySelectorAll('#found img')].every(each => each.complete)")
        assert page.evaluate(loaded) == [["1", "", 1]] + [["2", "", 1]] * allowed
        page.like("One", "Two")
        page.until("document.querySelectorAll('#liked li').length === 2")
        assert page.evaluate("document.querySelectorAll('#liked img').length") == 1 + allowed
        assert {address for address, _ in picture_host.asked} == ({"/2.png"} if allowed else set())
        assert {referer for _, referer in picture_host.asked} <= {None}, "nobody learns where the page is"
        assert browser.complaints() == []

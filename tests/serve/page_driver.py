"""Drives the explorer page as a person does: by mouse and keyboard, waiting for what should appear."""
import json

KEYS = {"Tab": 9, "Enter": 13, " ": 32, "ArrowUp": 38, "ArrowDown": 40, "ArrowRight": 39}


class Driver:
    def __init__(self, browser, url):
        self.browser = browser
        self.url = url

    def open(self, width=1280, dark=False, ready="#found button"):
        self.browser.open(self.url, width=width, dark=dark, phone=width < 500)
        self.until(f"document.querySelector({json.dumps(ready)})")

    def evaluate(self, expression):
        return self.browser.evaluate(expression)

    def until(self, condition):
        """Waits in the page; the browser's own limit ends a test that hangs."""
        self.evaluate(f"new Promise(done => {{ const look = () => ({condition}) ? done() : setTimeout(look, 10); look(); }})")

    def text(self, selector):
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")

    def texts(self, selector):
        return self.evaluate(f"[...document.querySelectorAll({json.dumps(selector)})].map(each => each.textContent)")

    def items(self, selector):
        return self.evaluate(f"[...document.querySelectorAll({json.dumps(selector + ' [data-item]')})].map(each => each.dataset.item)")

    def click(self, selector, containing=""):
        """Presses the mouse at the first such element whose text begins so."""
        x, y = self.evaluate(f"""(() => {{
            const found = [...document.querySelectorAll({json.dumps(selector)})].find(each => each.textContent.startsWith({json.dumps(containing)}));
            found.scrollIntoView({{block: 'center'}});
            const box = found.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key, shift=False):
        text = {"Enter": "\r", " ": " "}.get(key)
        parameters = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": KEYS[key], "modifiers": 8 if shift else 0}
        self.browser.call("Input.dispatchKeyEvent", type="keyDown", **parameters, **({"text": text} if text else {}))
        self.browser.call("Input.dispatchKeyEvent", type="keyUp", **parameters)

    def type(self, text):
        self.browser.call("Input.insertText", text=text)

    def focus(self, selector):
        self.evaluate(f"document.querySelector({json.dumps(selector)}).focus()")

    def focused(self):
        """Id, or the text, of the element with the focus."""
        return self.evaluate("document.activeElement.id || document.activeElement.textContent")

    def choose(self, selector, value):
        self.evaluate(f"""(() => {{ const select = document.querySelector({json.dumps(selector)});
            select.value = {json.dumps(value)}; select.dispatchEvent(new Event('change', {{bubbles: true}})); }})()""")

    def search(self, text):
        self.evaluate("document.querySelector('#query').select()")
        self.focus("#query")
        self.type(text)

    def like(self, *titles):
        """Finds items by title and likes each with Enter, as the keyboard path goes."""
        for title in titles:
            before = len(self.items("#liked"))
            self.search(title)
            self.press("Enter")
            self.until(f"document.querySelectorAll('#liked li').length === {before + 1}")

    def until_listed(self, liked, k=10, lists=1):
        """Waits for recommendations for exactly these liked items."""
        self.until(f"document.querySelector('#lists-note').textContent.includes('for {liked}.') && "
                   f"document.querySelectorAll('#lists li').length === {k * lists}")

    def names(self, *roles):
        """Role and accessible name of every node with one of these roles, as assistive technology meets them."""
        tree = self.browser.call("Accessibility.getFullAXTree")["nodes"]
        return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in tree
                if not node.get("ignored") and node.get("role", {}).get("value") in roles]

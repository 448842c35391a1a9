#!/usr/bin/env python3
"""Takes the manual's pictures of a report: `manual-pictures.py STUDY`, the folder of a study that `poise study` wrote. Needs chromium.

    poise synth --like demo --out demo
    poise study demo --models full-rank,ease,wmf,dropout --ranks 10,50 --out study
    scripts/manual-pictures.py study

writes docs/report.webp, the top of the page, and docs/profile.webp, its plot of the best accuracy of each alpha."""
import base64
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "report"))
from browser import Browser  # noqa: E402

WIDTH, HEIGHT = 1080, 1400
NARROW = 640


def take(browser, path, box, scale):
    answer = browser.call("Page.captureScreenshot", format="webp", quality=80, captureBeyondViewport=True, clip={**box, "scale": scale})
    path.write_bytes(base64.b64decode(answer["data"]))


def main():
    browser = Browser()
    try:
        page = (pathlib.Path(sys.argv[1]).resolve() / "report.html").as_uri()
        drawn = "new Promise(done => { const look = () => document.querySelector('#profiles svg') ? done() : setTimeout(look, 10); look(); })"
        browser.open(page, width=WIDTH)
        browser.evaluate(drawn)
        take(browser, ROOT / "docs" / "report.webp", {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT}, 0.8)
        browser.open(page, width=NARROW)
        browser.evaluate(drawn)
        plot = browser.evaluate("""(() => { const box = document.querySelector('#profiles').getBoundingClientRect();
            return {x: box.x + scrollX, y: box.y + scrollY, width: box.width, height: box.height}; })()""")
        take(browser, ROOT / "docs" / "profile.webp", plot, 1)
    finally:
        browser.close()


if __name__ == "__main__":
    main()

"""report.html as a browser shows it. POISE_TESTS is the program of unit tests, which writes the page;
POISE_SCREENSHOTS, where set, is a folder for pictures of it."""
import itertools
import json
import os
import pathlib
import subprocess

import pytest

from browser import PATH, Browser

pytestmark = pytest.mark.skipif(PATH is None, reason="no Chromium is installed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    subprocess.run([os.environ["POISE_TESTS"], "--gtest_filter=StudyHtml.WritesTheSampleForTheBrowser"], check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, "POISE_REPORT_FOLDER": str(folder)})
    return folder


@pytest.fixture(scope="module")
def study(folder):
    return json.loads((folder / "results.json").read_text())


@pytest.fixture(scope="module")
def browser():
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def page(browser, folder):
    browser.open((folder / "report.html").as_uri(), width=1280)
    return browser


def cells(page, selector, names):
    """The elements' data attributes and the text of their .value, or of all of them."""
    return page.evaluate(f"""[...document.querySelectorAll({json.dumps(selector)})].map(cell => ({{
        ...Object.fromEntries({json.dumps(names)}.map(name => [name, cell.dataset[name]])),
        text: (cell.querySelector('.value') ?? cell).textContent.trim(),
        error: cell.querySelector('.error')?.textContent, best: cell.classList.contains('best'),
        interval: cell.querySelector('.interval')?.textContent}}))""")


def marks(page, figure, mark):
    return page.evaluate(
        f"[...document.querySelectorAll('#{figure} .panel')].map(panel => "
        f"panel.querySelectorAll('svg .role-mark.{mark} > *').length)")


def test_says_nothing_and_asks_for_nothing(page, folder):
    page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
    assert page.complaints() == []
    assert page.requests() == [(folder / "report.html").as_uri()]


def test_accuracies_are_those_of_the_results(page, study):
    shown = cells(page, "td[data-metric]", ["row", "metric"])
    rows = study["rows"]
    for cell in shown:
        estimate = rows[int(cell["row"])]["test"][cell["metric"]]
        assert cell["text"] == f"{estimate['mean']:.3f}"
        assert cell["error"] == f"±{estimate['stderr']:.3f}"
    # Each row once in the table of its rank and once in that of its data; popularity in all of the three ranks' tables.
    popular = sum(row["model"] == "popularity" for row in rows)
    assert len(shown) == 3 * (2 * (len(rows) - popular) + (3 + 1) * popular)
    assert {int(cell["row"]) for cell in shown} == set(range(len(rows)))


def test_bold_is_the_better_as_printed(page, study):
    groups = {}
    for row in study["rows"]:
        groups.setdefault((row["data"], row["model"], row["rank"], row["zero_diagonal"]), []).append(row)
    for cell in cells(page, "td[data-metric]", ["row", "metric"]):
        row = study["rows"][int(cell["row"])]
        others = [f"{other['test'][cell['metric']]['mean']:.3f}"
                  for other in groups[row["data"], row["model"], row["rank"], row["zero_diagonal"]] if other is not row]
        assert cell["best"] == (bool(others) and all(cell["text"] > other for other in others))


def test_points_are_those_of_the_results(page, study):
    shown = cells(page, "td[data-field]", ["row", "field"])
    assert len(shown) > 0
    for cell in shown:
        row = study["rows"][int(cell["row"])]
        if cell["field"] == "certificate":
            assert float(cell["text"]) == pytest.approx(row["certificate"]["relative"], rel=0.05)
        elif cell["field"] == "dropout" and row["dropout"] == 0:
            assert cell["text"] == ""
        else:
            assert float(cell["text"]) == pytest.approx(row[cell["field"]], rel=1e-3)


def test_differences_are_those_of_the_results(page, study):
    shown = cells(page, "td[data-pair]", ["pair"])
    assert sorted(int(cell["pair"]) for cell in shown) == list(range(len(study["pairs"])))
    for cell in shown:
        pair = study["pairs"][int(cell["pair"])]
        assert cell["text"] == f"{pair['difference']:+.4f}"
        assert cell["interval"] == f"{pair['interval'][0]:+.4f} to {pair['interval'][1]:+.4f}"
    for cell in cells(page, "td[data-pair-p]", ["pairP"]):
        p = study["pairs"][int(cell["pairP"])]["p"]
        assert cell["text"] == ("< 0.001" if p < 0.001 else f"{p:.3f}")


def check_comparison(cell, row):
    p = row["corrected_p"]
    assert cell["text"] == f"{row['difference']:+.4f}"
    assert cell["interval"] == ("p < 0.001" if p < 0.001 else f"p = {p:.3f}")


def test_the_best_is_that_of_validation(page, study):
    shown = cells(page, "td[data-against-best]", ["againstBest"])
    assert sorted(int(cell["againstBest"]) for cell in shown) == list(range(len(study["against_best"])))
    for cell in shown:
        check_comparison(cell, study["against_best"][int(cell["againstBest"])])
    sentences = page.evaluate("[...document.querySelectorAll('.conclusions .most')].map(item => item.textContent)")
    assert len(sentences) == len(study["data"])
    for sentence, data in zip(sentences, study["data"]):
        rows = [row for row in study["rows"] if row["data"] == data["name"]]
        best = max(rows, key=lambda row: row["validation"]["ndcg@100"]["mean"])
        assert [row["best_on_validation"] for row in rows].count(True) == 1 and best["best_on_validation"]
        test = best["test"]["ndcg@100"]
        assert sentence.startswith("Best on validation: ")
        assert f"nDCG@100 {test['mean']:.3f} ±{test['stderr']:.3f} on the test users" in sentence
        assert "told apart" in sentence or "does not differ measurably" in sentence or "less accurate" in sentence


def test_arrows_are_where_the_paired_test_says_so(page, study):
    pairs = {(pair["data"], pair["model"], pair["rank"], pair["zero_diagonal"], pair["kind"], pair["metric"]): pair
             for pair in study["pairs"]}
    shown = page.evaluate("[...document.querySelectorAll('td[data-metric]')].map(cell => "
                          "[cell.dataset.row, cell.dataset.metric, cell.querySelector('.mark')?.textContent ?? ''])")
    arrows = set()
    for index, metric, arrow in shown:
        row = study["rows"][int(index)]
        pair = pairs.get((row["data"], row["model"], row["rank"], row["zero_diagonal"], row["kind"], metric))
        found = pair is not None and pair["p"] < 0.05
        assert arrow == ("" if not found else "↑" if pair["difference"] > 0 else "↓")
        arrows.add(arrow)
    assert arrows == {"", "↑", "↓"}, "the sample has all of them"


def test_other_tables_are_those_of_the_results(page, study):
    shown = cells(page, "td[data-comparison]", ["comparison"])
    assert sorted(int(cell["comparison"]) for cell in shown) == list(range(len(study["against_popularity"])))
    for cell in shown:
        check_comparison(cell, study["against_popularity"][int(cell["comparison"])])
    data = page.evaluate("[...document.querySelectorAll('tr[data-set]')].map(row => "
                         "[...row.cells].map(cell => cell.textContent))")
    assert [line[0] for line in data] == [part["name"] for part in study["data"]]
    assert [line[3] for line in data] == [f"{part['interactions']:,}" for part in study["data"]]
    sentences = page.evaluate("[...document.querySelectorAll('.conclusions li:not(.most)')].map(item => item.textContent)")
    assert all(text.endswith(conclusion["sentence"]) for text, conclusion in zip(sentences, study["conclusions"]))
    assert len(sentences) == len(study["conclusions"])


def model(item):
    return item["model"], item["zero_diagonal"]


def by_model(items):
    groups = {}
    for item in items:
        groups.setdefault(model(item), []).append(item)
    return list(groups.values())


def test_every_plot_has_its_marks(page, study):
    trained = [row for row in study["rows"] if row["model"] != "popularity"]
    names = [part["name"] for part in study["data"]]
    ranks = [10, 100, None]
    choices = itertools.product(range(len(names)), range(len(ranks)), range(len(study["metrics"])))
    for data, rank, metric in choices:
        page.evaluate(f"""for (const [name, value] of Object.entries({{data: {data}, rank: {rank}, metric: {metric}}})) {{
            const select = document.querySelector(`select[name=${{name}}]`);
            if (select.value === String(value)) continue;
            select.value = value;
            select.dispatchEvent(new Event('change'));
        }}""")
        of_data = [row for row in trained if row["data"] == names[data]]
        low = by_model([row for row in of_data if row["rank"] is not None])
        full = by_model([row for row in of_data if row["rank"] is None])
        expected = [len(group) for group in low] + [sum(map(len, full))]
        assert marks(page, "accuracy", "points") == expected
        assert marks(page, "accuracy", "errors") == expected
        assert marks(page, "accuracy", "baseline") == [1] * len(expected)

        rows = by_model([row for row in of_data if row["rank"] == ranks[rank]])
        profiles = by_model([profile for profile in study["profiles"]
                             if profile["data"] == names[data] and profile["rank"] == ranks[rank]])
        on_curves = [sum(len(profile["curve"]) for profile in group) for group in profiles]
        assert marks(page, "profiles", "points") == on_curves and marks(page, "profiles", "errors") == on_curves
        assert marks(page, "profiles", "chosen") == list(map(len, profiles)), "the chosen point of every kind"
        tried = [len([point for point in study["points"] if point["data"] == names[data] and point["rank"] == ranks[rank]
                      and model(point) == model(group[0])]) for group in profiles]
        assert all(shown <= all_points for shown, all_points in zip(marks(page, "profiles", "tried"), tried))
        assert marks(page, "popularity-bins", "points") == [
            sum(bin["targets"] > 0 for row in group for bin in row["by_popularity"]) for group in rows]

        steps = []
        for group in rows:
            above = [[step["objective"] > min(s["objective"] for s in row["convergence"]) for step in row["convergence"]
                      if step["objective"] is not None] for row in group]
            proven = [[(step["certificate"] or 0) > 0 for step in row["convergence"]] for row in group]
            # A panel where some row has a course; a single dot is the table's matter.
            steps += [sum(map(sum, values)) for values in (above, proven) if any(sum(row) > 1 for row in values)]
        assert marks(page, "convergence", "points") == steps
    assert page.complaints() == []


def test_no_mark_hangs_over_its_plot(page):
    for rank in range(3):
        page.evaluate(f"""(() => {{ const select = document.querySelector('select[name=rank]');
            select.value = {rank}; select.dispatchEvent(new Event('change')); }})()""")
        outside = page.evaluate("""[...document.querySelectorAll('.panel')].flatMap(panel => {
            const area = panel.querySelector('svg .role-frame.root > g > path.background').getBoundingClientRect();
            return [...panel.querySelectorAll('svg .role-mark.points > *')].map(mark => mark.getBoundingClientRect())
                .filter(mark => mark.left < area.left - 0.5 || mark.right > area.right + 0.5 ||
                                mark.top < area.top - 0.5 || mark.bottom > area.bottom + 0.5)
                .map(mark => [panel.querySelector('h4').textContent, mark.left - area.left, area.right - mark.right,
                              mark.top - area.top, area.bottom - mark.bottom]);
        })""")
        assert outside == []


def test_a_table_that_does_not_fit_says_so(browser, folder):
    said = {}
    for width in (390, 1280):
        browser.open((folder / "report.html").as_uri(), width=width, phone=width < 500)
        browser.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
        tables = browser.evaluate("""[...document.querySelectorAll('.scroll')].map(scroll => [
            scroll.scrollWidth > scroll.clientWidth,
            getComputedStyle(scroll.parentElement, '::before').content.includes('scroll sideways'),
            scroll.tabIndex, getComputedStyle(scroll).overflowX])""")
        assert len(tables) == 3 + 1 + 1 + 2 + 1  # ranks, differences, beyond accuracy, data sets, data
        assert all(hint == overflows for overflows, hint, _, _ in tables), tables
        assert all(reachable == 0 and overflow == "auto" for _, _, reachable, overflow in tables)
        said[width] = [hint for _, hint, _, _ in tables]
    assert all(said[390])
    browser.open((folder / "report.html").as_uri(), width=1280)


def test_plots_are_as_wide_as_their_panels(page):
    widths = page.evaluate("[...document.querySelectorAll('.panel svg')].map(plot => "
                           "[plot.getBoundingClientRect().width, plot.closest('.panel').clientWidth])")
    assert all(abs(plot - panel) <= 2 for plot, panel in widths), widths


def test_prints_light(page):
    page.colours(dark=True, media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert len(page.call("Page.printToPDF", landscape=False)["data"]) > 10000
    page.colours()


@pytest.mark.parametrize("width", [1280, 390])
def test_fits_its_width_and_follows_the_colours(browser, folder, width):
    browser.open((folder / "report.html").as_uri(), width=width, phone=width < 500)
    for dark in (False, True):
        browser.colours(dark)
        assert browser.evaluate("document.documentElement.scrollWidth") == width
        background, text, plot = browser.evaluate(
            "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color, "
            "getComputedStyle(document.querySelector('#accuracy svg .role-axis-label text')).fill]")
        bright = [sum(map(int, colour[4:-1].split(","))) > 382 for colour in (background, text, plot)]
        assert bright == ([False, True, True] if dark else [True, False, False])
        if "POISE_SCREENSHOTS" in os.environ:
            pictures = pathlib.Path(os.environ["POISE_SCREENSHOTS"])
            pictures.mkdir(parents=True, exist_ok=True)
            browser.screenshot(pictures / f"{'phone' if width < 500 else 'desktop'}-{'dark' if dark else 'light'}.png")
    assert browser.complaints() == []


@pytest.mark.parametrize("width", [1280, 390])
def test_a_search_without_a_test_part(browser, folder, width):
    browser.open((folder / "untested.html").as_uri(), width=width, phone=width < 500)
    browser.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
    assert browser.complaints() == [] and browser.evaluate("document.documentElement.scrollWidth") == width
    assert browser.evaluate("document.querySelector('h1').textContent") == "What validation chose, with no test users to confirm it"
    assert marks(browser, "accuracy", "points") == [2], "validation figures"
    assert marks(browser, "profiles", "chosen") == [3]
    wide, panel = browser.evaluate("[document.querySelector('#profiles .panels').clientWidth, "
                                   "document.querySelector('#profiles .panel').clientWidth]")
    assert panel >= min(wide, 500), "a single panel takes the room that there is"
    assert browser.evaluate("document.querySelectorAll('.best, .mark:not(:empty), #pairs, #popularity-bins').length") == 0
    if "POISE_SCREENSHOTS" in os.environ:
        browser.screenshot(pathlib.Path(os.environ["POISE_SCREENSHOTS"]) / f"untested-{width}.png")


@pytest.mark.parametrize("width", [1280, 390])
def test_a_study_that_is_not_complete(browser, folder, width):
    study = json.loads((folder / "unfinished.json").read_text())
    browser.open((folder / "unfinished.html").as_uri(), width=width, phone=width < 500)
    browser.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
    assert browser.complaints() == [] and browser.evaluate("document.documentElement.scrollWidth") == width
    assert browser.evaluate("document.querySelector('h1').textContent").startswith("Not complete: so far ")
    assert "Not begun: EDLAE" in browser.evaluate("document.querySelector('.unfinished').textContent")
    # What is not final stands in parentheses, with the validation users' figures, and wins nothing.
    shown = browser.evaluate("[...document.querySelectorAll('td[data-metric]')].map(cell => [cell.dataset.row, cell.dataset.metric, "
                             "cell.textContent, cell.classList.contains('aside'), cell.classList.contains('best')])")
    for row, metric, text, aside, best in shown:
        row = study["rows"][int(row)]
        assert aside == (not row["final"])
        if aside:
            estimate = row["validation"][metric]
            assert text.startswith(f"({estimate['mean']:.3f}±{estimate['stderr']:.3f})") and not best
    assert sum(aside for _, _, _, aside, _ in shown) == 4 * 3 * 2, "two models, two rows each, in two tables"
    # One says so for each of them in the table of all rows, on a phone by a sign.
    open_rows = browser.evaluate("[...document.querySelectorAll('.points td.kind.open')].map(cell => [cell.querySelector('small').textContent, "
                                 "getComputedStyle(cell, '::after').content])")
    assert sorted(text for text, _ in open_rows) == ["not trained yet"] * 2 + ["search not complete"] * 2
    assert all(("…" in sign) == (width < 500) for _, sign in open_rows)
    if "POISE_SCREENSHOTS" in os.environ:
        browser.screenshot(pathlib.Path(os.environ["POISE_SCREENSHOTS"]) / f"unfinished-{width}.png")


def test_complaints_and_requests_are_noticed(browser, folder, tmp_path):
    """So that test_says_nothing_and_asks_for_nothing can fail."""
    bad = tmp_path / "bad.html"
    bad.write_text((folder / "report.html").read_text().replace(
        "</main>", "</main><script>fetch('http://127.0.0.1:9/x').catch(() => {}); console.error('no')</script>"))
    browser.open(bad.as_uri(), width=1280)
    browser.evaluate("new Promise(done => setTimeout(done, 50))")
    texts = json.dumps(browser.complaints())
    assert "no" in texts and "Content Security Policy" in texts


def test_an_empty_study_is_a_page(browser, folder):
    browser.open((folder / "empty.html").as_uri(), width=1280)
    assert browser.complaints() == []
    assert "No weighted row" in browser.evaluate("document.querySelector('h1').textContent")

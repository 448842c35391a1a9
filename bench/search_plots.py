"""Draws the figures of docs/search.md from the results of bench/search_quality.py.

    python3 bench/search_plots.py WORK... [--out docs]

Draws every data set for which a folder has, for some model, both ex-DATA-MODEL.json (the exhaustive grid) and best-DATA-MODEL.json (the
default search). Writes search-quality.svg: the best point that the search finds less the best of the grid, model by model, beside as many
points of the grid drawn at random; search-budget.svg: how many random points it would take; and search-map.svg: the points that the
search tried on the grid of the full-rank model.

The best of n random points is computed, not sampled: it is the k-th highest of N with probability C(N-k, n-1) / C(N, n)."""
import argparse
import json
import math
import pathlib

from search_quality import CHOSEN, MODELS, score

TITLES = {"demo": "synth --like demo", "head": "Online Retail, head", "online-retail-head": "Online Retail, head",
          "or": "Online Retail", "online-retail": "Online Retail"}
SHORT = {"full": "full rank", "ease": "zero diag.", "wd10": "weight decay 10", "dropout10": "dropout 10", "dwd10": "data/w. decay 10",
         "wmf10": "WMF 10", "wd50": "weight decay 50", "dropout50": "dropout 50", "dwd50": "data/w. decay 50", "wmf50": "WMF 50"}
STYLE = """text{font:11px system-ui,sans-serif;fill:#3b434b}.t{font-weight:600;font-size:12px}.m{fill:#5a636d}
.g{stroke:#e2e6ea}.z{stroke:#5a636d}.b{fill:#b64a00}.r{fill:#0a66a8}.rl{stroke:#0a66a8;fill:none}.bl{stroke:#b64a00;fill:none}
@media (prefers-color-scheme:dark){text{fill:#c9d1d9}.m{fill:#9aa4ae}.g{stroke:#30363d}.z{stroke:#9aa4ae}.b{fill:#f39a55}.r{fill:#5fb2ee}
.rl{stroke:#5fb2ee}.bl{stroke:#f39a55}}"""


def results(folders):
    """{data: {model: (scores of the grid, descending; points of the search; its best score)}}, in the order of MODELS, and
    {data: (the grid, the search)} of the full-rank model."""
    found, maps = {}, {}
    for folder in folders:
        for path in sorted(folder.glob("ex-*.json")):
            data, _, model = path.stem[3:].rpartition("-")
            other = folder / f"best-{data}-{model}.json"
            if model not in MODELS or not other.exists() or 0 in (path.stat().st_size, other.stat().st_size):
                continue
            every, best = (json.loads(each.read_text()) for each in (path, other))
            scores = sorted((score(point) for point in every["points"] if "validation" in point), reverse=True)
            if model == "full":
                maps[data] = (every, best)
            chosen = max(score(best[kind]) for kind in CHOSEN.values() if best[kind])
            found.setdefault(data, {})[model] = (scores, len(best["points"]), chosen)
    return {data: {model: found[data][model] for model in MODELS if model in found[data]} for data in sorted(found)}, maps


def chances(count, draws):
    """The probability of each place of `count` to be the best of `draws` without replacement."""
    draws = min(draws, count)
    chance = draws / count
    for place in range(count - draws + 1):
        yield chance
        rest = count - place - 1
        if rest > 0:
            chance *= (rest - draws + 1) / rest


def random_shortfall(scores, draws):
    """Mean, and the ends of the middle 90 %."""
    mean, total, ends = 0.0, 0.0, {}
    for value, chance in zip(scores, chances(len(scores), draws)):
        mean += chance * (scores[0] - value)
        total += chance
        for end in (0.05, 0.95):
            if end not in ends and total >= end:
                ends[end] = scores[0] - value
    return mean, ends[0.05], ends[0.95]


class Plot:
    """A picture as the text of an SVG file."""

    def __init__(self, width, height):
        self.width, self.height, self.parts = width, height, []

    def add(self, text):
        self.parts.append(text)

    def text(self, x, y, text, kind="", anchor="start", turn=0):
        rotate = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
        self.add(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}"{rotate}>{text}</text>')

    def write(self, path, title):
        path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
                        f'role="img" aria-label="{title}">\n<style>{STYLE}</style>\n' + "\n".join(self.parts) + "\n</svg>\n")


def axis(plot, left, right, top, bottom, low, high, step):
    """Horizontal grid lines with labels; shortfalls are shown as differences. Returns the function from value to position."""
    at = lambda value: bottom - (value - low) / (high - low) * (bottom - top)  # noqa: E731
    for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1):
        plot.add(f'<line x1="{left}" x2="{right}" y1="{at(k * step):.1f}" y2="{at(k * step):.1f}" class="{"z" if k == 0 else "g"}"/>')
        plot.text(left - 6, at(k * step) + 4, f"{-k * step:+.3f}" if k else "0", "m", "end")
    return at


def legend(plot, x, y, what):
    plot.add(f'<circle cx="{x}" cy="{y - 4}" r="4" class="b"/>')
    plot.text(x + 9, y, "--grid best")
    plot.add(f'<circle cx="{x + 100}" cy="{y - 4}" r="3" class="r"/>')
    plot.text(x + 109, y, what)


def quality(found, path):
    left, width, panel, gap, foot = 62, 760, 150, 34, 92
    plot = Plot(width, 46 + len(found) * (panel + gap) + foot - gap)
    legend(plot, left, 16, "as many points of the grid at random: mean, and the middle 90 %")
    models = [model for model in MODELS if any(model in each for each in found.values())]
    spots = {model: left + 30 + k * (width - left - 50) / max(1, len(models) - 1) for k, model in enumerate(models)}
    for k, (data, each) in enumerate(found.items()):
        top = 56 + k * (panel + gap)
        drawn = {model: (scores[0] - chosen, random_shortfall(scores, count)) for model, (scores, count, chosen) in each.items()}
        values = [value for ours, others in drawn.values() for value in (ours, *others)]
        step = 0.002 if max(values) - min(values) < 0.015 else 0.005
        low = min(0, math.floor(min(values) / step) * step)
        high = math.ceil(max(values) / step) * step
        at = axis(plot, left, width - 8, top + panel, top, low, high, step)
        plot.text(left, top - 8, f"{TITLES.get(data, data)}: best found less the best of the full grid, validation nDCG@100", "t")
        for model, (ours, (mean, best, worst)) in drawn.items():
            x = spots[model]
            plot.add(f'<line x1="{x + 5:.1f}" x2="{x + 5:.1f}" y1="{at(best):.1f}" y2="{at(worst):.1f}" class="rl"/>')
            plot.add(f'<circle cx="{x + 5:.1f}" cy="{at(mean):.1f}" r="3" class="r"/>')
            plot.add(f'<circle cx="{x - 5:.1f}" cy="{at(ours):.1f}" r="4" class="b"/>')
    for model, x in spots.items():
        plot.text(x, plot.height - foot + 34, SHORT[model], "m", "end", -35)
    plot.write(path, "The best point found less the best point of an exhaustive grid")


def budget(found, path):
    left, height, panel = 62, 250, 250
    width = left + len(found) * panel
    plot = Plot(width, height)
    legend(plot, left, 16, "points of the grid at random")
    top, bottom, high = 56, height - 40, 0.012
    for k, (data, each) in enumerate(found.items()):
        begin, end = left + k * panel, left + (k + 1) * panel - 24
        most = max(len(scores) for scores, _, _ in each.values())
        place = lambda count: begin + math.log(count / 5) / math.log(most / 5) * (end - begin)  # noqa: E731, B023
        at = axis(plot, begin, end, bottom, top, -0.004, high, 0.004)
        if k > 0:  # the scale is that of the first
            plot.parts = [part for part in plot.parts if f'x="{begin - 6:.1f}"' not in part]
        plot.text(begin, top - 10, TITLES.get(data, data), "t")
        mean = lambda count: sum(random_shortfall(scores, count)[0] for scores, _, _ in each.values()) / len(each)  # noqa: E731, B023
        counts = sorted({max(5, round(5 * (most / 5) ** (step / 60))) for step in range(61)})
        line = [(place(count), at(mean(count))) for count in counts if mean(count) <= high]
        plot.add('<path d="M' + " L".join(f"{x:.1f} {y:.1f}" for x, y in line) + '" class="rl" stroke-width="1.75"/>')
        ours = sum(count for _, count, _ in each.values()) / len(each)
        short = sum(scores[0] - chosen for scores, _, chosen in each.values()) / len(each)
        plot.add(f'<circle cx="{place(ours):.1f}" cy="{at(short):.1f}" r="4.5" class="b"/>')
        for count in (10, 30, 100, 300):
            plot.text(place(count), bottom + 16, str(count), "m", "middle")
        plot.text((begin + end) / 2, bottom + 32, "points", "m", "middle")
    plot.write(path, "The best point found less the best of the grid, against the number of points")


def chart(maps, path):
    left, panel, top, bottom, floor, shades = 44, 250, 40, 262, 0.04, 8
    plot = Plot(left + len(maps) * panel, bottom + 40)
    for k, (data, (every, best)) in enumerate(sorted(maps.items())):
        begin, end = left + k * panel, left + (k + 1) * panel - 26
        points = {(point["lambda"], point["alpha"]): point for point in every["points"] if "validation" in point}
        axes = [sorted({place[axis] for place in points}) for axis in (0, 1)]
        edges = [[math.sqrt(a * b) for a, b in zip(axis, axis[1:])] for axis in axes]
        edges = [[axis[0] ** 2 / edge[0], *edge, axis[-1] ** 2 / edge[-1]] for axis, edge in zip(axes, edges)]
        spans = [(math.log(edge[0]), math.log(edge[-1])) for edge in edges]
        across = lambda value: begin + (math.log(value) - spans[1][0]) / (spans[1][1] - spans[1][0]) * (end - begin)  # noqa: E731, B023
        down = lambda value: bottom - (math.log(value) - spans[0][0]) / (spans[0][1] - spans[0][0]) * (bottom - top)  # noqa: E731, B023
        highest = max(map(score, points.values()))
        cells = [""] * shades
        for (strength, alpha), point in points.items():
            row, column = axes[0].index(strength), axes[1].index(alpha)
            x, y = across(edges[1][column]), down(edges[0][row + 1])
            width, height = across(edges[1][column + 1]) - x, down(edges[0][row]) - y
            shade = shades - 1 - min(shades - 1, int((highest - score(point)) / floor * shades))
            cells[shade] += f"M{x:.0f} {y:.0f}h{math.ceil(width)}v{math.ceil(height)}h-{math.ceil(width)}z"
        for shade, cell in enumerate(cells):
            if cell:
                plot.add(f'<path d="{cell}" class="r" fill-opacity="{0.04 + 0.5 * shade / (shades - 1):.2f}"/>')
        for point in best["points"]:
            x, y = across(point["alpha"]), down(point["lambda"])
            if begin <= x <= end and top <= y <= bottom:
                plot.add(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" class="b"/>')
        for kind in CHOSEN.values():
            if best[kind]:
                plot.add(f'<circle cx="{across(best[kind]["alpha"]):.1f}" cy="{down(best[kind]["lambda"]):.1f}" r="5.5" class="bl" stroke-width="2"/>')
        plot.text(begin, top - 12, TITLES.get(data, data), "t")
        for value in (0.1, 1, 10):
            plot.text(across(value), bottom + 16, f"{value:g}", "m", "middle")
        plot.text((begin + end) / 2, bottom + 32, "alpha", "m", "middle")
        for exponent in range(6):
            if k == 0 and spans[0][0] <= math.log(10 ** exponent) <= spans[0][1]:
                plot.text(left - 6, down(10 ** exponent) + 4, f"1e{exponent}" if exponent else "1", "m", "end")
    plot.text(12, (top + bottom) / 2, "lambda", "m", "middle", -90)
    plot.write(path, "What the search tried, on the exhaustive grid of the full-rank model")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("work", nargs="+", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1] / "docs")
    arguments = parser.parse_args()
    found, maps = results(arguments.work)
    if not found:
        raise SystemExit("no data set has both ex-DATA-MODEL.json and best-DATA-MODEL.json there")
    quality(found, arguments.out / "search-quality.svg")
    budget(found, arguments.out / "search-budget.svg")
    if maps:
        chart(maps, arguments.out / "search-map.svg")
    for data, each in found.items():
        short = sum(scores[0] - chosen for scores, _, chosen in each.values()) / len(each)
        others = sum(random_shortfall(scores, count)[0] for scores, count, _ in each.values()) / len(each)
        counts = sum(count for _, count, _ in each.values()) / len(each)
        print(f"{data}: {len(each)} models, {counts:.0f} points of {len(next(iter(each.values()))[0])} on average, short by {short:+.4f}; "
              f"as many at random {others:+.4f}")


if __name__ == "__main__":
    main()

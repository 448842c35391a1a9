"""Does weighting help? The paper's experiment on any data."""
from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from . import _html, _poise
from ._dataset import Dataset
from ._evaluate import DEFAULT_METRICS
from ._progress import Callback, Progress
from ._search import data_name, flat, searching, write_files
from ._settings import memory_of, number, seed_of, threads_of, whole


class StudyResult:
    """The results of a study: `table` (a list of flat dicts, which `pandas.DataFrame` takes as it is), `pairs` (weighted
    against unweighted), `points`, `conclusions`, all of it in `results` (the object of results.json), and the report as
    `markdown`, `latex`, `csv` and `html`. In a notebook it shows its tables. `save` writes the files of `poise study`.

    `complete` is False if time or points ran out: the results are then partial, `missing` lists the points that would have been
    tried next, and `unfinished` names the searches that were running or not begun.

    With `seeds` all of this is over splits: figures are means with their `spread` (the standard deviation over splits), and
    `splits` has the StudyResult of each seed, with its points and plots; with `over_cuts` that of each cut, counted from 1.
    """

    def __init__(self, files: Dict[str, str]) -> None:
        self._files = files
        folders: Dict[int, Dict[str, str]] = {}
        for path, text in files.items():
            folder, _, name = path.rpartition("/")
            if folder:
                folders.setdefault(int(folder.rpartition("-")[2]), {})[name] = text
        self.splits: Dict[int, StudyResult] = {seed: StudyResult(each) for seed, each in folders.items()}
        self.results: Dict[str, Any] = json.loads(files["results.json"])

    @property
    def complete(self) -> bool:
        return bool(self.results["complete"])

    @property
    def missing(self) -> List[Dict[str, str]]:
        missing: List[Dict[str, str]] = self.results.get("missing", [])
        return missing

    @property
    def unfinished(self) -> List[Dict[str, Any]]:
        unfinished: List[Dict[str, Any]] = self.results.get("unfinished", [])
        return unfinished

    @property
    def table(self) -> List[Dict[str, Any]]:
        """One row for each model, rank, and weighted or not."""
        return [flat(row) for row in self.results["rows"]]

    @property
    def pairs(self) -> List[Dict[str, Any]]:
        """Weighted less unweighted, with interval and p."""
        pairs: List[Dict[str, Any]] = self.results["pairs"]
        return pairs

    @property
    def points(self) -> List[Dict[str, Any]]:
        """Every model that the searches trained, as flat dicts."""
        return [flat(point) for point in self.results.get("points", [])]

    @property
    def profiles(self) -> List[Dict[str, Any]]:
        """The best validation figure of each model and kind against alpha."""
        profiles: List[Dict[str, Any]] = self.results.get("profiles", [])
        return profiles

    @property
    def conclusions(self) -> List[Dict[str, Any]]:
        conclusions: List[Dict[str, Any]] = self.results["conclusions"]
        return conclusions

    @property
    def markdown(self) -> str:
        return self._files["tables.md"]

    @property
    def latex(self) -> str:
        return self._files["tables.tex"]

    @property
    def csv(self) -> str:
        return self._files["results.csv"]

    @property
    def html(self) -> str:
        """One self-contained page with tables and plots."""
        return self._files["report.html"]

    def save(self, folder: "Union[str, os.PathLike[str]]") -> None:
        """Writes tables.md, tables.tex, results.csv, results.json and report.html; those of each split to a folder seed-N or cut-N."""
        write_files(folder, self._files)

    def _repr_html_(self) -> str:
        """The conclusions and a table of the rows in a notebook; `html` is the whole page."""
        metrics = [name for name in (self.table[0] if self.table else {}) if name.startswith("test ") and "@" in name and " " not in name[5:]]
        head = ("data", "model", "rank", "kind", "alpha", *metrics)
        rows = [tuple(row.get(name) for name in head) for row in self.table]
        sentences = [_html.paragraph(f"{each['data']}: {each['sentence']}") for each in self.conclusions]
        return _html.titled(repr(self)[1:-1], *sentences, _html.table(head, rows))

    def _repr_markdown_(self) -> str:
        return self.markdown

    def __repr__(self) -> str:
        state = "" if self.complete else ", not complete"
        source = f"over {len(self.splits)} splits" if self.splits else f"from {len(self.results['points'])} points"
        return f"<poise.StudyResult: {len(self.table)} rows {source}{state}>"


def _named(data: Any) -> List[Tuple[str, Dataset]]:
    if isinstance(data, Dataset):
        data = [data]
    if isinstance(data, Mapping):
        return [(str(name), each) for name, each in data.items()]
    named: List[Tuple[str, Dataset]] = []
    for k, each in enumerate(data):
        named.append((f"data {k + 1}" if not each._folder and len(data) > 1 else data_name(each), each))
    return named


def _seeds_of(seeds: Optional[Sequence[int]]) -> List[int]:
    if seeds is None:
        return []
    numbers = [whole(seed, "seeds") for seed in seeds]
    if not numbers:
        raise ValueError("seeds has no seed to split by; leave it out to study the data as they are")
    for seed in numbers:
        if not 0 <= seed < 2**32:
            raise ValueError(f"seeds has {seed}, which is out of range: from 0 to 4294967295 is needed")
        if numbers.count(seed) > 1:
            raise ValueError(f"seeds has {seed} twice; a split counts once")
    return numbers


def _axis_texts(values: Union[Sequence[float], str, None], grid: str) -> List[str]:
    """The values of alpha_negative as `poise study --alpha-negative` takes them; none: 1."""
    if values is None:
        return []
    if isinstance(values, str):
        if values != "auto" or grid != "best":
            raise ValueError(f'alpha_negative={values!r}: give numbers, or with grid="best" "auto"')
        return ["auto"]
    texts = [repr(number(value, "alpha_negative")) for value in values]
    if not texts:
        raise ValueError("alpha_negative has no values to search")
    return texts


def _flags(
    models: str, ranks: List[int], neighbours: List[int], tolerance: float, seed: int, papers: List[str], options: Dict[str, Any]
) -> List[Tuple[str, str]]:
    """The flags of `poise study` that do the same, which the report shows."""
    shown = [
        ("--models", models),
        ("--ranks", ",".join(map(str, ranks))),
        ("--grid", options["grid"]),
        ("--metric", options["metric"]),
        ("--metrics", options["metrics"]),
        ("--recall-denominator", options["recall_denominator"]),
        ("--tolerance", f"{tolerance:g}"),
        ("--seed", str(seed)),
    ]
    if neighbours:
        shown.append(("--neighbours", ",".join(map(str, neighbours))))
    if options["alpha_negative"]:
        shown.append(("--alpha-negative", ",".join(options["alpha_negative"])))
    if options["grid"] != "best":
        shown.append(("--refine", str(options["refine"])))
    if options["points"] is not None:
        shown.append(("--points", str(options["points"])))
    if not options["race"]:
        shown.append(("--no-race", ""))
    if not options["expand"]:
        shown.append(("--no-expand", ""))
    if papers:
        shown.append(("--compare-paper", ",".join(papers)))
    return shown


def study(
    data: Union[Dataset, Sequence[Dataset], Mapping[str, Dataset]],
    *,
    ranks: Sequence[int] = (10, 100, 1000),
    neighbours: Sequence[int] = (),
    alpha_negative: Union[Sequence[float], str, None] = None,
    models: str = "all",
    grid: str = "best",
    metric: str = "ndcg@100",
    metrics: Union[str, Iterable[str]] = DEFAULT_METRICS,
    recall_denominator: str = "min",
    expand: bool = True,
    refine: int = 0,
    tolerance: float = 1e-6,
    compare_paper: Optional[Sequence[str]] = None,
    seeds: Optional[Sequence[int]] = None,
    over_cuts: bool = False,
    time_limit: Union[float, str, None] = None,
    points: Optional[int] = None,
    race: bool = True,
    journal: "Union[str, os.PathLike[str], None]" = None,
    random_state: Any = None,
    num_threads: int = 0,
    memory_limit: Union[int, str, None] = None,
    device: str = "auto",
    show_progress: bool = True,
    callback: Optional[Callback] = None,
) -> StudyResult:
    """The paper's experiment, as `poise study` runs it: for every kind of model and rank the validation part chooses the best
    unweighted point and the best with weights above and below 1; these are trained to convergence, and the test part is read once, for them.

    `data` is split data, or several under their names in a dict. `models` is "all" or a list such as "full-rank,ease".
    With `neighbours` full rank is also studied with so many entries in each column, and with these alone where dense models do not fit.
    `alpha_negative` is the weight of dislikes in every model, an axis as in `poise.search`.
    An interrupted study continues from its `journal` file. `compare_paper` names the paper's data set ("ml-20m", "netflix",
    "msd") for each of `data`; its figures are then shown beside. For a given split without a validation part, a tenth of each
    user's training rows, drawn by `random_state`, serves as validation part; the tested models are trained on all training rows.

    With `seeds` the parts of the data are pooled, split again by each seed in the same way and sizes, and studied one by one: the
    result is over splits, means and spread, and `splits` has that of each seed. With `over_cuts` the data are cuts of one log in
    time (`poise.split(log, "time", test_from=..., test_to=...)`), in the order of time, and the result is over cuts in the same way.

    >>> import poise
    >>> data = poise.split(poise.synth("demo"))
    >>> study = poise.study({"demo": data}, ranks=[], models="full-rank", show_progress=False)
    >>> [(row["kind"], round(row["test ndcg@100"], 1)) for row in study.table[:3]]
    [('unweighted', 0.5), ('weighted', 0.5), ('down-weighted', 0.5)]
    """
    named = _named(data)
    papers = [] if compare_paper is None else list(compare_paper)
    if papers and len(papers) != len(named):
        raise ValueError(f"compare_paper names {len(papers)} data sets and there are {len(named)}: name one for each")
    options = searching(grid, metric, metrics, recall_denominator, expand, refine, time_limit, points, race)
    rank_list = [whole(rank, "ranks") for rank in ranks]
    neighbour_list = [whole(each, "neighbours") for each in neighbours]
    if over_cuts:
        if seeds is not None or papers:
            raise ValueError("over_cuts goes with neither seeds nor compare_paper")
        named = [(named[0][0], each) for _, each in named]  # splits of the same data
    seed = seed_of(random_state)
    split_seeds = _seeds_of(seeds)
    options["alpha_negative"] = _axis_texts(alpha_negative, grid)
    shown = _flags(models, rank_list, neighbour_list, number(tolerance, "tolerance"), seed, papers, options)
    with tempfile.TemporaryDirectory(prefix="poise-") as scratch, Progress(show_progress, callback) as progress:
        inputs = []
        for k, (name, each) in enumerate(named):
            folder = each._folder or os.path.join(scratch, str(k))
            os.makedirs(folder, exist_ok=True)
            inputs.append((name, folder, each._prepared(), papers[k] if papers else ""))
        files = _poise.study(
            inputs,
            models,
            rank_list,
            neighbour_list,
            number(tolerance, "tolerance"),
            seed,
            split_seeds,
            bool(over_cuts),
            options,
            shown,
            os.path.join(scratch, "study.journal") if journal is None else os.fspath(journal),
            device,
            memory_of(memory_limit),
            threads_of(num_threads),
            progress.report,
        )
    return StudyResult(files)

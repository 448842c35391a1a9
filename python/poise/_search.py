"""Searches good parameters on the validation part."""
from __future__ import annotations

import json
import os
import warnings
from typing import Any, Dict, Iterable, List, Optional, Sequence, Union

from . import _html, _poise
from ._dataset import Dataset
from ._estimator import warn_without_values
from ._evaluate import DEFAULT_METRICS, metric_list
from ._progress import Callback, Progress
from ._parameters import PARAMETERS
from ._recommender import Recommender
from ._settings import memory_of, whole


def duration(limit: Union[float, str, None]) -> Optional[float]:
    """Seconds of 90, "90s", "30m", "2h" or "1d"."""
    if limit is None or not isinstance(limit, str):
        return None if limit is None else float(limit)
    units = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
    number = limit.rstrip("abcdefghijklmnopqrstuvwxyz ")
    try:
        return float(number) * units[limit[len(number) :].strip() or "s"]
    except (KeyError, ValueError):
        raise ValueError(f"{limit!r} is not a time: write 90s, 30m, 2h or 1d") from None


def searching(
    grid: str,
    metric: str,
    metrics: Union[str, Iterable[str]],
    recall_denominator: str,
    expand: bool,
    refine: int,
    time_limit: Union[float, str, None],
    points: Optional[int] = None,
    race: bool = True,
) -> Dict[str, Any]:
    if grid == "best" and (not expand or refine):
        warnings.warn('expand and refine are for the fixed grids; grid="best" finds its own spacing and edges', stacklevel=3)
    if points is not None and whole(points, "points") < 1:
        raise ValueError(f"points {points} is out of range: at least 1 is needed")
    return {
        "grid": grid,
        "metric": metric,
        "metrics": metric_list(metrics),
        "recall_denominator": recall_denominator,
        "expand": bool(expand),
        "refine": int(refine),
        "time_limit": duration(time_limit),
        "points": None if points is None else whole(points, "points"),
        "race": bool(race),
    }


def flat(row: Dict[str, Any]) -> Dict[str, Any]:
    """A row without inner dicts: `validation` {"ndcg@100": {"mean":, "stderr":}} becomes "validation ndcg@100" and
    "validation ndcg@100 stderr"."""
    result: Dict[str, Any] = {}
    for name, value in row.items():
        if name in ("validation", "test") and isinstance(value, dict):
            for metric, estimate in value.items():
                result[f"{name} {metric}"] = estimate["mean"]
                spread = "stderr" if "stderr" in estimate else "spread"
                result[f"{name} {metric} {spread}"] = estimate[spread]
        elif isinstance(value, dict):
            result.update({f"{name} {inner}": each for inner, each in value.items() if not isinstance(each, list)})
        elif not isinstance(value, list):
            result[name] = value
    return result


def data_name(data: Dataset) -> str:
    """The data's name in tables: that of their folder, if they have one."""
    return os.path.basename(os.path.abspath(data._folder)) if data._folder else "data"


def write_files(folder: "Union[str, os.PathLike[str]]", files: Dict[str, str]) -> None:
    """Writes each file completely or not at all; a name may contain a folder."""
    for name, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(os.fspath(folder), name)), exist_ok=True)
        partial = os.path.join(os.fspath(folder), name + ".partial")
        with open(partial, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.replace(partial, os.path.join(os.fspath(folder), name))


# What tells points apart in a notebook.
_SHOWN = ("rank", "lambda", "alpha", "weighting")


class SearchResult:
    """What a search found: `best_model`, fitted to convergence, `best` with its figures, and all `points`.

    `complete` is False if the time limit or the number of points ended it: `best_model` is then the best so far, and
    `missing` lists the points that would have been tried next. `profiles` has the best metric for each alpha. `results` is the object of
    `poise search --json`. `table` is a list of flat dicts, which `pandas.DataFrame` takes as it is.
    """

    def __init__(self, results: Dict[str, Any], best_model: Optional[Recommender], metric: str = "ndcg@100") -> None:
        self.results = results
        self.best_model = best_model
        self.metric = metric

    @property
    def complete(self) -> bool:
        return bool(self.results["complete"])

    @property
    def best(self) -> Optional[Dict[str, Any]]:
        best: Optional[Dict[str, Any]] = self.results["best"]
        return best

    @property
    def points(self) -> List[Dict[str, Any]]:
        points: List[Dict[str, Any]] = self.results["points"]
        return points

    @property
    def profiles(self) -> List[Dict[str, Any]]:
        profiles: List[Dict[str, Any]] = self.results.get("profiles", [])
        return profiles

    @property
    def missing(self) -> List[Dict[str, str]]:
        missing: List[Dict[str, str]] = self.results.get("missing", [])
        return missing

    @property
    def table(self) -> List[Dict[str, Any]]:
        return [flat(point) for point in self.points]

    def __repr__(self) -> str:
        if self.best_model is None:
            return f"<poise.SearchResult: {len(self.points)} points, not complete>"
        return f"<poise.SearchResult: {len(self.points)} points, best {self.best_model!r}>"

    def _repr_html_(self) -> str:
        """The best points in a notebook."""
        metric = self.metric
        done = [point for point in self.points if metric in (point.get("validation") or {}) and not point.get("cut")]
        done.sort(key=lambda point: -float(point["validation"][metric]["mean"]))
        rows = [
            (*(point.get(name) for name in _SHOWN), point["validation"][metric]["mean"]) for point in done[:10]
        ]
        state = "" if self.complete else ", not complete"
        best = "" if self.best_model is None else _html.paragraph(f"best: {self.best_model!r}")
        title = f"poise.SearchResult: {len(self.points)} points{state}"
        return _html.titled(title, best, _html.table((*_SHOWN, f"validation {metric}"), rows))


def _axes(model: Recommender, given: Dict[str, Any], grid: str) -> Dict[str, List[Any]]:
    """The values of each axis that is given, by the parameter's id; none for "auto"."""
    axes: Dict[str, List[Any]] = {}
    free = [keyword for keyword, each in PARAMETERS.items() if each.axis == "free"]
    for keyword, values in given.items():
        if keyword not in model._names():
            raise ValueError(f"{type(model).__name__} has no {keyword} to search")
        parameter = PARAMETERS[keyword]
        if isinstance(values, str) and values == "auto":
            if keyword not in free or grid != "best":
                raise ValueError(f'{keyword}="auto" is for {", ".join(free)} with grid="best"')
            axes[parameter.id] = []
            continue
        axes[parameter.id] = [parameter.read(value) for value in values]
        if not axes[parameter.id]:
            raise ValueError(f"{keyword} has no values to search")
    return axes


def _with_parameters_of(model: Recommender, native: _poise.Model, keywords: Iterable[str]) -> Recommender:
    """A model like `model`, with those parameters of the trained one."""
    best = model.clone()
    for keyword in keywords:
        # A full-rank model without an exponent does not store it.
        parameter = PARAMETERS[keyword]
        kept = native.options.get(parameter.id)
        setattr(best, keyword, parameter.read(parameter.default if kept is None else parameter.parse(kept)))
    return best


def search(
    data: Dataset,
    model: Recommender,
    *,
    regularization: Optional[Sequence[float]] = None,
    alpha: Optional[Sequence[float]] = None,
    factors: Optional[Sequence[int]] = None,
    neighbours: Optional[Sequence[int]] = None,
    dropout: Union[Sequence[float], str, None] = None,
    regularization_exponent: Union[Sequence[float], str, None] = None,
    feature_weight: Union[Sequence[float], str, None] = None,
    gamma: Union[Sequence[float], str, None] = None,
    alpha_negative: Union[Sequence[float], str, None] = None,
    weighting: Optional[Sequence[str]] = None,
    grid: str = "best",
    metric: str = "ndcg@100",
    metrics: Union[str, Iterable[str]] = DEFAULT_METRICS,
    recall_denominator: str = "min",
    expand: bool = True,
    refine: int = 0,
    time_limit: Union[float, str, None] = None,
    points: Optional[int] = None,
    race: bool = True,
    journal: "Union[str, os.PathLike[str], None]" = None,
    report: "Union[str, os.PathLike[str], None]" = None,
    show_progress: bool = True,
    callback: Optional[Callback] = None,
) -> SearchResult:
    """Searches the parameters of a model on the validation part of split data, as `poise search` does.

    `model` holds the fixed parameters. `grid="best"` finds the best `regularization` for each `alpha`, then the best
    alpha, below 1 and above it; several values of an axis are then its range, one value fixes it, and `dropout`,
    `regularization_exponent`, `feature_weight`, `gamma` and `alpha_negative` (of dislikes) may be "auto"; each of `factors`, `neighbours` and `weighting` is searched by itself,
    and several `neighbours` share their factorizations. `points` and `time_limit` bound the work.
    A point that falls far behind is not scored on all users ("cut" in `points`), unless `race` is False.

    With `grid="paper"` or "extended" (also alpha below 1) axes are lists of values: those of the grid for `regularization`
    and `alpha` unless they are given. If the best lies on an edge the grid is extended there, unless `expand` is False;
    `refine` halves the spacing around the best so many times. `journal` is a file of finished points from which an interrupted
    search continues. `report` is a folder for report.html, tables and results as `study` writes them, for this model alone:
    the best point of each kind, rank and weighting, trained to convergence and, if there is a test part, tested.

    For a given split without a validation part, a tenth of each user's training rows, drawn by the model's `random_state`, serves
    as validation part; `best_model` is then trained on all rows (`results["validation_from_training"]` counts the validation rows).

    >>> import poise
    >>> data = poise.split(poise.synth("demo"))
    >>> found = poise.search(data, poise.EASE(), regularization=[10, 1000], alpha=[1], show_progress=False)
    >>> 50 < found.best_model.regularization < 500, found.complete, found.best["test"]["ndcg@100"]["mean"] > 0.45
    (True, True, True)
    >>> found = poise.search(data, poise.EASE(), regularization=[10, 100], alpha=[1], grid="paper", expand=False,
    ...                      show_progress=False)
    >>> found.best_model, len(found.points)
    (EASE(regularization=100.0), 2)
    """
    arguments = dict(locals())
    base = model._native_parameters()
    if model._family == "popularity":
        raise ValueError("popularity has no parameters to search")
    base.pop("alpha")
    given = {keyword: arguments[keyword] for keyword, each in PARAMETERS.items() if each.axis != "none" and arguments[keyword] is not None}
    axes = _axes(model, given, grid)
    base.update({name: values[0] for name, values in axes.items() if values and name != PARAMETERS["alpha"].id})
    if weighting is not None and set(weighting) == {"none"} and alpha is not None and set(alpha) != {1}:
        raise ValueError('weighting "none" is alpha 1; give alpha=[1], or other weightings too')
    options = searching(grid, metric, metrics, recall_denominator, expand, refine, time_limit, points, race)
    warn_without_values(data._prepared(), [model._weighting()] if weighting is None else weighting)
    if report is not None:
        os.makedirs(report, exist_ok=True)
    with Progress(show_progress, callback) as progress:
        text, native, files = _poise.search(
            data._prepared(),
            data._folder or "",
            base,
            axes,
            options,
            None if report is None else data_name(data),
            "" if journal is None else os.fspath(journal),
            model.device,
            memory_of(model.memory_limit),
            model._threads(),
            progress.report,
        )
    if report is not None:
        write_files(report, files)
    best = None
    if native is not None:
        best = _with_parameters_of(model, native, ("regularization", "alpha", *given))
        best._adopt(native, data.items)
        best._training = data
        best._warn()
    return SearchResult(json.loads(text), best, metric)

"""A server of models in this process, for notebooks; `poise serve` is the one for production."""
import csv
import os
import tempfile
from typing import Mapping, Optional, Union

from . import _poise
from ._recommender import Recommender


class Server:
    """A running server; ends with `stop()`, at the end of a with block, or when it is garbage."""

    def __init__(self, native: _poise.Server, folder: "tempfile.TemporaryDirectory[str]") -> None:
        self._native = native
        self._folder = folder
        self.url = native.url

    def stop(self) -> None:
        """Answers what was asked, and ends."""
        self._native.stop()
        self._folder.cleanup()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<poise server at {self.url}>"

    def _repr_html_(self) -> str:
        return f'Poise serves at <a href="{self.url}">{self.url}</a>'


def serve(
    model: Union[Recommender, Mapping[str, Recommender]],
    *,
    titles: Optional[Mapping[str, str]] = None,
    host: str = "127.0.0.1",
    port: int = 0,
    threads: int = 2,
) -> Server:
    """Serves a fitted model, or several by name, over HTTP from now on, and returns at once.

    titles: item id to title. host: a loopback address. port: 0 takes a free one, see `url`.

        with poise.serve(model) as server:
            print(server.url)
    """
    if not _poise.is_loopback(host):
        raise ValueError(f"{host} can be reached from other machines; `poise serve` with an API key is made for that")
    models = {"model": model} if isinstance(model, Recommender) else dict(model)
    if not models:
        raise ValueError("there is no model to serve")
    folder = tempfile.TemporaryDirectory(prefix="poise-serve-")
    files = []
    for number, (name, each) in enumerate(models.items()):
        path = os.path.join(folder.name, f"{number}.model")
        each.save(path)
        files.append((name, path))
    items = ""
    if titles is not None:
        items = os.path.join(folder.name, "items.csv")
        with open(items, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "title"])
            writer.writerows((str(item), title) for item, title in titles.items())
    return Server(_poise.Server(files, items, host, port, threads), folder)

"""A client of `poise serve`, in a few lines of the standard library.

    python3 examples/serve_client.py                              # serves a model of made-up data itself
    python3 examples/serve_client.py http://127.0.0.1:8080 [KEY]  # asks a server that runs, e.g. `poise serve --demo`
"""
import json
import sys
import urllib.request
from typing import Any, Optional

import poise

if len(sys.argv) > 1:
    url = sys.argv[1].rstrip("/") + "/"
else:
    data = poise.split(poise.synth("demo"))
    model = poise.EASE(regularization=50).fit(data, show_progress=False)
    server = poise.serve(model, titles={str(item): f"Item no. {item}" for item in data.items})
    url = server.url
key = sys.argv[2] if len(sys.argv) > 2 else ""


def ask(path: str, body: Optional[Any] = None) -> Any:
    """GET without a body, POST with one."""
    headers = {"Content-Type": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    request = urllib.request.Request(url + path, None if body is None else json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


for card in ask("v1/models")["models"]:
    print(f"{card['name']}: {card['model']}, {card['items']} items")
history = [item["id"] for item in ask("v1/items?limit=3")["items"]]
answer = ask("v1/recommend", {"history": history, "k": 5, "explain": True})
titles = answer.get("titles", {})
for row in answer["recommendations"]:
    reasons = ", ".join(f"{titles.get(r['item'], r['item'])} {r['contribution']:+.3f}" for r in row["because"])
    print(f"{row['score']:.3f}  {titles.get(row['item'], row['item'])}, because of {reasons}")
if len(sys.argv) == 1:
    server.stop()

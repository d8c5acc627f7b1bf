"""Questions that many tests ask."""

from typing import Any

import httpx2

Json = dict[str, Any]


def upgrade_params(before: str, after: str, library: str = "fake", **asked: Any) -> Json:
    """Of `/compare`. `pool` and `cpu_model` are of both ends."""
    places = {name: asked.pop(name) for name in ("pool", "cpu_model") if name in asked}
    where = {f"{end}_{name}": value for name, value in places.items() for end in ("base", "other")}
    return {"base": f"{library}@{before}", "other": f"{library}@{after}", **where, **asked}


def upgrade_report(client: httpx2.Client, before: str, after: str, library: str = "fake", **asked: Any) -> Json:
    """A comparison of two versions, with what their changes have in common beside it."""
    response = client.get("/compare", params=upgrade_params(before, after, library, **asked))
    assert response.status_code == 200, response.text
    answer: Json = response.json()
    return {**answer, **answer["upgrade"], "before": answer["base"]["subject"], "after": answer["other"]["subject"]}


def series(client: httpx2.Client, case_id: str, **asked: Any) -> list[Json]:
    """The trends of a case, each point with its subject."""
    response = client.get("/trends", params={"case_id": case_id, "levels": True, **asked})
    assert response.status_code == 200, response.text
    answer = response.json()
    return [
        {**line, "points": [{**point, "subject": answer["subjects"][point["subject"]]} for point in line["points"]]}
        for line in answer["lines"]
    ]

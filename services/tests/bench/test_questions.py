"""The questions that `make bench` asks of a service."""

from typing import Any, cast

from bench import questions as asking
from bench.large_store import Extent, run_of
from bench.questions import LEFT_OUT, Asked, get_routes, questions
from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.store.port import Store

SMALL = Extent(runs=1, groups=1, versions=3, hosts=2)


def small() -> Asked:
    return Asked(SMALL, run_of(SMALL, 1, 0))


def test_every_route_is_asked_or_left_out_for_a_reason() -> None:
    """A new route has neither, and `questions` names it in a KeyError."""
    asked = {question.name.partition(",")[0] for question in questions(small())}
    routes = {route.operation for route in get_routes()}
    assert asked | LEFT_OUT.keys() == routes
    assert asked.isdisjoint(LEFT_OUT)
    assert set(asking.parameters_of(small())) == asked, "none is of a route that is gone"
    assert all(LEFT_OUT.values())


def test_questions_have_the_parameters_of_their_routes() -> None:
    document: dict[str, Any] = create_app(cast(Store, None), LocalGatekeeper(""), None).whole_document()
    by_operation = {path["get"]["operationId"]: path["get"] for path in document["paths"].values() if "get" in path}
    for question in questions(small()):
        known = {each["name"]: each for each in by_operation[question.name.partition(",")[0]].get("parameters", ())}
        assert question.parameters.keys() <= known.keys(), question.name
        needed = {name for name, each in known.items() if each["in"] == "query" and each.get("required")}
        assert needed <= question.parameters.keys(), question.name
        assert "{" not in question.path

"""Reads the named views (`kind: Views`), with every fault at its place."""

from typing import Annotated, Literal

from pydantic import Field

from kexbench.domain.views import MOST_VIEWS, View
from kexbench.planning.documents import parse_document, same_names, valid
from kexbench.planning.written import KIND, ApiVersion, Written


class Views(Written):
    """Named views, in the order in which pages list them."""

    api_version: ApiVersion
    kind: Annotated[Literal["Views"], KIND]
    views: Annotated[list[View], Field(max_length=MOST_VIEWS, description="the views")]


def read_views(text: str, file: str) -> tuple[View, ...]:
    """The views in the order of the file. Raises DocumentError with every fault."""
    document = parse_document(text, file)
    return tuple(valid(document, Views, same_names(document, "views")).views)

"""A named view: a page of the dashboard with its choices, offered to everybody on the first page."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from kexbench.domain.frozen import Frozen

MOST_VIEWS = 50
_PAGE = r"^/([^/\\\s?#][^\\\s?#]*)?(\?[^\s#]*)?$"
"""A link that begins with two slashes leads to another website."""


def _page(link: str) -> str:
    if not re.fullmatch(_PAGE, link):
        raise ValueError(f"must be the address of a page from the / after the host on, such as /trends, not '{link}'")
    return link


class View(Frozen):
    name: str = Field(min_length=1, max_length=60, description="what people read, such as: Post-quantum handshakes")
    link: Annotated[str, AfterValidator(_page)] = Field(
        max_length=2000,
        description="address of a page with its choices, from the / after the host on, such as /trends?x=released",
        json_schema_extra={"pattern": _PAGE},
    )

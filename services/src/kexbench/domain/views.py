"""A named view: a page of the dashboard with its choices, offered to everybody on the first page."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from kexbench.domain.frozen import Frozen

MOST_VIEWS = 50
_SEGMENT = "[A-Za-z0-9_.~%@+:-]+"
_PAGE = rf'^/({_SEGMENT}(/{_SEGMENT})*)?(\?[!"$-~]*)?$'
"""As browsers show it. Two slashes at the beginning would lead to another website."""


def _page(link: str) -> str:
    if not re.fullmatch(_PAGE, link):
        raise ValueError(
            "must be the address of a page, from the one / after the host on, such as /trends?x=released, without "
            f"spaces and #, not '{link}'"
        )
    return link


def _readable(name: str) -> str:
    if not name.strip() or not name.isprintable():
        raise ValueError("must be text that people can read")
    return name


class View(Frozen):
    name: Annotated[str, AfterValidator(_readable)] = Field(
        min_length=1, max_length=60, description="what people read, such as: Post-quantum handshakes"
    )
    link: Annotated[str, AfterValidator(_page)] = Field(
        max_length=2000,
        description="address of a page with its choices, from the / after the host on, such as /trends?x=released",
        json_schema_extra={"pattern": _PAGE},
    )

"""Gitea, and Forgejo. The API is modelled on GitHub's: all that is used here has the same paths, bodies and answers.

https://docs.gitea.com/api: repository and issue. Descriptions have no limit; they are cut to what the page shows.
"""

from collections.abc import Mapping
from typing import ClassVar

from kexbench.forges.github import GitHub


class Gitea(GitHub):
    name: ClassVar[str] = "Gitea"
    scheme: ClassVar[str] = "token"
    headers: ClassVar[Mapping[str, str]] = {}
    page: ClassVar[Mapping[str, str]] = {"limit": "50"}
    description_max: ClassVar[int] = 255
    to_set_statuses: ClassVar[str] = "write:repository"
    to_comment: ClassVar[str] = "write:issue"
    to_read: ClassVar[str] = "read:repository"
    to_know_itself: ClassVar[str] = "read:user"
    has_apps: ClassVar[bool] = False

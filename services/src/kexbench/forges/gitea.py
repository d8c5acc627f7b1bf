"""Gitea, and Forgejo. Its API was made after GitHub's: paths, bodies and answers are the same as far as they are used.

https://docs.gitea.com/api: repository and issue. Descriptions have no limit there; they are cut to what its page shows.
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

"""Webhooks that rang: the watcher polls these repositories at once."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from threading import Lock


class Doorbell:
    """Counts the webhooks of each repository. A restart loses the counts, which only delays the next poll a little."""

    def __init__(self, secret_files: Mapping[str, Path]) -> None:
        """`secret_files`: the files with the webhook secrets, by the names of their repositories."""
        self.secret_files = secret_files
        self._rings: Counter[str] = Counter()
        self._one_at_a_time = Lock()

    def ring(self, repository: str) -> None:
        """Have a repository polled soon."""
        with self._one_at_a_time:
            self._rings[repository] += 1

    def rings(self) -> dict[str, int]:
        """The number of webhooks for each repository."""
        with self._one_at_a_time:
            return dict(self._rings)

"""Puts a watcher together: the repositories that the installation names, a copy of each, and a line to the API."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime

from kexbench.domain.canonical import content_hash
from kexbench.uplink import Uplink
from kexbench.watch.control import ApiControl
from kexbench.watch.git import GitSource
from kexbench.watch.loop import Watcher
from kexbench.wiring import Installation


@contextmanager
def watcher_of(installation: Installation, api: Uplink, clock: Callable[[], datetime]) -> Iterator[Watcher]:
    """Raises DocumentError for wrong repositories, and SourceError where no copy can be kept."""
    copies = installation.settings.home.absolute() / "repositories"
    with ExitStack() as opened:
        sources = [
            opened.enter_context(closing(GitSource(repository, copies / content_hash(repository.url))))
            for repository in installation.repositories()
        ]
        yield Watcher(ApiControl(api), sources, clock)

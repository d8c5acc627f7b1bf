"""Puts a watcher together: the repositories that the installation names, and a copy of each."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from threading import Event, Thread

from kexbench.domain.canonical import content_hash
from kexbench.watch.control import Control
from kexbench.watch.git import GitSource
from kexbench.watch.loop import Watcher
from kexbench.wiring import Installation


@contextmanager
def watching(installation: Installation, control: Control, say: Callable[[str], None]) -> Iterator[Watcher]:
    """A watcher that works for as long as the context lasts, in a thread: a repository that takes long to fetch holds
    up nobody. Raises DocumentError for wrong repositories, and SourceError where no copy can be kept."""
    ending = Event()
    with watcher_of(installation, control, say) as watcher:
        thread = Thread(target=watcher.run, args=(ending, installation.settings.watch_interval_s), name="watcher")
        thread.start()
        try:
            yield watcher
        finally:
            ending.set()
            thread.join()


@contextmanager
def watcher_of(installation: Installation, control: Control, say: Callable[[str], None]) -> Iterator[Watcher]:
    """Raises DocumentError for wrong repositories, and SourceError where no copy can be kept."""
    copies = installation.settings.home.absolute() / "repositories"
    with ExitStack() as opened:
        sources = [
            opened.enter_context(closing(GitSource(repository, copies / content_hash(repository.url))))
            for repository in installation.repositories()
        ]
        yield Watcher(control, sources, lambda: datetime.now(UTC), say)

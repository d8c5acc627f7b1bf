"""Creates the watcher: the configured repositories, a copy of each, and their forges."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from threading import Event, Thread

from kexbench.client import ApiClient
from kexbench.domain.canonical import content_hash
from kexbench.forges import Forge, forge_of
from kexbench.queue.troubles import Troubles, always
from kexbench.watch.announcing import Announcer
from kexbench.watch.following import Follower
from kexbench.watch.git import GitSource
from kexbench.watch.loop import Watcher
from kexbench.wiring import Installation


@contextmanager
def watching(
    installation: Installation,
    api: ApiClient,
    say: Callable[[str], None],
    troubles: Troubles | None = None,
    acts: Callable[[], bool] = always,
) -> Iterator[Watcher]:
    """A watcher and an announcer that run in threads while the context lasts, and work while this process `acts`. A
    slow repository or forge holds up nothing else. Raises DocumentError for a wrong configuration of repositories, and
    SourceError if a copy can't be opened."""
    ending = Event()
    pace = (ending, installation.settings.watch_interval_s, acts)
    with watcher_of(installation, api, say, troubles) as watcher:
        announcer = announcer_of(installation, api, say, troubles)
        threads = [
            Thread(target=watcher.run, args=pace, name="watcher"),
            Thread(target=announcer.run, args=pace, name="announcer"),
        ]
        for thread in threads:
            thread.start()
        try:
            yield watcher
        finally:
            ending.set()
            for thread in threads:
                thread.join()


@contextmanager
def watcher_of(
    installation: Installation, api: ApiClient, say: Callable[[str], None], troubles: Troubles | None = None
) -> Iterator[Watcher]:
    """Raises DocumentError for a wrong configuration of repositories, and SourceError if a copy can't be opened."""
    copies = installation.settings.home.absolute() / "repositories"
    with ExitStack() as opened:
        sources = [
            opened.enter_context(closing(GitSource(repository, copies / content_hash(repository.url))))
            for repository in installation.repositories()
        ]
        clock = partial(datetime.now, UTC)
        follower = Follower(api, copies / "followed", installation.catalogue, clock, say)
        opened.enter_context(closing(follower))
        yield Watcher(api, sources, clock, say, forges_of(installation), follower, troubles)


def announcer_of(
    installation: Installation, api: ApiClient, say: Callable[[str], None], troubles: Troubles | None = None
) -> Announcer:
    """Raises DocumentError for a wrong configuration of repositories."""
    pages = installation.settings.pages_url
    return Announcer(api, forges_of(installation), pages, lambda: datetime.now(UTC), say, troubles)


def forges_of(installation: Installation) -> dict[str, Forge]:
    """By the name of the repository. Raises DocumentError for a wrong configuration of repositories."""
    return {repo.name: forge_of(repo.forge) for repo in installation.repositories() if repo.forge}

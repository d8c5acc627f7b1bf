"""Streams of news: what the store has on a topic, sent again whenever it changes. All streams share one look at the
store, and those of a topic share what is read."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from kexbench.store.port import StoreError, Upkeep

_log = logging.getLogger(__name__)
MOST_STREAMS = 64
"""Streams at once. Each holds a connection of the service, which has 256; pages that get none poll."""
MOST_OF_A_CLIENT = 48
"""Of one address, so that others get some. Behind a reverse proxy, all readers are one address."""
PAUSE_S = 1.0
"""Between two looks at the store."""


class TooManyStreams(Exception):
    """All streams are taken."""


@dataclass(frozen=True)
class News:
    """The whole content of a topic, so that a stream may skip some."""

    news_id: str
    """Equal for equal contents, in every process: a client that reconnects names the last one it saw."""
    content: str
    is_last: bool
    """Nothing will follow."""


Read = Callable[[bool], News | None]
"""Reads a topic's news, in any thread; the argument is whether the store has changed since the last time. None if there
is no reason to read. Raises StoreError."""


class Topic:
    """What some streams follow."""

    def __init__(self, read: Read) -> None:
        self.read = read
        self.streams = 0
        self.newest: News | None = None
        self.version = ""
        """Of the store, before the newest news were read."""
        self.reading = asyncio.Lock()
        self.has_failed = False
        self.changed = asyncio.Event()
        """Replaced at each change, so that everybody who waits for it wakes."""

    def tell(self, news: News) -> None:
        self.newest = news
        self.wake()

    def wake(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()


class Streams:
    """The streams of one application, used only by its event loop."""

    def __init__(
        self,
        store: Upkeep,
        pause_s: float = PAUSE_S,
        most: int = MOST_STREAMS,
        most_of_a_client: int = MOST_OF_A_CLIENT,
    ) -> None:
        self._store = store
        self._most = most
        self._most_of_a_client = most_of_a_client
        self._of_clients: Counter[str] = Counter()
        self._pause_s = pause_s
        self._topics: dict[Hashable, Topic] = {}
        self._ended = False
        self._beginning = asyncio.Lock()
        self._watching: asyncio.Task[None] | None = None

    @contextmanager
    def opened(self, key: Hashable, read: Read, client: str = "") -> Iterator[Topic]:
        """A stream of the topic `key` for a client's address, for as long as the context lasts. Raises
        TooManyStreams."""
        if self._of_clients[client] >= self._most_of_a_client:
            raise TooManyStreams(f"an address has at most {self._most_of_a_client} streams at once")
        if sum(topic.streams for topic in self._topics.values()) >= self._most:
            raise TooManyStreams(f"this service has {self._most} streams at once, and all are taken")
        topic = self._topics.setdefault(key, Topic(read))
        topic.streams += 1
        self._of_clients[client] += 1
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch())
        try:
            yield topic
        finally:
            topic.streams -= 1
            self._of_clients[client] -= 1
            if not self._of_clients[client]:
                del self._of_clients[client]
            if not topic.streams:
                del self._topics[key]

    async def begin(self, topic: Topic) -> None:
        """Read the first news of a topic, one topic after the other: readers and deliveries go first. Raises StoreError
        and what `Read` raises."""
        async with self._beginning, topic.reading:
            if topic.newest is None:
                await self._read(topic, await asyncio.to_thread(self._store.newest_write))

    async def news_of(self, topic: Topic, seen: str = "") -> AsyncIterator[News]:
        """The newest news, then each change, without the one with the id `seen`. Ends after the last one, and when the
        service ends."""
        while not self._ended:
            changed, newest = topic.changed, topic.newest
            if newest and newest.news_id != seen:
                seen = newest.news_id
                yield newest
            elif newest and newest.is_last:
                return
            else:
                await changed.wait()

    def end(self) -> None:
        """End all streams, which would otherwise hold up the end of the service."""
        self._ended = True
        for topic in self._topics.values():
            topic.wake()

    async def finish(self) -> None:
        """End all streams, and wait for the look that goes on. Call it before the store is closed."""
        self.end()
        if self._watching:
            await self._watching

    async def _watch(self) -> None:
        while self._topics and not self._ended:
            with suppress(StoreError):  # all other readers report it, and the next look may succeed
                version = await asyncio.to_thread(self._store.newest_write)
                for topic in list(self._topics.values()):
                    if topic.newest is not None:  # otherwise a stream is reading it
                        await self._look(topic, version)
            await asyncio.sleep(self._pause_s)

    async def _look(self, topic: Topic, version: str) -> None:
        try:
            async with topic.reading:
                await self._read(topic, version)
        except StoreError:
            raise
        except Exception:  # of this topic alone
            if not topic.has_failed:
                _log.exception("streams")
            topic.has_failed = True

    async def _read(self, topic: Topic, version: str) -> None:
        news = await asyncio.to_thread(topic.read, version != topic.version)
        topic.version = version
        if news and (topic.newest is None or news.news_id != topic.newest.news_id):
            topic.tell(news)

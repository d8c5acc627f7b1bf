"""Settings, read once from the environment (`KEXBENCH_…`) into a frozen object."""

from pathlib import Path

from platformdirs import user_cache_path, user_data_path
from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

_CHECKOUT = Path(__file__).parents[3]


class Settings(BaseSettings):
    """Defaults serve one person on one machine, from a checkout."""

    model_config = SettingsConfigDict(env_prefix="KEXBENCH_", frozen=True)

    home: Path = Field(default_factory=lambda: user_data_path("kexbench"), description="kits, keys, runs and the store")
    cache: Path = Field(default_factory=lambda: user_cache_path("kexbench"), description="downloads; safe to delete")
    store_url: str | None = Field(None, description="http(s) URL of a ClickHouse server; default: embedded, in home")
    store_database: str = "kexbench"
    store_engine: str = Field("ReplacingMergeTree", description="table engine; a replicated one on a cluster")
    store_deduplication_window: str = Field(
        "non_replicated_deduplication_window", description="replicated_deduplication_window on a cluster"
    )
    host: str = Field("127.0.0.1", description="address to serve on; anyone who reaches it can read everything")
    port: int = Field(8350, ge=0, le=65535)
    pages: Path = Field(_CHECKOUT / "frontend" / "dist", description="the built frontend")
    workers: Path = Field(_CHECKOUT / "workers" / "handshake", description="sources of the worker")
    catalogue: Path = Field(_CHECKOUT / "bench-specs" / "libraries.yaml")

    @property
    def store_dsn(self) -> str:
        return self.store_url or f"chdb://{self.home.absolute() / 'store'}"

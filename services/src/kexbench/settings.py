"""Settings, read once from the environment (`KEXBENCH_…`) into a frozen object."""

import re
import socket
from pathlib import Path
from typing import Literal, Self
from urllib.parse import quote, urlencode, urlsplit
from uuid import uuid4

from platformdirs import user_cache_path, user_data_path
from pydantic import Field, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from kexbench.domain.people import PERSON_ROLES, PersonRole
from kexbench.shipped import ROOT

MOST_PORT = 65535
_ORIGIN = re.compile(r"https?://[a-z0-9]([a-z0-9._-]*[a-z0-9])?(:[0-9]{1,5})?", re.IGNORECASE | re.ASCII)
"""No wildcards: `https://*.example.org` would include names that others may register, as `*.github.io` does."""


def _newest_scorecard() -> Path:
    """That of this release, or of the last one that was scored: the page names its version."""
    folder = ROOT / "docs" / "results" / "scorecards"
    scored = sorted(folder.glob("*.csv"), key=lambda path: [int(number) for number in path.stem.split(".")])
    return scored[-1] if scored else folder / "none.csv"


class Settings(BaseSettings):
    """Defaults serve one person on one machine."""

    model_config = SettingsConfigDict(env_prefix="KEXBENCH_", frozen=True, env_ignore_empty=True)
    """An empty variable counts as unset: as a path it would be the current folder."""

    home: Path = Field(default_factory=lambda: user_data_path("kexbench"), description="kits, keys, runs and the store")
    cache: Path = Field(default_factory=lambda: user_cache_path("kexbench"), description="downloads; safe to delete")
    store_url: str | None = Field(
        None, repr=False, description="http(s) URL of a ClickHouse server; default: embedded, in home"
    )
    store_password_file: Path | None = Field(None, description="file with the password of the user in store_url")
    store_ca_file: Path | None = Field(
        None, description="certificates (PEM) that the server in store_url is checked against; default: the system's"
    )
    store_database: str = "kexbench"
    store_engine: str = Field("ReplacingMergeTree", description="table engine; a replicated one on a cluster")
    keep_batches_days: int | None = Field(
        None, ge=1, description="age at which batch values are removed from the store; default: never"
    )
    host: str = Field("127.0.0.1", description="address to serve on; anyone who reaches it can read everything")
    port: int = Field(8350, ge=0, le=MOST_PORT)
    allowed_hosts: str = Field(
        "",
        description="host names, separated by commas, that the service answers to, besides localhost, addresses and "
        "those in public_url and api_url; * allows any: then foreign pages can read everything",
    )
    embed_origins: str = Field(
        "",
        description="origins of websites, separated by commas, that may show the pages below /embed/ in a frame, such "
        "as https://example.org",
    )
    pages: Path = Field(ROOT / "frontend" / "dist", description="the built frontend")
    scorecard: Path = Field(default_factory=_newest_scorecard, description="the result of make scorecard")
    workers: Path = Field(ROOT / "workers" / "handshake", description="sources of the worker")
    catalogue: Path = Field(ROOT / "bench-specs" / "libraries.yaml")

    replica: str | None = Field(
        None,
        description="name of this process among several dispatchers or APIs, such as its pod's; default: random",
    )
    replica_host: str | None = Field(None, description="address at which the other APIs of the store reach this one")
    replica_lease: str | None = Field(
        None,
        description="namespace:name of the Kubernetes Lease whose holder writes to the store, of several APIs; "
        "default: this API is the only one",
    )

    log: Literal["text", "json"] = Field("text", description="what every process logs: lines, or a JSON object a line")
    access: Literal["local", "cluster"] = Field(
        "local", description="who may write: this machine, or a cluster's accounts"
    )
    pools: Path | None = Field(None, description="the pools of a cluster; default: this machine alone")
    repositories: Path | None = Field(None, description="watched repositories; default: repositories.yaml in home")
    channels: Path | None = Field(None, description="where alerts are sent; default: channels.yaml in home")
    views: Path | None = Field(None, description="named views of pages; default: views.yaml in home")
    public_url: str | None = Field(
        None, description="where people reach the pages; links in commit statuses, notifications and the feed use it"
    )
    watch_interval_s: float = Field(10.0, gt=0, description="seconds between two polls of the watched repositories")
    cluster_namespace: str = Field("kexbench-jobs", description="where a cluster's jobs run")
    api_url: str | None = Field(None, description="the API of a cluster, as pods and people reach it")
    token_file: Path | None = Field(None, description="file with the access token for that API")
    job_pods: Path | None = Field(None, description="what a site adds to the pods of jobs")
    dispatcher_port: int | None = Field(
        None, ge=0, le=MOST_PORT, description="where the dispatcher answers /healthz and /metrics; default: nowhere"
    )
    runner_image: str | None = None
    builder_image: str | None = None
    image_pull_policy: str = "IfNotPresent"
    job_service_account: str = Field("kexbench-job", description="of the pods of jobs, in cluster_namespace")
    builder_service_account: str = Field("kexbench-builder", description="of pods that build kits, in that namespace")
    dispatcher_service_account: str = Field("kexbench:kexbench-dispatcher", description="namespace:name")
    submitters: str = Field("", description="who may request runs on a cluster: namespace:name, separated by commas")
    triagers: str = Field("", description="who may also handle alerts and set nodes aside there")
    admins: str = Field("", description="who may do everything there")

    oidc_issuer: str | None = Field(None, description="URL of an OpenID Connect provider that people log in with")
    oidc_client_id: str = Field("", description="this service, as the provider knows it")
    oidc_client_secret_file: Path | None = Field(None, description="file with the secret that the provider gave it")
    oidc_groups_claim: str = Field("groups", description="the claim that has a person's groups")
    oidc_roles: str = Field(
        "",
        description="which groups have which role, such as viewer=*,submitter=devs,admin=leads; * is everyone",
    )
    readers: Literal["anyone", "viewers"] = Field(
        "anyone", description="who may read: anyone who reaches the port, or only who logs in or sends a token"
    )

    @field_validator("public_url")
    @classmethod
    def _is_a_url(cls, value: str | None) -> str | None:
        if value:
            url = urlsplit(value)
            if url.scheme not in ("http", "https") or not url.hostname:
                raise ValueError(f"{value!r} is not a URL. Write it like https://kexbench.example.org")
        return value

    @model_validator(mode="after")
    def _can_have_replicas(self) -> Self:
        if self.replica_lease:
            needed = {"KEXBENCH_REPLICA_HOST": self.replica_host, "KEXBENCH_STORE_URL": self.store_url}
            if missing := [name for name, value in needed.items() if not value]:
                raise ValueError(f"KEXBENCH_REPLICA_LEASE needs {' and '.join(missing)}: several APIs share a server")
            if self.access != "cluster":
                raise ValueError("KEXBENCH_REPLICA_LEASE needs KEXBENCH_ACCESS=cluster, where the Lease is")
        return self

    @field_validator("embed_origins")
    @classmethod
    def _has_origins(cls, value: str) -> str:
        for origin in _listed(value):
            match = _ORIGIN.fullmatch(origin)
            if not match or int((match[2] or ":0")[1:]) > MOST_PORT:
                raise ValueError(
                    f"{origin!r} is not an origin. Write SCHEME://HOST or SCHEME://HOST:PORT, such as "
                    "https://example.org, without a path, and list each host: wildcards and IPv6 addresses are not"
                    " supported"
                )
        return value

    @field_validator("oidc_issuer")
    @classmethod
    def _is_safe(cls, value: str | None) -> str | None:
        url = urlsplit(value or "https://unset")
        is_local = url.hostname in ("127.0.0.1", "::1", "localhost")
        if not url.hostname or (url.scheme != "https" and not (url.scheme == "http" and is_local)):
            raise ValueError(f"{value!r} is not the https URL of a provider. Write it like https://login.example.org")
        return value

    @field_validator("oidc_roles")
    @classmethod
    def _has_roles(cls, value: str) -> str:
        for pair in _listed(value):
            role, _, group = pair.partition("=")
            if role.strip() not in PERSON_ROLES or not group.strip():
                raise ValueError(
                    f"{pair!r} gives no group a role. Write ROLE=GROUP, with one of the roles {', '.join(PERSON_ROLES)}"
                )
        return value

    @model_validator(mode="after")
    def _login_is_whole(self) -> Self:
        needed = {
            "KEXBENCH_OIDC_CLIENT_ID": self.oidc_client_id,
            "KEXBENCH_OIDC_CLIENT_SECRET_FILE": self.oidc_client_secret_file,
            "KEXBENCH_OIDC_ROLES": self.oidc_roles,
        }
        missing = [name for name, value in needed.items() if not value]
        if self.oidc_issuer and missing:
            raise ValueError(f"KEXBENCH_OIDC_ISSUER needs {', '.join(missing)} too")
        if self.readers == "viewers" and not self.oidc_issuer:
            raise ValueError("KEXBENCH_READERS=viewers needs KEXBENCH_OIDC_ISSUER: without a login no page could read")
        return self

    @property
    def roles_of_groups(self) -> dict[str, PersonRole]:
        """By group. One with several roles has the highest."""
        pairs = [pair.partition("=") for pair in _listed(self.oidc_roles)]
        return {group.strip(): role for role in PERSON_ROLES for given, _, group in pairs if given.strip() == role}

    @property
    def embedding_origins(self) -> tuple[str, ...]:
        """Origins of websites that may show charts of this service."""
        return _listed(self.embed_origins)

    @property
    def host_names(self) -> frozenset[str]:
        """Host names that the service answers to, besides localhost and addresses."""
        urls = filter(None, (urlsplit(url).hostname for url in (self.public_url, self.api_url) if url))
        return frozenset({self.host, *urls, *_listed(self.allowed_hosts)})

    @property
    def accounts_of_people(self) -> dict[str, PersonRole]:
        """The role of each account of a cluster that has one. An account that is listed twice has the higher role."""
        listed: tuple[tuple[PersonRole, str], ...] = (
            ("submitter", self.submitters),
            ("triager", self.triagers),
            ("admin", self.admins),
        )
        return {account: role for role, accounts in listed for account in _listed(accounts)}

    @property
    def pages_url(self) -> str:
        """Where people reach the pages, as far as it is configured."""
        return self.public_url or self.api_url or self.own_url

    @property
    def own_url(self) -> str:
        """Where `serve` listens."""
        return _url_of(self.host, self.port)

    @property
    def replica_url(self) -> str:
        """Where other replicas reach this one, which has `replica_host`."""
        assert self.replica_host
        return _url_of(self.replica_host, self.port)

    @property
    def replica_name(self) -> str:
        """Unique among the processes that run at the same time."""
        return self.replica or f"{socket.gethostname()}-{uuid4()}"

    @property
    def store_dsn(self) -> str:
        """Raises OSError if the file of the password or of the authority cannot be read."""
        if not self.store_url:
            return f"chdb://{self.home.absolute() / 'store'}"
        url = urlsplit(self.store_url)
        if self.store_password_file:
            password = quote(self.store_password_file.read_text(encoding="utf-8").strip(), safe="")
            host = url.netloc.rpartition("@")[2]
            url = url._replace(netloc=f"{url.username or 'default'}:{password}@{host}")
        if self.store_ca_file:
            self.store_ca_file.open("rb").close()  # the client would say that the server does not answer
            authority = urlencode({"ca_cert": str(self.store_ca_file)})
            url = url._replace(query="&".join(filter(None, (url.query, authority))))
        return url.geturl()

    @property
    def store_is_embedded(self) -> bool:
        return not self.store_url


def _url_of(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _listed(text: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, text.split(","))))

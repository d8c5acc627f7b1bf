"""Requests to a forge: with a token that is read anew each time, page by page, and refusals in words.

Forges are on the internet, so unlike our own API they are reached as this machine reaches it: through the proxy that
the environment names, trusting what the system trusts. Redirects are not followed; they would take the token along.
"""

import re
import ssl
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import httpx
from pydantic import TypeAdapter, ValidationError

from kexbench.forges.port import ForgeError

Found = TypeVar("Found")
PAGES_MAX = 50
_TIMEOUT_S = 30.0
_LATER = timedelta(minutes=1)
"""When to ask again where the forge doesn't say; what GitHub asks for at least."""
_LONGEST = 300


class Rest:
    """`forge` is its name for people, `scheme` what stands before the token."""

    def __init__(self, forge: str, url: str, token_file: Path, scheme: str, headers: Mapping[str, str]) -> None:
        self._forge = forge
        self._url = url
        self._token_file = token_file
        self._scheme = scheme
        self._headers = {"Accept": "application/json", "User-Agent": "kexbench", **headers}
        self._trusted = ssl.create_default_context()

    def get(self, kind: type[Found], path: str, right: str) -> Found:
        """`right` is what the token needs for it, in the forge's words."""
        return self._parsed(kind, self._ask("GET", path, right))

    def pages(self, kind: type[Found], path: str, right: str, query: Mapping[str, str]) -> Iterator[Found]:
        """One page after the other, as they are wanted."""
        wanted = dict(query)
        for _ in range(PAGES_MAX):
            response = self._ask("GET", path, right, query=wanted)
            if response.content:  # Gitea may say that there is nothing by saying nothing
                yield self._parsed(kind, response)
            following = _next_page(response)
            if following is None:
                return
            wanted |= following
        where = f"GET {self._url}{path}"
        raise ForgeError(f"{self._forge} has more than {PAGES_MAX} pages", where, "close what is no longer needed")

    def send(self, method: str, path: str, right: str, body: Mapping[str, str]) -> None:
        self._ask(method, path, right, body=body)

    def _ask(
        self,
        method: str,
        path: str,
        right: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        where, token = f"{method} {self._url}{path}", self._token()
        try:
            response = httpx.request(
                method,
                self._url + path,
                params=query,
                json=body,
                headers={**self._headers, "Authorization": f"{self._scheme} {token}"},
                timeout=_TIMEOUT_S,
                verify=self._trusted,
            )
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            what = f"{self._forge} can't be reached: {_line(reason, token)}"
            remedy = "look at the network, the proxy and the url"
            raise ForgeError(what, where, remedy, again_at=datetime.now(UTC) + _LATER) from None
        if response.is_success:
            return response
        raise self._refusal(response, where, right, token)

    def _refusal(self, response: httpx.Response, where: str, right: str, token: str) -> ForgeError:
        status, said = response.status_code, _line(_said(response), token)
        what = f"{self._forge} answered {status}" + (f" ({said})" if said else "")
        again_at = again_after(status, response.headers, said, datetime.now(UTC))
        if again_at is not None:
            return ForgeError(what, where, f"ask again at {again_at:%H:%M:%S} UTC", status=status, again_at=again_at)
        return ForgeError(what, where, self._remedy(status, right), status=status)

    def _remedy(self, status: int, right: str) -> str:
        if status == 401:
            return f"put a token that is valid into {self._token_file}"
        if status == 403:
            return f"give the token in {self._token_file} the right {right}"
        if status == 404:
            return f"is the repository's name right, and has the token in {self._token_file} the right {right}?"
        if 300 <= status < 400:
            return "the repository or the forge has moved: configure where it is now"
        return "look at what it says; it will be refused again"

    def _parsed(self, kind: type[Found], response: httpx.Response) -> Found:
        try:
            return TypeAdapter(kind).validate_json(response.content)
        except ValidationError as error:
            fault = error.errors(include_input=False)[0]
            place = ".".join(map(str, fault["loc"])) or "its beginning"
            what = f"{self._forge} answered in a form that is not its own ({fault['msg']}, at {place})"
            where = f"GET {response.url.copy_with(query=None)}"
            raise ForgeError(what, where, "is the url that of its API?", status=response.status_code) from None

    def _token(self) -> str:
        """Its content is in no error: it may be the right one with a letter too many."""
        try:
            token = self._token_file.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not plain text"
            raise ForgeError("the token can't be read", f"{self._token_file}: {reason}", "write one there") from None
        if not re.fullmatch(r"[!-~]+", token):
            raise ForgeError("there is no token", str(self._token_file), "write one there, on one line")
        return token


def again_after(status: int, headers: Mapping[str, str], said: str, now: datetime) -> datetime | None:
    """When a refusal may have passed: a limit of requests, or trouble of the forge's own. None where it stays.

    GitHub's limits come as 403 too, with one of these headers or in words only."""
    lower = {name.lower(): value for name, value in headers.items()}
    limited = status == 403 and (
        "retry-after" in lower or lower.get("x-ratelimit-remaining") == "0" or "rate limit" in said.lower()
    )
    if not limited and status not in (408, 409, 425, 429) and status < 500:
        return None
    told = _moment(lower.get("retry-after", ""), now)
    for prefix in ("x-", ""):  # GitHub's and GitLab's
        if told is None and lower.get(f"{prefix}ratelimit-remaining") == "0":
            told = _epoch(lower.get(f"{prefix}ratelimit-reset", ""))
    return told if told and told > now else now + _LATER


def _moment(retry_after: str, now: datetime) -> datetime | None:
    """Seconds, or a date (RFC 9110)."""
    if re.fullmatch(r"\d{1,6}", retry_after):
        return now + timedelta(seconds=int(retry_after))
    try:
        told = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    return told if told.tzinfo else told.replace(tzinfo=UTC)


def _epoch(seconds: str) -> datetime | None:
    return datetime.fromtimestamp(int(seconds), UTC) if re.fullmatch(r"\d{1,10}", seconds) else None


def _next_page(response: httpx.Response) -> dict[str, str] | None:
    """What to ask for next. Of a link only the query is taken: its host may be another than the one we reach the
    forge by, and gets no token."""
    if "x-next-page" in response.headers:
        page = response.headers["x-next-page"]
        return {"page": page} if page else None
    link = response.links.get("next", {}).get("url")
    return dict(parse_qsl(link.partition("?")[2])) if link else None


def _said(response: httpx.Response) -> str:
    """The message of an error, and its details where there are some: all three forges say `message`."""
    try:
        problem: Any = response.json()
    except (ValueError, RecursionError):
        return ""
    if not isinstance(problem, dict):
        return ""
    details = problem.get("errors")
    first = details[0] if isinstance(details, list) and details else None
    more = first.get("message") if isinstance(first, dict) else first
    told = [part for part in (problem.get("message") or problem.get("error"), more) if part]
    return ": ".join(map(str, told))


def _line(text: str, token: str) -> str:
    """What others say, on one line, of some length, and without the token wherever they got it from."""
    line = " ".join(text.replace(token, "…").split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"

"""Requests to a forge, page by page. The token is read before each request. Refusals become errors with a remedy.

Forges are on the internet, so requests to them, unlike those to our own API, use the environment's proxy and the
system's certificates. Redirects are not followed, since they would send the token elsewhere.
"""

import os
import re
import ssl
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import httpx2
from pydantic import TypeAdapter, ValidationError

from kexbench.domain.forges import ForgeConfig
from kexbench.forges.port import ForgeError

Found = TypeVar("Found")
PAGES_MAX = 50
_TIMEOUT_S = 30.0
_LATER = timedelta(minutes=1)
"""How long to wait if the forge doesn't say; the minimum that GitHub requires."""
_LONGEST = 300


class Rest:
    """`forge`: its name for people. `scheme`: the authorization scheme of the token."""

    def __init__(self, forge: str, config: ForgeConfig, scheme: str, headers: Mapping[str, str]) -> None:
        self._forge = forge
        self._url = config.api
        self._config = config
        self._scheme = scheme
        self._headers = {"Accept": "application/json", "User-Agent": "kexbench", **headers}
        self._tls = ssl.create_default_context()

    def get(self, kind: type[Found], path: str, right: str) -> Found:
        """`right`: the permission that the token needs, in the forge's words."""
        return self._parsed(kind, self._request("GET", path, right))

    def pages(self, kind: type[Found], path: str, right: str, query: Mapping[str, str]) -> Iterator[Found]:
        """Requests each page only when the caller needs it."""
        parameters = dict(query)
        for _ in range(PAGES_MAX):
            response = self._request("GET", path, right, query=parameters)
            if response.content:  # Gitea may send an empty body if there is nothing
                yield self._parsed(kind, response)
            next_page = _next_page(response)
            if next_page is None:
                return
            parameters |= next_page
        where = f"GET {self._url}{path}"
        raise ForgeError(f"{self._forge} has more than {PAGES_MAX} pages", where, "close entries that are not needed")

    def send(self, method: str, path: str, right: str, body: Mapping[str, str]) -> None:
        self._request(method, path, right, body=body)

    def _request(
        self,
        method: str,
        path: str,
        right: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        where, token = f"{method} {self._url}{path}", self._token()
        try:
            response = httpx2.request(
                method,
                self._url + path,
                params=query,
                json=body,
                headers={**self._headers, "Authorization": f"{self._scheme} {token}"},
                timeout=_TIMEOUT_S,
                verify=self._tls,
            )
        except httpx2.HTTPError as error:
            reason = str(error) or type(error).__name__
            what = f"{self._forge} can't be reached: {_line(reason, token)}"
            remedy = "check the network, the proxy and the url"
            raise ForgeError(what, where, remedy, again_at=datetime.now(UTC) + _LATER) from None
        if response.is_success:
            return response
        raise self._refusal(response, where, right, token)

    def _refusal(self, response: httpx2.Response, where: str, right: str, token: str) -> ForgeError:
        status, message = response.status_code, _line(_message(response), token)
        what = f"{self._forge} answered {status}" + (f" ({message})" if message else "")
        again_at = again_after(status, response.headers, message, datetime.now(UTC))
        if again_at is not None:
            return ForgeError(what, where, f"retry at {again_at:%H:%M:%S} UTC", status=status, again_at=again_at)
        return ForgeError(what, where, self._remedy(status, right), status=status)

    def _remedy(self, status: int, right: str) -> str:
        if status == 401:
            return f"write a valid token into {self._config.token_place}"
        if status == 403:
            return f"give the token in {self._config.token_place} the permission {right}"
        if status == 404:
            place = self._config.token_place
            return f"check the repository's name, and that the token in {place} has the permission {right}"
        if 300 <= status < 400:
            return "the repository or the forge has moved: configure its new address"
        return "fix the cause that the answer states; a retry is useless"

    def _parsed(self, kind: type[Found], response: httpx2.Response) -> Found:
        try:
            return TypeAdapter(kind).validate_json(response.content)
        except ValidationError as error:
            fault = error.errors(include_input=False)[0]
            place = ".".join(map(str, fault["loc"])) or "the beginning"
            what = f"the answer is not one of {self._forge}'s API ({fault['msg']}, at {place})"
            where = f"GET {response.url.copy_with(query=None)}"
            raise ForgeError(what, where, "check that the url is its API's", status=response.status_code) from None

    def _token(self) -> str:
        """Errors don't quote the file's content, since it may be the token with a typing error."""
        place = self._config.token_place
        try:
            token = self._read_token().strip()
        except (OSError, UnicodeDecodeError) as error:
            where = f"{place}: {error.strerror if isinstance(error, OSError) else 'it is not plain text'}"
            raise ForgeError("the token can't be read", where, "write the token into this file") from None
        if not re.fullmatch(r"[!-~]+", token):
            raise ForgeError("there is no token", place, f"write the token into {place}, on one line")
        return token

    def _read_token(self) -> str:
        if self._config.token_variable:
            return os.environ.get(self._config.token_variable, "")
        assert self._config.token_file is not None, "the configuration was checked"
        return self._config.token_file.read_text(encoding="ascii")


def again_after(status: int, headers: Mapping[str, str], message: str, now: datetime) -> datetime | None:
    """When to retry after a rate limit or a temporary error of the forge. None for permanent refusals.

    GitHub also reports rate limits as 403, with one of these headers or only in the message."""
    lower = {name.lower(): value for name, value in headers.items()}
    limited = status == 403 and (
        "retry-after" in lower or lower.get("x-ratelimit-remaining") == "0" or "rate limit" in message.lower()
    )
    if not limited and status not in (408, 409, 425, 429) and status < 500:
        return None
    retry_at = _moment(lower.get("retry-after", ""), now)
    for prefix in ("x-", ""):  # GitHub's and GitLab's
        if retry_at is None and lower.get(f"{prefix}ratelimit-remaining") == "0":
            retry_at = _epoch(lower.get(f"{prefix}ratelimit-reset", ""))
    return retry_at if retry_at and retry_at > now else now + _LATER


def _moment(retry_after: str, now: datetime) -> datetime | None:
    """Seconds, or a date (RFC 9110)."""
    if re.fullmatch(r"\d{1,6}", retry_after):
        return now + timedelta(seconds=int(retry_after))
    try:
        moment = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _epoch(seconds: str) -> datetime | None:
    return datetime.fromtimestamp(int(seconds), UTC) if re.fullmatch(r"\d{1,10}", seconds) else None


def _next_page(response: httpx2.Response) -> dict[str, str] | None:
    """The query of the next page. Only the query of a link is used: its host may differ from the configured one, and
    must not get the token."""
    if "x-next-page" in response.headers:
        page = response.headers["x-next-page"]
        return {"page": page} if page else None
    link = response.links.get("next", {}).get("url")
    return dict(parse_qsl(link.partition("?")[2])) if link else None


def _message(response: httpx2.Response) -> str:
    """The message of an error, with details if there are any. All three forges have a field `message`."""
    try:
        problem: Any = response.json()
    except (ValueError, RecursionError):
        return ""
    if not isinstance(problem, dict):
        return ""
    details = problem.get("errors")
    first = details[0] if isinstance(details, list) and details else None
    detail = first.get("message") if isinstance(first, dict) else first
    parts = [part for part in (problem.get("message") or problem.get("error"), detail) if part]
    return ": ".join(map(str, parts))


def _line(text: str, token: str) -> str:
    """The text on one line, cut to _LONGEST characters and without the token."""
    line = " ".join(text.replace(token, "…").split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"

"""What whoever calls the API knows of it, without what serving it takes, which is much to import."""

import ssl

import httpx

API_PREFIX = "/api/v1"
NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For addresses of this machine, which are plain HTTP: to read what the system trusts takes a fifth of a second."""


def problem_words(response: httpx.Response) -> tuple[str, str | None]:
    """What an answer that is no success says is wrong, and what puts it right. Also of one that is no problem of ours,
    such as a proxy's."""
    try:
        problem = response.json()
    except ValueError:
        problem = None
    if isinstance(problem, dict) and isinstance(problem.get("detail"), str):
        return problem["detail"], problem.get("remedy")
    return f"the API answered {response.status_code}", None

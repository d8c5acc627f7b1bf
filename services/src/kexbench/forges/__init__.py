"""Forges, which host watched repositories: statuses, comments, pull requests and webhooks.

httpx2 is enough instead of client libraries, since at most eight endpoints of each forge are used.
Forges know numbers, but no plans and no results.

- `port.py`: the interface of a forge; `github.py`, `gitlab.py`, `gitea.py`: the adapters; `rest.py`: their requests.
- `words.py`, `comments.py`, `markdown.py`: the texts of comments, how to find them again, and other people's text in
  them.
- `comparison.py`, `ci_jobs.py`: the text on a change that a job of CI compared, and the pull request of that job.
- `webhooks.py`: whether a webhook is genuine, and which repository changed.
"""

from kexbench.domain.forges import ForgeConfig
from kexbench.forges.gitea import Gitea
from kexbench.forges.github import GitHub
from kexbench.forges.gitlab import GitLab
from kexbench.forges.port import CommitStatus, Forge, ForgeError, NoForge, PullRequest

__all__ = ["CommitStatus", "Forge", "ForgeConfig", "ForgeError", "NoForge", "PullRequest", "forge_of"]


def forge_of(config: ForgeConfig) -> Forge:
    """The adapter for a repository's configuration. Sends no request yet."""
    match config.kind:
        case "github":
            return GitHub(config)
        case "gitlab":
            return GitLab(config)
        case "gitea":
            return Gitea(config)
        case "none":
            return NoForge()

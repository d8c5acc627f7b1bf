"""Forges, which host watched repositories: statuses, comments, pull requests and webhooks.

httpx is enough instead of client libraries, since at most eight endpoints of each forge are used.
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

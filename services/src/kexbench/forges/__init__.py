"""Forges: where a watched repository lives, how people are told there, and what its webhooks say.

No client library: each of the three is asked at most eight endpoints, which httpx does as plainly.
"""

from kexbench.domain.forges import ForgeConfig
from kexbench.forges.gitea import Gitea
from kexbench.forges.github import GitHub
from kexbench.forges.gitlab import GitLab
from kexbench.forges.port import CommitStatus, Forge, ForgeError, NoForge, PullRequest

__all__ = ["CommitStatus", "Forge", "ForgeConfig", "ForgeError", "NoForge", "PullRequest", "forge_of"]


def forge_of(config: ForgeConfig) -> Forge:
    """The adapter that a repository's configuration asks for. Speaks to nobody yet."""
    match config.kind:
        case "github":
            return GitHub(config)
        case "gitlab":
            return GitLab(config)
        case "gitea":
            return Gitea(config)
        case "none":
            return NoForge()

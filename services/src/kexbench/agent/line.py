"""Finds the commit range of a bisection, in a pod with git."""

from collections.abc import Callable

from kexbench.agent.environment import LinePod
from kexbench.client import ApiClient
from kexbench.domain.bisections import Line
from kexbench.domain.kits import SubjectRef
from kexbench.domain.numbers import counted
from kexbench.kits.git import GitOrigin


def find_line(pod: LinePod, api: ApiClient, say: Callable[[str], None]) -> None:
    """Raises KitError, Refused and Unreachable."""
    good, bad = SubjectRef.parse(pod.good), SubjectRef.parse(pod.bad)
    commits = GitOrigin(pod.work / "cache").commits(good, bad, say)
    say(f"{counted(len(commits), 'commit')} from {good} to {bad}")
    api.send("PUT", f"/bisections/{pod.bisection_id}/line", Line(bisection_id=pod.bisection_id, commits=commits))

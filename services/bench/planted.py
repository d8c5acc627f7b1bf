"""A git repository of OpenSSL's sources with a planted slower commit. The same seed makes the same repository.

Its first commit, tagged `good`, is a release as kits fetch it. Each later commit on the branch `master` adds a comment
at the top of a source file, which only moves line numbers. The middle commit, where a search begins, does not compile,
and the next one fixes that. Another commit makes additional hashes.
"""

import os
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path

from bench.machine import BenchError
from kexbench.domain.kits import SubjectRef
from kexbench.kits.crate import CrateOrigin
from kexbench.kits.deb_source import DebSourceOrigin
from kexbench.kits.process import Attempt, Progress
from kexbench.kits.source import Origin
from kexbench.settings import Settings

SOURCES = SubjectRef.parse("openssl@crate/1.1.1w")
BRANCH, GOOD = "master", "good"
BEGAN_S = 1_700_000_000
"""Time of the first commit. It is fixed, so that hashes depend only on contents."""
_FILE = Path("ssl/statem/statem_lib.c")
_FINISHED = "int tls_construct_finished(SSL *s, WPACKET *pkt)\n{\n"
_SENDER = "    if (s->server) {\n        sender = s->method->ssl3_enc->server_finished_label;\n"
MORE = "hash_once_more"
_FUNCTION_MORE = f"""\
static __attribute__((noinline)) int {MORE}(void)
{{
    static const unsigned char block[4096];
    unsigned char digest[EVP_MAX_MD_SIZE];

    return EVP_Digest(block, sizeof(block), digest, NULL, EVP_sha512(), NULL);
}}

"""
_CALL_MORE = f"    if (!{MORE}())\n        return 0;\n\n"
_SLOWER = ((_FINISHED, _FUNCTION_MORE), (_SENDER, _CALL_MORE))
"""Text of the sources, and what the slower commit inserts before it: each side of a handshake hashes 4 KiB."""
_FEWER_BYTES = ("block[4096]", "block[16]"), ("EVP_sha512", "EVP_sha256")
"""What a small step has instead."""
_RSA_FILE = Path("crypto/rsa/rsa_crpt.c")
_SIGN = "    return rsa->meth->rsa_priv_enc(flen, from, to, rsa, padding);\n"
_SIGN_TWICE = "    if (rsa->meth->rsa_priv_enc(flen, from, to, rsa, padding) <= 0)\n        return -1;\n"
DOES_NOT_COMPILE = "this is no C\n"


@dataclass(frozen=True)
class Planted:
    """`slower` is the hash of the slower commit, or None without one. `broken` is that of the commit that does not
    compile."""

    folder: Path
    commits: int
    slower: str | None
    broken: str


def fetch_sources(folder: Path, progress: Progress, ref: SubjectRef = SOURCES) -> Path:
    """The sources of a release in `folder`, as kits fetch them. Raises StepFailed."""
    attempt = Attempt(folder, folder / "log", progress)
    unpacked = folder / "unpacked"
    unpacked.mkdir()
    origins: tuple[Origin, ...] = (CrateOrigin(), DebSourceOrigin(Settings().cache))
    origin = next(origin for origin in origins if origin.provides(ref))
    return origin.locate(ref, attempt, refresh=False).unpack(unpacked, attempt)


def plant(sources: Path, commits: int, seed: int, *, with_step: bool) -> Planted:
    """Make a repository of the folder `sources`, with `commits` commits after the first. Raises BenchError."""
    chance = random.Random(seed)  # noqa: S311 (places, no secrets)
    files = sorted(path.relative_to(sources) for path in (sources / "ssl").rglob("*.c"))
    broken = commits // 2
    # Directly after the broken commit, the two could not be distinguished.
    slower = chance.choice([number for number in range(2, commits) if number not in (broken, broken + 1)])
    repository = Repository(sources)
    repository.commit(0, f"Import {SOURCES.source}")
    repository.git("tag", GOOD)
    hashes = [""]
    for number in range(1, commits + 1):
        edit(sources / chance.choice(files), "", f"/* change {number} */\n")
        if number == broken:
            edit(sources / _FILE, "", DOES_NOT_COMPILE)
        if number == broken + 1:
            edit(sources / _FILE, DOES_NOT_COMPILE, "")
        if number == slower and with_step:
            for existing, added in _SLOWER:
                edit(sources / _FILE, existing, added + existing)
        hashes.append(repository.commit(number, f"Change {number}"))
    return Planted(sources, commits, hashes[slower] if with_step else None, hashes[broken])


@dataclass(frozen=True)
class Triplets:
    """The hashes of three commits. `twin` builds the same as `first`. In `slower`, RSA signs twice."""

    first: str
    twin: str
    slower: str


def plant_triplets(sources: Path) -> Triplets:
    """Make a repository with three commits of the folder `sources`. The second changes a README. Raises BenchError."""
    repository = Repository(sources)
    first = repository.commit(0, f"Import {SOURCES.source}")
    with (sources / "README").open("a", encoding="utf-8") as readme:
        readme.write("\nThis sentence changes nothing.\n")
    twin = repository.commit(1, "Say more in the README")
    edit(sources / _RSA_FILE, _SIGN, _SIGN_TWICE + _SIGN)
    return Triplets(first, twin, repository.commit(2, "Sign with RSA twice"))


def plant_small_step(sources: Path) -> tuple[str, str]:
    """Make a repository with two commits of the folder `sources`, and return their hashes. In the second, each side of
    a handshake hashes 16 bytes more. Raises BenchError."""
    repository = Repository(sources)
    first = repository.commit(0, f"Import {SOURCES.source}")
    for existing, added in _SLOWER:
        edit(sources / _FILE, existing, _with_fewer_bytes(added) + existing)
    return first, repository.commit(1, "Hash once more")


def _with_fewer_bytes(text: str) -> str:
    for larger, smaller in _FEWER_BYTES:
        text = text.replace(larger, smaller)
    return text


def edit(path: Path, original: str, replacement: str) -> None:
    """Replace `original`, or insert at the top if it is empty. Raises BenchError unless it occurs exactly once."""
    text = path.read_text(encoding="utf-8")
    if original and text.count(original) != 1:
        raise BenchError(f"{path} does not have the expected content")
    path.write_text(text.replace(original, replacement, 1), encoding="utf-8")


class Repository:
    """Git in a folder, independent of this machine's git configuration."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.git("init", "--quiet", f"--initial-branch={BRANCH}")

    def commit(self, number: int, title: str) -> str:
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", f"--message={title}", at_s=BEGAN_S + number)
        return self.git("rev-parse", "HEAD")

    def git(self, *arguments: str, at_s: int = BEGAN_S) -> str:
        people = {f"GIT_{role}_{field}": value for role in ("AUTHOR", "COMMITTER") for field, value in _PERSON.items()}
        dates = {f"GIT_{role}_DATE": f"{at_s} +0000" for role in ("AUTHOR", "COMMITTER")}
        no_configuration = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        environment = {**os.environ, **people, **dates, **no_configuration}
        try:
            process = subprocess.run(
                ["git", *arguments], cwd=self._folder, env=environment, check=True, capture_output=True, text=True
            )
        except (OSError, subprocess.CalledProcessError) as error:
            raise BenchError(f"git {arguments[0]}: {getattr(error, 'stderr', '') or error}") from error
        return process.stdout.strip()


_PERSON = {"NAME": "Ada Example", "EMAIL": "ada@example.org"}

"""A git repository of OpenSSL's sources with a slower commit planted in it, the same for the same seed.

Its first commit is a release as kits fetch it, tagged `good`. Behind it, on the branch `master`, every commit adds a
comment at the top of a source file, which moves line numbers and nothing else. One of them does not compile, until the
next one; it is the one in the middle, where a search begins. Another one hashes more than it has to.
"""

import os
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path

from bench.lab import BenchError
from kexbench.domain.kits import SubjectRef
from kexbench.kits.crate import CrateOrigin
from kexbench.kits.process import Attempt, Progress

SOURCES = SubjectRef.parse("openssl@crate/1.1.1w")
BRANCH, GOOD = "master", "good"
BEGAN_S = 1_700_000_000
"""When the first commit was made, so that hashes depend on nothing but contents."""
_FILE = Path("ssl/statem/statem_lib.c")
_FINISHED = "int tls_construct_finished(SSL *s, WPACKET *pkt)\n{\n"
_SENDER = "    if (s->server) {\n        sender = s->method->ssl3_enc->server_finished_label;\n"
_FUNCTION_MORE = """\
static int hash_once_more(void)
{
    static const unsigned char block[4096];
    unsigned char digest[EVP_MAX_MD_SIZE];

    return EVP_Digest(block, sizeof(block), digest, NULL, EVP_sha512(), NULL);
}

"""
_CALL_MORE = "    if (!hash_once_more())\n        return 0;\n\n"
_SLOWER = ((_FINISHED, _FUNCTION_MORE), (_SENDER, _CALL_MORE))
"""What stands in the sources, and what the slower commit puts before it: either side of a handshake hashes 4 KiB."""
_RSA_FILE = Path("crypto/rsa/rsa_crpt.c")
_SIGN = "    return rsa->meth->rsa_priv_enc(flen, from, to, rsa, padding);\n"
_SIGN_TWICE = "    if (rsa->meth->rsa_priv_enc(flen, from, to, rsa, padding) <= 0)\n        return -1;\n"
_DOES_NOT_COMPILE = "this is no C\n"


@dataclass(frozen=True)
class Planted:
    """`slower` is the hash of the commit with the step, None where none was planted; `broken` of the one that does not
    compile."""

    folder: Path
    commits: int
    slower: str | None
    broken: str


def fetch_sources(folder: Path, progress: Progress) -> Path:
    """The sources of the release, inside `folder`, as kits fetch them. Raises StepFailed."""
    attempt = Attempt(folder, folder / "log", progress)
    unpacked = folder / "unpacked"
    unpacked.mkdir()
    return CrateOrigin().locate(SOURCES, attempt, refresh=False).unpack(unpacked, attempt)


def plant(sources: Path, commits: int, seed: int, *, with_step: bool) -> Planted:
    """Make a repository of the folder `sources`, with so many commits behind the first. Raises BenchError."""
    chance = random.Random(seed)  # noqa: S311 (places, no secrets)
    files = sorted(path.relative_to(sources) for path in (sources / "ssl").rglob("*.c"))
    broken = commits // 2
    # Behind the broken commit it could not be told from that one.
    slower = chance.choice([number for number in range(2, commits) if number not in (broken, broken + 1)])
    repository = _Repository(sources)
    repository.commit(0, f"Import {SOURCES.source}")
    repository.git("tag", GOOD)
    hashes = [""]
    for number in range(1, commits + 1):
        _edit(sources / chance.choice(files), "", f"/* change {number} */\n")
        if number == broken:
            _edit(sources / _FILE, "", _DOES_NOT_COMPILE)
        if number == broken + 1:
            _edit(sources / _FILE, _DOES_NOT_COMPILE, "")
        if number == slower and with_step:
            for known, more in _SLOWER:
                _edit(sources / _FILE, known, more + known)
        hashes.append(repository.commit(number, f"Change {number}"))
    return Planted(sources, commits, hashes[slower] if with_step else None, hashes[broken])


@dataclass(frozen=True)
class Triplets:
    """The hashes of three commits: `twin` builds what `first` does, and in `slower` RSA signs twice."""

    first: str
    twin: str
    slower: str


def plant_triplets(sources: Path) -> Triplets:
    """Make a repository of the folder `sources`, of three commits: the second changes a README. Raises BenchError."""
    repository = _Repository(sources)
    first = repository.commit(0, f"Import {SOURCES.source}")
    with (sources / "README").open("a", encoding="utf-8") as readme:
        readme.write("\nThis sentence changes nothing.\n")
    twin = repository.commit(1, "Say more in the README")
    _edit(sources / _RSA_FILE, _SIGN, _SIGN_TWICE + _SIGN)
    return Triplets(first, twin, repository.commit(2, "Sign with RSA twice"))


def _edit(path: Path, before: str, behind: str) -> None:
    """Put `behind` in the place of `before`, of nothing at the top. Raises BenchError unless that is there once."""
    text = path.read_text(encoding="utf-8")
    if before and text.count(before) != 1:
        raise BenchError(f"{path} is not as the step to plant knows it")
    path.write_text(text.replace(before, behind, 1), encoding="utf-8")


class _Repository:
    """Git in a folder, whatever the configuration of this machine's git."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.git("init", "--quiet", f"--initial-branch={BRANCH}")

    def commit(self, number: int, title: str) -> str:
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", f"--message={title}", at_s=BEGAN_S + number)
        return self.git("rev-parse", "HEAD")

    def git(self, *words: str, at_s: int = BEGAN_S) -> str:
        who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in _WHO.items()}
        when = {f"GIT_{role}_DATE": f"{at_s} +0000" for role in ("AUTHOR", "COMMITTER")}
        nowhere = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        environment = {**os.environ, **who, **when, **nowhere}
        try:
            done = subprocess.run(
                ["git", *words], cwd=self._folder, env=environment, check=True, capture_output=True, text=True
            )
        except (OSError, subprocess.CalledProcessError) as error:
            raise BenchError(f"git {words[0]}: {getattr(error, 'stderr', '') or error}") from error
        return done.stdout.strip()


_WHO = {"NAME": "Ada Example", "EMAIL": "ada@example.org"}

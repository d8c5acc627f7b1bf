"""Libraries with a CMakeLists.txt, in C, C++ and assembly: AWS-LC and BoringSSL, whose crates build them alike."""

from pathlib import Path

from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt
from kexbench.kits.source import compiler_name, need_tools

USUAL = ("-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=OFF", "-DBUILD_TESTING=OFF")
_CXX = "c++"


def build_with_cmake(
    title: str, source: Path, words: tuple[str, ...], attempt: Attempt, *, jobs: int, code: str = ""
) -> Path:
    """The folder with the built targets ssl and crypto. `jobs` is the number of parallel compilers, over all builds;
    `code` are flags for C and C++. Raises StepFailed."""
    if not (source / "CMakeLists.txt").is_file():
        raise StepFailed("compile", f"the sources of {title} have no CMakeLists.txt", "")
    need_tools({"cmake": "cmake", _CXX: "g++"})
    # Errors name the files of the sources, so that their folder would be in the library.
    mapped = f"-ffile-prefix-map={attempt.scratch}=."
    flags = {"C": f"{code} {mapped}".strip(), "CXX": f"{code} {mapped}".strip(), "ASM": mapped}
    languages = [f"-DCMAKE_{language}_FLAGS={text}" for language, text in flags.items()]
    compilers = [f"-DCMAKE_C_COMPILER={attempt.target.compiler}", f"-DCMAKE_CXX_COMPILER={_CXX}"]
    build = attempt.scratch / "cmake"
    configure = ["cmake", "-G", "Unix Makefiles", "-S", str(source), "-B", str(build)]
    attempt.run([*configure, *compilers, *languages, *words], stage="compile", timeout_s=300)
    make = ["make", f"-j{attempt.share_of(jobs)}", "--silent", "ssl", "crypto"]
    attempt.run(make, stage="compile", timeout_s=3600, folder=build)
    return build


def decisive(attempt: Attempt) -> tuple[str, ...]:
    """Like `Recipe.decisive`. Raises StepFailed."""
    need_tools({_CXX: "g++"})
    return (f"{_CXX}: {compiler_name(_CXX, attempt)}",)

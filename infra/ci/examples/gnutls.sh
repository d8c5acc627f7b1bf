#!/bin/sh
# Compares GnuTLS as a merge request found it with GnuTLS as the merge request leaves it, both built in its own way.
#
#   gnutls.sh BASE HEAD [OPTIONS OF kexbench compare]      as in: gnutls.sh origin/master HEAD --case '*rsa*'
#
# Run it in a checkout with history. The two trees are in $BUILDS, by default kexbench-builds, and the report is in $REPORT,
# by default kexbench-report. A change below $RELEVANT, by default 0.2%, does not count. $CONFIGURE has words for
# ./configure, $BUILD_ONLY=1 leaves out the comparison, and CC="ccache gcc" with CCACHE_NOHASHDIR=1 makes the second build
# a short one.
# Handshakes need neither documents nor tests nor tools, so they are not built, and warnings are left out, since the
# compiler's analyzer takes most of the time.
set -eu

usage="usage: gnutls.sh BASE HEAD [OPTIONS OF kexbench compare]"
case $#:${1:-} in
    *:--help)
        echo "$usage"
        exit 0
        ;;
    0:* | 1:*)
        echo "$usage" >&2
        exit 2
        ;;
esac
if [ -z "${BUILD_ONLY:-}" ] && ! command -v kexbench >/dev/null; then
    echo "gnutls.sh: kexbench is not in PATH; install it, or build without it by BUILD_ONLY=1" >&2
    exit 127
fi

builds=${BUILDS:-$PWD/kexbench-builds}
head=$(git rev-parse --verify "$2^{commit}")
base=$(git merge-base "$1" "$head")
shift 2

build() { # in the folder $builds/$1, the commit $2
    tree=$builds/$1 built="$2 ${CONFIGURE:-}"
    # A tree of an earlier job is used again for the same commit and options.
    if [ "$(cat "$tree/.built" 2>/dev/null)" != "$built" ]; then
        rm -rf "$tree"
        git worktree prune
        git worktree add --quiet --force --detach "$tree" "$2"
        if (
            cd "$tree" || exit
            # The repository of GnuTLS has no configure script. The sources of a release have one, and git gives files
            # any order of times, in which make would run autoconf again.
            if [ -x configure ]; then find . -type f -exec touch -r configure {} +; else ./bootstrap || exit; fi
            # shellcheck disable=SC2086 # a list of words
            ./configure --disable-doc --disable-tests --disable-tools --disable-cxx --disable-guile --disable-libdane \
                --disable-gcc-warnings ${CONFIGURE:-} && make -s -j "$(nproc)"
        ); then
            echo "$built" >"$tree/.built"
        else
            # The comparison says that this build failed. No library may be left for it.
            rm -rf "$tree/lib/.libs"
        fi
    fi
}

build base "$base"
build change "$head"
[ -z "${BUILD_ONLY:-}" ] || exit 0
exec kexbench compare "gnutls@prefix:$builds/base" "gnutls@prefix:$builds/change" --count \
    --relevant "${RELEVANT:-0.2%}" --output "${REPORT:-kexbench-report}" "$@"

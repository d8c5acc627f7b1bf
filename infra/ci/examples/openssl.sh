#!/bin/sh
# Compares OpenSSL as a pull request found it with OpenSSL as the pull request leaves it, both built in its own way.
#
#   openssl.sh BASE HEAD [OPTIONS OF compare-builds]      as in: openssl.sh origin/master HEAD --relevant 0.2% --comment
#
# Run it in a checkout with history. The two trees are in $BUILDS, by default kexbench-builds. $CONFIGURE has words for
# ./Configure, $BUILD_ONLY=1 leaves out the comparison, and CC="ccache gcc" with CCACHE_NOHASHDIR=1 makes the second build
# a short one.
set -eu

builds=${BUILDS:-$PWD/kexbench-builds}
compare_builds=${COMPARE_BUILDS:-$(dirname "$0")/../compare-builds}
head=$(git rev-parse --verify "$2^{commit}")
base=$(git merge-base "$1" "$head")
shift 2

build() { # in the folder $builds/$1, the commit $2
    tree=$builds/$1
    # A tree of an earlier job is used again for the same commit.
    if [ "$(cat "$tree/.built" 2>/dev/null)" != "$2" ]; then
        rm -rf "$tree"
        git worktree prune
        git worktree add --quiet --force --detach "$tree" "$2"
        # shellcheck disable=SC2086 # a list of words
        if (cd "$tree" && ./Configure ${CONFIGURE:-} && make -s -j "$(nproc)" build_libs); then
            echo "$2" >"$tree/.built"
        else
            # The comparison says that this build failed. No library may be left for it.
            find "$tree" -maxdepth 1 -name 'lib*' -delete
        fi
    fi
}

build base "$base"
build change "$head"
[ -z "${BUILD_ONLY:-}" ] || exit 0
exec "$compare_builds" openssl "$builds/base" "$builds/change" "$@"

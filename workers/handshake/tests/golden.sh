#!/bin/sh
# Plays the golden requests to the fake worker and compares its records with the golden session,
# byte for byte. When they differ, what came is left beside it as `.actual`; `golden.sh WORKER
# update` takes it over.
set -eu
worker=$1
here=$(dirname "$0")
golden=$here/../../../bench-specs/schema/examples/worker-session.ndjson
actual=$golden.actual
$worker --material . --fake \
    version=1.0,architecture=x86_64,emulated=0,seed=1,client_ns=100000,server_ns=300000,noise=0.01,step=1.02,mismatch_after=106,fail_after=108 \
    <"$here/golden-requests.txt" >"$actual"
if [ "${2-}" = update ]; then
    mv "$actual" "$golden"
elif cmp "$golden" "$actual"; then
    rm "$actual"
    echo "  ok   the fake's session is the golden one, byte for byte"
else
    echo "FAILED the fake's session is the golden one, byte for byte: diff $golden $actual"
    exit 1
fi

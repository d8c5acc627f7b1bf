#!/bin/sh
# Whether the objects of a folder use each other in one direction only: a file can be read, and replaced, with only those
# below it.
set -eu
if nm -A -g "$1"/*.o | awk '
    { file = $1; sub(/:.*/, "", file); name = $NF }
    $(NF - 1) == "U" { user[++uses] = file; used[uses] = name; next }
    { home[name] = file }
    END {
        for (i = 1; i <= uses; i++)
            if (used[i] in home && home[used[i]] != user[i])
                print user[i], home[used[i]]
    }' | tsort >/dev/null; then
    echo "  ok   no file uses another that uses it: $1"
else
    echo "FAILED a file uses another that uses it: $1"
    exit 1
fi

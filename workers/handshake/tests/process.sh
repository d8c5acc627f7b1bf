#!/bin/sh
# The worker as a process, with the fake backend: exit codes, and the ways to die that a runner
# has to survive. Each line of output is a sentence.
set -u
worker=$1
failed=0
setup='setup id=a protocol=TLSv1.2 key_exchange=RSA cipher=AES-128-GCM group=- rsa_bits=2048 curve=- key=k certificate=c dh_parameters=-'
setup="$setup ocsp_response=- chain_length=1 client_authentication=no resumption=none early_data_bytes=0 anti_replay=no hello_retry=no fips=no threads=1 verification=no trust_anchors_file=- trust_anchors=1 tickets=none transfer_bytes=0 context=shared roles=both certificate_names=1 certificate_policies=0 crl_distribution_points=0 intermediate_bytes=0 trust_store=file reload_every=0 server_names=1"
run='run id=a min_handshakes=3 min_ns=0 max_handshakes=3 split=yes'

# says SENTENCE EXPECTED-EXIT EXPECTED-LAST-TYPE INPUT WORKER-ARGUMENTS...
says() {
    sentence=$1 wanted=$2 type=$3 input=$4
    shift 4
    { output=$(printf '%b' "$input" | timeout 2 $worker "$@"); } 2>/dev/null
    got=$?
    last=$(printf '%s\n' "$output" | tail -n 1 | sed -n 's/^{"type":"\([a-z]*\)".*/\1/p')
    if [ "$got" = "$wanted" ] && [ "$last" = "$type" ]; then
        echo "  ok   $sentence"
    else
        echo "FAILED $sentence: exit $got, last record \"$last\""
        failed=1
    fi
}

says "stop is answered and ends well" 0 bye "stop\n" --material .
says "end of input ends well without an answer" 0 hello "" --material .
says "the end of input in the middle of a line runs nothing" 0 hello "$setup" --material .
says "requests after stop are not read" 0 bye "stop\nstop\n" --material .
says "an oversized line is one error" 0 bye "$(head -c 100000 /dev/zero | tr '\0' x)\nstop\n" --material .
says "a NUL byte is an error" 0 error "stop\\0000\n" --material .
says "a run works" 0 batch "$setup\n$run\n" --material .
says "a missing option is a usage error" 2 "" "stop\n"
says "an unknown option is a usage error" 2 "" "stop\n" --material . --verbose 1
says "a burn of virtual time, which would never end, is a usage error" 2 "" "stop\n" --material . --burn 1
says "an option without its value is a usage error" 2 "" "stop\n" --material
says "a CPU that is no number is a usage error" 2 "" "stop\n" --material . --cpus -1
says "a list of CPUs that ends in a comma is a usage error" 2 "" "stop\n" --material . --cpus 0,
says "a CPU that does not exist ends with 3" 3 "" "stop\n" --material . --cpus 1023
says "the first allowed CPU can be pinned" 0 bye "stop\n" --material . --cpus \
    "$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)"
says "an unknown fake setting ends the start" 1 "" "stop\n" --material . --fake turbo=1
says "a fake setting left empty ends the start" 1 "" "stop\n" --material . --fake seed=1,,noise=0
says "a bad number in a fake setting ends the start" 1 "" "stop\n" --material . --fake seed=0x1
says "the fake can be without support" 0 refused "$setup\n" --material . --fake unsupported=1
says "the fake can fail" 0 failed "$setup\n$run\n" --material . --fake fail_after=3
says "the fake can negotiate something else" 0 failed "$setup\n$run\n" --material . --fake mismatch_after=3
says "the fake can crash" 134 ready "$setup\n$run\n" --material . --fake crash_after=3
says "the fake can hang" 124 ready "$setup\n$run\n" --material . --fake hang_after=3
exit $failed

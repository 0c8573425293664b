#!/bin/bash
# bench.sh JOB [ARGS...] : sets up namespaces, builds, runs one job, cleans up.
#   JOB = setup | parse | floors | idle | startup | press | calls | media | latency | recovery | instr | quick | down
# Contestants default to: baresip linphone (+ product when PRODUCT_BIN is set); name others at the end of ARGS.
. "$(dirname "$0")/lib/env.sh"; cd "$BENCH_DIR" || exit
[ -n "${PRODUCT_BIN:-}" ] || [ ! -x ../../.build/release/portero ] || export PRODUCT_BIN=$PWD/../../.build/release/portero
setup() { ip netns list | grep -qw "$NS_SRV" || lib/netns.sh up; [ -x "$BENCH_BUILD/floors" ] || lib/build.sh; }
job=$1; shift
case $job in
setup) (. ../lib; install_packages build bench); lib/netns.sh up; lib/build.sh ;;
parse) exec parse/run.sh "${1:-all}" ;;
floors) setup; VDEV_PCM=$BENCH_BUILD exec "$BENCH_BUILD/floors" ;;
idle|startup|press|calls|media|latency|recovery|instr) setup; python3 "jobs/$job.py" "$@"; r=$?; kamailio/registrar.sh stop; exit $r ;;
quick) # ~8 minutes: enough for a landing check
    setup
    python3 jobs/idle.py -s 20 -n 1,16 "$@"; python3 jobs/startup.py -r 5 -n 1 "$@"; python3 jobs/calls.py -m 40 -R 10 -T 5 "$@"
    python3 jobs/media.py -k pcmu:0,opus:1 -d 10 -r 2 "$@"; python3 jobs/latency.py -d 15 -j 0 "$@"; kamailio/registrar.sh stop ;;
down) kamailio/registrar.sh stop; lib/netns.sh down ;;
*) sed -n 2,5p "$0"; exit 2 ;;
esac

#!/bin/bash
# a. SIP parse micro-benchmarks. run.sh [time|ir|all]. A product bench that prints "NAME MODE MSG NS" and
# honours -m -f -n -t -r like ours joins by listing it in PARSE_EXTRA="name=/path/to/bench ..." (for ir it
# must have a C-visible function bench_loop, e.g. @_cdecl("bench_loop")).
. "$(dirname "$0")/../lib/env.sh"; cd "$BENCH_DIR/parse" || exit; export MSGDIR=$PWD/msgs
python3 mkmsgs.py > "$BENCH_WORK/msgs.txt"
gcc -O2 -I/usr/include/re -DHAVE_INET6 -DHAVE_INTTYPES_H -DHAVE_STDBOOL_H bench_re.c -o "$BENCH_BUILD/parse_libre" -lre || exit 1
gcc -O2 $(pkg-config --cflags sofia-sip-ua) bench_sofia.c -o "$BENCH_BUILD/parse_sofia-sip" -lsofia-sip-ua || exit 1
gcc -O2 bench_osip.c -o "$BENCH_BUILD/parse_libosip2" -losipparser2 -losip2 || exit 1
gcc -O2 bench_floor.c -o "$BENCH_BUILD/parse_scan-floor" || exit 1
# Portero's own parser; valgrind does not read the debugging symbols of this compiler.
(cd ../../.. && PORTERO_BENCH=1 swift build -q -c release --static-swift-stdlib --scratch-path "$BENCH_BUILD/swift" --product parse-portero) || exit 1
strip -g -o "$BENCH_BUILD/parse_portero" "$BENCH_BUILD/swift/release/parse-portero" || exit 1
set=(libre=$BENCH_BUILD/parse_libre sofia-sip=$BENCH_BUILD/parse_sofia-sip libosip2=$BENCH_BUILD/parse_libosip2 scan-floor=$BENCH_BUILD/parse_scan-floor portero=$BENCH_BUILD/parse_portero $PARSE_EXTRA)
what=${1:-all}
if [ $what != ir ]; then   # interleave the contestants, keep the best of the passes
    : > "$BENCH_WORK/parse.time"
    for _ in 1 2 3; do for s in "${set[@]}"; do ${TASKSET:-taskset -c 1} "${s#*=}" -t 40 -r 3 >> "$BENCH_WORK/parse.time"; done; done
fi
if [ $what != time ]; then
    : > "$BENCH_WORK/parse.ir"
    for s in "${set[@]}"; do for m in 0 1 2 3; do for f in register invite ok200 bye notify; do
        o=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=bench_loop "${s#*=}" -m $m -f $f -n 200 2>&1)
        n=$(sed -n 's/.*Collected *: *\([0-9]*\).*/\1/p' <<<"$o")
        [ "${n:-0}" -gt 0 ] && echo "${s%%=*} $m $f $((n / 200))" >> "$BENCH_WORK/parse.ir"
    done; done; done
    : > "$BENCH_WORK/parse.allocs"
    for s in "${set[@]}"; do for f in register invite ok200 bye notify; do
        a() { valgrind "${s#*=}" -m 1 -f $f -n $1 2>&1 | sed -n 's/.*total heap usage: \([0-9,]*\) allocs.*/\1/p' | tr -d ,; }
        echo "${s%%=*} 1 $f $(( ($(a 101) - $(a 1)) / 100 ))" >> "$BENCH_WORK/parse.allocs"
    done; done
fi
python3 report.py "$BENCH_WORK"

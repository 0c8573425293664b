#!/bin/bash
# Builds every C program into $BENCH_BUILD and writes the signal files. Needs the packages that board/packages lists for the purpose bench.
. "$(dirname "$0")/env.sh"; cd "$BENCH_DIR"; set -e; B=$BENCH_BUILD
gcc -O2 -o $B/stamp lib/stamp.c
gcc -O2 -o $B/gensig vdev/gensig.c -lm 2>/dev/null; $B/gensig $B
gcc -O2 -Wall -fPIC -shared -o $B/libasound_module_pcm_vdev.so vdev/pcm_vdev.c -lasound -lm
for p in callgen floorphone; do gcc -O2 -w -o $B/$p callgen/$p.c -lopus -lsrtp2 -lspandsp -lm; done
gcc -O2 -w $([ -f /usr/include/openssl/evp.h ] && echo -DWITH_OPENSSL) -o $B/floors floors/floors.c -lopus -lsrtp2 -lspandsp -lm $([ -f /usr/include/openssl/evp.h ] && echo -lcrypto)

# shellcheck shell=bash
# Shared settings for every job. Source this file; override by exporting first.
BENCH_DIR=${BENCH_DIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
BENCH_WORK=${BENCH_WORK:-${TMPDIR:-/tmp}/bench-work}     # scratch: configs, logs, pids
BENCH_BUILD=${BENCH_BUILD:-$BENCH_WORK/build}             # compiled C programs
NS_SRV=${NS_SRV:-bsrv}        # registrar, SIPp, call generator live here
NS_DUT=${NS_DUT:-bdut}        # the contestant lives here
IP_SRV=${IP_SRV:-10.77.0.1}
IP_DUT=${IP_DUT:-10.77.0.2}
IP_DUT_ALT=${IP_DUT_ALT:-10.77.0.3}
REG_PORT=${REG_PORT:-5060}
REG_TLS_PORT=${REG_TLS_PORT:-5061}
DUT_PORT=${DUT_PORT:-5070}    # SIP port that the contestant must listen on
USER_BASE=${USER_BASE:-1000}  # accounts are 1000, 1001, ...
PASSWORD=${PASSWORD:-secret}
REALM=${REALM:-bench.test}
export BENCH_DIR BENCH_WORK BENCH_BUILD NS_SRV NS_DUT IP_SRV IP_DUT IP_DUT_ALT \
       REG_PORT REG_TLS_PORT DUT_PORT USER_BASE PASSWORD REALM
mkdir -p "$BENCH_WORK" "$BENCH_BUILD"
in_srv() { ip netns exec "$NS_SRV" "$@"; }
in_dut() { ip netns exec "$NS_DUT" "$@"; }

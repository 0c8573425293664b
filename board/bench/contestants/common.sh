# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/../lib/env.sh"
OPT_TRANSPORT=${OPT_TRANSPORT:-udp}; OPT_EXPIRES=${OPT_EXPIRES:-3600}; OPT_CODEC=${OPT_CODEC:-pcmu}
OPT_SRTP=${OPT_SRTP:-none}; OPT_AUTOANSWER=${OPT_AUTOANSWER:-1}; OPT_AUDIO=${OPT_AUDIO:-none}
OPT_OPUS_COMPLEXITY=${OPT_OPUS_COMPLEXITY:-5}; OPT_REG_HOST=${OPT_REG_HOST:-$IP_SRV}
# shellcheck disable=SC2034 # read by the adapters
case $OPT_TRANSPORT in tls) OPT_PORT=$REG_TLS_PORT ;; *) OPT_PORT=$REG_PORT ;; esac
# launch DIR CMD... : run CMD in $NS_DUT; the pid written is the contestant's own (ip netns exec and stamp both exec)
launch() {
    local d=$1; shift
    HOME=$d ALSA_CONFIG_PATH=$d/asound.conf VDEV_LOG=${VDEV_LOG-$d/vdev.log} VDEV_PCM=$BENCH_BUILD VDEV_SRC=${VDEV_SRC:-speech} \
    ip netns exec "$NS_DUT" "$BENCH_BUILD/stamp" "$d/exec_ts" $BENCH_WRAP "$@" </dev/null >"$d/log" 2>&1 &
    echo $! > "$d/pid"
}
end_pid() { # end_pid PID
    local p=$1
    [ -n "$p" ] || return 0
    kill "$p" 2>/dev/null
    for _ in $(seq 60); do kill -0 "$p" 2>/dev/null || return 0; sleep 0.05; done
    kill -9 "$p" 2>/dev/null; sleep 0.1
}
asound_conf() { # asound_conf DIR
    cat > "$1/asound.conf" <<EOT
pcm_type.vdev { lib "$BENCH_BUILD/libasound_module_pcm_vdev.so" }
pcm.vdev { type vdev hint { show on description "virtual clocked device" } }
pcm.!default { type plug slave.pcm "vdev" }
pcm.null { type null }
ctl.!default { type hw card 0 }
EOT
}

# shellcheck shell=bash disable=SC2154  # set by lab
# Durations of stages: expected ones from tools/stage_seconds.tsv, and those measured here in .lab/times.tsv.

stage_times=$lab/times.tsv
stage_name=''

# expected STAGE...: expected seconds of these stages together on two cores.
expected() {
    local stage sum=0
    for stage in "$@"; do
        ((sum += $(sed -n "s/^$stage\t//p" "$root/tools/stage_seconds.tsv")))
    done
    echo "$sum"
}

# begin_stage NAME: starts a stage; end_stage ends it.
begin_stage() { stage_name=$1 stage_began=${EPOCHREALTIME/[.,]/}; }

# end_stage [WHAT]: adds a line to .lab/times.tsv, with what was built or run.
end_stage() {
    [[ -n $stage_name ]] || return 0
    local tenths=$(((${EPOCHREALTIME/[.,]/} - stage_began) / 100000))
    printf '%s\t%d.%d\t%s\n' "$stage_name" $((tenths / 10)) $((tenths % 10)) "${1:-}" >>"$stage_times" || true
    stage_name=''
}

# show_times: prints a table of them, and the slowest tests.
show_times() { python3 "$root/tools/times_table.py" "$stage_times" "$lab/junit"; }

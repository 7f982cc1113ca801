# shellcheck shell=bash disable=SC2154  # what lab sets
# How long stages take: what is expected, from tools/stage_seconds.tsv, and what was measured here, in .lab/times.tsv.

stage_times=$lab/times.tsv
stage_name=''

# expected STAGE...: the seconds that these take together on two cores.
expected() {
    local stage sum=0
    for stage in "$@"; do
        ((sum += $(sed -n "s/^$stage\t//p" "$root/tools/stage_seconds.tsv")))
    done
    echo "$sum"
}

# begin_stage NAME: until end_stage.
begin_stage() { stage_name=$1 stage_began=${EPOCHREALTIME/[.,]/}; }

# end_stage [WHAT]: a line of .lab/times.tsv, which says what was built or run.
end_stage() {
    [[ -n $stage_name ]] || return 0
    local tenths=$(((${EPOCHREALTIME/[.,]/} - stage_began) / 100000))
    printf '%s\t%d.%d\t%s\n' "$stage_name" $((tenths / 10)) $((tenths % 10)) "${1:-}" >>"$stage_times" || true
    stage_name=''
}

# show_times: a table of them, and the tests that took longest.
show_times() { python3 "$root/tools/times_table.py" "$stage_times" "$lab/junit"; }

# shellcheck shell=bash
# Output of ./lab: messages go to stderr; color and a progress line that updates in place are used only on a terminal.

if [[ -t 2 && ${TERM:-dumb} != dumb ]]; then on_terminal=1; else on_terminal=; fi
bold='' red='' plain=''
if [[ -n $on_terminal && -z ${NO_COLOR:-} ]]; then
    bold=$'\e[1m' red=$'\e[31m' plain=$'\e[0m'
fi

say() { printf '%s\n' "$*" >&2; }
heading() { printf '%s%s%s\n' "$bold" "$*" "$plain" >&2; }

# fail CODE PART...: prints the message of a failure and exits. Codes: 2: the user must act first; 6: disk full.
fail() {
    local code=$1
    shift
    progress_clear
    printf '%slab:%s %s\n' "$red" "$plain" "$*" >&2
    exit "$code"
}

# duration SECONDS: rounded like an estimate, in words.
duration() {
    local seconds=$1
    if ((seconds < 90)); then
        echo "$((seconds < 1 ? 1 : seconds)) s"
    else
        echo "$(((seconds + 30) / 60)) min"
    fi
}

# Progress of one task: progress_start LABEL ESTIMATE (seconds), then progress_show PERCENT any number of times.
progress_start() {
    progress_label=$1 progress_estimate=$2 progress_began=$SECONDS progress_tenth=-1 progress_last=''
}

progress_show() {
    local percent=$(($1 > 100 ? 100 : $1)) elapsed=$((SECONDS - progress_began)) left
    [[ $progress_last != "$percent $elapsed" ]] || return 0
    progress_last="$percent $elapsed"
    # Below 10 %, the estimate is more reliable than the actual pace.
    if ((percent >= 10)); then
        left=$((elapsed * (100 - percent) / percent))
    else
        left=$((progress_estimate - elapsed))
    fi
    local line="    $progress_label: $percent %"
    ((left < 1 || percent == 100)) || line+=", about $(duration "$left") left"
    if [[ -n $on_terminal ]]; then
        printf '\r\e[K%s' "$line" >&2
    elif ((percent / 10 > progress_tenth)); then
        progress_tenth=$((percent / 10))
        say "$line"
    fi
}

progress_clear() { [[ -z $on_terminal ]] || printf '\r\e[K' >&2; }

# free_mebibytes FOLDER: free space of its file system.
free_mebibytes() { df -BM --output=avail -- "$1" | tail -n 1 | tr -dc 0-9; }

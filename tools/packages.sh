# shellcheck shell=bash disable=SC2154  # set by lab
# The system's part of the set-up: finds missing packages and installs them.

trainer_packages=(
    cmake ninja-build g++ pkgconf python3 python3-pip ca-certificates
    libeigen3-dev nlohmann-json3-dev libtomlplusplus-dev libboost-math-dev libcli11-dev
    libsentencepiece-dev libpcre2-dev libicu-dev libsodium-dev libhwy-dev libdnnl-dev libgtest-dev librapidcheck-dev)
window_packages=(qt6-base-dev qt6-svg-dev libqcustomplot-dev libgif-dev fonts-dejavu-core)
test_packages=(python3-numpy python3-scipy xvfb zsh fish groff-base dbus-daemon slurm-wlm munge)
sanitize_packages=(clang libclang-rt-dev llvm) # the sanitizers, libFuzzer; llvm-symbolizer for known leaks
package_packages=(dpkg-dev file)               # of ./lab package
baselines_packages=(python3-venv python3-dev)  # torch.compile compiles against Python's headers

# wanted_packages: those needed for this run of ./lab, one per line.
wanted_packages() {
    printf '%s\n' "${trainer_packages[@]}"
    [[ $preset == trainer ]] || printf '%s\n' "${window_packages[@]}"
    ! wants_tests && [[ $command != sanitize ]] || printf '%s\n' "${test_packages[@]}"
    [[ $command != sanitize && $command != fuzz ]] || printf '%s\n' "${sanitize_packages[@]}"
    [[ $command != package ]] || printf '%s\n' "${package_packages[@]}"
    [[ -z $baselines ]] || printf '%s\n' "${baselines_packages[@]}"
}

# find_missing_packages: fills missing_packages by a single dpkg-query, because ./lab run calls this every time.
find_missing_packages() {
    local wanted installed package
    mapfile -t wanted < <(wanted_packages)
    # shellcheck disable=SC2016  # dpkg-query's own fields
    installed=$'\n'$(dpkg-query -W -f='${db:Status-Status} ${Package} \n' "${wanted[@]}" 2>/dev/null) || true
    missing_packages=()
    for package in "${wanted[@]}"; do
        [[ $installed == *$'\n'"installed $package "* ]] || missing_packages+=("$package")
    done
}

# read_distribution: sets the distribution's name, version and relatives.
read_distribution() {
    distribution='' distribution_version='' distribution_like='' distribution_name='this system'
    [[ -r /etc/os-release ]] || return 0
    eval "$(
        . /etc/os-release
        printf 'distribution=%q distribution_version=%q distribution_like=%q distribution_name=%q' \
            "${ID:-}" "${VERSION_ID:-}" "${ID_LIKE:-}" "${PRETTY_NAME:-${ID:-this system}}"
    )"
}

is_debian_like() {
    [[ " $distribution $distribution_like " =~ \ (debian|ubuntu)\  ]] && command -v apt-get >/dev/null
}

# older_than VERSION LEAST: compares dotted version numbers.
older_than() { [[ $1 != "$2" && $(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1) == "$1" ]]; }

# too_old: whether the compiler or CMake of this Debian or Ubuntu is too old for the project. Debian testing has no
# version.
too_old() {
    [[ -n $distribution_version ]] || return 1
    case $distribution in
        debian) older_than "$distribution_version" 12 ;;
        ubuntu) older_than "$distribution_version" 24.04 ;;
        *) return 1 ;;
    esac
}

# tool_version TOOL: its version as dotted numbers, or nothing.
tool_version() { "$1" --version 2>/dev/null | sed -n '1s/^.* \([0-9][0-9.]*\).*$/\1/p'; }

# find_absent_tools: fills absent with tools that the build needs and this system lacks, however they would be
# installed.
find_absent_tools() {
    absent=()
    local version
    version=$(tool_version cmake)
    [[ -n $version ]] && ! older_than "$version" 3.25 || absent+=("CMake 3.25 or newer${version:+ (here is $version)}")
    version=$("${CXX:-c++}" -dumpversion 2>/dev/null) || version=''
    if [[ -z $version ]]; then
        absent+=("a C++ compiler (g++ 12 or newer)")
    elif [[ -z ${CXX:-} ]] && older_than "$version" 12; then
        absent+=("g++ 12 or newer (here is $version)")
    fi
    command -v ninja >/dev/null || absent+=("Ninja")
}

# find_absent_libraries: adds to absent, using pkg-config; only needed on systems whose package names are unknown.
find_absent_libraries() {
    local module modules=(eigen3 nlohmann_json tomlplusplus CLI11 sentencepiece libpcre2-8 icu-uc libsodium libhwy gtest)
    [[ $preset == trainer ]] || modules+=(Qt6Widgets Qt6Svg)
    if ! command -v pkg-config >/dev/null; then
        absent+=("pkg-config")
        return
    fi
    for module in "${modules[@]}"; do
        pkg-config --exists "$module" || absent+=("$module")
    done
}

# install_hint: the install command, or else the package names, for distributions on which ./lab does not install.
install_hint() {
    case " $distribution $distribution_like " in
        *" debian "* | *" ubuntu "*) echo "apt-get install $(wanted_packages | paste -sd ' '), in the versions of Debian 12" ;;
        *" fedora "* | *" rhel "*) echo "sudo dnf install cmake ninja-build gcc-c++ pkgconf-pkg-config python3-pip" \
            "python3-numpy python3-scipy eigen3-devel json-devel tomlplusplus-devel boost-devel cli11-devel gtest-devel" \
            "rapidcheck-devel sentencepiece-devel pcre2-devel libicu-devel libsodium-devel highway-devel onednn-devel" \
            "qt6-qtbase-devel qt6-qtsvg-devel qcustomplot-qt6-devel giflib-devel dejavu-sans-fonts xorg-x11-server-Xvfb" ;;
        *" arch "*) echo "sudo pacman -S --needed cmake ninja gcc pkgconf python-pip python-numpy python-scipy eigen" \
            "nlohmann-json boost tomlplusplus cli11 gtest rapidcheck sentencepiece pcre2 icu libsodium highway onednn" \
            "qt6-base qt6-svg qcustomplot giflib ttf-dejavu xorg-server-xvfb" ;;
        *suse*) echo "sudo zypper install cmake ninja gcc-c++ pkgconf python3-pip python3-numpy python3-scipy eigen3-devel" \
            "libboost_headers-devel nlohmann_json-devel tomlplusplus-devel cli11-devel gtest rapidcheck-devel" \
            "sentencepiece-devel pcre2-devel libicu-devel libsodium-devel highway-devel" \
            "onednn-devel qt6-base-devel qt6-svg-devel qcustomplot-devel giflib-devel dejavu-fonts xorg-x11-server-Xvfb" ;;
        *) echo "CMake 3.25, Ninja, g++ 12, Python 3 with pip, NumPy and SciPy, Eigen 3.4, Boost 1.74, nlohmann-json 3.11," \
            "toml++, CLI11, SentencePiece, PCRE2, ICU, libsodium, Highway, oneDNN, GoogleTest, RapidCheck," \
            "Qt 6.4 (base and SVG), QCustomPlot 2.1 for Qt 6, giflib, the DejaVu fonts, Xvfb" ;;
    esac
}

# require_foreign_tools: on such a system, continues if everything is there, else says what to install.
require_foreign_tools() {
    find_absent_tools
    find_python || absent+=("Python 3 with pip")
    find_absent_libraries
    ((${#absent[@]})) || return 0
    fail 2 "$distribution_name lacks: $(join ', ' "${absent[@]}"). ./lab itself installs packages on Debian 12, Ubuntu 24.04 and newer only.
Install these yourself (names may differ a little), then run ./lab again; --no-packages skips this check:
    $(install_hint)"
}

join() {
    local separator=$1 joined=$2 item
    shift 2
    for item in "$@"; do joined+=$separator$item; done
    echo "$joined"
}

# plan_packages: decides before anything is changed; fills missing_packages if apt-get must run.
plan_packages() {
    missing_packages=()
    read_distribution
    [[ -z $no_packages ]] || return 0
    if is_debian_like && ! too_old; then
        find_missing_packages
    else
        require_foreign_tools
    fi
}

# confirm_packages: asks before changing the system, unless --yes was given or the user is root.
confirm_packages() {
    local install="apt-get install --no-install-recommends ${missing_packages[*]}"
    as_root=()
    ((EUID == 0)) && return 0
    command -v sudo >/dev/null ||
        fail 2 "Packages are missing and there is no sudo. As root, run this, then ./lab again:
    $install"
    as_root=(sudo)
    [[ -z $yes ]] || return 0
    [[ -t 0 && -t 2 ]] || fail 2 "Packages are missing, and without a terminal ./lab cannot ask to install them. Run this, then ./lab again (or add --yes):
    sudo $install"
    say "These packages are missing: ${missing_packages[*]}"
    local answer
    read -r -p "Install them with sudo apt-get? [Y/n] " answer || answer=n
    case $answer in
        '' | [Yy]*) ;;
        *) fail 2 "Nothing was installed. When you are ready, run ./lab again, or this first:
    sudo $install" ;;
    esac
}

install_packages() {
    local log=$lab/packages.log apt
    # Waits for the lock, which a desktop's own updates hold for a while after booting.
    apt=("${as_root[@]}" env LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
        apt-get -y -q -o DPkg::Lock::Timeout=120)
    if ((EUID != 0)) && ! { if [[ -t 0 ]]; then sudo -v; else sudo -n true 2>/dev/null; fi; }; then
        fail 2 "sudo refused. As root, run this, then ./lab again:
    apt-get install --no-install-recommends ${missing_packages[*]}"
    fi
    progress_start "packages" "$packages_seconds"
    progress_show 0
    # A failed update is not fatal: a broken third-party source must not block packages of Debian itself.
    "${apt[@]}" update >"$log" 2>&1 </dev/null || true
    if ! "${apt[@]}" --no-install-recommends -o APT::Status-Fd=1 install "${missing_packages[@]}" 2>&1 </dev/null |
        tee -a "$log" | watch_apt; then
        explain_apt_failure "$log"
    fi
    progress_clear
}

# watch_apt: shows progress from apt-get's status lines (dlstatus during downloads, pmstatus while dpkg runs).
watch_apt() {
    local kind percent waiting='' _
    while IFS=: read -r kind _ percent _; do
        if [[ $kind == "Waiting for cache lock" && -z $waiting ]]; then
            waiting=1
            progress_clear
            say "    another program is using apt; waiting up to two minutes for it"
        fi
        percent=${percent%%.*}
        [[ $percent =~ ^[0-9]+$ ]] || continue
        case $kind in
            dlstatus) progress_show $((percent / 4)) ;;
            pmstatus) progress_show $((25 + percent * 3 / 4)) ;;
        esac
    done
}

apt_unreachable='Temporary failure resolving|Could not resolve|Could not connect|Unable to connect'
apt_unreachable+='|Network is unreachable|Connection (failed|timed out)'

explain_apt_failure() {
    local log=$1
    if grep -qE 'Could not get lock|Unable to lock|Unable to acquire the dpkg' "$log"; then
        fail 1 "apt is in use by another program (a system update, perhaps). Let it finish and run ./lab again."
    elif grep -qE "enough free space|No space left on device" "$log"; then
        fail 6 \
            "The disk is full: the packages need about 1.5 GB under /usr and /var. Free some space and run ./lab again;" \
            "it continues from there."
    elif grep -qE "$apt_unreachable" "$log"; then
        fail 1 \
            "The package servers cannot be reached: is this computer online, and does it need a proxy? Then run ./lab" \
            "again; it continues from there."
    elif grep -qE 'Unable to locate package|has no installation candidate' "$log"; then
        fail 2 \
            "$distribution_name does not offer:" \
            "$(sed -nE "s/^E: (Unable to locate package |Package '?)([^' ]+).*/\2/p" "$log" | sort -u | paste -sd ' ')." \
            "Is its main (on Ubuntu: universe) section enabled? Otherwise install these some other way and use" \
            "--no-packages."
    elif grep -qE 'dpkg was interrupted' "$log"; then
        fail 1 \
            "An earlier installation on this system was interrupted. Run: sudo dpkg --configure -a, then ./lab" \
            "again."
    fi
    tail -n 5 "$log" | sed 's/^/    /' >&2
    fail 1 \
        "apt-get could not install the packages (the end of its output is above, all of it in $log). Fix this, then" \
        "run ./lab again."
}

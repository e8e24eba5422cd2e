#!/usr/bin/env bash
# Everything that must hold before a change lands: formatting, lints, tests,
# documentation, and a short run of the first scene.
set -euo pipefail
cd "$(dirname "$0")"

run() {
    echo "== $*"
    "$@"
}

# The viewer's tests drive a real window on a virtual screen. Install what they need where
# that is possible; otherwise they say what is missing and are skipped.
screen_tools() {
    command -v Xvfb && command -v xdotool && command -v xwd &&
        ls /usr/share/vulkan/icd.d/*.json
} >/dev/null 2>&1
if ! screen_tools && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "== installing a virtual screen and a software graphics driver"
    packages=(xvfb xdotool x11-apps mesa-vulkan-drivers libxkbcommon-x11-0 libxcursor1
        libxi6 libxrandr2 libx11-xcb1)
    if ! { apt-get update -q && apt-get install -qy --no-install-recommends "${packages[@]}"; } \
        >/dev/null 2>&1; then
        echo "could not install: ${packages[*]}"
    fi
fi
if screen_tools; then
    export PLIANT_NEEDS_DISPLAY=1
else
    echo "skipping the tests of the viewer's window: Xvfb, xdotool, xwd or a Vulkan driver is missing"
fi

run cargo fmt --all --check
run cargo clippy --workspace --all-targets --features pliant-cli/view --locked -- -D warnings
run cargo test --workspace --features pliant-cli/view --locked
# Without the viewer the program must build, too.
run cargo clippy -p pliant-cli --locked -- -D warnings
RUSTDOCFLAGS="-D warnings" run cargo doc --workspace --no-deps --locked --features pliant-cli/view

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
run cargo run --release --locked -- run colon --duration 0.3 --out "$out/colon" --quiet --json
for file in summary.json series.csv energy.png stages.png particles.pvd checkpoint.pliant \
    frames/frame_00003.png data/particles_00003.vtu; do
    test -s "$out/colon/$file" || { echo "missing: $file"; exit 1; }
done
grep -q '"leaked": 0' "$out/colon/summary.json" || { echo "the colon leaks"; exit 1; }
echo "all checks passed"

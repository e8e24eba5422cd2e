#!/usr/bin/env bash
# Everything that must hold before a change lands: formatting, lints, tests,
# documentation, and a short run of the first scene.
set -euo pipefail
cd "$(dirname "$0")"

run() {
    echo "== $*"
    "$@"
}

run cargo fmt --all --check
run cargo clippy --workspace --all-targets --locked -- -D warnings
run cargo test --workspace --locked
RUSTDOCFLAGS="-D warnings" run cargo doc --workspace --no-deps --locked

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
run cargo run --release --locked -- run colon --duration 0.3 --out "$out/colon" --quiet --json
for file in summary.json series.csv energy.png stages.png particles.pvd checkpoint.pliant \
    frames/frame_00003.png data/particles_00003.vtu; do
    test -s "$out/colon/$file" || { echo "missing: $file"; exit 1; }
done
grep -q '"leaked": 0' "$out/colon/summary.json" || { echo "the colon leaks"; exit 1; }
echo "all checks passed"

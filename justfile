# The commands of daily work. Everything here also works typed by hand.

# What a change must pass before it is pushed: the same script that the pipeline runs.
ci:
    .ci/run

# Format, lints and documentation, without tests.
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --locked -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --locked

# All tests, or those whose name contains a word.
test *name:
    cargo test --workspace -- {{ name }}

# Look at changed snapshots and accept or refuse each (needs cargo-insta).
snap:
    cargo insta test --workspace --review

# Micro-benchmarks; figures worth keeping go to docs/benchmarks.md.
bench *name:
    cargo bench --workspace -- {{ name }}

# A server with the example site on port 8080.
serve:
    cargo run --release -- serve --data ./cms-data --apply fixtures/project.yaml --import fixtures/content

# Licences, sources and advisories of the dependencies (needs cargo-deny).
deny:
    cargo deny check

# Every fuzz target for so many seconds (needs cargo-fuzz).
fuzz seconds="60":
    fuzz/run {{ seconds }}

# Shortcuts for common commands, which also work typed by hand.

# Run all checks of a change, as the CI does
ci:
    .ci/run

# Check format, lints and documentation, without tests
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --locked -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --locked

# Run all tests, or those whose name contains a word
test *name:
    cargo test --workspace -- {{ name }}

# Review changed snapshots (needs cargo-insta)
snap:
    cargo insta test --workspace --review

# Run the micro-benchmarks; record figures in docs/benchmarks.md
bench *name:
    cargo bench --workspace -- {{ name }}

# Start a server with the example site on port 8080
serve:
    cargo run --release -- serve --data ./cms-data --apply fixtures/project.yaml --import fixtures/content

# Check licences, sources and advisories of the dependencies (needs cargo-deny)
deny:
    cargo deny check

# Run all fuzz targets for a number of seconds each (needs cargo-fuzz)
fuzz seconds="60":
    fuzz/run {{ seconds }}

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

# Run the tests of a single server with writes on one node of a cluster and reads on another, except tests that
# depend on the state of one process or on a paused clock (needs CMS_TEST_POSTGRES, CMS_TEST_S3 and HAProxy)
two-nodes:
    CMS_TEST_CLUSTER=2 cargo test --package cms-server --test it -- --skip stream_ends_with_an_idle_session \
        --skip stream_sends_presence --skip persisted_query_is_found_by_its_hash \
        --skip route_has_the_expected_status_for_each_caller --skip file_of_the_wrong_size \
        --skip image_is_available_as_long_as_its_file --skip stalled_upload --skip new_users_get_the_mapped_role \
        --skip sign_in_links_the_user --skip metrics_count --skip large_bodies --skip rate_limit_returns_429 \
        --skip readiness_lists --skip slow_body --skip presence:: --skip running_server_publishes \
        --skip session_ends_by_time --skip issuer_that_does_not_respond --skip sign_in_limits::
    CMS_TEST_CLUSTER=2 cargo test --package cms-cli --test e2e

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

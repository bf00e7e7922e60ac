//! Image URLs.

#![no_main]

use std::sync::LazyLock;

use cms_core::testing::Site;

static SITE: LazyLock<Site> = LazyLock::new(Site::new);

libfuzzer_sys::fuzz_target!(|text: &str| {
    SITE.show(text);
});

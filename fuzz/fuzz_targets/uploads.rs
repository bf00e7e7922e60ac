//! Uploaded files: detection of their type and size, and rendering.

#![no_main]

libfuzzer_sys::fuzz_target!(|content: &[u8]| cms_core::testing::read_image(content));

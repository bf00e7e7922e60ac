//! Uploaded files: what they are, what they say of their size, and pictures made of them.

#![no_main]

libfuzzer_sys::fuzz_target!(|content: &[u8]| cms_core::testing::read_picture(content));

//! JPEG files, decoded at an eighth of their size, and small ones at a quarter and half.

#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    // Memory grows with the size that the header names.
    if cms_jpeg::decode(file, 1).is_some_and(|pixels| pixels.len() < 1_000_000) {
        cms_jpeg::decode(file, 2);
        cms_jpeg::decode(file, 4);
    }
});

//! Untrusted files, for tests and fuzzing.

use cms_model::media::{
    render::{RenderFormat, RenderSpec, SourceLimits},
    transform::{self, Size, Trim},
};

use crate::{animation, media_type, pipeline, svg};

const SOURCES: [RenderFormat; 5] = [
    RenderFormat::Jpeg,
    RenderFormat::Png,
    RenderFormat::Webp,
    RenderFormat::Gif,
    RenderFormat::Bmp,
];

/// Treats any bytes as an uploaded file: reads all its properties, and renders it as each format
/// that it may claim.
///
/// # Panics
/// If a rendered image does not have the planned size; and where the tested code panics.
pub fn read_image(content: &[u8]) {
    let detected = media_type::detect(content, "name", None);
    animation::is_animated(&detected, content);
    svg::dimensions(content);
    pipeline::measure(content);
    // Small, so that slow or large results are noticed.
    let limits =
        SourceLimits { side: 4000, pixels: 250_000, memory: 8_000_000, ..SourceLimits::default() };
    // The last bytes select the crop, size and format: decoders rarely use these bytes.
    let byte = |at: usize| content.iter().rev().nth(at).copied().map_or(0, u32::from);
    for source in SOURCES {
        let trim = Trim { top: byte(0) / 16, left: Some(byte(1) / 16), ..Trim::default() };
        let mut planned = None;
        let spec = |size: Size| {
            let output =
                Size { width: size.width.div_ceil(1 + byte(2) % 16), height: byte(3) % 64 };
            let trim = Some(&trim).filter(|_| byte(0) > 100);
            let plan = transform::resize_plan(size, trim, output, None)?;
            planned = plan.map(|plan| plan.output);
            let format = if byte(4) % 2 == 0 { RenderFormat::Jpeg } else { RenderFormat::Bmp };
            Ok(plan.map(|plan| RenderSpec { plan, format, quality: 85 }))
        };
        if let Ok(Some(rendered)) = pipeline::render(content, source, spec, &limits) {
            assert_eq!(pipeline::measure(&rendered), planned, "rendered from {source:?}");
        }
    }
}

//! The format of a response: the query parameters `format` and `quality`, and `Accept`.

use super::{render::RenderFormat, transform::Size};
use crate::{error::FieldErrors, limits, message};

const AUTO: &str = "auto";
/// The values of `format`, in the order of the error message.
pub const FORMATS: [&str; 5] = ["webp", "avif", "jpeg", "png", AUTO];

/// The requested format and quality.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Output {
    format: FormatChoice,
    pub quality: Option<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum FormatChoice {
    /// The format of the stored file.
    #[default]
    Stored,
    Auto,
    Format(RenderFormat),
}

impl Output {
    /// Parses the two parameters; empty ones count as absent.
    pub fn parse(format: Option<&str>, quality: Option<&str>) -> Result<Self, FieldErrors> {
        let mut errors = FieldErrors::default();
        let format = match format.unwrap_or_default() {
            "" => FormatChoice::Stored,
            AUTO => FormatChoice::Auto,
            "webp" => FormatChoice::Format(RenderFormat::Webp),
            "avif" => FormatChoice::Format(RenderFormat::Avif),
            "jpeg" | "jpg" => FormatChoice::Format(RenderFormat::Jpeg),
            "png" => FormatChoice::Format(RenderFormat::Png),
            _ => {
                errors.add("format", message::not_in_enumeration(&FORMATS));
                FormatChoice::Stored
            }
        };
        let quality = quality.filter(|text| !text.is_empty()).and_then(|text| {
            let number = text.parse().ok().filter(|number| (1..=100).contains(number));
            if number.is_none() {
                errors.add("quality", message::NOT_VALID);
            }
            number
        });
        if errors.is_empty() { Ok(Self { format, quality }) } else { Err(errors) }
    }

    /// Whether the response depends on `Accept`.
    pub fn varies(self) -> bool {
        self.format == FormatChoice::Auto
    }

    /// The format of the response for an image of at most this size.
    pub fn format(self, accept: Option<&str>, stored: RenderFormat, size: Size) -> RenderFormat {
        match self.format {
            FormatChoice::Stored => stored,
            FormatChoice::Format(format) => format,
            FormatChoice::Auto => {
                let accept = accept.unwrap_or_default();
                let best = [RenderFormat::Avif, RenderFormat::Webp];
                let mut best = best.into_iter().filter(|&format| is_suited(format, size));
                best.find(|&format| accepts(accept, format)).unwrap_or(stored)
            }
        }
    }
}

/// Whether `auto` may choose a format: AVIF takes seconds for large images, so clients have to
/// request it.
fn is_suited(format: RenderFormat, size: Size) -> bool {
    let pixels = u64::from(size.width) * u64::from(size.height);
    size.width.max(size.height) <= format.longest_side()
        && (format != RenderFormat::Avif || pixels <= limits::MAX_AUTO_AVIF_PIXELS)
}

/// Whether `Accept` names a format. `image/*` does not count: such clients may support old formats
/// only.
fn accepts(accept: &str, format: RenderFormat) -> bool {
    accept.split(',').any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_named =
            parts.next().is_some_and(|name| name.eq_ignore_ascii_case(format.media_type()));
        let is_refused = |part: &str| {
            let weight = part.strip_prefix("q=").or_else(|| part.strip_prefix("Q="));
            weight.is_some_and(|weight| weight.parse() == Ok(0.0))
        };
        is_named && !parts.any(is_refused)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SMALL: Size = Size { width: 10, height: 10 };

    #[test]
    fn format_follows_the_request() {
        let browser = "image/avif,image/webp,image/apng,image/*,*/*;q=0.8";
        let cases = [
            (None, browser, RenderFormat::Png),
            (Some(""), browser, RenderFormat::Png),
            (Some("webp"), "", RenderFormat::Webp),
            (Some("avif"), "", RenderFormat::Avif),
            (Some("jpg"), "", RenderFormat::Jpeg),
            (Some("png"), "image/jpeg", RenderFormat::Png),
            (Some("auto"), browser, RenderFormat::Avif),
            (Some("auto"), "image/avif;q=0, Image/WebP ;q=0.5", RenderFormat::Webp),
            (Some("auto"), "image/webp;q=0.000,image/avif; q=0.0", RenderFormat::Png),
            (Some("auto"), "image/*,*/*", RenderFormat::Png),
            (Some("auto"), "", RenderFormat::Png),
        ];
        for (format, accept, expected) in cases {
            let output = Output::parse(format, None).unwrap();
            assert_eq!(
                output.format(Some(accept), RenderFormat::Png, SMALL),
                expected,
                "{format:?} {accept}"
            );
            assert_eq!(output.varies(), format == Some("auto"));
        }
    }

    #[test]
    fn format_depends_on_the_size() {
        let accept = Some("image/avif,image/webp");
        let format = |format, width, height| {
            let output = Output::parse(Some(format), None).unwrap();
            output.format(accept, RenderFormat::Jpeg, Size { width, height })
        };
        assert_eq!(format("auto", 2000, 1000), RenderFormat::Avif);
        assert_eq!(format("auto", 2000, 1001), RenderFormat::Webp);
        assert_eq!(format("auto", 20, 16_384), RenderFormat::Avif);
        assert_eq!(format("auto", 200, 16_384), RenderFormat::Jpeg);
        assert_eq!(format("auto", 20, 40_000), RenderFormat::Jpeg);
        assert_eq!(format("avif", 2000, 1001), RenderFormat::Avif);
    }

    #[test]
    fn errors_are_reported_together() {
        assert_eq!(Output::parse(None, Some("100")).unwrap().quality, Some(100));
        for quality in ["0", "101", "-1", "85.5", "high", "999999999999"] {
            let errors = Output::parse(Some("tiff"), Some(quality)).unwrap_err();
            let message =
                r#"Does not have a value in the enumeration ["webp","avif","jpeg","png","auto"]"#;
            let expected = json!({"format": [message], "quality": ["This value is not valid."]});
            assert_eq!(serde_json::to_value(errors).unwrap(), expected);
        }
    }
}

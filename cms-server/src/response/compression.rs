//! Compression of responses: negotiating the content coding, and compressing.
//!
//! Response bodies are complete here, so they are compressed on the thread that rendered them and
//! keep a known length. The compression levels are the fast ones, which cost no throughput.

use std::io::Write;

use axum::http::{HeaderMap, header};
use flate2::{Compression, write::GzEncoder};

/// Smaller bodies fit one packet uncompressed.
pub(crate) const MIN_COMPRESSED_BYTES: usize = 1024;

const BROTLI_QUALITY: u32 = 1;
const BROTLI_WINDOW_BITS: u32 = 20;
const BROTLI_BUFFER_BYTES: usize = 16 * 1024;

/// A content coding that the server can produce. Its number is an index of [`PerCoding`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Brotli,
    Gzip,
}

/// A value for each [`Coding`].
pub(crate) type PerCoding<T> = [T; 2];

impl Coding {
    /// Returns the coding that the client prefers; none for identity.
    pub(crate) fn preferred(headers: &HeaderMap) -> Option<Self> {
        let [brotli, gzip] = weights(headers);
        if brotli > 0.0 && brotli >= gzip {
            Some(Self::Brotli)
        } else {
            (gzip > 0.0).then_some(Self::Gzip)
        }
    }

    /// Returns whether the client accepts this coding.
    pub(crate) fn is_accepted(self, headers: &HeaderMap) -> bool {
        weights(headers)[self as usize] > 0.0
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    pub(crate) fn compress(self, body: &[u8]) -> Vec<u8> {
        let compressed = Vec::with_capacity(body.len() / 3);
        match self {
            Self::Brotli => {
                let mut writer = brotli::CompressorWriter::new(
                    compressed,
                    BROTLI_BUFFER_BYTES,
                    BROTLI_QUALITY,
                    BROTLI_WINDOW_BITS,
                );
                writer.write_all(body).expect("writing to memory does not fail");
                writer.into_inner()
            }
            Self::Gzip => {
                let mut writer = GzEncoder::new(compressed, Compression::fast());
                writer
                    .write_all(body)
                    .and_then(|()| writer.finish())
                    .expect("writing to memory does not fail")
            }
        }
    }
}

/// Returns the weights of brotli and gzip in `Accept-Encoding`; 0 is not acceptable.
fn weights(headers: &HeaderMap) -> PerCoding<f32> {
    let (mut brotli, mut gzip, mut other) = (None, None, None);
    let values = headers.get_all(header::ACCEPT_ENCODING).iter();
    for item in values.filter_map(|v| v.to_str().ok()).flat_map(|v| v.split(',')) {
        let (name, weight) = item.split_once(';').unwrap_or((item, ""));
        let weight = weight.trim().strip_prefix("q=").map_or(1.0, |q| q.parse().unwrap_or(0.0));
        let name = name.trim();
        if name.eq_ignore_ascii_case("br") {
            brotli = Some(weight);
        } else if name.eq_ignore_ascii_case("gzip") || name.eq_ignore_ascii_case("x-gzip") {
            gzip = Some(weight);
        } else if name == "*" {
            other = Some(weight);
        }
    }
    let weight = |named: Option<f32>| named.or(other).unwrap_or(0.0);
    [weight(brotli), weight(gzip)]
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn coding_is_negotiated() {
        use Coding::{Brotli, Gzip};
        let cases = [
            ("", None),
            ("identity", None),
            ("gzip", Some(Gzip)),
            ("gzip, deflate, br", Some(Brotli)),
            ("br;q=0.5, gzip", Some(Gzip)),
            ("br;q=0, gzip;q=0", None),
            ("*", Some(Brotli)),
            ("br;q=0,*;q=0.1", Some(Gzip)),
            ("identity;q=0, *;q=0", None),
            ("br;q=x", None),
            ("BR ; q=1", Some(Brotli)),
        ];
        for (value, wanted) in cases {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(value));
            assert_eq!(Coding::preferred(&headers), wanted, "{value}");
        }
        assert_eq!(Coding::preferred(&HeaderMap::new()), None);
    }

    #[test]
    fn compressed_body_can_be_decompressed() {
        let body = r#"{"title":"a title","n":1}"#.repeat(400).into_bytes();
        let mut gzip = Vec::new();
        flate2::read::GzDecoder::new(&Coding::Gzip.compress(&body)[..])
            .read_to_end(&mut gzip)
            .unwrap();
        assert_eq!(gzip, body);
        let mut plain = Vec::new();
        brotli::Decompressor::new(&Coding::Brotli.compress(&body)[..], 4096)
            .read_to_end(&mut plain)
            .unwrap();
        assert_eq!(plain, body);
    }
}

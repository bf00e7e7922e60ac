//! Parsers for values of settings: sizes with units, listen addresses.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Units of sizes and their bytes: SI units are decimal, IEC units (with an `i`) binary.
const UNITS: [(&str, u64); 14] = [
    ("", 1),
    ("B", 1),
    ("k", 1_000),
    ("kB", 1_000),
    ("Ki", 1 << 10),
    ("KiB", 1 << 10),
    ("M", 1_000_000),
    ("MB", 1_000_000),
    ("Mi", 1 << 20),
    ("MiB", 1 << 20),
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
    ("TB", 1_000_000_000_000),
    ("TiB", 1 << 40),
];

/// Parses a size such as `1048576`, `64MB` or `1.5 GiB` into bytes.
pub(super) fn size(text: &str) -> Result<u64, String> {
    exact_size(text.trim()).ok_or_else(|| {
        "use bytes, or a number with a unit such as 64MB (decimal) or 64MiB (binary)".to_owned()
    })
}

/// Parses a size that must fit the address space.
pub(super) fn memory_size(text: &str) -> Result<usize, String> {
    usize::try_from(size(text)?)
        .map_err(|_| "the size exceeds the address space of this machine".to_owned())
}

/// Parses the maximum size of a request body. With 0, the server would refuse all writes.
pub(super) fn body_limit(text: &str) -> Result<usize, String> {
    match memory_size(text)? {
        0 => Err("use at least 1 byte".to_owned()),
        bytes => Ok(bytes),
    }
}

/// Parses the memory budget for responses. Under a smaller budget than `MIN_BYTES`, the server would
/// refuse ordinary responses.
pub(super) fn response_memory(text: &str) -> Result<usize, String> {
    const MIN_BYTES: usize = 16 * 1024 * 1024;
    match memory_size(text)? {
        bytes @ ..MIN_BYTES => Err(format!("{bytes} bytes are too few, use at least 16MiB")),
        bytes => Ok(bytes),
    }
}

/// Parses the origin of a front end.
pub(super) fn origin(text: &str) -> Result<String, String> {
    cms_core::parse_origin(text.trim())
        .ok_or_else(|| "use http://HOST or https://HOST, with a port if there is one".to_owned())
}

fn exact_size(text: &str) -> Option<u64> {
    let is_numeric = |c: char| c.is_ascii_digit() || c == '.';
    let (number, unit) = text.split_at(text.find(|c: char| !is_numeric(c)).unwrap_or(text.len()));
    let unit = unit.trim_start();
    let (_, bytes) = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    if decimals.is_empty() {
        return None;
    }
    let scale = 10_u128.checked_pow(u32::try_from(decimals.len()).ok()?)?;
    let digits = u128::from(whole.parse::<u64>().ok()?);
    let units = digits.checked_mul(scale)?.checked_add(decimals.parse().ok()?)?;
    u64::try_from(units.checked_mul(u128::from(*bytes))? / scale).ok()
}

/// Parses a listen address. Without a host, or with `localhost`, only this machine can connect: a
/// server is never exposed to the network by default.
pub(super) fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
    let address = match (host, port.parse::<u16>()) {
        ("" | "localhost", Ok(port)) => {
            Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port))
        }
        _ => text.parse().ok(),
    };
    address.ok_or_else(|| {
        "use an address with a port: 127.0.0.1:8080, [::1]:8080, localhost:8080, :8080 or 8080 for \
         this machine only, 0.0.0.0:8080 for all networks"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_units_are_decimal_and_binary() {
        for (text, bytes) in [
            ("0", 0),
            ("1048576", 1_048_576),
            ("1B", 1),
            ("64MB", 64_000_000),
            ("64 MiB", 64 << 20),
            ("64mb", 64_000_000),
            ("64M", 64_000_000),
            ("64Mi", 64 << 20),
            ("10kB", 10_000),
            ("10 KiB", 10_240),
            ("1GB", 1_000_000_000),
            ("1.5GiB", 3 << 29),
            ("0.25 TiB", 1 << 38),
            (" 2 GB ", 2_000_000_000),
            ("1.0000000000000000GB", 1_000_000_000),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in [
            "",
            "MB",
            "-1",
            "64XB",
            "1.",
            ".5GB",
            "1.5.1kB",
            "1,5GB",
            "0x10",
            "17000000 TiB",
            "18446744073709551615.999999999999 TiB",
            "1.00000000000000000000000000000000000000000 GB",
            "1e9",
        ] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn listen_addresses_without_a_host_are_loopback() {
        for (text, address) in [
            ("127.0.0.1:8080", "127.0.0.1:8080"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("[::1]:8080", "[::1]:8080"),
            ("[::]:8080", "[::]:8080"),
            ("localhost:8080", "127.0.0.1:8080"),
            (":8080", "127.0.0.1:8080"),
            ("8080", "127.0.0.1:8080"),
            ("0", "127.0.0.1:0"),
        ] {
            assert_eq!(listen_address(text).unwrap().to_string(), address, "{text}");
        }
        for text in
            ["", ":", "here", "localhost", "127.0.0.1", "65536", "cms.example:80", "::1:80 "]
        {
            assert!(listen_address(text).is_err(), "{text}");
        }
    }
}

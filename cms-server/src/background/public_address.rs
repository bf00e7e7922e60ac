//! Which addresses a webhook may have: those of the public internet.
//!
//! Who may write webhooks must not be able to reach what only this machine, or its network, can
//! reach. Names are judged by what they resolve to, see [`super::client`].

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Tells whether an address is one of the public internet.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    // This network, private ones, those of providers, and loopback.
    let is_private =
        matches!((a, b), (0 | 10 | 127, _) | (172, 16..=31) | (192, 168) | (100, 64..=127));
    // Where clouds keep what machines know of themselves.
    let is_link_local = (a, b) == (169, 254);
    // Protocols, documentation, the old relays to IPv6, and measurements.
    let is_reserved = matches!(
        (a, b, c),
        (192, 0, 0 | 2) | (198, 51, 100) | (203, 0, 113) | (192, 88, 99) | (198, 18..=19, _)
    );
    // Multicast, what is kept for later, and broadcast.
    let is_no_host = a >= 224;
    !(is_private || is_link_local || is_reserved || is_no_host)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    match segments {
        // Addresses that stand for one of IPv4.
        [0, 0, 0, 0, 0, 0xffff | 0, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_public_v4(embedded(high, low))
        }
        [0x2002, high, low, ..] => is_public_v4(embedded(high, low)),
        // Tunnels, protocols and documentation.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
        // Only these are given out; all else is private, link-local, multicast or unknown.
        [0x2000..=0x3fff, ..] => true,
        _ => false,
    }
}

fn embedded(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from((u32::from(high) << 16) | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_internet_are_public() {
        for (address, expected) in [
            ("93.184.216.34", true),
            ("1.1.1.1", true),
            ("172.15.0.1", true),
            ("172.32.0.1", true),
            ("100.63.0.1", true),
            ("223.255.255.255", true),
            ("127.0.0.1", false),
            ("127.255.0.3", false),
            ("0.0.0.0", false),
            ("10.1.2.3", false),
            ("172.16.0.1", false),
            ("172.31.255.255", false),
            ("192.168.1.1", false),
            ("169.254.169.254", false),
            ("100.100.100.200", false),
            ("192.0.0.1", false),
            ("192.0.2.1", false),
            ("198.18.0.1", false),
            ("224.0.0.1", false),
            ("240.0.0.1", false),
            ("255.255.255.255", false),
            ("2606:2800:220:1::1", true),
            ("2a00:1450:4001::1", true),
            ("::1", false),
            ("::", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:1.1.1.1", true),
            ("::127.0.0.1", false),
            ("64:ff9b::10.0.0.1", false),
            ("64:ff9b::1.1.1.1", true),
            ("2002:7f00:1::", false),
            ("2001::1", false),
            ("2001:db8::1", false),
            ("fe80::1", false),
            ("fc00::1", false),
            ("fd12::1", false),
            ("ff02::1", false),
            ("fec0::1", false),
        ] {
            assert_eq!(is_public(address.parse().unwrap()), expected, "{address}");
        }
    }
}

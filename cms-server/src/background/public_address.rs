//! The IP addresses to which webhooks are sent: only public ones.
//!
//! Otherwise a key that may write webhooks could send requests to services of this machine or its
//! network. [`super::webhook_client`] checks the addresses that a host name resolves to.

use std::net::{IpAddr, Ipv4Addr};

/// Returns whether an address is public.
pub(super) fn is_globally_routable(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address.segments()),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    // This network, private networks, carrier-grade NAT, and loopback.
    let is_private =
        matches!((a, b), (0 | 10 | 127, _) | (172, 16..=31) | (192, 168) | (100, 64..=127));
    // Metadata services of clouds.
    let is_link_local = (a, b) == (169, 254);
    // Protocol assignments, documentation, 6to4 relays, and benchmarks.
    let is_reserved = matches!(
        (a, b, c),
        (192, 0, 0 | 2) | (198, 51, 100) | (203, 0, 113) | (192, 88, 99) | (198, 18..=19, _)
    );
    // Multicast, reserved, and broadcast.
    let is_no_unicast = a >= 224;
    !(is_private || is_link_local || is_reserved || is_no_unicast)
}

fn is_public_v6(segments: [u16; 8]) -> bool {
    match segments {
        // IPv4 addresses in IPv6.
        [0, 0, 0, 0, 0, 0xffff | 0, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_public_v4(embedded(high, low))
        }
        [0x2002, high, low, ..] => is_public_v4(embedded(high, low)),
        // Tunnels, protocol assignments and documentation.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
        // Global unicast; all other addresses are private, link-local, multicast or unassigned.
        [first, ..] => (0x2000..=0x3fff).contains(&first),
    }
}

fn embedded(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from((u32::from(high) << 16) | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_address_excludes_private_and_reserved_ones() {
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
            assert_eq!(is_globally_routable(address.parse().unwrap()), expected, "{address}");
        }
    }
}

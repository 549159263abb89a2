//! Decides which addresses are public. All others are refused, with the name of their
//! kind; an IPv6 address that only embeds an IPv4 one is judged by the embedded address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 networks that are not public: network, length of its prefix, name of its kind.
const V4: &[(Ipv4Addr, u32, &str)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 32, "an unspecified address"),
    (Ipv4Addr::new(0, 0, 0, 0), 8, "an address of this network"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "a private address"),
    (Ipv4Addr::new(100, 100, 100, 200), 32, "a cloud metadata address"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "a carrier's private address"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "a loopback address"),
    (Ipv4Addr::new(168, 63, 129, 16), 32, "a cloud metadata address"),
    (Ipv4Addr::new(169, 254, 169, 254), 32, "a cloud metadata address"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "a link-local address"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "a private address"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "a reserved address"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "a documentation address"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "a reserved address"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "a private address"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "a benchmarking address"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "a documentation address"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "a documentation address"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "a multicast address"),
    (Ipv4Addr::new(255, 255, 255, 255), 32, "a broadcast address"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "a reserved address"),
];

/// IPv6 networks with a name of their own; an address in none of them must be global unicast.
const V6: &[(u128, u32, &str)] = &[
    (0, 128, "an unspecified address"),
    (1, 128, "a loopback address"),
    (0, 96, "an obsolete IPv4-compatible address"),
    (0x0064_ff9b_0001 << 80, 48, "an address of a local translator"),
    (0x0100 << 112, 64, "a discard address"),
    (0x2001_0002 << 96, 48, "a benchmarking address"),
    (0x2001_0010 << 96, 28, "an identifier, not an address"),
    (0x2001_0020 << 96, 28, "an identifier, not an address"),
    (0x2001_0db8 << 96, 32, "a documentation address"),
    (0x3fff << 112, 20, "a documentation address"),
    (0xfc00 << 112, 7, "a private address"),
    (0xfe80 << 112, 10, "a link-local address"),
    (0xfec0 << 112, 10, "a private address"),
    (0xff00 << 112, 8, "a multicast address"),
];

/// `2000::/3`, where the public addresses are.
const GLOBAL: (u128, u32) = (0x2000 << 112, 3);
/// `::ffff:0:0/96`, IPv4 as IPv6 programs see it.
const MAPPED: (u128, u32) = (0xffff << 32, 96);
/// `::ffff:0:0:0/96` and `64:ff9b::/96`, IPv4 behind a translator.
const TRANSLATED: [(u128, u32); 2] = [(0xffff << 48, 96), (0x0064_ff9b << 96, 96)];
/// `2002::/16`, IPv6 in IPv4.
const SIX_TO_FOUR: (u128, u32) = (0x2002 << 112, 16);
/// `2001::/32`, IPv6 in UDP: the relay's address, and the client's inverted.
const TEREDO: (u128, u32) = (0x2001 << 112, 32);
/// The upper half of an interface that carries an IPv4 address in its lower.
const ISATAP: [u32; 2] = [0x0000_5efe, 0x0200_5efe];

/// Returns the kind of an address that is not public; `None` for a public one.
pub(super) fn not_public(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => v4(address),
        IpAddr::V6(address) => v6(address),
    }
}

fn v4(address: Ipv4Addr) -> Option<&'static str> {
    let bits = u32::from(address);
    let within =
        |network: Ipv4Addr, prefix: u32| (bits ^ u32::from(network)).checked_shr(32 - prefix).unwrap_or(0) == 0;
    V4.iter().find(|(network, prefix, _)| within(*network, *prefix)).map(|(_, _, word)| *word)
}

fn v6(address: Ipv6Addr) -> Option<&'static str> {
    let bits = u128::from(address);
    let named = V6.iter().find(|(network, prefix, _)| within(bits, (*network, *prefix)));
    let carried = || carried(bits).into_iter().flatten().find_map(v4);
    named.map(|(_, _, word)| *word).or_else(carried).or_else(|| {
        let public = within(bits, GLOBAL) || within(bits, MAPPED) || TRANSLATED.iter().any(|net| within(bits, *net));
        (!public).then_some("not a public address")
    })
}

/// Returns the IPv4 addresses that an IPv6 address embeds.
fn carried(bits: u128) -> [Option<Ipv4Addr>; 2] {
    let at = |shift: u32| Some(Ipv4Addr::from(lower(bits >> shift)));
    let interface = lower(bits >> 32);
    if within(bits, MAPPED) || TRANSLATED.iter().any(|network| within(bits, *network)) || ISATAP.contains(&interface) {
        [at(0), None]
    } else if within(bits, SIX_TO_FOUR) {
        [at(80), None]
    } else if within(bits, TEREDO) {
        [at(64), Some(Ipv4Addr::from(!lower(bits)))]
    } else {
        [None, None]
    }
}

fn within(bits: u128, (network, prefix): (u128, u32)) -> bool {
    (bits ^ network).checked_shr(128 - prefix).unwrap_or(0) == 0
}

fn lower(bits: u128) -> u32 {
    u32::try_from(bits & u128::from(u32::MAX)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_neighbours_of_every_refused_network_are_public() {
        for text in [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.0.3.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "198.51.99.255",
            "198.51.101.0",
            "203.0.112.255",
            "203.0.114.0",
            "223.255.255.255",
            "168.63.129.15",
            "168.63.129.17",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "2a00::1",
            "2001:db7::1",
            "2001:db9::1",
            "3ffe::1",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2002:808:808::1",
        ] {
            assert_eq!(not_public(text.parse().unwrap()), None, "{text}");
        }
    }

    #[test]
    fn an_address_is_judged_by_the_one_it_carries() {
        for (text, word) in [
            ("::ffff:127.0.0.1", "a loopback address"),
            ("::ffff:0:10.0.0.1", "a private address"),
            ("64:ff9b::169.254.169.254", "a cloud metadata address"),
            ("2002:7f00:1::1", "a loopback address"),
            ("2002:c0a8:101::1", "a private address"),
            // The client 192.168.1.1, inverted, behind a public relay.
            ("2001:0:808:808:0:0:3f57:fefe", "a private address"),
            // A public client behind a relay at 10.0.0.1.
            ("2001:0:a00:1:0:0:f7f7:f7f7", "a private address"),
            ("2a00::5efe:10.0.0.1", "a private address"),
            ("2a00::200:5efe:127.0.0.1", "a loopback address"),
            ("::8.8.8.8", "an obsolete IPv4-compatible address"),
            ("4000::1", "not a public address"),
        ] {
            assert_eq!(not_public(text.parse().unwrap()), Some(word), "{text}");
        }
    }
}

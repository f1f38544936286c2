//! Which encodings of an answer a client takes.

use axum::body::Bytes;

/// From this size on an answer is compressed: below it, it fits into one packet of the network either way.
const MIN_COMPRESSED: usize = 1_400;
/// The level at which an answer is compressed: fast, since each is compressed anew.
const LEVEL: i32 = 1;

/// Whether a client takes zstd, by its `Accept-Encoding` (RFC 9110, section 12.5.3): a weight of zero refuses it.
pub(super) fn accepts_zstd(accepted: &str) -> bool {
    accepted.split(',').any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let is_zstd = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("zstd"));
        let is_refused = |part: &str| {
            let weight = part.split_once('=').filter(|(name, _)| name.trim().eq_ignore_ascii_case("q"));
            weight.and_then(|(_, text)| text.trim().parse::<f32>().ok()).is_some_and(|weight| weight <= 0.0)
        };
        is_zstd && !parts.any(is_refused)
    })
}

/// The compressed form of an answer, where its client takes one and it is shorter.
pub(super) fn compressed(answer: &[u8], accepted: Option<&str>) -> Option<Bytes> {
    if answer.len() < MIN_COMPRESSED || !accepted.is_some_and(accepts_zstd) {
        return None;
    }
    zstd::bulk::compress(answer, LEVEL).ok().filter(|packed| packed.len() < answer.len()).map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_says_whether_it_takes_zstd() {
        for taken in ["zstd", "gzip, deflate, br, zstd", "br;q=1, ZSTD;q=0.5", "zstd ; q=0.001"] {
            assert!(accepts_zstd(taken), "{taken}");
        }
        for refused in ["", "gzip", "zstd;q=0", "zstd; Q=0.000, br", "x-zstd", "*"] {
            assert!(!accepts_zstd(refused), "{refused}");
        }
    }

    #[test]
    fn only_a_long_answer_is_compressed_and_only_for_who_takes_it() {
        let long = "the tax is rounded half up; ".repeat(100);
        let packed = compressed(long.as_bytes(), Some("zstd")).expect("it is long");
        assert!(packed.len() < long.len() / 10);
        assert_eq!(zstd::bulk::decompress(&packed, long.len()).expect("whole"), long.as_bytes());
        for (answer, accepted) in
            [(long.as_str(), None), (long.as_str(), Some("br")), ("short", Some("zstd"))]
        {
            assert_eq!(compressed(answer.as_bytes(), accepted), None);
        }
    }
}

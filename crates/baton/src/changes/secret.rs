//! Whether a file that git does not know holds a secret, and where.

use super::put_away::top_path_word;
use super::text_encoding::{decode, is_utf_16};

/// Git takes a file for binary that has a NUL among so many first bytes.
const BINARY_PROBE_BYTES: usize = 8000;

/// What looks like a secret in a file.
pub(super) struct Secret {
    kind: &'static str,
    position: SecretPosition,
}

/// Where it stands.
enum SecretPosition {
    /// The line of a text, from 1.
    Line(usize),
    /// The byte of what is no text, from 0.
    Byte(usize),
}

impl Secret {
    /// The first one. Bytes that are no text hold every short pattern sooner or later, so that only those are looked for there that
    /// nothing has by chance.
    pub(super) fn find(bytes: &[u8]) -> Option<Self> {
        let redactor = baton_redact::shared();
        let is_binary = bytes.iter().take(BINARY_PROBE_BYTES).any(|byte| *byte == 0);
        if is_binary && !is_utf_16(bytes) {
            let plain = String::from_utf8_lossy(bytes);
            let found = redactor.first_unmistakable(&plain)?;
            return Some(Self { kind: found.kind, position: SecretPosition::Byte(byte_of(bytes, found.at)) });
        }
        // Bytes that only look like UTF-16 are looked through as they are, too.
        for text in [String::from_utf8_lossy(bytes), decode(bytes)] {
            if let Some(found) = redactor.first(&text) {
                let line = text.as_bytes()[..found.at].iter().filter(|byte| **byte == b'\n').count() + 1;
                return Some(Self { kind: found.kind, position: SecretPosition::Line(line) });
            }
        }
        None
    }

    /// Why the file does not travel, in a clause that follows its path, and how it does.
    pub(super) fn reason(&self, path: &str) -> String {
        let place = match self.position {
            SecretPosition::Line(line) => format!("in line {line}"),
            SecretPosition::Byte(byte) => format!("at byte {byte}"),
        };
        let kind = self.kind;
        format!(
            "holds what looks like a secret ({kind} {place}): it travels once it was added where it lies, `git add {}`",
            top_path_word(path, "")
        )
    }
}

/// The byte of a file that stands at a byte of its text, in which each fault has become a sign of three bytes.
fn byte_of(bytes: &[u8], at: usize) -> usize {
    let (mut of_text, mut of_file) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid().len();
        if at < of_text + valid {
            return of_file + at - of_text;
        }
        of_text += valid + char::REPLACEMENT_CHARACTER.len_utf8();
        of_file += valid + chunk.invalid().len();
    }
    of_file
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes as by chance, the same for the same seed.
    fn noise(seed: u64, len: usize) -> Vec<u8> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut bytes = Vec::with_capacity(len + 8);
        while bytes.len() < len {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            bytes.extend(state.wrapping_mul(0x2545_f491_4f6c_dd1d).to_le_bytes());
        }
        bytes.truncate(len);
        bytes
    }

    #[test]
    fn bytes_by_chance_hold_no_secret() {
        for seed in 1..=20 {
            let found = Secret::find(&noise(seed, 1_000_000)).map(|secret| secret.reason("x"));
            assert_eq!(found, None, "seed {seed}");
        }
    }

    #[test]
    #[ignore = "three hundred megabytes"]
    fn a_hundred_files_of_three_megabytes_by_chance_hold_no_secret() {
        for seed in 1..=100 {
            let found = Secret::find(&noise(seed, 3_000_000)).map(|secret| secret.reason("x"));
            assert_eq!(found, None, "seed {seed}");
        }
    }

    #[test]
    fn a_key_is_found_among_bytes_and_its_place_is_that_of_the_file() {
        let token = ["ghp", "_aB3dE5gH7jK9mN1p", "Q3sT5vW7yZ9bC1dE3fG5"].concat();
        let key = ["-----BEGIN OPENSSH", " PRIVATE", " KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n"].concat();
        for secret in [&key, &token] {
            let mut bytes = noise(7, 5000);
            bytes.extend(b"\0\xff ");
            bytes.extend(secret.as_bytes());
            bytes.push(0);
            bytes.extend(noise(8, 5000));
            let reason = Secret::find(&bytes).expect("a secret").reason("a file");
            assert!(
                reason.contains(
                    "at byte 5003): it travels once it was added where it lies, `git add ':/a file'`"
                ),
                "{reason}"
            );
        }
    }

    #[test]
    fn a_text_names_the_line_in_whatever_encoding() {
        let text = ["A=1\nOPENAI_API_KEY=", "sk-proj", "-aB3dE5gH7jK9", "mN1pQ3sT5vW7yZ9b\n"].concat();
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        for bytes in [text.as_bytes(), &wide] {
            let reason = Secret::find(bytes).expect("a secret").reason(".env");
            assert!(reason.contains("in line 2"), "{reason}");
        }
    }
}

//! Names of the files that an application of changes writes beside those whose places they take.

const BEGIN: &str = ".baton-apply-";
const END: &str = ".tmp";

/// The name of the N-th file while it is written.
pub fn temporary_name(n: usize) -> String {
    format!("{BEGIN}{n}{END}")
}

/// Whether a path ends with such a name.
pub fn is_temporary(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let number = name.strip_prefix(BEGIN.as_bytes()).and_then(|rest| rest.strip_suffix(END.as_bytes()));
    number.is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_name_that_an_application_gives_is_temporary() {
        assert!(is_temporary(format!("a/b/{}", temporary_name(12)).as_bytes()));
        for other in
            ["a/.baton-apply-.tmp", ".baton-apply-x.tmp", ".baton-apply-1.tmp/a", "x.baton-apply-1.tmp", ""]
        {
            assert!(!is_temporary(other.as_bytes()), "{other}");
        }
    }
}

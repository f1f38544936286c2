//! Addresses of files.

/// The path in a `file:` address.
pub(crate) fn path(uri: &str) -> String {
    let path = uri.strip_prefix("file://").unwrap_or(uri);
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = tail.get(..2).filter(|_| *first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_out_of_an_address() {
        for (uri, wanted) in
            [("file:///w/my%20shop", "/w/my shop"), ("/w/a%b", "/w/a%b"), ("file:///w/%c3%a4%", "/w/ä%")]
        {
            assert_eq!(path(uri), wanted);
        }
    }
}

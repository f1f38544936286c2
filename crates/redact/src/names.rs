//! Names that are a secret's as a whole: `DB_PASSWORD`, `clientSecret`, `secret-key`.

/// How names of secrets end, in lower case without `_` and `-`.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "passwort",
    "pwd",
    "psk",
    "secret",
    "secretkey",
    "apikey",
    "accesskey",
    "privatekey",
    "authkey",
    "encryptionkey",
    "signingkey",
    "masterkey",
    "sharedkey",
    "accountkey",
    "secretkeybase",
    "apitoken",
    "bottoken",
    "authtoken",
    "accesstoken",
    "refreshtoken",
    "bearertoken",
    "sessiontoken",
];

/// Names that begin so are of a switch, a label or a function.
const SWITCHES: &[&str] = &[
    "reset", "forgot", "has", "is", "no", "not", "show", "hide", "require", "need", "allow", "enable",
    "disable", "confirm", "validate", "check", "verify", "use", "hash", "encrypt", "change", "update", "set",
    "get", "min", "max", "invalid", "wrong", "missing", "bad", "with", "label", "ask", "prompt", "err",
    "toggle", "generate",
];

/// What a name says about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It is a secret.
    Named,
    /// `pass`, `pw`: words that mean other things as well.
    Short,
}

/// The kind of a name, if it is that of a secret as a whole.
pub(crate) fn kind_of(name: &str) -> Option<Kind> {
    let name = name.trim_start_matches('-');
    let flat: String = name
        .bytes()
        .filter(|byte| !matches!(byte, b'_' | b'-'))
        .map(|b| b.to_ascii_lowercase() as char)
        .collect();
    if matches!(flat.as_str(), "pass" | "pw") {
        return Some(Kind::Short);
    }
    (NAMES.iter().any(|end| flat.ends_with(end)) && !is_switch(name)).then_some(Kind::Named)
}

/// Whether the first word of a name makes of it a switch, a label or a function: `resetPassword`, `is_secret`. A name
/// without signs and capitals shows no words; there the longer ones count.
fn is_switch(name: &str) -> bool {
    let bytes = name.as_bytes();
    let humps = |at: &usize| bytes[*at].is_ascii_uppercase() && bytes[*at - 1].is_ascii_lowercase();
    let border = (1..bytes.len()).find(|at| matches!(bytes[*at], b'_' | b'-') || humps(at));
    let first = name[..border.unwrap_or(name.len())].to_ascii_lowercase();
    match border {
        Some(_) => SWITCHES.contains(&first.as_str()),
        None => SWITCHES.iter().any(|word| word.len() > 3 && first.starts_with(word)),
    }
}

//! The two classes of names of secrets.

/// What kind of name it is: passwords may be short and human, tokens are long and random.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SecretClass {
    /// `password` and its kin.
    Password,
    /// `token`, `api_key` and their kin.
    Token,
}

impl SecretClass {
    /// What it is called in the replacement.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            SecretClass::Password => "password",
            SecretClass::Token => "secret",
        }
    }
}

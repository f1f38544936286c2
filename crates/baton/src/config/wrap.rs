//! `[wrap]`: what a wrap takes along.

use baton_model::id::visible;
use baton_model::refusal::Refusal;

/// Whether what is not committed goes with a baton that does not say so itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ChangesMode {
    /// It stays; at a terminal a hint names it.
    #[default]
    Ask,
    /// It goes with every baton, those that hooks keep too.
    Always,
    /// It stays, and nothing is said of it.
    Never,
}

impl ChangesMode {
    /// Its word in a settings file.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Always => "always",
            Self::Never => "never",
        }
    }

    pub(super) fn read(text: Option<String>) -> Result<Self, Refusal> {
        match text.as_deref().map(str::trim) {
            None | Some("ask") => Ok(Self::Ask),
            Some("always") => Ok(Self::Always),
            Some("never") => Ok(Self::Never),
            Some(other) => {
                let what = format!("`wrap.changes` is `{}`", visible(other));
                Err(Refusal::invalid("config_invalid", what, "write it as ask, always or never"))
            }
        }
    }
}

//! Names and ids: what a project or an identity may be called, and how ids are made from given randomness.

use crate::refusal::Refusal;
use crate::time::Millis;

/// The identity of a caller that names none. It may be active any number of times at once.
pub const BOT: &str = "Bot";

/// The name under which Baton itself writes.
pub const SYSTEM: &str = "Baton";

/// Prefix of the name of a token that acts under no identity. No identity holds a colon, so the name cannot clash with
/// one.
pub const TOKEN: &str = "token:";

/// How many random bytes one id takes.
pub const ID_RANDOM: usize = 10;

/// Refuses the name of Baton itself to a caller from outside: what it wrote would pass for Baton's words.
pub fn require_not_system(name: &str) -> Result<(), Refusal> {
    if identity_key(name) != identity_key(SYSTEM) {
        return Ok(());
    }
    let what = format!("`{name}` is the name under which Baton itself writes");
    Err(Refusal::invalid("identity_invalid", what, "take another name").with("identity", name))
}

/// A new UUIDv7: sorts by time, unique by randomness.
pub fn new_id(now: Millis, random: &[u8; ID_RANDOM]) -> String {
    let millis = u64::try_from(now).unwrap_or_default();
    uuid::Builder::from_unix_timestamp_millis(millis, random).into_uuid().hyphenated().to_string()
}

/// A UUIDv4, for programs that take no newer version: unique by randomness alone.
pub fn random_id(random: &[u8; 16]) -> String {
    uuid::Builder::from_random_bytes(*random).into_uuid().hyphenated().to_string()
}

/// A short lower-case base-36 id of `length` characters made from randomness, as trackers show them.
pub fn short_random_id(random: u64, length: usize) -> String {
    let mut rest = random;
    let mut text = String::with_capacity(length);
    for _ in 0..length {
        let digit = u32::try_from(rest % 36).unwrap_or_default();
        text.push(char::from_digit(digit, 36).unwrap_or('0'));
        rest /= 36;
    }
    text
}

/// The start of an id that is shown to people. A UUIDv7 begins with its millisecond, which is 13 characters.
pub fn short(id: &str) -> &str {
    id.get(..13).unwrap_or(id)
}

/// Checks a project id: `[a-z0-9][a-z0-9._-]{0,63}`.
pub fn check_project(name: &str) -> Result<(), Refusal> {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-');
    if matches(name, good, |c| c.is_ascii_lowercase() || c.is_ascii_digit()) {
        return Ok(());
    }
    Err(Refusal::invalid(
        "project_invalid",
        format!("`{}` is not a project id", visible(name)),
        "use 1 to 64 of a-z, 0-9, `.`, `_` and `-`, beginning with a letter or digit",
    )
    .with("project_id", name))
}

/// Checks an identity: `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
pub fn check_identity(name: &str) -> Result<(), Refusal> {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if matches(name, good, |c| c.is_ascii_alphanumeric()) {
        return Ok(());
    }
    if name.get(..TOKEN.len()).is_some_and(|start| start.eq_ignore_ascii_case(TOKEN)) {
        return Err(Refusal::invalid(
            "identity_invalid",
            format!("`{}` is a token without an identity, which nobody addresses by its name", visible(name)),
            "answer what it sent with `baton mail send --reply-to MESSAGE`, or ask for a token made with `baton token create --identity NAME`",
        )
        .with("identity", name));
    }
    Err(Refusal::invalid(
        "identity_invalid",
        format!("`{}` is not an identity", visible(name)),
        "use 1 to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or digit",
    )
    .with("identity", name))
}

/// Checks a free label such as a tag, a role or a phase: one line, 1 to 64 characters, no control characters.
pub fn check_label(what: &'static str, name: &str) -> Result<(), Refusal> {
    if !name.trim().is_empty() && name.chars().count() <= 64 && !name.chars().any(char::is_control) {
        return Ok(());
    }
    Err(Refusal::invalid(
        "label_invalid",
        format!("`{}` is not a usable {what}", visible(name)),
        "use one line of at most 64 characters",
    ))
}

/// The form under which identities are compared: without case.
pub fn identity_key(name: &str) -> String {
    name.to_ascii_lowercase()
}

/// The name of an actor whom another tool calls by any text: of what is no letter, digit, `.`, `_` or `-`, each becomes `-`.
pub fn actor_name(text: &str) -> String {
    Some(plain_name(text)).filter(|name| !name.is_empty()).unwrap_or_else(|| BOT.to_owned())
}

fn plain_name(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = text.chars().map(plain).take(64).collect();
    name.trim_start_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned()
}

/// The form under which an assignee is compared with an identity: a file may name them by any text (`Ann Bee` for `Ann-Bee`).
pub fn assignee_key(name: &str) -> String {
    let plain = plain_name(name);
    // A token acts under its own name only, and a name of which no letter is left equals no other name.
    identity_key(if name.starts_with(TOKEN) || plain.is_empty() { name } else { &plain })
}

/// Whether this is a name that may be active any number of times: `Bot`, or that of a token.
pub fn is_shared_name(name: &str) -> bool {
    name.eq_ignore_ascii_case(BOT) || name.starts_with(TOKEN)
}

/// Who a caller is in a sentence that is said to it: one that gave no name is not called by the one that stands for none.
pub fn caller_name(identity: &str) -> String {
    if identity.eq_ignore_ascii_case(BOT) { "an unnamed caller".to_owned() } else { visible(identity) }
}

/// A slug for a project made from a folder or repository name; `None` when nothing usable is left.
pub fn slug(name: &str) -> Option<String> {
    let mut text = String::new();
    for c in name.chars().flat_map(char::to_lowercase) {
        if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') {
            text.push(c);
        } else if !text.ends_with('-') {
            text.push('-');
        }
    }
    let text: String = text.trim_matches(|c: char| !c.is_ascii_alphanumeric()).chars().take(64).collect();
    check_project(&text).ok().map(|()| text)
}

/// What does not show made visible, so that a name with a newline or an override cannot break a line of an answer.
pub fn visible(text: &str) -> String {
    crate::printable::line(text).into_owned()
}

fn matches(name: &str, rest: impl Fn(char) -> bool, first: impl Fn(char) -> bool) -> bool {
    name.len() <= 64 && name.starts_with(first) && name.chars().all(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time() {
        let early = new_id(1_000, &[0xff; 10]);
        let late = new_id(1_001, &[0; 10]);
        assert!(early < late, "{early} {late}");
        assert_eq!(early.len(), 36);
        assert_eq!(&early[14..15], "7");
    }

    #[test]
    fn an_id_for_older_programs_is_of_version_4() {
        for random in [[0; 16], [0xff; 16]] {
            let id = random_id(&random);
            assert_eq!((id.len(), &id[14..15]), (36, "4"), "{id}");
            assert!(matches!(&id[19..20], "8" | "9" | "a" | "b"), "{id}");
        }
        assert_ne!(random_id(&[1; 16]), random_id(&[2; 16]));
    }

    #[test]
    fn identities_refuse_what_could_break_a_line() {
        for good in ["Donna", "BlueLake", "a", "a.b_c-9"] {
            assert!(check_identity(good).is_ok(), "{good}");
        }
        for bad in ["", "a b", "Donna\n", "-x", "ä", &"x".repeat(65)] {
            assert_eq!(check_identity(bad).expect_err(bad).code, "identity_invalid");
        }
        assert!(!check_identity("Don\nna").expect_err("newline").message.contains('\n'));
    }

    #[test]
    fn slugs_come_from_folder_names() {
        assert_eq!(slug("My Repo (2)").as_deref(), Some("my-repo-2"));
        assert_eq!(slug("..."), None);
        assert_eq!(slug("Ünï"), Some("n".into()));
        assert!(check_project("Upper").is_err());
    }

    #[test]
    fn short_hashes_have_their_length() {
        assert_eq!(short_random_id(u64::MAX, 8).len(), 8);
        assert_eq!(short_random_id(0, 3), "000");
    }
}

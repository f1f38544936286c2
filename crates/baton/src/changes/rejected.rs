//! Why git takes the objects of captured changes for invalid, in words.

use std::collections::BTreeSet;

use super::Fault;

/// The fault behind what git wrote when it checked the objects: what they hold that no working copy may hold, else damage.
pub(super) fn fault_of(output: &str) -> Fault {
    let reasons: BTreeSet<String> = output.lines().filter_map(reason).collect();
    match reasons.is_empty() {
        true => Fault::Invalid("their content is damaged".to_owned()),
        false => Fault::Rejected(reasons.into_iter().collect()),
    }
}

/// The reason in a line `error: object ID: CODE: DETAIL`.
fn reason(line: &str) -> Option<String> {
    let (_, rest) = line.strip_prefix("error: object ")?.split_once(": ")?;
    let (code, detail) = rest.split_once(": ")?;
    let what = match code {
        "hasDot" | "hasDotdot" | "hasDotgit" | "fullPathname" | "emptyName" => "a file name that git forbids",
        _ if code.starts_with("gitmodules") => "`.gitmodules`",
        _ if code.starts_with("gitattributes") => "`.gitattributes`",
        _ => "an object that is malformed",
    };
    // Git's quotes are written as ours.
    Some(format!("{what} ({})", detail.replace('\'', "`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_refuses_is_named_without_its_own_words_for_the_check() {
        let output = "error: object 0b63: gitmodulesUrl: disallowed submodule url: -u./foo\n\
            error: object c209: hasDotgit: contains '.git'\nfatal: fsck error in packed object\n";
        let fault = fault_of(output);
        assert_eq!(
            fault.to_string(),
            "git refuses what these changes hold: `.gitmodules` (disallowed submodule url: -u./foo), a file name that git forbids (contains `.git`)"
        );
        assert!(fault.hint().contains("baton changes keep"), "{}", fault.hint());
    }

    #[test]
    fn what_is_cut_or_altered_is_damage() {
        for output in [
            "fatal: early EOF\n",
            "error: inflate: data stream error\nfatal: pack has bad object at offset 12\n",
            "",
        ] {
            let fault = fault_of(output);
            assert!(matches!(&fault, Fault::Invalid(_)), "{fault}");
            assert_eq!(fault.to_string(), "the captured changes are not valid: their content is damaged");
        }
    }
}

//! A command line out of the words of a tool's table.
//!
//! | word | becomes |
//! | --- | --- |
//! | `{prompt}`, `{prompt:-i}` | the prompt, after the flag if one is named; nothing without a prompt |
//! | `{file:--read}` | the file of the document, after the flag; nothing where there is none |
//! | `{folder:--add-dir}` | the folder of that file, after the flag; nothing where there is none |
//! | `{cwd:-C}` | the folder to work in, after the flag |
//! | `{mode}` | the flags of the manner it is to run in |
//! | `{more}` | what the user adds; where no word says so, that stands last |
//! | `{id}` | the session, anywhere in a word |

use std::path::Path;

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use baton_tools::launch::Launch;

use super::deliver::Prompt;

/// What fills the words.
pub(crate) struct Call<'a> {
    /// What is said first.
    pub prompt: Option<&'a Prompt>,
    /// The session to take up.
    pub session: Option<&'a str>,
    /// The flags of the manner.
    pub mode: &'a [&'a str],
    /// The folder to work in.
    pub cwd: &'a Path,
    /// What the user adds.
    pub more: &'a [String],
}

/// Characters of a session's id that another tool made.
const MAX_ID_LEN: usize = 200;

/// Refuses an id from a file that no tool makes: what begins with a dash would be taken for a flag, and what is no plain word
/// for whatever the tool makes of it.
pub(crate) fn check_session(id: &str) -> Result<(), Refusal> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    let begins = id.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    if begins && id.len() <= MAX_ID_LEN && id.chars().all(plain) && !id.contains("..") {
        return Ok(());
    }
    let shown: String = visible(id).chars().take(80).collect();
    Err(Refusal::new(
        Kind::Refused,
        "session_id_unusable",
        format!("the transcript calls its session `{shown}`, which is no id that a tool is called with"),
        "continue it in a new session with --fresh",
    ))
}

/// The arguments, without the program. Of what is filled in nothing begins with a dash, so nothing is taken for a flag.
pub(crate) fn argv(words: &[&str], call: &Call<'_>) -> Result<Vec<String>, Refusal> {
    let mut args = Vec::new();
    for word in words {
        let hole = word.strip_prefix('{').and_then(|word| word.strip_suffix('}'));
        let parts = hole.map(|hole| hole.split_once(':').unwrap_or((hole, "")));
        let (name, flag) = parts.unwrap_or_default();
        let file = call.prompt.and_then(|prompt| prompt.file.as_deref());
        let value = match name {
            "prompt" => call.prompt.map(|prompt| no_flag(&prompt.text)),
            "file" => file.map(path_text),
            "folder" => file.and_then(Path::parent).map(path_text),
            "cwd" => Some(path_text(call.cwd)),
            "mode" => {
                args.extend(call.mode.iter().map(|flag| (*flag).to_owned()));
                None
            }
            "more" => {
                args.extend(call.more.iter().cloned());
                None
            }
            _ if word.contains("{id}") => {
                let session = call.session.unwrap_or_default();
                // A path that we wrote ourselves names a session, too.
                if !Path::new(session).is_absolute() {
                    check_session(session)?;
                }
                Some(word.replace("{id}", session))
            }
            _ => Some((*word).to_owned()),
        };
        let Some(value) = value else { continue };
        if !flag.is_empty() {
            args.push(flag.to_owned());
        }
        args.push(value);
    }
    if !words.contains(&"{more}") {
        args.extend(call.more.iter().cloned());
    }
    Ok(args)
}

/// A text that no tool takes for a flag: what begins with a dash gets a space before it.
fn no_flag(text: &str) -> String {
    if text.starts_with('-') { format!(" {text}") } else { text.to_owned() }
}

/// The flags that hand variables on, for a tool that needs them.
pub(crate) fn vars_as_flags(launch: &Launch, vars: &[(&'static str, String)]) -> Vec<String> {
    let Some((flag, word)) = launch.vars else { return Vec::new() };
    let pair = |(name, value): &(&str, String)| {
        // A text in JSON is one in TOML, too.
        let value = serde_json::Value::from(value.as_str()).to_string();
        [flag.to_owned(), word.replace("{name}", name).replace("{value}", &value)]
    };
    vars.iter().flat_map(pair).collect()
}

fn path_text(path: &Path) -> String {
    let text = path.display().to_string();
    if text.starts_with('-') { format!("./{text}") } else { text }
}

/// A command line that a POSIX shell reads back as these words, run in this folder.
pub(crate) fn shell_line(cwd: &Path, program: &str, args: &[String]) -> String {
    let mut line = format!("cd {} && {}", quoted(&path_text(cwd)), quoted(program));
    for arg in args {
        line.push(' ');
        line.push_str(&quoted(arg));
    }
    line
}

/// A word as a shell takes it literally.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &[&str], prompt: Option<&Prompt>, expected: &[&str]) {
        let call = Call {
            prompt,
            session: Some("s1"),
            mode: &["--yolo"],
            cwd: Path::new("/w/p"),
            more: &["--model".to_owned(), "m".to_owned()],
        };
        let expected: Vec<&str> = expected.iter().copied().chain(["--model", "m"]).collect();
        assert_eq!(argv(words, &call).expect("plain words"), expected, "{words:?}");
    }

    #[test]
    fn words_are_filled_in() {
        let prompt = Prompt { text: "go on".into(), file: None };
        let read = Prompt { text: "read it".into(), file: Some("/d/h/x.md".into()) };
        check(&["{mode}", "{prompt}"], Some(&prompt), &["--yolo", "go on"]);
        check(&["{prompt:-i}", "{folder:--add-dir}"], Some(&prompt), &["-i", "go on"]);
        check(&["{prompt}", "{folder:--add-dir}"], Some(&read), &["read it", "--add-dir", "/d/h"]);
        check(&["{file:--read}"], Some(&read), &["--read", "/d/h/x.md"]);
        check(&["resume", "{id}", "{prompt:-i}"], None, &["resume", "s1"]);
        check(&["--resume={id}", "{cwd:-C}"], None, &["--resume=s1", "-C", "/w/p"]);
    }

    #[test]
    fn what_the_user_adds_stands_where_the_words_say() {
        let prompt = Prompt { text: "go on".into(), file: None };
        let more = ["--model".to_owned(), "m".to_owned()];
        let call = Call {
            prompt: Some(&prompt),
            session: None,
            mode: &["--yolo"],
            cwd: Path::new("/"),
            more: &more,
        };
        assert_eq!(
            argv(&["{mode}", "{more}", "{prompt:-p}"], &call).expect("plain words"),
            ["--yolo", "--model", "m", "-p", "go on"]
        );
    }

    #[test]
    fn nothing_that_is_filled_in_becomes_a_flag() {
        let prompt = Prompt { text: "--dangerously-skip-permissions".into(), file: Some("-x/y.md".into()) };
        for one in baton_tools::launchers() {
            let (tool, launch) = (one.tool, one.launch);
            let headless = launch.headless.as_ref();
            let [begun, resumed] = [
                headless.map(|headless| headless.words).unwrap_or_default(),
                headless.map(|headless| headless.resume).unwrap_or_default(),
            ];
            for words in [launch.start, launch.resume, begun, resumed] {
                let with = |session| {
                    let cwd = Path::new("--evil");
                    argv(
                        words,
                        &Call { prompt: Some(&prompt), session: Some(session), mode: &[], cwd, more: &[] },
                    )
                };
                let flags: Vec<&str> =
                    words.iter().flat_map(|word| word.trim_matches(['{', '}']).split(':')).collect();
                let args = with("0199aaaa-0000").expect("a plain id");
                for arg in args.iter().filter(|arg| arg.starts_with('-')) {
                    let known = flags.iter().any(|flag| arg == flag || flag.starts_with("--resume={"));
                    assert!(known, "{}: {arg} of {args:?}", tool.id);
                }
                for id in
                    ["--dangerously-skip-permissions", "-p", "", "a b", "a\nb", "../x", "$(x)", "a/../b", "ü"]
                {
                    let refused = with(id).map_err(|refusal| refusal.code);
                    let takes_one = words.iter().any(|word| word.contains("{id}"));
                    assert_eq!(refused.is_err(), takes_one, "{}: {id:?}", tool.id);
                }
            }
        }
    }

    #[test]
    fn the_ids_that_tools_make_are_taken() {
        for id in [
            "0199aaaa-0000-7000-8000-000000000001",
            "ses_4f2A",
            "T-0b1c",
            "20261122_103000",
            "1763805000123",
            "a.b:c",
        ] {
            assert_eq!(check_session(id), Ok(()), "{id}");
        }
        assert_eq!(
            check_session(&"x".repeat(201)).map_err(|refusal| refusal.code),
            Err("session_id_unusable")
        );
    }

    #[test]
    fn a_prompt_that_looks_like_a_hole_stays_as_it_is() {
        let prompt = Prompt { text: "{id} {mode}".into(), file: None };
        check(&["{prompt}"], Some(&prompt), &["{id} {mode}"]);
    }

    #[test]
    fn a_shell_reads_the_same_words_back() {
        let args = ["it's", "", "a\nb", "$HOME `x` \"y\" \\", "-C", "plain/x.rs", "*"].map(str::to_owned);
        let line = shell_line(Path::new("/"), "printf", &[&["%s|".to_owned()], &args[..]].concat());
        let output = std::process::Command::new("sh").args(["-c", &line]).output().expect("sh runs");
        let expected: String = args.iter().map(|arg| format!("{arg}|")).collect();
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{line}");
    }
}

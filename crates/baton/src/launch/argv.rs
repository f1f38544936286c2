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

use super::Tool;
use super::deliver::Prompt;

/// What fills the words.
pub struct Call<'a> {
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

/// The arguments, without the program.
pub fn argv(words: &[&str], call: &Call<'_>) -> Vec<String> {
    let mut args = Vec::new();
    for word in words {
        let hole = word.strip_prefix('{').and_then(|word| word.strip_suffix('}'));
        let parts = hole.map(|hole| hole.split_once(':').unwrap_or((hole, "")));
        let (name, flag) = parts.unwrap_or_default();
        let file = call.prompt.and_then(|prompt| prompt.file.as_deref());
        let value = match name {
            "prompt" => call.prompt.map(|prompt| prompt.text.clone()),
            "file" => file.map(shown),
            "folder" => file.and_then(Path::parent).map(shown),
            "cwd" => Some(shown(call.cwd)),
            "mode" => {
                args.extend(call.mode.iter().map(|flag| (*flag).to_owned()));
                None
            }
            "more" => {
                args.extend(call.more.iter().cloned());
                None
            }
            _ => Some(word.replace("{id}", call.session.unwrap_or_default())),
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
    args
}

/// The flags that hand variables on, for a tool that needs them.
pub fn vars_as_flags(tool: &Tool, vars: &[(&'static str, String)]) -> Vec<String> {
    let Some((flag, word)) = tool.vars else { return Vec::new() };
    let pair = |(name, value): &(&str, String)| {
        // A text in JSON is one in TOML, too.
        let value = serde_json::Value::from(value.as_str()).to_string();
        [flag.to_owned(), word.replace("{name}", name).replace("{value}", &value)]
    };
    vars.iter().flat_map(pair).collect()
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// A command line that a POSIX shell reads back as these words, run in this folder.
pub fn shell_line(cwd: &Path, program: &str, args: &[String]) -> String {
    let mut line = format!("cd {} && {}", quoted(&shown(cwd)), quoted(program));
    for arg in args {
        line.push(' ');
        line.push_str(&quoted(arg));
    }
    line
}

/// A word as a shell takes it literally.
pub fn quoted(word: &str) -> String {
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
        assert_eq!(argv(words, &call), expected, "{words:?}");
    }

    #[test]
    fn words_are_filled_in() {
        let said = Prompt { text: "go on".into(), file: None };
        let read = Prompt { text: "read it".into(), file: Some("/d/h/x.md".into()) };
        check(&["{mode}", "{prompt}"], Some(&said), &["--yolo", "go on"]);
        check(&["{prompt:-i}", "{folder:--add-dir}"], Some(&said), &["-i", "go on"]);
        check(&["{prompt}", "{folder:--add-dir}"], Some(&read), &["read it", "--add-dir", "/d/h"]);
        check(&["{file:--read}"], Some(&read), &["--read", "/d/h/x.md"]);
        check(&["resume", "{id}", "{prompt:-i}"], None, &["resume", "s1"]);
        check(&["--resume={id}", "{cwd:-C}"], None, &["--resume=s1", "-C", "/w/p"]);
    }

    #[test]
    fn what_the_user_adds_stands_where_the_words_say() {
        let said = Prompt { text: "go on".into(), file: None };
        let more = ["--model".to_owned(), "m".to_owned()];
        let call =
            Call { prompt: Some(&said), session: None, mode: &["--yolo"], cwd: Path::new("/"), more: &more };
        assert_eq!(
            argv(&["{mode}", "{more}", "{prompt:-p}"], &call),
            ["--yolo", "--model", "m", "-p", "go on"]
        );
    }

    #[test]
    fn a_prompt_that_looks_like_a_hole_stays_as_it_is() {
        let said = Prompt { text: "{id} {mode}".into(), file: None };
        check(&["{prompt}"], Some(&said), &["{id} {mode}"]);
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

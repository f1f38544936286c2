//! The steps of a command line.

use std::borrow::Cow;

/// A step of a command line, and what joins it to the one before it.
#[derive(Debug, PartialEq)]
pub(super) struct Step {
    pub text: String,
    /// `&&`, `||` or `;`; the first has none.
    pub joint: &'static str,
}

/// The step without redirections and what only shortens its output.
pub(super) fn bare(step: &str) -> &str {
    let first = step.split(" | ").next().unwrap_or(step);
    let end = [" 2>", " >", " &>"].iter().filter_map(|mark| first.find(mark)).min().unwrap_or(first.len());
    first[..end].trim()
}

/// The command of each step of a line: without settings of the environment, filters, redirections, and changes of the folder.
pub(super) fn plain_steps(line: &str) -> Vec<String> {
    let steps = chain(line).into_iter().map(|step| without_settings(bare(&step.text)).to_owned());
    steps.filter(|step| !step.is_empty() && !step.starts_with("cd ")).collect()
}

/// The verb of a step of git, and what stands behind it.
pub(super) fn git_words(step: &str) -> Option<(&str, Vec<&str>)> {
    let mut words = step.split_whitespace();
    words.next().filter(|word| *word == "git")?;
    loop {
        match words.next()? {
            "-C" | "-c" => drop(words.next()),
            word if word.starts_with('-') => {}
            word => return Some((word, words.collect())),
        }
    }
}

/// A command without the settings of the environment before it.
pub(super) fn without_settings(command: &str) -> &str {
    let mut rest = command.trim_start();
    while let Some((name, value)) = rest.split_once('=') {
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let end = match value.chars().next() {
            Some(mark @ ('\'' | '"')) => value[1..].find(mark).map(|at| at + 2),
            _ => value.find(char::is_whitespace),
        };
        let Some(end) = end.filter(|_| is_name) else { break };
        rest = value[end..].trim_start();
    }
    rest
}

/// A command line without the texts of its here-documents; what follows a text that does not end is not known.
fn without_here_documents(line: &str) -> Cow<'_, str> {
    let Some((before, after)) = line.split_once("<<") else { return Cow::Borrowed(line) };
    let (opening, text) = after.split_once('\n').unwrap_or((after, ""));
    let mark = opening.trim_start_matches(['-', ' ']);
    let end =
        mark.find(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '"' | '_')).unwrap_or(mark.len());
    let (tag, rest) = (mark[..end].trim_matches(['\'', '"']), &mark[end..]);
    let mut lines = text.split_inclusive('\n');
    let closed = !tag.is_empty() && lines.by_ref().any(|line| line.trim() == tag);
    match closed {
        true => {
            let left: String = lines.collect();
            Cow::Owned(format!("{before}{rest}\n{}", without_here_documents(&left)))
        }
        false => Cow::Borrowed(before),
    }
}

/// The steps of a chain; pipes belong to their step, and what stands in quotes is not looked into.
pub(super) fn chain(line: &str) -> Vec<Step> {
    // A backslash at the end of a line joins it with the next.
    let line = without_here_documents(line).replace("\\\n", " ");
    let line = line.as_str();
    let mut all = Vec::new();
    let (mut start, mut quote, mut escaped, mut skip, mut joint) = (0, None, false, 0, "");
    let mut end = |from: usize, to: usize, joint: &'static str| {
        let text = line.get(from..to).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        if !text.is_empty() {
            all.push(Step { text, joint });
        }
    };
    for (at, c) in line.char_indices() {
        if at < skip {
            continue;
        }
        let rest = line.get(at..).unwrap_or_default();
        let mark = ["&&", "||", ";", "\n"].into_iter().find(|mark| rest.starts_with(mark));
        match (quote, c) {
            _ if escaped => escaped = false,
            (open, '\\') if open != Some('\'') => escaped = true,
            (Some(open), _) if open == c => quote = None,
            (None, '\'' | '"' | '`') => quote = Some(c),
            (None, _) => {
                let Some(mark) = mark else { continue };
                end(start, at, joint);
                joint = if mark == "\n" { ";" } else { mark };
                start = at + mark.len();
                skip = start;
            }
            _ => {}
        }
    }
    end(start, line.len(), joint);
    all
}

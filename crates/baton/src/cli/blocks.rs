//! What stands in a block of code on a page can be used as it stands: each command parses, and so does each JSON and TOML.

use std::path::{Path, PathBuf};

/// A block of code on a page.
struct Block {
    page: String,
    /// The line of its fence.
    line: usize,
    language: String,
    text: String,
}

/// Pages outside of `docs`.
const OTHERS: [&str; 4] = ["README.md", "CONTRIBUTING.md", ".github/SECURITY.md", "packaging/npm/README.md"];

fn blocks() -> Vec<Block> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages: Vec<PathBuf> = OTHERS.iter().map(|page| root.join(page)).collect();
    for folder in ["docs", "docs/internals"] {
        let entries = std::fs::read_dir(root.join(folder)).expect("the pages");
        let entries = entries.map(|entry| entry.expect("a page").path());
        pages.extend(entries.filter(|page| page.extension().is_some_and(|ending| ending == "md")));
    }
    pages
        .iter()
        .flat_map(|page| {
            of_page(&page.display().to_string(), &std::fs::read_to_string(page).expect("a page"))
        })
        .collect()
}

fn of_page(page: &str, text: &str) -> Vec<Block> {
    let (mut found, mut open) = (Vec::new(), None::<Block>);
    for (at, line) in text.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some(language), None) => {
                let language = language.trim().to_owned();
                open = Some(Block { page: page.to_owned(), line: at + 1, language, text: String::new() });
            }
            (None, Some(block)) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "{page}: a block is not closed");
    found
}

/// The simple commands of a script, each as its words. Enough of a shell for what pages show: quotes, comments, `&&`, `|`, `;`, `&`
/// and redirections.
fn commands(script: &str) -> Vec<Vec<String>> {
    let (mut found, mut words, mut word) = (Vec::new(), Vec::new(), None::<String>);
    let mut chars = script.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                word.extend(chars.by_ref().take_while(|quoted| *quoted != c));
            }
            '\\' if chars.next_if_eq(&'\n').is_some() => {}
            '#' if word.is_none() => while chars.next_if(|c| *c != '\n').is_some() {},
            // A number before a redirection is the stream, and what follows is a file.
            '<' | '>' => {
                word = word.filter(|word| word.parse::<u8>().is_err());
                words.extend(word.take());
                while chars.next_if(|c| matches!(c, '>' | '&' | ' ')).is_some() {}
                while chars.next_if(|c| !c.is_whitespace()).is_some() {}
            }
            '\n' | ';' | '&' | '|' => {
                words.extend(word.take());
                found.push(std::mem::take(&mut words));
            }
            c if c.is_whitespace() => words.extend(word.take()),
            // What may be left out is there.
            '[' | ']' => {}
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    found.push(words);
    found.retain(|words| !words.is_empty());
    found
}

/// The command line of Baton that a simple command is: after a prompt and after variables that are set for it.
fn own(words: &[String]) -> Option<&[String]> {
    let is_before = |word: &&String| *word == "$" || (word.contains('=') && !word.starts_with('-'));
    let begin = words.iter().take_while(is_before).count();
    words.get(begin..).filter(|rest| rest.first().is_some_and(|program| program == "baton"))
}

/// How many commands of Baton a script has, and what is wrong with them.
fn check(script: &str) -> (usize, Vec<String>) {
    let fault = |words: &[String]| {
        let error = super::command().try_get_matches_from(words).err()?;
        let is_fault = error.use_stderr();
        is_fault.then(|| {
            format!("`{}`: {}", words.join(" "), error.to_string().lines().next().unwrap_or_default())
        })
    };
    let commands = commands(script);
    let own: Vec<&[String]> = commands.iter().filter_map(|words| own(words)).collect();
    (own.len(), own.into_iter().filter_map(fault).collect())
}

#[test]
fn every_command_in_a_block_of_a_page_parses() {
    let (mut found, mut read) = (Vec::new(), 0);
    for block in blocks() {
        let script = match block.language.as_str() {
            "sh" | "bash" | "console" => block.text,
            // A drawing, an answer, or commands: these begin their lines.
            "" => {
                let is_command = |line: &&str| line.starts_with("baton ") || line.starts_with("$ ");
                block.text.lines().filter(is_command).collect::<Vec<_>>().join("\n")
            }
            _ => continue,
        };
        let (commands, wrong) = check(&script);
        read += commands;
        found.extend(wrong.iter().map(|what| format!("{}:{}: {what}", block.page, block.line)));
    }
    assert!(read >= 100 && found.is_empty(), "{read} commands\n{}", found.join("\n"));
}

#[test]
fn every_json_and_toml_of_a_page_parses() {
    let (mut found, mut read) = (Vec::new(), 0);
    for Block { page, line, language, text } in blocks() {
        let fault = match language.as_str() {
            "json" => serde_json::from_str::<serde_json::Value>(&text).err().map(|error| error.to_string()),
            "toml" => toml::from_str::<toml::Table>(&text).err().map(|error| error.to_string()),
            _ => continue,
        };
        read += 1;
        found.extend(fault.map(|fault| format!("{page}:{line}: {fault}")));
    }
    assert!(found.is_empty() && read >= 5, "{read} blocks; {}", found.join("\n"));
}

#[test]
fn what_does_not_parse_is_found() {
    let script = "baton status # who\nX=1 baton wrap --summary \"a && b\" --next x | cat > y && baton pickup &\ngit baton x\n$ baton note 'a # b'";
    let found: Vec<String> =
        commands(script).iter().filter_map(|words| own(words)).map(|words| words.join("|")).collect();
    assert_eq!(
        found,
        ["baton|status", "baton|wrap|--summary|a && b|--next|x", "baton|pickup", "baton|note|a # b"]
    );
    assert!(check(script).1.is_empty());
    for bad in
        ["baton statsu", "baton wrap --sumary x", "baton handoff create --subject", "echo x; baton task clai"]
    {
        assert_eq!(check(bad).1.len(), 1, "{bad}");
    }
    let page = "a\n```json\n{\n```\n  ```sh\n  baton x\n  ```\n";
    let languages: Vec<_> =
        of_page("p", page).into_iter().map(|block| (block.line, block.language)).collect();
    assert_eq!(languages, [(2, "json".to_owned()), (5, "sh".to_owned())]);
}

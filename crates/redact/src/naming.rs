//! What a value is when it is no secret: the name of a type, of a symbol or of a file, a word of a usage text.

/// Numbers that names of algorithms and types hold.
const SIZES: &[&str] = &[
    "1", "2", "3", "4", "5", "6", "8", "10", "11", "16", "32", "36", "58", "64", "85", "128", "224", "256",
    "384", "512", "509",
];
/// How names of files end.
const EXTENSIONS: &[&str] = &[
    "rs",
    "ts",
    "tsx",
    "js",
    "jsx",
    "mjs",
    "cjs",
    "go",
    "py",
    "rb",
    "java",
    "kt",
    "php",
    "cs",
    "c",
    "h",
    "cpp",
    "hpp",
    "swift",
    "scala",
    "sh",
    "ps1",
    "bat",
    "json",
    "jsonl",
    "yaml",
    "yml",
    "toml",
    "xml",
    "ini",
    "cfg",
    "conf",
    "env",
    "properties",
    "lock",
    "md",
    "txt",
    "rst",
    "html",
    "css",
    "scss",
    "vue",
    "svelte",
    "sql",
    "db",
    "log",
    "csv",
    "proto",
    "pem",
    "key",
    "crt",
    "cer",
    "p12",
    "jks",
    "gpg",
    "asc",
    "zip",
    "gz",
    "tar",
    "tf",
    "snap",
];
/// Words of usage texts and sentences that follow the name of an option.
const USAGE: &[&str] = &[
    "option",
    "options",
    "flag",
    "flags",
    "argument",
    "arguments",
    "arg",
    "args",
    "parameter",
    "parameters",
    "switch",
    "switches",
    "setting",
    "settings",
    "field",
    "fields",
    "command",
    "commands",
    "name",
    "path",
    "url",
    "and",
    "are",
    "can",
    "could",
    "did",
    "does",
    "for",
    "from",
    "had",
    "has",
    "have",
    "how",
    "if",
    "instead",
    "into",
    "its",
    "may",
    "might",
    "must",
    "not",
    "nor",
    "now",
    "only",
    "over",
    "should",
    "since",
    "so",
    "than",
    "that",
    "the",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "too",
    "unless",
    "until",
    "use",
    "used",
    "uses",
    "using",
    "via",
    "was",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "why",
    "will",
    "with",
    "within",
    "without",
    "works",
    "would",
    "you",
    "your",
    "also",
    "because",
    "but",
    "given",
    "takes",
    "wants",
    "reads",
    "sets",
    "asks",
    "prompts",
    "appears",
    "exists",
    "needs",
    "means",
    "gets",
    "goes",
    "stays",
    "leaks",
    "host",
    "port",
    "users",
    "bool",
    "int",
    "str",
    "bytes",
    "number",
    "help",
    "version",
    "verbose",
    "force",
    "ARG",
];

/// Whether this is made of words, as symbols are: most of it is letters in runs that chance does not make.
pub(crate) fn is_symbol(value: &str) -> bool {
    let bytes = value.as_bytes();
    let (mut at, mut spelled, mut signs) = (0, 0, 0);
    while at < bytes.len() {
        if !bytes[at].is_ascii_alphanumeric() {
            (at, signs) = (at + 1, signs + 1);
            continue;
        }
        let run = |is: fn(&u8) -> bool, from: usize| bytes[from..].iter().take_while(|byte| is(byte)).count();
        let upper = run(u8::is_ascii_uppercase, at);
        let lower = run(u8::is_ascii_lowercase, at + upper);
        // The last capital of several begins the word behind them.
        let capital = upper.min(1);
        spelled += if lower >= 3 { lower + capital } else { 0 };
        spelled += if upper - capital >= 4 { upper - capital } else { 0 };
        at += (upper + lower).max(1);
    }
    // Of random letters and digits one in some thousands reaches this.
    spelled * 10 >= (bytes.len() - signs) * 7
}

/// Whether this is the name of a type or an algorithm: `Utf8String`, `OAuth2Token`, `Sha256`.
pub(crate) fn is_type(value: &str) -> bool {
    let name = value.trim_end_matches(['?', '!', '.', ':']);
    let known = name
        .split(|c: char| !c.is_ascii_digit())
        .filter(|run| !run.is_empty())
        .all(|run| SIZES.contains(&run));
    let tail = name.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let ends = name.len() - tail.len() >= 2 && tail.ends_with(|c: char| c.is_ascii_uppercase());
    name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && known
        && ends
}

/// Whether this is the name of a file, or the path of one.
pub(crate) fn is_file(value: &str) -> bool {
    let name = value.trim_end_matches([',', ';', ':', '.']);
    let ends = name.rsplit_once('.').is_some_and(|(_, end)| EXTENSIONS.contains(&end));
    ends && name
        .split(['/', '.', '-', '_'])
        .any(|part| part.len() >= 3 && part.bytes().all(|b| b.is_ascii_lowercase()))
}

/// Whether this is a path: its parts are words.
pub(crate) fn is_path(value: &str) -> bool {
    value.contains('/') && value.split(['/', '.', '-', '_', '~']).all(|part| part.is_empty() || is_part(part))
}

fn is_part(part: &str) -> bool {
    let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
    part.len() - letters.len() <= 2
        && letters.len() <= 24
        && letters.bytes().all(|byte| byte.is_ascii_lowercase())
        && !letters.is_empty()
}

/// Whether this is a member of an object or a module: names with dots between them.
pub(crate) fn is_member(value: &str) -> bool {
    let name = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = || value.trim_end_matches('.').split('.');
    let version = parts().skip(1).any(number) && parts().all(|part| number(part) || part.len() < 6);
    parts().all(name) || version
}

/// Whether this is a word of a usage text.
pub(crate) fn is_usage(value: &str) -> bool {
    let word = value.trim_end_matches(['.', ':', '?', '!', ',']);
    USAGE.contains(&word.to_ascii_lowercase().as_str())
}

//! Secrets among the arguments of programs that take them there: `curl -u name:password`, `sshpass -p …`.

use std::ops::Range;

use crate::naming::{is_file, is_path};
use crate::noise::is_random_token;
use crate::plain::{is_literal, is_varied};

/// A program and the option whose value is secret.
#[derive(Debug)]
pub(crate) struct Command {
    /// What it is called by, and its keyword; of several words where only one of its commands is meant.
    pub program: &'static str,
    options: &'static [&'static str],
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The value stands apart from the option, or behind `=`, or is attached to it.
    Any,
    /// Without a blank; behind one stands something else.
    Attached,
    /// Only apart: what is attached is another option.
    Apart,
    /// A name, a sign and the password.
    Behind(char),
    /// Of the words that are no options, the one with this number.
    Nth(usize),
    /// The last word of the command, where the option stands among its letters.
    Last,
}

/// A command is looked at so far.
const REACH: usize = 2048;

const fn command(program: &'static str, options: &'static [&'static str], form: Form) -> Command {
    Command { program, options, form }
}

const USER: &[&str] = &["-u", "--user", "-U", "--proxy-user"];

/// The programs.
pub(crate) static COMMANDS: &[Command] = &[
    command("curl", USER, Form::Behind(':')),
    command("wget", &["--user"], Form::Behind(':')),
    command("sshpass", &["-p"], Form::Any),
    command("mysql", &["-p"], Form::Attached),
    command("mysqldump", &["-p"], Form::Attached),
    command("mysqladmin", &["-p"], Form::Attached),
    command("mysqlimport", &["-p"], Form::Attached),
    command("mariadb", &["-p"], Form::Attached),
    command("mariadb-dump", &["-p"], Form::Attached),
    command("mongo", &["-p"], Form::Any),
    command("mongosh", &["-p"], Form::Any),
    command("mongodump", &["-p"], Form::Any),
    command("mongorestore", &["-p"], Form::Any),
    command("redis-cli", &["-a"], Form::Any),
    command("docker login", &["-p"], Form::Any),
    command("podman login", &["-p"], Form::Any),
    command("registry login", &["-p"], Form::Any),
    command("az login", &["-p"], Form::Any),
    command("docker\", \"login", &["-p"], Form::Any),
    command("docker\",\"login", &["-p"], Form::Any),
    command("docker', 'login", &["-p"], Form::Any),
    command("docker','login", &["-p"], Form::Any),
    command("docker\\\", \\\"login", &["-p"], Form::Any),
    command("docker\\\",\\\"login", &["-p"], Form::Any),
    command("podman\", \"login", &["-p"], Form::Any),
    command("podman\",\"login", &["-p"], Form::Any),
    command("ldapsearch", &["-w"], Form::Any),
    command("ldapmodify", &["-w"], Form::Any),
    command("sqlcmd", &["-P"], Form::Any),
    command("smbclient", &["-U"], Form::Behind('%')),
    command("ipmitool", &["-P"], Form::Any),
    command("keytool", &["-storepass", "-keypass"], Form::Any),
    command("ldapadd", &["-w"], Form::Any),
    command("ldappasswd", &["-w"], Form::Any),
    command("zip", &["-P"], Form::Any),
    command("unzip", &["-P"], Form::Any),
    command("7z", &["-p"], Form::Attached),
    command("7za", &["-p"], Form::Attached),
    command("7zz", &["-p"], Form::Attached),
    command("7zr", &["-p"], Form::Attached),
    command("rar", &["-p", "-hp"], Form::Attached),
    command("unrar", &["-p"], Form::Attached),
    command("openssl", &["-k", "-K"], Form::Apart),
    command("htpasswd", &["b"], Form::Last),
    command("mosquitto_pub", &["-P"], Form::Any),
    command("mosquitto_sub", &["-P"], Form::Any),
    command("rdesktop", &["-p"], Form::Any),
    command("xfreerdp", &["/p:"], Form::Attached),
    command("useradd", &["-p"], Form::Any),
    command("usermod", &["-p"], Form::Any),
    command("vault login", &[], Form::Nth(1)),
    command("cargo login", &[], Form::Nth(1)),
    command("snyk auth", &[], Form::Nth(1)),
    command("authtoken", &[], Form::Nth(1)),
    command("add-authtoken", &[], Form::Nth(1)),
    command("nuget setapikey", &[], Form::Nth(1)),
    command("nuget push", &["-k", "-ApiKey"], Form::Any),
    command("net user", &[], Form::Nth(2)),
    command("net use", &[], Form::Nth(2)),
    command("wpa_passphrase", &[], Form::Nth(2)),
    command("poetry config", &[], Form::Nth(3)),
    command("nmcli", &["password", "wifi-sec.psk"], Form::Apart),
    command("secret set", &["--body", "-b"], Form::Any),
    command("swarm join", &["--token"], Form::Any),
    command("kubeadm join", &["--token"], Form::Any),
    command("twine upload", &["-p"], Form::Any),
    command("doctl auth init", &["-t"], Form::Any),
    command("tailscale up", &["--authkey", "--auth-key"], Form::Any),
    command("cmdkey", &["/pass:"], Form::Attached),
];

impl Command {
    /// The secrets among the arguments behind the program's name. Returns how far this look went: what stands before
    /// need not be looked at for the same program again.
    pub(crate) fn values(&self, text: &str, hit: Range<usize>, found: &mut Vec<Range<usize>>) -> usize {
        let bytes = text.as_bytes();
        let fresh = hit.start == 0 || !is_name(bytes[hit.start - 1]) && bytes[hit.start - 1] != b'.';
        // In a list of arguments the program stands in quotes of its own.
        let mut at = hit.end
            + bytes[hit.end..].iter().take(4).take_while(|byte| matches!(byte, b'\\' | b'"' | b'\'')).count();
        if !fresh || !bytes.get(at).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b',') {
            return 0;
        }
        let end = end_of_command(bytes, at);
        if let Form::Nth(number) = self.form {
            if at > hit.end {
                return 0;
            }
            found.extend(self.nth(text, at..end, number));
            return end;
        }
        if self.form == Form::Last {
            found.extend(self.last(text, at..end));
            return end;
        }
        while let Some(word) = next_word(text, at..end) {
            at = word.end;
            let mut value = self.value(&text[word.clone()]).map(|skip| word.start + skip..word.end);
            if value.as_ref().is_some_and(Range::is_empty) {
                // The next word may be the value. It is read again as a word of its own where it is not.
                value = next_word(text, at..end);
            }
            found.extend(value.and_then(|value| self.secret(text, value)));
        }
        end
    }

    /// The last of at least two words behind the options, of which one holds the letter.
    fn last(&self, text: &str, range: Range<usize>) -> Option<Range<usize>> {
        let (mut at, mut given, mut words) = (range.start, false, Vec::new());
        while let Some(word) = next_word(text, at..range.end) {
            at = word.end;
            match text[word.clone()].strip_prefix('-') {
                Some(letters) => given |= self.options.iter().any(|letter| letters.contains(letter)),
                None => words.push(word),
            }
        }
        let word = words.pop().filter(|_| given && !words.is_empty())?;
        self.secret(text, word)
    }

    /// The word with this number, where it is none of a sentence.
    fn nth(&self, text: &str, range: Range<usize>, number: usize) -> Option<Range<usize>> {
        let mut at = range.start;
        let words = std::iter::from_fn(|| {
            let word = next_word(text, at..range.end)?;
            at = word.end;
            Some(word)
        });
        let word = words.filter(|word| !text[word.clone()].starts_with(['-', '/'])).nth(number - 1)?;
        let named = text[word.clone()].strip_prefix("token=").map_or(0, |_| "token=".len());
        let span = self.secret(text, word.start + named..word.end)?;
        let value = &text[span.clone()];
        (value.len() >= 6 && is_varied(value) && !is_path(value) && !is_file(value) || is_random_token(value))
            .then_some(span)
    }

    /// Where in a word the option's value begins; at its end where it is the next word.
    fn value(&self, word: &str) -> Option<usize> {
        let bare = word.trim_start_matches(QUOTES);
        let lead = word.len() - bare.len();
        let option = self.options.iter().find(|option| bare.starts_with(**option))?;
        let behind = lead + option.len();
        let rest = word[behind..].trim_end_matches(QUOTES);
        match (self.form, rest.strip_prefix('=')) {
            (Form::Attached, _) if rest.is_empty() => None,
            (Form::Apart, _) if !rest.is_empty() => None,
            (_, Some(_)) => Some(behind + 1),
            // A quotation that ends with the option has no value.
            (_, None) if rest.is_empty() => (lead > 0 || !word.ends_with(QUOTES)).then_some(word.len()),
            // `--username` is not `--user`.
            (_, None) => {
                let short = !option.starts_with("--") && option.len() == 2;
                (short || self.form == Form::Attached).then_some(behind)
            }
        }
    }

    fn secret(&self, text: &str, word: Range<usize>) -> Option<Range<usize>> {
        let bare = text[word.clone()].trim_matches(QUOTES);
        let start = bare.as_ptr() as usize - text.as_ptr() as usize;
        let from = match self.form {
            Form::Behind(sign) => bare.split_once(sign).map(|(name, _)| name.len() + 1)?,
            Form::Any | Form::Attached | Form::Apart | Form::Nth(_) | Form::Last => 0,
        };
        let (name, value) = bare.split_at(from);
        // Numbers of a user and a group are no name and password.
        let ids = !name.is_empty() && bare.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
        (!ids && is_literal(value)).then(|| start + from..start + bare.len())
    }
}

/// What may stand around a word, of which a text in a text has more.
const QUOTES: [char; 4] = ['"', '\'', '`', '\\'];

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// The end of the command: of the line, unless it goes on, or of its part of a pipe or a list.
fn end_of_command(bytes: &[u8], from: usize) -> usize {
    let to = bytes.len().min(from + REACH);
    let ends = |at: &usize| match bytes[*at] {
        b'\n' => !bytes[from..*at].trim_ascii_end().ends_with(b"\\"),
        b'|' | b';' => true,
        b'&' => bytes.get(at + 1) == Some(&b'&'),
        _ => false,
    };
    let mut quote = None;
    for (at, byte) in bytes.iter().copied().enumerate().take(to).skip(from) {
        match quote {
            None if matches!(byte, b'"' | b'\'') => quote = Some(byte),
            Some(mark) if mark == byte || byte == b'\n' => quote = None,
            _ => {}
        }
        if (quote.is_none() || byte == b'\n') && ends(&at) {
            return at;
        }
    }
    // A cut within a character would not be text.
    (0..=to).rev().find(|at| bytes.get(*at).is_none_or(|byte| !(0x80..0xc0).contains(byte))).unwrap_or(to)
}

/// The next word; one in quotes may hold blanks.
fn next_word(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let blank = |at: &usize| bytes[*at].is_ascii_whitespace() || bytes[*at] == b',';
    let start = (range.start..range.end).find(|at| !blank(at))?;
    let mut quote = None;
    for (at, byte) in bytes.iter().copied().enumerate().take(range.end).skip(start) {
        match quote {
            None if matches!(byte, b'"' | b'\'') => quote = Some(byte),
            Some(mark) if mark == byte => quote = None,
            None if blank(&at) => return Some(start..at),
            _ => {}
        }
    }
    // An open quote is an apostrophe, or the end of the string that the command stands in.
    let end = if quote.is_some() { (start..range.end).find(blank).unwrap_or(range.end) } else { range.end };
    Some(start..end)
}

/// What reads a password from a pipe, with what the line puts into it.
pub(crate) const PIPED: &[&str] =
    &["--password-stdin", "--with-token", "chpasswd", "sudo -S", "passwd --stdin"];

/// The literal that `echo` or `printf` puts into the pipe before this place, or that stands behind it as `<<<`.
pub(crate) fn piped(text: &str, hit: Range<usize>, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let behind = text[hit.end..].trim_start_matches(' ');
    if let Some(rest) = behind.strip_prefix("<<<") {
        let at = text.len() - rest.len();
        return literal(text, next_word(text, at..end_of_command(bytes, at))?);
    }
    let mut start = from.max(hit.start.saturating_sub(512)).min(hit.start);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let start = text[start..hit.start].rfind('\n').map_or(start, |at| start + at + 1);
    let pipe = start + text[start..hit.start].rfind('|')?;
    let command = &text[start..pipe];
    let at =
        ["echo ", "printf "].iter().filter_map(|word| command.rfind(word).map(|at| at + word.len())).max()?;
    let mut at = start + at;
    while let Some(word) = next_word(text, at..pipe) {
        at = word.end;
        let bare = text[word.clone()].trim_matches(QUOTES);
        if !bare.starts_with('-') && !bare.starts_with('%') {
            return literal(text, word);
        }
    }
    None
}

fn literal(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let bare = text[word.clone()].trim_matches(QUOTES);
    let start = bare.as_ptr() as usize - text.as_ptr() as usize;
    is_literal(bare).then(|| start..start + bare.len())
}

//! Commands that the user ran in the tool, where the tool writes them into a message of the user.

use super::shell;

/// A command that the user ran, and what came of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TypedCommand<'a> {
    /// The command line.
    pub command: &'a str,
    /// Its exit code, where the message has it.
    pub code: Option<i64>,
    /// What it printed.
    pub output: &'a str,
}

/// The command in a message, as Codex (`<user_shell_command>`) and Gemini CLI (`I ran the following shell command:`) write it.
pub(crate) fn in_message(text: &str) -> Option<TypedCommand<'_>> {
    let text = text.trim();
    if let Some(body) = text.strip_prefix("<user_shell_command>") {
        let command = element(body, "command")?;
        let (code, output) = shell::split_exit_code(element(body, "result").unwrap_or_default());
        return Some(TypedCommand { command, code, output });
    }
    let body = text.strip_prefix("I ran the following shell command:\n```sh\n")?;
    let (command, rest) = body.split_once("\n```\n")?;
    let output = rest.split_once("```\n").map_or("", |(_, output)| output);
    let output = output.trim_end().trim_end_matches('`').trim_end();
    Some(TypedCommand { command, code: shell::told_exit(output), output: shell::without_exit(output) })
}

/// The content of an element.
pub(crate) fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    Some(rest.split_once(&format!("</{name}>"))?.0.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_of_a_user_is_read_from_his_message() {
        let codex = "<user_shell_command>\n<command>\nls -a\n</command>\n<result>\nExit code: 2\nDuration: 0.1 seconds\nOutput:\nno\n</result>\n</user_shell_command>";
        let read = in_message(codex).expect("a command");
        assert_eq!((read.command, read.code, read.output.trim()), ("ls -a", Some(2), "no"));
        let gemini = "I ran the following shell command:\n```sh\nmake x\n```\n\nThis produced the following result:\n```\nCommand exited with code 2.\nno rule\n```";
        assert_eq!(
            in_message(gemini),
            Some(TypedCommand { command: "make x", code: Some(2), output: "no rule" })
        );
        assert_eq!(in_message("I ran it"), None);
    }
}

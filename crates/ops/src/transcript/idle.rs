//! A conversation in which nothing was asked and nothing was done: its end hands nothing over.

use std::path::Path;

use baton_model::packet::{Packet, ToolActivity};
use baton_model::refusal::Refusal;
use baton_store::{Failure, baton};
use baton_transcripts::{Options, is_request, summarize};

use super::Row;
use super::found_transcript::FoundTranscript;
use crate::op::Cx;

/// A transcript of more bytes is no greeting, and takes long to read.
const MAX_BYTES: u64 = 2 * 1024 * 1024;

/// A conversation in which a pickup was refused, and nothing done, has no more bytes than this: most of them are the tool's
/// instructions.
const SHORT: u64 = 128 * 1024;

/// Whether the user only greeted, said that it is well or that the work goes on, and the agent called no tool; or whether the agent
/// wanted to pick up what another one held, and did nothing else. A baton of it would be newer than the one that holds the work, and so be
/// the first that is picked up.
fn is_idle(packet: &Packet) -> bool {
    let requests = packet.requests.iter().flat_map(|requests| requests.first.iter().chain(&requests.last));
    let messages = packet.recent_messages.iter().filter(|message| message.role == "user");
    let texts: Vec<&str> = requests
        .map(|text| text.text.as_str())
        .chain(messages.map(|message| message.text.as_str()))
        .collect();
    let is_untouched = packet.files_modified.is_empty()
        && packet.files_read.is_empty()
        && packet.searched.is_empty()
        && packet.decisions.is_empty()
        && packet.pending_tasks.is_empty();
    let has_called =
        !packet.tool_activity.is_empty() || !packet.commands.is_empty() || packet.last_failure.is_some();
    let is_greeting = !texts.is_empty() && !texts.iter().any(|text| is_request(text));
    is_untouched && if has_called { is_refused_pickup(packet) } else { is_greeting }
}

/// How many calls an agent makes at most that only looks.
const LOOKS: i64 = 10;

/// How many characters a request has at most that asks where the work stands.
const SHORT_REQUEST: usize = 400;

/// Commands of a shell that change nothing, whatever follows.
const LOOKING: [&str; 26] = [
    "git status",
    "git log",
    "git show",
    "git rev-parse",
    "git worktree list",
    "git stash list",
    "git remote -v",
    "ls",
    "cat",
    "head",
    "tail",
    "grep",
    "rg",
    "pwd",
    "wc",
    "which",
    "stat",
    "cd",
    "baton status",
    "baton batons",
    "baton log",
    "baton sessions",
    "baton pickup",
    "baton task list",
    "bd ready",
    "bd list",
];

/// Commands that change nothing without further words.
const LOOKING_ALONE: [&str; 5] = ["git diff", "git branch", "git remote", "date", "tree"];

/// Whether the end of a conversation leaves no baton: nothing was asked or done in it, or the agent only looked while another baton
/// waits, which a newer one would hide.
pub(super) fn hands_nothing_over(
    cx: &mut Cx<'_>,
    project_id: &str,
    packet: &Packet,
) -> Result<bool, Failure> {
    if is_idle(packet) || !only_looked(packet) {
        return Ok(is_idle(packet));
    }
    let waiting = cx.store.read(|tx| Ok(baton::unspent(tx, project_id, 1)?))?;
    Ok(!waiting.is_empty())
}

/// Whether an agent was asked one thing in few words, made a few calls that change nothing, and answered: it looked where the work
/// stands, or wanted to continue it and could not. What it says of itself without a call may be all that there is. Where the work
/// waits as a baton, one of this conversation would hide it.
fn only_looked(packet: &Packet) -> bool {
    let requests = packet.requests.as_ref();
    let is_one_request = requests.is_some_and(|requests| {
        let texts: Vec<&str> =
            requests.first.iter().chain(&requests.last).map(|one| one.text.as_str()).collect();
        texts.iter().all(|text| text.chars().count() <= SHORT_REQUEST)
            && texts.windows(2).all(|pair| pair[0] == pair[1])
    });
    let is_untouched =
        packet.files_modified.is_empty() && packet.decisions.is_empty() && packet.pending_tasks.is_empty();
    let is_answered = packet.recent_messages.last().is_some_and(|message| message.role == "assistant");
    let calls: i64 = packet.tool_activity.iter().map(|activity| activity.count).sum();
    is_one_request
        && is_untouched
        && is_answered
        && (1..=LOOKS).contains(&calls)
        && packet.tool_activity.iter().all(is_look)
        && packet.commands.iter().all(|run| is_looking_command(&run.command))
}

/// Whether calls of a kind change nothing, or were refused.
fn is_look(activity: &ToolActivity) -> bool {
    let is_refused = |sample: &String| {
        let outcome = sample.rsplit_once(" → ").map(|(_, outcome)| outcome);
        outcome.is_some_and(|outcome| !matches!(outcome, "ok" | "exit 0"))
    };
    let reads = ["hd_exec", "inbox", "task_read", "recall"];
    let is_read = |sample: &String| reads.iter().any(|tool| sample.contains(&format!("__{tool} ")));
    // Samples are distinct: with fewer than fit, no call is missing.
    let is_complete = (1..SAMPLES).contains(&activity.samples.len());
    match activity.category.as_str() {
        // The commands are looked at one by one.
        "read" | "search" | "shell" => true,
        "mcp:baton" => {
            is_complete && activity.samples.iter().all(|sample| is_read(sample) || is_refused(sample))
        }
        _ => is_complete && activity.samples.iter().all(is_refused),
    }
}

/// Whether every part of a line only reads, and nothing is written into a file.
fn is_looking_command(line: &str) -> bool {
    let line = line.replace("2>&1", "").replace("2>/dev/null", "").replace(">/dev/null", "");
    let is_part = |part: &str| {
        let part = part.trim();
        let program = part.split(' ').next().unwrap_or_default();
        // A program may be called by its path.
        let short = program.rsplit('/').next().unwrap_or(program);
        let part = format!("{short}{} ", &part[program.len()..]);
        LOOKING.iter().any(|look| part.starts_with(&format!("{look} ")))
            || LOOKING_ALONE.contains(&part.trim_end())
    };
    !line.contains(['>', '`'])
        && !line.contains("$(")
        && line.split(['&', '|', ';', '\n']).filter(|part| !part.trim().is_empty()).all(is_part)
}

/// What a pickup is called: over MCP, and on the command line.
const PICKUPS: [&str; 2] = ["hd_exec", "baton pickup"];

/// How many samples of a kind of call a packet has at most.
const SAMPLES: usize = 3;

/// Whether every call was a pickup that was refused.
fn is_refused_pickup(packet: &Packet) -> bool {
    let is_pickup = |text: &str| PICKUPS.iter().any(|name| text.contains(name));
    let is_failed = |sample: &String| {
        let outcome = sample.rsplit_once(" → ").map(|(_, outcome)| outcome);
        is_pickup(sample) && outcome.is_some_and(|outcome| !matches!(outcome, "ok" | "exit 0"))
    };
    // Samples are distinct: with fewer than fit, no call is missing.
    let is_refused =
        |activity: &ToolActivity| activity.samples.len() < SAMPLES && activity.samples.iter().all(is_failed);
    // Without an answer, at a limit for instance, what was asked is still to be done.
    let is_answered = packet.recent_messages.last().is_some_and(|message| message.role == "assistant");
    is_answered
        && packet.tool_activity.iter().all(is_refused)
        && packet.commands.iter().all(|run| is_pickup(&run.command) && run.exit_code != Some(0))
        && packet.last_failure.as_ref().is_none_or(|failure| is_pickup(&failure.command))
}

/// Whether a listed conversation is one, as far as that can be told quickly: a short one is read, and one that began without a request.
pub(super) fn is_idle_row(row: &Row) -> bool {
    let begins_idle = row.title.as_deref().is_some_and(|title| !is_request(title));
    let max_bytes = if begins_idle { MAX_BYTES } else { SHORT };
    if row.key.is_some() || row.bytes > max_bytes {
        return false;
    }
    let reader = baton_transcripts::by_id(&row.agent);
    reader.is_some_and(|reader| is_idle(&summarize(Path::new(&row.path), reader, &Options::default())))
}

/// Refuses to keep such a conversation, as one in which nothing was said.
pub(super) fn refuse_idle(transcript: &FoundTranscript) -> Refusal {
    Refusal::invalid(
        "transcript_empty",
        format!("nothing was asked and nothing done in {}", transcript.path.display()),
        "`baton import-transcript` makes a baton of it all the same",
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(sample: &str, last: &str, expected: bool) {
        let packet: Value = json!({ "summary": "s", "tool_activity": [{ "category": "mcp:baton", "count": 1, "samples": [sample] }],
            "recent_messages": [{ "role": "user", "text": "Mend the parser" }, { "role": last, "text": "Holder has it." }] });
        let packet = serde_json::from_value::<Packet>(packet).expect("a packet");
        assert_eq!(is_idle(&packet), expected, "{sample} {last}");
    }

    #[track_caller]
    fn check_look(request: &str, command: &str, category: &str, sample: &str, expected: bool) {
        let packet: Value = json!({ "summary": "s", "tool_activity": [{ "category": category, "count": 1, "samples": [sample] }],
            "commands": [{ "command": command, "exit_code": 0 }],
            "requests": { "first": { "text": request }, "last": { "text": request } },
            "recent_messages": [{ "role": "user", "text": request }, { "role": "assistant", "text": "There it stands." }] });
        let packet = serde_json::from_value::<Packet>(packet).expect("a packet");
        assert_eq!(only_looked(&packet), expected, "{request} {command} {sample}");
    }

    #[test]
    fn a_question_that_was_answered_without_a_change_is_a_look() {
        let ask = "Where do we stand?";
        check_look(ask, "git status --short && git log -3 | head", "shell", "git status → exit 0", true);
        check_look(ask, "/opt/bin/baton status", "mcp:baton", "mcp__baton__inbox → ok", true);
        check_look(ask, "ls", "mcp:baton", "mcp__baton__session_start → failed", true);
        check_look(ask, "git status", "mcp:baton", "mcp__baton__session_checkpoint → ok", false);
        check_look(ask, "git push", "shell", "git push → exit 0", false);
        check_look(ask, "cat a > b", "shell", "cat a > b → exit 0", false);
        check_look(ask, "ls | xargs rm", "shell", "ls → exit 0", false);
        check_look(ask, "find . -delete", "shell", "find → exit 0", false);
        check_look(ask, "git branch -D old", "shell", "git branch → exit 0", false);
        check_look(ask, "baton task create x", "shell", "baton task → exit 0", false);
        check_look(ask, "git diff --output=a", "shell", "git diff → exit 0", false);
        check_look(ask, "ls", "mcp:linear", "mcp__linear__create → ok", false);
        check_look(&"Find out why. ".repeat(40), "ls", "shell", "ls → exit 0", false);
    }

    #[test]
    fn a_refused_pickup_that_was_answered_hands_nothing_over() {
        check("mcp__baton__hd_exec → failed", "assistant", true);
        check("baton pickup → exit 4", "assistant", true);
        check("mcp__baton__hd_exec → ok", "assistant", false);
        check("baton pickup → exit 0", "assistant", false);
        check("cargo test → exit 101", "assistant", false);
        // At a limit the agent has not answered.
        check("mcp__baton__hd_exec → failed", "user", false);
    }
}

//! What readers of documents of real sessions found untrue of what was said, each in a small session of the same shape.

use super::tests::{SessionScript, texts};
use super::*;
use crate::event::Outcome;

#[test]
fn the_screen_of_an_agent_that_the_user_pastes_is_not_in_his_words() {
    let lines = "  a line of the screen, because it is long enough to be told\n".repeat(30);
    let pasted = format!(
        "It does not work, the file was not cleared.\n❯ Make something fantastic.\n⏺ Read 2 files\n{lines}⏺ Done, since the flow is smooth\n\
         - Move the mouse to bend the flow, because it is nicer\n✻ Worked for 4m 13s"
    );
    let summary =
        SessionScript::new().add(EventKind::User(pasted.into())).agent("I see.").edit("a", "a.go").summary();
    let remarks: Vec<&str> = summary.remarks.iter().map(|one| one.text.as_str()).collect();
    assert!(!remarks.iter().any(|text| text.contains("mouse") || text.contains("screen")), "{remarks:?}");
}

#[test]
fn what_is_to_be_done_again_is_named() {
    let request = |text: &'static str| {
        let summary = SessionScript::new()
            .user(
                "can you stage me the changes around the types and unstage the ones around the refactoring?",
            )
            .agent("Done: both are staged apart.")
            .user(text)
            .summary();
        summary.requests.and_then(|requests| requests.last).map(|last| last.text).unwrap_or_default()
    };
    let it = "asked for before it: “can you stage me the changes around the types and unstage the ones around the refactoring?”";
    for text in ["sorry I messed up, can you do it again", "oops, redo it please", "commit this"] {
        assert_eq!(request(text), format!("{text} — {it}"));
    }
    let small = SessionScript::new()
        .user("Rename the field of the state in every file of the store, and in its tests")
        .agent("Renamed.")
        .user("commit this")
        .agent("The commit was refused by the hook.")
        .user("do it again")
        .summary();
    let last = small.requests.and_then(|requests| requests.last).map(|last| last.text).unwrap_or_default();
    assert!(
        last.starts_with(
            "do it again — asked for before it: “commit this”, and before that: “Rename the field"
        ),
        "{last}"
    );
    assert_eq!(
        request("can you explain the second one to me in more words than that please?").matches(it).count(),
        0
    );
}

#[test]
fn what_the_agent_takes_back_is_no_remark() {
    let remarks = |objection: &'static str, answer: &'static str| {
        let summary = SessionScript::new()
            .user("When should the overlap be checked?")
            .agent("We check at the checkpoint, because only then are there files to compare, and no flag is needed.")
            .user(objection)
            .agent(answer)
            .edit("a", "a.go")
            .summary();
        summary.remarks.iter().any(|one| one.text.contains("only then are there files"))
            || summary.decisions.iter().any(|one| one.what.contains("only then are there files"))
    };
    let objection = "If the second session changes the same file then the first one is lost, so the start must be compared, too.";
    assert!(remarks(objection, "Both are compared now."));
    assert!(!remarks(objection, "Ah yes, you're absolutely right! I missed the critical case: the stash."));
    assert!(!remarks(objection, "## Updated Recommendation: at the start\n\nThe start tells what is there."));
    let restored = SessionScript::new()
        .user("Simplify the walk")
        .agent("I removed `reachableFromMain` from the walk, since the first parents alone never reach it.")
        .user("whoops! let's put the reachableFromMain back, it is needed for the list of checkpoints")
        .edit("a", "a.go")
        .agent("Restored.")
        .summary();
    assert!(
        !restored.remarks.iter().any(|one| one.text.contains("since the first parents")),
        "{:?}",
        restored.remarks
    );
}

#[test]
fn words_that_the_user_quotes_are_not_the_user_s() {
    let summary = SessionScript::new()
        .user("Which prompt does a late commit belong to?")
        .agent("To both.")
        .user(
            "Can you clarify this:\n\n  If the user commits later, the checkpoint has the whole transcript, because the files are \
             still listed.\n\n  There is no wrong assignment in that case.",
        )
        .agent("It has both prompts.")
        .edit("a", "a.go")
        .summary();
    let users: Vec<&str> =
        summary.remarks.iter().filter(|one| one.role != "assistant").map(|one| one.text.as_str()).collect();
    assert_eq!(users, [""; 0]);
}

#[test]
fn what_code_does_is_no_failed_attempt() {
    let attempts = |text: &'static str| {
        SessionScript::new().user("Review it").agent(text).summary().failed_attempts.len()
    };
    assert_eq!(attempts("Done:\n- `trigger` — now logs why it skips (not enabled, already attempted)"), 0);
    assert_eq!(attempts("Returning nil when the command fails hides real errors and wastes a call."), 0);
    assert_eq!(attempts("In these cases, option 1 doesn't help because there is nothing to commit."), 0);
    assert_eq!(attempts("So the `logging` package won't work in the detached processes."), 0);
    assert_eq!(attempts("I tried a lock file, but it did not work because the folder is read-only."), 1);
}

#[test]
fn a_slip_that_is_put_right_is_no_earlier_request() {
    let summary = SessionScript::new()
        .user("have a look at the ticket MCP-108 of the board, since we work on that today and not on the others")
        .agent("There is none.")
        .user("have a look at the ticket ENT-108 of the board, since we work on that today and not on the others")
        .agent("It asks for summaries.")
        .edit("a", "a.go")
        .user("Then write the summaries, beginning with the types of the state")
        .agent("Written.")
        .summary();
    assert!(!summary.remarks.iter().any(|one| one.text.contains("MCP-108")), "{:?}", summary.remarks);
}

#[test]
fn the_text_of_a_tool_that_asks_is_not_in_the_user_s_words() {
    let rejected = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nThe user wants to \
                    clarify these questions.\n    Questions asked:\n- \"Do you mean messages, or a hook?\"\n  (No answer provided)";
    let summary = SessionScript::new()
        .user("I want to be told in the agent when hooks fire")
        .call("a", Category::Ask, "Do you mean messages, or a hook?")
        .add(EventKind::Outcome(Outcome {
            id: "a".into(),
            ok: Some(false),
            exit_code: None,
            output: rejected.into(),
            edits: Vec::new(),
        }))
        .agent("What would you like to clarify about the hook?")
        .user("I have not seen a notice of the review in the agent, only the prompt; that is what I meant.")
        .agent("Got it: only for the user, and nothing for the agent.")
        .summary();
    let last = summary.requests.and_then(|requests| requests.last).map(|last| last.text).unwrap_or_default();
    assert!(last.starts_with("I have not seen a notice"), "{last}");
    assert_eq!(texts(&summary.open_loops), [""; 0]);
    assert!(
        !summary
            .recent_messages
            .iter()
            .any(|turn| turn.role == "user" && turn.text.contains("clarify these"))
    );
}

#[test]
fn what_was_asked_for_when_the_context_was_full_is_of_the_past() {
    let summary = SessionScript::new()
        .user("Archive the second session")
        .add(EventKind::Compaction(
            "1. Primary Request and Intent:\n   - The user asked for an archive\n   - User's most recent request is to \"prefill the \
             prompt\"\n\n2. Errors:\n   - a flag was missing"
                .into(),
        ))
        .edit("a", "a.go")
        .agent("The prompt is shown now.")
        .summary();
    let summary_text = summary.metadata["compaction"]["summary"].as_str().unwrap_or_default().to_owned();
    assert!(
        summary_text.contains("asked for an archive") && !summary_text.contains("prefill"),
        "{summary_text}"
    );
}

#[test]
fn what_only_describes_a_fault_is_no_constraint() {
    let constraints = |text: &'static str| {
        let summary = SessionScript::new().user(text).agent("I see.").summary();
        summary.constraints.len()
    };
    for text in [
        "Consider testing other languages to ensure the patterns don't cause false negatives",
        "fix cmd/info.go:1:9: var-naming: avoid package names that conflict with others (revive)",
        "If a line holds an array, the decoder fails and the line is written unchanged.",
        "This is important because images should never be redacted.",
    ] {
        assert_eq!(constraints(text), 0, "{text}");
    }
    assert_eq!(constraints("Run the linter to make sure it passes, and never touch the main branch."), 1);
}

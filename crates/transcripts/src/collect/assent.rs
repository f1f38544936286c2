//! What the agent proposes, and what the user says to it: a yes is a decision, and an offer without an answer stays open.

use baton_packet::packet::Decision;

use super::label::Label;
use super::remarks::{is_assent, with_answer};
use super::request_weight::RequestWeight;
use super::{Collector, Sentence, StandingDecision, prose};
use crate::shared::words::one_line;

/// The longest assent that is told, in characters.
const MAX_ASSENT: usize = 80;
/// Behind a proposal that the user agreed to long ago.
const CARRIED_OUT: &str = " — since then files were changed and committed";

impl Collector<'_> {
    /// The user's words agree to the question or the offer with which the last answer ended.
    pub(super) fn agreed(&mut self, weight: RequestWeight, offered: Option<&str>, words: &Sentence) {
        let Some(offered) = offered.filter(|_| weight == RequestWeight::Consent) else { return };
        let Some(answer) = self.last_answer.as_ref() else { return };
        // A yes to one of two says nothing.
        if prose::says_only_yes(&words.text) && prose::offers_a_choice(offered) {
            return;
        }
        let proposal = match offered.trim_end().ends_with('?') {
            true => prose::proposal_asked_about(&answer.text, offered),
            false => Some(offered.to_owned()).filter(|offered| prose::proposes(offered)),
        };
        let Some(proposal) = proposal else { return };
        let text = with_answer(&one_line(&proposal, 400), &one_line(&words.text, MAX_ASSENT));
        self.decisions.retain(|known| !prose::same_matter(&known.decision.what, &proposal));
        let named = prose::topic(&proposal);
        let decision = Decision { what: text, why: None, rejected: Vec::new(), at: None };
        self.decisions.push(StandingDecision {
            decision,
            at: words.at.clone(),
            named,
            role: "user",
            is_carried_out: false,
        });
    }

    /// A commit was made by a command on this line: what the user agreed to before, and files were changed after, is in it.
    pub(super) fn decisions_committed(&mut self, line: u64) {
        let changed_at = self.changed_at;
        let agreed =
            self.decisions.items_mut().filter(|held| held.role == "user" && is_assent(&held.decision.what));
        let before = agreed.filter(|held| held.at.line < changed_at && changed_at < line);
        before.for_each(|held| held.is_carried_out = true);
    }

    /// The decisions; last those that were carried out.
    pub(super) fn decisions_in_order(&self, label: &Label) -> Vec<Decision> {
        let (done, standing): (Vec<_>, Vec<_>) = self.decisions.iter().partition(|held| held.is_carried_out);
        let decision = |held: &StandingDecision| {
            let done = if held.is_carried_out { CARRIED_OUT } else { "" };
            let what = format!("{}{done}", held.decision.what);
            Decision { what, at: label.at(&held.at), ..held.decision.clone() }
        };
        standing.into_iter().chain(done).map(decision).collect()
    }

    /// The user speaks. An offer at the end of the last answer stays open while he only asks something else.
    pub(super) fn note_offer(&mut self, words: &str) {
        if !prose::only_questions(words) || prose::asks_for_work(words) {
            self.offer = None;
            return;
        }
        let Some(answer) = self.last_answer.as_ref().filter(|_| self.replied) else { return };
        let question = prose::asked_at_the_end(&answer.text).pop();
        if let Some(question) = question.filter(|question| prose::is_put_to_the_user(question)) {
            let last = prose::proposal_asked_about(&answer.text, &question).unwrap_or(question);
            self.offer = Some((one_line(&last, 400), answer.at.clone()));
        }
    }

    /// What the agent offered and the user has not answered, where nothing was changed since.
    pub(super) fn open_offer(&self) -> Option<(String, &super::SourceRef)> {
        let (offer, at) = self.offer.as_ref().filter(|(_, at)| self.changed_at <= at.line)?;
        Some((format!("the agent asked, and the user spoke of something else: {offer}"), at))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SessionScript, texts};

    const PROPOSAL: &str =
        "Callers become shorter.\n\nI'd go with `SessionFileExtension()` on the interface — thoughts?";

    #[test]
    fn a_proposal_to_which_the_user_says_yes_is_a_decision() {
        let decisions = |words: &'static str| {
            let script = SessionScript::new().user("mend the names of the files").agent(PROPOSAL).user(words);
            let packet =
                script.edit("a", "a.rs").agent("Done.").user("now the docs").edit("b", "b.rs").summary();
            packet.decisions.into_iter().map(|decision| decision.what).collect::<Vec<_>>()
        };
        let wanted = "I'd go with `SessionFileExtension()` on the interface — thoughts? — the user: “yes, let's do that”";
        assert!(
            decisions("yes, let's do that").contains(&wanted.to_owned()),
            "{:?}",
            decisions("yes, let's do that")
        );
        for words in ["no", "is that fast enough?", "mend the docs of it first"] {
            assert!(decisions(words).iter().all(|one| !one.contains("the user:")), "{words}");
        }
    }

    #[test]
    fn a_proposal_that_was_carried_out_and_committed_says_so_and_stands_last() {
        let decisions = |commit: &'static str| {
            let script =
                SessionScript::new().user("mend the names").agent(PROPOSAL).user("yes, let's do that");
            let script = script.edit("a", "a.rs").run("b", commit, 0, "[main 1a2b3c4] x\n 1 file changed");
            let script = script.agent("Done. I'll use a map instead of a list, because order matters.");
            let packet = script.user("now the docs").edit("c", "b.rs").agent("Done.").summary();
            packet.decisions.into_iter().map(|decision| decision.what).collect::<Vec<_>>()
        };
        let done = decisions("git add a.rs && git commit -m x");
        assert_eq!(done.len(), 2, "{done:?}");
        assert!(
            done[1].ends_with("let's do that” — since then files were changed and committed"),
            "{done:?}"
        );
        let open = decisions("make lint");
        assert!(open[0].ends_with("let's do that”"), "{open:?}");
    }

    #[test]
    fn a_yes_to_one_of_two_decides_nothing() {
        let decided = |words: &'static str| {
            let offer = "The matrix is smaller.\n\nShould I bring 3.13 back for Ubuntu only, or keep it off until then?";
            let script = SessionScript::new().user("mend the matrix").agent(offer).user(words);
            let packet =
                script.edit("a", "a.rs").agent("Done.").user("now the docs").edit("b", "b.rs").summary();
            packet.decisions.iter().any(|decision| decision.what.contains("the user:"))
        };
        assert!(!decided("yes") && !decided("yes please"));
        assert!(decided("yes to both"));
    }

    #[test]
    fn a_half_typed_command_and_a_bare_pronoun_answer_nothing() {
        let decided = |words: &'static str| {
            let offer = "I created `custom.json`.\n\nWhat kind of theme would you like? Should I customize it with specific colors, or would you prefer to edit it yourself with the live reload feature?";
            let script = SessionScript::new().user("create a new theme").agent(offer).user(words);
            let script = script.add(crate::event::EventKind::Interrupted);
            let script = script.user("the theme selector needs to push the update to the next tick");
            let packet = script.edit("a", "src/tui.ts").agent("Done, it is deferred.").summary();
            serde_json::to_string(&packet).expect("JSON").contains("the user: “")
        };
        for words in ["/them", "/mode", "/theme", "/theme specific colors", "them", "that"] {
            assert!(!decided(words), "{words}");
        }
        assert!(decided("both of them") && decided("the specific colors please"));
    }

    #[test]
    fn an_offer_stays_open_while_the_user_only_asks() {
        let open = |words: &'static str, edits: bool| {
            let offer =
                "It is cleared at the start. We could finalize it before clearing. Want me to add that?";
            let script = SessionScript::new().user("what happens at ctrl+c?").agent(offer).user(words);
            let script = if edits { script.edit("a", "a.rs") } else { script };
            let packet = script.agent("The push is fine.").summary();
            texts(&packet.open_loops).iter().filter(|one| one.contains("Want me to add that?")).count()
        };
        assert_eq!(open("what happens if a push is made in the middle of a turn?", false), 1);
        assert_eq!(open("what happens if a push is made in the middle of a turn?", true), 0);
        assert_eq!(open("yes", false), 0);
        assert_eq!(open("remove the flag instead", false), 0);
    }
}

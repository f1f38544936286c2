//! Which files a call lets its server have the text of: those that it names itself, or that the hand-off names which it picks up.
//! What the server asks for makes no difference.

use baton_ops::document::{CleanDocument, DocumentPath, OmissionReason};
use baton_ops::handoff::{Create, CreateInput, linked_paths};
use baton_ops::input::InputView;
use baton_ops::op::Operation;
use baton_ops::session::{Pickup, PickupInput};
use serde_json::{Map, Value};

use super::sent_document::SentDocument;

/// The files whose text goes along with a call.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct DocumentConsent {
    paths: Vec<String>,
    use_of: Use,
}

/// What the text of a document is for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// Nothing is sent.
    #[default]
    Nothing,
    /// It goes along with what is left.
    Enclosed,
    /// Only its length goes along: what would be sent is shown.
    Measured,
    /// It is read with what is picked up.
    Read,
    /// It would be read.
    Previewed,
}

impl DocumentConsent {
    /// Of a call, with the links of the hand-off that it is about.
    pub(super) fn of(operation: &str, input: &Map<String, Value>, links: &Map<String, Value>) -> Self {
        let is_preview = InputView(input).is_dry_run();
        let mut paths = linked_paths(links);
        let use_of = match (operation, is_preview) {
            (Create::NAME, false) => Use::Enclosed,
            (Create::NAME, true) => Use::Measured,
            (Pickup::NAME, _) if PickupInput::target_in(input).is_none() => Use::Nothing,
            (Pickup::NAME, false) => Use::Read,
            (Pickup::NAME, true) => Use::Previewed,
            _ => Use::Nothing,
        };
        if use_of == Use::Read && !links.is_empty() {
            paths.push(DocumentPath::Own.path().to_owned());
        }
        Self { paths, use_of }
    }

    /// Whether a file is one of them.
    pub(super) fn includes(&self, path: &str) -> bool {
        self.use_of != Use::Nothing && self.paths.iter().any(|named| named == path)
    }

    /// What is sent of a file that is one of them.
    pub(super) fn sent(&self, text: &str) -> SentDocument {
        SentDocument::of(match self.use_of {
            Use::Enclosed => CleanDocument::of_linked(text),
            Use::Measured => CleanDocument::of_linked(text)
                .map(|clean| CleanDocument { text: ".".repeat(clean.text.len()), ..clean }),
            Use::Read => Ok(CleanDocument::of(text)),
            Use::Previewed => Err(OmissionReason::DryRun),
            Use::Nothing => Err(OmissionReason::Elsewhere),
        })
    }
}

/// The hand-off whose links say which files a call is about, where the call itself does not.
pub(super) fn handoff_of<'a>(operation: &str, input: &'a Map<String, Value>) -> Option<&'a str> {
    match operation {
        Pickup::NAME => PickupInput::target_in(input),
        Create::NAME if CreateInput::links_in(input).is_empty() => CreateInput::replaces_in(input),
        _ => None,
    }
}

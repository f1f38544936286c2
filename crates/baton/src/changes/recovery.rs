//! What became of an application of changes that was interrupted.

use baton_model::id::visible;

/// What became of an application that was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recovery {
    /// There was none, or it had written nothing.
    Nothing,
    /// It had written nothing, and its lock of git's index is taken away.
    Unlocked,
    /// It is finished now.
    Finished,
    /// Something else wrote the index meanwhile, so that the files were taken back.
    TakenBack,
}

/// What became of an interrupted application, and of whose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recovered {
    /// What became of it.
    pub recovery: Recovery,
    /// The baton with which its changes came, as far as the journal says.
    pub baton_id: Option<String>,
}

impl Recovered {
    /// Nothing was interrupted.
    pub(crate) fn nothing() -> Self {
        Self { recovery: Recovery::Nothing, baton_id: None }
    }

    /// Which application that was and what became of it, in a sentence; nothing where there was none.
    pub(crate) fn sentence(&self) -> Option<String> {
        let done = match self.recovery {
            Recovery::Nothing => return None,
            Recovery::Unlocked => " before it wrote a file; its index.lock is taken away now",
            Recovery::Finished => " and is finished now",
            Recovery::TakenBack => " and was taken back, because the index was written since",
        };
        let of = self.baton_id.as_ref().map(|id| format!(" of baton {}", visible(id))).unwrap_or_default();
        Some(format!("an application of the changes{of} was interrupted here{done}"))
    }
}

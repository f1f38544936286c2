//! The one table that turns a "no" into what a face shows.

use baton_model::refusal::{ErrorObject, Kind, Refusal};
use baton_store::{Failure, Fault};
use serde_json::{Value, json};

/// What ends a command other than success.
#[derive(Debug)]
pub(crate) enum AppError {
    /// A "no" with its reason.
    Refused(Refusal),
    /// A fault of ours.
    Fault(anyhow::Error),
    /// A negative result that the output already shows: only the exit status is set.
    Reported,
    /// An answer was given, but something outside is not done yet and will be tried again.
    Unfinished,
    /// A tool that was started for the user ended with this exit code, which is ours now.
    Tool(i32),
    /// The user stopped it.
    Interrupted,
}

impl AppError {
    /// What a service answers for a failure of its store: places on this machine's disk and SQL are for its log alone.
    pub(crate) fn of_service(failure: Failure) -> Self {
        match failure {
            Failure::Refused(refusal) => refusal.into(),
            Failure::Fault(fault) => {
                tracing::warn!(%fault, "the store failed");
                fault.without_places().into()
            }
        }
    }

    /// The error object for a caller of the server. A fault is logged with its details; the caller gets a generic
    /// message.
    pub(crate) fn to_service_error(&self) -> ErrorObject {
        if let Self::Fault(error) = self {
            tracing::error!(error = format!("{error:#}"), "a fault");
        }
        self.to_error().filter(|_| !matches!(self, Self::Fault(_))).unwrap_or_else(|| {
            ErrorObject::new("fault", "a fault of the server", "its log, or `baton doctor` there, tells more")
        })
    }
}

impl From<Refusal> for AppError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Fault> for AppError {
    fn from(fault: Fault) -> Self {
        match fault.to_refusal() {
            Some(refusal) => Self::Refused(refusal),
            None => Self::Fault(fault.into()),
        }
    }
}

impl From<Failure> for AppError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(refusal) => refusal.into(),
            Failure::Fault(fault) => fault.into(),
        }
    }
}

impl From<anyhow::Error> for AppError {
    fn from(error: anyhow::Error) -> Self {
        let io = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>());
        match io.filter(|cause| is_full(cause)) {
            Some(_) => output_full_refusal(&error).into(),
            None => Self::Fault(error),
        }
    }
}

impl From<std::io::Error> for AppError {
    fn from(error: std::io::Error) -> Self {
        anyhow::Error::from(error).into()
    }
}

/// Whether a write failed because of what the user can change: room on the disk, a quota, a limit on file sizes.
fn is_full(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
}

fn output_full_refusal(error: &anyhow::Error) -> Refusal {
    Refusal::new(
        Kind::Refused,
        "output_full",
        format!("the output could not be written: {error:#}"),
        "free space where it is written, then repeat the command; `baton status` shows what the ledger has of it",
    )
}

/// The longest sentence that is shown.
const SENTENCE: usize = 1_000;

/// Prepares a sentence that may quote user input: control characters are made visible, and it is truncated to
/// `SENTENCE` characters.
pub(crate) fn quote(sentence: &str) -> String {
    let mut shown: String = sentence.chars().take(SENTENCE).collect();
    if shown.len() < sentence.len() {
        shown.push('…');
    }
    baton_model::id::visible(&shown)
}

impl AppError {
    /// Whether the error is a broken pipe: the reader closed standard output, which is not a failure.
    pub(crate) fn is_unread(&self) -> bool {
        let Self::Fault(error) = self else { return false };
        error.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    }

    /// Whether what was asked for may have been written all the same: the answer did not come.
    pub(crate) fn may_be_written(&self) -> bool {
        match self {
            Self::Refused(refusal) => refusal.kind == Kind::Outside || refusal.code == "commit_unknown",
            Self::Fault(_) | Self::Unfinished | Self::Interrupted => true,
            Self::Reported | Self::Tool(_) => false,
        }
    }

    /// A refusal names the store that the command worked on: another one than was meant is a common reason.
    pub(crate) fn with_store(self, store: &str) -> Self {
        match self {
            // It is about a file of the working copy, and no store.
            Self::Refused(refusal) if refusal.code == "not_committed" => Self::Refused(refusal),
            Self::Refused(refusal) if !refusal.details.contains_key("store") => {
                Self::Refused(refusal.with("store", store))
            }
            other => other,
        }
    }

    /// The documented exit code.
    pub(crate) fn exit_code(&self) -> i32 {
        match self {
            Self::Refused(refusal) => match refusal.kind {
                Kind::Refused | Kind::Invalid | Kind::Unauthorized | Kind::Forbidden => 1,
                Kind::NotFound => 3,
                Kind::Conflict => 4,
                Kind::Outside => 5,
            },
            Self::Fault(_) => 6,
            Self::Reported => 1,
            Self::Unfinished => 5,
            Self::Tool(code) => *code,
            Self::Interrupted => 130,
        }
    }

    /// The HTTP status.
    pub(crate) fn http_status(&self) -> u16 {
        match self {
            Self::Refused(refusal) => match refusal.kind {
                Kind::Invalid => 400,
                Kind::Unauthorized => 401,
                Kind::Forbidden => 403,
                Kind::Refused => 422,
                Kind::NotFound => 404,
                Kind::Conflict => 409,
                Kind::Outside => 503,
            },
            Self::Fault(_) => 500,
            Self::Reported | Self::Unfinished | Self::Tool(_) | Self::Interrupted => 422,
        }
    }

    /// The error object; none where everything has been said.
    pub(crate) fn to_error(&self) -> Option<ErrorObject> {
        match self {
            Self::Refused(refusal) => {
                let (message, hint) = (quote(&refusal.message), quote(&refusal.hint));
                Some(ErrorObject { message, hint, ..ErrorObject::from(refusal) })
            }
            Self::Fault(error) => Some(ErrorObject::new(
                "fault",
                quote(&format!("{error:#}")),
                "this is a fault of ours; `baton doctor` may tell more",
            )),
            Self::Reported | Self::Unfinished | Self::Tool(_) | Self::Interrupted => None,
        }
    }

    /// The error object as what a command answers.
    pub(crate) fn to_json(&self) -> Value {
        self.to_error().map_or_else(|| json!({}), |error| json!({ "error": error }))
    }

    /// What a person reads.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Refused(refusal) => {
                format!(
                    "error: {} [{}]\n  hint: {}\n{}",
                    quote(&refusal.message),
                    refusal.code,
                    quote(&refusal.hint),
                    store_line(refusal)
                )
            }
            Self::Fault(error) => {
                let what = quote(&format!("{error:#}"));
                format!("fault: {what}\n  hint: this is a fault of ours; `baton doctor` may tell more\n")
            }
            Self::Reported | Self::Unfinished | Self::Tool(_) | Self::Interrupted => String::new(),
        }
    }
}

/// The store of a refusal on a line of its own, where what is in the store is the reason.
fn store_line(refusal: &Refusal) -> String {
    let by_content = matches!(refusal.kind, Kind::NotFound | Kind::Conflict | Kind::Refused);
    let store = refusal.details.get("store").and_then(Value::as_str).filter(|_| by_content);
    store.map(|store| format!("  store: {}\n", quote(store))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use anyhow::Context;
    use baton_store::FaultKind;

    use super::*;

    #[test]
    fn what_was_refused_is_not_written_and_what_was_not_answered_may_be() {
        let refusal = |kind, code: &'static str| AppError::from(Refusal::new(kind, code, "x", "y"));
        assert!(!refusal(Kind::Conflict, "session_released").may_be_written());
        assert!(refusal(Kind::Outside, "server_unreachable").may_be_written());
        assert!(refusal(Kind::Conflict, "commit_unknown").may_be_written());
        assert!(AppError::from(anyhow::anyhow!("the disk is full")).may_be_written());
    }

    #[test]
    fn a_full_disk_is_no_fault_of_ours() {
        use std::io::{Error, ErrorKind};
        for kind in [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::FileTooLarge] {
            let bare = AppError::from(Error::from(kind));
            let wrapped = AppError::from(
                Err::<(), _>(Error::from(kind)).context("cannot write a.jsonl").expect_err("an error"),
            );
            for error in [bare, wrapped] {
                assert_eq!(error.exit_code(), 1, "{error:?}");
                assert!(
                    error.text().contains("output_full") && !error.text().contains("fault of ours"),
                    "{error:?}"
                );
            }
        }
        assert_eq!(AppError::from(Error::from(ErrorKind::InvalidData)).exit_code(), 6);
    }

    #[test]
    fn a_fault_is_told_to_callers_elsewhere_without_sql_and_places() {
        let kinds = [
            FaultKind::Busy,
            FaultKind::ReadOnly,
            FaultKind::Full,
            FaultKind::CannotOpen,
            FaultKind::Corrupt,
            FaultKind::Incomplete,
            FaultKind::Replaced,
            FaultKind::Newer { found: 2, known: 1 },
            FaultKind::Older { found: 1, known: 2 },
            FaultKind::Unreachable,
            FaultKind::Untrusted,
            FaultKind::Retry,
            FaultKind::CommitUnknown,
            FaultKind::Other,
        ];
        for kind in kinds {
            let fault = Fault::new(kind, "cannot read /srv/secret/baton.db (in: SELECT body FROM message)");
            let here = AppError::from(fault.clone()).to_json().to_string();
            assert!(here.contains("/srv/secret"), "whoever sits here is told: {here}");
            let there = json!(AppError::of_service(fault.into()).to_service_error()).to_string();
            assert!(!there.contains("/srv") && !there.contains("SELECT"), "{there}");
        }
        let other = AppError::from(std::io::Error::other("/srv/secret/machine-id: permission denied"));
        assert!(!json!(other.to_service_error()).to_string().contains("/srv"));
    }
}

//! What each type of hand-off message tells its receiver. Fields that are not listed here are kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A text, or several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "this is to be a text or a list of texts")]
pub enum TextOrList {
    /// One.
    Text(String),
    /// Several, in order.
    List(Vec<String>),
}

/// A file: its path, with lines behind a colon if need be, or an object that says more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "this is to be a path, or an object with a path")]
pub enum FileRef {
    /// `src/cart.py`, `src/cart.py:40-52`.
    Path(String),
    /// The same with what was done to it.
    Entry {
        /// The path.
        path: String,
        /// `modified`, `added`, `deleted`, …
        #[serde(default)]
        change: Option<String>,
        /// Which lines.
        #[serde(default)]
        lines: Option<String>,
        /// Who changed it, where that is not the sender alone.
        #[serde(default)]
        by: Option<String>,
    },
}

macro_rules! contexts {
    ($($(#[$doc:meta])* $name:ident { $($body:tt)* })+) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
            pub struct $name {
                $($body)*
                /// The role that the task wants.
                #[serde(default)]
                pub role: Option<String>,
                /// Who had the work before.
                #[serde(default)]
                pub previous_agent: Option<String>,
                /// What is to be built.
                #[serde(default)]
                pub what_to_build: Option<String>,
                /// Skills that the task wants: its tags.
                #[serde(default)]
                pub required_skills: Vec<String>,
                /// How long it is likely to take, in minutes.
                #[serde(default)]
                pub estimated_duration_minutes: Option<i64>,
                /// The same as the sender put it: `15 minutes`.
                #[serde(default)]
                pub estimated_duration: Option<Value>,
                /// Names of what was cut (`rest of …`) or left out to stay within the budget; `baton task show ID --full` has it.
                #[serde(default)]
                pub left_out: Vec<String>,
                /// Whatever else the sender said.
                #[serde(flatten)]
                pub extra: Map<String, Value>,
            }
        )+
    };
}

contexts! {
    /// Context of a `task_assignment`.
    Assignment {
        /// What is to be done.
        #[serde(default)]
        pub description: String,
        /// When it is done.
        #[serde(default)]
        pub acceptance_criteria: Option<TextOrList>,
        /// What the sender wants to have minded.
        #[serde(default)]
        pub notes: Option<TextOrList>,
    }
    /// Context of a `task_handoff`.
    Handoff {
        /// What was done.
        #[schemars(length(min = 1))]
        pub work_completed: String,
        /// Which files it touched.
        #[serde(default)]
        pub files_modified: Vec<FileRef>,
        /// What the implementer wants to have known.
        #[serde(default)]
        pub implementation_notes: Option<TextOrList>,
        /// How to test it.
        #[serde(default)]
        pub test_command: Option<String>,
        /// How long testing is likely to take.
        #[serde(default)]
        pub estimated_test_duration: Option<Value>,
        /// What may go wrong.
        #[serde(default)]
        pub potential_issues: Vec<String>,
        /// What is known to be wrong.
        #[serde(default)]
        pub known_issues: Vec<String>,
        /// What failed before, the last one first.
        #[serde(default)]
        pub previous_failures: Vec<Value>,
        /// How to see it happen.
        #[serde(default)]
        pub reproduction_steps: Option<TextOrList>,
    }
    /// Context of a `test_failure_report`.
    Failure {
        /// What failed.
        #[schemars(length(min = 1))]
        pub failure_details: String,
        /// What was written where it failed.
        #[serde(default)]
        pub error_logs: Option<TextOrList>,
        /// How to see it happen.
        #[serde(default)]
        pub reproduction_steps: Option<TextOrList>,
        /// The command that failed.
        #[serde(default)]
        pub test_command: Option<String>,
        /// Files that the failing work touched.
        #[serde(default)]
        pub files_modified: Vec<FileRef>,
        /// What failed before, the last one first.
        #[serde(default)]
        pub previous_failures: Vec<Value>,
    }
    /// Context of a `fix_complete`.
    Fix {
        /// What was fixed.
        #[schemars(length(min = 1))]
        pub work_completed: String,
        /// Which files it touched.
        #[serde(default)]
        pub files_modified: Vec<FileRef>,
        /// How to test it again.
        #[serde(default)]
        pub retest_instructions: Option<TextOrList>,
        /// The command to test it with.
        #[serde(default)]
        pub test_command: Option<String>,
        /// What failed before, the last one first.
        #[serde(default)]
        pub previous_failures: Vec<Value>,
    }
    /// Context of a `verification_request`.
    Verification {
        /// What there is to approve.
        #[schemars(length(min = 1))]
        pub summary: String,
        /// What the tests said.
        #[serde(default)]
        pub test_results: Option<Value>,
        /// Which files are touched.
        #[serde(default)]
        pub files_modified: Vec<FileRef>,
        /// When it is done.
        #[serde(default)]
        pub acceptance_criteria: Option<TextOrList>,
        /// The command that it was tested with.
        #[serde(default)]
        pub test_command: Option<String>,
        /// What failed before, the last one first.
        #[serde(default)]
        pub previous_failures: Vec<Value>,
    }
}

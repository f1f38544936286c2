//! What `baton doctor` says of access tokens: what the first one changes, and which of them reach more than one project.

use baton_model::id::visible;
use baton_ops::token::{List, ListInput};
use serde::Serialize;

use crate::app::App;

/// The access tokens of the store.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Report {
    /// How many were ever made: from the first one on a server asks for one.
    made: usize,
    /// How many are valid.
    valid: usize,
    /// The names of those that reach every project, where there are several.
    unlimited: Vec<String>,
}

/// Reads them; none where the caller may not see them.
pub(super) fn report(app: &mut App, projects: usize) -> Option<Report> {
    let tokens = app.run::<List>(&ListInput {}).ok()?.items;
    let valid: Vec<_> = tokens.iter().filter(|token| token.valid).collect();
    let unlimited = valid.iter().filter(|token| token.projects.is_none() && projects > 1);
    let made = tokens.len();
    Some(Report { made, valid: valid.len(), unlimited: unlimited.map(|token| token.name.clone()).collect() })
}

impl Report {
    /// A line, where there is something to say.
    pub(super) fn text(&self) -> String {
        if self.valid == 0 && self.made > 0 {
            return "access tokens: none is valid; a server on this store refuses every request until one is made\n".to_owned();
        }
        if self.valid == 0 {
            return "access tokens: none; from the first on, every request to a server on this store needs one\n".to_owned();
        }
        if self.unlimited.is_empty() {
            return String::new();
        }
        let names: Vec<String> = self.unlimited.iter().map(|name| visible(name)).collect();
        format!(
            "access tokens that reach every project: {}; `baton token create --only PROJECT` makes one for a single project\n",
            names.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_first_token_changes_is_said_before_and_only_is_named_where_it_helps() {
        let of = |valid, unlimited: &[&str]| {
            Report {
                made: valid,
                valid,
                unlimited: unlimited.iter().map(|name| (*name).to_owned()).collect(),
            }
            .text()
        };
        assert!(of(0, &[]).contains("every request to a server on this store needs one"));
        assert_eq!(of(2, &[]), "");
        let revoked = Report { made: 1, valid: 0, unlimited: Vec::new() }.text();
        assert!(revoked.contains("none is valid; a server on this store refuses every request"), "{revoked}");
        let several = of(2, &["ci", "Ann"]);
        assert!(several.contains("ci, Ann") && several.contains("--only PROJECT"), "{several}");
    }
}

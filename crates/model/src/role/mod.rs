//! Roles: what a specialist is good at and how long it may work, from `AGENT_ROLES.yaml` over built-in defaults.

pub mod file;
mod yaml;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::id::visible;
use crate::refusal::Refusal;
use crate::suggest::suggestions;

/// What the file is called, and where it is looked for in a repository, first one first.
pub const FILES: [&str; 2] = ["AGENT_ROLES.yaml", "droids/AGENT_ROLES.yaml"];

/// The form under which roles are compared: lower case, without the `-specialist` that the file's names end in.
///
/// So `testing`, `Testing` and `testing-specialist` are one role.
pub fn role_key(name: &str) -> String {
    let key = name.trim().to_lowercase();
    match key.strip_suffix("-specialist") {
        Some(short) if !short.is_empty() => short.to_owned(),
        _ => key,
    }
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The built-in default; not configured.
    Default,
    /// Set in the roles file.
    File {
        /// The file as it was given.
        path: String,
        /// Counted from 1.
        line: usize,
    },
}

impl Origin {
    /// `built in`, or the file and its line.
    pub fn describe(&self) -> String {
        match self {
            Self::Default => "built in".to_owned(),
            Self::File { path, line } => format!("{path}:{line}"),
        }
    }
}

/// A value and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithOrigin<T> {
    /// The value.
    pub value: T,
    /// Where it came from.
    pub origin: Origin,
}

impl<T> WithOrigin<T> {
    fn built_in(value: T) -> Self {
        Self { value, origin: Origin::Default }
    }
}

/// A role as it applies. What neither the file nor the defaults say is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// Its name in the form that [`role_key`] makes.
    pub name: String,
    /// What it is good at; a task's tags are matched with these.
    pub skills: Option<WithOrigin<Vec<String>>>,
    /// Kinds of work that it usually gets.
    pub typical_tasks: Option<WithOrigin<Vec<String>>>,
    /// After how many minutes a session of it is to end.
    pub max_session_duration: Option<WithOrigin<i64>>,
    /// How many tasks one agent of it may have at once.
    pub max_concurrent_tasks: Option<WithOrigin<i64>>,
    /// What it answers for.
    pub responsibilities: Option<WithOrigin<String>>,
}

impl Role {
    /// A role of which nothing is known but the name.
    pub fn bare(name: &str) -> Self {
        Self {
            name: role_key(name),
            skills: None,
            typical_tasks: None,
            max_session_duration: None,
            max_concurrent_tasks: None,
            responsibilities: None,
        }
    }

    fn built_in(name: &str, skills: &[&str], tasks: &[&str], minutes: i64, duty: &str) -> Self {
        let texts =
            |list: &[&str]| Some(WithOrigin::built_in(list.iter().map(|s| (*s).to_owned()).collect()));
        Self {
            skills: texts(skills),
            typical_tasks: texts(tasks),
            max_session_duration: Some(WithOrigin::built_in(minutes)),
            responsibilities: Some(WithOrigin::built_in(duty.to_owned())),
            ..Self::bare(name)
        }
    }

    /// Takes over whatever the other one says.
    fn overlay(&mut self, over: Self) {
        fn put<T>(own: &mut Option<T>, over: Option<T>) {
            if over.is_some() {
                *own = over;
            }
        }
        put(&mut self.skills, over.skills);
        put(&mut self.typical_tasks, over.typical_tasks);
        put(&mut self.max_session_duration, over.max_session_duration);
        put(&mut self.max_concurrent_tasks, over.max_concurrent_tasks);
        put(&mut self.responsibilities, over.responsibilities);
    }

    /// The role as answers show it.
    pub fn row(&self) -> RoleRow {
        RoleRow {
            role: self.name.clone(),
            skills: value(&self.skills),
            typical_tasks: value(&self.typical_tasks),
            max_session_duration: value(&self.max_session_duration),
            max_concurrent_tasks: value(&self.max_concurrent_tasks),
            responsibilities: value(&self.responsibilities),
            from: RoleOrigins {
                skills: origin(&self.skills),
                typical_tasks: origin(&self.typical_tasks),
                max_session_duration: origin(&self.max_session_duration),
                max_concurrent_tasks: origin(&self.max_concurrent_tasks),
                responsibilities: origin(&self.responsibilities),
            },
        }
    }
}

fn value<T: Clone>(known: &Option<WithOrigin<T>>) -> Option<T> {
    known.as_ref().map(|known| known.value.clone())
}

fn origin<T>(known: &Option<WithOrigin<T>>) -> Option<String> {
    known.as_ref().map(|known| known.origin.describe())
}

/// A role as answers show it: its values, and under `from` where each came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleRow {
    /// Its name.
    pub role: String,
    /// What it is good at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<String>>,
    /// Kinds of work that it usually gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub typical_tasks: Option<Vec<String>>,
    /// After how many minutes a session of it is to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_session_duration: Option<i64>,
    /// How many tasks one agent of it may have at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_concurrent_tasks: Option<i64>,
    /// What it answers for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responsibilities: Option<String>,
    /// Where each value came from.
    pub from: RoleOrigins,
}

/// Where the values of a role came from: `built in`, or the file and its line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleOrigins {
    /// Of `skills`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skills: Option<String>,
    /// Of `typical_tasks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub typical_tasks: Option<String>,
    /// Of `max_session_duration`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_session_duration: Option<String>,
    /// Of `max_concurrent_tasks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_concurrent_tasks: Option<String>,
    /// Of `responsibilities`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responsibilities: Option<String>,
}

/// The roles that apply in a project, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roles {
    roles: BTreeMap<String, Role>,
    /// The file that was read, if there was one.
    pub file: Option<String>,
}

impl Default for Roles {
    /// The four built-in ones.
    fn default() -> Self {
        let four = [
            Role::built_in(
                "implementation",
                &["python", "javascript", "coding", "refactoring"],
                &["implementation", "coding", "feature-work"],
                120,
                "Write code to meet acceptance criteria",
            ),
            Role::built_in(
                "testing",
                &["testing", "validation", "qa", "automation"],
                &["testing", "verification", "validation"],
                60,
                "Run tests, verify acceptance criteria, document failures",
            ),
            Role::built_in(
                "fixing",
                &["debugging", "troubleshooting", "problem-solving"],
                &["bug-fixes", "error-handling", "patches"],
                90,
                "Investigate failures, implement fixes, ensure tests pass",
            ),
            Role::built_in(
                "verification",
                &["review", "validation", "approval"],
                &["verification", "sign-off", "approval"],
                30,
                "Review test results, confirm quality, approve next increment",
            ),
        ];
        Self { roles: four.into_iter().map(|role| (role.name.clone(), role)).collect(), file: None }
    }
}

impl Roles {
    /// The built-in roles with those of a file laid over them, value by value.
    pub fn with_file(path: &str, text: &str) -> Result<Self, Refusal> {
        let mut roles = Self { file: Some(path.to_owned()), ..Self::default() };
        for role in file::read(path, text)? {
            match roles.roles.get_mut(&role.name) {
                Some(known) => known.overlay(role),
                None => _ = roles.roles.insert(role.name.clone(), role),
            }
        }
        Ok(roles)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Role> {
        self.roles.values()
    }

    /// The role of this name, in any of its spellings.
    pub fn get(&self, name: &str) -> Option<&Role> {
        self.roles.get(&role_key(name))
    }

    /// The role as it is compared; an unknown one is refused with the names that are near.
    pub fn check_known(&self, name: &str) -> Result<String, Refusal> {
        if let Some(role) = self.get(name) {
            return Ok(role.name.clone());
        }
        let names: Vec<&str> = self.roles.keys().map(String::as_str).collect();
        let similar = suggestions(&role_key(name), names.iter().copied());
        let hint = match similar.as_slice() {
            [] => format!("use one of {}, or add it to AGENT_ROLES.yaml", names.join(", ")),
            suggestions => {
                format!("did you mean {}? `baton agent roles` shows them all", suggestions.join(" or "))
            }
        };
        let what = format!("there is no role `{}`", visible(name));
        Err(Refusal::invalid("role_unknown", what, hint).with("role", name).with("near", json!(similar)))
    }
}

#[cfg(test)]
mod tests;

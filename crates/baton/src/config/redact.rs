//! A user's own rules for secrets: what else is taken out, and what stays.

use std::collections::BTreeMap;

use baton_model::refusal::Refusal;
use baton_transcripts::redact::{self, RuleError, Rules};

use super::faults;

const LISTS: [&str; 2] = ["redact.patterns", "redact.allow"];

/// Whether this setting is a list.
pub(super) fn is_list(key: &str) -> bool {
    LISTS.contains(&key)
}

/// A list of a file as the text under which settings are kept.
pub(super) fn text(items: Vec<toml::Value>, key: &str, shown: &str) -> Result<String, Refusal> {
    let text = |item| if let toml::Value::String(text) = item { Some(text) } else { None };
    let texts: Option<Vec<String>> = items.into_iter().map(text).collect();
    texts.map(|texts| serde_json::json!(texts).to_string()).ok_or_else(|| {
        let what = format!("{shown} gives `{key}` something that is no text");
        Refusal::invalid("config_invalid", what, format!("write it as {key} = ['first', 'second']"))
    })
}

/// The rules of the settings. A repository's file gives none unless the user trusts it (`repository.rs`): what it allowed would
/// be shown and passed on.
pub(super) fn read(origins: &BTreeMap<&'static str, (String, String)>) -> Result<Rules, Refusal> {
    let list = |key: &str| origins.get(key).map(|(text, _)| lines(text)).unwrap_or_default();
    let rules = Rules { patterns: list("redact.patterns"), allow: list("redact.allow") };
    if !rules.is_empty() {
        redact::Redactor::with(&rules).map_err(|error| refuse(&error, origins))?;
    }
    Ok(rules)
}

/// Gives the rules to everything in this process that takes secrets out.
pub(super) fn install(rules: &Rules) -> Result<(), Refusal> {
    if rules.is_empty() {
        return Ok(());
    }
    redact::install(rules).map_err(|error| refuse(&error, &BTreeMap::new()))
}

/// The entries of a list: JSON, as it is kept from a file, or one on each line, as a variable has them.
fn lines(text: &str) -> Vec<String> {
    serde_json::from_str(text).unwrap_or_else(|_| {
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
    })
}

fn refuse(error: &RuleError, origins: &BTreeMap<&'static str, (String, String)>) -> Refusal {
    let key = format!("redact.{}", error.list);
    let origin = origins.get(key.as_str()).map_or("the settings", |(_, origin)| origin);
    let what = format!("{origin}: {error}");
    let hint = "mend or remove this rule, then try it: baton redact --check < FILE";
    let refusal = Refusal::invalid("config_invalid", what, hint).with("rule", error.rule.as_str());
    faults::of(&key, refusal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(key: &'static str, value: &str, origin: &str) -> Result<Rules, Refusal> {
        read(&[(key, (value.to_owned(), origin.to_owned()))].into())
    }

    #[test]
    fn rules_come_from_a_list_or_from_lines() {
        let listed = check("redact.patterns", r#"["a+b", "c"]"#, "/u/config.toml").expect("rules");
        assert_eq!(listed.patterns, ["a+b", "c"]);
        let lines = check("redact.allow", "one two\n  /x+/ \n\n", "env BATON_REDACT_ALLOW").expect("rules");
        assert_eq!(lines.allow, ["one two", "/x+/"]);
    }

    #[test]
    fn a_rule_that_cannot_be_used_is_named_with_where_it_stands() {
        let refusal = check("redact.patterns", r#"["(", "a"]"#, "/u/config.toml").expect_err("a refusal");
        assert!(
            refusal.to_string().contains("/u/config.toml: `(` in `patterns`: it is no regular"),
            "{refusal}"
        );
        let refusal = check("redact.patterns", "a{1000}{1000}", "env X").expect_err("large");
        assert!(refusal.to_string().contains("too large"), "{refusal}");
    }
}

//! The query language of `bd query`: `status=open AND (priority<=1 OR label=urgent) AND updated>7d`.

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_model::task::word::{full_type, priority};

use super::flags::{assigned_to, instant};
use super::{Condition, Field, Relation, Test};

/// How deep parentheses and NOT may be nested.
const DEEPEST: usize = 64;

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Open,
    Close,
    And,
    Or,
    Not,
    Compare { field: String, operator: Operator, value: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
}

/// Reads an expression.
pub(in crate::cli::bd) fn parse(text: &str) -> Result<Condition, Refusal> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, depth: 0 };
    let condition = parser.parse_or()?;
    match parser.tokens.first() {
        None => Ok(condition),
        Some(_) => Err(invalid_refusal("a word stands after the end of the expression")),
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    depth: usize,
}

impl Parser<'_> {
    fn take(&mut self) -> Option<Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first.clone())
    }

    fn parse_or(&mut self) -> Result<Condition, Refusal> {
        let mut parts = vec![self.parse_and()?];
        while self.tokens.first() == Some(&Token::Or) {
            self.take();
            parts.push(self.parse_and()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::Any(parts) })
    }

    fn parse_and(&mut self) -> Result<Condition, Refusal> {
        let mut parts = vec![self.parse_condition()?];
        while self.tokens.first() == Some(&Token::And) {
            self.take();
            parts.push(self.parse_condition()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::All(parts) })
    }

    fn parse_condition(&mut self) -> Result<Condition, Refusal> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(invalid_refusal("it is nested too deep"));
        }
        let found = match self.take() {
            Some(Token::Not) => Condition::Not(Box::new(self.parse_condition()?)),
            Some(Token::Open) => {
                let inner = self.parse_or()?;
                if self.take() != Some(Token::Close) {
                    return Err(invalid_refusal("a parenthesis is not closed"));
                }
                inner
            }
            Some(Token::Compare { field, operator, value }) => comparison(&field, operator, &value)?,
            _ => return Err(invalid_refusal("a comparison such as status=open is missing")),
        };
        self.depth -= 1;
        Ok(found)
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, Refusal> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix(['(', ')']) {
            found.push(if first == '(' { Token::Open } else { Token::Close });
            rest = after.trim_start();
            continue;
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let after = after.trim_start();
        if let Some((operator, after)) = operator(after).filter(|_| !word.is_empty()) {
            let (value, after) = value(after.trim_start())?;
            found.push(Token::Compare { field: word.to_lowercase(), operator, value });
            rest = after.trim_start();
            continue;
        }
        found.push(match word.to_lowercase().as_str() {
            "and" => Token::And,
            "or" => Token::Or,
            "not" => Token::Not,
            _ => return Err(invalid_refusal(&format!("`{}` is not understood", visible(rest)))),
        });
        rest = after;
    }
    Ok(found)
}

fn operator(text: &str) -> Option<(Operator, &str)> {
    let operators = [
        ("!=", Operator::Unequal),
        ("<=", Operator::AtMost),
        (">=", Operator::AtLeast),
        ("==", Operator::Equal),
        ("=", Operator::Equal),
        ("<", Operator::Less),
        (">", Operator::More),
    ];
    operators.iter().find_map(|(sign, operator)| Some((*operator, text.strip_prefix(sign)?)))
}

/// A value, in quotes or up to the next space or parenthesis.
fn value(text: &str) -> Result<(String, &str), Refusal> {
    if let Some(quote) = text.chars().next().filter(|c| *c == '"' || *c == '\'') {
        let inner = text.get(1..).unwrap_or_default();
        let (value, after) =
            inner.split_once(quote).ok_or_else(|| invalid_refusal("a quotation mark is not closed"))?;
        return Ok((value.to_owned(), after));
    }
    let end = text.find(|c: char| c.is_whitespace() || c == '(' || c == ')').unwrap_or(text.len());
    let (value, after) = text.split_at(end);
    if value.is_empty() {
        return Err(invalid_refusal("a value is missing"));
    }
    Ok((value.to_owned(), after))
}

fn comparison(field: &str, operator: Operator, value: &str) -> Result<Condition, Refusal> {
    let Some(field) = field_by_name(field) else {
        let near = baton_model::suggest::suggestions(field, FIELDS.iter().map(|(name, _)| *name));
        let hint = near.first().map(|name| format!("did you mean {name}? ")).unwrap_or_default();
        let names: Vec<&str> = FIELDS.iter().map(|(name, _)| *name).collect();
        let what = format!("`{}` is not a field of an issue", visible(field));
        return Err(Refusal::invalid(
            "query_invalid",
            what,
            format!("{hint}the fields are {}", names.join(", ")),
        ));
    };
    let relation = match operator {
        Operator::Less => Relation::Less,
        Operator::AtMost => Relation::AtMost,
        Operator::Equal | Operator::Unequal => Relation::Equal,
        Operator::AtLeast => Relation::AtLeast,
        Operator::More => Relation::More,
    };
    let condition = match field {
        Field::Created | Field::Updated | Field::Started | Field::Closed | Field::Due | Field::Deferred => {
            match value {
                "none" => Condition::Field(field, Test::Empty),
                _ => Condition::Field(field, Test::Time(relation, instant(value)?)),
            }
        }
        Field::Priority => Condition::Field(field, Test::Number(relation, priority(value)?)),
        _ if relation != Relation::Equal => {
            return Err(invalid_refusal("only priority and times can be less or more than a value"));
        }
        Field::Pinned | Field::Ephemeral | Field::Template => {
            let wanted = match value {
                "true" | "yes" | "1" => true,
                "false" | "no" | "0" => false,
                _ => return Err(invalid_refusal(&format!("`{}` is neither true nor false", visible(value)))),
            };
            Condition::Field(field, Test::Flag(wanted))
        }
        _ => text_condition(field, value),
    };
    Ok(if operator == Operator::Unequal { Condition::Not(Box::new(condition)) } else { condition })
}

fn text_condition(field: Field, value: &str) -> Condition {
    let test = match field {
        _ if value == "none" => Test::Empty,
        Field::Assignee => return assigned_to(value),
        Field::Title | Field::Description | Field::Notes => Test::Contains(value.to_owned()),
        Field::Type => Test::Is(full_type(value).to_owned()),
        _ if value.contains('*') => Test::Glob(value.to_owned()),
        _ => Test::Is(value.to_owned()),
    };
    Condition::Field(field, test)
}

const FIELDS: [(&str, Field); 23] = [
    ("id", Field::Id),
    ("title", Field::Title),
    ("description", Field::Description),
    ("notes", Field::Notes),
    ("status", Field::Status),
    ("type", Field::Type),
    ("assignee", Field::Assignee),
    ("owner", Field::Owner),
    ("parent", Field::Parent),
    ("external", Field::External),
    ("spec", Field::Spec),
    ("mol_type", Field::MolType),
    ("label", Field::Label),
    ("priority", Field::Priority),
    ("created", Field::Created),
    ("updated", Field::Updated),
    ("started", Field::Started),
    ("closed", Field::Closed),
    ("due", Field::Due),
    ("deferred", Field::Deferred),
    ("pinned", Field::Pinned),
    ("ephemeral", Field::Ephemeral),
    ("template", Field::Template),
];

fn field_by_name(word: &str) -> Option<Field> {
    FIELDS.iter().find(|(name, _)| *name == word).map(|(_, field)| *field)
}

fn invalid_refusal(what: &str) -> Refusal {
    Refusal::invalid(
        "query_invalid",
        format!("this query cannot be read: {what}"),
        "bd query \"status=open AND (priority<=1 OR label=urgent) AND updated>7d\"",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_model::task::view::View;

    fn issue() -> View {
        View {
            id: "shop-1".into(),
            title: "Fix the login page".into(),
            status: "open".into(),
            priority: 1,
            issue_type: "bug".into(),
            labels: vec!["urgent".into(), "tech-debt".into()],
            ..View::default()
        }
    }

    #[test]
    fn an_expression_takes_the_issues_that_it_describes() {
        for yes in [
            "status=open",
            "STATUS = open and priority <= 1",
            "(status=open OR status=blocked) AND priority<2",
            "NOT status=closed",
            "assignee=none AND type=bug",
            "label=tech-* AND label=urgent",
            "title=\"login page\"",
            "status!=closed",
            "id=shop-*",
            "created<1d",
            "pinned=false",
            "not (label=a or label=b)",
        ] {
            assert!(parse(yes).expect(yes).holds(&issue()), "{yes}");
        }
        for refusal in
            ["status=closed", "priority>1", "assignee=Ann", "label=tech", "created>1d", "closed>30d"]
        {
            assert!(!parse(refusal).expect(refusal).holds(&issue()), "{refusal}");
        }
    }

    #[test]
    fn and_binds_tighter_than_or() {
        assert!(parse("status=open OR status=closed AND priority=4").expect("read").holds(&issue()));
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_an_example() {
        let nested = "(".repeat(100);
        for bad in [
            "",
            "status",
            "status=",
            "(status=open",
            "status=open)",
            "colour=red",
            "status>open",
            "title=\"x",
            "priority=9",
            &nested,
        ] {
            let refusal = parse(bad).expect_err(bad);
            assert!(!refusal.hint.is_empty(), "{bad}");
        }
        assert!(parse("statsu=open").expect_err("a slip").hint.contains("status"));
    }
}

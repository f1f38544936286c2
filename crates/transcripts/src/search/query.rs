//! Parses a search query for sessions.

use super::words::words;

/// More words than this are not asked for at once.
const MAX_WORDS: usize = 32;

/// A query: all of its terms must occur.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// Its terms, each once. None where nothing that was typed is a word.
    pub terms: Vec<Term>,
    /// How many words were left out because there were too many.
    pub left_out: usize,
}

/// A word or a phrase.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Term {
    /// Its words, with single spaces between them.
    pub words: String,
    /// Whether the last of them may go on.
    pub prefix: bool,
}

impl Query {
    /// Reads a query: words, `"phrases"`, and beginnings of words with a star behind. Nothing is an error: a quote without
    /// an end goes to the end, and every other sign is a space between words that belong together: `a.b` is a phrase.
    pub fn parse(text: &str) -> Self {
        let mut query = Self::default();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let (term, after) = match rest.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
                None => {
                    rest.split_at(rest.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(rest.len()))
                }
            };
            // Outside of quotes the star belongs to the word, else it stands behind the quote.
            let prefix = if rest.starts_with('"') { after.starts_with('*') } else { term.ends_with('*') };
            query.add(Term { words: words(term), prefix });
            rest = after.trim_start();
        }
        query
    }

    fn add(&mut self, term: Term) {
        if term.words.is_empty() || self.terms.contains(&term) {
            return;
        }
        if self.terms.len() < MAX_WORDS { self.terms.push(term) } else { self.left_out += 1 }
    }

    /// The query in the language of the index.
    pub fn expression(&self) -> String {
        self.terms.iter().map(Term::expression).collect::<Vec<_>>().join(" AND ")
    }
}

impl Term {
    /// The term in the language of the index. It holds letters, digits, pictographs and spaces only: there is nothing in
    /// it that could end the quotes.
    pub fn expression(&self) -> String {
        format!("\"{}\"{}", self.words, if self.prefix { "*" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expression: &str) {
        assert_eq!(Query::parse(text).expression(), expression, "{text}");
    }

    #[test]
    fn words_phrases_and_beginnings_are_told_apart() {
        check("round cents", "\"round\" AND \"cents\"");
        check("\"round to cents\" price", "\"round to cents\" AND \"price\"");
        check("pars*", "\"pars\"*");
        check("\"round to ce\"* x", "\"round to ce\"* AND \"x\"");
        check("src/foo_bar.rs", "\"src foo bar rs\"");
        check("twice twice", "\"twice\"");
    }

    #[test]
    fn nothing_that_is_typed_is_an_error() {
        check("\"no end", "\"no end\"");
        check(
            "a AND b OR NOT c NEAR(d, 2)",
            "\"a\" AND \"AND\" AND \"b\" AND \"OR\" AND \"NOT\" AND \"c\" AND \"NEAR d\" AND \"2\"",
        );
        check("col:x ^y -z {a b} + (", "\"col x\" AND \"y\" AND \"z\" AND \"a\" AND \"b\"");
        check("修复 🎉", "\"修 复\" AND \"🎉\"");
        for nothing in ["", "  ", "\"", "\"\"", "\"\"\"", "*", "* \"*\"*", "\0", "─┐ ''", "\u{e000}"] {
            check(nothing, "");
        }
    }

    #[test]
    fn a_page_that_was_pasted_is_cut_and_says_so() {
        let page: String = (0..100).map(|n| format!("w{n} ")).collect();
        let query = Query::parse(&page);
        assert_eq!((query.terms.len(), query.left_out), (32, 68));
    }
}

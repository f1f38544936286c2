//! Passphrases go as a whole, and texts about passwords stay.

use super::check;

/// A name, a sign of assignment, quotes: everything between them is `{}`.
const PLACES: &[&str] = &[
    "password = \"{}\"",
    "password: '{}'",
    "db_password = \"{}\"",
    "let passphrase = \"{}\";",
    "mysql --password=\"{}\" app",
    "mysql --password '{}' app",
    "mysql -p'{}' app",
    "{\"password\": \"{}\"}",
    "{\\\"password\\\": \\\"{}\\\"}",
    "PGPASSWORD=\"{}\" psql",
    "{\"name\": \"DB_PASSWORD\", \"value\": \"{}\"}",
    "<add key=\"Password\" value=\"{}\"/>",
    "the password is \"{}\"",
];

const PHRASES: &[&str] = &[
    "my dog Rex 2019",
    "correct horse battery",
    "correct horse battery staple",
    "Correct Horse Battery Staple",
    "Rex, Bello, Waldi 77",
    "grüne Katzen schlafen",
    "horse b4ttery",
];

/// What stands in such quotes and is no secret.
const TEXTS: &[&str] = &[
    "must be at least 8 characters",
    "Enter your password",
    "Choose another",
    "Choose another one",
    "not set",
    "required, 8 digits",
    "Old secret",
    "horse battery",
    "Two Factor Authentication",
    "8 to 64 symbols",
    "see above or below",
    "does not match",
    "expired 30 days ago",
    "supplied by vault",
];

#[test]
fn a_passphrase_in_quotes_goes_as_a_whole_wherever_it_stands() {
    let left: Vec<String> = PLACES
        .iter()
        .flat_map(|place| PHRASES.iter().map(|phrase| place.replace("{}", phrase)))
        .map(|text| check(&text))
        .filter(|out| !out.contains("[redacted:") || out.contains(['2', '4', '7']) || out.contains("horse"))
        .collect();
    assert!(left.is_empty(), "{left:#?}");
}

#[test]
fn a_text_about_a_password_stays() {
    let changed: Vec<String> = ["password: \"{}\"", "{\"password\": \"{}\"}", "password = '{}'"]
        .iter()
        .flat_map(|place| TEXTS.iter().map(|text| place.replace("{}", text)))
        .filter(|text| check(text) != *text)
        .collect();
    assert!(changed.is_empty(), "{changed:#?}");
}

#[test]
fn the_address_of_a_share_is_of_no_use_afterwards() {
    let secret = "71670f54d801e2b3db034ec307c131666da0960d65e5922c12bacd560e0a9468";
    for (before, after) in [
        ("http://127.0.0.1:7709/share/", "\n"),
        ("Here it is: ", "."),
        ("\"address\":\"https://b.example/share/", "\""),
    ] {
        let text = format!("{before}share_{secret}{after}");
        assert_eq!(check(&text), format!("{before}[redacted:baton-share]{after}"));
    }
}

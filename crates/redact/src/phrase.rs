//! Passphrases: several words that are a secret, and not a text about one.

use crate::entropy::bits;
use crate::naming::is_type;

/// Words of a text that describes a passphrase, or where it is.
const SPEECH: &str = "the your you must should enter please with for and not new this that is are was of to in on be has have from at \
    least most more than min max one only use type repeat confirm forgot wrong invalid missing empty password \
    passwords passphrase character characters chars digit digits letters letter word words value field user account \
    login base64 text hash hashed a an it its if or as no can cannot may will needs need required optional minimum \
    maximum contain contains number numbers symbol symbols sign signs length long short upper lower uppercase \
    lowercase case special same another different again choose change changed reset set does do did match matches \
    mismatch incorrect failed failure error expired expires supplied provided given stored hidden shown see above \
    below here there when where how why before after by via without random generated unknown unset default example \
    placeholder string null none true false bitte passwort kennwort eingeben neues altes mot passe oublié contraseña \
    clave senha palavra";

/// Whether words in quotes are a passphrase: one word mixes letters and digits, or three or more words stand as in no label, with a
/// number among them, all begun small, or four begun with capitals.
pub(crate) fn is_phrase(value: &str) -> bool {
    let words: Vec<&str> =
        value.split_whitespace().map(|word| word.trim_matches([',', '.', ';', ':', '!', '-'])).collect();
    if words.iter().any(|word| is_speech(word)) {
        return false;
    }
    words.iter().any(|word| is_mixed(word)) || words.len() >= 3 && is_chain(&words)
}

fn is_speech(word: &str) -> bool {
    let word = word.to_lowercase();
    SPEECH.split_whitespace().any(|known| known == word)
}

fn is_mixed(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    word.len() >= 4 && digits > 0 && digits < word.len() && bits(word) >= 1.9 && !is_type(word)
}

/// Whether words are written as a passphrase of words is, and as no label or sentence is.
fn is_chain(words: &[&str]) -> bool {
    const MIN_LETTERS: usize = 10;
    let is_number = |word: &str| word.len() >= 2 && word.bytes().all(|byte| byte.is_ascii_digit());
    let begins = |word: &str, is: fn(char) -> bool| word.chars().next().is_some_and(is);
    let (numbers, words): (Vec<&str>, Vec<&str>) = words.iter().copied().partition(|word| is_number(word));
    let letters: usize = words.iter().map(|word| word.chars().count()).sum();
    let is_plain = words.iter().all(|word| !word.is_empty() && word.chars().all(char::is_alphabetic));
    let is_small = words.first().is_some_and(|word| begins(word, |c| !c.is_uppercase()));
    let is_titled = words.len() >= 4 && words.iter().all(|word| begins(word, char::is_uppercase));
    is_plain && (!numbers.is_empty() || letters >= MIN_LETTERS && (is_small || is_titled))
}

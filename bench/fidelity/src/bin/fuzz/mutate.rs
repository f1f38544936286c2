//! Damage: of bytes, of lines, of JSON.

use serde_json::{Map, Number, Value};

/// Numbers that repeat for a seed.
pub struct Dice(pub u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 for an empty choice.
    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.roll() >> 33).unwrap_or_default() % n.max(1)
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }
}

/// A damaged copy: one to four injuries.
pub fn damaged(dice: &mut Dice, bytes: &[u8]) -> Vec<u8> {
    let mut made = bytes.to_vec();
    for _ in 0..=dice.below(4) {
        made = match dice.below(8) {
            0 => in_bytes(dice, made),
            1 | 2 => in_lines(dice, made),
            _ => in_json(dice, made),
        };
        made.truncate(4 * 1024 * 1024);
    }
    made
}

fn in_bytes(dice: &mut Dice, mut made: Vec<u8>) -> Vec<u8> {
    let at = dice.below(made.len() + 1);
    match dice.below(6) {
        0 => made.truncate(at),
        1 => drop(made.drain(..at)),
        2 => {
            if let Some(byte) = made.get_mut(at) {
                *byte ^= 1 << dice.below(8);
            }
        }
        3 => {
            let end = (at + dice.below(64)).min(made.len());
            made.drain(at..end);
        }
        4 => {
            let what: &[&[u8]] = &[
                b"\0",
                b"\xff\xfe",
                b"\xef\xbb\xbf",
                b"\"",
                b"{",
                b"]",
                b"\\u",
                b"\r\n",
                b"\n\n",
                b"\xf0\x9f",
                b"```",
                b"---",
            ];
            let piece = what[dice.below(what.len())];
            made.splice(at..at, piece.iter().copied());
        }
        _ => {
            let end = (at + dice.below(4_096)).min(made.len());
            let piece = made[at..end].to_vec();
            let to = dice.below(made.len() + 1);
            made.splice(to..to, piece);
        }
    }
    made
}

fn in_lines(dice: &mut Dice, made: Vec<u8>) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = made.split_inclusive(|byte| *byte == b'\n').collect();
    if lines.is_empty() {
        return made;
    }
    let (a, b) = (dice.below(lines.len()), dice.below(lines.len()));
    match dice.below(5) {
        0 => drop(lines.remove(a)),
        1 => lines.swap(a, b),
        2 => lines.insert(a, lines[b]),
        3 => lines.truncate(a),
        _ => {
            let again: Vec<&[u8]> = lines[a.min(b)..a.max(b)].to_vec();
            lines.extend(again);
        }
    }
    lines.concat()
}

/// Changes one value of the whole document, or of one line.
fn in_json(dice: &mut Dice, made: Vec<u8>) -> Vec<u8> {
    if let Ok(mut value) = serde_json::from_slice::<Value>(&made) {
        twist(dice, &mut value);
        return value.to_string().into_bytes();
    }
    let mut lines: Vec<Vec<u8>> = made.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let count = lines.len();
    if let Some(line) = lines.get_mut(dice.below(count))
        && let Ok(mut value) = serde_json::from_slice::<Value>(line)
    {
        twist(dice, &mut value);
        *line = format!("{value}\n").into_bytes();
        return lines.concat();
    }
    in_bytes(dice, made)
}

/// Walks down at random and changes what is there.
fn twist(dice: &mut Dice, value: &mut Value) {
    match value {
        Value::Object(fields) if !fields.is_empty() && !dice.chance(5) => {
            let key = fields.keys().nth(dice.below(fields.len())).cloned().unwrap_or_default();
            match dice.below(9) {
                0 => drop(fields.remove(&key)),
                1 => {
                    let strange = odd(dice);
                    fields.insert(key, strange);
                }
                2 => {
                    let moved = fields.remove(&key).unwrap_or_default();
                    let other =
                        fields.keys().nth(dice.below(fields.len())).cloned().unwrap_or_else(|| "x".into());
                    fields.insert(other, moved);
                }
                _ => twist(dice, fields.entry(key).or_insert(Value::Null)),
            }
        }
        Value::Array(items) if !items.is_empty() && !dice.chance(5) => {
            let at = dice.below(items.len());
            match dice.below(6) {
                0 => drop(items.remove(at)),
                1 => items.push(items[at].clone()),
                2 => items.reverse(),
                _ => twist(dice, &mut items[at]),
            }
        }
        // A text that holds JSON itself, as tool calls often do.
        Value::String(text) if text.starts_with(['{', '[']) && dice.chance(2) => {
            if let Ok(mut inner) = serde_json::from_str::<Value>(text) {
                twist(dice, &mut inner);
                *text = inner.to_string();
            } else {
                text.truncate(text.char_indices().nth(dice.below(20)).map_or(0, |(at, _)| at));
            }
        }
        Value::String(text) if dice.chance(2) => *text = odd_text(dice, text),
        other => *other = odd(dice),
    }
}

fn odd(dice: &mut Dice) -> Value {
    match dice.below(10) {
        0 => Value::Null,
        1 => Value::Bool(dice.chance(2)),
        2 => Number::from_f64(1e308).map_or(Value::Null, Value::Number),
        3 => i64::MIN.into(),
        4 => u64::MAX.into(),
        5 => Value::Array(Vec::new()),
        6 => Value::Object(Map::new()),
        7 => (0..60).fold(Value::Null, |inner, _| Value::Array(vec![inner])),
        8 => 0.into(),
        _ => odd_text(dice, "").into(),
    }
}

fn odd_text(dice: &mut Dice, known: &str) -> String {
    let half = known.char_indices().nth(dice.below(known.len())).map_or(0, |(at, _)| at);
    match dice.below(12) {
        0 => String::new(),
        1 => known[..half].to_owned(),
        2 => known.repeat(3),
        3 => "é🦀\u{202e}\u{0}\u{feff}".to_owned() + known,
        4 => "*** Begin Patch\n*** Update File: ".to_owned() + known,
        5 => "Process exited with code 99999999999999999999".to_owned(),
        6 => "a".repeat(100_000),
        7 => "diff --git a/x b/y\n--- a/x\n+++ b/y\n@@ -1,9999999999 +1 @@\n+".to_owned() + known,
        8 => "9999-99-99T99:99:99Z".to_owned(),
        9 => "../../../../etc/passwd".to_owned(),
        10 => "```\n".to_owned() + known + "\n~~~~",
        _ => "git commit -m \"$(cat <<'EOF'\nx".to_owned(),
    }
}

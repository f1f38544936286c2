//! Suggestions for a mistyped name.

/// The known names that are nearest to this one, nearest first, at most three. Letters of another case count as the same.
pub fn suggestions<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = name.to_lowercase();
    let limit = (wanted.chars().count() / 3).max(1);
    let mut found: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|candidate| {
            let folded = candidate.to_lowercase();
            let begins = wanted.len() >= 3 && (folded.starts_with(&wanted) || wanted.starts_with(&folded));
            let ends = folded.len() >= 5 && wanted.ends_with(&format!("_{folded}"));
            let far = distance(&letters(&wanted), &letters(&folded));
            (far <= limit || ends || (begins && folded.len() >= 3)).then_some((far, candidate))
        })
        .collect();
    found.sort();
    found.truncate(3);
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

fn letters(word: &str) -> Vec<char> {
    word.chars().collect()
}

/// How many letters have to be added, left out, changed or swapped with their neighbour.
pub(crate) fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = changed.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_near() {
        let known = ["Donna", "Lola", "BlueLake"];
        assert_eq!(suggestions("Dona", known), ["Donna"]);
        assert_eq!(suggestions("donna", known), ["Donna"]);
        assert_eq!(suggestions("Lloa", known), ["Lola"]);
        assert_eq!(suggestions("blue", known), ["BlueLake"]);
        assert_eq!(suggestions("Rex", known), [""; 0]);
        assert_eq!(suggestions("agent_context", ["context", "id", "reason"]), ["context"]);
    }

    #[test]
    fn the_nearest_comes_first_and_there_are_at_most_three() {
        assert_eq!(suggestions("taske", ["tasks", "task", "taskers", "tasked", "taske1"]).len(), 3);
        assert_eq!(suggestions("pickups", ["pickup_", "pickup"])[0], "pickup");
        assert_eq!(distance(&[], &letters("abc")), 3);
        assert_eq!(distance(&letters("abc"), &letters("acb")), 1);
    }
}

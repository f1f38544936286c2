//! Lists that the budget cuts say how much is missing at their end.

use super::*;

/// A packet with so many entries of each list.
fn listed(count: usize) -> Packet {
    let texts = |what: &str| {
        let text = |n: usize| {
            format!(
                r#"{{"text": "{what} {n}: the reader of part {n} has a word of its own for every kind of field"}}"#
            )
        };
        (0..count).map(text).collect::<Vec<_>>().join(",")
    };
    let each = |show: &dyn Fn(usize) -> String| (0..count).map(show).collect::<Vec<_>>().join(",");
    let decisions = each(&|n| {
        format!(
            r#"{{"what": "Part {n} keeps the order of its fields, since a reader compares line by line"}}"#
        )
    });
    let attempts =
        each(&|n| format!(r#"{{"tried": "A cache for part {n} in the folder of the user's own settings"}}"#));
    let commands =
        each(&|n| format!(r#"{{"command": "make part-{n} --with everything", "exit_code": {}}}"#, n % 3 + 1));
    let checks = each(&|n| format!(r#"{{"command": "make check-{n} --with everything", "exit_code": 2}}"#));
    fixtures::packet(&format!(
        r#"{{"summary": "Ported.", "constraints": [{}], "open_loops": [{}], "decisions": [{decisions}],
            "failed_attempts": [{attempts}], "commands": [{commands}], "checks": [{checks}]}}"#,
        texts("Keep"),
        texts("Whether"),
    ))
}

/// The lines of a section of the document.
fn section<'t>(text: &'t str, title: &str) -> Vec<&'t str> {
    let part = text.split("\n## ").find_map(|part| part.strip_prefix(title)?.strip_prefix('\n'));
    part.map_or_else(Vec::new, |part| part.lines().filter(|line| line.starts_with("- ")).collect())
}

#[test]
fn a_list_that_is_cut_says_at_its_end_how_many_are_missing() {
    let titles = ["Constraints", "Open Questions", "Key Decisions", "Failed Attempts", "Commands", "Checks"];
    let (packet, mut cut) = (listed(12), 0);
    for tokens in [500, 700, 1000, 1400, 2000, 4000] {
        let text = render(&packet, &at(tokens)).text;
        assert!(estimate_tokens(&text) <= tokens, "{tokens}");
        for title in titles {
            let lines = section(&text, title);
            let entries = lines.iter().filter(|line| !line.starts_with("- … and ")).count();
            let marks: Vec<&&str> = lines.iter().filter(|line| line.starts_with("- … and ")).collect();
            match entries {
                0 | 12 => assert!(marks.is_empty(), "{tokens} {title}: {lines:#?}"),
                shown => {
                    let mark = format!("- … and {} more", 12 - shown);
                    assert_eq!(lines.last(), Some(&mark.as_str()), "{tokens} {title}: {lines:#?}");
                    cut += 1;
                }
            }
        }
    }
    assert!(cut > 8, "{cut} lists were cut");
    assert!(!render(&packet, &options(Preset::Full)).text.contains("… and "));
}

//! What a scenario found, as lines for people or as one JSON document.

use serde_json::{Value, json};

use crate::lab::Lab;
use crate::machine;
use crate::sides::Spread;

/// What the project wants of a figure.
#[derive(Debug, Clone, Copy)]
pub enum Target {
    /// This or less.
    AtMost(f64),
    /// This or more.
    AtLeast(f64),
}

/// One figure.
pub struct Line {
    name: String,
    value: f64,
    unit: &'static str,
    spread: Option<Spread>,
    target: Option<Target>,
    note: String,
}

impl Line {
    /// A figure of one measurement.
    pub fn new(name: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Self { name: name.into(), value, unit, spread: None, target: None, note: String::new() }
    }

    /// A figure of several.
    pub fn spread(name: impl Into<String>, spread: Spread, unit: &'static str) -> Self {
        Self { spread: Some(spread), ..Self::new(name, spread.median, unit) }
    }

    /// With what is wanted.
    pub fn target(self, target: Target) -> Self {
        Self { target: Some(target), ..self }
    }

    /// With a remark.
    pub fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    fn met(&self) -> Option<bool> {
        self.target.map(|target| match target {
            Target::AtMost(limit) => self.value <= limit,
            Target::AtLeast(limit) => self.value >= limit,
        })
    }

    fn text(&self) -> String {
        let mut text = format!("  {:46} {:>9} {:3}", self.name, number(self.value), self.unit);
        if let Some(s) = self.spread {
            text.push_str(&format!("  [{} … {}, {} runs]", number(s.p10), number(s.p90), s.runs));
        }
        if let (Some(target), Some(met)) = (self.target, self.met()) {
            let (sign, limit) = match target {
                Target::AtMost(limit) => ("≤", limit),
                Target::AtLeast(limit) => ("≥", limit),
            };
            let word = if met { "met" } else { "MISSED" };
            text.push_str(&format!("  target {sign} {} {}: {word}", number(limit), self.unit));
        }
        if !self.note.is_empty() {
            text.push_str(&format!("  ({})", self.note));
        }
        text
    }

    fn json(&self) -> Value {
        let spread = self.spread.map(|s| json!({ "p10": s.p10, "p90": s.p90, "runs": s.runs }));
        let target = self.target.map(|target| match target {
            Target::AtMost(limit) => json!({ "at_most": limit }),
            Target::AtLeast(limit) => json!({ "at_least": limit }),
        });
        json!({
            "name": self.name, "value": self.value, "unit": self.unit, "spread": spread, "target": target,
            "met": self.met(), "note": self.note,
        })
    }
}

fn number(value: f64) -> String {
    match value.abs() {
        large if large >= 1000.0 => format!("{value:.0}"),
        large if large >= 100.0 => format!("{value:.1}"),
        large if large >= 1.0 || large == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// Everything of a run.
pub struct Report {
    json: bool,
    machine: String,
    scenarios: Vec<Value>,
}

impl Report {
    /// A report that says first what the machine is.
    pub fn new(json: bool, lab: &Lab) -> Self {
        let machine = machine::line(lab.dir());
        if !json {
            println!("{machine}");
        }
        Self { json, machine, scenarios: Vec::new() }
    }

    /// Adds what a scenario found, and prints it at once where people read along.
    pub fn add(&mut self, name: &str, lines: Vec<Line>) {
        if !self.json {
            println!("\n{name}");
            lines.iter().for_each(|line| println!("{}", line.text()));
        }
        let lines: Vec<Value> = lines.iter().map(Line::json).collect();
        self.scenarios.push(json!({ "name": name, "lines": lines }));
    }

    /// Ends the report.
    pub fn finish(self) {
        if self.json {
            println!("{:#}", json!({ "machine": self.machine, "scenarios": self.scenarios }));
        }
    }
}

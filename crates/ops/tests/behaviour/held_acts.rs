//! Who may do what with what another holds: each operation, with each kind of token. The inputs are made from the operations' own
//! schemas. Whoever adds an operation says here what a token of each kind does with it to something of another's.

use std::collections::BTreeSet;

use baton_model::access::Scope;
use baton_ops::all;
use baton_ops::op::{OperationEntry, Reach, TxMode};
use serde_json::{Value, json};

use crate::backend::Backend;
use crate::bearers::bearing;
use crate::others_holdings::at_work;
use crate::tokens::inputs;
use crate::world::{Agent, World, agent, text};

/// The table: each operation, and what is done with it to what another holds. `BATON_WRITE_DOCS=1` writes it anew; whoever adds an
/// operation looks at its row.
const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/behaviour/held_acts.txt");

/// A kind of token: its scope, whom it is bound to, its projects, and whether it uses force.
#[derive(Debug, Clone, Copy)]
struct Kind {
    scope: Scope,
    bound: Option<&'static [&'static str]>,
    name: &'static str,
    projects: Option<&'static [&'static str]>,
    force: bool,
}

impl Kind {
    const fn of(scope: Scope, name: &'static str, bound: Option<&'static [&'static str]>) -> Self {
        Self { scope, bound, name, projects: None, force: false }
    }

    const fn only(self, projects: &'static [&'static str]) -> Self {
        Self { projects: Some(projects), ..self }
    }

    const fn forced(self) -> Self {
        Self { force: true, ..self }
    }

    fn agent(self) -> Agent {
        let named = agent(self.name).process("mal");
        let named = if self.name.is_empty() { named.nameless() } else { named };
        let mut who = bearing(named, "mal", self.scope, self.bound);
        who.0.grant.projects = self.projects.map(|ids| ids.iter().map(|id| (*id).to_owned()).collect());
        who
    }
}

const MAL: Option<&[&str]> = Some(&["Mal"]);

/// Tokens that move nothing of another's, whatever they call.
const POWERLESS: &[Kind] = &[
    Kind::of(Scope::Read, "Mal", MAL),
    Kind::of(Scope::Read, "Ann", None),
    Kind::of(Scope::Read, "", None),
    Kind::of(Scope::Read, "Mal", MAL).only(&["p"]),
    Kind::of(Scope::Read, "Mal", MAL).forced(),
    Kind::of(Scope::Write, "Mal", MAL).only(&["p"]),
    Kind::of(Scope::Write, "Ann", None).only(&["p"]),
    Kind::of(Scope::Write, "", None).only(&["p"]),
    Kind::of(Scope::Write, "Mal", MAL).forced(),
    Kind::of(Scope::Write, "Ann", None).forced(),
    Kind::of(Scope::Write, "Mal", MAL).only(&["q"]),
    Kind::of(Scope::Write, "Ann", None).only(&["q"]),
    Kind::of(Scope::Operator, "Mal", MAL).only(&["q"]),
    Kind::of(Scope::Operator, "Mal", MAL).only(&["q"]).forced(),
];

/// What Ann holds, by what is told of it and by the rows that have her name.
fn holdings(w: &mut World, named: &Named) -> Value {
    let ann = agent("Ann");
    let mut look = |verb: &str, id: &str, fields: &[&str]| match w.call(&ann, verb, json!({ "id": id })) {
        Ok(answer) => fields.iter().map(|field| answer[*field].to_string()).collect::<Vec<_>>(),
        Err(refusal) => vec![refusal["code"].to_string()],
    };
    let task = look("task_show", &named.task, &["status", "assignee", "title", "close_reason"]);
    let handoff = look("handoff_show", &named.handoff, &["state", "accepted_by", "result"]);
    let baton = look("baton_show", &named.baton, &["state", "held_by", "holder", "spent_by"]);
    const TABLES: [&str; 6] =
        ["session:", "session_state:", "file_lease:", "public_key:", "transcript_copy:", "agent:"];
    let is_hers = |row: &String| {
        TABLES.iter().any(|table| row.starts_with(table))
            && row.contains("Row([Text(\"p\")")
            && row.contains("\"Ann\"")
    };
    let rows: Vec<String> = w.everything().into_iter().filter(is_hers).collect();
    json!({ "rows": rows, "task": task, "handoff": handoff, "baton": baton })
}

/// Ids of what she holds.
struct Named {
    task: String,
    handoff: String,
    baton: String,
}

fn named(w: &mut World) -> Named {
    let ann = agent("Ann");
    let task = text(&w.ok(&ann, "task_list", json!({ "status": "in_progress" }))["items"][0], "id");
    let handoff = text(&w.ok(&ann, "handoff_list", json!({}))["items"][0], "handoff_id");
    let batons = w.ok(&ann, "baton_list", json!({ "state": "held" }));
    Named { task, handoff, baton: text(&batons["items"][0], "baton_id") }
}

/// Inputs in which every text takes each id in turn, and every choice each of its words.
fn variants(entry: &OperationEntry, ids: &BTreeSet<String>, force: bool) -> Vec<Value> {
    let schema = (entry.input_schema)().to_value();
    let mut all = inputs(&schema, ids);
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let words = choices(&schema, property);
        let more: Vec<Value> = words
            .iter()
            .skip(1)
            .flat_map(|word| inputs(&schema, ids).into_iter().map(move |input| (word, input)))
            .map(|(word, mut input)| {
                input[name.as_str()] = word.clone();
                input
            })
            .collect();
        all.extend(more);
    }
    if force && schema["properties"].get("force").is_some() {
        for input in &mut all {
            input["force"] = json!(true);
            // Some take the reason of a forced act from the reason of the act. An id that stands there already stays.
            for name in ["why", "reason"] {
                if schema["properties"].get(name).is_some()
                    && input.get(name).is_none_or(|given| name == "why" || given.is_null())
                {
                    input[name] = json!("it hangs");
                }
            }
        }
    }
    all
}

/// The words of a choice.
fn choices(schema: &Value, property: &Value) -> Vec<Value> {
    if let Some(target) = property["$ref"].as_str() {
        return choices(schema, &schema["$defs"][target.trim_start_matches("#/$defs/")]);
    }
    if let Some(words) = property["enum"].as_array() {
        return words.clone();
    }
    let constants = property["oneOf"].as_array().into_iter().flatten();
    constants.filter_map(|one| one.get("const").cloned()).collect()
}

/// Calls an operation in every way; says how the calls were answered: `ok`, or the code of a refusal.
fn try_all(
    w: &mut World,
    who: &Agent,
    (entry, force): (&OperationEntry, bool),
    ids: &BTreeSet<String>,
) -> BTreeSet<String> {
    let calls = variants(entry, ids, force).into_iter();
    let answers = calls.map(|input| match w.call(who, entry.name, input) {
        Ok(_) => "ok".to_owned(),
        Err(refusal) => text(&refusal, "code"),
    });
    answers.collect()
}

fn in_memory() -> World {
    World::new(Backend::Memory, 7).expect("a world in memory")
}

/// Operations that move something of hers in the hands of an operator. A world is made anew after each of them.
fn moved_by_operators(force: bool) -> BTreeSet<&'static str> {
    let kind = Kind::of(Scope::Operator, "Mal", MAL);
    let kind = if force { kind.forced() } else { kind };
    let mut moved = BTreeSet::new();
    let begin = || {
        let mut w = in_memory();
        let ids = at_work(&mut w);
        let her = named(&mut w);
        let before = holdings(&mut w, &her);
        (w, ids, her, before)
    };
    let (mut w, mut ids, mut her, mut before) = begin();
    for entry in all::ALL.iter().filter(|entry| entry.tx_mode == TxMode::Write) {
        try_all(&mut w, &kind.agent(), (entry, force), &ids);
        if holdings(&mut w, &her) != before {
            moved.insert(entry.name);
            (w, ids, her, before) = begin();
        }
    }
    moved
}

/// What an operation does to what another holds, by whom, as far as inputs with one id at a time show.
fn row(entry: &OperationEntry, plain: &BTreeSet<&str>, forced: &BTreeSet<&str>) -> &'static str {
    match entry.tx_mode {
        TxMode::Read => "reads",
        TxMode::Write if plain.contains(entry.name) => "moves it for an operator",
        TxMode::Write if forced.contains(entry.name) => "moves it for an operator by force",
        TxMode::Write => "leaves it alone",
    }
}

#[test]
#[allow(clippy::disallowed_methods, reason = "a test learns from its environment how it is to run")]
fn every_operation_has_its_row_in_the_table_of_what_another_holds() {
    let (plain, forced) = (moved_by_operators(false), moved_by_operators(true));
    let mut rows: Vec<String> =
        all::ALL.iter().map(|entry| format!("{}: {}\n", entry.name, row(entry, &plain, &forced))).collect();
    rows.sort();
    let found = rows.concat();
    if std::env::var("BATON_WRITE_DOCS").is_ok_and(|value| value == "1") {
        std::fs::write(TABLE, &found).expect("written");
    }
    let table = std::fs::read_to_string(TABLE).expect("the table");
    assert_eq!(found, table, "look at what is new, and write the table with BATON_WRITE_DOCS=1");
}

/// Which backend it is makes no difference to who may do what, so these play in memory.
#[test]
fn no_operation_moves_what_another_holds_with_a_token_that_is_no_operators_there() {
    for kind in POWERLESS {
        let w = &mut in_memory();
        let ids = at_work(w);
        let her = named(w);
        let (mal, before) = (kind.agent(), holdings(w, &her));
        // An operator of the sender's project may take back by force what that project left.
        let takes_back =
            |name: &str| kind.force && kind.scope == Scope::Operator && name == "handoff_advance";
        for entry in all::ALL.iter().filter(|entry| !takes_back(entry.name)) {
            let answers = try_all(w, &mal, (entry, kind.force), &ids);
            assert_eq!(holdings(w, &her), before, "{} moves what Ann holds: {kind:?}", entry.name);
            if kind.scope == Scope::Read && entry.tx_mode == TxMode::Write {
                let is_closed =
                    |code: &String| ["scope_missing", "token_of_project"].contains(&code.as_str());
                assert!(answers.iter().all(is_closed), "{}: {answers:?} {kind:?}", entry.name);
            }
            if kind.projects.is_some() && entry.reach == Reach::Everything {
                assert!(!answers.contains("ok"), "{} is not for {kind:?}: {answers:?}", entry.name);
            }
        }
    }
}

//! `baton-bench [list|all|counts|NAME…] [--quick] [--json] [--record] [--baton FILE] [--dir FOLDER]`
//!
//! Every figure is a ratio to a reference that is measured in the same run, the two by turns, so that a machine that is
//! slow or busy slows both. Nothing is asserted: each line shows its target and whether this run met it.

mod bare;
mod corpus;
mod counts;
mod http;
mod lab;
mod machine;
mod pipe;
mod process;
mod report;
mod scenarios;
mod server;
mod sides;

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::lab::Lab;
use crate::report::Report;

const HELP: &str = "\
baton-bench [list|all|counts|NAME…] [--quick] [--json] [--record] [--baton FILE] [--dir FOLDER]

Measures Baton against references in the same run. Nothing is asserted: each line shows its target and whether this run met it.

  list           Name the scenarios; without a name all of them run
  counts         Count the instructions of five commands, and compare them with the counts recorded last (needs valgrind)
  --record       With `counts`: record these counts
  --quick        Smaller and shorter, to see that it runs
  --json         One JSON document in place of a table
  --baton FILE   Binary that is measured; else the one beside this one
  --dir FOLDER   Folder to work in; else a temporary one";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [word, file] = args.as_slice()
        && word == bare::SUBCOMMAND
    {
        return bare::once_and_leave(file);
    }
    if args.iter().any(|word| word == "--help" || word == "-h") {
        println!("{HELP}");
        return Ok(());
    }
    let request = Arguments::parse(args)?;
    if request.names == ["list"] {
        for scenario in scenarios::ALL {
            println!("{:18} {}", scenario.name, scenario.doc);
        }
        return Ok(());
    }
    let lab = Lab::new(&request)?;
    if request.names == ["counts"] {
        return counts::run(&lab, request.record);
    }
    let mut report = Report::new(request.json, &lab);
    for scenario in request.chosen()? {
        let lines = (scenario.run)(&lab).with_context(|| format!("scenario {}", scenario.name))?;
        report.add(scenario.name, lines);
    }
    report.finish();
    Ok(())
}

/// What the command line asks for.
#[derive(Default)]
struct Arguments {
    names: Vec<String>,
    quick: bool,
    json: bool,
    record: bool,
    baton: Option<String>,
    dir: Option<String>,
}

impl Arguments {
    fn parse(args: Vec<String>) -> Result<Self> {
        let mut request = Self::default();
        let mut rest = args.into_iter();
        while let Some(word) = rest.next() {
            match word.as_str() {
                "--quick" => request.quick = true,
                "--json" => request.json = true,
                "--record" => request.record = true,
                "--baton" => request.baton = rest.next(),
                "--dir" => request.dir = rest.next(),
                flag if flag.starts_with('-') => bail!("unknown flag {flag}: see `baton-bench --help`"),
                _ => request.names.push(word),
            }
        }
        Ok(request)
    }

    fn chosen(&self) -> Result<Vec<&'static scenarios::Scenario>> {
        if self.names.is_empty() || self.names == ["all"] {
            return Ok(scenarios::ALL.iter().collect());
        }
        let find = |name: &String| {
            let found = scenarios::ALL.iter().find(|scenario| scenario.name == name);
            found.with_context(|| format!("there is no scenario `{name}`: see `baton-bench list`"))
        };
        self.names.iter().map(find).collect()
    }
}

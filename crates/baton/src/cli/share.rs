//! `baton share`

use std::path::{Path, PathBuf};

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_model::time::rfc3339;
use baton_ops::share::{
    Create, CreateInput, List, ListInput, ListOutput, Preview, PreviewInput, Revoke, RevokeInput, ShareRow,
};
use serde::Serialize;

use super::ActingIdentity;
use crate::app::App;
use crate::error::AppError;
use crate::{private_file, render, share_link, shared_page};

/// Where a server listens by default.
const USUAL: &str = "http://127.0.0.1:7077";

/// Share a baton or a thread: an address that is read without a token
///
/// Anyone with the address reads one baton, or the sessions of one thread, and nothing else. Secrets that Baton recognises are
/// taken out of it. It ends by itself, after seven days if you do not say otherwise, and `baton share revoke` takes it back.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    share: ShareArgs,
}

#[derive(clap::Args)]
struct ShareArgs {
    /// Id of a baton, a session or a thread, or a unique prefix of it
    #[arg(required = true)]
    id: Option<String>,
    /// End after this span: 12h, 7d; 90 days at most
    #[arg(long = "for", value_name = "SPAN", conflicts_with = "html")]
    lasts: Option<String>,
    /// Share the whole thread of a baton, not the baton alone
    #[arg(long)]
    thread: bool,
    /// Write a page into this file instead, which needs no server
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "html")]
    overwrite: bool,
    /// Address under which others reach the server
    #[arg(long, value_name = "URL", conflicts_with = "html")]
    at: Option<String>,
    #[command(flatten)]
    who: ActingIdentity,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// List the shares of the project
    List {
        /// Number of shares
        #[arg(short = 'n', value_name = "N")]
        limit: Option<i64>,
        /// Continue after a page, with its `next`
        #[arg(long, value_name = "CURSOR")]
        cursor: Option<String>,
    },
    /// Take a share back: its address answers no more
    Revoke {
        /// Share id, or a unique prefix
        id: String,
    },
}

/// A share with its address.
#[derive(Serialize)]
struct ShareOutput {
    url: String,
    #[serde(flatten)]
    shown: ShareRow,
}

/// A page that was written.
#[derive(Serialize)]
struct WrittenPage {
    project_id: String,
    file: String,
    sessions: usize,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    match args.verb {
        None => share(args.share, app),
        Some(Verb::List { limit, cursor }) => {
            let listed = app.run::<List>(&ListInput { project: app.project.clone(), limit, cursor })?;
            app.show(&listed, table)
        }
        Some(Verb::Revoke { id }) => {
            let revoked = app.run::<Revoke>(&RevokeInput { id })?;
            app.show(&revoked, |revoked| {
                let id = visible(&revoked.shown.share_id);
                match revoked.revoked_before {
                    true => format!("{id} was taken back before\n"),
                    false => format!("took {id} back\n"),
                }
            })
        }
    }
}

fn share(args: ShareArgs, app: &mut App) -> Result<(), AppError> {
    let (id, project) = (args.id.unwrap_or_default(), app.project.clone());
    let kind = args.thread.then(|| "thread".to_owned());
    if let Some(file) = args.html {
        return write(&PreviewInput { id, kind, project }, &file, args.overwrite, app);
    }
    if let Some(bare) = args.lasts.as_deref().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit())) {
        // Other spans count a bare number in seconds, which for a share is a slip.
        let what = format!("`{bare}` has no unit");
        let hint = format!("say how long the share lasts: `--for {bare}d`, `--for {bare}h`");
        return Err(Refusal::invalid("span_invalid", what, hint).into());
    }
    let span = args.lasts.as_deref().map(super::span).transpose()?;
    let expires_in_s = span.map(|millis| millis / 1_000);
    let input = CreateInput { id, kind, project, expires_in_s, identity: args.who.identity };
    let made = app.run::<Create>(&input)?;
    let server = args.at.or_else(|| app.config.server.as_ref().map(|server| server.url.clone()));
    if server.is_none() {
        app.remark(
            "it answers while `baton serve` runs on this store, by default at this address; --at URL names another one, \
             such as that which others reach",
        );
    }
    let url = share_link::address(server.as_deref().unwrap_or(USUAL), &made.secret);
    let ends = rfc3339(made.shown.expires_at.0);
    app.remark(&format!("this is shown once; it ends {ends}: `baton share revoke {}`", made.shown.share_id));
    app.show(&ShareOutput { url, shown: made.shown }, |shared| format!("{}\n", visible(&shared.url)))
}

fn write(input: &PreviewInput, file: &Path, overwrite: bool, app: &mut App) -> Result<(), AppError> {
    private_file::check_output(file, overwrite)?;
    let view = app.run::<Preview>(input)?.without_secrets();
    let page = shared_page::html(Some(&view))?;
    private_file::write(file, page.as_bytes()).map_err(|error| {
        let what = format!("{} cannot be written: {error}", visible(&file.display().to_string()));
        Refusal::invalid("output_unwritable", what, "choose another file")
    })?;
    let written = WrittenPage {
        project_id: view.project_id,
        file: file.display().to_string(),
        sessions: view.sessions.len(),
    };
    app.show(&written, |written| format!("wrote {}\n", visible(&written.file)))
}

fn table(listed: &ListOutput) -> String {
    let rows: Vec<_> = listed.items.iter().map(row).collect();
    render::page(&rows, "nothing is shared", None, listed.next.as_deref())
}

fn row(of: &ShareRow) -> Vec<String> {
    let state = match (of.valid, of.revoked_at) {
        (true, _) => "valid",
        (false, Some(_)) => "taken back",
        (false, None) => "ended",
    };
    vec![
        render::short_id(&of.share_id),
        state.to_owned(),
        format!("{} {}", of.kind.as_str(), render::short_id(&of.object_id)),
        format!("by {}", visible(&of.created_by)),
        render::time_ago(of.created_at),
        format!("until {}", rfc3339(of.expires_at.0)),
    ]
}

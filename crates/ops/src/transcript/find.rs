//! Listing, and finding the transcript that is meant.

use std::path::{Path, PathBuf};

use baton_model::refusal::{self, Refusal};
use baton_model::time::{Millis, ago, rfc3339};
use baton_store::{Failure, project_root};
use baton_transcripts::{
    Brief, Filter, Header, SessionListing, TranscriptFile, by_id as format_by_id, detect,
};
use serde::Serialize;
use serde_json::json;

use super::copy_file;
use super::found_transcript::FoundTranscript;
use super::header_cache::StoreCache;
use super::isolation::{View, without_dots};
use crate::op::{Caller, Cx, Env, Host};

/// Threads that read headers: more than the cores of a laptop only wait for the disk.
pub(super) const THREADS: usize = 8;

/// The headers of those transcripts of this machine that the filter lets through and `choose` takes out of all of them,
/// which come newest first.
pub(super) fn list(
    cx: &mut Cx<'_>,
    filter: &Filter,
    choose: impl FnOnce(&mut Vec<SessionListing>) -> Result<(), Refusal>,
) -> Result<Vec<Header>, Failure> {
    let machine = cx.env.caller.location.machine.clone();
    let mut cache = StoreCache::load(cx.store, &machine)?;
    let folders = registered(cx)?;
    let mut listed = baton_transcripts::browse(&places(&cx.env, &folders), filter, &cache, THREADS);
    let chosen = choose(&mut listed);
    let headers = match chosen {
        Ok(()) => {
            cache.load_whole(cx.store, &machine, &listed)?;
            Ok(listed.into_iter().filter_map(|one| one.header(&cache)).collect())
        }
        Err(refusal) => Err(refusal.into()),
    };
    cache.save(cx.store, &machine);
    headers
}

/// The folders of every project on this machine.
pub(super) fn registered(cx: &mut Cx<'_>) -> Result<Vec<String>, Failure> {
    let machine = cx.env.caller.location.machine.clone();
    cx.store.read(|tx| Ok(project_root::every_root(tx, &machine)?))
}

/// Where transcripts are looked for: the machine's places, and since some tools keep them with the work, the caller's own
/// folder and those of projects. A caller over a socket has no folder here.
pub(super) fn places(env: &Env<'_>, projects: &[String]) -> baton_transcripts::TranscriptEnv {
    let mut places = env.host.transcript_env().clone();
    let nobody = Caller::default();
    let caller = if env.host.is_served() { &nobody } else { env.caller };
    let own = caller.folders.first().into_iter().chain(&caller.git_root).chain(projects).map(PathBuf::from);
    for folder in own {
        if !places.folders.contains(&folder) {
            places.folders.push(folder);
        }
    }
    places
}

/// The ids of the tools of these names; refuses one whose transcripts cannot be read.
pub(super) fn agent_ids(agents: &[String]) -> Result<Vec<String>, Refusal> {
    let format = |name: &String| baton_tools::reader(name).ok_or_else(|| no_reader_refusal(name));
    agents.iter().map(|name| Ok(format(name)?.id().to_owned())).collect()
}

fn no_reader_refusal(name: &str) -> Refusal {
    let known: Vec<&str> = baton_tools::readers().map(|(tool, _)| tool.id).collect();
    Refusal::invalid(
        "agent_unknown",
        format!("transcripts of `{}` cannot be read", baton_model::id::visible(name)),
        format!("use one of {}", known.join(", ")),
    )
}

/// Among which sessions `latest` names the newest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LatestScope {
    /// Those of the folder and of its project.
    Project,
    /// Those of the working copy in which the caller stands: what is found is shown to others, so another one's is not taken for it.
    WorkingCopy,
}

/// The transcript meant by a path, an id, a unique prefix of one, or `latest`: the newest of this folder or its project, and
/// never one of another folder. `command` takes one by its id.
///
/// A path says which file it is, wherever that belongs; everything else finds only what is shown from the project that the call
/// names or stands in.
pub(super) fn find(
    cx: &mut Cx<'_>,
    wanted: &str,
    agent: Option<&str>,
    project: Option<&str>,
    command: &str,
) -> Result<FoundTranscript, Failure> {
    find_within(cx, wanted, agent, project, (command, LatestScope::Project))
}

/// The transcript that is meant, with `latest` as the newest of a scope.
pub(super) fn find_within(
    cx: &mut Cx<'_>,
    wanted: &str,
    agent: Option<&str>,
    project: Option<&str>,
    (command, scope): (&str, LatestScope),
) -> Result<FoundTranscript, Failure> {
    let named: Vec<String> = agent.map(str::to_owned).into_iter().collect();
    let agents = agent_ids(&named)?;
    let path = Path::new(wanted.trim_end_matches('/'));
    if wanted != "latest" && !cx.env.host.is_served() && path.is_file() {
        // The same file has one name, however it was spelled: the folder of some tools is a part of the session's id.
        return Ok(by_path(&path.canonicalize().unwrap_or_else(|_| path.to_owned()), agent)?);
    }
    let filter =
        Filter { agents, subagents: wanted != "latest", empty: wanted != "latest", ..Filter::default() };
    let (here, own) = match (wanted, scope) {
        ("latest", LatestScope::Project) => project_folders(cx)?,
        ("latest", LatestScope::WorkingCopy) => (own_folder(cx.env.caller), None),
        _ => Default::default(),
    };
    let host = cx.env.host;
    let now = cx.env.now;
    let view = View::of(cx, project)?;
    let chosen = list(cx, &filter, |listed| {
        let (shown, hidden): (Vec<SessionListing>, Vec<SessionListing>) =
            std::mem::take(listed).into_iter().partition(|one| view.shows(one));
        *listed = shown;
        let at = match wanted {
            "latest" => {
                let is_own = |one: &SessionListing| match (scope, here.first()) {
                    (LatestScope::WorkingCopy, Some(root)) => is_in_copy(host, root, one),
                    _ => own.as_ref().is_some_and(|own| view.is_of(one, own)),
                };
                let folders = if scope == LatestScope::Project { here.as_slice() } else { &[] };
                latest(folders, is_own, listed, (here.first(), command, now))?
            }
            _ => by_id(wanted, listed)?,
        };
        if at.is_none() && wanted != "latest" {
            let other = by_id(wanted, &hidden)?.and_then(|at| hidden.get(at));
            other.map_or(Ok(()), |other| Err(view.refusal(wanted, other)))?;
        }
        *listed = at.map(|at| listed.swap_remove(at)).into_iter().collect();
        Ok(())
    })?;
    let header = chosen.into_iter().next().ok_or_else(|| unknown_refusal(wanted))?;
    let found = of_header(header).ok_or_else(|| unknown_refusal(wanted))?;
    if view.is_open() {
        return Ok(found);
    }
    // A listing knows the folder in which it began alone.
    let found = found.with_folders();
    if view.shows(&found) { Ok(found) } else { Err(view.refusal(wanted, &found).into()) }
}

/// The transcript of a header that was listed.
fn of_header(header: Header) -> Option<FoundTranscript> {
    Some(FoundTranscript {
        path: header.path.clone(),
        key: header.key.clone(),
        format: format_by_id(&header.tool_id)?,
        header,
        sessions: Vec::new(),
        wrapped_line: None,
        last_work_at: None,
        copy: None,
        written_in: None,
        folders: Vec::new(),
        noted: Vec::new(),
    })
}

fn by_path(path: &Path, agent: Option<&str>) -> Result<FoundTranscript, Refusal> {
    if let Some(copy) = copy_file::read(path) {
        return copy?.into_transcript(path);
    }
    let format = match agent {
        Some(name) => baton_tools::reader(name),
        None => detect(path),
    };
    let format = format.ok_or_else(|| {
        Refusal::invalid(
            "transcript_unknown_format",
            format!("{} is not a transcript of a tool that can be read", path.display()),
            "say which tool wrote it with --agent",
        )
    })?;
    let found = TranscriptFile::from_path(format.id(), path)
        .ok_or_else(|| unknown_refusal(&path.display().to_string()))?;
    let header =
        baton_transcripts::header(&found, &()).ok_or_else(|| unknown_refusal(&path.display().to_string()))?;
    Ok(FoundTranscript {
        path: path.to_owned(),
        key: None,
        format,
        header,
        sessions: Vec::new(),
        wrapped_line: None,
        last_work_at: None,
        copy: None,
        written_in: None,
        folders: Vec::new(),
        noted: Vec::new(),
    })
}

/// The caller's folder and those of the project that it stands for on this machine, and that project.
fn project_folders(cx: &mut Cx<'_>) -> Result<(Vec<String>, Option<String>), Failure> {
    let caller = cx.env.caller;
    let mut here = own_folder(caller);
    let own = crate::resolve::project_id(cx.store, &cx.env, None).ok();
    if let Some(project_id) = &own {
        here.extend(
            cx.store.read(|tx| Ok(project_root::folders(tx, project_id, &caller.location.machine)?))?,
        );
    }
    Ok((here, own))
}

/// The top folder of the caller's working copy, else its folder.
fn own_folder(caller: &Caller) -> Vec<String> {
    caller.git_root.iter().chain(caller.folders.first()).take(1).cloned().collect()
}

/// Whether a session began in the working copy with this top folder, or without git in this folder. A worktree or a repository inside it
/// is another one; of a folder that is gone it is not known whether it was one.
fn is_in_copy(host: &dyn Host, root: &str, one: &SessionListing) -> bool {
    let Some(cwd) = &one.brief.cwd else { return false };
    let plain = without_dots(Path::new(cwd));
    let Ok(real) = plain.canonicalize() else { return false };
    let is_below = |folder: &Path| folder.starts_with(root);
    match real.to_str().and_then(|folder| host.repository(folder)) {
        Some((top, _)) => {
            top == root || Path::new(root).canonicalize().is_ok_and(|root| root == Path::new(&top))
        }
        None => is_below(&plain) || is_below(&real),
    }
}

/// Where the newest session of these folders stands. Another folder's is named and not taken: what is made of it would stand in
/// this project as its own work.
fn latest(
    here: &[String],
    is_own: impl Fn(&SessionListing) -> bool,
    listed: &[SessionListing],
    (root, command, now): (Option<&String>, &str, Millis),
) -> Result<Option<usize>, Refusal> {
    let is_here = |one: &SessionListing| {
        let cwd = one.brief.cwd.as_ref().map(|cwd| without_dots(Path::new(cwd)));
        cwd.is_some_and(|cwd| here.iter().any(|root| cwd.starts_with(root))) || is_own(one)
    };
    match (listed.iter().position(is_here), listed.first()) {
        (Some(at), _) => Ok(Some(at)),
        (None, Some(newest)) => Err(other_folder_refusal(root, newest, command, now)),
        (None, None) => Ok(None),
    }
}

fn other_folder_refusal(
    here: Option<&String>,
    newest: &SessionListing,
    command: &str,
    now: Millis,
) -> Refusal {
    let (Brief { id, cwd, updated_at_ms, .. }, agent) = (&newest.brief, newest.agent());
    let age = updated_at_ms.map_or_else(String::new, |at| format!(", {}", ago(now, at)));
    let folder = here.map_or("of this folder", String::as_str);
    let of = if here.is_some() { "in " } else { "" };
    let what = format!(
        "no session was found {of}{folder}; the newest elsewhere is one of {agent} in {}{age}",
        cwd.as_deref().unwrap_or("an unknown folder")
    );
    let take =
        format!("`{command} {id} --agent {agent}` takes that one; `baton transcripts list` names the others");
    Refusal::new(refusal::Kind::NotFound, "transcript_elsewhere", what, take).with(
        "newest",
        json!({ "id": id, "agent": agent, "cwd": cwd, "updated_at": updated_at_ms.map(rfc3339) }),
    )
}

fn by_id(wanted: &str, listed: &[SessionListing]) -> Result<Option<usize>, Refusal> {
    // A path, too, where none is opened by itself: then it is one of those that were found.
    let is_it = |one: &SessionListing| one.brief.id == wanted || one.path() == Path::new(wanted);
    if let Some(exact) = listed.iter().position(is_it) {
        return Ok(Some(exact));
    }
    let begins = |one: &SessionListing| wanted.len() >= 4 && one.brief.id.starts_with(wanted);
    let matching: Vec<usize> = (0..listed.len()).filter(|at| begins(&listed[*at])).collect();
    match matching.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        many => {
            let ids: Vec<String> = many.iter().take(5).map(|at| listed[*at].brief.id.clone()).collect();
            Err(crate::resolve::ambiguous_id_refusal("transcript", wanted, &ids))
        }
    }
}

fn unknown_refusal(wanted: &str) -> Refusal {
    let what = match wanted {
        "latest" => "no transcript was found on this machine".to_owned(),
        _ => format!("there is no transcript `{}`", baton_model::id::visible(wanted)),
    };
    Refusal::new(
        refusal::Kind::NotFound,
        "transcript_unknown",
        what,
        "`baton transcripts list` names them; a path to a file works too",
    )
}

/// Refuses a transcript in which nothing was said, with what is wrong with the file.
pub(super) fn refuse_empty(transcript: &FoundTranscript, complaints: &impl Serialize) -> Refusal {
    Refusal::invalid(
        "transcript_empty",
        format!("{} holds no conversation that can be read", transcript.path.display()),
        "the file may be damaged or of an unknown version; `complaints` says what was skipped",
    )
    .with("complaints", json!(complaints))
}

//! The project that keeps a conversation: the folder of a transcript may belong to another one since, by a merge, its undoing
//! or a split.

use baton_model::confinement::ConversationEnd;
use baton_model::conversation::Conversation;
use baton_store::{Failure, Tx, conversation, conversation_project, project, session_open};

use super::found_transcript::FoundTranscript;
use super::isolation::View;
use crate::op::{Cx, Env};
use crate::project::{are_separated, carried_as, merged_into};
use crate::resolve::session_by_id;
use crate::session::conversation::of_transcript;

/// Where a conversation is kept.
pub(super) enum ConversationHome {
    /// In this project: the caller's own, unless only another one knows it.
    Project(String),
    /// In the caller's project, to which a merge carried its baton, or what its session had saved.
    Carried(Conversation),
}

impl ConversationHome {
    /// The home of a conversation that a caller found in a folder of this project.
    pub(super) fn of(
        cx: &mut Cx<'_>,
        project_id: &str,
        transcript: &FoundTranscript,
    ) -> Result<Self, Failure> {
        let Cx { store, env } = cx;
        store.read(|tx| look_up(tx, env, project_id, transcript))
    }

    /// The home of the conversation of an agent that may be at work: the isolated project in which it was held, wherever the agent
    /// stands by now; else the project in which the agent has a session, and without one that of the conversation's first hook.
    pub(super) fn of_running(
        cx: &mut Cx<'_>,
        project_id: &str,
        transcript: &FoundTranscript,
    ) -> Result<Self, Failure> {
        let view = View::of(cx, Some(project_id))?;
        let noted = noted_projects(cx, transcript)?;
        let confinement = view.confinement(transcript);
        let folder_owner = view.folder_owner(transcript.header.cwd.as_deref());
        let Cx { store, env } = cx;
        let has_session = store.read(|tx| has_session(tx, env, project_id))?;
        let end = ConversationEnd {
            current_project: project_id,
            is_isolated: view.is_inside_isolated(),
            has_session,
            noted: noted.first().map(String::as_str),
            folder_owner: folder_owner.as_deref(),
        };
        let keeper = end.keeper(&confinement);
        let keeper = keeper.ok_or_else(|| view.refusal(&transcript.header.id, transcript))?;
        if !env.caller.grant.reaches(&keeper) {
            return Err(view.refusal(&transcript.header.id, transcript).into());
        }
        store.read(|tx| match keeper == project_id && has_session {
            true => Ok(Self::Project(keeper.clone())),
            false => look_up(tx, env, &keeper, transcript),
        })
    }

    /// The id of the project.
    pub(super) fn project_id(&self) -> &str {
        match self {
            Self::Project(id) => id,
            Self::Carried(known) => &known.project_id,
        }
    }

    /// Writes down what was carried over, unless another caller did so meanwhile.
    pub(super) fn adopt(&self, tx: &mut Tx<'_>) -> Result<(), Failure> {
        let Self::Carried(known) = self else { return Ok(()) };
        match conversation::get(tx, &known.project_id, &known.tool_id, &known.native_id)? {
            Some(_) => Ok(()),
            None => Ok(conversation::put(tx, known)?),
        }
    }
}

/// The projects in which the hooks of a conversation spoke, the first one first, as far as they are there and the caller reaches
/// them. Of one that was merged, that in which it goes on.
pub(super) fn noted_projects(cx: &mut Cx<'_>, transcript: &FoundTranscript) -> Result<Vec<String>, Failure> {
    let Cx { store, env } = cx;
    store.read(|tx| {
        let here = conversation_project::of(tx, transcript.format.id(), &transcript.header.id)?;
        let mut found = Vec::new();
        for noted in transcript.noted.iter().chain(&here) {
            let now = merged_into(tx, noted)?.unwrap_or_else(|| noted.clone());
            let is_there = env.caller.grant.reaches(&now) && project::get(tx, &now)?.is_some();
            if is_there && !found.contains(&now) {
                found.push(now);
            }
        }
        Ok(found)
    })
}

/// Whether the agent has a session in a project: one that it names, or one that its process began.
fn has_session(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str) -> Result<bool, Failure> {
    let place = &env.caller.location;
    if let Some(id) = &env.caller.session {
        return Ok(session_by_id(tx, project_id, id).is_ok());
    }
    Ok(!session_open::at(tx, project_id, place)?.is_empty())
}

fn look_up(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    transcript: &FoundTranscript,
) -> Result<ConversationHome, Failure> {
    let key = transcript.native_id().key();
    let known = conversation::in_all_projects(tx, transcript.format.id(), &key)?;
    let here = || ConversationHome::Project(project_id.to_owned());
    if known.iter().any(|one| one.project_id == project_id) {
        return Ok(here());
    }
    for other in known {
        let carried = match (&other.baton_id, &other.session_id) {
            (Some(id), _) | (None, Some(id)) => carried_as(tx, (&other.project_id, id), project_id)?,
            (None, None) => continue,
        };
        if carried.is_some() {
            let project_id = project_id.to_owned();
            return Ok(ConversationHome::Carried(Conversation {
                project_id,
                session_id: None,
                baton_id: carried,
                ..other
            }));
        }
        let is_shown = env.caller.grant.reaches(&other.project_id);
        if is_shown && other.baton_id.is_some() && !are_separated(tx, project_id, &other.project_id)? {
            return Ok(ConversationHome::Project(other.project_id));
        }
    }
    Ok(here())
}

/// What the ledger knows of the conversation in a transcript.
pub(super) fn load_conversation(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    transcript: &FoundTranscript,
) -> Result<Conversation, Failure> {
    of_transcript(tx, env, (project_id, transcript.native_id()), &transcript.sessions)
}

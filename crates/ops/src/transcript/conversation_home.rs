//! The project that keeps a conversation: the folder of a transcript may belong to another one since, by a merge, its undoing
//! or a split.

use baton_model::conversation::Conversation;
use baton_store::{Failure, Tx, conversation, session};

use super::find::FoundTranscript;
use super::isolation::View;
use crate::op::{Cx, Env};
use crate::project::{are_separated, carried_as};

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

    /// The home of the conversation of an agent that may be at work: if it has a session in this project, what it does is kept there,
    /// wherever the conversation began. What was done in an isolated project's folder stays in that project, wherever the agent
    /// stands by now.
    pub(super) fn of_running(
        cx: &mut Cx<'_>,
        project_id: &str,
        transcript: &FoundTranscript,
    ) -> Result<Self, Failure> {
        let view = View::of(cx, Some(project_id))?;
        let project_id = &view.keeper(project_id, transcript)?;
        let Cx { store, env } = cx;
        let place = &env.caller.location;
        store.read(|tx| {
            let is_here = env.caller.session.is_some()
                || !place.process.is_empty()
                    && session::open(tx, project_id)?.iter().any(|open| open.location == *place);
            match is_here {
                true => Ok(Self::Project(project_id.clone())),
                false => look_up(tx, env, project_id, transcript),
            }
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

fn look_up(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    transcript: &FoundTranscript,
) -> Result<ConversationHome, Failure> {
    let known = conversation::everywhere(tx, transcript.format.id(), &transcript.header.id)?;
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

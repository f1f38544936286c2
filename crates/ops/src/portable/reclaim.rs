//! `baton_reclaim`: a baton that left as a file waits in its own ledger again.

use baton_model::access::Grant;
use baton_model::baton::Baton;
use baton_model::baton_file::Receipt;
use baton_model::delta::Kind;
use baton_model::id::{check_label, short};
use baton_model::refusal::{self, Refusal};
use baton_store::{Failure, Tx};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::continued;
use super::export::by_id;
use super::records::{export_of, receipt_of};
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Meta, Operation};
use crate::project::{carry_reclaimed, merged_from, merged_into, require_not_merged};
use crate::resolve;
use crate::session::update_baton;

/// Takes an exported baton back.
pub struct BatonReclaim;

/// Input of `baton_reclaim`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BatonReclaimInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that takes it back.
    #[serde(default)]
    pub identity: Option<String>,
    /// The baton, by its id or a unique prefix of one.
    pub baton_id: String,
    /// Take it back although its work is known to go on elsewhere: two agents may then do the same work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
    /// Why force is used; written into the ledger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Answer of `baton_reclaim`.
#[derive(Serialize, Deserialize)]
pub struct BatonReclaimOutput {
    /// The project.
    pub project_id: String,
    /// The baton, which waits here again.
    pub baton_id: String,
    /// First line of its packet's summary.
    pub summary: String,
    /// Who has picked it up elsewhere, as far as a file that came back told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picked_up_elsewhere: Option<Receipt>,
}

impl Operation for BatonReclaim {
    const META: Meta =
        Meta::write("baton_reclaim", "Have a baton that was exported to a file wait here again");
    type Input = BatonReclaimInput;
    type Output = BatonReclaimOutput;

    fn run(input: BatonReclaimInput, cx: &mut Cx<'_>) -> Result<BatonReclaimOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        let grant = &env.caller.grant;
        let (home, into) = store.read(|tx| home_of(tx, grant, &project_id, &input.baton_id))?;
        let taken: Vec<&str> = std::iter::once(home.as_str()).chain(into.as_deref()).collect();
        store.write(&taken, |tx| {
            resolve::require(tx, &home)?;
            if merged_into(tx, &home)? != into {
                require_not_merged(tx, &home)?;
            }
            let left = by_id(tx, &home, &input.baton_id)?;
            if export_of(tx, &left)?.is_none() {
                let what = format!("baton {} did not leave as a file", short(&left.baton_id));
                let hint = "`baton status` lists those that wait";
                return Err(Refusal::new(refusal::Kind::Conflict, "baton_not_exported", what, hint).into());
            }
            let picked_up_elsewhere = receipt_of(tx, &left)?;
            let mut body = json!({
                "summary": format!("baton {} waits here again: its export was taken back", short(&left.baton_id)),
                "export_reclaimed": left.baton_id,
            });
            if let Some(refusal) = continued::refusal(tx, env, &left)? {
                require_force(&input, refusal)?;
                body["forced"] = json!(true);
                body["why"] = json!(input.why);
            }
            let author = Author { project_id: &home, identity: &identity, session: None };
            append_json(tx, env, &author, Kind::Other, &body)?;
            let (baton_id, summary) = (left.baton_id.clone(), left.summary.clone());
            let left = Baton { spent_by: None, ..left };
            let Some(into) = &into else {
                update_baton(tx, &left)?;
                return Ok(BatonReclaimOutput {
                    project_id: home.clone(),
                    baton_id,
                    summary,
                    picked_up_elsewhere,
                });
            };
            let anew = carry_reclaimed(tx, env, (left, into), &identity)?;
            let baton_id = anew.to.unwrap_or(baton_id);
            Ok(BatonReclaimOutput { project_id: into.clone(), baton_id, summary, picked_up_elsewhere })
        })
    }
}

/// The project whose ledger has a baton: the named one, or one that was merged into it; and the project into which that one was
/// merged, where the baton waits then.
pub(super) fn home_of(
    tx: &mut Tx<'_>,
    grant: &Grant,
    project_id: &str,
    baton_id: &str,
) -> Result<(String, Option<String>), Failure> {
    resolve::require_project(tx, project_id)?;
    let unknown = match by_id(tx, project_id, baton_id) {
        Err(Failure::Refused(refusal)) if refusal.code == "baton_unknown" => refusal,
        Err(failure) => return Err(failure),
        Ok(_) => {
            let into = merged_into(tx, project_id)?;
            if into.as_ref().is_some_and(|into| !grant.reaches(into)) {
                require_not_merged(tx, project_id)?;
            }
            return Ok((project_id.to_owned(), into));
        }
    };
    for merged in merged_from(tx, project_id)? {
        if grant.reaches(&merged) && by_id(tx, &merged, baton_id).is_ok() {
            return Ok((merged, Some(project_id.to_owned())));
        }
    }
    Err(unknown.into())
}

/// Lets a reclaim of work that goes on elsewhere pass only by force and with a reason.
fn require_force(input: &BatonReclaimInput, refusal: Refusal) -> Result<(), Refusal> {
    match (input.force, &input.why) {
        (false, _) => Err(refusal),
        (true, None) => {
            let what = "work that goes on elsewhere is taken back only with a reason";
            Err(Refusal::invalid("why_missing", what, "say --why REASON"))
        }
        (true, Some(why)) => check_label("reason", why),
    }
}

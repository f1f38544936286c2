//! Sessions that travel through the ledger: pushed without secrets, encrypted where the project has keys, and fetched for the
//! command that continues or shows one.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_model::changes::MAX_BYTES;
use baton_model::conversation::conversation_key;
use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use baton_model::time::Timestamp;
use baton_model::transcript_copy::{CopyManifest, too_large_refusal};
use baton_ops::key::{List, ListInput};
use baton_ops::transcript::{
    Copies, CopiesInput, CopyPart, CopyPartInput, CopyRow, CopyUpload, CopyUploadInput, MAX_FILE_BYTES,
    TranscriptCopy,
};
use baton_transcripts::Header;

use crate::app::App;
use crate::changes::carry::parts;
use crate::changes::content_hash;
use crate::error::AppError;
use crate::keys::{self, Keys};
use crate::private_file;
use crate::render;

/// A session takes less room at this level, and is pushed once.
const LEVEL: i32 = 9;

/// A copy that is ready to be pushed.
pub(crate) struct PackedCopy {
    /// What it is.
    pub manifest: CopyManifest,
    content: Vec<u8>,
}

/// Compresses a copy, and encrypts it for every key of the project if there is one.
pub(crate) fn pack(app: &mut App, project_id: &str, copy: &TranscriptCopy) -> Result<PackedCopy, AppError> {
    let listed = app.run::<List>(&ListInput { project: Some(project_id.to_owned()), name: None })?;
    let (readers, recipients): (Vec<String>, Vec<String>) =
        listed.items.into_iter().map(|row| (row.key.name, row.key.public_key)).unzip();
    let malformed = |error: String| {
        Refusal::invalid(
            "transcript_copy_invalid",
            format!("the session cannot be written: {error}"),
            "report this",
        )
    };
    let text = serde_json::to_vec(copy).map_err(|error| malformed(error.to_string()))?;
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(too_large_refusal(text.len() as u64).into());
    }
    let mut content = zstd::bulk::compress(&text, LEVEL).map_err(|error| malformed(error.to_string()))?;
    if !recipients.is_empty() {
        content = keys::encrypt_bytes(&recipients, &content)?;
    }
    let header = &copy.header;
    let manifest = CopyManifest {
        agent: header.tool_id.clone(),
        transcript_id: conversation_key(&header.id, header.created_at_ms, header.cwd.as_deref()),
        title: header.title.clone().filter(|_| recipients.is_empty()),
        machine: app.caller().location.machine,
        cwd: header.cwd.clone(),
        branch: header.branch.clone(),
        updated_at: header.updated_at_ms.map(Timestamp),
        events: copy.events.len() as u64,
        sessions: copy.sessions.clone(),
        readers: Some(readers).filter(|readers| !readers.is_empty()),
        content_hash: content_hash(&content),
        bytes: content.len() as u64,
    };
    manifest.check()?;
    Ok(PackedCopy { manifest, content })
}

/// Uploads the content, before a push names it.
pub(crate) fn upload(app: &mut App, project_id: &str, packed: &PackedCopy) -> Result<(), AppError> {
    for (part, content) in (0..).zip(parts(&packed.content)) {
        app.run::<CopyUpload>(&CopyUploadInput {
            project: Some(project_id.to_owned()),
            content_hash: packed.manifest.content_hash.clone(),
            part,
            content,
        })?;
    }
    Ok(())
}

/// A copy that was fetched into a file, which goes with this value.
pub(crate) struct FetchedCopy {
    /// The file.
    pub path: PathBuf,
    /// What was pushed.
    pub row: CopyRow,
}

impl FetchedCopy {
    /// Whose words it has.
    pub(crate) fn origin(&self) -> String {
        let (who, when) = (visible(&self.row.identity), render::time_ago(self.row.pushed_at));
        format!("{who} pushed this session {when}; what it says is another machine's word")
    }
}

impl Drop for FetchedCopy {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A session that was pushed, as it is named on the command line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CopyQuery<'a> {
    /// Its id, or a unique prefix of one.
    pub id: &'a str,
    /// The tool that wrote it.
    pub agent: Option<&'a str>,
    /// Who pushed it.
    pub pushed_by: Option<&'a str>,
}

/// Fetches a session that was pushed to the project; nothing where none was.
pub(crate) fn fetch(app: &mut App, query: CopyQuery<'_>) -> Result<Option<FetchedCopy>, AppError> {
    let id = query.id;
    let input = CopiesInput {
        project: app.project.clone(),
        id: Some(id.to_owned()),
        agent: query.agent.map(str::to_owned),
        pushed_by: query.pushed_by.map(str::to_owned),
    };
    let listed = match app.run::<Copies>(&input) {
        Err(AppError::Refused(refusal)) if is_elsewhere(refusal.code) => return Ok(None),
        listed => listed?,
    };
    let Some(row) = listed.items.into_iter().next() else { return Ok(None) };
    let content = content(app, &listed.project_id, &row)?;
    let text = plain_text(app, &listed.project_id, &row, content)?;
    let mut copy = TranscriptCopy::parse(&text, Path::new(id))?;
    let Header { id: native, tool_id, created_at_ms, cwd, .. } = &copy.header;
    // Earlier versions named a copy by the tool's own id alone.
    let ids = [native.clone(), conversation_key(native, *created_at_ms, cwd.as_deref())];
    if !ids.contains(&row.manifest.transcript_id) || *tool_id != row.manifest.agent {
        return Err(copy_invalid_refusal(&row, "it is of another session than its manifest").into());
    }
    // The ledger has checked whose these are.
    copy.sessions.clone_from(&row.manifest.sessions);
    copy.is_encrypted = row.manifest.readers.is_some();
    let folder = app.config.data_dir.join("transcripts");
    let path = folder.join(format!("{}-{}.json", row.manifest.content_hash, std::process::id()));
    let text = serde_json::to_vec(&copy).map_err(|error| copy_invalid_refusal(&row, &error.to_string()))?;
    private_file::create_folder(&folder).and_then(|()| private_file::write(&path, &text)).map_err(
        |error| {
            let what = format!("{} cannot be written: {error}", visible(&path.display().to_string()));
            Refusal::new(Kind::Refused, "output_unwritable", what, "make room there, then repeat")
        },
    )?;
    Ok(Some(FetchedCopy { path, row }))
}

/// The refusal of a session that is no more among those that were pushed.
pub(crate) fn not_pushed_refusal(id: &str) -> Refusal {
    let what = format!("no session `{}` was pushed to a project of this folder", visible(id));
    let hint = "`baton transcripts pushed` lists those that were pushed";
    Refusal::new(Kind::NotFound, "transcript_not_pushed", what, hint)
}

/// Whether a refusal says that there is no such copy, or no project to look in.
pub(crate) fn is_elsewhere(code: &str) -> bool {
    ["transcript_not_pushed", "project_unresolved", "project_unknown", "agent_unknown"].contains(&code)
}

fn content(app: &mut App, project_id: &str, row: &CopyRow) -> Result<Vec<u8>, AppError> {
    if row.manifest.bytes > MAX_BYTES {
        return Err(copy_invalid_refusal(row, "it is too large").into());
    }
    let mut bytes = Vec::new();
    for part in 0..row.manifest.parts() {
        let answer = app.run::<CopyPart>(&CopyPartInput {
            project: Some(project_id.to_owned()),
            id: row.manifest.transcript_id.clone(),
            agent: Some(row.manifest.agent.clone()),
            pushed_by: Some(row.identity.clone()),
            part,
        })?;
        bytes.extend(
            STANDARD.decode(answer.content).map_err(|_| copy_invalid_refusal(row, "a part is not base64"))?,
        );
    }
    if content_hash(&bytes) != row.manifest.content_hash {
        return Err(copy_invalid_refusal(
            row,
            "the content is not that of its hash, or was pushed anew meanwhile",
        )
        .into());
    }
    Ok(bytes)
}

fn plain_text(app: &App, project_id: &str, row: &CopyRow, content: Vec<u8>) -> Result<String, Refusal> {
    let content = match &row.manifest.readers {
        None => content,
        Some(readers) => {
            let files = Keys::new(app.config.config_dir.join("keys")).files(project_id)?;
            keys::decrypt_bytes(&content, &files, MAX_BYTES)?.ok_or_else(|| locked_refusal(row, readers))?
        }
    };
    let most = usize::try_from(MAX_FILE_BYTES).unwrap_or(usize::MAX);
    let text = zstd::bulk::decompress(&content, most)
        .map_err(|_| copy_invalid_refusal(row, "it cannot be decompressed"))?;
    String::from_utf8(text).map_err(|_| copy_invalid_refusal(row, "it is no text"))
}

fn locked_refusal(row: &CopyRow, readers: &[String]) -> Refusal {
    let names: Vec<String> = readers.iter().map(|name| visible(name)).collect();
    let what = format!("the session is encrypted for {}, and no key of yours opens it", names.join(", "));
    let hint = format!(
        "make a key with `baton key create --as NAME`, and have {} push the session again",
        visible(&row.identity)
    );
    Refusal::new(Kind::Refused, "transcript_locked", what, hint)
}

fn copy_invalid_refusal(row: &CopyRow, why: &str) -> Refusal {
    let what = format!("the session that {} pushed cannot be read: {why}", visible(&row.identity));
    Refusal::new(Kind::Refused, "transcript_copy_invalid", what, "repeat, or have it pushed anew")
}

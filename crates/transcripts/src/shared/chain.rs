//! Which lines are the conversation as it stands.
//!
//! A parent stands before its children, so one pass from the last line to the first, looking for one id at a time,
//! finds the chain from the leaf to the root. It holds a bit for each line, and the hashes of the ids of calls and
//! results, by which the parts of a batch are found that hang beside the chain. Abandoned branches are not met.

use std::collections::HashSet;
use std::fs::File;
use std::io;

use serde::Deserialize;

use crate::report::{Complaints, kind};
use crate::shared::batch::{Batches, Message};
use crate::shared::json::Json;
use crate::shared::lines::leading_type;
use crate::shared::reverse::{BitSet, ReverseLines};

/// How often a chain may be mended before everything further up is taken.
const MAX_MENDS: usize = 16;
/// After this many entries it is clear whether a file links its lines at all.
const MIN_ENTRIES: usize = 64;

/// How a format links its lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Links {
    /// Whether an entry is named by `id` and `parentId`, and not by `uuid` and `parentUuid`.
    pub by_id: bool,
    /// Whether lines that begin with this type can be links. Most bytes are not conversation: those lines are
    /// recognised without parsing. Where `id` names an entry, only these are entries: other lines have an `id` too.
    pub of: fn(&str) -> bool,
}

/// The lines of the conversation.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    marked: BitSet,
    /// Lines that cannot be read, so that it is unknown whether they belong to it: their reader complains.
    damaged: BitSet,
    lines: usize,
    /// Nothing links the lines: all are taken, in their order.
    linear: bool,
}

impl Chain {
    /// Every line.
    pub(crate) fn all() -> Self {
        Self { linear: true, ..Self::default() }
    }

    /// Whether line `number`, from 1, belongs to the conversation.
    pub(crate) fn contains(&self, number: u64) -> bool {
        let from_end = usize::try_from(number).ok().and_then(|number| self.lines.checked_sub(number));
        self.linear || from_end.is_some_and(|at| self.marked.contains(at) || self.damaged.contains(at))
    }
}

/// What the pass is looking for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ScanTarget {
    /// The last entry, or the leaf that a `last-prompt` names.
    Leaf { hints: bool },
    /// The entry of this id.
    Id(String),
    /// Whichever entry comes next: the link to it is lost.
    Previous,
    /// Every entry from here on up.
    Rest,
    /// Nothing more: the root has been found.
    Nothing,
}

/// The few fields of a line that link it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Entry<'a> {
    #[serde(borrow, rename = "type")]
    kind: LenientValue<'a>,
    #[serde(borrow)]
    uuid: LenientValue<'a>,
    #[serde(borrow)]
    id: LenientValue<'a>,
    #[serde(borrow)]
    parent_id: LenientValue<'a>,
    #[serde(borrow)]
    parent_uuid: LenientValue<'a>,
    #[serde(borrow)]
    logical_parent_uuid: LenientValue<'a>,
    #[serde(borrow)]
    leaf_uuid: LenientValue<'a>,
    #[serde(borrow)]
    is_sidechain: LenientValue<'a>,
    #[serde(borrow)]
    is_compact_summary: LenientValue<'a>,
    #[serde(borrow)]
    compact_metadata: LenientValue<'a>,
    message: Message,
}

/// A field of whatever type.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct LenientValue<'a>(#[serde(borrow)] Json<'a>);

impl Default for LenientValue<'_> {
    fn default() -> Self {
        Self(Json::Null)
    }
}

impl Entry<'_> {
    fn id(&self, by_id: bool) -> Option<&str> {
        if by_id { self.id.0.str() } else { self.uuid.0.str() }
    }

    fn parent(&self, by_id: bool) -> Option<&str> {
        if by_id {
            return self.parent_id.0.str();
        }
        self.parent_uuid.0.str().or_else(|| self.logical_parent_uuid.0.str())
    }
}

/// Finds the conversation in the first `size` bytes of a file.
pub(crate) fn trace(
    file: &mut File,
    size: u64,
    links: Links,
    complaints: &mut Complaints,
) -> io::Result<Chain> {
    let mut tracer = Tracer::new(true, links);
    tracer.pass(file, size, 0)?;
    if tracer.marked.len() == 0 && tracer.want != (ScanTarget::Leaf { hints: true }) {
        // The leaf that was named is not there: the file was cut. The last entry is the leaf then.
        tracer = Tracer::new(false, links);
        tracer.pass(file, size, 0)?;
    }
    for mend in 1.. {
        if !matches!(tracer.want, ScanTarget::Id(_)) || tracer.marked_at == 0 {
            break;
        }
        let before = tracer.marked.len();
        tracer.want = if mend < MAX_MENDS { ScanTarget::Previous } else { ScanTarget::Rest };
        let (at, index) = (tracer.marked_at, tracer.marked_index + 1);
        tracer.pass(file, at, index)?;
        if tracer.marked.len() > before {
            complaints.add(kind::BROKEN_CHAIN, 0);
        } else {
            break;
        }
    }
    let linear = tracer.marked.len() == 0 || tracer.roots > tracer.links + 1;
    tracer.batches.mark(&mut tracer.marked);
    Ok(Chain { marked: tracer.marked, damaged: tracer.damaged, lines: tracer.lines, linear })
}

struct Tracer {
    how: Links,
    want: ScanTarget,
    preserved: HashSet<String>,
    marked: BitSet,
    damaged: BitSet,
    batches: Batches,
    /// Offset and number from the end of the last line marked.
    marked_at: u64,
    marked_index: usize,
    lines: usize,
    /// Entries with and without a parent, of those looked at.
    links: usize,
    roots: usize,
}

impl Tracer {
    fn new(hints: bool, how: Links) -> Self {
        Self {
            how,
            want: ScanTarget::Leaf { hints },
            preserved: HashSet::new(),
            marked: BitSet::default(),
            damaged: BitSet::default(),
            batches: Batches::default(),
            marked_at: 0,
            marked_index: 0,
            lines: 0,
            links: 0,
            roots: 0,
        }
    }

    /// Goes up from `end`, where the line of this index (from the end of the file) ends.
    fn pass(&mut self, file: &mut File, end: u64, first: usize) -> io::Result<()> {
        let mut reverse = ReverseLines::new(file, end);
        let mut index = first;
        while let Some(line) = reverse.next_line()? {
            let hit = line
                .filter(|bytes| self.is_looking() && leading_type(bytes).is_none_or(self.how.of))
                .is_some_and(|bytes| self.is_on_path(bytes, index));
            if hit {
                self.marked.insert(index);
                (self.marked_at, self.marked_index) = (reverse.position(), index);
            }
            index += 1;
        }
        self.lines = index;
        Ok(())
    }

    /// Whether the line on these bytes is part of the conversation. NUL bytes do not hide it: the reader drops them.
    fn is_on_path(&mut self, bytes: &[u8], index: usize) -> bool {
        if let Ok(entry) = serde_json::from_slice(bytes) {
            return self.visit(entry, index);
        }
        let clean: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
        let read = || serde_json::from_slice(&clean).ok().filter(|_| clean.len() < bytes.len());
        if let Some(entry) = read() {
            return self.visit(entry, index);
        }
        // An empty line is no damage.
        if !clean.trim_ascii().is_empty() {
            self.damaged.insert(index);
        }
        false
    }

    fn is_looking(&self) -> bool {
        self.want != ScanTarget::Nothing
            || !self.preserved.is_empty()
            || self.links + self.roots < MIN_ENTRIES
    }

    /// Whether this line is part of the conversation; if so, its parent is looked for from now on.
    fn visit(&mut self, entry: Entry<'_>, index: usize) -> bool {
        if let (ScanTarget::Leaf { hints: true }, Some("last-prompt"), Some(leaf)) =
            (&self.want, entry.kind.0.str(), entry.leaf_uuid.0.str())
        {
            self.want = ScanTarget::Id(leaf.to_owned());
            return false;
        }
        let by_id = self.how.by_id;
        let kind = entry.kind.0.str().unwrap_or_default();
        let can = !entry.is_sidechain.0.is_true() && (!by_id || (self.how.of)(kind));
        let Some(id) = entry.id(by_id).filter(|_| can) else { return false };
        let linked = entry.parent(by_id).is_some();
        *(if linked { &mut self.links } else { &mut self.roots }) += 1;
        let preserved = self.preserved.remove(id);
        let wanted = match &self.want {
            ScanTarget::Leaf { .. } | ScanTarget::Previous | ScanTarget::Rest => true,
            ScanTarget::Id(wanted) => wanted == id,
            ScanTarget::Nothing => false,
        };
        if wanted {
            self.follow(&entry);
        }
        if wanted || preserved {
            self.batches.on_chain(entry.message);
        } else {
            self.batches.attach(entry.message, index);
        }
        wanted || preserved
    }

    fn follow(&mut self, entry: &Entry<'_>) {
        let preserved = entry.compact_metadata.0.at_path(&["preservedMessages", "uuids"]);
        self.preserved.extend(preserved.items().iter().filter_map(Json::str).map(str::to_owned));
        if self.want == ScanTarget::Rest {
            return;
        }
        self.want = match entry.parent(self.how.by_id) {
            Some(parent) => ScanTarget::Id(parent.to_owned()),
            // Old versions began again after a compaction without saying from where.
            None if entry.is_compact_summary.0.is_true() => ScanTarget::Previous,
            None => ScanTarget::Nothing,
        };
    }
}

//! What the tool's own records say of a session.

use super::Collector;
use super::own_repository::is_own_folder;
use crate::event::TranscriptInfo;

impl Collector<'_> {
    /// News of the session itself.
    pub(super) fn session(&mut self, news: &TranscriptInfo<'_>) {
        let owned =
            |value: &Option<std::borrow::Cow<'_, str>>| value.as_deref().map(|text| text.to_owned().into());
        let known = &mut self.session;
        known.id = known.id.take().or_else(|| owned(&news.id));
        known.cwd = owned(&news.cwd).or(known.cwd.take());
        // The branch of another repository, in which a command stands for a while, is not this one's.
        let is_own = is_own_folder(known.cwd.as_deref(), self.root.as_deref());
        self.calls.note_branch(news.branch.as_deref().filter(|_| is_own));
        known.branch = owned(&news.branch).filter(|_| is_own).or(known.branch.take());
        self.calls.cwd = known.cwd.as_deref().map(|cwd| self.cleaner.clean_text(cwd));
        if news.commit.is_some() {
            self.calls.git.committed_by_the_tool();
        }
        known.commit = owned(&news.commit).or(known.commit.take());
        known.model = owned(&news.model).or(known.model.take());
        known.version = owned(&news.version).or(known.version.take());
        if let (None, Some(root)) = (&self.root, news.cwd.as_deref()) {
            self.files.make_relative(root);
            self.calls.make_relative(&self.cleaner.clean_text(root));
            self.root = Some(root.to_owned());
        }
    }
}

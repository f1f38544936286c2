//! The lists of `baton top`, in the order of their numbers.

/// A list that can be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum View {
    Inbox,
    Agents,
    Batons,
    Handoffs,
    Tasks,
    Mail,
    Projects,
    Threads,
    Decisions,
}

impl View {
    /// Every view, in the order of their numbers.
    pub(in super::super) const ALL: [Self; 9] = [
        Self::Inbox,
        Self::Agents,
        Self::Batons,
        Self::Handoffs,
        Self::Tasks,
        Self::Mail,
        Self::Projects,
        Self::Threads,
        Self::Decisions,
    ];

    /// Its name.
    pub(in super::super) fn title(self) -> &'static str {
        match self {
            Self::Inbox => "Inbox",
            Self::Agents => "Agents",
            Self::Batons => "Batons",
            Self::Handoffs => "Hand-offs",
            Self::Tasks => "Tasks",
            Self::Mail => "Mail",
            Self::Projects => "Projects",
            Self::Threads => "Threads",
            Self::Decisions => "Decisions",
        }
    }

    pub(super) fn neighbour(self, by: usize) -> Self {
        let at = Self::ALL.iter().position(|view| *view == self).unwrap_or_default();
        Self::ALL.get((at + by) % Self::ALL.len()).copied().unwrap_or(self)
    }
}

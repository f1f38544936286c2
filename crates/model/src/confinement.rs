//! Whose the words of a conversation are where projects are isolated, and which project keeps them.

/// The isolated projects to which a conversation belongs: one of its hooks spoke in them, or one of its entries was written in
/// their folders. A claim of either kind confines a conversation further and never opens it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Confinement {
    /// None: its words are as open as a project that is not isolated.
    Open,
    /// One: its words are shown and kept there and nowhere else.
    Within(String),
    /// Several, each of which is closed to the others: its words are shown and kept nowhere.
    Conflicting(Vec<String>),
}

impl Confinement {
    /// The confinement by these isolated projects, in any order.
    pub fn of(isolated: impl IntoIterator<Item = String>) -> Self {
        let mut all: Vec<String> = isolated.into_iter().collect();
        all.sort_unstable();
        all.dedup();
        match all.pop() {
            None => Self::Open,
            Some(only) if all.is_empty() => Self::Within(only),
            Some(last) => {
                all.push(last);
                Self::Conflicting(all)
            }
        }
    }

    /// Whether the words are shown from a project, or from none.
    pub fn is_shown_from(&self, project: Option<&str>, is_isolated: bool) -> bool {
        match self {
            Self::Open => !is_isolated,
            Self::Within(only) => project == Some(only),
            Self::Conflicting(_) => false,
        }
    }

    /// Whether the words may be written into the ledger of a project: none of an isolated project go to another one.
    pub fn may_be_kept_in(&self, project: &str) -> bool {
        match self {
            Self::Open => true,
            Self::Within(only) => only == project,
            Self::Conflicting(_) => false,
        }
    }
}

/// The end of a conversation, as its hook hears of it.
#[derive(Debug, Clone, Copy)]
pub struct ConversationEnd<'a> {
    /// The project in which the agent stands by now.
    pub current_project: &'a str,
    /// Whether that is isolated.
    pub is_isolated: bool,
    /// Whether the agent has a session there.
    pub has_session: bool,
    /// The project in which the first hook of the conversation spoke, where that is known.
    pub noted: Option<&'a str>,
    /// The project of the folder in which the conversation began.
    pub folder_owner: Option<&'a str>,
}

impl ConversationEnd<'_> {
    /// The project that keeps the conversation; none where no project may.
    pub fn keeper(&self, confinement: &Confinement) -> Option<String> {
        let Self { current_project, is_isolated, has_session, noted, folder_owner } = *self;
        match confinement {
            Confinement::Within(only) => Some(only.clone()),
            Confinement::Conflicting(_) => None,
            // Nothing of it was said in the isolated project in which the agent stands.
            Confinement::Open if is_isolated => noted.or(folder_owner).map(str::to_owned),
            Confinement::Open if has_session => Some(current_project.to_owned()),
            Confinement::Open => Some(noted.unwrap_or(current_project).to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confinement(isolated: &[&str]) -> Confinement {
        Confinement::of(isolated.iter().map(|one| (*one).to_owned()))
    }

    #[test]
    fn words_of_an_isolated_project_are_shown_and_kept_there_alone() {
        let of_vault = confinement(&["vault", "vault"]);
        let shown = |what: &Confinement| {
            let from = [(None, false), (Some("shop"), false), (Some("vault"), true), (Some("thesis"), true)];
            from.map(|(project, is_isolated)| what.is_shown_from(project, is_isolated))
        };
        assert_eq!(shown(&confinement(&[])), [true, true, false, false]);
        assert_eq!(shown(&of_vault), [false, false, true, false]);
        let both = confinement(&["vault", "thesis"]);
        assert_eq!(both, Confinement::Conflicting(vec!["thesis".into(), "vault".into()]));
        assert_eq!(shown(&both), [false; 4]);
        let keepers = |what: &Confinement| ["shop", "vault", "thesis"].map(|id| what.may_be_kept_in(id));
        assert_eq!(keepers(&confinement(&[])), [true; 3]);
        assert_eq!(keepers(&of_vault), [false, true, false]);
        assert_eq!(keepers(&both), [false; 3]);
    }

    #[test]
    fn an_end_is_kept_where_the_words_are_and_else_where_the_first_hook_spoke() {
        let keeper = |isolated: &[&str], current_project: (&str, bool), has_session, noted, folder_owner| {
            let (current_project, is_isolated) = current_project;
            let end = ConversationEnd { current_project, is_isolated, has_session, noted, folder_owner };
            end.keeper(&confinement(isolated))
        };
        let (shop, vault) = (("shop", false), ("vault", true));
        for current_project in [shop, vault] {
            for noted in [None, Some("shop"), Some("vault")] {
                let of_vault = keeper(&["vault"], current_project, true, noted, Some("shop"));
                assert_eq!(of_vault.as_deref(), Some("vault"), "{current_project:?} {noted:?}");
                assert_eq!(keeper(&["vault", "thesis"], current_project, true, noted, Some("shop")), None);
            }
        }
        // All of it was said in open projects.
        assert_eq!(keeper(&[], shop, false, None, None).as_deref(), Some("shop"));
        assert_eq!(keeper(&[], shop, false, Some("lib"), None).as_deref(), Some("lib"));
        assert_eq!(keeper(&[], shop, true, Some("lib"), None).as_deref(), Some("shop"));
        assert_eq!(keeper(&[], vault, true, Some("lib"), Some("shop")).as_deref(), Some("lib"));
        assert_eq!(keeper(&[], vault, true, None, Some("shop")).as_deref(), Some("shop"));
        assert_eq!(keeper(&[], vault, true, None, None), None);
    }
}

//! The project registry.

mod address;
mod choose;
mod init;
mod isolation;
mod list;
mod merge;
mod merge_carry;
mod merge_names;
mod merge_rest;
mod merge_undo;
mod merged;
mod overview;
mod places;
mod registration;
mod relate;
mod relocate;
mod rename;
mod search;
mod set;
mod show;
mod visible;

pub use baton_model::project::{LastWrapView, View};
pub use init::{Init, InitInput, InitOutput, Suggestion};
pub(crate) use isolation::are_separated;
pub use list::{List, ListInput, ListOutput, Row};
pub use merge::{CarriedBaton, Merge, MergeInput, MergeOutput};
pub(crate) use merge::{carry_missing, carry_reclaimed};
pub(crate) use merge_names::{export_out_of_reach_refusal, hidden_merge, hide_merge};
pub(crate) use merge_undo::reopen;
pub(crate) use merged::{
    carried_as, carried_here, merged_from, merged_into, merged_remark, refuse_merged, require_active,
    require_not_merged,
};
pub use overview::{Overview, OverviewInput, OverviewOutput, OverviewRow};
pub use places::{PlaceKind, PlaceRow, Places, PlacesInput, PlacesOutput, each_once};
pub use relate::{Relate, RelateInput, RelateOutput, RelatedProject};
pub use relocate::{RelocateOutput, RemovePlace, RemovePlaceInput, SPLIT_FROM, Split, SplitInput};
pub use rename::{Rename, RenameInput, RenameOutput};
pub use search::{Search, SearchInput, SearchOutput, SearchRow};
pub use set::{Set, SetInput, SetOutput};
pub use show::{Show, ShowInput, ShowOutput};
pub(crate) use visible::VisibleProjects;

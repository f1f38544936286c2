//! Whether force is used, and why.

/// With what right something is done that another one holds: `why` is the reason of force.
#[derive(Clone, Copy, Default)]
pub(crate) struct ForceRequest<'a> {
    /// Force is used.
    pub(crate) given: bool,
    /// Why.
    pub(crate) why: Option<&'a str>,
}

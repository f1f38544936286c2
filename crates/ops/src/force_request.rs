//! Whether force is used, and why.

use baton_model::access::Grant;
use baton_store::Failure;

/// The same failure. Where its hint names `--force` to a token that may not use it, it says so.
pub(crate) fn without_right(failure: Failure, grant: &Grant) -> Failure {
    match failure {
        Failure::Refused(mut refusal)
            if !grant.is_operator()
                && refusal.hint.contains("--force")
                && !refusal.hint.contains("scope operator") =>
        {
            refusal.hint.push_str(" (`--force` needs a token of the scope operator, which yours is not)");
            Failure::Refused(refusal)
        }
        other => other,
    }
}

/// With what right something is done that another one holds: `why` is the reason of force.
#[derive(Clone, Copy, Default)]
pub(crate) struct ForceRequest<'a> {
    /// Force is used.
    pub(crate) given: bool,
    /// Why.
    pub(crate) why: Option<&'a str>,
}

//! The instants that the ledger can hold.

use baton_model::refusal::{Kind, Refusal};
use baton_model::time::Millis;

use crate::meta::TxMode;

/// The last millisecond that `rfc3339` can write, and with that an export: in every time zone it is the year 9999.
const LAST: Millis = 253_402_207_200_000;

/// Refuses to write at an instant that an export could not give back.
pub(crate) fn check(tx_mode: TxMode, now: Millis) -> Result<(), Refusal> {
    if tx_mode == TxMode::Read || now <= LAST {
        return Ok(());
    }
    let what = "the clock of this machine is past the year 9999, and nothing is written at such a time";
    let hint = "set the clock (`timedatectl`), then repeat the command";
    Err(Refusal::new(Kind::Refused, "clock_invalid", what, hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_at_a_time_that_an_export_cannot_hold() {
        assert_eq!(baton_model::time::rfc3339(LAST), "9999-12-30T22:00:00.000Z");
        assert!(!baton_model::time::rfc3339(LAST + 1).contains('T'));
        assert!(check(TxMode::Write, LAST).is_ok() && check(TxMode::Read, LAST + 1).is_ok());
        assert_eq!(check(TxMode::Write, LAST + 1).map_err(|no| no.code), Err("clock_invalid"));
    }
}

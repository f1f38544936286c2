//! What an import of a ledger brought along beside its entries.

use baton_model::id::visible;
use baton_ops::ledger::ImportOutput;

use crate::app::App;

/// Names the settings of an export that take effect without a further command: the webhook and the public keys.
pub(super) fn remark_brought(rebuilt: &ImportOutput, app: &App) {
    if let Some(url) = &rebuilt.webhook_url {
        app.remark(&format!(
            "the export has a webhook: a server posts each entry of the project to {} from now on, unless you take it away \
             (`baton project show {}`)",
            visible(url),
            visible(&rebuilt.project_id)
        ));
    }
    if let Some(host) = &rebuilt.webhook_left_out {
        app.remark(&format!(
            "the project had a webhook at {}, whose whole address no export holds: `baton project set {} --webhook URL` sets it",
            visible(host),
            visible(&rebuilt.project_id)
        ));
    }
    if !rebuilt.keys_of.is_empty() {
        let names: Vec<String> = rebuilt.keys_of.iter().map(|name| visible(name)).collect();
        app.remark(&format!(
            "public keys came with the export: what is encrypted for {} is readable for whoever has their private halves \
             (`baton key list`)",
            names.join(", ")
        ));
    }
}

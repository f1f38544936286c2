//! What is read at the address of a share, as one page without any request: its data stands in it. The same page is a file.

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_ops::share::SharedView;
use baton_tools::ALL;
use sha2::{Digest, Sha256};

const DOCUMENT: &str = include_str!("http/page/share.html");
const STYLE: &str = include_str!("http/page/style.css");
const ICON: &str = include_str!("http/page/icon.svg");

/// The scripts, one program in this order.
const SCRIPT: &str = concat!(
    "'use strict';\n",
    include_str!("http/page/core.js"),
    include_str!("http/page/markdown.js"),
    include_str!("http/page/story.js"),
    include_str!("http/page/share.js"),
);

/// A script with the names of every tool and the one that the page shows, which are told apart without case, hyphens and underscores.
pub(crate) fn with_tools(script: &str) -> String {
    let plain = |name: &str| name.to_lowercase().replace(['-', '_', ' '], "");
    let mut pairs: Vec<(String, &str)> = Vec::new();
    for tool in ALL {
        let names = [tool.id, tool.surface].into_iter().chain(tool.aliases.iter().copied());
        for name in names.map(plain) {
            if !pairs.iter().any(|(known, _)| *known == name) {
                pairs.push((name, tool.id));
            }
        }
    }
    let pairs: Vec<String> = pairs.iter().map(|(name, id)| format!("['{name}', '{id}']")).collect();
    script.replace("/*TOOLS*/", &pairs.join(", "))
}

/// The script with the names of the tools.
static PROGRAM: LazyLock<String> = LazyLock::new(|| with_tools(SCRIPT));

/// What a browser may do with it: run this script and nothing else, load nothing, connect to no server.
pub(crate) static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = |part: &str| STANDARD.encode(Sha256::digest(part));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(&PROGRAM),
        hash(STYLE)
    )
});

/// The page without its data.
static FRAME: LazyLock<String> = LazyLock::new(|| {
    let icon = format!("data:image/svg+xml;base64,{}", STANDARD.encode(ICON));
    DOCUMENT
        .replace("/*POLICY*/", &POLICY)
        .replace("/*ICON*/", &icon)
        .replace("/*STYLE*/", STYLE)
        .replace("/*SCRIPT*/", &PROGRAM)
});

/// The page of a share; without one it says that there is nothing at this address.
pub(crate) fn html(view: Option<&SharedView>) -> anyhow::Result<String> {
    // `<` begins a tag, also in a script's data; in JSON it may be written so.
    let data = serde_json::to_string(&view)?.replace('<', "\\u003c");
    Ok(FRAME.replacen("/*DATA*/", &data, 1))
}

#[cfg(test)]
mod tests {
    use baton_model::share::SharedKind;
    use baton_model::time::Timestamp;

    use super::*;

    #[test]
    fn no_text_of_an_agent_ends_the_data() {
        let title = "</script><script>alert(1)</script><!-- /*SCRIPT*/ /*DATA*/";
        let view = SharedView {
            project_id: "p".into(),
            kind: SharedKind::Baton,
            object_id: "b".into(),
            title: title.into(),
            sessions: Vec::new(),
            more: false,
            read_at: Timestamp(0),
            expires_at: None,
        };
        let page = html(Some(&view)).expect("JSON");
        assert_eq!(page.matches("<script").count(), 2, "{page}");
        assert_eq!(page.matches("</script>").count(), 2);
        let data = page.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next());
        let read: SharedView = serde_json::from_str(data.expect("data")).expect("the data is JSON");
        assert_eq!(read.title, title, "and what was written is read");
        assert!(html(None).expect("JSON").contains("id=\"data\">null<"));
    }
}

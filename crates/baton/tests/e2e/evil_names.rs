//! Names and files from outside: folder names that are not UTF-8, exports with a webhook and keys.

use std::fs;

use crate::stage::Stage;

#[cfg(target_os = "linux")]
#[test]
fn a_folder_whose_name_is_no_text_belongs_to_no_project() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let stage = Stage::new();
    for name in [&b"caf\xe9"[..], b"caf\xe8"] {
        let folder = stage.root().join(OsStr::from_bytes(name));
        fs::create_dir(&folder).expect("made");
        let lola = stage.terminal("Lola").within(&folder);
        for command in [&["init"][..], &["status"], &["pickup"]] {
            lola.refused(1, "folder_invalid", command);
        }
    }
}

#[test]
fn an_import_says_what_acts_by_itself_from_then_on() {
    let stage = Stage::in_a_file("a second store is a file").registered();
    let lola = stage.terminal("Lola");
    lola.json(&["project", "set", "--webhook", "https://hooks.example/x"]);
    lola.json(&["start"]);
    lola.json(&["key", "create"]);
    let file = stage.root().join("shop.jsonl").display().to_string();
    lola.run(&["log", "export", &file]).done();
    let other = stage.root().join("other.db").display().to_string();
    let output = lola.run(&["--store", &other, "log", "import", &file]).done();
    assert!(output.err.contains("a webhook at https://hooks.example/…"), "{output:?}");
    assert!(
        output.err.contains("project set shop --webhook URL") && !output.err.contains("hooks.example/x"),
        "{output:?}"
    );
    let exported = fs::read_to_string(&file).expect("read");
    assert!(!exported.contains("hooks.example/x"), "{exported}");
    let shown = lola.json(&["--store", &other, "project", "show", "shop"]);
    assert_eq!(shown["webhook_url"], serde_json::Value::Null, "{shown:#}");
    assert!(
        output.err.contains("public keys came with the export") && output.err.contains("Lola"),
        "{output:?}"
    );
}

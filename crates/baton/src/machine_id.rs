//! The id of this machine.

use std::path::Path;

use crate::{clock, private_file};

/// A stable id of the machine: the system's own, else one made once and kept beside the store.
pub(crate) fn machine_id(data_dir: &Path) -> String {
    for file in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
        if let Some(id) =
            std::fs::read_to_string(file).ok().map(|t| t.trim().to_owned()).filter(|t| t.len() >= 16)
        {
            return id;
        }
    }
    let file = data_dir.join("machine-id");
    if let Some(id) =
        std::fs::read_to_string(&file).ok().map(|t| t.trim().to_owned()).filter(|t| !t.is_empty())
    {
        return id;
    }
    let mut bytes = [0; 16];
    clock::random(&mut bytes);
    let id: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    let saved =
        private_file::create_folder(data_dir).and_then(|()| private_file::write(&file, id.as_bytes()));
    // Where nothing can be kept, the machine has no identity: rules that need one then never apply.
    if saved.is_ok() { id } else { String::new() }
}

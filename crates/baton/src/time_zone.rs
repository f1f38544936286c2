//! Time zones as the machine knows them.

use std::path::{Path, PathBuf};

use baton_model::usage_limit::Zone;

use crate::config;

/// Where systems keep the time zone database.
const DATABASES: [&str; 3] = ["/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/etc/zoneinfo"];
/// The zone of the machine.
const LOCAL: &str = "/etc/localtime";
/// The largest file of a zone that is read, in bytes.
const MAX_ZONE_BYTES: u64 = 256 * 1024;

/// The zone of this name, or of this machine; none where it has no such zone.
pub(crate) fn find(name: Option<&str>) -> Option<Zone> {
    match name {
        Some(name) => by_name(name),
        None => match config::variable("TZ") {
            // A file of its own, a name of the database or a rule.
            Some(set) if set.starts_with('/') => from_file(&set, Path::new(&set)),
            Some(set) if set.is_empty() => Zone::from_rule("UTC0"),
            Some(set) => by_name(&set).or_else(|| Zone::from_rule(&set)),
            None => from_file("local", Path::new(LOCAL)),
        },
    }
}

/// The name may come from an agent's output: it leads to no other file.
fn by_name(name: &str) -> Option<Zone> {
    let is_name = name.split('/').all(|part| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+'))
    });
    let of = |folder: &&str| from_file(name, &PathBuf::from(folder).join(name));
    if is_name { DATABASES.iter().find_map(of) } else { None }
}

/// Nothing but a small regular file is opened: a device or a pipe would never end.
fn from_file(name: &str, file: &Path) -> Option<Zone> {
    let is_small = file.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_ZONE_BYTES);
    if !is_small {
        return None;
    }
    Zone::from_tzif(name, &std::fs::read(file).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_regular_file_is_not_read() {
        // Read as files, these fill the memory or wait for ever.
        assert!(from_file("zone", Path::new("/dev/zero")).is_none());
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(from_file("zone", &pipe).is_none());
        assert!(from_file("zone", folder.path()).is_none());
    }

    #[test]
    fn a_name_of_a_time_zone_leads_to_no_other_file() {
        for name in
            ["../../etc/localtime", "/etc/localtime", "", "Europe//Berlin", "Europe/../UTC", ".", "a\0b"]
        {
            assert!(find(Some(name)).is_none(), "{name:?}");
        }
    }
}

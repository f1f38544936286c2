//! Private keys: one file for each identity of each project, in the user's key directory, readable only by its owner.
//!
//! Files look like those of `age-keygen`, so that `age` itself can use them. Only this file sees a private key.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use age::armor::{ArmoredReader, ArmoredWriter, Format};
use age::secrecy::{ExposeSecret, SecretString};
use age::x25519::{Identity, Recipient};
use age::{DecryptError, Decryptor, Encryptor, scrypt};
use baton_model::id::{check_identity, check_project, identity_key, visible};
use baton_model::refusal::{Kind, Refusal};

/// The largest text that is decrypted: far beyond any message, so that a hostile one cannot eat the memory.
const MAX_DECRYPTED_BYTES: u64 = 4 * 1024 * 1024;

/// The user's keys.
pub(crate) struct Keys {
    dir: PathBuf,
}

impl Keys {
    /// The keys in this directory, which need not exist yet.
    pub(crate) fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    fn path(&self, project_id: &str, identity: &str) -> Result<PathBuf, Refusal> {
        check_project(project_id)?;
        check_identity(identity)?;
        Ok(self.dir.join(project_id).join(format!("{}.key", identity_key(identity))))
    }

    /// The files with the private keys of a project.
    pub(crate) fn files(&self, project_id: &str) -> Result<Vec<PathBuf>, Refusal> {
        check_project(project_id)?;
        let folder = self.dir.join(project_id);
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(unreadable_refusal(&folder, &error.to_string())),
        };
        let paths = entries.flatten().map(|entry| entry.path());
        Ok(paths.filter(|path| path.extension().is_some_and(|ending| ending == "key")).collect())
    }

    /// The public key of an identity whose private key is here.
    pub(crate) fn public(&self, project_id: &str, identity: &str) -> Result<Option<String>, Refusal> {
        let keys = read(&self.path(project_id, identity)?)?;
        Ok(keys.first().map(|key| key.to_public().to_string()))
    }

    /// Makes a private key, unless there is one, and returns its public key.
    pub(crate) fn make(&self, project_id: &str, identity: &str) -> Result<String, Refusal> {
        let path = self.path(project_id, identity)?;
        if let Some(known) = self.public(project_id, identity)? {
            return Ok(known);
        }
        let key = Identity::generate();
        let public = key.to_public().to_string();
        let text = format!("# public key: {public}\n{}\n", key.to_string().expose_secret());
        match write_new(&path, &text) {
            Ok(()) => Ok(public),
            // Another process created the file first: its key is the one in use.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                self.public(project_id, identity)?.ok_or_else(|| without_key_refusal(&path))
            }
            Err(error) => Err(unwritten_refusal(&path, &error)),
        }
    }

    /// Decrypts a text with the key of an identity.
    pub(crate) fn decrypt(&self, project_id: &str, identity: &str, sealed: &str) -> Result<String, Refusal> {
        let path = self.path(project_id, identity)?;
        let keys = read(&path)?;
        if keys.is_empty() && path.exists() {
            return Err(without_key_refusal(&path));
        }
        if keys.is_empty() {
            let what = format!("{identity} has no private key for project {project_id} on this machine");
            let hint = format!(
                "make one with `baton key create --as {identity}` and have it sent again, or call from the machine that has it"
            );
            return Err(Refusal::new(Kind::Refused, "key_missing", what, hint));
        }
        open(&keys, sealed).map_err(|error| match error {
            DecryptError::NoMatchingKeys => {
                let what = format!("{identity} is not among those who can read it");
                let hint = "ask its sender to send it again: it was encrypted before the key was listed, or for others";
                Refusal::new(Kind::Refused, "not_a_reader", what, hint)
            }
            other => Refusal::new(
                Kind::Refused,
                "sealed_damaged",
                format!("it cannot be decrypted: {other}"),
                "ask its sender to send it again",
            ),
        })
    }
}

/// Encrypts a text for these public keys, as text.
pub(crate) fn encrypt(recipients: &[String], text: &str) -> Result<String, Refusal> {
    let keys: Vec<Recipient> = recipients.iter().map(|r| parse(r)).collect::<Result<_, _>>()?;
    let encryptor = Encryptor::with_recipients(keys.iter().map(|key| key as &dyn age::Recipient))
        .map_err(|error| sealing_failed_refusal(&format!("it cannot be encrypted: {error}")))?;
    armored(encryptor, text)
}

fn sealing_failed_refusal(what: &str) -> Refusal {
    Refusal::new(Kind::Refused, "sealing_failed", what, "report this")
}

fn armored(encryptor: Encryptor, text: &str) -> Result<String, Refusal> {
    let write = || -> std::io::Result<Vec<u8>> {
        let armor = ArmoredWriter::wrap_output(Vec::new(), Format::AsciiArmor)?;
        let mut out = encryptor.wrap_output(armor)?;
        out.write_all(text.as_bytes())?;
        out.finish()?.finish()
    };
    let sealed =
        write().map_err(|error| sealing_failed_refusal(&format!("it cannot be encrypted: {error}")))?;
    String::from_utf8(sealed)
        .map_err(|error| sealing_failed_refusal(&format!("what was encrypted is no text: {error}")))
}

/// How a file is protected on its way.
pub(crate) enum Protection {
    /// For the holders of these public keys.
    Recipients(Vec<String>),
    /// For those who know the passphrase.
    Passphrase(String),
}

/// Encrypts a file as text, in the format of `age`.
pub(crate) fn encrypt_file(protection: &Protection, content: &str) -> Result<String, Refusal> {
    match protection {
        Protection::Recipients(keys) => encrypt(keys, content),
        Protection::Passphrase(phrase) => {
            let phrase = SecretString::from(phrase.clone());
            armored(Encryptor::with_user_passphrase(phrase), content)
        }
    }
}

/// Whether a file is encrypted in the format of `age`.
pub(crate) fn is_encrypted(content: &[u8]) -> bool {
    content.starts_with(b"-----BEGIN AGE ENCRYPTED FILE-----") || content.starts_with(b"age-encryption.org/")
}

/// Decrypts a file with a passphrase, or with one of these key files. `most` is the longest result in bytes.
pub(crate) fn decrypt_file(
    content: &[u8],
    passphrase: Option<&str>,
    key_files: &[PathBuf],
    most: u64,
) -> Result<String, Refusal> {
    let damaged = |why: &str| {
        let what = format!("the file cannot be decrypted: {why}");
        Refusal::new(Kind::Refused, "baton_file_locked", what, "ask its sender to send it again")
    };
    let bytes = decrypt(content, passphrase, key_files, most)?.map_err(|error| match error {
        DecryptError::NoMatchingKeys | DecryptError::DecryptionFailed | DecryptError::KeyDecryptionFailed => {
            let what = match passphrase {
                Some(_) => "the file is encrypted, and this passphrase does not open it",
                None => "the file is encrypted, and no key of yours opens it",
            };
            let hint =
                "name the key with --key FILE, or the file with the passphrase with --passphrase-file FILE";
            Refusal::new(Kind::Refused, "baton_file_locked", what, hint)
        }
        other => damaged(&other.to_string()),
    })?;
    String::from_utf8(bytes).map_err(|_| damaged("it holds no text"))
}

/// Encrypts bytes for these public keys.
pub(crate) fn encrypt_bytes(recipients: &[String], content: &[u8]) -> Result<Vec<u8>, Refusal> {
    let keys: Vec<Recipient> = recipients.iter().map(|r| parse(r)).collect::<Result<_, _>>()?;
    let encryptor = Encryptor::with_recipients(keys.iter().map(|key| key as &dyn age::Recipient))
        .map_err(|error| sealing_failed_refusal(&format!("it cannot be encrypted: {error}")))?;
    let write = || -> std::io::Result<Vec<u8>> {
        let mut out = encryptor.wrap_output(Vec::new())?;
        out.write_all(content)?;
        out.finish()
    };
    write().map_err(|error| sealing_failed_refusal(&format!("it cannot be encrypted: {error}")))
}

/// Decrypts bytes that were encrypted for one of these keys; nothing where it was for none of them.
pub(crate) fn decrypt_bytes(
    content: &[u8],
    key_files: &[PathBuf],
    most: u64,
) -> Result<Option<Vec<u8>>, Refusal> {
    match decrypt(content, None, key_files, most)? {
        Ok(bytes) => Ok(Some(bytes)),
        Err(DecryptError::NoMatchingKeys) => Ok(None),
        Err(error) => {
            let what = format!("it cannot be decrypted: {error}");
            Err(Refusal::new(Kind::Refused, "sealed_damaged", what, "ask its sender to send it again"))
        }
    }
}

fn decrypt(
    content: &[u8],
    passphrase: Option<&str>,
    key_files: &[PathBuf],
    most: u64,
) -> Result<Result<Vec<u8>, DecryptError>, Refusal> {
    let mut keys = Vec::new();
    for path in key_files {
        keys.extend(read(path)?);
    }
    let phrase = passphrase.map(|phrase| scrypt::Identity::new(SecretString::from(phrase.to_owned())));
    let open = || -> Result<Vec<u8>, DecryptError> {
        let decryptor = Decryptor::new_buffered(ArmoredReader::new(content))?;
        let known = keys.iter().map(|key| key as &dyn age::Identity);
        let reader = decryptor.decrypt(known.chain(phrase.iter().map(|key| key as &dyn age::Identity)))?;
        let mut bytes = Vec::new();
        reader.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    Ok(open())
}

/// Refuses what is no public key.
pub(crate) fn check(recipient: &str) -> Result<(), Refusal> {
    parse(recipient).map(|_| ())
}

fn parse(recipient: &str) -> Result<Recipient, Refusal> {
    Recipient::from_str(recipient.trim()).map_err(|_| {
        Refusal::invalid(
            "key_invalid",
            format!("`{}` is no public key", visible(recipient).chars().take(80).collect::<String>()),
            "give one that begins with age1, as `baton key show` and `age-keygen -y` print it",
        )
    })
}

fn open(keys: &[Identity], sealed: &str) -> Result<String, DecryptError> {
    let decryptor = Decryptor::new_buffered(ArmoredReader::new(sealed.as_bytes()))?;
    let mut text = String::new();
    let reader = decryptor.decrypt(keys.iter().map(|key| key as &dyn age::Identity))?;
    reader.take(MAX_DECRYPTED_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

/// The private keys of a file, the newest first; none when there is no file.
fn read(path: &Path) -> Result<Vec<Identity>, Refusal> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable_refusal(path, &error.to_string())),
    };
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| Identity::from_str(line).map_err(|why| unreadable_refusal(path, why))).collect()
}

/// Gives a draft its name, unless that is taken. Where the file system has no links, the name is taken first.
fn give_name(draft: &Path, path: &Path, options: &OpenOptions) -> std::io::Result<()> {
    match std::fs::hard_link(draft, path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            options.open(path)?;
            std::fs::rename(draft, path)
        }
        linked => linked,
    }
}

/// What an earlier version left at a full disk, or a user emptied.
fn without_key_refusal(path: &Path) -> Refusal {
    let what = format!("the key file {} holds no key", path.display());
    Refusal::new(
        Kind::Refused,
        "key_unreadable",
        what,
        "bring its content back, or remove the file: then a new key is made",
    )
}

fn unwritten_refusal(path: &Path, error: &std::io::Error) -> Refusal {
    let what = format!("the key file {} cannot be written: {error}", path.display());
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => Refusal::new(
            Kind::Refused,
            "disk_full",
            what,
            "free space on that disk, then repeat: no key was made",
        ),
        _ => Refusal::new(
            Kind::Refused,
            "output_unwritable",
            what,
            "make its folder writable for this user, then repeat: no key was made",
        ),
    }
}

fn unreadable_refusal(path: &Path, why: &str) -> Refusal {
    let what = format!("the key file {} cannot be used: {why}", path.display());
    Refusal::new(Kind::Refused, "key_unreadable", what, "mend its permissions or contents, or move it away")
}

/// A new file that only its owner can read, in a directory that only they can enter.
fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    let mut folders = DirBuilder::new();
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        folders.mode(0o700);
        options.mode(0o600);
    }
    if let Some(folder) = path.parent() {
        folders.recursive(true).create(folder)?;
    }
    // The name is there with the whole key or not at all: what a full disk or a kill leaves is a draft.
    let draft = path.with_extension(format!("draft-{}", std::process::id()));
    let _ = std::fs::remove_file(&draft);
    let written = options.open(&draft).and_then(|mut file: File| {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        give_name(&draft, path, &options)
    });
    let _ = std::fs::remove_file(&draft);
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_file_holds_a_key_or_is_not_there() {
        let (dir, keys) = keys();
        let path = keys.path("p", "Ann").expect("a path");
        let folder = dir.path().join("keys").join("p");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(path.with_extension(format!("draft-{}", std::process::id())), "half")
            .expect("a draft");
        let public = keys.make("p", "Ann").expect("a key");
        assert_eq!(keys.make("p", "Ann").expect("the same"), public);
        let names = std::fs::read_dir(&folder).expect("a folder").count();
        assert_eq!(names, 1, "the draft is gone");
        std::fs::write(&path, "").expect("emptied");
        let refusal = keys.make("p", "Ann").expect_err("it holds no key");
        assert!(refusal.hint.contains("remove the file"), "{refusal:?}");
    }

    fn keys() -> (tempfile::TempDir, Keys) {
        let dir = tempfile::tempdir().expect("dir");
        let keys = Keys::new(dir.path().join("keys"));
        (dir, keys)
    }

    #[test]
    fn only_those_it_was_encrypted_for_can_read_it() {
        let (_dir, keys) = keys();
        let (donna, lola) = (keys.make("p", "Donna").expect("made"), keys.make("p", "Lola").expect("made"));
        keys.make("p", "Rex").expect("made");
        let sealed = encrypt(&[donna, lola], "the password is ünsafe").expect("sealed");
        assert!(sealed.starts_with("-----BEGIN AGE ENCRYPTED FILE-----") && !sealed.contains("password"));
        for reader in ["donna", "LOLA"] {
            assert_eq!(keys.decrypt("p", reader, &sealed).as_deref(), Ok("the password is ünsafe"));
        }
        assert_eq!(keys.decrypt("p", "Rex", &sealed).expect_err("not for Rex").code, "not_a_reader");
        assert_eq!(keys.decrypt("p", "Zoe", &sealed).expect_err("no key").code, "key_missing");
        assert_eq!(keys.decrypt("q", "Donna", &sealed).expect_err("another project").code, "key_missing");
        let damaged = sealed.replacen(&sealed[60..64], "AAAA", 1);
        assert_eq!(keys.decrypt("p", "Donna", &damaged).expect_err("damaged").code, "sealed_damaged");
    }

    #[test]
    fn bytes_are_opened_by_each_of_their_keys_and_no_other() {
        let (_dir, keys) = keys();
        let (donna, lola) = (keys.make("p", "Donna").expect("made"), keys.make("p", "Lola").expect("made"));
        let sealed = encrypt_bytes(&[donna, lola], &[0, 159, 255]).expect("sealed");
        keys.make("q", "Rex").expect("made");
        let (own, others) = (keys.files("p").expect("files"), keys.files("q").expect("files"));
        for key in own {
            assert_eq!(decrypt_bytes(&sealed, &[key], 99), Ok(Some(vec![0, 159, 255])));
        }
        assert_eq!(decrypt_bytes(&sealed, &others, 99), Ok(None));
        assert_eq!(decrypt_bytes(&sealed, &[], 99), Ok(None));
        assert_eq!(decrypt_bytes(b"no", &others, 99).expect_err("damaged").code, "sealed_damaged");
    }

    #[test]
    fn a_key_is_made_once_and_kept_from_others() {
        let (_dir, keys) = keys();
        assert_eq!(keys.public("p", "Donna"), Ok(None));
        let first = keys.make("p", "Donna").expect("made");
        assert_eq!(keys.make("p", "DONNA"), Ok(first.clone()));
        assert_eq!(keys.public("p", "donna"), Ok(Some(first)));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let path = keys.path("p", "Donna").expect("path");
            let mode = |p: &Path| std::fs::metadata(p).expect("there").permissions().mode() & 0o777;
            assert_eq!((mode(&path), mode(path.parent().expect("folder"))), (0o600, 0o700));
        }
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for bad in ["", "age1", "ssh-ed25519 AAAA", "age1\u{1b}[2J"] {
            assert_eq!(check(bad).expect_err(bad).code, "key_invalid");
        }
        let (_dir, keys) = keys();
        let path = keys.path("p", "Donna").expect("path");
        write_new(&path, "nothing\n").expect("written");
        assert_eq!(keys.public("p", "Donna").expect_err("no key in it").code, "key_unreadable");
        assert_eq!(keys.make("../p", "Donna").expect_err("leads outside").code, "project_invalid");
    }

    #[test]
    fn a_key_file_that_lost_its_key_is_named_and_not_called_missing() {
        let (_dir, keys) = keys();
        let public = keys.make("p", "Kay").expect("made");
        let sealed = encrypt(&[public], "words").expect("sealed");
        std::fs::write(keys.path("p", "Kay").expect("path"), "").expect("emptied");
        assert_eq!(keys.decrypt("p", "Kay", &sealed).expect_err("no key").code, "key_unreadable");
        assert_eq!(keys.decrypt("p", "Nobody", &sealed).expect_err("no file").code, "key_missing");
        let full = unwritten_refusal(Path::new("k"), &std::io::Error::from(ErrorKind::StorageFull));
        assert_eq!(full.code, "disk_full");
    }
}

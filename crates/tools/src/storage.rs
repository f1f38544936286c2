//! Where the sessions of an agent lie, and how it is known what stands in them.

/// A file that the reader of an agent looks for.
#[derive(Debug, Clone, Copy)]
pub struct StoredFile {
    /// Its path on Linux. Words in capitals stand for any name, `PROJECT` at the beginning for a folder of the user's.
    pub path: &'static str,
    /// The variable that moves it.
    pub variable: Option<&'static str>,
}

/// How it is known what an agent writes.
#[derive(Debug, Clone, Copy)]
pub enum Evidence {
    /// Every run of the tests plays the program, in the version of `bench/agents`, and reads what it wrote.
    Tests,
    /// The program of this version was run once, and what it wrote was read.
    Program(&'static str),
    /// Sessions that users published were read.
    UserSessions(&'static str),
    /// The vendor's source, packages or documents describe it.
    VendorSource(&'static str),
    /// A published form that several programs write.
    Specification(&'static str),
    /// Only other programs that read it describe it.
    OtherReaders,
    /// Baton defines it.
    Own,
}

/// The sessions of an agent.
#[derive(Debug)]
pub struct Storage {
    /// The files, the most usual first.
    pub files: &'static [StoredFile],
    /// How their content is known.
    pub evidence: Evidence,
    /// What a user should know besides; empty where there is nothing.
    pub note: &'static str,
}

//! Other people's clients and the conformance suite, where they are installed.

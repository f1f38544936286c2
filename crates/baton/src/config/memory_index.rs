//! Settings of the memory index: Qdrant and embeddings, both optional.

use std::collections::BTreeMap;

use baton_model::refusal::Refusal;
use baton_ops::memory_index::Setup;

use super::faults;

/// How memories are recalled beside the ledger's text search.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemoryIndexConfig {
    /// The index outside, if there is one.
    pub qdrant: Option<Qdrant>,
    /// Where vectors come from, if not from the words alone.
    pub embeddings: Option<Embeddings>,
}

/// A Qdrant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Qdrant {
    /// Where it is, without a slash at the end.
    pub url: String,
    /// The collection that is Baton's.
    pub collection: String,
    /// Its key, from the environment only.
    pub key: Option<String>,
}

/// An endpoint that makes vectors as OpenAI's does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Embeddings {
    /// The address that is posted to.
    pub url: String,
    /// The model, which names the vectors as well.
    pub model: String,
    /// Its key, from the environment only.
    pub key: Option<String>,
}

impl MemoryIndexConfig {
    /// What operations need to know of it.
    pub(crate) fn setup(&self) -> Setup {
        Setup {
            endpoint: self.embeddings.as_ref().map(|embeddings| embeddings.model.clone()),
            outside: self.qdrant.is_some(),
        }
    }
}

/// The settings.
pub(super) fn read(
    origins: &BTreeMap<&'static str, (String, String)>,
    given: &impl Fn(&str) -> Option<String>,
) -> Result<MemoryIndexConfig, Refusal> {
    let setting = |key: &'static str| origins.get(key).map(|(value, _)| value.trim().to_owned());
    let qdrant = match address(origins, "qdrant_url", "http://127.0.0.1:6333")? {
        None => None,
        Some(url) => Some(Qdrant {
            url,
            collection: collection(setting("qdrant_collection").unwrap_or_else(|| "baton".into()))?,
            key: secret("BATON_QDRANT_API_KEY", given)?,
        }),
    };
    let embeddings = match address(origins, "embeddings_url", "http://127.0.0.1:11434/v1")? {
        None => None,
        Some(url) => {
            let model = setting("embeddings_model").filter(|model| !model.is_empty()).ok_or_else(|| {
                let what = "`embeddings_url` is given and `embeddings_model` is not";
                let hint = "set BATON_EMBEDDINGS_MODEL to the model's name";
                faults::of("embeddings_url", Refusal::invalid("config_invalid", what, hint))
            })?;
            let url = if url.ends_with("/embeddings") { url } else { format!("{url}/embeddings") };
            Some(Embeddings { url, model, key: secret("BATON_EMBEDDINGS_KEY", given)? })
        }
    };
    Ok(MemoryIndexConfig { qdrant, embeddings })
}

fn address(
    origins: &BTreeMap<&'static str, (String, String)>,
    key: &'static str,
    example: &str,
) -> Result<Option<String>, Refusal> {
    let Some((url, _)) = origins.get(key) else { return Ok(None) };
    let url = url.trim().trim_end_matches('/');
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    if rest.is_none_or(|rest| {
        rest.is_empty() || rest.contains(['@', '?', '#']) || rest.contains(char::is_whitespace)
    }) {
        // The value itself is not shown: what is no address may still hold a key or a password.
        let what = format!("`{key}` is no address, or holds more than one");
        let hint = format!("write it as {example}; keys have variables of their own");
        return Err(faults::of(key, Refusal::invalid("config_invalid", what, hint)));
    }
    Ok(Some(url.to_owned()))
}

fn collection(name: String) -> Result<String, Refusal> {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.is_empty() && name.len() <= 128 && name.chars().all(good) && !name.starts_with('.') {
        return Ok(name);
    }
    let what = format!(
        "`qdrant_collection` is `{}`, which no collection is called",
        baton_model::id::visible(&name)
    );
    let hint = "use letters, digits, `-`, `_` and `.`";
    Err(faults::of("qdrant_collection", Refusal::invalid("config_invalid", what, hint)))
}

fn secret(name: &str, given: &impl Fn(&str) -> Option<String>) -> Result<Option<String>, Refusal> {
    let key = given(name);
    if key.as_ref().is_some_and(|key| key.chars().any(|c| !c.is_ascii_graphic())) {
        return Err(Refusal::invalid(
            "config_invalid",
            format!("{name} is not a key"),
            "give it without spaces",
        ));
    }
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(settings: &[(&'static str, &str, &str)]) -> Result<MemoryIndexConfig, Refusal> {
        let origins =
            settings.iter().map(|(k, v, from)| (*k, ((*v).to_owned(), (*from).to_owned()))).collect();
        read(&origins, &|name| (name == "BATON_QDRANT_API_KEY").then(|| "secret".to_owned()))
    }

    #[test]
    fn an_endpoint_needs_a_model_and_is_posted_to_where_vectors_are_made() {
        let url = ("embeddings_url", "http://127.0.0.1:11434/v1/", "env BATON_EMBEDDINGS_URL");
        let model = ("embeddings_model", "nomic", "env BATON_EMBEDDINGS_MODEL");
        assert!(check(&[url]).expect_err("no model").hint.contains("BATON_EMBEDDINGS_MODEL"));
        let index = check(&[url, model]).expect("valid");
        let embeddings = index.embeddings.clone().expect("an endpoint");
        assert_eq!(embeddings.url, "http://127.0.0.1:11434/v1/embeddings");
        assert_eq!(index.setup(), Setup { endpoint: Some("nomic".into()), outside: false });
        assert_eq!(check(&[]).expect("valid").setup(), Setup::default());
    }

    #[test]
    fn an_address_that_is_none_is_refused_without_telling_what_it_holds() {
        for key in ["qdrant_url", "embeddings_url"] {
            for bad in ["qdrant", "http://", "http://me:secret@x", "http://x?key=1"] {
                let refused = check(&[(key, bad, "env X")]).expect_err(bad);
                assert!(
                    !refused.message.contains("secret") && !refused.message.contains("key="),
                    "{refused:?}"
                );
            }
        }
    }

    #[test]
    fn a_collection_has_a_name_that_is_no_path() {
        let at = |name| check(&[("qdrant_url", "http://q", "env X"), ("qdrant_collection", name, "env Y")]);
        assert_eq!(at("team-1").expect("valid").qdrant.expect("qdrant").collection, "team-1");
        for bad in ["../x", "a/b", "", "a b"] {
            assert!(at(bad).is_err(), "{bad}");
        }
    }
}

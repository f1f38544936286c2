//! Recall with Qdrant and embeddings: what is indexed, what is found, and what is left when they are away. Against the Qdrant that
//! `BATON_TEST_QDRANT_URL` names where it can be any, else and for faults against a stand-in that holds every call against Qdrant's
//! own description.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use baton_emulator::{Collection, Embedder, Fault, Qdrant};
use serde_json::{Map, Value, json};

use crate::http::{Server, request};
use crate::stage::{Stage, Terminal, env, items, text};

/// The collection of the stand-in.
const COLLECTION: &str = "baton";

fn stand_in() -> Qdrant {
    Qdrant::start(None).expect("a stand-in for Qdrant")
}

fn with<'a>(terminal: &Terminal<'a>, qdrant: &Qdrant) -> Terminal<'a> {
    terminal.with("BATON_QDRANT_URL", qdrant.url())
}

fn in_time(what: &str, mut f: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !f() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn add(who: &Terminal<'_>, words: &str) -> String {
    text(&who.json(&["memory", "add", words]), "memory_id")
}

fn found(who: &Terminal<'_>, query: &str) -> (Vec<String>, Value) {
    let answer = who.json(&["memory", "search", query]);
    (items(&answer).iter().map(|row| text(row, "memory_id")).collect(), answer)
}

fn count(qdrant: &Qdrant) -> usize {
    qdrant.points().collections.get(COLLECTION).map_or(0, Collection::len)
}

fn assert_as_described(qdrant: &Qdrant) {
    assert_eq!(qdrant.points().complaints, Vec::<String>::new());
}

#[test]
fn memories_are_put_into_qdrant_and_recalled_from_it() {
    let stage = Stage::local();
    let stand_in = stand_in();
    // A collection of its own, since a server that is there may have others.
    let url = env("BATON_TEST_QDRANT_URL").unwrap_or_else(|| stand_in.url());
    let name = format!("baton-test-{}", std::process::id());
    let ann = stage.terminal("Ann").with("BATON_QDRANT_URL", url).with("BATON_QDRANT_COLLECTION", &name);
    ann.json(&["init"]);
    let server = Server::start(&ann);
    let deploy = text(
        &server.ok(
            "memory_add",
            &json!({ "project": "shop", "identity": "Ann", "text": "deploying on fridays is forbidden" }),
        ),
        "memory_id",
    );
    let cart = add(&ann, "the cart rounds half up");
    let search = |query: &str| server.ok("memory_search", &json!({ "project": "shop", "query": query }));
    // No word of it begins with `deploys`: only the index finds it.
    in_time("it is found through the index", || {
        let answer = search("deploys");
        answer["recall"] == "qdrant" && items(&answer).iter().any(|row| row["memory_id"] == deploy.as_str())
    });
    assert_eq!(
        found(&ann, "rounding carts").0,
        std::slice::from_ref(&cart),
        "a command asks as a server does"
    );
    let doctor = || ann.json(&["doctor"])["recall"].clone();
    in_time("both agree", || doctor()["qdrant"]["agrees"] == true);
    ann.json(&["memory", "withdraw", &cart]);
    in_time("it is taken out", || doctor()["qdrant"]["points"] == 1);
    assert_eq!(found(&ann, "rounding carts").0, Vec::<String>::new());
    let made = ann.json(&["memory", "reindex", "--fresh"]);
    assert_eq!((&made["to_do"], &doctor()["qdrant"]["points"]), (&json!(0), &json!(1)));
    drop(server);
    let base = ann_url(&stand_in);
    let _ = request(&base, "DELETE", &format!("/collections/{name}"), b"", &[]);
    assert_as_described(&stand_in);
}

fn ann_url(qdrant: &Qdrant) -> String {
    env("BATON_TEST_QDRANT_URL").unwrap_or_else(|| qdrant.url()).replace("http://", "")
}

#[test]
fn qdrant_away_slow_or_talking_nonsense_leaves_the_words_and_is_said() {
    let (stage, qdrant) = (Stage::local(), stand_in());
    let ann = with(&stage.terminal("Ann"), &qdrant);
    ann.json(&["init"]);
    let known = add(&ann, "deploying on fridays");
    assert_eq!(found(&ann, "deploy").1["recall"], "qdrant");
    for (fault, expected) in [
        (Fault::Refuse(503, None), "answered 503"),
        (Fault::Refuse(429, Some(1)), "answered 429"),
        (Fault::DropBefore, "Qdrant"),
        (Fault::DropDuring, "Qdrant"),
        (Fault::Garbage, "no list of points"),
        (Fault::Late(3_000), "no answer within"),
    ] {
        qdrant.script(Some(Box::new(move |_| fault)));
        let (shown, answer) = found(&ann, "deploy");
        assert_eq!((shown, &answer["recall"]), (vec![known.clone()], &json!("text")), "{fault:?}");
        assert!(text(&answer, "recall_why").contains(expected), "{fault:?}: {answer:#}");
    }
    qdrant.script(Some(Box::new(|_| Fault::Refuse(503, None))));
    let output = ann.run(&["memory", "search", "deploy"]).done();
    assert!(output.err.contains("found by words alone: Qdrant answered 503"), "{}", output.err);
    let late = add(&ann, "the port is 7077");
    let doctor = ann.run(&["doctor", "--json"]);
    assert_eq!((doctor.code, &doctor.json()["recall"]["qdrant"]["answers"]), (1, &json!(false)));
    assert_eq!((&doctor.json()["recall"]["to_do"], count(&qdrant)), (&json!(1), 1));
    qdrant.script(None);
    ann.json(&["memory", "reindex"]);
    assert_eq!((count(&qdrant), found(&ann, "ports").0), (2, vec![late]));
    assert_as_described(&qdrant);
}

#[test]
fn points_that_somebody_else_planted_are_never_shown() {
    let (stage, qdrant) = (Stage::local(), stand_in());
    let ann = with(&stage.terminal("Ann"), &qdrant);
    ann.json(&["init"]);
    let other = ann.within(stage.repo("other"));
    other.json(&["init"]);
    let mine = add(&ann, "deploying on fridays");
    let theirs = add(&other, "deploying the secret");
    {
        let mut points = qdrant.points();
        let collection = points.collections.get_mut(COLLECTION).expect("made");
        let words = baton_model::memory_index::question("deploying fridays secret");
        let vector = json!({ "words": { "indices": words.indices, "values": [9.0, 9.0, 9.0] } });
        for (id, project, memory) in
            [("a", "shop", theirs.as_str()), ("b", "shop", "<script>"), ("c", "other", &theirs)]
        {
            let payload = json!({ "project_id": project, "memory_id": memory, "embedder": "hashing-1" });
            let payload: Map<String, Value> = payload.as_object().cloned().expect("object");
            collection.plant(id, vector.clone(), payload);
        }
    }
    let (shown, answer) = found(&ann, "deploying fridays secret");
    assert_eq!((shown, &answer["recall"]), (vec![mine], &json!("qdrant")));
    let doctor = ann.run(&["doctor"]);
    assert_eq!(doctor.code, 1);
    assert!(doctor.out.contains("5 points for 2 memories: `baton memory reindex --all`"), "{}", doctor.out);
    ann.json(&["memory", "reindex", "--all"]);
    assert_eq!(count(&qdrant), 5, "what has no time of ours is not swept: it is somebody's");
    ann.json(&["memory", "reindex", "--fresh"]);
    assert_eq!(count(&qdrant), 2);
    assert_as_described(&qdrant);
}

#[test]
fn a_collection_of_somebody_else_is_neither_filled_nor_thrown_away() {
    let (stage, qdrant) = (Stage::local(), stand_in());
    let ann = with(&stage.terminal("Ann"), &qdrant);
    ann.json(&["init"]);
    let theirs = json!({ "vectors": { "image": { "size": 4, "distance": "Dot" } } });
    let mut foreign = Collection::new(&theirs);
    foreign.plant("a", json!({ "image": [1.0, 0.0, 0.0, 0.0] }), Map::new());
    qdrant.points().collections.insert(COLLECTION.to_owned(), foreign);
    add(&ann, "deploying on fridays");
    for call in [&["memory", "reindex", "--fresh"][..], &["memory", "reindex"]] {
        let refused = ann.run(call);
        assert_eq!(refused.code, 5, "{refused:#?}");
        let output = refused.out + &refused.err;
        assert!(output.contains("was not made by Baton"), "{output}");
        assert!(output.contains("BATON_QDRANT_COLLECTION") && !output.contains("--fresh"), "{output}");
        assert_eq!(count(&qdrant), 1, "what is theirs stays");
    }
}

#[test]
fn a_collection_of_another_dimension_is_named_with_what_to_do() {
    let (stage, qdrant) = (Stage::local(), stand_in());
    let ann = with(&stage.terminal("Ann"), &qdrant);
    ann.json(&["init"]);
    add(&ann, "deploying on fridays");
    let embedder = Embedder::start(8).expect("an embedder");
    let far = ann.with("BATON_EMBEDDINGS_URL", embedder.url()).with("BATON_EMBEDDINGS_MODEL", "meaning-8");
    let car = add(&far, "the automobile is blue");
    let left = far.run(&["memory", "reindex"]);
    assert_eq!(left.code, 5, "{left:#?}");
    assert!(left.out.contains("holds vectors of 256 numbers, and the embedder gives 8"), "{}", left.out);
    assert!(left.out.contains("baton memory reindex --fresh"), "{}", left.out);
    assert_eq!(far.json(&["memory", "reindex", "--fresh"])["to_do"], 0);
    let (shown, answer) = found(&far, "car");
    assert_eq!(
        (shown.first(), &answer["recall"]),
        (Some(&car), &json!("qdrant")),
        "found by what it means: {answer:#}"
    );
    assert_as_described(&qdrant);
}

#[test]
fn an_endpoints_vectors_find_what_means_the_same_on_one_machine() {
    let (stage, embedder) = (Stage::local(), Embedder::start(6).expect("an embedder"));
    let plain = stage.terminal("Ann");
    plain.json(&["init"]);
    let before = add(&plain, "a physician came");
    let ann = plain.with("BATON_EMBEDDINGS_URL", embedder.url()).with("BATON_EMBEDDINGS_MODEL", "meaning");
    let car = add(&ann, "the automobile is blue");
    let (shown, answer) = found(&ann, "vehicle");
    assert_eq!((shown.first(), &answer["recall"]), (Some(&car), &json!("hybrid")), "{answer:#}");
    assert_eq!(
        ann.json(&["doctor"])["recall"]["without_vector"],
        1,
        "what was there before has none of this model"
    );
    ann.json(&["memory", "reindex"]);
    assert_eq!(found(&ann, "doctor").0.first(), Some(&before));
    let requests = embedder.requests();
    assert!(requests.iter().all(|body| body["model"] == "meaning"), "{requests:#?}");
    embedder.script(Some(Box::new(|_| Fault::Refuse(500, None))));
    let (shown, answer) = found(&ann, "automobile");
    assert_eq!((shown, &answer["recall"]), (vec![car], &json!("text")));
    assert!(text(&answer, "recall_why").contains("the embeddings endpoint answered 500"), "{answer:#}");
}

#[test]
fn a_search_without_a_model_says_that_it_finds_words_and_not_meanings() {
    let (stage, embedder) = (Stage::local(), Embedder::start(6).expect("an embedder"));
    let plain = stage.terminal("Ann");
    plain.json(&["init"]);
    add(&plain, "the automobile is blue");
    let words_only = "found by words, not by meaning: no model is set (embeddings_url, BATON_EMBEDDINGS_URL)";
    for query in ["automobile", "vehicle"] {
        assert!(plain.run(&["memory", "search", query]).done().err.contains(words_only), "{query}");
        assert_eq!(found(&plain, query).1["matches_by"], "words");
    }
    assert!(!plain.run(&["memory", "search"]).done().err.contains(words_only), "nothing was asked for");
    let json = plain.run(&["memory", "search", "automobile", "--json"]).done();
    assert_eq!(json.err, "", "the answer itself says so");
    let ann = plain.with("BATON_EMBEDDINGS_URL", embedder.url()).with("BATON_EMBEDDINGS_MODEL", "meaning");
    assert_eq!(found(&ann, "vehicle").1["matches_by"], "meaning");
    assert!(!ann.run(&["memory", "search", "vehicle"]).done().err.contains("not by meaning"));
}

#[test]
fn a_server_killed_while_it_indexes_loses_nothing_and_doubles_nothing() {
    let (stage, qdrant) = (Stage::local(), stand_in());
    let ann = with(&stage.terminal("Ann"), &qdrant);
    ann.json(&["init"]);
    // Every third call is lost on its way, or its answer is.
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    qdrant.script(Some(Box::new(|_| match CALLS.fetch_add(1, Ordering::Relaxed) % 6 {
        2 => Fault::DropAfter,
        5 => Fault::DropBefore,
        _ => Fault::Late(20),
    })));
    let mut wanted = 0;
    for round in 0..3 {
        let server = Server::start(&ann);
        for number in 0..20 {
            let words = format!("memory {number} of round {round}");
            server.ok("memory_add", &json!({ "project": "shop", "identity": "Ann", "text": words }));
            wanted += 1;
        }
        server.signal("-KILL");
        drop(server);
    }
    qdrant.script(None);
    let _server = Server::start(&ann);
    ann.run(&["memory", "reindex"]);
    in_time("everything is there", || ann.json(&["doctor"])["recall"]["to_do"] == 0);
    let points = qdrant.points();
    let mut ids: Vec<String> =
        points.collections[COLLECTION].payloads().iter().map(|p| p["memory_id"].to_string()).collect();
    assert_eq!(ids.len(), wanted);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), wanted, "each once");
    assert_eq!(points.complaints, Vec::<String>::new());
}

#[test]
fn a_key_is_shown_and_never_told() {
    let (stage, qdrant) = (Stage::local(), Qdrant::start(Some("very-secret")).expect("a stand-in"));
    let ann = with(&stage.terminal("Ann"), &qdrant).with("BATON_QDRANT_API_KEY", "very-secret");
    ann.json(&["init"]);
    add(&ann, "deploying on fridays");
    assert_eq!(found(&ann, "deploy").1["recall"], "qdrant");
    let wrong = ann.with("BATON_QDRANT_API_KEY", "wrong-secret");
    let (_, answer) = found(&wrong, "deploy");
    assert!(text(&answer, "recall_why").contains("Qdrant answered 401"), "{answer:#}");
    for args in [&["doctor", "--json"][..], &["config", "show", "--json"]] {
        let output = wrong.run(args);
        assert!(!output.out.contains("secret") && !output.err.contains("secret"), "{args:?}: {}", output.out);
    }
}

fn without_vector(who: &Terminal<'_>) -> Value {
    who.run(&["doctor", "--json"]).json()["recall"]["without_vector"].clone()
}

#[test]
fn a_text_that_the_model_refuses_is_found_by_its_words_and_holds_nothing_up() {
    let (stage, qdrant) = (Stage::local(), stand_in());
    let embedder = Embedder::start(6).expect("an embedder");
    let plain = stage.terminal("Ann");
    plain.json(&["init"]);
    let long = add(&plain, "endless deploying log");
    let car = add(&plain, "the automobile is blue");
    let ill = add(&plain, "a physician came");
    let ann = with(&plain, &qdrant)
        .with("BATON_EMBEDDINGS_URL", embedder.url())
        .with("BATON_EMBEDDINGS_MODEL", "meaning");
    // A model that takes nothing has nothing against a text.
    embedder.script(Some(Box::new(|_| Fault::Refuse(400, None))));
    let left = ann.run(&["memory", "reindex"]);
    assert_eq!((left.code, without_vector(&ann), count(&qdrant)), (5, json!(3), 0), "{left:#?}");
    embedder.script(Some(Box::new(|request| match request.body["input"].to_string() {
        input if input.contains("endless") => Fault::Refuse(413, None),
        _ => Fault::None,
    })));
    assert_eq!(ann.json(&["memory", "reindex"])["to_do"], 0);
    assert_eq!((count(&qdrant), without_vector(&ann)), (3, json!(1)));
    assert_eq!(found(&ann, "vehicle").0.first(), Some(&car));
    assert_eq!(found(&ann, "medic").0.first(), Some(&ill));
    assert!(found(&ann, "deployed").0.contains(&long), "by its words, through the index");
    assert_as_described(&qdrant);
}

#[test]
fn what_was_withdrawn_is_taken_out_though_nothing_can_be_embedded() {
    let (stage, qdrant) = (Stage::local(), stand_in());
    let embedder = Embedder::start(6).expect("an embedder");
    let ann = with(&stage.terminal("Ann"), &qdrant)
        .with("BATON_EMBEDDINGS_URL", embedder.url())
        .with("BATON_EMBEDDINGS_MODEL", "meaning");
    ann.json(&["init"]);
    let car = add(&ann, "the automobile is blue");
    assert_eq!(count(&qdrant), 1);
    qdrant.script(Some(Box::new(|_| Fault::Refuse(503, None))));
    embedder.script(Some(Box::new(|_| Fault::Refuse(500, None))));
    ann.json(&["memory", "withdraw", &car]);
    add(&ann, "a physician came");
    assert_eq!(count(&qdrant), 1);
    qdrant.script(None);
    let left = ann.run(&["memory", "reindex"]);
    assert_eq!((left.code, count(&qdrant)), (5, 0), "{left:#?}");
    assert_as_described(&qdrant);
}

#[test]
fn a_command_leaves_a_hanging_endpoint_before_it_would_be_given_up() {
    let (stage, embedder) = (Stage::local(), Embedder::start(6).expect("an embedder"));
    embedder.script(Some(Box::new(|_| Fault::Late(30_000))));
    let ann = stage
        .terminal("Ann")
        .with("BATON_EMBEDDINGS_URL", embedder.url())
        .with("BATON_EMBEDDINGS_MODEL", "meaning");
    ann.json(&["init"]);
    add(&ann, "the automobile is blue");
    let doctor = ann.run(&["doctor", "--json"]).json();
    let trouble = text(&doctor["recall"], "trouble");
    assert_eq!(
        (&doctor["recall"]["to_do"], trouble.as_str()),
        (&json!(1), "the time for a try ran out before it was answered")
    );
}

#[test]
fn an_outage_found_out_for_one_project_is_not_found_out_again_for_each() {
    let (stage, qdrant) = (Stage::local(), stand_in());
    let ann = with(&stage.terminal("Ann"), &qdrant);
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    qdrant.script(Some(Box::new(|request| {
        ASKED.fetch_add(usize::from(request.path == "/collections/baton"), Ordering::Relaxed);
        Fault::Refuse(503, None)
    })));
    for name in ["one", "two", "three", "four"] {
        let there = ann.within(stage.repo(name));
        there.json(&["init"]);
        add(&there, "deploying on fridays");
    }
    // Longer than the pause after a few failures, so that all are due again.
    std::thread::sleep(Duration::from_secs(6));
    ASKED.store(0, Ordering::Relaxed);
    add(&ann.within(stage.repo("one")), "the port is 7077");
    assert_eq!(ASKED.load(Ordering::Relaxed), 1);
}

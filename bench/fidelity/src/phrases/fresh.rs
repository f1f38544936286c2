//! Sentences by another hand, which had read none of the rules. What they gave when they were first tried stands in
//! `docs/benchmarks.md`; rules were widened after that, so they are blind no more.

use super::Phrases;

pub const PHRASES: Phrases = Phrases {
    protect: &[
        "{X} [is not to be modified].",
        "[Keep your hands off] {x}.",
        "Whatever you do, [don't change] {x}.",
        "[No edits to] {x}, please.",
        "{X} [belongs to another team], [so leave it as is].",
    ],
    forbid: &[
        "[Please avoid anything that would] {v}.",
        "It must [never] happen that you {v}.",
        "I do [not] want you to {v}.",
        "[Do not] {v}, whatever the reason.",
    ],
    require: &[
        "[Make sure] that you {v}.",
        "One condition: you {v} [every time].",
        "You [have to] {v}.",
        "[Remember to] {v}, [always].",
        "[Please always] {v}.",
    ],
    decide: &[
        "I decided on {c} rather than {r}, because {w}.",
        "The choice fell on {c}: with {r}, the trouble is that {w}.",
        "Let's do {c}. {R} would be wrong here because {w}.",
        "We settle for {c} and drop {r}, since {w}.",
        "After weighing both I took {c} over {r}: {w}.",
        "{C} rather than {r}, because {w}.",
        "Decision: {c}, not {r}. Reason: {w}.",
    ],
    rule: &[
        "Take {c}, not {r}: {w}.",
        "I want {c} here and not {r}, because {w}.",
        "Please use {c} rather than {r} since {w}.",
    ],
    attempt: &[
        "I tried {g}, but {w}.",
        "{G} did not work out: {w}.",
        "First attempt was {g}; it failed because {w}.",
        "{G} made no difference, because {w}.",
        "I reverted {g}, because {w}.",
        "No luck with {g}: {w}.",
    ],
    ask: &[
        "Open question: {q}?",
        "I am not sure whether {q}.",
        "Someone has to decide whether {q}.",
        "Do you know whether {q}?",
        "Unclear: {q}?",
    ],
    park: &["Still unanswered: {q}?", "We still don't know whether {q}.", "Left open: whether {q}."],
    next: &["Next I will {n}.", "Remaining work: {n}.", "The next step is to {n}.", "Then I have to {n}."],
    overrule: &[
        "Scratch that: {c} instead of {r}, because {w}.",
        "I take that back. We use {c} and not {r}: {w}.",
        "Correction: it will be {c} rather than {r}, as {w}.",
    ],
};

//! Makes a session: facts are planted in the turns, noise fills the rest.

use crate::fact::{Check, Fact};
use crate::noise;
use crate::phrase::{Phrase, fill};
use crate::phrases::Phrases;
use crate::random::Random;
use crate::story::{Step, Story};
use crate::worlds::{self, World};

/// One request and everything up to the next.
#[derive(Default)]
pub struct Turn {
    /// What the user says, in sentences.
    pub user: Vec<String>,
    /// What happens.
    pub steps: Vec<Step>,
    /// How the agent closes, in paragraphs.
    pub close: Vec<String>,
}

/// A session while it is made.
pub struct Plot<'p> {
    /// Where chance comes from.
    pub random: Random,
    /// What it is about.
    pub world: &'static World,
    /// How people speak in it.
    pub phrases: &'p Phrases,
    /// The turns.
    pub turns: Vec<Turn>,
    /// What was planted.
    pub facts: Vec<Fact>,
}

/// The session of a seed.
pub fn story(seed: u64, turns: usize, phrases: &Phrases) -> Story {
    let mut random = Random::new(seed);
    let world = random.pick(worlds::ALL);
    let turns = (0..turns.max(8)).map(|_| Turn::default()).collect();
    let mut plot = Plot { random, world, phrases, turns, facts: Vec::new() };
    plot.requests();
    plot.constraints();
    plot.decisions();
    plot.attempts();
    plot.questions();
    crate::work::plan(&mut plot);
    crate::work::files(&mut plot);
    crate::work::undone(&mut plot);
    let branch = crate::work::git(&mut plot);
    crate::work::commands(&mut plot);
    plot.last_turns();
    plot.compact();
    let steps = plot.steps();
    Story { seed, project: world.name.to_owned(), branch, steps, facts: plot.facts }
}

impl Plot<'_> {
    /// The number of the last turn.
    pub fn last(&self) -> usize {
        self.turns.len() - 1
    }

    /// A turn between the first and the last two.
    pub fn middle(&mut self) -> usize {
        let end = self.turns.len() - 2;
        self.random.in_range(1, end)
    }

    /// Plants what was said.
    pub fn words(&mut self, kind: u8, phrase: &Phrase) {
        self.facts.push(Fact::new(kind, words(phrase)));
    }

    /// The agent says it, alone or in a paragraph, between calls or at the end of a turn.
    pub fn agent_says(&mut self, turn: usize, text: &str) {
        let saying = noise::saying(&mut self.random, self.world);
        match self.random.below(4) {
            0 => self.turns[turn].close.push(text.to_owned()),
            1 => self.turns[turn].steps.push(Step::Agent(format!("{saying} {text}"))),
            2 => self.turns[turn].steps.push(Step::Agent(format!("{saying}\n\n{text}"))),
            _ => self.turns[turn].steps.push(Step::Agent(text.to_owned())),
        }
    }

    fn requests(&mut self) {
        let wishes = self.random.shuffled(self.world.requests);
        let last = self.last();
        let middle = self.middle();
        for (turn, spec) in [(0, wishes[0]), (middle, wishes[1]), (last, wishes[2])] {
            self.turns[turn].user.push(spec.to_owned());
            if turn != middle {
                self.words(1, &Phrase { text: spec.to_owned(), keys: vec![spec.to_owned()] });
            }
        }
    }

    fn constraints(&mut self) {
        let world = self.world;
        let protect = self.random.shuffled(world.protect);
        let forbid = self.random.shuffled(world.forbid);
        let require = self.random.shuffled(world.require);
        let phrases = self.phrases;
        let drawn = [
            (phrases.protect, 'x', protect[0], 0),
            (phrases.forbid, 'v', forbid[0], 0),
            (phrases.require, 'v', require[0], self.middle()),
            (phrases.protect, 'x', protect[1], self.middle()),
            (phrases.forbid, 'v', forbid[1], self.middle()),
        ];
        for (phrases, name, value, turn) in drawn {
            let phrase = fill(self.random.pick(phrases), &[(name, value)]);
            self.turns[turn].user.push(phrase.text.clone());
            self.words(1, &phrase);
        }
        for text in self.random.shuffled(noise::NO_RULES).into_iter().take(3) {
            let turn = self.middle();
            if self.turns[turn].user.is_empty() {
                self.turns[turn].user.push(text.to_owned());
                self.facts.push(Fact::lure(1, plain(text)));
            }
        }
    }

    fn decisions(&mut self) {
        let choices = self.random.shuffled(self.world.choices);
        for (at, [chosen, rejected, why]) in choices.iter().take(4).enumerate() {
            let phrases = if at == 3 { self.phrases.rule } else { self.phrases.decide };
            let phrase = fill(self.random.pick(phrases), &[('c', chosen), ('r', rejected), ('w', why)]);
            let turn = self.middle();
            match at {
                3 => self.turns[turn].user.push(phrase.text.clone()),
                _ => self.agent_says(turn, &phrase.text),
            }
            self.words(5, &phrase);
        }
        let [chosen, rejected, why] = choices[4];
        let first = self.random.in_range(1, self.turns.len() / 2);
        let second = self.random.in_range(self.turns.len() / 2, self.last() - 1);
        let hasty = [('c', rejected), ('r', chosen), ('w', "it is less work")];
        let old = fill(self.random.pick(self.phrases.decide), &hasty);
        self.agent_says(first, &old.text);
        self.facts.push(Fact::lure(5, words(&old)));
        let new =
            fill(self.random.pick(self.phrases.overrule), &[('c', chosen), ('r', rejected), ('w', why)]);
        self.turns[second].user.push(new.text.clone());
        self.words(5, &new);
    }

    fn attempts(&mut self) {
        for [tried, why] in self.random.shuffled(self.world.attempts).into_iter().take(3) {
            let phrase = fill(self.random.pick(self.phrases.attempt), &[('g', tried), ('w', why)]);
            let turn = self.middle();
            self.agent_says(turn, &phrase.text);
            self.words(6, &phrase);
        }
    }

    fn questions(&mut self) {
        let questions = self.random.shuffled(self.world.questions);
        let last = self.last();
        for question in &questions[..2] {
            let phrase = fill(self.random.pick(self.phrases.ask), &[('q', question)]);
            self.turns[last].close.push(phrase.text.clone());
            self.words(7, &phrase);
        }
        let phrase = fill(self.random.pick(self.phrases.park), &[('q', questions[2])]);
        let turn = self.middle();
        self.agent_says(turn, &phrase.text);
        self.words(7, &phrase);
        let turn = self.middle();
        self.turns[turn].close.push(format!("Do you know whether {}?", questions[3]));
        let answer = self.random.pick(&["Yes", "No", "Yes, always", "No, not yet"]);
        self.turns[turn + 1].user.insert(0, format!("{answer}."));
        self.facts.push(Fact::lure(7, plain(questions[3])));
    }

    fn last_turns(&mut self) {
        let (last, count) = (self.last(), self.random.in_range(1000, 99_000));
        let seconds = self.random.in_range(3, 90);
        let question = format!("How long does it take with {count} records?");
        let answer = format!("With {count} records it takes {seconds} seconds on this machine.");
        self.turns[last - 1].user.push(question.clone());
        self.turns[last - 1].close.push(answer.clone());
        let opening = format!(
            "I looked at the request and changed {} places in `{}`.",
            self.random.in_range(2, 9),
            self.random.pick(self.world.files)
        );
        self.turns[last].close.insert(0, opening.clone());
        for text in [question, answer, opening] {
            self.facts.push(Fact::new(9, plain(&text)));
        }
    }

    /// A long session was compacted once, a third before its end.
    fn compact(&mut self) {
        if self.turns.len() < 30 || self.random.chance(30) {
            return;
        }
        let at = self.turns.len() * 2 / 3;
        let summary = format!(
            "The user works on {}. Files were read and changed; the tests were run with {}. Work goes on with the plan.",
            self.world.name, self.world.test
        );
        self.turns[at].steps.push(Step::Compact(summary));
    }

    /// Sentences one after the other; after one without a stop people begin a new line.
    fn add_sentences(&mut self, sentences: &[String]) -> String {
        let lines = self.random.chance(30);
        let mut text = String::new();
        for sentence in sentences {
            if !text.is_empty() {
                text.push(if lines || !text.ends_with(['.', '!', '?']) { '\n' } else { ' ' });
            }
            text.push_str(sentence);
        }
        text
    }

    /// Everything in a row; where nothing was planted, people chat and agents look around.
    fn steps(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        let world = self.world;
        for turn in std::mem::take(&mut self.turns) {
            let user = match turn.user.is_empty() {
                true => self.random.pick(noise::CHATTER).to_owned(),
                false => self.add_sentences(&turn.user),
            };
            steps.push(Step::User(user));
            if self.random.chance(70) {
                steps.extend(noise::calls(&mut self.random, world));
            }
            steps.extend(turn.steps);
            let close = match turn.close.is_empty() {
                true => noise::ending(&mut self.random, world),
                false => turn.close.join("\n\n"),
            };
            steps.push(Step::Agent(close));
        }
        steps
    }
}

/// What was said, as something to look for.
pub fn words(phrase: &Phrase) -> Check {
    Check::Words { said: phrase.text.clone(), keys: phrase.keys.clone() }
}

/// A sentence that has to be there as a whole.
pub fn plain(text: &str) -> Check {
    Check::Words { said: text.to_owned(), keys: vec![text.trim_end_matches(['.', '?']).to_owned()] }
}

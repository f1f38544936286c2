"""Memories that nobody asks for: notes of teams that do not exist, in English and German, the same at each run.

`fillers(pairs, count)` fills sentences with words that are drawn; none of them holds all words of a question of the pairs, or two of the
longer words of a paraphrase: whoever finds one in place of the memory that was asked for is wrong.
"""

import random
import re

A = (
    "atlas beacon cobalt drift ember falcon glacier heron indigo jasper kestrel lumen marble nimbus onyx pepper quartz raven "
    "saffron tundra umbra violet walnut xenon yarrow zephyr"
).split()
B = (
    "ingest router parser planner mapper loader relay scorer exporter resolver scheduler renderer indexer collector validator "
    "notifier matcher reducer adapter watcher sampler merger"
).split()

#: Words of both languages.
SHARED = {
    "mod": [f"{one}-{other}" for one in A for other in B],
    "per": (
        "Ana Bogdan Chidi Dariusz Elif Farid Greta Hiro Ines Jorge Kaja Lars Mehmet Nadia Oskar Paula Quentin Rosa Sven Tuva Umar "
        "Vera Wanda Xavier Yara Zeno"
    ).split(),
    "team": "Badger Lynx Heron Marmot Osprey Puffin Stoat Walrus Ibex Gecko Falcon Dachs Luchs Iltis Specht Zander Hecht Marder".split(),
    "n": (
        "3 4 5 6 7 8 9 11 12 13 15 16 18 20 24 25 30 32 36 40 45 48 64 75 90 96 120 128 150 180 200 240 256 384 500 512 640 750 "
        "900 1024 1500 2048 4096"
    ).split(),
    "s": [str(number) for number in range(2, 41)],
    "v": [f"{major}.{minor}" for major in range(1, 10) for minor in range(20)],
    "port": [str(port) for port in range(4100, 9900, 37)],
    "tk": [f"{key}-{number}" for key in ("OPS", "CORE", "WEB", "INF", "LOG", "MAP") for number in range(101, 2400, 61)],
    "tab": (
        "shipment_legs seat_blocks device_state audit_trail route_segments price_bands meter_batches parcel_scans tariff_zones "
        "visit_log stock_moves crew_shifts pallet_slots ticket_notes sensor_pairs quote_lines branch_hours survey_answers "
        "gate_events trip_stops"
    ).split(),
    "file": (
        "limits.yaml bounds.ini layout.scss retry.rs slots.go mapping.xml rules.kts window.ts codec.c buffers.hpp joblist.cfg "
        "views.py paths.rb shapes.json macros.h"
    ).split(),
}
ENGLISH = {
    **SHARED,
    "noun": (
        "parcel scan|seat map|crew shift|tariff zone|pallet|gate event|trip|survey|quote|meter batch|visit|stock move|branch|"
        "device pairing|route segment|depot|loyalty card|playlist|lesson|appointment"
    ).split("|"),
    "adj": "nested empty oversized archived partial legacy bulk imported mirrored cancelled delayed anonymous".split(),
    "verb": "merges splits rounds sorts deduplicates validates compresses copies ranks reshapes buffers aggregates".split(),
    "lib": "libvips tokio-util jackson netty pandas rxjs sqlx gtest boost-asio lottie dagger aiohttp hammerjs mapstruct okio".split(),
    "sym": (
        "a segfault|a deadlock|garbled output|a memory leak|an endless loop|wrong totals|double entries|a blank pane|"
        "swapped columns|a spurious warning"
    ).split("|"),
    "when": (
        "on leap days|under heavy rain of requests|after a failover|with more than one tenant|on Windows hosts|with empty input|"
        "on ARM machines|during stocktaking|in the first week of a quarter|after a partial import"
    ).split("|"),
    "env": "the sandbox|the demo stand|the training system|the pilot region|the canary|the QA cluster|the partner lab".split("|"),
}
ENGLISH_SENTENCES = """
The {mod} service listens on port {port} in {env}.
{mod} {verb} every {noun} before handing it on.
Ask {per} about {mod}, nobody else knows its history.
{lib} {v} causes {sym} {when}; stay below it.
Ticket {tk} explains why {mod} ignores an {adj} {noun}.
The table {tab} holds at most {n} thousand rows per tenant.
In {file} the limit of {n} is measured, not guessed.
Team {team} maintains {mod} since the spring reorganisation.
{mod} shows {sym} {when}; restart it and note the run id in {tk}.
Each {noun} carries a version counter that wraps at {n}.
The column kind in {tab} uses small integers, see {file}.
{mod} hands every {adj} {noun} to {mod2} in groups of {s}.
Benchmarks of {mod} are noisy {when}; take the median of {s} runs.
An {adj} {noun} is kept out of {env} on purpose.
{per} wrote the parser for the {noun} import and left notes in {tk}.
The {lib} wrapper lives in {mod}, do not add a second one.
{mod} opens {s} worker threads, more of them did not help.
We tried {lib} for {mod} and went back after {s} days because of {sym}.
Rows in {tab} are clustered by {noun} and day.
The {noun} form has {s} fields, the last one is hidden for partners.
{env} gets a new build of {mod} every {s} minutes.
Keep {file} sorted by name, merge conflicts were frequent.
When a {noun} is split, {mod} assigns fresh ids to both halves.
The heartbeat of {mod} is {s} seconds; {team} tuned it in {tk}.
The fixture {tab}.sql has {n} rows and must stay that small.
{mod} and {mod2} share the enum in {file}.
Use the fake {noun} factory in unit tests of {mod}.
A {noun} without an owner is assigned to the depot of {per}.
{mod} was written in Scala first, {lib} came with the rewrite {tk}.
The report about each {noun} is capped at {n} lines.
Spaces in a {noun} label are collapsed by {mod}.
{tab} has a trigger that {verb} an {adj} {noun}.
If {mod} reports code {n}, the {noun} was locked by {mod2}.
{per} prefers small pull requests for {mod}, under {n} lines.
The {noun} export is tab separated with {s} columns.
{env} has no copy of {tab}; load the sample instead.
Only {mod} may truncate {tab}, and only {when}.
Bug {tk}: {mod} {verb} a {noun} twice {when}.
The priority of a {noun} runs from 1 to {s}, lower is sooner.
{file} is generated by {mod} {v}, edit the template.
Upgrade {lib} to {v} in one step with {mod}, not alone.
The vendor of {mod} promised a fix for {sym} in version {v}.
{mod} keeps the latest {n} entries of {tab} in memory.
The thread pool in {file} is shared with {mod}.
Team {team} meets {mod} users every {s} days for feedback.
Hash collisions in {mod} gave {sym}; the key is now {n} bits.
The {noun} wizard was removed in {v}, links to it return gone.
Measure {mod} with perf, not with the timers in {file}.
{mod} talks Thrift to {mod2} and falls back to plain sockets.
The name {mod} is historic, it no longer {verb} anything.
Tooltips of the {noun} list are limited to {n} characters.
{per} keeps the test handset for {mod} in drawer {s}.
Do not inline the helper in {file}: {lib} needs its address.
A {noun} may refer to {s} others at most, deeper graphs gave {sym}.
The {adj} {noun} screen is used by two customers only, see {tk}.
{mod} treats zero as unknown when it reads {tab}.
Compaction of {tab} takes {s} minutes {when}.
We froze {mod} at {v} until {per} is back.
The colour of a {noun} marker comes from {tab}.
{mod} pads short ids with zeros to {s} places.
The nested loop in {file} is intended, {lib} vectorises it.
Debug output of {mod} goes to channel {n}, not to the console.
The {noun} counter resets at noon in {env}.
{team} wants a demo of {mod} before {v} is tagged.
Half of the {noun} ids start with the letter of the depot, see {file}.
""".strip().split("\n")
GERMAN = {
    **SHARED,
    "noun": (
        "Sendung Sitzreihe Schicht Tarifzone Palette Fahrt Umfrage Messreihe Buchung Lieferung Route Werkbank Treuekarte "
        "Unterrichtsstunde Rampe Zähleinheit Spielrunde Besichtigung Kiste Strecke"
    ).split(),
    "adj": (
        "leere verschachtelte übergroße archivierte teilweise importierte gespiegelte stornierte verspätete anonyme gesperrte "
        "historische"
    ).split(),
    "verb": "sortiert rundet teilt prüft verdichtet kopiert bewertet puffert gruppiert bündelt filtert normalisiert".split(),
    "lib": ENGLISH["lib"],
    "sym": (
        "einem Deadlock|falschen Summen|einem Speicherleck|doppelten Zeilen|einer Endlosschleife|leeren Seiten|"
        "einer Warnung ohne Belang|zu hoher CPU-Last|vertauschten Spalten|einem Absturz"
    ).split("|"),
    "when": (
        "am Schalttag|nach einem Failover|bei mehr als einem Werk|unter Windows|bei leerer Liste|auf ARM-Rechnern|"
        "während der Inventur|in der ersten Quartalswoche|nach einem Teilimport|bei voller Auslastung"
    ).split("|"),
    "env": "der Sandbox|der Demoumgebung|dem Schulungssystem|der Pilotregion|dem QA-Cluster|dem Partnerlabor|der Kanarienstufe".split("|"),
}
GERMAN_SENTENCES = """
Der Dienst {mod} lauscht in {env} auf Port {port}.
{mod} {verb} jede {noun}, bevor sie weitergereicht wird.
Zu {mod} bitte {per} fragen, sonst kennt niemand die Vorgeschichte.
{lib} {v} führt {when} zu {sym}; darunter bleiben.
Ticket {tk} erklärt, weshalb {mod} eine {adj} {noun} ignoriert.
Die Tabelle {tab} fasst höchstens {n} Tausend Zeilen pro Werk.
Die Grenze {n} in {file} ist gemessen und nicht geraten.
Gruppe {team} betreut {mod} seit der Umstellung im Frühjahr.
{mod} neigt {when} zu {sym}; Lauf-ID in {tk} notieren.
Jede {noun} trägt einen Zähler, der bei {n} überläuft.
Die Spalte art in {tab} nutzt kleine Ganzzahlen, siehe {file}.
{mod} reicht jede {adj} {noun} in Gruppen zu {s} an {mod2} weiter.
Messungen von {mod} schwanken {when}; Median aus {s} Durchgängen nehmen.
Eine {adj} {noun} bleibt absichtlich außerhalb von {env}.
{per} schrieb den Parser für die {noun} und hinterließ Notizen in {tk}.
Die Hülle um {lib} wohnt in {mod}, bitte keine zweite bauen.
{mod} öffnet {s} Threads, mehr brachten keinen Gewinn.
Wir probierten {lib} in {mod} und kehrten nach {s} Tagen wegen {sym} um.
Zeilen in {tab} sind nach {noun} und Tag geordnet.
Die Maske zur {noun} zeigt {s} Felder, das letzte nur intern.
In {env} kommt alle {s} Minuten ein frischer Stand von {mod} an.
{file} bitte nach Namen ordnen, Konflikte waren häufig.
Wird eine {noun} geteilt, vergibt {mod} zwei frische Schlüsselnummern.
Der Herzschlag von {mod} liegt bei {s} Sekunden, {team} fand ihn in {tk}.
Die Vorlage {tab}.sql hat {n} Zeilen und soll klein bleiben.
{mod} und {mod2} teilen sich das Enum in {file}.
In Unittests von {mod} die Attrappe der {noun} verwenden.
Eine {noun} ohne Verantwortlichen landet im Depot von {per}.
{mod} war anfangs Scala, {lib} kam mit dem Umbau {tk}.
Der Bericht zur {noun} ist auf {n} Zeilen begrenzt.
Leerzeichen im Titel der {noun} fasst {mod} zusammen.
An {tab} hängt ein Trigger, der eine {adj} {noun} {verb}.
Meldet {mod} den Code {n}, hält {mod2} die {noun} fest.
{per} mag kleine Beiträge zu {mod}, unter {n} Zeilen.
Der Abzug zur {noun} ist tabulatorgetrennt mit {s} Spalten.
In {env} gibt es {tab} nicht, dort das Muster laden.
Nur {mod} darf {tab} leeren, und zwar {when}.
Fehler {tk}: {mod} {verb} eine {noun} {when} doppelt.
Die Priorität einer {noun} reicht von 1 bis {s}, klein heißt früher.
{file} entsteht durch {mod} {v}, die Schablone bearbeiten.
{lib} auf {v} nur gemeinsam mit {mod} anheben.
Der Hersteller von {mod} versprach für {v} Abhilfe bei {sym}.
{mod} behält die jüngsten {n} Einträge aus {tab} im RAM.
Der Threadpool in {file} gehört auch {mod}.
Gruppe {team} trifft die Nutzer von {mod} alle {s} Tage.
Hashkollisionen in {mod} endeten in {sym}; jetzt {n} Bit.
Der Assistent zur {noun} entfiel mit {v}, Verweise liefern 410.
{mod} mit perf vermessen, nicht mit den Uhren in {file}.
{mod} spricht Thrift mit {mod2} und weicht auf Sockets aus.
Der Name {mod} ist historisch, dort {verb} längst niemand etwas.
Tooltips in der Übersicht zur {noun} enden nach {n} Zeichen.
{per} verwahrt das Testhandy für {mod} in Schublade {s}.
Die Hilfsfunktion in {file} nicht einbetten: {lib} benötigt ihre Stelle.
Eine {noun} verweist auf höchstens {s} andere, tiefere Graphen gaben Anlass zu {sym}.
Die {adj} {noun} nutzen bloß zwei Häuser, siehe {tk}.
{mod} liest Null aus {tab} als unbekannt.
Das Verdichten von {tab} dauert {when} {s} Minuten.
{mod} bleibt auf {v} eingefroren, bis {per} zurück ist.
Die Farbe der {noun} auf der Karte steht in {tab}.
{mod} füllt kurze Nummern mit Nullen auf {s} Stellen auf.
Die doppelte Schleife in {file} ist Absicht, {lib} vektorisiert sie.
Debugausgaben von {mod} gehen auf Kanal {n} statt zur Konsole.
Der Zähler der {noun} springt in {env} mittags auf null.
{team} möchte {mod} sehen, bevor {v} markiert wird.
Die halbe Kennziffer jeder {noun} ist das Kürzel des Depots, siehe {file}.
""".strip().split("\n")

#: Words of paraphrases that say nothing.
COMMON = set("eine einer einem nach with from".split())


def words_of(text):
    return re.findall(r"\w+", text.lower())


def fillers(pairs, count):
    """So many memories, half of them in each language, in an order that is drawn."""
    chance = random.Random(20240607)
    questions = [words_of(pair["words"]) for pair in pairs]
    paraphrases = [{word for word in words_of(pair["paraphrase"]) if len(word) > 3} - COMMON for pair in pairs]

    def answers(text):
        lower, words = text.lower(), set(words_of(text))
        return any(all(word in lower for word in asked) for asked in questions) or any(
            len(asked & words) > 1 for asked in paraphrases
        )

    def one(template, vocabulary):
        drawn = {name: chance.choice(choices) for name, choices in vocabulary.items()}
        drawn["mod2"] = chance.choice([name for name in SHARED["mod"] if name != drawn["mod"]])
        text = template.format(**drawn)
        if vocabulary is ENGLISH:
            text = re.sub(r"(?<![-\w])([Aa])n ([b-df-hj-np-tv-z])", r"\1 \2", text)
            text = re.sub(r"\b([Aa]) ([aeio])", r"\1n \2", text)
        return text[0].upper() + text[1:] if re.match(r"\{(env|adj)\}", template) else text

    def language(templates, vocabulary, wanted):
        made, place = {}, 0
        while len(made) < wanted:
            template = templates[place % len(templates)]
            place += 1
            for _ in range(200):
                text = one(template, vocabulary)
                if text.lower() not in made and not answers(text):
                    made[text.lower()] = text
                    break
        return list(made.values())

    english = count // 2
    made = language(ENGLISH_SENTENCES, ENGLISH, english) + language(GERMAN_SENTENCES, GERMAN, count - english)
    chance.shuffle(made)
    return made

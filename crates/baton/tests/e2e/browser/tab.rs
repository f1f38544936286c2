//! What a person does with a page: looks, clicks, types.

use serde_json::{Value, json};

use super::chromium::{Chromium, eventually};

/// How a page is looked at.
#[derive(Clone, Copy)]
pub(super) struct Look {
    pub width: u32,
    pub dark: bool,
}

pub(super) const WIDE: Look = Look { width: 1280, dark: false };
pub(super) const NARROW: Look = Look { width: 360, dark: false };

/// The main button of the open dialog.
pub(super) const SUBMIT: &str = "document.querySelector('dialog[open] button[type=submit]')";

/// Why the open dialog was refused.
const TROUBLE: &str = "document.querySelector('dialog[open] .trouble')?.innerText";

/// A context of its own: what one tab remembers, the next does not know.
fn new_context(browser: &Chromium) -> String {
    let context = browser.call(None, "Target.createBrowserContext", &json!({}));
    context["browserContextId"].as_str().expect("a context").to_owned()
}

/// An open page.
pub(super) struct Tab<'a> {
    browser: &'a Chromium,
    session: String,
    target: String,
    context: String,
    base: String,
}

impl<'a> Tab<'a> {
    /// Opens the page of a server at a place below `#/`.
    pub(super) fn open(browser: &'a Chromium, server: &str, place: &str, look: Look) -> Self {
        Self::open_in(browser, format!("http://{server}/"), new_context(browser), (place, look))
    }

    /// Opens a place, and says after how many milliseconds the browser drew the first frame for which an expression is true.
    pub(super) fn open_timed(browser: &'a Chromium, server: &str, place: &str, ready: &str) -> (Self, i64) {
        let tab = Self::blank(browser, format!("http://{server}/"), new_context(browser), WIDE);
        let source = format!(
            "{{ const look = () => {{ let is = false; try {{ is = Boolean({ready}); }} catch {{ /* not there yet */ }} \
             if (is) window.readyAt = Math.round(performance.now()); else requestAnimationFrame(look); }}; \
             requestAnimationFrame(look); }}"
        );
        tab.call("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": source }));
        tab.begin(place);
        tab.until("window.readyAt !== undefined");
        let millis = tab.eval("window.readyAt").as_i64().expect("a number");
        (tab, millis)
    }

    /// Opens a place in another tab of the same browser, which shares what this one remembers and its connections.
    pub(super) fn beside(&self, place: &str) -> Self {
        Self::open_in(self.browser, self.base.clone(), self.context.clone(), (place, WIDE))
    }

    /// Opens a place as it is seen by who acts under this name.
    pub(super) fn open_as(browser: &'a Chromium, server: &str, name: &str, place: &str) -> Self {
        let tab = Self::open(browser, server, "agents", WIDE);
        tab.act_as(name);
        tab.go(place);
        tab
    }

    /// Acts under this name from the next view on.
    pub(super) fn act_as(&self, name: &str) {
        self.eval(&format!("localStorage.setItem('baton.name', {})", json!(name)));
    }

    /// Presses the main button of the open dialog.
    pub(super) fn submit(&self) {
        self.click_on(SUBMIT);
    }

    /// Waits until the open dialog says this of why it was refused.
    pub(super) fn is_told(&self, words: &str) {
        self.until(&format!("{TROUBLE}.includes({})", json!(words)));
    }

    /// The name and the description of every button that a screen reader meets, in the order of the page.
    pub(super) fn buttons(&self) -> Vec<(String, String)> {
        let tree = self.call("Accessibility.getFullAXTree", &json!({}));
        let nodes = tree["nodes"].as_array().cloned().unwrap_or_default();
        let word = |node: &Value, key: &str| node[key]["value"].as_str().unwrap_or_default().to_owned();
        let is_button = |node: &&Value| node["ignored"] != true && word(node, "role") == "button";
        nodes.iter().filter(is_button).map(|node| (word(node, "name"), word(node, "description"))).collect()
    }

    /// Loses the answers to the next writes: they arrive and are done, and the page does not hear of it.
    pub(super) fn lose_answers(&self, count: u32) {
        self.eval(&format!(
            "{{ const real = window.fetch; let left = {count}; window.fetch = async (url, options) => {{ const answer = \
             await real(url, options); if (/POST|PATCH/.test(options?.method) && left-- > 0) throw new TypeError('lost'); \
             return answer; }}; }}"
        ));
    }

    fn open_in(browser: &'a Chromium, base: String, context: String, (place, look): (&str, Look)) -> Self {
        let tab = Self::blank(browser, base, context, look);
        tab.begin(place);
        tab
    }

    /// A tab that shows nothing yet.
    fn blank(browser: &'a Chromium, base: String, context: String, look: Look) -> Self {
        let blank = json!({ "url": "about:blank", "browserContextId": context });
        let target = browser.call(None, "Target.createTarget", &blank);
        let target = target["targetId"].as_str().expect("a target").to_owned();
        let attach = json!({ "targetId": target, "flatten": true });
        let attached = browser.call(None, "Target.attachToTarget", &attach);
        let session = attached["sessionId"].as_str().expect("session").to_owned();
        let tab = Self { browser, session, target, context, base };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            tab.call(&format!("{domain}.enable"), &json!({}));
        }
        // Processor time of the thread: what waits for a core on a busy machine is not at work.
        tab.call("Performance.enable", &json!({ "timeDomain": "threadTicks" }));
        tab.look(look);
        tab
    }

    /// Goes from nothing to a place.
    fn begin(&self, place: &str) {
        self.call("Page.navigate", &json!({ "url": format!("{}#/{place}", self.base) }));
        self.settled();
    }

    /// Brings the tab to the front, as who clicks on it does: the others are hidden.
    pub(super) fn front(&self) {
        self.call("Page.bringToFront", &json!({}));
        self.until("!document.hidden");
    }

    /// Closes the tab.
    pub(super) fn close(self) {
        self.browser.call(None, "Target.closeTarget", &json!({ "targetId": self.target }));
    }

    fn call(&self, method: &str, params: &Value) -> Value {
        self.browser.call(Some(&self.session), method, params)
    }

    pub(super) fn look(&self, look: Look) {
        let metrics = json!({ "width": look.width, "height": 800, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", &metrics);
        let scheme = if look.dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }

    /// Looks as who asked the system for less motion.
    pub(super) fn without_motion(&self) {
        let features = json!([{ "name": "prefers-reduced-motion", "value": "reduce" }]);
        self.call("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }

    /// Goes to a place by its address, as a link or a bookmark does. The page hears of it a moment later: what is read before that is the
    /// place that one comes from.
    pub(super) fn go(&self, place: &str) {
        let hash = json!(format!("#/{place}"));
        self.eval(&format!(
            "new Promise((done) => {{ if (location.hash === {hash}) {{ done(); return; }} \
             window.addEventListener('hashchange', () => setTimeout(done), {{ once: true }}); location.hash = {hash}; }})"
        ));
        self.settled();
    }

    /// Loads the page anew without what it asks for by the clock alone: what appears then came with an event.
    pub(super) fn without_clock(&self) {
        let source = "const real = window.setInterval; window.setInterval = (f, ms) => (ms >= 30000 ? 0 : real(f, ms));";
        self.call("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": format!("{{ {source} }}") }));
        self.eval("location.reload(), true");
        self.until("document.readyState === 'complete'");
        self.settled();
    }

    /// Goes to any address, as a link from elsewhere does.
    pub(super) fn visit(&self, address: &str) {
        self.call("Page.navigate", &json!({ "url": address }));
        self.until(&format!("location.href === {} && document.readyState === 'complete'", json!(address)));
    }

    /// Waits until the view is drawn.
    fn settled(&self) {
        self.until("document.querySelector('main h1') && !document.querySelector('main[aria-busy]') && !document.hidden");
    }

    /// The value of an expression; a promise is waited for.
    pub(super) fn eval(&self, script: &str) -> Value {
        let params =
            json!({ "expression": script, "awaitPromise": true, "returnByValue": true, "userGesture": true });
        let mut answer = self.call("Runtime.evaluate", &params);
        assert!(answer["exceptionDetails"].is_null(), "{script}: {answer:#}");
        answer["result"]["value"].take()
    }

    /// Waits until an expression is true.
    pub(super) fn until(&self, script: &str) {
        let is = format!("(() => {{ try {{ return Boolean({script}); }} catch {{ return false; }} }})()");
        eventually(
            || format!("never true: {script}\n{}\n{:#?}", self.text("body"), self.complaints()),
            || (self.eval(&is) == true).then_some(()),
        );
    }

    /// What is read in an element.
    pub(super) fn text(&self, selector: &str) -> String {
        let found = self.eval(&format!("document.querySelector({})?.innerText", json!(selector)));
        found.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until the text of the view, dialogs and notices included, has this.
    pub(super) fn reads(&self, text: &str) {
        self.until(&format!("document.body.innerText.includes({})", json!(text)));
    }

    /// Clicks with the mouse on the one that reads exactly this: a link, a button.
    pub(super) fn click(&self, text: &str) {
        let find = format!(
            "[...document.querySelectorAll('dialog[open] button, a, button')].filter((one) => \
             (one.innerText ?? one.getAttribute('aria-label') ?? '').trim() === {} && one.getClientRects().length)[0]",
            json!(text)
        );
        self.click_on(&find);
    }

    /// Clicks with the mouse in the middle of what an expression gives, once it stands still: a person does not click on what moves.
    pub(super) fn click_on(&self, expression: &str) {
        self.until(expression);
        let middle = format!(
            "(() => {{ const one = {expression}; one?.scrollIntoView({{ block: 'center' }}); const box = \
             one?.getBoundingClientRect(); return box ? [box.x + box.width / 2, box.y + box.height / 2] : null; }})()"
        );
        let still = format!(
            "new Promise((done) => {{ const place = () => {middle}; const before = place(); requestAnimationFrame(() => \
             requestAnimationFrame(() => {{ const after = place(); done(before && String(before) === String(after) ? after : null); }})); }})"
        );
        let at = eventually(
            || format!("never stands still: {expression}"),
            || Some(self.eval(&still)).filter(|at| !at.is_null()),
        );
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", &event);
        }
    }

    /// Types into the field with this label, in place of what stands there.
    pub(super) fn fill(&self, label: &str, text: &str) {
        let field = format!(
            "[...document.querySelectorAll('label')].filter((one) => one.textContent === {})[0]?.control",
            json!(label)
        );
        self.until(&field);
        self.eval(&format!("{field}.focus(), {field}.select?.()"));
        self.type_in(text);
    }

    /// Types where the focus is.
    pub(super) fn type_in(&self, text: &str) {
        self.call("Input.insertText", &json!({ "text": text }));
    }

    /// Presses one key: `Tab`, `Enter`, `Escape`, `/`.
    pub(super) fn press(&self, key: &str) {
        self.press_with(key, 0);
    }

    /// Presses one key while Control is held down.
    pub(super) fn press_with_control(&self, key: &str) {
        self.press_with(key, 2);
    }

    fn press_with(&self, key: &str, modifiers: u8) {
        let (code, number, text) = match key {
            "Tab" => ("Tab", 9, ""),
            "Enter" => ("Enter", 13, "\r"),
            "Escape" => ("Escape", 27, ""),
            "/" => ("Slash", 191, "/"),
            other if other.len() == 1 => ("", 0, other),
            other => panic!("no key {other}"),
        };
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({ "type": kind, "key": key, "code": code, "windowsVirtualKeyCode": number,
                "modifiers": modifiers });
            if kind == "keyDown" && !text.is_empty() && modifiers == 0 {
                event["text"] = text.into();
            }
            self.call("Input.dispatchKeyEvent", &event);
        }
    }

    /// Presses the tabulator until the focus stands on what reads or is labelled so, and nothing else. A button in a row is named by
    /// what it reads, and then by its row.
    pub(super) fn tab_to(&self, text: &str) {
        let mut seen = Vec::new();
        for _ in 0..80 {
            self.press("Tab");
            let here = self.eval(
                "(() => { const one = document.activeElement; const label = one.labels?.[0]?.textContent; \
                 return (label ?? one.getAttribute('aria-label') ?? one.innerText ?? '').trim(); })()",
            );
            if here == text || here.as_str().is_some_and(|name| name.starts_with(&format!("{text}: "))) {
                return;
            }
            seen.push(here);
        }
        panic!("the keyboard does not reach {text:?}: {seen:?}");
    }

    /// Everything the browser complained about: exceptions, refused loads, scripts against the policy.
    pub(super) fn complaints(&self) -> Vec<String> {
        let thrown = self.browser.events(&self.session, "Runtime.exceptionThrown");
        let logged = self.browser.events(&self.session, "Log.entryAdded");
        let bad = logged.into_iter().filter(|one| one["params"]["entry"]["level"] == "error");
        thrown
            .iter()
            .map(|one| one["params"]["exceptionDetails"].to_string())
            .chain(bad.map(|one| one["params"]["entry"]["text"].to_string()))
            .collect()
    }

    /// Fails when the browser complained, or when the page asked anybody but its server.
    pub(super) fn assert_clean(&self) {
        let complaints = self.complaints();
        assert!(complaints.is_empty(), "{complaints:#?}");
        for sent in self.browser.events(&self.session, "Network.requestWillBeSent") {
            let url = sent["params"]["request"]["url"].as_str().unwrap_or_default().to_owned();
            assert!(url.starts_with(&self.base), "asked outside: {url}");
        }
    }

    /// How many requests the page has sent.
    pub(super) fn requests(&self) -> usize {
        self.eval("null");
        self.browser.events(&self.session, "Network.requestWillBeSent").len()
    }

    /// How many bytes came for the requests that are over.
    pub(super) fn received(&self) -> i64 {
        self.eval("null");
        let over = self.browser.events(&self.session, "Network.loadingFinished");
        over.iter().map(bytes_of).sum()
    }

    /// How many bytes came for the requests to the API that are over: what a view costs beside the page itself.
    pub(super) fn received_from_api(&self) -> i64 {
        self.eval("null");
        let sent = self.browser.events(&self.session, "Network.requestWillBeSent");
        let is_of_api = |id: &Value| {
            sent.iter().any(|one| {
                let url = one["params"]["request"]["url"].as_str().unwrap_or_default();
                one["params"]["requestId"] == *id && url.contains("/api/v1/")
            })
        };
        let over = self.browser.events(&self.session, "Network.loadingFinished");
        over.iter().filter(|one| is_of_api(&one["params"]["requestId"])).map(bytes_of).sum()
    }

    /// How long the main thread of the page has worked, in seconds of processor time.
    pub(super) fn busy_seconds(&self) -> f64 {
        let metrics = self.call("Performance.getMetrics", &json!({}));
        let all = metrics["metrics"].as_array().cloned().unwrap_or_default();
        let task = all.iter().find(|one| one["name"] == "TaskDuration");
        task.and_then(|one| one["value"].as_f64()).unwrap_or_default()
    }

    /// A picture of the top of the page, this high, as PNG in base64.
    pub(super) fn picture(&self, height: u32) -> String {
        let wide = self.eval("innerWidth");
        let clip = json!({ "x": 0, "y": 0, "width": wide, "height": height, "scale": 1 });
        let shot = self.call("Page.captureScreenshot", &json!({ "format": "png", "clip": clip }));
        shot["data"].as_str().expect("a picture").to_owned()
    }

    /// Fails when the page is wider than the window.
    pub(super) fn assert_fits(&self) {
        let over = self.eval(
            "(() => { const wide = document.documentElement.clientWidth; if (document.documentElement.scrollWidth <= wide) \
             return []; return [...document.querySelectorAll('body *')].filter((one) => \
             one.getBoundingClientRect().right > wide + 1 && !one.closest('.scroll svg')).map((one) => one.outerHTML.slice(0, 120)); })()",
        );
        assert_eq!(over, json!([]), "wider than the window at {}", self.eval("location.hash"));
    }
}

/// How many bytes came for a request that is over.
fn bytes_of(over: &Value) -> i64 {
    let bytes = over["params"]["encodedDataLength"].as_f64().unwrap_or_default();
    format!("{bytes:.0}").parse().unwrap_or_default()
}

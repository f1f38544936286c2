// The stream of events. A browser gives a host few connections, so its tabs share one stream: a tab that is looked at has it, and
// tells the others. A hidden tab gives it up, and is brought up to date when it is looked at again.

const RECONNECT_AFTER = 2000;

/** Follows the events: calls `heard` with every delta, `state` with true or false as the stream comes and goes, and whether the server
 * refuses the token. */
function follow(heard, state) {
  const tabs = new BroadcastChannel('baton.events');
  // The number of the last event, from which the stream goes on.
  let last = '';
  // What ends the stream of this tab, or its wait for one.
  let turn = null;
  // The turn in which this tab has the stream.
  let leading = null;
  let isOn = false;
  const turned = (on, isBarred = false) => {
    isOn = on;
    state(on, isBarred);
    tabs.postMessage({ on, isBarred, last });
  };
  tabs.onmessage = ({ data }) => {
    if (leading) {
      if (data.isAsked) tabs.postMessage({ on: isOn, last });
    } else if (data.delta) {
      last = data.last;
      heard(data.delta);
    } else if (turn && !data.isAsked) {
      last ||= data.last;
      state(data.on, data.isBarred);
    }
  };
  const lead = async (signal) => {
    leading = signal;
    // The tab that had the stream before has ended it: what was not told meanwhile is asked for once it is back.
    if (last) state(false);
    while (!signal.aborted) {
      let status = 0;
      try { await read(signal); } catch (error) { ({ status } = error); /* the state tells of it; the next round tries again */ }
      if (signal.aborted) break;
      turned(false, status === 401);
      await new Promise((resolve) => { setTimeout(resolve, RECONNECT_AFTER); signal.addEventListener('abort', resolve); });
    }
    if (leading === signal) leading = null;
  };
  const read = async (signal) => {
    const query = last ? `?last_event_id=${encodeURIComponent(last)}` : '';
    const response = await fetch(`/api/v1/events${query}`, { headers: headers(), signal });
    if (!response.ok) throw Object.assign(new Error(String(response.status)), { status: response.status });
    turned(true);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const frames = (rest + value).split('\n\n');
      rest = frames.pop();
      for (const frame of frames) {
        const id = /^id: (.*)$/m.exec(frame);
        const data = /^data: (.*)$/m.exec(frame);
        if (id) last = id[1];
        if (!data) continue;
        const delta = JSON.parse(data[1]);
        heard(delta);
        tabs.postMessage({ delta, last });
      }
    }
  };
  const begin = () => {
    if (document.hidden || turn) return;
    turn = new AbortController();
    const { signal } = turn;
    tabs.postMessage({ isAsked: true });
    // Where there are no locks (over http from another machine), each tab that is looked at has a stream of its own.
    const queued = navigator.locks ? navigator.locks.request('baton.events', { signal }, () => lead(signal)) : lead(signal);
    queued.catch(() => { /* the tab was left while it waited */ });
  };
  const end = () => {
    turn?.abort();
    turn = null;
  };
  document.addEventListener('visibilitychange', () => (document.hidden ? end() : begin()));
  // A page that the browser keeps for "Back" holds no connection.
  window.addEventListener('pagehide', end);
  window.addEventListener('pageshow', begin);
  begin();
}

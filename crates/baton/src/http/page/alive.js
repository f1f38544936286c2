// A session that is opened on the page has no process that says that it is there: the page does so, as long as it is open in a tab.

/** How often a tab says so: of several only one. */
const BEAT_EVERY = 60000;

const HELD_WHILE_OPEN = 'While this page is open in a tab, you count as at work and the baton stays yours. When none has been open for a while (ten minutes, where nobody set it otherwise), it is offered to others.';

/** The sessions that were opened in this browser, and not ended since. */
function ownSessions() {
  try { return JSON.parse(store.get('baton.sessions') || '[]'); } catch { return []; }
}

const setOwnSessions = (all) => store.set('baton.sessions', JSON.stringify(all));

/** Remembers a session that was opened here. */
function keepAlive({ project_id: project, session_id: session, identity }) {
  setOwnSessions([...ownSessions().filter((one) => one.session !== session), { project, session, identity }]);
}

/** Says that they are there; one that has ended, or is another's by now, is forgotten. */
async function beat() {
  const all = ownSessions();
  if (!all.length || Date.now() - Number(store.get('baton.beat') || 0) < BEAT_EVERY) return;
  store.set('baton.beat', String(Date.now()));
  for (const { project, session, identity } of all) {
    try { await api('POST', `/sessions/${part(session)}/heartbeat`, { project, identity }); } catch (error) {
      if ([403, 404, 409, 422].includes(error.status)) setOwnSessions(ownSessions().filter((one) => one.session !== session));
    }
  }
}

setInterval(beat, BEAT_EVERY / 2);
document.addEventListener('visibilitychange', beat);

// With which token one looks: it is exchanged or forgotten on every page.

/** What a token may do, in words. */
const SCOPES = { read: 'It may look and change nothing.', write: 'It may look and write.', operator: 'It may do everything, also in the place of others.' };

/** The button is there where this browser keeps a token. */
function showAccount() {
  $('account').hidden = !token();
}

/** Everything is read anew: what was read with another token is not shown any more. */
function changeToken(text) {
  setToken(text);
  location.reload();
}

/** Asks for a token, and keeps it once the server takes it. */
function tokenDialog(title, words, extra, done) {
  return ask(title, [words.map((one) => h('p', {}, one)), field('Token', 'token', { type: 'password', required: true, autocomplete: 'off' }), extra], 'Use it', async ({ token: text }) => {
    const given = text.trim();
    // It is tried before it is kept: other tabs and what runs in the background go on with the one that is known.
    try { await api('GET', '/overview', { limit: 1 }, { headers: { authorization: `Bearer ${given}` } }); } catch (error) {
      if (error.status !== 401) throw error;
      throw new Problem(401, { message: 'This token opens nothing here', hint: 'It may be mistyped, revoked or past its time: ask whoever keeps the server for another.' });
    }
    setToken(given);
    done();
  });
}

function askOtherToken() {
  if (!token()) return;
  const names = bound.length ? ` It acts as ${bound.join(', ')}.` : '';
  tokenDialog('Your token', [`This browser keeps a token for this server. ${SCOPES[scope] || ''}${names}`, 'Paste another one to look with that.'],
    h('p', {}, button('Forget it', () => changeToken(''), 'risky')), () => location.reload());
}

$('account').addEventListener('click', askOtherToken);
// Another tab of this browser has another token by now. What is being typed here is not thrown away.
window.addEventListener('storage', (event) => { if (event.key === 'baton.token' && !document.querySelector('dialog[open]')) location.reload(); });

// Dialogs: what is asked before something is done, and the requests that do it.

/** Whether the answer to a request got lost: it may have been done all the same. */
const isLost = (error) => error instanceof Problem && (error.status === 0 || error.status >= 500);

/** The writes of one dialog. Each has one key until it is answered or its content changes: one whose answer got lost is sent again
 * under the same key, and is done once. */
function writer() {
  const keys = new Map();
  const contentOf = (method, path, fields) => JSON.stringify([method, path, fields]);
  const send = async (method, path, fields = {}, options = {}) => {
    const content = contentOf(method, path, fields);
    if (!keys.has(content)) keys.set(content, newKey());
    try {
      const answer = await api(method, path, fields, { ...options, key: keys.get(content) });
      keys.delete(content);
      return answer;
    } catch (error) {
      if (!isLost(error)) keys.delete(content);
      throw error;
    }
  };
  /** Whether the very same was sent before and its answer got lost: what has changed since may be its own doing. */
  send.isRepeat = (method, path, fields) => keys.has(contentOf(method, path, fields));
  return send;
}

/** Sends what is done in somebody's place, and names the one whom the page means: `seen.holder`. Where another holds it by now nothing was
 * written, and it is asked again. */
async function sendFor(seen, send, [method, path, content, options], deed) {
  try { return await send(method, path, { ...content, holder: seen.holder }, options); } catch (error) {
    if (error.code !== 'holder_changed') throw error;
    throw asksAgain(seen, error.holder || '', deed);
  }
}

/** Takes note of who holds it now, and says so: pressed once more, the button means that one. */
function asksAgain(seen, holder, deed) {
  const before = seen.holder;
  seen.holder = holder;
  return holder ? new Problem(409, { message: `${holder} has it now`, hint: `Press the button once more to ${deed(holder)} all the same.` })
    : new Problem(409, { message: `${before} has given it back meanwhile`, hint: 'Press the button once more to go on.' });
}

/** Asks for something in a dialog; `act` runs on its main button with what was given and the dialog's writer, and keeps it open when it
 * fails. `busy` stands on the button meanwhile. */
function ask(title, fields, label, act, risky = false, busy = null) {
  const place = placeOf(document.activeElement);
  const send = writer();
  const errors = h('div', {});
  const meanwhile = h('p.error', { role: 'status', hidden: true });
  const main = h('button.main', { type: 'submit', class: risky ? 'risky' : '' }, label);
  const heading = h('h2', { id: 'ask-title' }, withInstants(title));
  const form = h('form', { method: 'dialog' }, heading, fields, meanwhile, errors,
    h('div.row', {}, h('button', { type: 'button', onclick: () => dialog.close() }, 'Back'), main));
  const dialog = h('dialog', { 'aria-labelledby': 'ask-title' }, form);
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || main.disabled) return;
    event.preventDefault();
    form.requestSubmit(main);
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    main.disabled = true;
    main.textContent = busy || label;
    try {
      const given = Object.fromEntries(new FormData(form));
      // An empty name is refused; a field without a value would be left out.
      if (given.identity) given.identity = given.identity.trim() || given.identity;
      await act(given, send);
      // A name is remembered once an operation has taken it.
      if (given.identity && given.identity !== me()) { setMe(given.identity); drawSoon(); }
      dialog.close();
    } catch (error) {
      if (isLost(error)) error.hint = 'Press the button once more when it answers again: it is done once, also where it was done already.';
      // Who went to another view meanwhile is told there.
      if (!dialog.isConnected) { refused(error); return; }
      errors.replaceChildren(trouble(error));
      // The token was forgotten or revoked meanwhile: with another one, what was typed is sent.
      if (error.code === 'token_invalid') askToken(() => { errors.replaceChildren(); if (dialog.isConnected) form.requestSubmit(main); });
    } finally {
      main.disabled = false;
      main.textContent = label;
    }
  });
  // What others do to what it is about is said at once; what it does itself is no news.
  dialog.tell = (words) => {
    if (main.disabled || meanwhile.textContent === (words || '')) return;
    meanwhile.hidden = !words;
    meanwhile.replaceChildren(withInstants(words || ''));
  };
  dialog.addEventListener('close', () => { dialog.remove(); watchers.delete(dialog); goBackTo(place); });
  document.body.append(dialog);
  dialog.showModal();
  // What is filled in already is not asked for again; a name that is only likely is, and is there to be confirmed or typed over.
  const likely = me() ? null : form.querySelector('[name=identity]');
  if (likely?.value) { likely.focus(); likely.select(); } else [...form.querySelectorAll('input, textarea, select')].find((one) => !one.value)?.focus();
  return dialog;
}

let fieldNumber = 0;

/** A labelled field of a dialog. */
function field(label, name, attributes = {}, tag = 'input') {
  fieldNumber += 1;
  const id = `field-${fieldNumber}`;
  const control = h(tag, { id, name, ...attributes });
  if (tag === 'textarea' && attributes.value) control.value = attributes.value;
  return [h('label', { for: id }, label), control];
}

/** Under which name the person acts: asked once. */
const nameField = () => field('Your name', 'identity', { value: me() || localName, required: true, autocomplete: 'nickname', maxlength: 64 });

// Elements, numbers and requests. Data become text nodes, never markup: titles and ids come from users' files.

const byId = id => document.getElementById(id);

/** An element with properties (those with a dash are attributes) and children, which are elements or texts. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes('-')) element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
}

/** A button whose name for screen readers goes on with what it acts on. */
function button(text, about, action, properties = {}) {
  const element = make('button', {type: 'button', ...properties}, text, make('span', {className: 'unseen'}, ` ${about}`));
  element.addEventListener('click', action);
  return element;
}

/** Replaces the children of an element; the focus stays at the button of the same number, or goes to `otherwise`. */
function refill(parent, children, otherwise) {
  const at = [...parent.querySelectorAll('button')].indexOf(document.activeElement);
  parent.replaceChildren(...children);
  if (at < 0) return;
  const buttons = parent.querySelectorAll('button');
  (buttons[Math.min(at, buttons.length - 1)] ?? otherwise).focus();
}

const titles = new Map();
const titleOf = id => titles.get(id) ?? `Item ${id}`;

const pictures = new Map();
let pictureOrigins = [];  // whose pictures the content security policy allows

/** The item's picture, before its title; nothing where it has none, the policy forbids it, or it does not load. */
function picture(item) {
  const address = pictures.get(item) ?? '';
  if (!address.startsWith('data:image/') && !pictureOrigins.some(origin => address.startsWith(`${origin}/`))) return [];
  const image = make('img', {className: 'picture', alt: '', loading: 'lazy', decoding: 'async', width: 40, height: 40});
  image.addEventListener('error', () => image.remove());
  image.src = address;
  return [image, ' '];
}

const shortened = (text, most) => text.length <= most ? text : `${[...text].slice(0, most - 1).join('')}…`;

/** A row of a list: the item's title, a detail where there is one, and buttons. */
function row(item, detail, ...buttons) {
  return make('li', {'data-item': item}, ...picture(item), make('bdi', {className: 'title'}, titleOf(item)), ' ',
              ...(detail === '' ? [] : [make('span', {className: 'score'}, detail), ' ']),
              make('span', {className: 'actions'}, ...buttons));
}

const plural = (count, one, many = one + 's') => `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
const three = new Intl.NumberFormat('en', {minimumSignificantDigits: 3, maximumSignificantDigits: 3});
const twoSigned = new Intl.NumberFormat('en', {minimumSignificantDigits: 2, maximumSignificantDigits: 2, signDisplay: 'always'});
const number = value => Number.isInteger(value) ? value.toLocaleString('en')
  : Math.abs(value) >= 1e-4 ? three.format(value) : value.toExponential(1);
const signed = value => (Math.abs(value) >= 1e-4 ? twoSigned.format(value) : `${value < 0 ? '' : '+'}${value.toExponential(0)}`)
  .replace(/^-/, '−');

let key = '';  // in memory only

/** The answer of the server to a GET, or with a body to a POST; throws what the server says against it. */
async function ask(path, body) {
  const request = {headers: key ? {Authorization: `Bearer ${key}`} : {}};
  if (body) {
    request.method = 'POST';
    request.headers['Content-Type'] = 'application/json';
    request.body = JSON.stringify(body);
  }
  const answer = await fetch(path, request).catch(() => { throw new Error('The server cannot be reached.'); });
  const json = await answer.json().catch(() => ({}));
  const message = json.error?.message ?? `The server answers with status ${answer.status}.`;
  if (answer.status === 401) {
    askForKey();
    throw new Error(key === '' ? 'This server wants an API key.' : message);
  }
  if (!answer.ok) throw new Error(message);
  for (const [id, title] of Object.entries(json.titles ?? {})) titles.set(id, title);
  for (const [id, address] of Object.entries(json.pictures ?? {})) pictures.set(id, address);
  return json;
}

function askForKey() {
  byId('access').hidden = false;
  byId('key').focus();
}

const turns = new Map();

/**
 * Renders an answer once it is there, unless a later one was asked for at the same place; errors go to `PLACE-note`. Whether it
 * was rendered.
 */
async function show(place, answer, render) {
  const turn = (turns.get(place) ?? 0) + 1;
  turns.set(place, turn);
  const note = byId(`${place}-note`);
  try {
    const value = await answer;
    if (turns.get(place) !== turn) return false;
    note.classList.remove('problem');
    render(value);
    return true;
  } catch (error) {
    if (turns.get(place) === turn) {
      note.classList.add('problem');
      note.textContent = error.message;
    }
    return false;
  }
}

/** The work, once nobody has asked for it again for a moment; `cancel` forgets that it was asked for. */
function later(work) {
  let timer = 0;
  const cancel = () => clearTimeout(timer);
  const start = () => {
    cancel();
    timer = setTimeout(work, 120);
  };
  return Object.assign(start, {cancel});
}

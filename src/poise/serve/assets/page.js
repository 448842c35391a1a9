// What was picked, and what follows from it.

const state = {
  cards: [],            // of the models
  model: '', other: '', // names; no other: one list
  k: 10,
  liked: new Set(), excluded: new Set(),
  user: null,           // whose history `liked` is, until it changes
  similar: null,        // the item whose neighbours are shown
};
const cardOf = name => state.cards.find(card => card.name === name);

// Items

function likeButton(item) {
  return button('Like', titleOf(item), () => toggleLiked(item), {'data-like': item, 'aria-pressed': state.liked.has(item)});
}

function toggleLiked(item) {
  if (!state.liked.delete(item)) state.liked.add(item);
  state.excluded.delete(item);
  state.user = null;
  changed();
}

function exclude(item) {
  state.excluded.add(item);
  changed();
}

function allow(item) {
  state.excluded.delete(item);
  changed();
}

function drawPicked() {
  byId('liked-note').textContent = state.liked.size === 0 ? 'Nothing yet.'
    : state.user === null ? plural(state.liked.size, 'item') : `${plural(state.liked.size, 'item')} of user ${state.user}`;
  byId('clear').hidden = state.liked.size === 0;
  const remove = item => button('Remove', titleOf(item), () => toggleLiked(item));
  refill(byId('liked'), [...state.liked].map(item => row(item, '', remove(item), similarButton(item))), byId('liked-title'));
  refill(byId('excluded'), [...state.excluded].map(item => row(item, '', button('Allow', titleOf(item), () => allow(item)))),
         byId('lists-title'));
  byId('excluding').hidden = state.excluded.size === 0;
  for (const each of document.querySelectorAll('button[data-like]'))
    each.setAttribute('aria-pressed', state.liked.has(each.dataset.like));
}

function changed() {
  drawPicked();
  recommend();
}

// Recommendations

function requestTo(name) {
  const who = state.user === null ? {history: [...state.liked], skip_unknown: true} : {user: state.user};
  const explain = usesHistory(cardOf(name));
  return ask('/v1/recommend', {...who, model: name, k: state.k, exclude: [...state.excluded], explain});
}

function recommend() {
  if (state.liked.size === 0) {
    show('lists', null, () => {
      byId('lists-note').textContent = 'Pick an item to see what the model recommends, and why.';
      refill(byId('lists'), [], byId('lists-title'));
    });
    return;
  }
  show('lists', Promise.all([state.model, state.other].filter(name => name !== '').map(requestTo)), drawLists);
}

// Search

function search() {
  const query = new URLSearchParams({q: byId('query').value, limit: 8, model: state.model});
  return show('search', ask(`/v1/items?${query}`), ({items}) => {
    for (const item of items) {
      if (item.title) titles.set(item.id, item.title);
      if (item.picture) pictures.set(item.id, item.picture);
    }
    byId('search-note').textContent = items.length === 0 ? 'No item begins like this.'
      : byId('query').value.trim() === '' ? 'Some items to begin with:' : `${plural(items.length, 'item')} found:`;
    refill(byId('found'), items.map(({id}) => row(id, '', likeButton(id))), byId('query'));
  });
}

const searchLater = later(search);

/** Enter in the search field likes the first item found. */
async function likeFirst() {
  searchLater.cancel();
  const first = await search() ? byId('found').querySelector('button') : null;
  if (first?.getAttribute('aria-pressed') === 'false') first.click();
}

/** The arrows walk between the search field and the items found. */
function walk(event) {
  const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
  if (!step) return;
  const stops = [byId('query'), ...byId('found').querySelectorAll('button')];
  const next = stops[stops.indexOf(document.activeElement) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

// A user's history

let shown = null;  // {user, items}

function drawHistory({user, history}) {
  const items = history.map(entry => entry.item);
  shown = {user, items};
  byId('history-note').textContent = `User ${user}: ${plural(items.length, 'item')}`;
  byId('take').hidden = items.length === 0;
  byId('history').replaceChildren(...history.map(({item, value}) =>
    row(item, value === undefined ? '' : `× ${number(value)}`, likeButton(item))));
}

function showHistory() {
  shown = null;
  byId('take').hidden = true;
  byId('history').replaceChildren();
  show('history', ask(`/v1/users/${encodeURIComponent(byId('user').value)}/history`), drawHistory);
}

function takeHistory() {
  state.liked = new Set(shown.items);
  state.user = shown.user;
  changed();
}

// Models

/** The other model is any but the first. */
function fillOthers() {
  const others = state.cards.filter(card => card.name !== state.model);
  if (state.other === state.model) state.other = '';
  byId('other').replaceChildren(new Option('no other', ''), ...others.map(card => new Option(card.name, card.name)));
  byId('other').value = state.other;
  byId('comparing').hidden = others.length === 0;
}

function chooseModels() {
  const before = state.model;
  state.model = byId('model').value;
  state.other = byId('other').value;
  fillOthers();
  drawCards();
  recommend();
  if (state.model === before) return;
  search();
  if (state.similar !== null) show('similar', neighbourhood(state.similar), drawSimilar);
}

function begin({version, models, histories, picture_origins}) {
  byId('access').hidden = true;
  byId('key').value = '';
  byId('explorer').hidden = false;
  byId('served-note').textContent = `Version ${version}, ${plural(models.length, 'model')}`;
  byId('histories').hidden = !histories;
  state.cards = models;
  pictureOrigins = picture_origins;
  state.model = models.find(card => card.default).name;
  byId('model').replaceChildren(...models.map(card => new Option(card.name, card.name, card.default, card.default)));
  fillOthers();
  drawCards();
  changed();
  search();
}

const load = () => show('served', ask('/v1/models'), begin);

/** Lets a form do this instead of being sent. */
function onSubmit(id, work) {
  byId(id).addEventListener('submit', event => {
    event.preventDefault();
    work();
  });
}

onSubmit('access', () => { key = byId('key').value; load(); });
onSubmit('search', likeFirst);
onSubmit('history-form', showHistory);
onSubmit('controls', recommend);
byId('query').addEventListener('input', searchLater);
byId('search').parentElement.addEventListener('keydown', walk);
byId('take').addEventListener('click', takeHistory);
byId('clear').addEventListener('click', () => {
  state.liked.clear();
  state.user = null;
  changed();
  byId('query').focus();
});
byId('model').addEventListener('change', chooseModels);
byId('other').addEventListener('change', chooseModels);
const recommendLater = later(recommend);
byId('k').addEventListener('input', () => {
  state.k = Number(byId('k').value);
  byId('k-shown').textContent = state.k;
  recommendLater();
});
load();

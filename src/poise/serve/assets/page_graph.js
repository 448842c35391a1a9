// One item and its neighbours: a line between two items if one is in the other's list.

const NEIGHBOURS = 10;

function svg(tag, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const similarTo = item => ask('/v1/similar', {item, k: NEIGHBOURS, model: state.model});

/** Nodes and links around an item; a neighbour whose own list cannot be had has no further links. */
async function neighbourhood(item) {
  const centre = await similarTo(item);
  const ids = [item, ...centre.similar.map(each => each.item)];
  const lists = await Promise.allSettled(ids.slice(1).map(similarTo));
  const links = new Map();
  const link = (from, each) => {
    const [a, b] = [ids.indexOf(from), ids.indexOf(each.item)].sort((x, y) => x - y);
    if (a >= 0 && a !== b) links.set(`${a} ${b}`, {a, b, score: Math.max(each.score, links.get(`${a} ${b}`)?.score ?? 0)});
  };
  for (const each of centre.similar) link(item, each);
  for (const list of lists) if (list.status === 'fulfilled') for (const each of list.value.similar) link(list.value.item, each);
  return {item, model: centre.model, similar: centre.similar, ids, links: [...links.values()]};
}

/** Pushes two labels apart that overlap, along the shorter way. */
function separate(a, b, room) {
  const dx = b.x - a.x, dy = b.y - a.y;
  const x = room.x - Math.abs(dx), y = room.y - Math.abs(dy);
  if (x <= 0 || y <= 0) return;
  const sideways = x < y;
  const push = (sideways ? x : y) / 2 * ((sideways ? dx : dy) < 0 ? -1 : 1);
  a[sideways ? 'x' : 'y'] -= push;
  b[sideways ? 'x' : 'y'] += push;
}

/** Moves both nodes by this force: towards each other where it is positive. */
function pull(a, b, force) {
  const dx = b.x - a.x, dy = b.y - a.y, far = Math.max(1, Math.hypot(dx, dy));
  const move = Math.max(-10, Math.min(10, force(far))) / far;
  a.x += dx * move;
  a.y += dy * move;
  b.x -= dx * move;
  b.y -= dy * move;
}

/** The first node stays in the middle, the others in the frame; a wide frame is filled by pulling down and up. */
function hold(nodes, size, room, pace) {
  const x = size.width / 2, y = size.height / 2;
  for (const node of nodes) {
    node.y += 0.02 * pace * (size.width / size.height - 1) * (y - node.y);
    node.x = Math.min(size.width - room.x / 2, Math.max(room.x / 2, node.x));
    node.y = Math.min(size.height - room.y, Math.max(room.y / 2, node.y));
  }
  Object.assign(nodes[0], {x, y});
}

/**
 * Places of nodes by forces: all push each other away, links pull, labels do not overlap. It begins with a circle around the
 * first node and takes a fixed number of ever smaller steps, so that the same items always give the same picture.
 */
function layout(count, links, size, room) {
  const nodes = Array.from({length: count}, (_, k) => {
    const angle = 2 * Math.PI * k / Math.max(1, count - 1);
    const radius = k === 0 ? 0 : 0.38;
    return {x: size.width * (0.5 + radius * Math.cos(angle)), y: size.height * (0.5 + radius * Math.sin(angle))};
  });
  const pairs = nodes.flatMap((a, i) => nodes.slice(i + 1).map(b => [a, b]));
  const length = 0.8 * Math.sqrt(size.width * size.height / count);
  const steps = 400;
  for (let step = 0; step < steps; ++step) {
    const pace = 1 - step / steps;
    for (const [a, b] of pairs) pull(a, b, far => -0.03 * pace * length * length / far);
    for (const {a, b} of links) pull(nodes[a], nodes[b], far => 0.03 * pace * (far - length));
    for (const [a, b] of pairs) separate(a, b, room);
    hold(nodes, size, room, pace);
  }
  return nodes;
}

function drawGraph({ids, links, similar}) {
  const picture = byId('graph');
  picture.toggleAttribute('hidden', false);  // the property is that of HTML elements alone
  const size = {width: picture.clientWidth, height: picture.clientWidth < 500 ? 480 : 420};
  const letters = size.width < 500 ? 14 : 20;
  const nodes = layout(ids.length, links, size, {x: letters * 7.2, y: 44});
  const most = Math.max(...similar.map(each => each.score), 1e-30);
  const weight = score => Math.max(0, Math.min(1, score / most));
  const lines = links.map(({a, b, score}) => svg('line', {
    x1: nodes[a].x, y1: nodes[a].y, x2: nodes[b].x, y2: nodes[b].y,
    class: a === 0 ? 'near' : 'far', 'stroke-width': 1 + 3 * weight(score)}));
  const marks = ids.map((id, k) => {
    const radius = k === 0 ? 11 : 5 + 5 * weight(similar[k - 1].score);
    const mark = svg('g', {class: k === 0 ? 'node centre' : 'node', transform: `translate(${nodes[k].x} ${nodes[k].y})`},
                     svg('title', {}, titleOf(id)), svg('circle', {r: radius}),
                     svg('text', {y: radius + 14, 'text-anchor': 'middle'}, shortened(titleOf(id), letters)));
    if (k > 0) mark.addEventListener('click', () => showSimilar(id));
    return mark;
  });
  picture.setAttribute('viewBox', `0 0 ${size.width} ${size.height}`);
  picture.setAttribute('height', size.height);
  picture.replaceChildren(...lines, ...marks);
}

let drawn = null;

function drawSimilar(found) {
  drawn = found;
  byId('similar-note').textContent = `The ${plural(found.similar.length, 'item')} most similar by ${found.model}, ` +
    'nearest first; lines join items that are similar to each other.';
  drawGraph(found);
  byId('neighbours').replaceChildren(...found.similar.map(({item, score}) =>
    row(item, number(score), likeButton(item), similarButton(item))));
}

function showSimilar(item) {
  byId('similar-title').textContent = `Similar to ${shortened(titleOf(item), 80)}`;
  byId('similar-title').focus();
  byId('neighbours').replaceChildren();
  byId('graph').toggleAttribute('hidden', true);
  drawn = null;
  state.similar = item;
  show('similar', neighbourhood(item), drawSimilar);
}

const similarButton = item => button('Similar', `to ${titleOf(item)}`, () => showSimilar(item));

new ResizeObserver(() => {
  const picture = byId('graph');
  if (drawn && picture.clientWidth !== picture.viewBox.baseVal.width) drawGraph(drawn);
}).observe(byId('graph').parentElement);

// Recommendations with their reasons, one list or two side by side.

/** The model of popularity has no reasons and no similar items. */
const usesHistory = card => card.model !== 'popularity';

/** Apart from the text around it, which may run from right to left. */
const amount = value => make('bdi', {className: value < 0 ? 'minus' : 'plus'}, signed(value));

/** "because of X +0.09, Y +0.01, despite Z −0.01; 4 others +0.02": the largest, and the sum of the rest. */
function reasons(because) {
  const bySize = [...because].filter(each => each.contribution !== 0)
    .sort((a, b) => Math.abs(b.contribution) - Math.abs(a.contribution));
  const most = [...bySize.filter(each => each.contribution > 0).slice(0, 3),
                ...bySize.filter(each => each.contribution < 0).slice(0, 2)];
  const line = make('p', {className: 'reasons'});
  let before = null;
  for (const each of most) {
    const negative = each.contribution < 0;
    if (before !== null) line.append(', ');
    if (before !== negative) line.append(negative ? 'despite ' : 'because of ');
    line.append(make('bdi', {}, shortened(titleOf(each.item), 40)), ' ', amount(each.contribution));
    before = negative;
  }
  const rest = bySize.filter(each => !most.includes(each));
  const sum = rest.reduce((total, each) => total + each.contribution, 0);
  if (rest.length > 0) line.append(`; ${plural(rest.length, 'other')} `, amount(sum));
  return line;
}

/** How a place in this list differs from that in the other one. */
function difference(place, there) {
  if (there === undefined) return make('span', {className: 'mark only'}, 'only here');
  if (there === place) return make('span', {className: 'mark'}, 'same place');
  return make('span', {className: 'mark moved'}, `${place < there ? '↑' : '↓'} ${Math.abs(place - there)}`,
              make('span', {className: 'unseen'}, ` ${place < there ? 'higher' : 'lower'} than in the other list`));
}

function recommendation(entry, place, other) {
  const title = titleOf(entry.item);
  const head = make('div', {className: 'head'}, ...picture(entry.item), make('bdi', {className: 'title'}, title), ' ',
                    make('span', {className: 'score'}, number(entry.score)));
  if (other) head.append(' ', difference(place, other.get(entry.item)));
  const row = make('li', {'data-item': entry.item}, head);
  if (entry.because?.length > 0) row.append(reasons(entry.because));
  row.append(make('div', {className: 'actions'}, likeButton(entry.item), ' ',
                  button('Exclude', title, () => exclude(entry.item)), ' ', similarButton(entry.item)));
  return row;
}

const placesOf = answer => new Map(answer.recommendations.map((entry, place) => [entry.item, place]));

function listOf(answer, other, card) {
  const places = other && placesOf(other);
  const rows = answer.recommendations.map((entry, place) => recommendation(entry, place, places));
  const note = usesHistory(card) ? [] : [make('p', {className: 'note'}, 'The same for everyone, without reasons.')];
  return make('section', {className: 'list', 'aria-label': `Recommendations of ${answer.model}`},
              make('h3', {}, answer.model), ...note, make('ol', {}, ...rows));
}

function summary(answers) {
  const [first, second] = answers;
  const count = first.recommendations.length;
  const who = state.user === null ? plural(state.liked.size, 'liked item') : `user ${state.user}`;
  let text = `${plural(count, 'recommendation')} of ${first.model} for ${who}.`;
  if (second) {
    const there = placesOf(second);
    const common = first.recommendations.filter(entry => there.has(entry.item)).length;
    text += ` ${common} of them ${common === 1 ? 'is' : 'are'} also in the list of ${second.model}.`;
  }
  for (const answer of answers)
    if (answer.skipped) text += ` ${answer.model} does not know ${plural(answer.skipped, 'item')} of the history.`;
  return text;
}

function drawLists(answers) {
  byId('lists-note').textContent = summary(answers);
  const [first, second] = answers;
  const lists = [listOf(first, second, cardOf(first.model))];
  if (second) lists.push(listOf(second, first, cardOf(second.model)));
  byId('lists').classList.toggle('two', lists.length === 2);
  refill(byId('lists'), lists, byId('lists-title'));
}

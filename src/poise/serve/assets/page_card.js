// What a model is: its family and options, what is proven of it, how it ranks, and which data it was trained on.

/** What the certificate proves, in the words of `poise train`. */
function certificateText(report) {
  const certificate = report.certificate;
  if (!certificate || certificate.relative === null || certificate.relative === undefined) return null;
  const part = certificate.relative.toExponential(1);
  if (report.rank !== null) {
    return report.rounds === 0 ? 'solved in closed form, the global optimum'
      : `re-solving either factor alone would gain at most ${part} of what is explained`;
  }
  const chance = 1 - certificate.probability;
  const where = report.neighbours ? 'on these neighbours ' : '';
  return `${where}proven to be above its minimum by at most ${part} of the explained weight` +
    (chance > 0 ? `, but for a chance of ${chance.toExponential(0)}` : '');
}

/** How much less a model with few neighbours explains than one with all items. */
function shareText({explained_share: share, explained_share_level: level, explained_share_proven: proven} = {}) {
  if (!share) return null;
  const percent = value => (100 * value).toFixed(1);
  return `${percent(share[0])} to ${percent(share[1])} % of what the best dense model would` +
    (level < 1 ? ` (${percent(level)} % interval), proven at least ${percent(proven)} %` : '');
}

/** Figures are numbers, means with their standard errors, or those before and after entries were dropped. */
function metricsText(figures) {
  if (!figures) return null;
  const text = value => typeof value === 'number' ? value.toFixed(4)
    : typeof value?.mean === 'number' ? value.mean.toFixed(4) + (value.stderr ? ` ± ${value.stderr.toFixed(4)}` : '')
    : typeof value?.kept === 'number' ? value.kept.toFixed(4) : JSON.stringify(value);
  return Object.entries(figures).map(([name, value]) => `${name} ${text(value)}`).join(', ');
}

const MAIN_OPTIONS = ['rank', 'neighbours', 'keep-top', 'lambda', 'alpha', 'weighting'];

function cardRows(card) {
  const {options, report} = card;
  return [
    ['family', card.model + (options['zero-diagonal'] === 'true' ? ', zero diagonal' : '')],
    ...MAIN_OPTIONS.map(name => [name, options[name]]),
    ['certificate', certificateText(report)],
    ['explains', shareText(report.certificate ?? {})],
    ['validation', metricsText(report.validation ?? report.kept?.validation)],
    ['test', metricsText(report.test)],
    ['data', `${plural(card.items, 'item')}, checksum ${card.data_checksum}`],
    ['file', `checksum ${card.checksum}`],
    ['serving since', card.since.replace('T', ' ').replace('Z', ' UTC')],
    ['visitors', card.share ? `${number(100 * card.share)} %` : null],
    ['shadow', card.shadow ? 'scores along; its lists are only counted' : null],
  ].filter(([, text]) => text !== null && text !== undefined);
}

const definitions = rows =>
  make('dl', {}, ...rows.flatMap(([name, text]) => [make('dt', {}, name), make('dd', {}, String(text))]));

function cardElement(card) {
  const element = make('article', {className: 'card'},
                       make('h3', {}, card.name + (card.default ? ' (default)' : '')), definitions(cardRows(card)));
  const others = Object.entries(card.options).filter(([name]) => name !== 'model' && !MAIN_OPTIONS.includes(name));
  const label = make('summary', {}, 'Other options', make('span', {className: 'unseen'}, ` of ${card.name}`));
  if (others.length > 0) element.append(make('details', {}, label, definitions(others)));
  return element;
}

function drawCards() {
  const names = [state.model, state.other].filter(name => name !== '');
  byId('cards-title').textContent = names.length > 1 ? 'Model cards' : 'Model card';
  byId('cards').replaceChildren(...names.map(name => cardElement(cardOf(name))));
}

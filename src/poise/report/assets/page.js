  const views = new Map();
  const resized = new ResizeObserver(entries => {
    for (const {target, contentRect} of entries) {
      const view = views.get(target);
      if (view && contentRect.width > 0 && Math.abs(view.width() - contentRect.width) >= 1)
        view.width(contentRect.width).run();
    }
  });

  function draw(figure, panels) {
    const parent = document.querySelector(`#${figure} .panels`);
    if (!parent) return;  // a page without test figures has fewer
    for (const [target, view] of views) {
      if (!parent.contains(target)) continue;
      resized.unobserve(target);
      view.finalize();
      views.delete(target);
    }
    parent.replaceChildren();
    if (panels.length === 0) {
      const note = document.createElement('p');
      note.className = 'empty';
      note.textContent = 'The study has nothing to show here for this choice.';
      parent.append(note);
    }
    for (const {title, spec} of panels) {
      const panel = document.createElement('div');
      panel.className = 'panel';
      const heading = document.createElement('h4');
      heading.textContent = title;
      const plot = document.createElement('div');
      panel.append(heading, plot);
      parent.append(panel);
      const view = new vega.View(vega.parse(spec, null, {ast: true}),
                                 {renderer: 'svg', expr: vega.expressionInterpreter});
      views.set(plot, view.initialize(plot).width(Math.max(plot.clientWidth, 160)));
      view.run();
      resized.observe(plot);
    }
  }

  const modelsOf = items => ascending(items.map(item => item.model));

  function accuracy({data, metric}) {
    const rows = study.rows.filter(row => row.data === data && row.test[metric]);
    const value = row => {
      const [mean, error] = row.test[metric];
      const spread = error === null ? {} : {low: mean - error, high: mean + error};
      return {kind: row.kind, y: mean, ...spread};
    };
    const all = rows.map(value);
    const baseline = study.baselines.find(row => row.data === data && row.test[metric])?.test[metric][0];
    const heights = all.flatMap(point => [point.low ?? point.y, point.high ?? point.y]);
    if (baseline !== undefined) heights.push(baseline);
    const y = {type: 'linear', domain: [Math.min(...heights), Math.max(...heights)], title: study.metrics[metric], baseline};
    const panel = (title, of, label, x) => ({title, spec: series({
      values: of.map(row => ({...value(row), x: label(row),
        text: `${row.kind}, ${label(row)}: ${row.test[metric][0].toFixed(4)}` +
              (row.test[metric][1] === null ? '' : ` ± ${row.test[metric][1].toFixed(4)}`)})),
      x: {type: 'point', dodge: true, ...x}, y, description: `${title}: ${study.metrics[metric]} against rank`,
    })});
    const low = rows.filter(row => row.rank !== null), full = rows.filter(row => row.rank === null);
    const ranks = distinct(low.map(row => row.rank)).sort(byRank).map(rankText);
    const panels = modelsOf(low).map(model => panel(study.models[model].name, low.filter(row => row.model === model)
      .sort((a, b) => byRank(a.rank, b.rank)), row => rankText(row.rank), {domain: ranks, title: 'rank'}));
    if (full.length > 0) {
      const variant = row => study.models[row.model].variant;
      panels.push(panel('Full rank', full.sort((a, b) => a.model - b.model), variant,
                        {domain: distinct(full.map(variant)), title: 'full-rank model', lines: false}));
    }
    return panels;
  }

  const at = ({data, rank}) => item => item.data === data && item.rank === rank;

  function profiles(choice) {
    const curves = study.profiles.filter(each => at(choice)(each) && each.curve.length > 0);
    const points = study.points.filter(point => at(choice)(point) && point.value !== null);
    return modelsOf(curves).map(model => ({title: study.models[model].name, spec: profile({
      points: points.filter(point => point.model === model), curves: curves.filter(each => each.model === model),
      description: `${study.models[model].name}: the best validation accuracy of each alpha`,
    })}));
  }

  function popularity(choice) {
    const rows = study.rows.filter(row => at(choice)(row) && row.popularity.length > 0);
    const label = ([least, most]) => least === most ? `${least}` : `${least}–${most}`;
    return modelsOf(rows).map(model => {
      const of = rows.filter(row => row.model === model);
      const values = of.flatMap(row => row.popularity.filter(bin => bin[2] > 0 && bin[3] !== null).map(bin => ({
        kind: row.kind, x: bin[1], y: bin[3],
        text: `${row.kind}, items of ${label(bin)} users: ${bin[3].toFixed(4)} of ${bin[2].toLocaleString('en')} targets`,
      })));
      const domain = ascending(of.flatMap(row => row.popularity.map(bin => bin[1])));
      return {title: study.models[model].name, spec: series({
        values, x: {type: 'point', domain, title: 'training users of the item, up to'},
        y: {type: 'linear', domain: [0, Math.max(...values.map(value => value.y), 1e-3)], title: `share in the first ${study.cutoff}`},
        description: `${study.models[model].name}: recall by item popularity`,
      })};
    });
  }

  function convergence(choice) {
    const rows = study.rows.filter(row => at(choice)(row) && row.convergence.length > 0);
    const panel = (model, of, title, y) => {
      const values = of.flatMap(row => {
        const lowest = Math.min(...row.convergence.filter(step => step[1] !== null).map(step => step[1]));
        return row.convergence.map(step => ({kind: row.kind, x: step[0], y: y(step, lowest)}))
          .filter(value => value.y > 0)
          .map(value => ({...value, text: `${row.kind}, step ${value.x}: ${value.y.toExponential(1)}`}));
      });
      // A single value is no curve; the table shows it.
      if (!kinds.some(kind => values.filter(value => value.kind === kind).length > 1)) return [];
      const heights = values.map(value => value.y);
      return [{title: `${study.models[model].name}: ${title}`, spec: series({
        values, x: {type: 'linear', domain: [0, Math.max(...values.map(value => value.x))], title: 'step'},
        y: {type: 'log', domain: [Math.min(...heights), Math.max(...heights)], title: 'relative'},
        description: `${study.models[model].name}: ${title} after each step`,
      })}];
    };
    return modelsOf(rows).flatMap(model => {
      const of = rows.filter(row => row.model === model);
      return [
        ...panel(model, of, 'objective', (step, lowest) => step[1] === null ? 0 : (step[1] - lowest) / Math.abs(lowest)),
        ...panel(model, of, 'certificate', step => step[2] ?? 0),
      ];
    });
  }

  // Tells the reader while a table has more columns than fit.
  const fits = new ResizeObserver(entries => {
    for (const {target} of entries) {
      const scroll = target.closest('.scroll');
      scroll.parentElement.classList.toggle('overflows', scroll.scrollWidth > scroll.clientWidth);
    }
  });
  for (const scroll of document.querySelectorAll('.scroll')) {
    fits.observe(scroll);
    fits.observe(scroll.firstElementChild);
  }

  const choice = {data: 0, metric: Math.min(study.choice_index, study.metrics.length - 1), rank: null};
  const redraw = {
    data: () => { redraw.metric(); redraw.rank(); },
    metric: () => draw('accuracy', accuracy(choice)),
    rank: () => {
      draw('profiles', profiles(choice));
      draw('popularity-bins', popularity(choice));
      draw('convergence', convergence(choice));
    },
  };

  const form = document.getElementById('choose');
  function selector(name, label, values, texts) {
    choice[name] = choice[name] ?? values[0];
    if (values.length < 2) return;
    const element = document.createElement('label');
    const select = document.createElement('select');
    select.name = name;
    values.forEach((value, index) => select.append(new Option(texts[index], index, false, value === choice[name])));
    select.addEventListener('change', () => {
      choice[name] = values[Number(select.value)];
      redraw[name]();
    });
    element.append(label, select);
    form.append(element);
    form.hidden = false;
  }
  const ranks = distinct(study.rows.map(row => row.rank)).sort(byRank);
  selector('data', 'Data', study.data.map((_, index) => index), study.data);
  selector('rank', 'Rank', ranks, ranks.map(rankText));
  selector('metric', 'Metric', study.metrics.map((_, index) => index), study.metrics);
  redraw.data();

'use strict';
(() => {
  const study = JSON.parse(document.getElementById('study-data').textContent);
  const kinds = ['unweighted', 'weighted', 'down-weighted'];
  const shapes = ['circle', 'square', 'triangle-up'];
  const colours = kinds.map(kind => `var(--${kind})`);

  // Colours are the page's variables, so that the plots follow its light, dark and printed forms.
  const config = {
    font: 'system-ui, sans-serif',
    axis: {
      domainColor: 'var(--rule)', tickColor: 'var(--rule)', gridColor: 'var(--grid)',
      labelColor: 'var(--muted)', titleColor: 'var(--muted)', labelFontSize: 11, titleFontSize: 11,
      titleFontWeight: 400, tickSize: 4,
    },
  };
  const kindScales = [
    {name: 'dodge', type: 'ordinal', domain: kinds, range: [-4, 4, 0]},
    {name: 'colour', type: 'ordinal', domain: kinds, range: colours},
    {name: 'shape', type: 'ordinal', domain: kinds, range: shapes},
  ];

  const power = "replace(format(datum.value, '.0e'), '+', '')";

  const short = value => {
    const size = Math.abs(value);
    const text = size !== 0 && (size < 1e-2 || size >= 1e4) ? value.toExponential(2) : value.toPrecision(3);
    return text.replace(/(\.\d*?)0+(?=e|$)/, '$1').replace(/\.(?=e|$)/, '').replace('e+', 'e');
  };
  const rankText = rank => rank === null ? 'full' : String(rank);
  const byRank = (a, b) => (a ?? Infinity) - (b ?? Infinity);
  const distinct = values => [...new Set(values)];
  const ascending = values => distinct(values).sort((a, b) => a - b);

  // One line for each kind, with error bars where a value has `low` and `high`.
  function series({values, x, y, description}) {
    const at = {scale: 'x', field: 'x', ...(x.dodge ? {offset: {scale: 'dodge', field: 'kind'}} : {})};
    const marks = [];
    if (y.baseline !== undefined) {
      marks.push({
        name: 'baseline', type: 'rule',
        encode: {update: {
          x: {value: 0}, x2: {signal: 'width'}, y: {scale: 'y', value: y.baseline},
          stroke: {value: 'var(--muted)'}, strokeDash: {value: [3, 3]},
        }},
      });
    }
    if (x.lines !== false) marks.push({
      type: 'group', from: {facet: {name: 'line', data: 'values', groupby: 'kind'}},
      marks: [{
        name: 'lines', type: 'line', from: {data: 'line'},
        encode: {update: {
          x: at, y: {scale: 'y', field: 'y'}, stroke: {scale: 'colour', field: 'kind'}, strokeWidth: {value: 1.75},
        }},
      }],
    });
    if (values.some(value => value.low !== undefined)) {
      marks.push({
        name: 'errors', type: 'rule', from: {data: 'values'},
        encode: {update: {
          x: at, y: {scale: 'y', field: 'low'}, y2: {scale: 'y', field: 'high'},
          stroke: {scale: 'colour', field: 'kind'},
        }},
      });
    }
    marks.push({
      name: 'points', type: 'symbol', from: {data: 'values'},
      encode: {update: {
        x: at, y: {scale: 'y', field: 'y'}, size: {value: x.type === 'point' ? 42 : 14},
        shape: {scale: 'shape', field: 'kind'}, fill: {scale: 'colour', field: 'kind'}, tooltip: {field: 'text'},
      }},
    });
    return {
      description, config, height: 170, autosize: {type: 'fit-x', contains: 'padding'},
      data: [{name: 'values', values}],
      scales: [
        // In pixels, so that no mark hangs over an edge; on a scale of points in steps.
        {name: 'x', type: x.type, domain: x.domain, range: 'width', padding: x.type === 'point' ? 0.5 : 6},
        {name: 'y', type: y.type, domain: y.domain, range: 'height', nice: true, zero: false, padding: 6},
        ...kindScales,
      ],
      axes: [
        {orient: 'bottom', scale: 'x', title: x.title, labelOverlap: true, tickCount: 5,
         ...(x.type === 'point' ? {} : {format: 'd', tickMinStep: 1})},
        {orient: 'left', scale: 'y', title: y.title, grid: true, tickCount: y.type === 'log' ? 4 : 5,
         domain: false, ticks: false, labelPadding: 6, titlePadding: 8, labelOverlap: true,
         ...(y.type === 'log' ? {encode: {labels: {update: {text: {signal: power}}}}} : {format: '.2~f'})},
      ],
      marks,
    };
  }

  // The best metric over lambda against alpha: points as small dots, the profile of each kind as a line.
  function profile({points, curves, description}) {
    const value = point => `${study.choice} ${point.cut ? 'about ' : ''}${point.value.toFixed(4)} on validation` +
      (point.cut ? ' (scored on some of the users: far behind)' : '');
    // A slope of 0 has no logarithm: it is drawn to the left of the others.
    const positive = [...points, ...curves.flatMap(each => each.curve)].map(point => point.alpha).filter(alpha => alpha > 0);
    const nothing = positive.length > 0 ? Math.min(...positive) / 2.5 : 0.1;
    const place = alpha => alpha > 0 ? alpha : nothing;
    const at = point => `λ = ${short(point.lambda)}, α = ${short(point.alpha)}` +
      (point.dropout ? `, dropout ${short(point.dropout)}` : '') +
      (point.exponent ? `, exponent ${short(point.exponent)}` : '') +
      (point.gamma ? `, γ = ${short(point.gamma)}` : '');
    const curve = curves.flatMap(each => each.curve.map(point => ({
      kind: each.kind, x: place(point.alpha), y: point.value,
      ...(point.error === null ? {} : {low: point.value - point.error, high: point.value + point.error}),
      text: `the best of α = ${short(point.alpha)}: ${value(point)} at ${at(point)}` +
            (point.error === null ? '' : `; its difference from no weights is known to ±${point.error.toFixed(4)}`),
    })));
    const lowest = Math.min(...curve.map(point => point.low ?? point.y));
    const highest = Math.max(...curve.map(point => point.high ?? point.y));
    // Points far below the profile are left out.
    const floor = lowest - 0.35 * (highest - lowest || 0.01);
    const tried = points.filter(point => point.value >= floor).map(point => ({
      kind: point.kind, x: place(point.alpha), y: point.value,
      text: `${value(point)} at ${at(point)}`,
    }));
    const chosen = curves.map(each => {
      const point = each.curve.find(one => one.alpha === each.alpha && one.lambda === each.lambda) ??
        each.curve.find(one => one.alpha === each.alpha);
      const state = each.complete ? (each.interior ? 'inside of what was tried' : 'at the end of what was tried')
        : 'of a search that is not complete';
      return point && {kind: each.kind, x: place(each.alpha), y: point.value, text: `the ${each.kind} row: ${at(each)}, ${state}`};
    }).filter(Boolean);
    const alphas = [...curve, ...tried].map(point => point.x);
    const most = Math.max(...alphas);
    // With a 0 the ticks are given: it, and powers of ten.
    const decades = Array.from({length: 16}, (_, k) => 10 ** (k - 6)).filter(value => value > nothing * 1.5 && value <= most);
    const ticks = alphas.includes(nothing) ? {
      values: [nothing, ...decades],
      encode: {labels: {update: {text: {signal: `datum.value === ${nothing} ? '0' : format(datum.value, '~g')`}}}},
    } : {tickCount: 5, format: '~g'};
    const spot = {x: {scale: 'x', field: 'x'}, y: {scale: 'y', field: 'y'}};
    return {
      description, config, height: 190, autosize: {type: 'fit-x', contains: 'padding'},
      data: [{name: 'attempts', values: tried}, {name: 'curve', values: curve}, {name: 'kept', values: chosen},
             {name: 'spread', values: curve.filter(point => point.low !== undefined)}],
      scales: [
        {name: 'x', type: 'log', domain: [Math.min(...alphas) / 1.1, most * 1.1], range: 'width', padding: 8},
        {name: 'y', type: 'linear', domain: [floor, highest], range: 'height', nice: true, zero: false, padding: 6},
        ...kindScales,
      ],
      axes: [
        {orient: 'bottom', scale: 'x', title: 'α', labelOverlap: true, ...ticks},
        {orient: 'left', scale: 'y', title: study.choice, grid: true, tickCount: 5, domain: false, ticks: false, labelPadding: 6,
         titlePadding: 8, labelOverlap: true, format: '.3~f'},
      ],
      marks: [
        {
          name: 'tried', type: 'symbol', from: {data: 'attempts'},
          encode: {update: {...spot, size: {value: 9}, fill: {scale: 'colour', field: 'kind'}, fillOpacity: {value: 0.35},
                            tooltip: {field: 'text'}}},
        },
        {
          type: 'group', from: {facet: {name: 'line', data: 'curve', groupby: 'kind'}},
          marks: [{name: 'lines', type: 'line', from: {data: 'line'},
                   encode: {update: {...spot, stroke: {scale: 'colour', field: 'kind'}, strokeWidth: {value: 1.75}}}}],
        },
        {
          name: 'errors', type: 'rule', from: {data: 'spread'},
          encode: {update: {x: spot.x, y: {scale: 'y', field: 'low'}, y2: {scale: 'y', field: 'high'},
                            stroke: {scale: 'colour', field: 'kind'}}},
        },
        {
          name: 'points', type: 'symbol', from: {data: 'curve'},
          encode: {update: {...spot, size: {value: 30}, shape: {scale: 'shape', field: 'kind'},
                            fill: {scale: 'colour', field: 'kind'}, tooltip: {field: 'text'}}},
        },
        {
          name: 'chosen', type: 'symbol', from: {data: 'kept'},
          encode: {update: {...spot, size: {value: 110}, shape: {scale: 'shape', field: 'kind'},
                            fill: {scale: 'colour', field: 'kind'}, stroke: {value: 'var(--paper)'}, strokeWidth: {value: 2},
                            tooltip: {field: 'text'}}},
        },
      ],
    };
  }

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
})();

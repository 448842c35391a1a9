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
      (point.gamma ? `, γ = ${short(point.gamma)}` : '') +
      (point.alpha_negative !== 1 ? `, α of dislikes ${short(point.alpha_negative)}` : '');
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


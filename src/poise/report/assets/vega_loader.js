// Vega from its modules, which are CommonJS: `module_texts` maps a name to a function of (exports, module, require).
// What geography, forces, trees, clouds and cross filters need is left out.
const vega = (() => {
  const loaded = {};
  const load = name => {
    if (!(name in loaded)) {
      const module = {exports: {}};
      loaded[name] = module.exports;
      module_texts[name](module.exports, module, load);
    }
    return loaded[name];
  };
  Object.assign(load('vega-dataflow').transforms, load('vega-transforms'), load('vega-view-transforms'),
                load('vega-encode'));
  return {
    parse: load('vega-parser').parse,
    View: load('vega-view').View,
    expressionInterpreter: load('vega-interpreter').expressionInterpreter,
  };
})();

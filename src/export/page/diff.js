/*
 * diff - a window of time against a baseline: by shares, since the two may differ in length. What may be chance is grey:
 * a change of less than two standard errors of the numbers of samples.
 */
const DIFF_LIGHT = ['#2166ac', '#4393c3', '#92c5de', '#d1e5f0', '#e4e4e4', '#fddbc7', '#f4a582', '#e08214', '#b35806'];
const DIFF_DARK = ['#2166ac', '#4393c3', '#92c5de', '#d1e5f0', '#3a3a42', '#fddbc7', '#f4a582', '#e08214', '#b35806'];
const DIFF_STEPS = [0.05, 0.25, 0.5, 0.75]; /* of the greater share: from here on one step more */
const DIFF_SAME = 4;
const DIFF_Z = 2;

/* Of a value in the window and one in the baseline: their shares, and whether the difference says something. */
function changeOf(now, before) {
  const { explorer, whole } = app;
  const each = app.baseTotal[0] / Math.max(explorer.samples.samples, 1); /* a sample stands for that much */
  const [all, allBefore] = [whole.total[0], explorer.beforeTotal[0]];
  const share = all > 0 ? now / all : 0;
  const shareBefore = allBefore > 0 ? before / allBefore : 0;
  const joint = (now + before) / Math.max(all + allBefore, 1);
  const error = Math.sqrt(joint * (1 - joint) * (each / Math.max(all, each) + each / Math.max(allBefore, each)));
  const change = share - shareBefore;
  return { share, shareBefore, change, isSure: error > 0 && Math.abs(change) >= DIFF_Z * error, part: change / Math.max(share, shareBefore, 1e-12) };
}

function stepOf(node) {
  const { change, isSure, part } = changeOf(app.tree.total[node], app.explorer.before[node]);
  if (!isSure)
    return DIFF_SAME;
  const steps = DIFF_STEPS.filter(least => Math.abs(part) >= least).length;
  return change > 0 ? DIFF_SAME + steps : DIFF_SAME - steps;
}

const diffPalette = () => app.isDark ? DIFF_DARK : DIFF_LIGHT;

function diffText(step) {
  return step <= 0 || step >= 8 ? '#ffffff' : step === DIFF_SAME ? app.colours.text : '#111111';
}

/* Fills how a frame looks, as lookOf does; the boxes of a picture ask often, so colours are kept. */
const diffColours = { of: null, plain: [], faded: [] };
function lookOfDiff(node, isFaded, into) {
  if (diffColours.of !== app.colours) {
    const page = rgb(app.colours.palette.page);
    diffColours.of = app.colours;
    diffColours.plain = diffPalette().map(hex => pack(rgb(hex)));
    diffColours.faded = diffPalette().map(hex => pack(mix(rgb(hex), page, 0.6)));
  }
  const step = stepOf(node);
  into.colour = (isFaded ? diffColours.faded : diffColours.plain)[step];
  into.text = isFaded ? app.colours.textFaded : diffText(step);
}

/* "12.3 % before, 3.10 points more"; what may be chance says so. */
function changeText(now, before) {
  const { shareBefore, change, isSure } = changeOf(now, before);
  const points = Math.abs(change * 100);
  const size = points < 0.005 ? 'as much' : `${points.toFixed(points < 10 ? 2 : 1)} points ${change > 0 ? 'more' : 'less'}`;
  return `${(shareBefore * 100).toFixed(shareBefore < 0.1 ? 2 : 1)} % in the baseline: ${size}${isSure || points < 0.005 ? '' : ', which may be chance'}`;
}

/* A short form for tables. */
function changeBrief(now, before) {
  const { change, isSure } = changeOf(now, before);
  const points = change * 100;
  return (isSure ? '' : '~') + (points > 0 ? '+' : '') + points.toFixed(Math.abs(points) < 10 ? 2 : 1);
}

/* In the legend: what the colours mean. */
function diffLegend() {
  const item = element('li', 'diff-legend');
  item.append(element('span', '', 'less '));
  for (const hex of diffPalette())
    item.appendChild(element('i')).style.background = hex;
  item.append(element('span', '', ' more than in the baseline'));
  return item;
}

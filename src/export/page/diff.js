/*
 * diff - colours and words for a change: of shares, since the two may differ in length, or of amounts. What may be chance
 * is grey: a change of less than two standard errors of the numbers of samples.
 */
const DIFF_LIGHT = ['#2166ac', '#4393c3', '#92c5de', '#d1e5f0', '#e4e4e4', '#fddbc7', '#f4a582', '#e08214', '#b35806'];
const DIFF_DARK = ['#2166ac', '#4393c3', '#92c5de', '#d1e5f0', '#3a3a42', '#fddbc7', '#f4a582', '#e08214', '#b35806'];
const DIFF_STEPS = [0.05, 0.25, 0.5, 0.75]; /* of the greater share: from here on one step more */
const DIFF_SAME = 4;
const DIFF_Z = 2;

/*
 * Of a value as drawn and one of the other side: the change from the baseline, in shares or in the unit of the profile,
 * and whether it says something.
 */
function changeOf(wide, other) {
  const { whole, state } = app;
  const [now, before] = state.isSwapped ? [other, wide] : [wide, other];
  const sums = [whole.total[0], app.wholeBefore.total[0]];
  const [all, allBefore] = state.isSwapped ? sums.reverse() : sums;
  const each = app.baseTotal[0] / Math.max(app.samples, 1); /* a sample stands for that much */
  const eachBefore = isWithOther() ? app.other.each : each;
  const share = all > 0 ? now / all : 0;
  const shareBefore = allBefore > 0 ? before / allBefore : 0;
  if (state.isAbsolute) {
    const change = now - before;
    const error = Math.sqrt(now * each + before * eachBefore);
    return { before, shareBefore, change, isSure: error > 0 && Math.abs(change) >= DIFF_Z * error, part: change / Math.max(now, before, 1e-12) };
  }
  /* Samples of both sides together: what share of them there is, and how far each side may be from it. */
  const [count, countBefore] = [Math.max(all / each, 1), Math.max(allBefore / eachBefore, 1)];
  const joint = (now / each + before / eachBefore) / (count + countBefore);
  const error = Math.sqrt(joint * (1 - joint) * (1 / count + 1 / countBefore));
  const change = share - shareBefore;
  return { before, shareBefore, change, isSure: error > 0 && Math.abs(change) >= DIFF_Z * error, part: change / Math.max(share, shareBefore, 1e-12) };
}

function stepOf(node) {
  const { change, isSure, part } = changeOf(app.tree.total[node], app.before[node]);
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
function changeText(wide, other) {
  const { before, shareBefore, change, isSure } = changeOf(wide, other);
  const { isAbsolute } = app.state;
  const points = Math.abs(change * 100);
  const isNone = isAbsolute ? change === 0 : points < 0.005;
  const size = isNone ? 'as much' : `${isAbsolute ? amount(Math.abs(change)) : points.toFixed(points < 10 ? 2 : 1) + ' points'} ${change > 0 ? 'more' : 'less'}`;
  const then = isAbsolute ? amount(before) : `${(shareBefore * 100).toFixed(shareBefore < 0.1 ? 2 : 1)} %`;
  return `${then} in the baseline: ${size}${isSure || isNone ? '' : ', which may be chance'}`;
}

/* A short form for tables. */
function changeBrief(wide, other) {
  const { change, isSure } = changeOf(wide, other);
  const points = change * 100;
  const text = app.state.isAbsolute ? (change < 0 ? '-' : '') + amount(Math.abs(change)) : points.toFixed(Math.abs(points) < 10 ? 2 : 1);
  return (isSure ? '' : '~') + (change > 0 ? '+' : '') + text;
}

/* Of the side that is not drawn, what stands in frames that the other has not: it has no width here. */
function sumGone() {
  const { tree, before } = app;
  let sum = 0;
  for (let i = 1; i < tree.count; i++) {
    if (tree.total[i] === 0 && before[i] > 0 && tree.total[tree.parent[i]] > 0)
      sum += before[i];
  }
  return sum;
}

/* In the legend: what the colours mean, and what they cannot show. */
function diffLegend() {
  const item = element('li', 'diff-legend');
  const gone = sumGone();
  item.append(element('span', '', 'less '));
  for (const hex of diffPalette())
    item.appendChild(element('i')).style.background = hex;
  item.append(element('span', '', app.state.isAbsolute ? ' more than in the baseline' : ' more of it than of the baseline'));
  if (gone === 0)
    return [item];
  const note = element('li', 'diff-legend');
  const of = share(gone, app.wholeBefore.total[0]);
  const button = note.appendChild(element('button', '', app.state.isSwapped ? `${of} of this profile is new: draw it` : `${of} of the baseline is gone: draw it`));
  button.type = 'button';
  button.addEventListener('click', () => go({ isSwapped: !app.state.isSwapped }));
  return [item, note];
}

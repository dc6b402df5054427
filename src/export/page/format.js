/* format - numbers for people. A share says 100 % only when it is all, and never 0 when it is not. */
const grouped = value => Math.round(value).toLocaleString('en-US');

function share(part, whole) {
  if (whole <= 0 || part <= 0)
    return '0 %';
  if (part === whole)
    return '100 %';
  const hundredths = Math.round(part * 10000 / whole);
  const tenths = Math.round(part * 1000 / whole);
  if (hundredths === 0)
    return '< 0.01 %';
  return (hundredths < 1000 ? (hundredths / 100).toFixed(2) : ((tenths >= 1000 && part < whole ? 999 : tenths) / 10).toFixed(1)) + ' %';
}

const SCALES = {
  ns: [[1e9, 's'], [1e6, 'ms'], [1e3, '\u00b5s'], [1, 'ns']],
  bytes: [[2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']],
};

function amount(value, of = meta.unit) {
  const scales = SCALES[of];
  if (!scales)
    return grouped(value) + (value === 1 ? ' ' + of.replace(/(ch|ss)es$|s$/, '$1') : ' ' + of);
  /* 999.6 ms would round to 1000 ms: a second. */
  const [divisor, unit] = scales.find(([least], i) => value >= least - (i + 1 < scales.length ? scales[i + 1][0] / 2 : 0)) || scales.at(-1);
  const rounded = digits => Math.round(value * 10 ** digits / divisor);
  const digits = divisor === 1 ? 0 : rounded(2) < 1000 ? 2 : rounded(1) < 1000 ? 1 : 0;
  return (digits === 0 ? grouped(rounded(0)) : (rounded(digits) / 10 ** digits).toFixed(digits)) + ' ' + unit;
}

/* What time is, where it is not that of processors; and what so much of it in a time is a number of. */
const EVENT_TIMES = { wall: ['wall-clock time', 'threads'], lock: ['time of waiting', 'threads'] };
const isOfProcessors = event => !event.includes('.') || /ExecutionSample|CPUTimeSample/.test(event);
const timeWords = about => EVENT_TIMES[about.event] || (isOfProcessors(about.event) ? ['CPU time', 'CPUs'] : ['time in all', 'threads']);

/* An element with text: the only way in which names reach the document. */
function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className)
    made.className = className;
  if (text !== undefined)
    made.textContent = text;
  return made;
}

/* A qualified name with places where a line may break. */
function breakable(text, className) {
  const made = element('span', className);
  for (const part of text.split(/(?<=[.$:+])/))
    made.append(part, element('wbr'));
  return made;
}

const byId = id => document.getElementById(id);

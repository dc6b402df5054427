/* format - numbers for people. A share says 100 % only when it is all, and never 0 when it is not. */
const grouped = value => Math.round(value).toLocaleString('en-US');

function share(part, whole) {
  if (whole <= 0 || part <= 0)
    return '0 %';
  if (part === whole)
    return '100 %';
  const percent = 100 * part / whole;
  if (percent < 0.01)
    return '< 0.01 %';
  return (percent >= 10 ? Math.floor(percent * 10) / 10 : Math.floor(percent * 100) / 100).toFixed(percent >= 10 ? 1 : 2) + ' %';
}

const SCALES = {
  ns: [[1e9, 's'], [1e6, 'ms'], [1e3, '\u00b5s'], [1, 'ns']],
  bytes: [[2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']],
};

function amount(value) {
  const scales = SCALES[meta.unit];
  if (!scales)
    return grouped(value) + (value === 1 ? ' ' + meta.unit.replace(/s$/, '') : ' ' + meta.unit);
  const [divisor, unit] = scales.find(([least]) => value >= least) || scales.at(-1);
  const scaled = value / divisor;
  const digits = scaled >= 100 || divisor === 1 ? 0 : scaled >= 10 ? 1 : 2;
  const cut = Math.floor(scaled * 10 ** digits) / 10 ** digits; /* as the table in plain HTML has it */
  return (digits === 0 ? grouped(cut) : cut.toFixed(digits)) + ' ' + unit;
}

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

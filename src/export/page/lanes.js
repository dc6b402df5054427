/*
 * lanes - rows under the timeline: what happened beside the samples, each kind in a lane of its own. Signals that were lost
 * have the first one; the others come with names and texts from the recording (cli_feed_lanes.c) and are of all events.
 */
const LANE_PX = 8;
const LANE_COLOURS = { light: ['#7b4fc9', '#b5651d', '#14808a', '#a8327a', '#8a6d00'], dark: ['#b692f6', '#e0a15e', '#5cc8d2', '#ee8cc4', '#d9c24a'] };

const laneColour = number => LANE_COLOURS[app.isDark ? 'dark' : 'light'][number % 5];
const lanesPx = () => LANE_PX * ((app.explorer.samples?.gaps.length > 0 ? 1 : 0) + app.explorer.lanes.length);

/* [{name, from, to (ms since the first bin), texts}], of each lane in the order of time. */
async function readLanes(about) {
  const bytes = await readColumn('spans');
  if (bytes === null)
    return [];
  const numbers = numbersOf(bytes, 4 * about.spans, true);
  const lanes = about.lanes.map(name => ({ name, from: [], to: [], texts: [] }));
  for (let i = 0; i < numbers.length; i += 4) {
    const lane = lanes[numbers[i]];
    if (!lane)
      throw new Error('something stands in a lane that is not there');
    const begin = numbers[i + 2] + (lane.at || 0);
    lane.at = begin;
    lane.from.push(begin / 1000);
    lane.to.push((begin + numbers[i + 3]) / 1000);
    lane.texts.push(about.spanTexts[numbers[i + 1]] || '');
  }
  return lanes.filter(lane => lane.from.length > 0);
}

/* Of each column of pixels the share of its time that the lane covers. */
function coverOf(lane, fromMs, toMs, width) {
  const cover = new Float32Array(width);
  const scale = width / (toMs - fromMs);
  for (let i = 0; i < lane.from.length; i++) {
    const x0 = Math.max((lane.from[i] - fromMs) * scale, 0);
    const x1 = Math.min((lane.to[i] - fromMs) * scale, width);
    if (x0 >= width || x1 < 0)
      continue;
    for (let x = Math.floor(x0); x < Math.max(x1, Math.floor(x0) + 1) && x < width; x++)
      cover[x] += Math.max(Math.min(x + 1, x1) - Math.max(x, x0), 0.01);
  }
  return cover;
}

/* The shortest is seen, the longer ones are stronger. Two pixels are the least, so that a finger of light is no speck of dust. */
function paintLanes(context, fromMs, toMs, width, top, ratio) {
  const tall = LANE_PX * ratio;
  app.explorer.lanes.forEach((lane, number) => {
    const cover = coverOf(lane, fromMs, toMs, width);
    const y = Math.round(top + number * tall);
    context.fillStyle = laneColour(number);
    for (let x = 0; x < width; x++) {
      if (cover[x] === 0)
        continue;
      context.globalAlpha = Math.min(0.45 + 0.55 * Math.sqrt(cover[x]), 1);
      context.fillRect(x, y + ratio, Math.max(ratio, 2), tall - 2 * ratio);
    }
    context.globalAlpha = 1;
  });
}

const spanText = (lane, i) => `${lane.texts[i] || lane.name} at ${clockText(lane.from[i])}` + (lane.to[i] > lane.from[i] ? `: ${amount((lane.to[i] - lane.from[i]) * 1e6, 'ns')}` : '');

/* What stands under the pointer in a lane; null: nothing. Of several the longest. */
function spanAt(clientX, clientY) {
  const box = byId('band-canvas').getBoundingClientRect();
  const { samples, lanes } = app.explorer;
  const first = box.bottom - AXIS_PX - LANE_PX * lanes.length;
  const lane = lanes[Math.floor((clientY - first) / LANE_PX)];
  if (app.state.isHeat || !lane || clientY < first)
    return null;
  const msPx = (band.to - band.from) * samples.binMs / box.width;
  const at = band.from * samples.binMs + (clientX - box.left) * msPx;
  let best = -1;
  let count = 0;
  for (let i = 0; i < lane.from.length; i++) {
    if (lane.from[i] > at + 3 * msPx || lane.to[i] < at - 3 * msPx)
      continue;
    count++;
    if (best < 0 || lane.to[i] - lane.from[i] > lane.to[best] - lane.from[best])
      best = i;
  }
  return best < 0 ? null : { title: spanText(lane, best), kind: lane.name + (count > 1 ? `; ${grouped(count - 1)} more just here` : '') };
}

function showSpan(event) {
  const found = band.drag === null ? spanAt(event.clientX, event.clientY) || rowText(event.clientX, event.clientY) : null;
  const tip = byId('tip');
  if (found === null) {
    hideTip();
    return;
  }
  tip.replaceChildren(element('p', 'frame-title', found.title), element('p', 'frame-kind', found.kind));
  tip.hidden = false;
  tip.style.left = Math.max(Math.min(event.clientX + 12, window.innerWidth - tip.offsetWidth - 8), 8) + 'px';
  tip.style.top = event.clientY + 14 + 'px';
}

/* For the legend: how many of a lane begin or are in a window, and what they took. */
function sumLane(lane, fromMs, toMs) {
  let [count, took] = [0, 0];
  for (let i = 0; i < lane.from.length; i++) {
    if (lane.from[i] >= toMs || lane.to[i] < fromMs)
      continue;
    count++;
    took += Math.min(lane.to[i], toMs) - Math.max(lane.from[i], fromMs);
  }
  return { count, took };
}

function laneLegend(legend, fromMs, toMs) {
  app.explorer.lanes.forEach((lane, number) => {
    const { count, took } = sumLane(lane, fromMs, toMs);
    const item = legend.appendChild(element('span'));
    item.appendChild(element('i')).style.background = laneColour(number);
    item.append(`${lane.name}: ${grouped(count)}` + (took > 0 ? `, ${amount(took * 1e6, 'ns')}` : ''));
    item.title = 'In the lane under the timeline' + (meta.explorer.leftOutSpans > 0 ? `; ${grouped(meta.explorer.leftOutSpans)} of all lanes are left out` : '');
  });
}

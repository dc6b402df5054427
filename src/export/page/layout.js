/*
 * layout - which frames are wide enough to be seen between two ends of the tree, level by level.
 *
 * Lazy: what is under 0.75 device pixels is not descended into. Neighbours of that kind become one
 * column of dust at their joint width, so that nothing visible is left out or blended away.
 */
const DUST_PX = 0.75;

/*
 * levels[depth] is a list of boxes from left to right, three numbers each: first pixel, pixel after
 * the last, frame; or -1 - (number of a dust column).
 */
function layOut(tree, from, to, widthPx) {
  const { end, left, total } = tree;
  const scale = widthPx / (to - from);
  const levels = [];
  const dust = [];
  let open = total[0] > 0 ? [0] : [];
  if (open.length > 0)
    levels.push([0, widthPx, 0]);

  while (open.length > 0) {
    const boxes = [];
    const next = [];
    for (const node of open) {
      let run = null;
      for (let child = node + 1; child < end[node]; child = end[child]) {
        const width = total[child];
        if (width === 0 || left[child] + width <= from)
          continue;
        if (left[child] >= to)
          break;
        const x0 = Math.max(Math.round((left[child] - from) * scale), 0);
        const x1 = Math.min(Math.round((left[child] + width - from) * scale), widthPx);
        if (width * scale < DUST_PX || x1 <= x0) { /* neighbours never share a pixel */
          if (run === null)
            run = { from: left[child], to: 0, total: 0, frames: 0, parent: node, level: levels.length };
          run.to = left[child] + width;
          run.total += width;
          run.frames++;
          continue;
        }
        run = endDust(run, from, scale, widthPx, boxes, dust);
        boxes.push(x0, x1, child);
        next.push(child);
      }
      endDust(run, from, scale, widthPx, boxes, dust);
    }
    if (boxes.length > 0)
      levels.push(boxes);
    open = next;
  }
  return { levels, dust, from, to, widthPx };
}

function endDust(run, from, scale, widthPx, boxes, dust) {
  if (run === null)
    return null;
  const x0 = Math.max(Math.round((run.from - from) * scale), 0);
  const x1 = Math.min(Math.round((run.to - from) * scale), widthPx);
  if (x1 > x0) {
    boxes.push(x0, x1, -1 - dust.length);
    dust.push(run);
  }
  return null;
}

/* The box of a level at a pixel: [first pixel, pixel after the last, frame or dust], or null. */
function boxAt(layout, level, x) {
  const boxes = layout.levels[level];
  if (!boxes)
    return null;
  let low = 0;
  let high = boxes.length / 3;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (boxes[3 * middle + 1] <= x)
      low = middle + 1;
    else
      high = middle;
  }
  return 3 * low < boxes.length && boxes[3 * low] <= x ? boxes.slice(3 * low, 3 * low + 3) : null;
}

/* The box of a frame, when it is drawn as one. */
function boxOf(layout, tree, node) {
  const boxes = layout.levels[tree.depth[node]] || [];
  for (let i = 0; i < boxes.length; i += 3) {
    if (boxes[i + 2] === node)
      return boxes.slice(i, i + 3);
  }
  return null;
}

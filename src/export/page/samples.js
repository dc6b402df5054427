/*
 * samples - every sample with its bin of time, its stack and its context, and sums of those that are selected. Of a page that
 * was made to fit, several that are alike are one, with their count.
 *
 * Samples lie in the order of time; those of bin b begin at first[b]. A selection is a range of bins and a mask over
 * contexts; no loop over samples branches.
 */
/* -1 of none. */
function greatest(numbers) {
  let most = -1;
  for (let i = 0; i < numbers.length; i++)
    most = numbers[i] > most ? numbers[i] : most;
  return most;
}

/* Of a tree that has this total; columns begin with `prefix`. */
async function readSamples(about, tree, total, prefix = '') {
  const numbers = (name, ...more) => readNumbers(prefix + name, ...more);
  /* All at once: each of the large ones has a worker. */
  const [bins, stack, context, counts, values, leaf, labels, gapBytes] = await Promise.all([
    numbers('bins', about.bins), numbers('samples', about.samples), numbers('contexts', about.samples, false, about.contexts),
    numbers('counts', about.samples) /* of a page that was made to fit */, numbers('values', about.samples, true), numbers('stacks', about.stacks),
    numbers('labels', about.contexts * about.columns.length), readColumn(prefix + 'gaps')]);
  if ([bins, stack, context, leaf, labels, gapBytes].includes(null))
    throw new Error('a column is missing');
  const first = new Uint32Array(about.bins + 1);
  for (let bin = 0; bin < about.bins; bin++)
    first[bin + 1] = first[bin] + bins[bin];
  if (first[about.bins] !== about.samples)
    throw new Error('samples are missing');
  await breathe();

  let last = 0; /* the greatest: they rise within a bin */
  for (let bin = 0; bin < about.bins; bin++) {
    for (let i = first[bin] + 1; i < first[bin + 1]; i++)
      stack[i] += stack[i - 1];
    if (first[bin] < first[bin + 1])
      last = Math.max(last, stack[first[bin + 1] - 1]);
  }
  await breathe();

  const value = values === null ? counts : values;
  const gaps = numbersOf(gapBytes, gapBytes.reduce((sum, byte) => sum + (byte < 128), 0), true);
  await breathe();
  if (greatest(leaf) >= tree.count || (about.samples > 0 && last >= about.stacks))
    throw new Error('samples have stacks that are not there');
  let sum = value === null ? about.samples : 0;
  for (let i = 0; value !== null && i < about.samples; i++)
    sum += value[i];
  if (Math.abs(sum * about.scale - total) > 1e-9 * total)
    throw new Error('samples and tree do not add up to the same');
  return { ...about, first, stack, context, value, counts, leaf, labels, gaps };
}

/* What each stack has of the bins from..to-1 in contexts where mask is 1, added up in `counts`. */
function countStacks(samples, from, to, mask, counts) {
  const { stack, context, value, first } = samples;
  const end = first[to];
  if (value === null) {
    for (let i = first[from]; i < end; i++)
      counts[stack[i]] += mask[context[i]];
  } else {
    for (let i = first[from]; i < end; i++)
      counts[stack[i]] += mask[context[i]] * value[i];
  }
}

/* Own value of each line of the tree in a selection, and how many samples that is. */
function selfOf(samples, tree, from, to, mask) {
  const counts = new Float64Array(samples.stacks);
  const self = new Float64Array(tree.count);
  countStacks(samples, from, to, mask, counts);
  for (let i = 0; i < samples.stacks; i++)
    self[samples.leaf[i]] += counts[i] * samples.scale;
  return self;
}

/* `kept`, here and below: 1 for the stacks that count at all; null: all do. */
function countSamples(samples, from, to, mask, kept) {
  const { context, stack, first, counts } = samples;
  let count = 0;
  if (counts !== null) {
    for (let i = first[from]; i < first[to]; i++)
      count += mask[context[i]] * counts[i] * (kept === null ? 1 : kept[stack[i]]);
  } else if (kept === null) {
    for (let i = first[from]; i < first[to]; i++)
      count += mask[context[i]];
  } else {
    for (let i = first[from]; i < first[to]; i++)
      count += mask[context[i]] & kept[stack[i]];
  }
  return count;
}

/* What each context has in a range of bins. */
function sumContexts(samples, from, to, kept) {
  const { context, stack, value, first, scale } = samples;
  const sums = new Float64Array(samples.contexts);
  if (value === null && kept === null) {
    for (let i = first[from]; i < first[to]; i++)
      sums[context[i]]++;
  } else {
    for (let i = first[from]; i < first[to]; i++)
      sums[context[i]] += (value === null ? 1 : value[i]) * (kept === null ? 1 : kept[stack[i]]);
  }
  for (let i = 0; i < sums.length; i++)
    sums[i] *= scale;
  return sums;
}

/*
 * The same as sumBins of samples that begin a time that they stand for, as those of the wall clock do: a thread that waited
 * for a second has a second of bins, not a thousand threads in one of them. What lies behind the last bin is not drawn.
 */
function spreadBins(samples, mask, group, groups, kept) {
  const { context, stack, value, first, bins, scale, binMs, counts } = samples;
  const steps = new Float64Array(groups * (bins + 1));
  const sums = new Float64Array(groups * bins);
  const binNs = binMs * 1e6;
  for (let bin = 0; bin < bins; bin++) {
    for (let i = first[bin]; i < first[bin + 1]; i++) {
      const rank = context[i];
      const own = mask[rank] * (value === null ? 1 : value[i]) * scale * (kept === null ? 1 : kept[stack[i]]);
      const length = Math.max(Math.round(own / (counts === null ? 1 : counts[i]) / binNs), 1);
      steps[group[rank] * (bins + 1) + bin] += own / length;
      steps[group[rank] * (bins + 1) + Math.min(bin + length, bins)] -= own / length;
    }
  }
  for (let at = 0; at < groups; at++) {
    let level = 0;
    for (let bin = 0; bin < bins; bin++) {
      level += steps[at * (bins + 1) + bin];
      sums[at * bins + bin] = level < 1 ? 0 : level; /* what rounding left of nothing */
    }
  }
  return sums;
}

/* For each group the value of each bin: sums[group * bins + bin]. */
function sumBins(samples, mask, group, groups, kept) {
  if (meta.event === 'wall' && meta.unit === 'ns')
    return spreadBins(samples, mask, group, groups, kept);
  const { context, stack, value, first, bins, scale } = samples;
  const sums = new Float64Array(groups * bins);
  const isPlain = value === null && kept === null; /* the many samples of CPU time: nothing is asked of each */
  for (let bin = 0; isPlain && bin < bins; bin++) {
    for (let i = first[bin]; i < first[bin + 1]; i++)
      sums[group[context[i]] * bins + bin] += mask[context[i]];
  }
  for (let bin = 0; !isPlain && bin < bins; bin++) {
    for (let i = first[bin]; i < first[bin + 1]; i++) {
      const rank = context[i];
      sums[group[rank] * bins + bin] += mask[rank] * (value === null ? 1 : value[i]) * (kept === null ? 1 : kept[stack[i]]);
    }
  }
  for (let i = 0; i < sums.length; i++)
    sums[i] *= scale;
  return sums;
}

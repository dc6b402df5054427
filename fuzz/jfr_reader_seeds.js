/*
 * jfr_reader_seeds - makes fuzz/corpus/jfr_reader: tiny recordings that reach each part of the reader.
 *     node fuzz/jfr_reader_seeds.js
 */
'use strict';
const fs = require('fs');
const path = require('path');
const { writeRecording } = require('../tests/browser/recording.js');

const seeds = path.join(__dirname, 'corpus', 'jfr_reader');
const stacks = [
  { frames: [['Interpreted', 'a/Main', 'main'], ['JIT compiled', 'a/B', 'run']] },
  { frames: [['C++', 'libc.so.6', 'write'], ['Kernel', 'kernel', 'vfs']], thread: 't2', isTruncated: true },
];
fs.mkdirSync(seeds, { recursive: true });
writeRecording(path.join(seeds, 'small'), { stacks, counters: { signals: 3, samples: 2, lostReentry: 1 } });
writeRecording(path.join(seeds, 'empty'), { stacks: [] });

/* What threads work for: contexts, endpoints and spans, ours and Datadog's. */
const LONG = 10, STRING = 12, TEXT = 30, LABEL = 40, ATTRIBUTE = 41;
const field = (name, type, annotations = []) => ['field', { name, class: String(type), ...(type === TEXT ? { constantPool: 'true' } : {}) }, annotations];
const type = (name, id, fields, more = {}) => ['class', { name, id: String(id), ...more }, fields];
const isEvent = { superType: 'jdk.jfr.Event' };
const attribute = (name, label) => field(name, TEXT, [['annotation', { class: String(LABEL), value: label }, []], ['annotation', { class: String(ATTRIBUTE) }, []]]);
const context = [field('traceId', TEXT), field('spanId', LONG), field('localRootSpanId', LONG), attribute('tenant', 'tenant'), attribute('attribute1', 'http.route')];
writeRecording(path.join(seeds, 'context'), {
  stacks: [],
  extra: {
    types: [
      type('jaywalk.types.Text', TEXT, [field('text', STRING)], { simpleType: 'true' }),
      type('jdk.jfr.Label', LABEL, [field('value', STRING)]),
      type('jaywalk.Attribute', ATTRIBUTE, []),
      type('jaywalk.WallClockSample', 201, [field('startTime', LONG), ...context], isEvent),
      type('jaywalk.Endpoint', 202, [field('startTime', LONG), field('traceId', TEXT), field('localRootSpanId', LONG), field('endpoint', TEXT), field('operation', TEXT)], isEvent),
      type('jaywalk.Span', 203, [field('startTime', LONG), field('duration', LONG), field('name', TEXT), ...context], isEvent),
      type('datadog.MethodSample', 204, [field('startTime', LONG), field('spanId', LONG), field('localRootSpanId', LONG), field('tag', TEXT)], isEvent),
      type('datadog.Endpoint', 205, [field('startTime', LONG), field('endpoint', TEXT), field('localRootSpanId', LONG)], isEvent),
    ],
    pools: [[TEXT, ['0af7651916cd43dd8448eb211c80319c', 'GET /orders', 'acme']]],
    events: [[201, [1, 1, 2, 3, 3, 0]], [202, [2, 1, 3, 2, 0]], [203, [3, 4, 2, 1, 2, 3, 3, 2]], [204, [4, 2, 3, 3]], [205, [5, 2, 3]]],
  },
});

const one = fs.readFileSync(path.join(seeds, 'small'));
fs.writeFileSync(path.join(seeds, 'two-chunks'), Buffer.concat([one, one]));
fs.writeFileSync(path.join(seeds, 'torn-tail'), Buffer.concat([one, one.subarray(0, one.length / 2)]));
const open = Buffer.from(one);
open[64] = 1;
fs.writeFileSync(path.join(seeds, 'not-finished'), open);

/* Chunks of more than 64 stacks each, which know those of the chunk before: the same, and with methods that have changed places. */
const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
const many = (methods) => {
  const frame = (i) => ['Inlined', 'p/C', methods[i]];
  const all = [];
  for (let i = 0; i < names.length; i++) for (let j = 0; j < names.length; j++) if (all.length < 66) all.push({ frames: [frame(i), frame(j)] });
  const file = path.join(seeds, 'many');
  writeRecording(file, { stacks: all });
  const bytes = fs.readFileSync(file);
  fs.unlinkSync(file);
  return bytes;
};
const usual = many(names);
fs.writeFileSync(path.join(seeds, 'stacks-in-common'), Buffer.concat([usual, usual]));
fs.writeFileSync(path.join(seeds, 'stacks-of-others'), Buffer.concat([usual, many([...names].reverse())]));

/* Packed: frames of raw blocks, as zstd would take them. */
const frame = (bytes) => {
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32LE(bytes.length, 5);
  head.writeUIntLE((bytes.length << 3) | 1, 9, 3);
  return Buffer.concat([head, bytes]);
};
const gap = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
const packed = Buffer.concat([frame(one.subarray(0, 68)), frame(one.subarray(68)), gap, frame(one)]);
fs.writeFileSync(path.join(seeds, 'packed'), packed);
fs.writeFileSync(path.join(seeds, 'packed-cut'), packed.subarray(0, packed.length - 40));

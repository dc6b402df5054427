/*
 * recording - small flight recordings, written from stacks: what the tests feed to the command.
 *
 * An independent writer of the format, version 2.1: one chunk, one checkpoint. Types are given as
 * plain tables, so that odd ones can be made.
 */
'use strict';
const fs = require('fs');

class Bytes {
  constructor() {
    this.buffer = Buffer.alloc(1 << 16);
    this.used = 0;
  }
  reserve(count) {
    if (this.used + count > this.buffer.length)
      this.buffer = Buffer.concat([this.buffer, Buffer.alloc(Math.max(this.buffer.length, count))]);
  }
  byte(value) {
    this.reserve(1);
    this.buffer[this.used++] = value;
  }
  varint(value) {
    let rest = BigInt.asUintN(64, BigInt(value));
    for (let i = 0; i < 8 && rest > 0x7fn; i++, rest >>= 7n)
      this.byte(Number(rest & 0x7fn) | 0x80);
    this.byte(Number(rest & 0xffn));
  }
  string(text) {
    if (text === null) {
      this.byte(0);
      return;
    }
    const bytes = Buffer.from(text, 'utf8');
    this.byte(3);
    this.varint(bytes.length);
    this.raw(bytes);
  }
  raw(bytes) {
    this.reserve(bytes.length);
    bytes.copy(this.buffer, this.used);
    this.used += bytes.length;
  }
  done() {
    return this.buffer.subarray(0, this.used);
  }
}

/* An event: its size, which counts itself, in four padded bytes. */
function event(out, type, fill) {
  const body = new Bytes();
  body.varint(type);
  fill(body);
  const size = body.used + 4;
  for (let i = 0; i < 3; i++)
    out.byte(size >> (7 * i) & 0x7f | 0x80);
  out.byte(size >> 21);
  out.raw(body.done());
}

const LONG = 10, INT = 11, STRING = 12, BOOLEAN = 13, THREAD = 20, TRACE = 21, FRAME = 22, FRAME_TYPE = 23, METHOD = 24, CLASS = 25, SYMBOL = 26, STATE = 27, ATTRIBUTE = 28;
const SAMPLE = 101, DIAGNOSTICS = 102, ENDPOINT = 103, WALL = 104, PAUSE = 105, TIMESPAN = 29;

const field = (name, type, more = {}) => ['field', { name, class: String(type), ...more }, []];
const pooled = { constantPool: 'true' };
const attribute = name => ['field', { name, class: String(STRING), ...pooled }, [['annotation', { class: String(ATTRIBUTE) }, []]]];
const type = (name, id, fields = [], more = {}) => ['class', { name, id: String(id), ...more }, fields];

function metadataTree(counters, extra) {
  const start = field('startTime', LONG);
  const isEvent = { superType: 'jdk.jfr.Event' };
  return ['root', {}, [
    ['metadata', {}, [
      type('long', LONG), type('int', INT), type('java.lang.String', STRING), type('boolean', BOOLEAN),
      type('java.lang.Thread', THREAD, [field('osName', STRING), field('osThreadId', LONG), field('javaName', STRING), field('javaThreadId', LONG)]),
      type('jdk.types.StackTrace', TRACE, [field('truncated', BOOLEAN), field('frames', FRAME, { dimension: '1' })]),
      type('jdk.types.StackFrame', FRAME, [field('method', METHOD, pooled), field('lineNumber', INT), field('bytecodeIndex', INT), field('type', FRAME_TYPE, pooled)]),
      type('jdk.types.FrameType', FRAME_TYPE, [field('description', STRING)], { simpleType: 'true' }),
      type('jdk.types.Method', METHOD, [field('type', CLASS, pooled), field('name', SYMBOL, pooled), field('descriptor', SYMBOL, pooled)]),
      type('java.lang.Class', CLASS, [field('name', SYMBOL, pooled)]),
      type('jdk.types.Symbol', SYMBOL, [field('string', STRING)], { simpleType: 'true' }),
      type('jdk.types.ThreadState', STATE, [field('name', STRING)], { simpleType: 'true' }),
      type('jdk.ExecutionSample', SAMPLE, [start, field('sampledThread', THREAD, pooled), field('stackTrace', TRACE, pooled), field('state', STATE, pooled), field('weight', LONG),
        field('spanId', LONG), field('localRootSpanId', LONG), attribute('tenant')], isEvent),
      type('jaywalk.WallClockSample', WALL, [start, field('sampledThread', THREAD, pooled), field('stackTrace', TRACE, pooled), field('state', STATE, pooled), field('samples', LONG), field('timeSpan', LONG)], isEvent),
      type('jdk.GCPhasePause', PAUSE, [start, ['field', { name: 'duration', class: String(LONG) }, [['annotation', { class: String(TIMESPAN), value: 'TICKS' }, []]]], field('name', STRING)], isEvent),
      type('jdk.jfr.Timespan', TIMESPAN, [field('value', STRING)], { superType: 'java.lang.annotation.Annotation' }),
      type('jaywalk.Attribute', ATTRIBUTE, [], { superType: 'java.lang.annotation.Annotation' }),
      type('jaywalk.Endpoint', ENDPOINT, [start, field('localRootSpanId', LONG), field('endpoint', STRING, pooled), field('operation', STRING, pooled)], isEvent),
      type('jaywalk.Diagnostics', DIAGNOSTICS, [start, ...Object.keys(counters).map(name => field(name, LONG))], isEvent),
      ...extra.types,
    ]],
    ['region', { locale: 'en_US', gmtOffset: '0' }, []],
  ]];
}

function putMetadata(out, counters, extra) {
  const texts = new Map();
  const indexOf = text => texts.get(text) ?? texts.set(text, texts.size).get(text);
  const tree = new Bytes();
  const put = ([name, attributes, children]) => {
    tree.varint(indexOf(name));
    tree.varint(Object.keys(attributes).length);
    for (const [key, value] of Object.entries(attributes)) {
      tree.varint(indexOf(key));
      tree.varint(indexOf(value));
    }
    tree.varint(children.length);
    children.forEach(put);
  };
  put(metadataTree(counters, extra));
  event(out, 0, body => {
    body.varint(1);
    body.varint(0);
    body.varint(1);
    body.varint(texts.size);
    for (const text of texts.keys())
      body.string(text);
    body.raw(tree.done());
  });
}

/* A pool: equal entries get one key, from 1 on. */
function makePool() {
  const keys = new Map();
  const entries = [];
  return {
    entries,
    key(identity, entry) {
      if (!keys.has(identity)) {
        keys.set(identity, entries.length + 1);
        entries.push(entry);
      }
      return keys.get(identity);
    },
  };
}

function putPools(out, pools) {
  event(out, 1, body => {
    for (const value of [1, 0, 0])
      body.varint(value);
    body.byte(1);
    const filled = pools.filter(([, pool]) => pool.entries.length > 0);
    body.varint(filled.length);
    for (const [id, pool, put] of filled) {
      body.varint(id);
      body.varint(pool.entries.length);
      pool.entries.forEach((entry, i) => {
        body.varint(i + 1);
        put(body, entry);
      });
    }
  });
}

/*
 * stacks: [{frames: [[type, class, method], ...] root first, weight, thread, isTruncated, endpoint, tenant, at (ns from
 * the chunk's start), state, isWall (a sample of the wall clock)}]; counters may be a list of [at, fields], in the order of time
 * pauses: [[at, length, name], ...] of the collector, in ns
 * counters: fields of jaywalk.Diagnostics, or {}.
 * extra: further types as elements of the metadata, pools of texts [id, [text, ...]] with keys from 1 on, and
 * events [id, [number or text, ...]].
 */
function writeRecording(path, { stacks, counters = {}, pauses = [], extra = { types: [], pools: [], events: [] } }) {
  const symbols = makePool(), classes = makePool(), methods = makePool(), types = makePool(), traces = makePool(), threads = makePool(), states = makePool(), texts = makePool();
  const out = new Bytes();
  const textKey = text => text === undefined ? 0 : texts.key(text, text);
  const roots = new Map(); /* one root span for each endpoint */

  const told = Array.isArray(counters) ? counters : [[1, counters]];

  out.raw(Buffer.alloc(68));
  for (const { frames, weight = 10000000, thread = 'main', isTruncated = false, endpoint, tenant, at = 1, state = 'STATE_RUNNABLE', isWall = false } of stacks) {
    const resolved = [...frames].reverse().map(([kind, className, method]) => {
      const classKey = classes.key(className, symbols.key(className, className));
      return [methods.key(className + '\n' + method, [classKey, symbols.key(method, method), symbols.key('()V', '()V')]), types.key(kind, kind)];
    });
    const trace = frames.length === 0 ? 0 : traces.key(JSON.stringify([isTruncated, resolved]), { isTruncated, resolved });
    const threadKey = threads.key(thread, { thread, id: 100 + threads.entries.length });
    if (endpoint !== undefined && !roots.has(endpoint))
      roots.set(endpoint, 1000 + roots.size);
    const root = roots.get(endpoint) || 0;
    if (isWall) {
      event(out, WALL, body => [at, threadKey, trace, states.key(state, state), 1, weight].forEach(value => body.varint(value)));
      continue;
    }
    event(out, SAMPLE, body => {
      for (const value of [at, threadKey, trace, states.key(state, state), weight, root, root, textKey(tenant)])
        body.varint(value);
    });
  }
  for (const [endpoint, root] of roots)
    event(out, ENDPOINT, body => [1, root, textKey(endpoint), 0].forEach(value => body.varint(value)));
  for (const [at, fields] of told) {
    if (Object.keys(fields).length > 0)
      event(out, DIAGNOSTICS, body => [at, ...Object.values(fields)].forEach(value => body.varint(value)));
  }

  for (const [at, length, name] of pauses)
    event(out, PAUSE, body => { body.varint(at); body.varint(length); body.string(name); });
  for (const [id, values] of extra.events)
    event(out, id, body => values.forEach(value => typeof value === 'string' ? body.string(value) : body.varint(value)));

  const checkpointAt = out.used;
  const key = (body, value) => body.varint(value);
  putPools(out, [
    ...extra.pools.map(([id, entries]) => [id, { entries }, (body, text) => body.string(text)]),
    [STRING, texts, (body, text) => body.string(text)],
    [SYMBOL, symbols, (body, text) => body.string(text)],
    [CLASS, classes, key],
    [METHOD, methods, (body, parts) => parts.forEach(part => body.varint(part))],
    [FRAME_TYPE, types, (body, text) => body.string(text)],
    [STATE, states, (body, text) => body.string(text)],
    [THREAD, threads, (body, { thread, id }) => { body.string(thread); body.varint(id); body.string(thread); body.varint(id); }],
    [TRACE, traces, (body, { isTruncated, resolved }) => {
      body.byte(isTruncated ? 1 : 0);
      body.varint(resolved.length);
      for (const [method, kind] of resolved)
        [method, 12, 0, kind].forEach(value => body.varint(value));
    }],
  ]);
  const metadataAt = out.used;
  putMetadata(out, told.length > 0 ? told[0][1] : {}, extra);

  const bytes = out.done();
  bytes.write('FLR\0', 0, 'latin1');
  bytes.writeUInt16BE(2, 4);
  bytes.writeUInt16BE(1, 6);
  [bytes.length, checkpointAt, metadataAt, 1700000000000000000n, 5000000000n, 0, 1000000000].forEach((value, i) => bytes.writeBigUInt64BE(BigInt(value), 8 + 8 * i));
  bytes[67] = 1;
  fs.writeFileSync(path, bytes);
}

module.exports = { writeRecording };

/* profiles - what the pages under test show: small known ones, hostile ones, big ones; all seeded. */
'use strict';

const java = (className, method, tier = 'JIT compiled') => [tier, className, method];
const native = (library, symbol) => ['C++', library, symbol];
const mark = text => ['Unknown', 'jaywalk', text];

const MS10 = 10000000;
const counters = { signals: 105, samples: 100, lostNoThread: 3, lostReentry: 2, inFlight: 0 };

/* 100 samples of 10 ms; the shares stand in the tests. */
const known = {
  stacks: [
    { frames: [java('com/acme/Main', 'main', 'Interpreted'), java('com/acme/Work', 'run'), java('java/util/HashMap', 'get', 'Inlined')], weight: 30 * MS10 },
    { frames: [java('com/acme/Main', 'main', 'Interpreted'), java('com/acme/Work', 'run')], weight: 20 * MS10 },
    { frames: [java('com/acme/Main', 'main', 'Interpreted'), java('com/acme/Work', 'run'), java('com/acme/Work', 'run'), java('java/util/HashMap', 'get')], weight: 10 * MS10 },
    { frames: [java('com/acme/Main', 'main', 'Interpreted'), java('com/acme/Io', 'write'), java('java/io/FileOutputStream', 'writeBytes', 'Native'), native('libc.so.6', 'write'), ['Kernel', '[kernel]', 'vfs_write']], weight: 15 * MS10 },
    { frames: [native('libc.so.6', 'start_thread'), native('libjvm.so', 'GCTaskThread::run()')], weight: 15 * MS10, thread: 'GC Thread#0' },
    { frames: [mark('[unknown_Java]')], weight: 9 * MS10 },
    { frames: [java('com/acme/Main', 'main', 'Interpreted'), java('com/acme/Deep', 'cut')], weight: 1 * MS10, isTruncated: true },
  ],
  counters,
};

const hostileNames = [
  '</script><img src=x onerror=alert(1)>', '<!--<script>', '<script>alert(2)</script>', "quote's \"both\" \\ back\\\\", 'line\u2028sep\u2029para',
  '{{program}}', ']];\nconst cpool = [', '\u202eright to left', 'emoji \u{1f525} \u{1f1e8}\u{1f1ed}', 'tab\tand\u0001control', 'std::map<std::string, int>::operator[](char const&)',
  'semi;colon 12', '&lt;b&gt;', ' leading and trailing ', "',\n'", 'f(8,1,0,5)',
];
const hostile = {
  stacks: hostileNames.map((name, i) => ({ frames: [java('a/B', 'root'), native('lib' + name.slice(0, 9) + '.so', name)], weight: (i + 1) * MS10, thread: name })),
  counters: { signals: 16, samples: 16 },
};

/* The same as requests, each to an endpoint, or to none. */
const requests = {
  stacks: known.stacks.map((stack, i) => ({ ...stack, endpoint: ['GET /orders', 'GET /orders', 'POST /orders'][i], tenant: i % 2 ? 'acme' : undefined })),
  counters,
};

/* Endpoints and attributes as somebody might send them who knows what becomes of them. */
const hostileRequests = {
  stacks: hostileNames.map((name, i) => ({ frames: [java('a/B', 'root')], weight: (i + 1) * MS10, endpoint: name, tenant: name })),
  counters: { signals: 16, samples: 16 },
};

/* A generator of pseudo-random numbers (xorshift), so that all runs see one profile. */
function random(seed) {
  let state = seed;
  return limit => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
}

/* Many stacks that share their beginnings, as real ones do. */
function many(count, methods, depth, seed = 1) {
  const next = random(seed);
  const tiers = ['Interpreted', 'JIT compiled', 'Inlined', 'C1 compiled'];
  const name = i => java(`org/package${i % 37}/Class${i % 211}`, 'method' + i, tiers[i % 4]);
  const stacks = [];
  let path = [];
  for (let i = 0; i < count; i++) {
    path = path.slice(0, 1 + next(Math.max(path.length, 1)));
    const length = 2 + next(depth);
    while (path.length < length)
      path.push(name(next(methods)));
    stacks.push({ frames: [...path], weight: (1 + next(9)) * MS10, thread: 'worker-' + next(20) });
  }
  return { stacks, counters: { signals: count, samples: count } };
}

const deep = depth => ({ stacks: [{ frames: Array.from({ length: depth }, (_, i) => java('a/Recursion', i % 2 ? 'odd' : 'even')) }] });

const wide = count => ({ stacks: Array.from({ length: count }, (_, i) => ({ frames: [java('a/Dispatch', 'call'), java('a/Handler' + i, 'handle')] })) });

/*
 * Ten seconds of three threads: half a second each, in turns, but "late" works in the last two alone. Signals are lost
 * in the fourth second. All is known from the number of the sample.
 */
function timed(count = 2000, seed = 3) {
  const next = random(seed);
  const stacks = [];
  for (let i = 0; i < count; i++) {
    const at = Math.floor(i / count * 5e9);
    const turn = Math.floor(at / 250e6) % 2;
    const isLate = at >= 4e9;
    const thread = isLate ? 'late' : 'worker-' + turn;
    stacks.push({
      frames: [java('com/acme/Main', 'main'), java('com/acme/Work', isLate ? 'flush' : turn ? 'parse' : 'compute'), java('com/acme/Leaf', 'm' + next(20))],
      at, thread, weight: MS10, state: next(4) === 0 ? 'STATE_SLEEPING' : 'STATE_RUNNABLE', tenant: ['acme', 'initech', undefined][next(3)],
      endpoint: ['GET /a', 'GET /b'][next(2)],
    });
  }
  return { stacks, counters: [[1500000000, { signals: 600, samples: 600, lostNoThread: 0 }], [2000000000, { signals: 900, samples: 800, lostNoThread: 100 }],
    [4900000000, { signals: count + 100, samples: count, lostNoThread: 100 }]] };
}

/* Siblings that read the same, a class that differs in case alone, and a name with what stands between terms of a search. */
const twins = {
  stacks: [
    { frames: [java('a/Main', 'main'), native('libone.so', 'read')], weight: 10 * MS10 },
    { frames: [java('a/Main', 'main'), native('libtwo.so', 'read')], weight: 20 * MS10 },
    { frames: [java('a/Main', 'main'), java('a/b', 'c')], weight: 5 * MS10 },
    { frames: [java('a/Main', 'main'), java('a/B', 'c')], weight: 6 * MS10 },
    { frames: [java('a/Main', 'main'), native('libone.so', 'operator | (x)')], weight: 7 * MS10 },
  ],
  counters: { signals: 5, samples: 5 },
};

module.exports = { timed, twins, java, native, known, requests, hostile, hostileRequests, hostileNames, many, deep, wide, MS10 };

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

const one = fs.readFileSync(path.join(seeds, 'small'));
fs.writeFileSync(path.join(seeds, 'two-chunks'), Buffer.concat([one, one]));
fs.writeFileSync(path.join(seeds, 'torn-tail'), Buffer.concat([one, one.subarray(0, one.length / 2)]));
const open = Buffer.from(one);
open[64] = 1;
fs.writeFileSync(path.join(seeds, 'not-finished'), open);

/*
 * unpack - large columns become numbers in workers, each in one of its own, beside the thread that draws. Where the browser, or who
 * shows the page, refuses workers, that thread does it itself.
 */
const WORKER_SINCE = 1 << 17; /* bytes of a column: fewer are done before a worker has begun */
const unpacked = { inWorkers: 0, here: 0 }; /* columns, for those who ask */

/* A column as numbers: what a worker does with a message. */
async function numbersOfColumn({ column, count, isWide, limit }) {
  return numbersOf(await unpackColumn(column), count, isWide, limit);
}

async function answerColumn(event) {
  try {
    const numbers = await numbersOfColumn(event.data);
    self.postMessage({ numbers }, [numbers.buffer]);
  } catch (wrong) {
    self.postMessage({ wrong: wrong.message });
  }
}

/* The numbers; null: there is no worker to be had. */
function inWorker(task) {
  const text = [bytesOf64, checkOf, unpackColumn, numbersOf, numbersOfColumn, answerColumn].join('\n') + '\nself.onmessage = answerColumn;\n';
  const address = URL.createObjectURL(new Blob(["'use strict';\n", text], { type: 'text/javascript' }));
  return new Promise((resolve, reject) => {
    const worker = new Worker(address);
    worker.onerror = () => resolve([worker, null]);
    worker.onmessage = ({ data }) => data.wrong === undefined ? resolve([worker, data.numbers]) : reject(new Error(data.wrong));
    worker.postMessage(task);
  }).then(([worker, numbers]) => {
    worker.terminate();
    return numbers;
  }).finally(() => URL.revokeObjectURL(address));
}

/* So many numbers, as numbersOf has them, or null where the page has no such column. */
async function readNumbers(name, count, isWide = false, limit = Infinity) {
  const column = takeColumn(name, byId);
  if (column === null)
    return null;
  const task = { column, count, isWide, limit };
  let numbers = null;
  if (column.length >= WORKER_SINCE && typeof Worker === 'function') {
    numbers = await inWorker(task).catch(wrong => {
      if (wrong instanceof DOMException) /* of the constructor: refused */
        return null;
      throw wrong;
    });
  }
  unpacked[numbers === null ? 'here' : 'inWorkers']++;
  return numbers || numbersOfColumn(task);
}

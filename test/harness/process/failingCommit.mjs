// Preloaded into a node (`node --import`): once the file FAIL_ARMED exists, the thread that commits fails as FAIL_AT says:
//   transaction  its heap is exhausted while it writes rows inside a transaction of lmdb
//   rows         its heap is exhausted while it computes the rows of a commit
//   hang         it sleeps inside a transaction of lmdb, and never wakes
//   slow         it computes for eight seconds inside a transaction of lmdb
import { EventEmitter } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { isMainThread } from 'node:worker_threads'

const { FAIL_ARMED: armed = '', FAIL_AT: at } = process.env
const slowMs = 8_000

function exhaust() {
  const held = []
  for (;;) held.push(Array.from({ length: 1_000 }, Math.random))
}

function idle() {
  const endMs = performance.now() + slowMs
  while (performance.now() < endMs);
}

function fail() {
  if (!existsSync(armed)) return
  rmSync(armed)
  if (at === 'slow') idle()
  else if (at === 'hang') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  else exhaust()
}

/** Fails at the second row that is written. */
function failAtPut(store) {
  const { putSync } = store
  let rows = 0
  store.putSync = function (...row) {
    if (++rows === 2) fail()
    return putSync.apply(this, row)
  }
}

if (!isMainThread && (at === 'transaction' || at === 'hang' || at === 'slow')) {
  const { emit } = EventEmitter.prototype
  const failing = new Set()
  EventEmitter.prototype.emit = function (name, ...rest) {
    if (name === 'begin-transaction' && existsSync(armed)) {
      const store = Object.getPrototypeOf(this)
      if (!failing.has(store)) failAtPut(store)
      failing.add(store)
    }
    return emit.call(this, name, ...rest)
  }
}

if (!isMainThread && at === 'rows') {
  globalThis.fail = fail
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      if (!url.endsWith('/commit/commit.ts')) return loaded
      const source = String(loaded.source)
      const marked = source.replace(/(export function commitBranch\([^{]*\{)/, '$1 globalThis.fail();')
      if (marked === source) throw new Error('commitBranch is not where it was')
      return { ...loaded, source: marked }
    },
  })
}

// Preloaded into the process that is killed (`node --import`). Reports on pipe 3 `begin` and `end` of each transaction of the proofs' tables, whose
// directory ends with `/proofs`. KILL_AT=T,R: the process kills itself (SIGKILL) in transaction T, counted from 0, before it writes or deletes row R of it;
// when the transaction has fewer rows, in the next one that has as many.
import { EventEmitter } from 'node:events'
import { writeSync } from 'node:fs'

type Store = {
  readonly path?: string
  transactionSync(run: () => unknown, flags?: number): unknown
  putSync(...row: readonly unknown[]): unknown
  removeSync(...row: readonly unknown[]): unknown
}

const [atTransaction = Number.POSITIVE_INFINITY, atRow = 0] = (process.env['KILL_AT'] ?? '').split(',').filter(Boolean).map(Number)
let [transactions, rows, isInside] = [0, 0, false]
const tell = (message: string): number => writeSync(3, `${message}\n`)

function countRow(): void {
  if (isInside && transactions > atTransaction && rows++ === atRow) process.kill(process.pid, 'SIGKILL')
}

function begin(): void {
  isInside = true
  transactions++
  rows = 0
  tell('begin')
}

/** Watches the stores of an environment. The proofs have at most one open transaction in a process. */
function watch(store: Store): void {
  const { transactionSync, putSync, removeSync } = store
  store.putSync = function (...row): unknown {
    countRow()
    return putSync.apply(this, [...row])
  }
  store.removeSync = function (...row): unknown {
    countRow()
    return removeSync.apply(this, [...row])
  }
  store.transactionSync = function (run, flags): unknown {
    begin()
    try {
      return transactionSync.call(this, run, flags)
    } finally {
      isInside = false
      tell('end')
    }
  }
}

const watched = new Set<Store>()
const { emit } = EventEmitter.prototype
// lmdb emits it for reads too, so each environment is seen before its first transaction
EventEmitter.prototype.emit = function (name, ...rest): boolean {
  const store = this as unknown as Store
  if (name === 'begin-transaction' && store.path?.endsWith('/proofs')) {
    const prototype = Object.getPrototypeOf(store) as Store
    if (!watched.has(prototype)) watch(prototype)
    watched.add(prototype)
  }
  return emit.call(this, name, ...rest)
}

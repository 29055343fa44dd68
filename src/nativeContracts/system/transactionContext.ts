import type { NativeHost } from '../host.ts'
import { FunctionTable, nativeFunction } from '../kit/functions.ts'
import { asWord } from '../kit/results.ts'
import type { NativeRules } from '../rules.ts'

const gasOutputWord = 3

function origin(host: NativeHost): Uint8Array {
  host.charge(gasOutputWord)
  return asWord(host.origin)
}

/**
 * Returns the actor of the transaction: the sender's address as bytes32, in the low bytes. Sources differ: files of base/base up to August 2026 put it
 * into the high bytes, the newest one read (commit 0050129b) into the low bytes. No recorded call on a public chain decides. The newest is chosen.
 */
function actorId(host: NativeHost): Uint8Array {
  return origin(host)
}

/** Sender and payer of the transaction. Outside account-abstraction transactions, which no chain has, both are its origin. */
const functions = [
  nativeFunction('getTransactionSender()', origin),
  nativeFunction('getTransactionPayer()', origin),
  nativeFunction('getTransactionSenderActorId()', actorId),
]

const tables = new WeakMap<NativeRules, FunctionTable<NativeHost>>()

export function runTransactionContext(host: NativeHost, rules: NativeRules): Uint8Array {
  let table = tables.get(rules)
  if (!table) {
    table = new FunctionTable(rules, 'ITransactionContextCalls', 0, functions)
    tables.set(rules, table)
  }
  return table.call(host, host)
}

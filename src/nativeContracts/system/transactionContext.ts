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
 * Returns the actor of the transaction: the sender's address as bytes32, in the high or the low bytes. Sources differ: files up to August 2026
 * align it left, a later one right; no call on a public chain is recorded. The latest evidence is chosen.
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

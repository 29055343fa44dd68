import type { NativeHost } from '../host.ts'
import type { Args } from '../kit/args.ts'
import { contractError } from '../kit/ends.ts'
import { FunctionTable, nativeFunction } from '../kit/functions.ts'
import { asNumber } from '../kit/results.ts'
import { fieldsOf } from '../kit/slots.ts'
import { Storage } from '../kit/storage.ts'
import { isZero, newWord } from '../kit/word.ts'
import type { NativeRules } from '../rules.ts'

/** account → key → nonce. */
const nonces = fieldsOf('base.nonce_manager').nested(0)
const protocolNonceNotSupported = contractError('ProtocolNonceNotSupported()')

type Frame = { readonly host: NativeHost; readonly storage: Storage }

const slot = newWord()

/** Returns the nonce of an account under a key other than the transaction nonce's, which is 0. */
function getNonce({ storage }: Frame, args: Args): Uint8Array {
  const key = args.word(1)
  if (isZero(key)) throw protocolNonceNotSupported()
  return asNumber(storage.readU64(nonces.slot(slot, args.word(0), key), 0))
}

const functions = [nativeFunction('getNonce(address,uint256)', getNonce)]
const tables = new WeakMap<NativeRules, FunctionTable<Frame>>()

export function runNonceManager(host: NativeHost, rules: NativeRules): Uint8Array {
  let table = tables.get(rules)
  if (!table) {
    table = new FunctionTable(rules, 'INonceManagerCalls', 0, functions)
    tables.set(rules, table)
  }
  return table.call({ host, storage: new Storage(host, host.self, rules.clearsStaleText) }, host)
}

import { bytesFromBigint, emptyBytes, equalBytes } from '#lib/bytes'
import { toHex, toQuantity } from '#lib/hex'
import { type Address, emptyCodeHash, type Hash } from '#types/ids'
import type { StateReader, TraceJson } from '../traceEvents.ts'
import type { Touched } from './touched.ts'

const word = (value: bigint): string => toHex(bytesFromBigint(value, 32))

type Account = { readonly exists: boolean; readonly balance: string; readonly nonce: string; readonly code: Uint8Array }

function accountIn(reader: StateReader, address: Address): Account {
  const found = reader.account(address)
  const hasCode = found !== undefined && found.codeHash !== emptyCodeHash
  return {
    exists: found !== undefined,
    balance: toQuantity(found?.balance ?? 0n),
    nonce: toQuantity(found?.nonce ?? 0n),
    code: hasCode ? reader.code(address) : emptyBytes,
  }
}

const changed = (from: string, to: string): TraceJson => (from === to ? '=' : { '*': { from, to } })

function accountDiff(before: Account, after: Account, isNew: boolean, storage: TraceJson): TraceJson {
  const code = toHex(after.code)
  if (isNew) return { balance: { '+': after.balance }, code: { '+': code }, nonce: { '+': after.nonce }, storage }
  if (!after.exists) return { balance: { '-': before.balance }, code: { '-': toHex(before.code) }, nonce: { '-': before.nonce }, storage }
  return {
    balance: changed(before.balance, after.balance),
    code: equalBytes(before.code, after.code) ? '=' : changed(toHex(before.code), code),
    nonce: changed(before.nonce, after.nonce),
    storage,
  }
}

/** Returns the change of each slot; unchanged slots are omitted. */
function storageDiff(
  before: StateReader,
  after: StateReader,
  address: Address,
  slots: readonly Hash[],
  isNew: boolean,
): [Hash, TraceJson][] {
  return slots.flatMap((slot): [Hash, TraceJson][] => {
    const [from, to] = [before.slot(address, slot), after.slot(address, slot)]
    if (from === to) return []
    return [[slot, isNew ? { '+': word(to) } : changed(word(from), word(to))]]
  })
}

const isSame = (a: Account, b: Account): boolean =>
  a.exists === b.exists && a.balance === b.balance && a.nonce === b.nonce && equalBytes(a.code, b.code)

/**
 * Returns the state changes of a transaction in OpenEthereum's form: `=` unchanged, `*` from and to, `+` new, `-` removed. As in Base's client, a
 * created contract is new, but an account that received its first wei is changed.
 * @see OpenEthereum documentation, "trace module", stateDiff
 */
export function stateDiffOf(touched: Touched, before: StateReader, after: StateReader): TraceJson {
  const entries = touched.list([before, after]).flatMap(({ address, slots }): [Address, TraceJson][] => {
    const [was, is] = [accountIn(before, address), accountIn(after, address)]
    const isNew = !was.exists && touched.isCreated(address)
    const storage = is.exists ? storageDiff(before, after, address, slots, isNew) : []
    if (isSame(was, is) && storage.length === 0) return []
    return [[address, accountDiff(was, is, isNew, Object.fromEntries(storage))]]
  })
  return Object.fromEntries(entries)
}

import { keccak256 } from '#lib/keccak'
import { linesOf } from '#test/harness/evm/case'
import { type Address, emptyCodeHash, hashFromBytes } from '#types/ids'
import { differenceOfStates } from '../fuzz/evm/compare.ts'
import { caseAccounts, type OurAnswer } from './ours.ts'
import type { WireAnswer, WireCallEnd, WireTransactionEnd } from './wire.ts'

/** `kind` is mostly the same for differences with one cause; `text` is for a reader. */
export type BlockDifference = { readonly kind: string; readonly text: string }

type Fields = Readonly<Record<string, string>>

function fieldsOf(end: WireTransactionEnd | WireCallEnd): Fields {
  if ('refused' in end) return { outcome: 'refused' }
  const outcome = 'kind' in end ? end.kind : end.succeeded ? 'success' : 'failure'
  const output = 'kind' in end ? (end.kind === 'halt' ? '' : end.output) : end.receipt
  return { outcome, gasUsed: BigInt(end.gasUsed).toString(), [`${'kind' in end ? 'output' : 'receipt'}`]: output }
}

const shown = (end: WireTransactionEnd | WireCallEnd | undefined): string => JSON.stringify(end).slice(0, 400)

/** Returns the first result that differs. */
export function differenceOfEnds(
  what: string,
  ours: readonly (WireTransactionEnd | WireCallEnd)[],
  theirs: readonly (WireTransactionEnd | WireCallEnd)[],
): BlockDifference | undefined {
  for (const [index, end] of theirs.entries()) {
    const own = ours[index]
    const [one, other]: [Fields, Fields] = [own ? fieldsOf(own) : {}, fieldsOf(end)]
    const field = Object.keys(other).find((name) => one[name] !== other[name])
    if (!field) continue
    const kind = `${what} ${field}${field === 'outcome' ? `: ${one[field]} and ${other[field]}` : ''}`
    return { kind, text: `${what} ${index}: ${field}\n  basalt ${shown(own)}\n  oracle ${shown(end)}` }
  }
  return undefined
}

function statesOf(answer: WireAnswer): ReturnType<typeof linesOf> {
  const accounts = [...caseAccounts(answer.accounts)].map(([address, { nonce, balance, code }]) => {
    const codeHash = code.length === 0 ? emptyCodeHash : hashFromBytes(keccak256(code))
    return [address, { nonce, balance, codeHash }] as const
  })
  const slots = Object.entries(answer.accounts).flatMap(([address, { storage }]) =>
    Object.entries(storage).map(([slot, value]) => [address as Address, BigInt(slot), BigInt(value)] as const),
  )
  return linesOf(accounts, slots)
}

/** Compares a result with the oracle's; undefined for equal ones. The reason why a transaction was rejected may differ. */
export function differenceOfAnswers(ours: OurAnswer, oracle: WireAnswer): BlockDifference | undefined {
  const ends =
    differenceOfEnds('call', ours.calls ?? [], oracle.calls ?? []) ??
    differenceOfEnds('transaction', ours.transactions, oracle.transactions)
  if (ends) return ends
  for (const field of ['gasUsed', 'blobGasUsed', 'logsBloom'] as const) {
    const [own, other] = [ours.block[field], oracle.block[field]]
    if (BigInt(own) === BigInt(other)) continue
    return { kind: `block ${field}`, text: `block: ${field} ${own.slice(0, 100)} and ${other.slice(0, 100)}` }
  }
  const state = differenceOfStates(ours.state, statesOf(oracle))
  return state === undefined ? undefined : { kind: 'state', text: state }
}

import { emptyBytes } from '#lib/bytes'
import type { CaseAccount, CaseMessage, EvmCase } from '#test/harness/evm/case'
import type { Address } from '#types/ids'

/** Returns true when a case still shows its difference. */
export type StillShows = (given: EvmCase) => Promise<boolean>

const withAccount = (given: EvmCase, address: Address, account: CaseAccount | undefined): EvmCase => {
  const accounts = new Map(given.accounts)
  if (account) accounts.set(address, account)
  else accounts.delete(address)
  return { ...given, accounts }
}

const withMessage = (given: EvmCase, at: number, change: Partial<CaseMessage> | undefined): EvmCase => ({
  ...given,
  messages: given.messages.flatMap((message, i) => (i !== at ? [message] : change ? [{ ...message, ...change }] : [])),
})

/** Smaller variants of a case that might show the same difference, larger steps first. */
function* smallerCases(given: EvmCase): Iterable<EvmCase> {
  yield* withFewerParts(given)
  for (const [address, account] of given.accounts) {
    for (const smaller of smallerAccounts(account)) yield withAccount(given, address, smaller)
  }
}

function* withFewerParts(given: EvmCase): Iterable<EvmCase> {
  for (const at of given.messages.keys()) if (given.messages.length > 1) yield withMessage(given, at, undefined)
  for (const address of given.accounts.keys()) yield withAccount(given, address, undefined)
  for (const [at, { setCode, ...message }] of given.messages.entries()) {
    if (setCode) yield { ...given, messages: given.messages.with(at, message) }
    if (message.value > 0n) yield withMessage(given, at, { value: 0n })
    for (const data of smallerBytes(message.data, 'cut')) yield withMessage(given, at, { data })
  }
}

/** Variants of an account without a part of its storage or code. */
export function* smallerAccounts(account: CaseAccount): Iterable<CaseAccount> {
  if (account.storage.size > 0) yield { ...account, storage: new Map() }
  if (account.code.length > 0) yield { ...account, code: emptyBytes }
  for (const slot of account.storage.keys()) {
    const storage = new Map(account.storage)
    storage.delete(slot)
    yield { ...account, storage }
  }
  for (const code of smallerBytes(account.code, 'cut')) yield { ...account, code }
  for (const code of smallerBytes(account.code, 'blank')) yield { ...account, code }
}

const jumpdest = 0x5b

/** Variants without a piece, or with a piece replaced by no-ops: halves, quarters, down to a byte. */
export function* smallerBytes(bytes: Uint8Array, how: 'cut' | 'blank'): Iterable<Uint8Array> {
  for (let size = bytes.length; size > 0; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < bytes.length; at += size) {
      const piece = bytes.subarray(at, at + size)
      if (how === 'cut') yield Uint8Array.of(...bytes.subarray(0, at), ...bytes.subarray(at + size))
      else if (piece.some((byte) => byte !== jumpdest)) yield Uint8Array.from(bytes).fill(jumpdest, at, at + size)
    }
  }
}

/** Tries smaller cases until none shows the difference, or the time is over. */
export function minimised(given: EvmCase, stillShows: StillShows, forMs: number): Promise<EvmCase> {
  return smallest(given, smallerCases, stillShows, forMs)
}

/** Minimises any kind of case. @param smaller returns smaller variants of a case */
export async function smallest<T>(
  given: T,
  smaller: (given: T) => Iterable<T>,
  stillShows: (given: T) => Promise<boolean>,
  forMs: number,
): Promise<T> {
  const endMs = performance.now() + forMs
  let best = given
  let isSmaller = true
  while (isSmaller) {
    isSmaller = false
    for (const candidate of smaller(best)) {
      if (performance.now() > endMs) return best
      if (!(await stillShows(candidate))) continue
      best = candidate
      isSmaller = true
      break
    }
  }
  return best
}

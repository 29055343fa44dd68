import { payloadOfBlock } from '#block/execution/payloadBlock'
import { isFault } from '#lib/fault'
import { toHex } from '#lib/hex'
import type { ChainView } from '#types/chainView'
import { type Address, emptyRoot, type Hash } from '#types/ids'
import { LogMatcher, type WantedLogs } from '#types/logMatcher'
import type { AccountProof } from '#types/worldReads'
import type { ModelBlock, ModelHeads } from './chainModel.ts'
import { codeHashOf, wordOf } from './programs.ts'
import { storageTrie, trieKey } from './referenceTrie.ts'
import { holds, Mismatch, same } from './same.ts'
import { firstWideSlot, knownAddresses, type Roll } from './transactions.ts'
import { type ModelAccount, stateTrie, storageRootOf, type World } from './world.ts'

const idOf = ({ ref }: ModelBlock) => ({ number: ref.number, hash: ref.hash })
const pick = <T>(roll: Roll, values: readonly T[]): T => {
  const value = values[roll(values.length)]
  if (value === undefined) throw new RangeError('nothing to pick from')
  return value
}

/** The chain that a view must show. */
export type ExpectedChain = {
  readonly heads: ModelHeads
  readonly canonical: readonly ModelBlock[]
  readonly placeOf: (hash: Hash) => { readonly block: ModelBlock; readonly index: number } | undefined
}

/** Compares labels, the newest hashes, and the end of the chain. */
export function checkHeads(view: ChainView, { heads, canonical }: ExpectedChain): void {
  const { unsafe, safe, finalized } = heads
  same('heads', view.heads, { latest: idOf(unsafe), safe: idOf(safe), finalized: idOf(finalized) })
  for (const { ref } of canonical.slice(-4)) same(`canonical hash ${ref.number}`, view.canonicalHash(ref.number), ref.hash)
  same('hash above the head', view.canonicalHash(canonical.length), undefined)
}

/** Compares a block whose rows may be removed: it keeps its header. */
function checkRemoved(view: ChainView, { ref: { number, hash }, payload }: ModelBlock): void {
  same(`header of the removed block ${number}`, view.header(hash)?.stateRoot, payload.stateRoot)
  const found = view.block(hash)
  if (found) same(`removed block ${number}`, payloadOfBlock(found.block, hash), payload)
}

/** Compares a block, its receipts, its transactions and their places. @param isCanonical whether transactions must be found */
export function checkBlock(view: ChainView, block: ModelBlock, chain: ExpectedChain): void {
  const { number, hash } = block.ref
  if (number < view.oldestBlock) {
    checkRemoved(view, block)
    return
  }
  const found = view.block(hash)
  holds(`block ${number} ${hash} is unknown`, found !== undefined)
  same(`block ${number}`, payloadOfBlock(found.block, hash), block.payload)
  same(
    `senders of ${number}`,
    found.senders,
    block.actions.map(({ sender }) => sender),
  )
  same(`header of ${number}`, view.header(hash)?.stateRoot, block.payload.stateRoot)
  let [cumulativeGasUsed, firstLogIndex] = [0n, 0]
  const receipts = view.receipts(hash)
  same(`receipts of ${number}`, receipts?.length, number === 0 ? 0 : block.results.length)
  for (const [index, { succeeded, gasUsed, logs }] of block.results.entries()) {
    cumulativeGasUsed += gasUsed
    const at = receipts?.[index]
    const { receipt } = at ?? {}
    same(
      `receipt ${index} of ${number}`,
      {
        ...{ succeeded: receipt?.succeeded, cumulativeGasUsed: receipt?.cumulativeGasUsed, logs: receipt?.logs },
        gasUsed: at?.gasUsed,
        first: at?.firstLogIndex,
      },
      { succeeded, cumulativeGasUsed, logs, gasUsed, first: firstLogIndex },
    )
    firstLogIndex += logs.length
  }
  for (const action of block.actions) {
    const place = chain.placeOf(action.hash)
    same(`place of ${action.hash}`, view.transaction(action.hash), place && { block: idOf(place.block), index: place.index })
  }
}

const expectedAccount = (account: ModelAccount | undefined) =>
  account && {
    nonce: account.nonce,
    balance: account.balance,
    codeHash: codeHashOf(account.code),
    storageRoot: storageRootOf(account),
  }

const slotNumbers: readonly Hash[] = [...Array(14).keys(), firstWideSlot, firstWideSlot + 200, firstWideSlot + 359].map(wordOf)

function addressesFor(roll: Roll, world: World, isWhole: boolean): readonly Address[] {
  const all = [...new Set([...world.keys(), ...knownAddresses])]
  return isWhole ? all : Array.from({ length: 6 }, () => pick(roll, all))
}

/** Reads a proof, which must fail below the oldest block with proofs. @returns undefined there */
function proofOf(view: ChainView, number: number, prove: () => AccountProof): AccountProof | undefined {
  if (number >= view.oldestProof) return prove()
  try {
    prove()
  } catch (error) {
    if (isFault(error, 'HISTORY_PRUNED')) return undefined
    throw error
  }
  throw new Mismatch(`a proof at block ${number} below the oldest one, ${view.oldestProof}`)
}

/** Compares accounts, codes, slots and proofs after a block; below the oldest state there must be none. @param isWhole all accounts and slots; otherwise a few */
export function checkState(roll: Roll, view: ChainView, block: ModelBlock, isWhole = roll(12) === 0): void {
  const { number } = block.ref
  const state = view.state(idOf(block))
  if (number < view.oldestState) {
    same(`state of the pruned block ${number}`, state, undefined)
    return
  }
  holds(`state of ${number} is not available`, state !== undefined)
  const { world } = block
  const addresses = addressesFor(roll, world, isWhole)
  for (const address of addresses) {
    const known = world.get(address)
    same(`account ${address} after ${number}`, state.account(address), expectedAccount(known))
    same(`code of ${address} after ${number}`, state.code(address), known?.code ?? new Uint8Array(0))
    const slots = isWhole ? slotNumbers : Array.from({ length: 3 }, () => pick(roll, slotNumbers))
    for (const slot of slots)
      same(`slot ${Number(slot)} of ${address} after ${number}`, state.slot(address, slot), known?.slots.get(slot) ?? 0n)
  }
  if (roll(4) > 0) return
  const trie = stateTrie(world)
  same(`state root of ${number}`, view.header(block.ref.hash)?.stateRoot, trie.root)
  for (const address of addresses.slice(0, 12)) {
    const known = world.get(address)
    const slots = Array.from({ length: 2 }, () => pick(roll, slotNumbers))
    const storage = storageTrie(known?.slots ?? new Map())
    const expected = {
      account: expectedAccount(known),
      proof: trie.proof(trieKey(address)),
      slots: slots.map((slot) => ({
        value: known?.slots.get(slot) ?? 0n,
        proof: storage.root === emptyRoot ? [] : storage.proof(trieKey(slot)),
      })),
    }
    const proof = proofOf(view, number, () => state.prove(address, slots))
    if (proof) same(`proof of ${address} after ${number}`, proof, expected)
  }
}

function randomFilter(roll: Roll, canonical: readonly ModelBlock[]): WantedLogs {
  const { logs } = pick(roll, [...canonical.slice(-40).flatMap(({ results }) => results), { logs: [] }])
  const example = logs.length > 0 ? pick(roll, logs) : undefined
  const other = roll(3) === 0 ? [pick(roll, knownAddresses)] : []
  const addresses = roll(3) > 0 || !example?.topics.length ? [...(example ? [example.address] : []), ...other] : []
  const topics = (example?.topics ?? [])
    .slice(0, 1 + roll(4))
    .map((topic) => (roll(3) === 0 ? [topic, wordOf(roll(6))] : roll(3) === 0 ? [] : [topic]))
  return addresses.length + topics.flat().length > 0 ? { addresses, topics } : { addresses: [pick(roll, knownAddresses)], topics: [] }
}

function scannedLogs({ addresses, topics }: WantedLogs, blocks: readonly ModelBlock[]): string[] {
  return blocks.flatMap(({ ref, actions, results }) => {
    let logIndex = 0
    return results.flatMap(({ logs }, index) =>
      logs.flatMap((log) => {
        const at = logIndex++
        const isWanted =
          (addresses.length === 0 || addresses.includes(log.address)) &&
          topics.every((values, i) => values.length === 0 || values.includes(log.topics[i] as Hash))
        return isWanted
          ? [[ref.hash, ref.number, actions[index]?.hash, index, at, log.address, log.topics.join(), toHex(log.data)].join(' ')]
          : []
      }),
    )
  })
}

function foundLogs(view: ChainView, wanted: WantedLogs, from: number, to: number): string[] {
  const matcher = new LogMatcher(wanted)
  const found: string[] = []
  const read = (number: number, indexes?: readonly number[]): void => {
    const hash = view.canonicalHash(number)
    const all = hash ? [...(view.receipts(hash) ?? []).keys()] : []
    for (const { log, block, transactionHash, transactionIndex, logIndex } of view.logsAt(number, indexes ?? all, matcher) ?? []) {
      found.push(
        [block.hash, block.number, transactionHash, transactionIndex, logIndex, log.address, log.topics.join(), toHex(log.data)].join(' '),
      )
    }
  }
  for (let number = from; number <= to; ) {
    const search = view.findLogs(wanted, number, to)
    holds(`a log search at ${number} ends at ${search.next}`, search.next > number)
    if (search.kind === 'found') for (const place of search.places) read(place.number, place.transactions)
    else for (let each = number; each < search.next && each <= to; each++) read(each)
    number = search.next
  }
  return found
}

/** Compares the logs of random filters in random ranges with a scan of the model. */
export function checkLogs(roll: Roll, view: ChainView, { canonical }: ExpectedChain): void {
  for (let i = 0; i < 3; i++) {
    const wanted = randomFilter(roll, canonical)
    const span = roll(8) === 0 ? canonical.length : 1 + roll(60)
    const oldest = Math.max(view.oldestBlock, view.oldestLogs)
    const from = Math.max(oldest, roll(2) === 0 ? canonical.length - span : roll(canonical.length))
    const to = Math.min(canonical.length - 1, from + span - 1)
    same(
      `logs in ${from} to ${to} of ${JSON.stringify(wanted)}`,
      foundLogs(view, wanted, from, to),
      scannedLogs(wanted, canonical.slice(from, to + 1)),
    )
  }
}

/** Compares a view with the chain: heads, random canonical blocks of any age with their states, and logs. */
export function checkView(roll: Roll, view: ChainView, chain: ExpectedChain): void {
  checkHeads(view, chain)
  const { canonical } = chain
  const recent = canonical.slice(-24)
  for (const block of [pick(roll, recent), pick(roll, canonical), pick(roll, canonical.slice(view.oldestState))]) {
    checkBlock(view, block, chain)
    checkState(roll, view, block)
  }
  checkLogs(roll, view, chain)
  const unknown = wordOf(1 + roll(1_000))
  same(
    'unknown block',
    [view.block(unknown), view.header(unknown), view.receipts(unknown), view.transaction(unknown)],
    Array(4).fill(undefined),
  )
  same('state of an unknown block', view.state({ number: 1, hash: unknown }), undefined)
}

/** Storage root of an account as the Engine port returns it. */
export const expectedStorageRoot = (world: World, address: Address): Hash => {
  const account = world.get(address)
  return account ? storageRootOf(account) : emptyRoot
}

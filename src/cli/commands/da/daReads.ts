import {
  addressField,
  bigintField,
  bytesField,
  has,
  hashField,
  type Json,
  listOf,
  numberField,
  objectOf,
  ShapeError,
} from '#types/jsonShape'
import { cliFault } from '../../faults.ts'
import type { NodeClient, RpcCall } from '../../localNode/nodeClient.ts'
import { timeMsOf } from '../lookup/chainRead.ts'

/** A transaction to the inbox, and what it cost. Wei. */
export type InboxTransaction = {
  readonly hash: string
  readonly from: string
  readonly l1Block: number
  readonly l1TimeSec: number
  readonly input: Uint8Array
  /** versioned hashes of its blobs */
  readonly blobHashes: readonly string[]
  readonly succeeded: boolean
  readonly executionFee: bigint
  readonly blobFee: bigint
}

export type L1Window = {
  readonly from: number
  readonly to: number
  readonly sec: number
  readonly transactions: readonly InboxTransaction[]
}

/** L2 blocks that became safe with an L1 block, and the times of that block, of the oldest and of the newest of them. */
export type SafeStep = {
  readonly l1TimeSec: number
  readonly oldestMs: number
  readonly newestMs: number
}
export type L2Window = {
  readonly from: number
  readonly to: number
  /** of the measured blocks */
  readonly bytes: number
  readonly measured: number
  readonly steps: readonly SafeStep[]
}

/** Calls in one batch: blocks of L1 have up to 2 MB as JSON. */
const l1BlocksAtOnce = 10
const callsAtOnce = 100
/** Most L2 blocks whose size is read; of more blocks an even sample is. */
const maxMeasured = 400

const quantity = (value: number): string => `0x${value.toString(16)}`

function chunked<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_none, at) => items.slice(at * size, (at + 1) * size))
}

const unreadable = (client: NodeClient, what: string, reason: string): Error =>
  cliFault('DA_UNREADABLE', { name: client.name, what, reason })

/** Sends calls in batches, and reads each result; undefined: an error. @throws Fault DA_UNREADABLE (fatal) without an answer, or with a malformed one */
async function readAll<T>(
  client: NodeClient,
  what: string,
  { calls, atOnce }: { readonly calls: readonly RpcCall[]; readonly atOnce: number },
  read: (result: Json) => T,
): Promise<readonly (T | undefined)[]> {
  const results: (T | undefined)[] = []
  for (const some of chunked(calls, atOnce)) {
    const reached = await client.batch(some)
    if (reached.kind === 'silent') throw unreadable(client, what, reached.reason)
    try {
      for (const answer of reached.value)
        results.push(answer.kind === 'result' && answer.result !== null ? read(objectOf(answer.result, what)) : undefined)
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error
      throw unreadable(client, what, error.message)
    }
  }
  return results
}

/** Reads one object. @throws Fault DA_UNREADABLE (fatal) */
export async function readOne<T>(client: NodeClient, what: string, call: RpcCall, read: (result: Json) => T): Promise<T> {
  const [result] = await readAll(client, what, { calls: [call], atOnce: 1 }, read)
  if (result === undefined) throw unreadable(client, what, 'it has none')
  return result
}

type Found = Omit<InboxTransaction, 'succeeded' | 'executionFee' | 'blobFee'>

/** Returns the transactions of an L1 block to the inbox. */
function foundIn(block: Json, inbox: string): { readonly timeSec: number; readonly found: readonly Found[] } {
  const timeSec = numberField(block, 'timestamp')
  const found = listOf(block['transactions'], 'transactions')
    .map((one) => objectOf(one, 'a transaction'))
    .filter((one) => has(one, 'to') && addressField(one, 'to') === inbox)
    .map((one) => ({
      hash: hashField(one, 'hash'),
      from: addressField(one, 'from'),
      l1Block: numberField(block, 'number'),
      l1TimeSec: timeSec,
      input: bytesField(one, 'input'),
      blobHashes: has(one, 'blobVersionedHashes') ? listOf(one['blobVersionedHashes'], 'blobVersionedHashes').map(String) : [],
    }))
  return { timeSec, found }
}

type Cost = Pick<InboxTransaction, 'succeeded' | 'executionFee' | 'blobFee'>

const costOf = (receipt: Json): Cost => ({
  succeeded: receipt['status'] === '0x1',
  executionFee: bigintField(receipt, 'gasUsed') * bigintField(receipt, 'effectiveGasPrice'),
  blobFee:
    has(receipt, 'blobGasUsed') && has(receipt, 'blobGasPrice')
      ? bigintField(receipt, 'blobGasUsed') * bigintField(receipt, 'blobGasPrice')
      : 0n,
})

/** Reads the newest L1 blocks, and the transactions in them to the inbox. @throws Fault DA_UNREADABLE (fatal) */
export async function readL1Window(l1: NodeClient, inbox: string, blocks: number): Promise<L1Window> {
  const to = await readOne(l1, 'the newest L1 block', { method: 'eth_getBlockByNumber', params: ['latest', false] }, (block) =>
    numberField(block, 'number'),
  )
  const from = Math.max(0, to - blocks + 1)
  const numbers = Array.from({ length: to - from + 1 }, (_none, at) => from + at)
  const calls = numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [quantity(number), true] }))
  const read = (await readAll(l1, 'L1 blocks', { calls, atOnce: l1BlocksAtOnce }, (block) => foundIn(block, inbox))).filter(
    (one) => one !== undefined,
  )
  const found = read.flatMap((one) => one.found)
  const receipts = found.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
  const costs = await readAll(l1, 'L1 receipts', { calls: receipts, atOnce: callsAtOnce }, costOf)
  return {
    ...{ from, to, sec: (read.at(-1)?.timeSec ?? 0) - (read[0]?.timeSec ?? 0) },
    transactions: found.flatMap((one, at) => (costs[at] === undefined ? [] : [{ ...one, ...costs[at] }])),
  }
}

/** Returns at most `most` numbers of a range, evenly spread. */
function spread(from: number, to: number, most: number): readonly number[] {
  const length = to - from + 1
  const taken = Math.min(length, most)
  return Array.from({ length: taken }, (_none, at) => from + Math.floor((at * length) / taken))
}

type Step = { readonly l1TimeSec: number; readonly oldest: number; readonly newest: number }

/** Returns for each L1 block with batches the L2 blocks that became safe with it. */
async function stepsOf(rollup: NodeClient, { from, transactions }: L1Window): Promise<readonly Step[]> {
  const times = new Map(transactions.map(({ l1Block, l1TimeSec }) => [l1Block, l1TimeSec]))
  const numbers = [...new Set([from, ...[...times.keys()].flatMap((number) => [number - 1, number])])].filter((number) => number >= 0)
  const calls = numbers.map((number) => ({ method: 'optimism_safeHeadAtL1Block', params: [quantity(number)] }))
  const safe = await readAll(rollup, 'safe heads of L1 blocks', { calls, atOnce: callsAtOnce }, ({ safeHead }) => {
    const { number } = objectOf(safeHead, 'safeHead')
    if (typeof number !== 'number') throw new ShapeError('safeHead has no number')
    return number
  })
  const safeAt = new Map(numbers.map((number, at) => [number, safe[at]]))
  return [...times].flatMap(([number, l1TimeSec]) => {
    const [before, after] = [safeAt.get(number - 1), safeAt.get(number)]
    return before === undefined || after === undefined || after <= before ? [] : [{ l1TimeSec, oldest: before + 1, newest: after }]
  })
}

/** Reads the L2 blocks that the batches of a window made safe; undefined: none. @throws Fault DA_UNREADABLE (fatal) */
export async function readL2Window(node: NodeClient, rollup: NodeClient, window: L1Window): Promise<L2Window | undefined> {
  const steps = await stepsOf(rollup, window)
  const [first, last] = [steps[0], steps.at(-1)]
  if (first === undefined || last === undefined) return undefined
  const sampled = new Set(spread(first.oldest, last.newest, maxMeasured))
  const numbers = [...new Set([...sampled, ...steps.flatMap(({ oldest, newest }) => [oldest, newest])])]
  const calls = numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [quantity(number), false] }))
  const blocks = await readAll(node, 'L2 blocks', { calls, atOnce: callsAtOnce }, (block) => ({
    timeMs: timeMsOf(block),
    bytes: numberField(block, 'size'),
  }))
  const blockAt = new Map(numbers.map((number, at) => [number, blocks[at]]))
  const measured = [...sampled].flatMap((number) => blockAt.get(number) ?? [])
  return {
    ...{ from: first.oldest, to: last.newest, measured: measured.length },
    bytes: measured.reduce((sum, { bytes }) => sum + bytes, 0),
    steps: steps.flatMap(({ l1TimeSec, oldest, newest }) => {
      const [oldestMs, newestMs] = [blockAt.get(oldest)?.timeMs, blockAt.get(newest)?.timeMs]
      return oldestMs === undefined || newestMs === undefined ? [] : [{ l1TimeSec, oldestMs, newestMs }]
    }),
  }
}

// RPC of a node over the recorded stream of flashblocks and the blocks that were sealed from it.

import { payloadOfBlock } from '#block/execution/payloadBlock'
import { createExecution } from '#blockchain/execution'
import { l1FeeVault } from '#chainspec/addresses'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import { agreeWithGenesis } from '#chainspec/genesis'
import { l2RefOf } from '#chainspec/l2Ref'
import { parseRollupConfig } from '#chainspec/rollupConfig'
import { createWasmEvm } from '#evm/wasmEvm'
import { decodeMessage } from '#flashblocks/decode'
import { isExecutable, placeFlashblock } from '#flashblocks/placeFlashblock'
import { fromHex, type Hex, toHex, toQuantity } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { silentLog } from '#lib/log'
import { createEthContext } from '#node/serving/ethContext'
import { createPendingFeed } from '#node/serving/pendingFeed'
import type { Subscription } from '#rpc/context'
import { ethRegistry, socketRegistry } from '#rpc/methods'
import { createManualClock } from '#test/harness/clock'
import { takeNext } from '#test/harness/flashblocks/takeNext'
import { scriptedFeed } from '#test/harness/rpc/headFeed'
import { readResult } from '#test/harness/rpc/result'
import { readShared, readSharedJson } from '#test/harness/sharedData'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { decodeBlock } from '#types/block'
import type { Flashblock } from '#types/flashblock'
import type { Payload } from '#types/payload'
import { decodeReceipt } from '#types/receipt'
import type { SealedChain } from './causes.ts'

type Told = {
  readonly id?: number
  readonly result?: string
  readonly params?: { readonly subscription: string; readonly result: unknown }
}

/** Recorded notification of a subscription, with its time. `kind`: 1 newHeads, 2 newFlashblocks, 3 pendingLogs, 4 and 5 transactions. */
export type RecordedTold = { readonly t: number; readonly kind: number; readonly result: unknown }
export type RecordedAnswer = { readonly m: string; readonly p: readonly unknown[]; readonly r?: unknown; readonly e?: unknown }
export type RecordedPoll = { readonly t: number; readonly end: number; readonly a: readonly RecordedAnswer[] }

type Recorded = { readonly blocks: readonly { readonly hash: string; readonly raw: Hex; readonly rawReceipts: readonly Hex[] }[] }
const readChain = (): Recorded => readSharedJson('flashblocks/l2.json.zst')

const linesOf = <T>(path: string): readonly T[] =>
  readShared(path)
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T)

/** Decodes a publisher's message. @throws Error when it has no flashblock with a block number */
export function flashblockOf(text: string): Flashblock {
  const decoded = decodeMessage(Buffer.from(text))
  if (decoded.kind === 'bad' || decoded.flashblock.blockNumber === undefined) throw new Error('no flashblock')
  return { ...decoded.flashblock, blockNumber: decoded.flashblock.blockNumber }
}

export const readFlashblocks = (): readonly { readonly t: number; readonly flashblock: Flashblock }[] =>
  linesOf<{ t: number; text: string }>('flashblocks/frames.jsonl.zst').map(({ t, text }) => ({ t, flashblock: flashblockOf(text) }))

export const readPolls = (): readonly RecordedPoll[] => linesOf('flashblocks/pending.jsonl.zst')

export function readTold(): readonly RecordedTold[] {
  const kinds = new Map<string, number>()
  return linesOf<{ t: number; msg: Told }>('flashblocks/subscriptions.jsonl.zst').flatMap(({ t, msg }) => {
    if (msg.id !== undefined) kinds.set(msg.result ?? '', msg.id)
    return msg.params ? [{ t, kind: kinds.get(msg.params.subscription) ?? 0, result: msg.params.result }] : []
  })
}

/** Recorded event of the node's input. */
export type Happening = { readonly t: number } & (
  | { readonly kind: 'flashblock'; readonly flashblock: Flashblock }
  | { readonly kind: 'head'; readonly number: number }
)

/** Node in this thread that replays recorded events. */
export type Replay = {
  /** Advances time to the event and applies it. */
  happen(of: Happening): Promise<void>
  passMs(ms: number): void
  /** Drops the pending blocks. */
  drop(): Promise<void>
  /** Calls a method and returns the result as a client reads it. */
  ask(method: string, params: readonly unknown[]): Promise<unknown>
  /** @returns the notifications of a subscription; the list grows */
  subscribe(...params: readonly unknown[]): Promise<readonly unknown[]>
}

/** @param freshMs time after which a flashblock is no longer shown, in ms */
export function createReplay(freshMs = Number.MAX_SAFE_INTEGER / 2): Replay {
  const recorded = readChain()
  const { genesis } = parseBaseGenesisNote(recorded)
  const config = agreeWithGenesis(parseRollupConfig(readSharedJson('flashblocks/rollup.json')), genesis)
  const payloads = recorded.blocks.map(({ raw }): Payload => payloadOfBlock(decodeBlock(fromHex(raw))))
  const clock = createManualClock()
  const evm = createWasmEvm()
  const preconfirmed = createPendingFeed(config)
  const execution = createExecution({
    ...{ kv: createMemoryKv(), evm, config, genesis: () => genesis, clock, log: silentLog },
    onPublish: (record) => preconfirmed.publish(record),
  })
  const eth = createEthContext({
    ...{ execution, config, clock, heads: scriptedFeed(), preconfirmed, version: '0.0.0', sync: () => undefined },
  })
  let held: readonly Flashblock[] = []
  let lastMs = 0

  async function take(flashblock: Flashblock): Promise<boolean> {
    const { heads, pending } = execution.published
    const executed = pending?.blocks.at(-1)
    const tip = executed && { ...executed, isTorn: false }
    if (!isExecutable(placeFlashblock({ head: heads.unsafe, tip }, flashblock))) return false
    const outcome = await takeNext(execution, flashblock, clock.nowMs() + freshMs)
    if (outcome.kind === 'refused' && outcome.reason !== 'parent') throw new Error(outcome.text)
    return outcome.kind === 'taken'
  }

  return {
    passMs: (ms) => clock.jumpMs(ms),
    drop: () => execution.pending.drop('a test'),
    async happen(of: Happening): Promise<void> {
      clock.jumpMs(of.t - lastMs)
      lastMs = of.t
      if (of.kind === 'flashblock') {
        if (!(await take(of.flashblock))) held = [...held, of.flashblock]
        return
      }
      const payload = payloads[of.number]
      if (payload === undefined) throw new Error(`block ${of.number} not found`)
      const inserted = await execution.insert(payload)
      if (inserted.kind !== 'valid') throw new Error(`block ${of.number}: ${inserted.kind}`)
      await execution.setHeads({ ...(await execution.heads()), unsafe: l2RefOf(config, payload) })
      const again = held
      held = []
      for (const flashblock of again) if (flashblock.blockNumber > of.number && !(await take(flashblock))) held = [...held, flashblock]
    },
    async ask(method: string, params: readonly unknown[]): Promise<unknown> {
      return readResult(await ethRegistry.get(method)?.call({ ...eth, cancellation: { isCancelled: false } }, params))
    },
    async subscribe(...params): Promise<readonly unknown[]> {
      const results: unknown[] = []
      const open = (subscription: Subscription): string => {
        if (subscription.kind !== 'feed') throw new Error(`${subscription.kind} is no subscription of a feed`)
        subscription.open((notification) =>
          results.push((JSON.parse(String(notification(''))) as { params: { result: unknown } }).params.result),
        )
        return ''
      }
      const subscriptions = { subscribe: open, unsubscribe: () => false }
      await socketRegistry.get('eth_subscribe')?.call({ ...eth, subscriptions, cancellation: { isCancelled: false } }, params)
      return results
    },
  }
}

/**
 * Reads the sealed chain. Hashes and blooms are the recorded ones. The L1 fees are those of a node that executed the chain to the recorded state
 * roots; those of a block add up to what the state gives the fee vault. The last block of the stream was not sealed: its pending state counts.
 */
export async function readSealedChain(): Promise<SealedChain> {
  const { blocks } = readChain()
  const node = createReplay()
  const blooms = new Map<string, string>()
  const fees = new Map<number, ReadonlyMap<string, string>>()
  const vaultAt = async (at: string): Promise<bigint> => BigInt(String(await node.ask('eth_getBalance', [l1FeeVault, at])))
  async function addFees(number: number, at: string): Promise<void> {
    const receipts = (await node.ask('eth_getBlockReceipts', [at])) as readonly { transactionHash: string; l1Fee: string }[]
    const sum = receipts.reduce((total, { l1Fee }) => total + BigInt(l1Fee), 0n)
    const income = (await vaultAt(at)) - (await vaultAt(toQuantity(number - 1)))
    if (sum !== income) throw new Error(`L1 fees of block ${number} are ${sum}, the vault's income is ${income}`)
    fees.set(number, new Map(receipts.map(({ transactionHash, l1Fee }) => [transactionHash, l1Fee])))
  }
  for (const [number, { raw, rawReceipts }] of blocks.entries()) {
    for (const [i, transaction] of decodeBlock(fromHex(raw)).transactions.entries())
      blooms.set(toHex(keccak256(transaction)), toHex(decodeReceipt(fromHex(rawReceipts[i] ?? '0x')).logsBloom))
    if (number === 0) continue
    await node.happen({ t: 0, kind: 'head', number })
    await addFees(number, toQuantity(number))
  }
  for (const { flashblock } of readFlashblocks())
    if (flashblock.blockNumber === blocks.length) await node.happen({ t: 0, kind: 'flashblock', flashblock })
  await addFees(blocks.length, 'pending')
  return {
    blockHash: (number) => blocks[number]?.hash ?? '',
    receiptBloom: (hash) => blooms.get(hash),
    l1Fees: (number) => fees.get(number) ?? new Map(),
  }
}

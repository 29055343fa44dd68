// Wrong messages of a publisher, over a socket to a node's feed and real execution: pending must be correct or latest.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Registry } from 'prom-client'
import { afterAll, expect, it, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import { createExecution, type Execution } from '#blockchain/execution'
import { l2RefOf } from '#chainspec/l2Ref'
import { createWasmEvm } from '#evm/wasmEvm'
import { silentLog } from '#lib/log'
import { noFlashblocks, openFlashblocks } from '#node/parts/flashblocksPart'
import { attributesAt, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { createManualClock } from '#test/harness/clock'
import { followConfig } from '#test/harness/consensus/follow'
import { testAddress } from '#test/harness/evm/sessions'
import { flashblocksOf } from '#test/harness/flashblocks/flashblocks'
import { messageOf } from '#test/harness/flashblocks/messages'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { Flashblock } from '#types/flashblock'
import type { Payload } from '#types/payload'

const schedule = scheduleTo('jovian', { beryl: 2 ** 40 })
const { genesis, config } = smallChain(schedule)
const evm = createWasmEvm()
const target = testAddress(0x77)

const openExecution = (onPublish = (): void => {}): Execution =>
  createExecution({ kv: createMemoryKv(), evm, config, genesis: () => genesis, clock: createManualClock(), log: silentLog, onPublish })

/** Builds three blocks of two transfers, with their flashblocks. */
async function makeBlocks() {
  const maker = openExecution()
  const payloads: Payload[] = []
  for (const number of [1, 2, 3]) {
    const last = payloads.at(-1)
    const transactions = [0, 1].map((at) => signedBy('alice', { nonce: BigInt(2 * (number - 1) + at) }))
    const on = last ? { number: last.blockNumber, hash: last.blockHash } : config.genesis.l2
    const built = await maker.build(on, attributesAt(schedule, number, transactions))
    if (built.kind === 'invalid') throw new Error(built.reason)
    payloads.push(built.payload)
  }
  return payloads.map((payload) => ({ payload, flashblocks: flashblocksOf(maker, payload, [1, 2]) }))
}

const [one, two, three] = (await makeBlocks()) as [MadeBlock, MadeBlock, MadeBlock]
type MadeBlock = Awaited<ReturnType<typeof makeBlocks>>[number]

const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
await once(server, 'listening')
afterAll(() => void server.close())

const until = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 5_000, interval: 1 })

const changed = (flashblock: Flashblock | undefined, changes: Partial<Flashblock>): Flashblock => ({
  ...(flashblock as Flashblock),
  ...changes,
})
const [begin, next] = one.flashblocks as [Flashblock, Flashblock]
const base = begin.base as NonNullable<Flashblock['base']>
const other = '0x00000000000000ff'

it.each<[string, readonly Flashblock[]]>([
  ['bytes that are not a transaction', [begin, changed(next, { transactions: [Uint8Array.of(1, 2, 3)] })]],
  ['a transaction with a wrong nonce', [begin, changed(next, { transactions: [signedBy('alice', { nonce: 9n })] })]],
  ['a transaction without enough balance', [begin, changed(next, { transactions: [signedBy('nobody', {})] })]],
  ['a wrong gas', [begin, changed(next, { outcome: { ...next.outcome, gasUsed: 1n } })]],
  ['a gap in the index', [changed(next, { index: 5 })]],
  ['a base with another parent', [changed(begin, { base: { ...base, parentHash: two.payload.blockHash } })]],
  ['a base with another base fee', [changed(begin, { base: { ...base, baseFee: 7n } })]],
  ['a base with another time', [changed(begin, { base: { ...base, timestamp: 7 } })]],
  ['no deposit at the beginning', [changed(begin, { transactions: [signedBy('alice', {})] })]],
  ['a block of another chain', [changed(two.flashblocks[0], { payloadId: other, blockNumber: 1 })]],
  ['a block on another parent block', [begin, ...two.flashblocks]],
])('flashblocks: does not show %s, and shows the next valid block', async (_what, wrong) => {
  const clock = createManualClock()
  let part = noFlashblocks
  await using execution = createExecution({
    ...{ kv: createMemoryKv(), evm, config, genesis: () => genesis, clock, log: silentLog },
    onPublish: (record) => part.publish(record),
  })
  const registry = new Registry()
  using opened = openFlashblocks(
    { clock, registry, execution, random: () => 0, log: silentLog, sync: () => undefined },
    { config: followConfig, flashblocks: { urls: [`ws://127.0.0.1:${(server.address() as AddressInfo).port}`] } },
  )
  part = opened
  await until(() => expect(server.clients.size).toBe(1))
  const frames = async (): Promise<number> => {
    const { values = [] } = (await registry.getSingleMetric('basalt_flashblocks_frames_total')?.get()) ?? {}
    return values.reduce((sum, { value }) => sum + value, 0)
  }
  const send = async (flashblocks: readonly Flashblock[]): Promise<void> => {
    const before = await frames()
    for (const client of server.clients) for (const flashblock of flashblocks) client.send(messageOf(flashblock))
    await vi.waitFor(async () => expect(await frames()).toBe(before + flashblocks.length), { timeout: 5_000, interval: 1 })
    await new Promise((resolve) => setImmediate(resolve))
  }
  /** Sum of the pending transfers, one wei each. */
  const balance = (): bigint => {
    using view = execution.view()
    return view.state(view.heads.pending ?? view.heads.latest)?.account(target)?.balance ?? 0n
  }

  await send(wrong)
  expect(balance()).toBe(0n)
  expect(await execution.insert(one.payload)).toEqual({ kind: 'valid' })
  await execution.setHeads({ ...(await execution.heads()), unsafe: l2RefOf(config, one.payload) })
  await send(underOtherId(two))
  await until(() => expect(balance()).toBe(4n))
  await send(three.flashblocks)
  await until(() => expect(balance()).toBe(6n))
  for (const client of server.clients) client.terminate()
  await until(() => expect(server.clients.size).toBe(0))
})

/** Returns the flashblocks under another payload id, as from a builder that began again after a wrong message. */
function underOtherId({ flashblocks }: MadeBlock): readonly Flashblock[] {
  return flashblocks.map((flashblock) => ({ ...flashblock, payloadId: '0x00000000000000aa' }))
}

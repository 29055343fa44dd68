import { expect, it } from 'vitest'
import { beginBuild } from '#block/building/buildBlock'
import { publishFlashblocks } from '#block/building/buildFlashblocks'
import { type BlockDeps, type BlockExecutor, createBlockExecutor, type ParentBlock } from '#block/execution/executeBlock'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { type PendingHeader, pendingHeader } from '#block/execution/pendingHeader'
import { createSenders } from '#block/execution/senders'
import { inputOfAttributes } from '#block/validation/blockRules'
import { createExecution, type Execution } from '#blockchain/execution'
import { l2RefOf } from '#chainspec/l2Ref'
import { createWasmEvm } from '#evm/wasmEvm'
import { encodeMessage } from '#flashblocks/encode'
import { equalBytes } from '#lib/bytes'
import { silentLog } from '#lib/log'
import { maxPendingBlocks } from '#pending/pendingPort'
import { attributesAt, scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { candidateOf } from '#test/harness/chain/buildPool'
import { contracts, randomTransactions } from '#test/harness/chain/randomTransactions'
import { createManualClock } from '#test/harness/clock'
import { dice } from '#test/harness/dice'
import { flashblockOf } from '#test/harness/flashblocks/replay'
import { takeNext } from '#test/harness/flashblocks/takeNext'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { FlashblockOutcome } from '#types/flashblock'
import type { Payload, PayloadAttributes } from '#types/payload'
import type { StateDiff } from '#types/stateDiff'

const blocks = 1_000

const schedule = scheduleTo('jovian')
const { genesis, config } = smallChain(
  schedule,
  contracts.map(({ account }) => account),
)
const clock = createManualClock()
const deps: BlockDeps = { evm: createWasmEvm(), config, senders: createSenders({ maxBytes: 2 ** 20 }) }
const open = (): Execution => createExecution({ ...deps, kv: createMemoryKv(), genesis: () => genesis, clock, log: silentLog })

const isSame = (a: StateDiff, b: StateDiff): boolean => equalBytes(new Uint8Array(a.bytes), new Uint8Array(b.bytes))

/** Builds a block flashblock by flashblock. Returns the publisher's messages, its own pending states, and the block. */
function build(on: ParentBlock, attributes: PayloadAttributes, flashblocks: readonly (readonly Uint8Array[])[]) {
  const messages: string[] = []
  const shown: { readonly fields: PendingHeader; readonly diff: StateDiff }[] = []
  const outcomes: FlashblockOutcome[] = []
  const watch = publishFlashblocks(config, clock, {
    everyMs: 200,
    onFlashblock(flashblock) {
      messages.push(encodeMessage(flashblock))
      outcomes.push(flashblock.outcome)
    },
  })
  const look = (block: BlockExecutor, isLast: boolean): void => {
    watch.look(on, block, isLast)
    const outcome = outcomes[shown.length]
    if (outcome) shown.push({ fields: pendingHeader(block, outcome), diff: block.session.diff() })
  }
  const begun = beginBuild(deps, on, attributes)
  const made = begun.kind === 'begun' ? begun.build : expect.fail(begun.reason)
  made.look(on, (block) => look(block, false))
  for (const flashblock of flashblocks) {
    const candidates = flashblock.map(candidateOf).values()
    made.takeFrom(on, { next: () => candidates.next().value, skip: () => expect.fail('left out') }, {}, () => false)
    made.look(on, (block) => look(block, false))
  }
  made.look(on, (block) => look(block, true))
  const { header, hash, transactions } = made.seal(on)
  return { messages, shown, payload: payloadOfBlock({ header, transactions }, hash) }
}

/** State diff of the first transactions of a block, executed from scratch. */
function scratch(on: ParentBlock, attributes: PayloadAttributes, transactions: readonly Uint8Array[]): StateDiff {
  const opened = createBlockExecutor(deps, on, inputOfAttributes(config, { ...attributes, transactions }))
  using block = opened.kind === 'open' ? opened.block : expect.fail(opened.reason)
  expect(block.takeAll()).toBeUndefined()
  return block.session.diff()
}

it(`flashblocks: publisher and consumer, ${blocks} blocks: each flashblock gives the state of its prefix, each sealed block is the union of its flashblocks`, async () => {
  const roll = dice(7)
  const pool = randomTransactions(roll)
  const [sequencer, follower] = [open(), open()]
  const sent: Payload[] = []
  const seal = async (execution: Execution, payload: Payload): Promise<void> => {
    expect(await execution.insert(payload)).toEqual({ kind: 'valid' })
    await execution.setHeads({ ...(await execution.heads()), unsafe: l2RefOf(config, payload) })
  }
  let flashblocks = 0
  for (let number = 1; number <= blocks; number++) {
    const attributes = attributesAt(schedule, number)
    const pieces = Array.from({ length: roll(4) }, () => Array.from({ length: roll(4) }, () => pool.next().value))
    using view = sequencer.view()
    const on = view.parent(view.heads.latest.hash) ?? expect.fail('no parent')
    const { messages, shown, payload } = build(on, attributes, pieces)
    const union: Uint8Array[] = []
    for (const [i, message] of messages.entries()) {
      const flashblock = flashblockOf(message)
      union.push(...flashblock.transactions)
      expect(await takeNext(follower, flashblock)).toMatchObject({ kind: 'taken' })
      const followed = follower.published.pending?.blocks.at(-1) ?? expect.fail('no pending block')
      expect(isSame(followed.diff, scratch(on, attributes, union))).toBe(true)
      expect(isSame(followed.diff, shown[i]?.diff ?? expect.fail('no state'))).toBe(true)
      expect(followed.transactions).toEqual(union)
      expect(followed.header).toMatchObject(shown[i]?.fields ?? expect.fail('no header'))
      flashblocks++
    }
    expect(payload.transactions).toEqual(union)
    await seal(sequencer, payload)
    sent.push(payload)
    while (sent.length >= maxPendingBlocks || (sent.length > 0 && roll(2) === 0)) await seal(follower, sent.shift() as Payload)
  }
  for (const payload of sent) await seal(follower, payload)
  expect(follower.sizes().reused).toBe(blocks)
  expect(follower.published.heads.unsafe).toEqual(sequencer.published.heads.unsafe)
  expect(flashblocks).toBeGreaterThan(2 * blocks)
})

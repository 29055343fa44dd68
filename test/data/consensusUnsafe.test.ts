import { describe, expect, it } from 'vitest'
import { isActive } from '#chainspec/forks'
import type { Pipeline } from '#derive/ports'
import { attributesOf, recordedChains } from '#test/harness/chain/l2Blocks'
import { createRecordedNodes, type NodeSession, type RecordedNodes } from '#test/harness/consensus/nodes'
import type { Payload } from '#types/payload'
import { depositType } from '#types/transaction'

const { signal } = new AbortController()
const finalityBlocks = 5

/** Shows L1 up to a block and waits until it is derived. */
async function derive(nodes: RecordedNodes, session: NodeSession, l1Number: number): Promise<void> {
  nodes.reveal(l1Number)
  await session.until(() => session.driver.status().origin?.number === l1Number && session.driver.status().wait?.reason === 'l1-head')
}

async function offer(session: NodeSession, payloads: readonly Payload[]): Promise<unknown> {
  let outcome: unknown
  for (let at = 0; at < payloads.length; at += 50) outcome = await session.driver.inbox.insert(payloads.slice(at, at + 50), signal)
  return outcome
}

const isUser = (raw: Uint8Array): boolean => raw[0] !== depositType

/** First block from a number on with transactions of users. */
function withUser({ payloads }: RecordedNodes, from: number): Payload {
  const found = payloads.find(({ blockNumber, transactions }) => blockNumber >= from && transactions.some(isUser))
  if (!found) throw new RangeError(`no user transaction in block ${from} or later`)
  return found
}

describe.each(recordedChains)('%s', (name) => {
  it('consensus: consolidates unsafe blocks L1 block by L1 block with the recorded heads, and executes each block once', async () => {
    const nodes = createRecordedNodes(name)
    const { payloads, safeHeads } = nodes
    nodes.reveal(0)
    const session = nodes.start(undefined, { labelPollMs: 0 })
    const last = payloads.length - 1
    expect(await offer(session, payloads.slice(1))).toMatchObject({ kind: 'inserted', head: { number: last } })
    expect(session.executed()).toBe(last)
    for (let l1Number = nodes.config.genesis.l1.number; l1Number < safeHeads.length; l1Number++) {
      await derive(nodes, session, l1Number)
      const { unsafe, safe, finalized } = session.engine.published.heads
      const expected = [last, safeHeads[l1Number], safeHeads[l1Number - finalityBlocks] ?? 0]
      expect([unsafe.number, safe.number, finalized.number], `L1 block ${l1Number}`).toEqual(expected)
    }
    expect(session.executed()).toBe(last)
    expect(session.driver.status()).toMatchObject({ resets: 0, heads: { safe: { hash: payloads[last]?.blockHash } } })
    const metrics = await session.registry.metrics()
    expect(metrics).toContain(`basalt_consensus_derived_blocks_total{outcome="consolidated"} ${last}\n`)
    expect(metrics).toContain('basalt_consensus_derived_blocks_total{outcome="built"} 0\n')
    await session.stop()
    await session.engine.close()
  })

  it('consensus: replaces an unsafe block whose transaction differs from L1, and executes the blocks above it again', async () => {
    const nodes = createRecordedNodes(name)
    const { payloads, safeHeads } = nodes
    const last = payloads.length - 1
    const wrong = withUser(nodes, last >>> 1)
    nodes.reveal(0)
    const session = nodes.start()
    await offer(session, payloads.slice(1, wrong.blockNumber))
    const parent = { number: wrong.blockNumber - 1, hash: wrong.parentHash }
    const built = await session.engine.build(
      parent,
      attributesOf(
        wrong,
        wrong.transactions.filter((raw) => !isUser(raw)),
      ),
    )
    if (built.kind !== 'built') throw new Error(built.reason)
    expect(built.payload.blockHash).not.toBe(wrong.blockHash)
    expect(await offer(session, [built.payload])).toMatchObject({ kind: 'inserted', head: { number: wrong.blockNumber } })
    const before = session.executed()
    await derive(nodes, session, safeHeads.length - 1)
    expect(session.driver.status().heads).toMatchObject({
      unsafe: { number: last },
      safe: { number: last, hash: payloads[last]?.blockHash },
    })
    for (const { blockNumber, blockHash } of payloads) expect((await session.engine.payload(blockNumber))?.blockHash).toBe(blockHash)
    expect(session.executed() - before).toBe(last - wrong.blockNumber + 1)
    await session.stop()
    await session.engine.close()
  })

  it('consensus: rejects an unsafe block with a changed transaction as invalid, and derives the chain from L1', async () => {
    const nodes = createRecordedNodes(name)
    const { payloads, safeHeads } = nodes
    const wrong = withUser(nodes, payloads.length >>> 1)
    const at = wrong.transactions.findIndex(isUser)
    const changed = { ...wrong, transactions: wrong.transactions.toSpliced(at, 1, Uint8Array.of(2, 0xc0)) }
    nodes.reveal(0)
    const session = nodes.start()
    await offer(session, payloads.slice(1, wrong.blockNumber))
    const number = wrong.blockNumber
    expect(await session.driver.inbox.insert([changed, ...payloads.slice(number + 1)], signal)).toMatchObject({ kind: 'invalid', number })
    expect(session.driver.status().heads?.unsafe.number).toBe(number - 1)
    await derive(nodes, session, safeHeads.length - 1)
    expect(session.driver.status().heads?.unsafe.hash).toBe(payloads.at(-1)?.blockHash)
    await session.stop()
    await session.engine.close()
  })
})

/** Derivation with a transaction in the batch of one block that no block may contain. */
function spoiling(number: number): (pipeline: Pipeline) => Pipeline {
  return (pipeline) => ({
    get origin() {
      return pipeline.origin
    },
    provide: (answer) => pipeline.provide(answer),
    flushChannel: () => pipeline.flushChannel(),
    reset: (start) => pipeline.reset(start),
    step(safe) {
      const step = pipeline.step(safe)
      if (step.kind !== 'item' || step.item.parent.number + 1 !== number) return step
      const { attributes } = step.item
      const transactions = attributes.transactions.map((raw) => (isUser(raw) ? Uint8Array.of(2, 0xc0) : raw))
      return { kind: 'item', item: { ...step.item, attributes: { ...attributes, transactions } } }
    },
  })
}

it('consensus: replaces an invalid batch from Holocene on by a block with deposits only, and drops the unsafe chain above it', async () => {
  const nodes = createRecordedNodes('op-ecotone-to-jovian')
  const { payloads, safeHeads, config } = nodes
  const first = payloads.find(({ timestamp }) => isActive(config.schedule, 'holocene', timestamp - 60))
  const wrong = withUser(nodes, first?.blockNumber ?? 0)
  nodes.reveal(0)
  const session = nodes.start(undefined, {}, spoiling(wrong.blockNumber))
  await offer(session, payloads.slice(1))
  const before = session.executed()
  await derive(nodes, session, safeHeads.length - 1)
  const { heads } = session.driver.status()
  expect(heads?.safe).toMatchObject({ number: wrong.blockNumber, parentHash: wrong.parentHash })
  expect(heads?.unsafe).toEqual(heads?.safe)
  const replaced = await session.engine.payload(wrong.blockNumber)
  expect(replaced?.blockHash).not.toBe(wrong.blockHash)
  expect(replaced?.transactions).toEqual(wrong.transactions.filter((raw) => !isUser(raw)))
  expect(session.executed() - before).toBe(1)
  await session.stop()
  await session.engine.close()
})

it('consensus: drops an invalid batch before Holocene and keeps the unsafe chain until the next batch', async () => {
  const nodes = createRecordedNodes('op-bedrock-to-holocene')
  const { payloads, safeHeads } = nodes
  const wrong = withUser(nodes, 20)
  nodes.reveal(0)
  const session = nodes.start(undefined, { commitBlocks: 1 }, spoiling(wrong.blockNumber))
  await offer(session, payloads.slice(1))
  await derive(nodes, session, safeHeads.findIndex((safe) => safe >= wrong.blockNumber) + 1)
  const { heads } = session.driver.status()
  expect(heads?.safe.number).toBeLessThan(wrong.blockNumber)
  expect(heads?.unsafe.hash).toBe(payloads.at(-1)?.blockHash)
  await session.stop()
  await session.engine.close()
})

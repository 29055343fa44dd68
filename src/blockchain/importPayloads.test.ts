import { describe, expect, it } from 'vitest'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { configOfGenesis } from '#block/executionConfig'
import { encodePayload } from '#engine/payloadJson'
import { createWasmEvm } from '#evm/wasmEvm'
import { silentLog } from '#lib/log'
import { createMemoryJournal } from '#store/memoryJournal'
import type { JournalRecord } from '#store/ports'
import { scheduleTo, signedBy, smallChain, smallGenesis } from '#test/harness/chain/blocks'
import { buildChain, builtGenesis } from '#test/harness/chain/executedBlocks'
import { createManualClock } from '#test/harness/clock'
import { Fate, Killed, mortalJournal, mortalKv } from '#test/harness/process/mortalStore'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { Payload } from '#types/payload'
import { recoverSender } from '#types/recoverSender'
import { decodeTransaction, depositType } from '#types/transaction'
import { createExecution } from './execution.ts'
import { type ImportOptions, importPayloads } from './importPayloads.ts'

const chain = smallChain(scheduleTo('granite'))
const { config, genesis } = chain
const blocks = buildChain(config, builtGenesis(chain), [[signedBy('alice', {})], [signedBy('alice', { nonce: 1n })], []])
const payloads = blocks.map(({ block }) => payloadOfBlock(block, block.hash))
const lineOf = (payload: Payload) => JSON.stringify({ p: encodePayload(payload), root: payload.parentBeaconBlockRoot })
const lines = payloads.map(lineOf)

const open = () =>
  createExecution({
    kv: createMemoryKv(),
    evm: createWasmEvm(),
    config,
    genesis: () => genesis,
    clock: createManualClock(),
    log: silentLog,
  })

describe('blockchain/importPayloads', () => {
  it('makes each payload the head, and skips canonical ones', async () => {
    const execution = open()
    const seen: number[] = []
    const gas = payloads.reduce((sum, { gasUsed }) => sum + gasUsed, 0n)
    const first = await importPayloads(execution, config, ['', ...lines, ''], { onBlock: ({ blockNumber }) => seen.push(blockNumber) })
    expect(first).toEqual({ imported: 3, skipped: 0, gas })
    expect(seen).toEqual([1, 2, 3])
    expect((await execution.heads()).unsafe.hash).toBe(payloads[2]?.blockHash)
    expect((await execution.heads()).safe.number).toBe(0)
    expect(await importPayloads(execution, config, lines)).toEqual({ imported: 0, skipped: 3, gas: 0n })
  })

  it.each([
    ['is truncated', (lines[1] ?? '').slice(0, 99), 'BAD_LINE'],
    ['is not an object', '7', 'BAD_LINE'],
    ['has no payload', '{"root":"0x"}', 'BAD_LINE'],
    ['has a malformed field', (lines[1] ?? '').replace('"gasUsed":"0x', '"gasUsed":"x'), 'BAD_LINE'],
    ['has a malformed root', (lines[1] ?? '').replace('"root":"0x', '"root":"'), 'BAD_LINE'],
    ['has another gas used', (lines[1] ?? '').replace('"gasUsed":"0x', '"gasUsed":"0x1'), 'INVALID_BLOCK'],
    ['leaves a block out', lines[2] ?? '', 'UNKNOWN_PARENT'],
  ])('stops at a line that %s, after the blocks before it (%3$s)', async (_case, line, code) => {
    const execution = open()
    await expect(importPayloads(execution, config, [lines[0] ?? '', line])).rejects.toMatchObject({ code })
    expect((await execution.heads()).unsafe.number).toBe(1)
  })

  /** Recovers senders of transactions at once or never, and notes what is begun and disposed of. */
  function recovery(isReady: boolean) {
    const seen = { begun: 0, open: 0, asked: 0 }
    const recoverAhead: ImportOptions['recoverAhead'] = (transactions) => {
      seen.begun++
      seen.open++
      return {
        at(index) {
          seen.asked++
          const tx = decodeTransaction(transactions[index] ?? expect.fail())
          return isReady && tx.type !== depositType ? recoverSender(tx) : undefined
        },
        [Symbol.dispose]: () => void seen.open--,
      }
    }
    return { seen, recoverAhead }
  }

  it.each([true, false])('imports the same chain with senders from other threads, ready: %s', async (isReady) => {
    const execution = open()
    const { seen, recoverAhead } = recovery(isReady)
    expect(await importPayloads(execution, config, lines, { recoverAhead })).toMatchObject({ imported: 3 })
    expect((await execution.heads()).unsafe.hash).toBe(payloads[2]?.blockHash)
    expect(seen).toEqual({ begun: 3, open: 0, asked: 2 })
    expect(await importPayloads(execution, config, lines, { recoverAhead })).toMatchObject({ imported: 0, skipped: 3 })
    expect(seen.begun).toBe(3)
  })

  it('skips the second line of the same payload', async () => {
    const { recoverAhead, seen } = recovery(true)
    const twice = lines.flatMap((line) => [line, line])
    expect(await importPayloads(open(), config, twice, { recoverAhead })).toMatchObject({ imported: 3, skipped: 3 })
    expect(seen.open).toBe(0)
  })

  it('ends the recovery of payloads that are not executed, after an invalid one', async () => {
    const { recoverAhead, seen } = recovery(true)
    const [first = '', second = '', third = ''] = lines
    const wrong = second.replace('"gasUsed":"0x', '"gasUsed":"0x1')
    await expect(importPayloads(open(), config, [first, wrong, third, first], { recoverAhead })).rejects.toMatchObject({
      code: 'INVALID_BLOCK',
    })
    expect(seen).toMatchObject({ begun: 4, open: 0 })
  })

  it('executes the payloads before an error of reading, and reports the first fault of several', async () => {
    const execution = open()
    function* failing(): Generator<string> {
      yield* lines.slice(0, 2)
      throw new Error('unreadable')
    }
    await expect(importPayloads(execution, config, failing())).rejects.toThrow('unreadable')
    expect((await execution.heads()).unsafe.number).toBe(2)
    const two = [lines[2] ?? '', 'not JSON']
    await expect(importPayloads(open(), config, two)).rejects.toMatchObject({ code: 'UNKNOWN_PARENT' })
  })

  it('stops before the next payload when it is aborted, and drops what it has read', async () => {
    const execution = open()
    const { recoverAhead, seen } = recovery(true)
    const abort = new AbortController()
    const options = { recoverAhead, signal: abort.signal, onBlock: () => abort.abort() }
    expect(await importPayloads(execution, config, lines, options)).toMatchObject({ imported: 1, skipped: 0 })
    expect((await execution.heads()).unsafe.number).toBe(1)
    expect(seen).toMatchObject({ begun: 3, open: 0 })
    expect(await importPayloads(execution, config, lines)).toMatchObject({ imported: 2, skipped: 1 })
  })

  it('stops when it is aborted between two payloads by a timer or a signal', async () => {
    const abort = new AbortController()
    const options = { signal: abort.signal, onBlock: () => void setImmediate(() => abort.abort()) }
    expect(await importPayloads(open(), config, lines, options)).toMatchObject({ imported: 1 })
  })

  it.each([
    ['64 payloads', 200, 0, 66],
    ['16 MB', 20, 4 * 2 ** 20, 5],
  ])('reads at most %s ahead', async (_what, count, spaces, most) => {
    let [read, ahead] = [0, 0]
    function* source(): Generator<string> {
      yield lines[0] ?? ''
      for (; read < count; read++) yield (lines[0] ?? '').padEnd(spaces)
    }
    const onBlock = (): void => {
      ahead = read
    }
    expect(await importPayloads(open(), config, source(), { onBlock })).toMatchObject({ imported: 1, skipped: count })
    expect(ahead).toBeGreaterThan(1)
    expect(ahead).toBeLessThanOrEqual(most)
  })

  it('refuses a genesis without rules (INVALID_CONFIG)', () => {
    const { chain: _rules, ...bare } = smallGenesis(scheduleTo('granite'))
    expect(() => configOfGenesis(bare)).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG' }))
  })
})

describe('blockchain/importPayloads: many blocks in a transaction', () => {
  const count = 12
  /** Uncommitted blocks may have half of it: four or five of these. */
  const maxTreeBytes = 70_000
  const many = buildChain(
    config,
    builtGenesis(chain),
    Array.from({ length: count }, (_, nonce) => [signedBy('alice', { nonce: BigInt(nonce) })]),
  ).map(({ block }) => payloadOfBlock(block, block.hash))
  const evm = createWasmEvm()

  /** Returns a function that starts a process on the same disk and imports all blocks, until an effect at which the process is killed. */
  function disk() {
    const kv = createMemoryKv()
    const segments = new Map<number, JournalRecord[]>()
    let commits = 0
    const run = async (fate: Fate) => {
      const shown: number[] = []
      let mostBytes = 0
      const onCommit = (phase: 'begin' | 'end'): void => {
        if (phase === 'end') commits++
      }
      const execution = createExecution(
        {
          ...{ kv: mortalKv(kv, fate), journal: mortalJournal(createMemoryJournal(segments), fate) },
          ...{ evm, config, genesis: () => genesis, clock: createManualClock(), log: silentLog, onCommit },
        },
        { maxTreeBytes, commitSliceMs: Number.POSITIVE_INFINITY },
      )
      const restored = execution.published.heads.unsafe.number
      const onBlock = ({ blockNumber }: Payload): void => {
        shown.push(blockNumber)
        mostBytes = Math.max(mostBytes, execution.sizes().treeBytes)
      }
      const ended = await importPayloads(execution, config, many.map(lineOf), { onBlock }).catch((error: unknown) => error)
      return { restored, shown, ended, mostBytes, commits, head: execution.published.heads.unsafe.hash }
    }
    return { run }
  }

  it('writes a few times, and keeps no more blocks in memory than may wait', async () => {
    const { ended, commits, mostBytes } = await disk().run(new Fate())
    expect(ended).toMatchObject({ imported: count })
    expect(commits).toBeLessThanOrEqual(count / 3)
    expect(mostBytes).toBeLessThanOrEqual(maxTreeBytes)
  })

  it.each(['before', 'after'] as const)(
    'a kill %s any effect loses no acknowledged block, and the next run imports the rest',
    async (when) => {
      let [at, wasKilled] = [0, true]
      for (; wasKilled; at++) {
        const { run } = disk()
        const first = await run(new Fate(at, when)).catch((error: unknown) => error)
        wasKilled = first instanceof Killed || (first as Awaited<ReturnType<typeof run>>).ended instanceof Killed
        const acknowledged = first instanceof Killed ? 0 : (first as Awaited<ReturnType<typeof run>>).shown.length
        const { restored, ended, head } = await run(new Fate())
        expect(restored).toBeGreaterThanOrEqual(acknowledged)
        expect(restored).toBeLessThanOrEqual(acknowledged + 1)
        expect(ended).toMatchObject({ skipped: restored, imported: count - restored })
        expect(head).toBe(many.at(-1)?.blockHash)
      }
      expect(at).toBeGreaterThan(2 * count)
    },
  )
})

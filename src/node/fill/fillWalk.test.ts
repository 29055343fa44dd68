import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { CompletedEngine, StateCompletion, storedBelow } from '#blockchain/completedEngine'
import { createExecution, type Execution } from '#blockchain/execution'
import { l2RefOf } from '#chainspec/l2Ref'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import type { FetchedState } from '#state/fetchedState'
import { type FillProgress, firstPosition, readFill } from '#state/fillProgress'
import { isPartialState } from '#state/partialState'
import type { RangeSource, StateRequest } from '#state/stateSource'
import { openChainKv } from '#store/chainTables'
import type { Kv } from '#store/ports'
import { tables } from '#store/tables'
import { attributesOf, payloadsOf } from '#test/harness/chain/l2Blocks'
import { dump, readNow } from '#test/harness/chain/olderSchemas'
import { dice } from '#test/harness/dice'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { installAnchor } from '#test/harness/snapshot/anchoredChain'
import { executeRecorded } from '#test/harness/snapshot/loadRecorded'
import { WholeNode, WholeRanges } from '#test/harness/state/wholeNode'
import type { Payload } from '#types/payload'
import { FillWalk } from './fillWalk.ts'

const folder = mkdtempSync(join(tmpdir(), 'basalt-fill-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const [anchor, last] = [3, 171]
const stateTables = [tables.accounts, tables.storage, tables.code, tables.accountNodes, tables.storageNodes]
const recorded = executeRecorded('op-ecotone-to-jovian', last)
const { signal } = new AbortController()

/** A chain that begins with a partial state, and its fill. */
class Filled {
  readonly kv: Kv
  readonly execution: Execution
  readonly engine: CompletedEngine
  readonly source: RangeSource
  /** called before parts are stored */
  onEnter: (parts: FetchedState) => void = () => {}

  constructor(kv: Kv, execution: Execution, engine: CompletedEngine, source: RangeSource) {
    this.kv = kv
    this.execution = execution
    this.engine = engine
    this.source = source
  }

  at(): StateRequest['at'] {
    using view = this.execution.view()
    return storedBelow(view, this.execution.published.heads.unsafe)
  }

  /** Returns a walk that continues at the stored progress, as after a restart. */
  walk(progress: FillProgress = readNow(this.kv, readFill)): FillWalk {
    const enter = (parts: FetchedState): Promise<void> => {
      this.onEnter(parts)
      return this.execution.enter(parts)
    }
    return new FillWalk(
      { clock: systemClock, source: this.source, store: this.kv, at: () => this.at(), enter, pace: async () => {} },
      progress,
    )
  }

  /** Makes a block the head as a node does, after a side block that is committed, if `isForked`. */
  async follow(payload: Payload, isForked: boolean): Promise<void> {
    const { config } = (await recorded).chain
    const { blockNumber: number, parentHash } = payload
    const lead = async (unsafe: Payload): Promise<void> =>
      this.engine.setHeads({ ...(await this.engine.heads()), unsafe: l2RefOf(config, unsafe) })
    if (isForked) {
      const side = await this.engine.build(
        { number: number - 1, hash: parentHash },
        attributesOf(payload, payload.transactions.slice(0, 2)),
      )
      if (side.kind === 'invalid') expect.fail(side.reason)
      await lead(side.payload)
      this.execution.commit()
    }
    expect(await this.engine.insert(payload)).toEqual({ kind: 'valid' })
    await lead(payload)
    if (number % 4 === 0) this.execution.commit()
  }

  async expectWhole(): Promise<void> {
    this.execution.commit()
    expect(readNow(this.kv, isPartialState)).toBe(false)
    const [found, expected] = [this.kv, (await recorded).kv].map((each) => readNow(each, (reader) => dump(reader, stateTables)))
    expect(found?.size).toBeGreaterThan(2_000)
    expect(found).toEqual(expected)
  }
}

/** @param leaves of one answer of the source; absent: few */
async function withFilled(name: string, run: (filled: Filled) => Promise<void>, leaves?: number): Promise<void> {
  const { chain, kv: whole } = await recorded
  const { config, genesis } = chain
  const dir = join(folder, name)
  await installAnchor(chain, whole, anchor, dir)
  await using kv = openChainKv(dir)
  await using execution = createExecution({ kv, evm: sharedEvm, config, genesis: () => genesis, clock: systemClock, log: silentLog })
  const engine = new CompletedEngine(execution, new StateCompletion(execution, new WholeNode(whole)))
  await run(new Filled(kv, execution, engine, new WholeRanges(whole, leaves)))
}

const payloads = recorded.then(({ chain }) => payloadsOf(chain.blocks).slice(anchor + 1, last + 1))

it('node/fillWalk: a state that is filled while the chain moves and forks has the rows of a whole one, and is whole', async () => {
  await withFilled('moving', async (filled) => {
    const walk = filled.walk()
    let isWhole = false
    for (const payload of await payloads) {
      await filled.follow(payload, payload.blockNumber % 9 === 0)
      if (!isWhole) isWhole = await walk.step(signal)
    }
    while (!isWhole) isWhole = await walk.step(signal)
    await filled.expectWhole()
    expect(walk.progress.accounts).toBeGreaterThan(20)
    expect(walk.progress.slots).toBeGreaterThan(100)
  })
}, 60_000)

it('node/fillWalk: a walk that ends at any transaction continues from the stored progress', async () => {
  await withFilled('killed', async (filled) => {
    const roll = dice(7)
    let entered = 0
    let isWhole = false
    let kills = 0
    filled.onEnter = () => {
      entered++
      if (entered % (5 + roll(9)) === 0) throw new Error('killed')
    }
    for (const payload of await payloads) await filled.follow(payload, false)
    while (!isWhole) {
      const walk = filled.walk()
      try {
        while (!isWhole) isWhole = await walk.step(signal)
      } catch (error) {
        expect((error as Error).message).toBe('killed')
        kills++
      }
    }
    expect(kills).toBeGreaterThan(10)
    await filled.expectWhole()
  })
}, 60_000)

it('node/fillWalk: a walk that left keys out is noticed by the check, and begins again (STATE_NOT_FILLED)', async () => {
  await withFilled('gap', async (filled) => {
    for (const payload of (await payloads).slice(0, 30)) await filled.follow(payload, false)
    const skipped = filled.walk({
      phase: 'walk',
      position: { account: new Uint8Array(32).fill(0xb0), slot: undefined },
      accounts: 0,
      slots: 0,
      bytes: 0,
    })
    const failed = async (): Promise<void> => {
      for (;;) await skipped.step(signal)
    }
    await expect(failed()).rejects.toMatchObject({ code: 'STATE_NOT_FILLED', severity: 'retry' })
    expect(readNow(filled.kv, isPartialState)).toBe(true)
    expect(readNow(filled.kv, readFill)).toMatchObject({ phase: 'walk', position: firstPosition })
    while (!(await skipped.step(signal)));
    for (const payload of (await payloads).slice(30)) await filled.follow(payload, false)
    await filled.expectWhole()
  })
}, 60_000)

it('node/fillWalk: a row that the walk cannot mend ends it, instead of another walk over the whole state (STATE_ROW_WRONG)', async () => {
  await withFilled(
    'wrong',
    async (filled) => {
      const walk = filled.walk()
      while (walk.progress.phase !== 'check') await walk.step(signal)
      const [row] = readNow(filled.kv, (reader) => [...reader.range(tables.storage.id, { limit: 1 })])
      const key = row?.key.slice() ?? expect.fail('no slot')
      // a slot more
      key[key.length - 1] = (key.at(-1) ?? 0) ^ 1
      filled.kv.write((tx) => tx.put(tables.storage.id, key, Uint8Array.of(1, 2, 3)))
      const failed = async (): Promise<void> => {
        for (;;) await walk.step(signal)
      }
      await expect(failed()).rejects.toMatchObject({ code: 'STATE_NOT_FILLED', severity: 'retry' })
      await expect(failed()).rejects.toMatchObject({ code: 'STATE_ROW_WRONG', severity: 'fatal' })
      expect(readNow(filled.kv, isPartialState)).toBe(true)
    },
    1_000,
  )
}, 60_000)

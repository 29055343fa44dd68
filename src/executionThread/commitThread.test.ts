import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import type { CommitOutcome } from '#blockchain/commit/committer'
import { createExecution, type Execution } from '#blockchain/execution'
import { l2RefOf } from '#chainspec/l2Ref'
import { systemClock } from '#lib/clock'
import { toHex } from '#lib/hex'
import { silentLog } from '#lib/log'
import { openLmdbKv } from '#store/lmdbKv'
import type { Kv } from '#store/ports'
import { tables } from '#store/tables'
import { attributesAt, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { withSameDigests } from '#test/harness/store/sameDigests'
import type { L2Ref } from '#types/blockRef'
import type { Retention } from '#types/chainDistance'
import { CommitThread } from './commitThread.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-commits-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))
const specs = Object.values(tables)
const schedule = scheduleTo('isthmus')
const { genesis, config } = smallChain(schedule)

function open(kv: Kv, committer?: CommitThread, retention?: Retention): Execution {
  const deps = { kv, evm: sharedEvm, config, genesis: () => genesis, clock: systemClock, log: silentLog }
  return createExecution({ ...deps, ...(committer && { committer }) }, { retention })
}

/** Builds blocks with one transfer each. @param branch distinguishes blocks of one number */
async function grow(execution: Execution, parent: L2Ref, count: number, branch: bigint): Promise<L2Ref[]> {
  const refs: L2Ref[] = []
  for (let i = 0; i < count; i++) {
    const below = refs.at(-1) ?? parent
    const transfer = signedBy('alice', { value: branch, nonce: BigInt(below.number) })
    const built = await execution.build(below, attributesAt(schedule, below.number + 1, [transfer], Number(branch)))
    if (built.kind === 'invalid') throw new Error(built.reason)
    refs.push(l2RefOf(config, built.payload))
  }
  return refs
}

/** Builds two branches, makes each the head in turn, and commits in between and at the end. */
async function play(execution: Execution): Promise<void> {
  const heads = await execution.heads()
  const main = await grow(execution, heads.unsafe, 20, 1n)
  for (const unsafe of main) await execution.setHeads({ ...heads, unsafe })
  execution.commit()
  const side = await grow(execution, main[9] as L2Ref, 12, 2n)
  await execution.setHeads({ ...heads, unsafe: side.at(-1) as L2Ref })
  execution.commit()
  for (const unsafe of await grow(execution, side.at(-1) as L2Ref, 5, 3n)) await execution.setHeads({ ...heads, unsafe })
  await execution.close()
}

function rowsOf(kv: Kv): string[] {
  using reader = kv.snapshot()
  return specs.flatMap(({ id, name }) => [...reader.range(id, {})].map(({ key, value }) => `${name} ${toHex(key)} ${toHex(value)}`))
}

it('executionThread/commitThread: writes the rows that execution writes in its own thread, also in a reorg', async () => {
  const dir = join(base, 'same')
  await using kv = withSameDigests(openLmdbKv(dir, specs))
  {
    await using committer = new CommitThread(dir)
    await play(open(kv, committer))
  }
  const own = withSameDigests(createMemoryKv())
  await play(open(own))
  expect(rowsOf(kv)).toEqual(rowsOf(own))
})

it('executionThread/commitThread: removes older states between requests', async () => {
  const dir = join(base, 'pruned')
  await using kv = openLmdbKv(dir, specs)
  await using committer = new CommitThread(dir)
  const execution = open(kv, committer, { history: { blocks: 5 } })
  const heads = await execution.heads()
  const blocks = await grow(execution, heads.unsafe, 40, 1n)
  const finalized = blocks[30] as L2Ref
  await execution.setHeads({ unsafe: blocks.at(-1) as L2Ref, safe: finalized, finalized })
  execution.commit()
  const oldest = (): number => {
    using view = execution.view()
    return view.oldestState
  }
  await vi.waitFor(() => expect(oldest()).toBe(31), 10_000)
  const more = await grow(execution, blocks.at(-1) as L2Ref, 10, 2n)
  await execution.setHeads({ unsafe: more.at(-1) as L2Ref, safe: finalized, finalized })
  execution.commit()
  expect(oldest()).toBe(31)
  await execution.close()
})

it('executionThread/commitThread: returns the fault of a request, and writes the next one', async () => {
  const dir = join(base, 'fault')
  await using kv = openLmdbKv(dir, specs)
  await using committer = new CommitThread(dir)
  const execution = open(kv, committer)
  const { unsafe } = await execution.heads()
  const request = { branch: { ancestor: unsafe, blocks: [] }, heads: { unsafe, safe: unsafe, finalized: unsafe }, sequence: 7 }
  committer.begin({ ...request, committed: { number: 3, hash: unsafe.hash } })
  expect(committer.take(true)).toMatchObject({ error: { code: 'CHAIN_STORE_DAMAGED', severity: 'fatal' } })
  committer.begin({ ...request, committed: unsafe })
  expect(committer.take(true)).toEqual({ ms: expect.any(Number) })
  await execution.close()
})

it('executionThread/commitThread: a thread that ended reports the end for its request and for each later one (EXECUTION_STOPPED)', async () => {
  const file = join(base, 'file')
  writeFileSync(file, '')
  const failures: unknown[] = []
  await using committer = new CommitThread(join(file, 'tables'), { onFailure: (error) => failures.push(error) })
  const id = { number: 0, hash: config.genesis.l2.hash }
  const request = { committed: id, branch: { ancestor: id, blocks: [] }, heads: { unsafe: id, safe: id, finalized: id }, sequence: 1 }
  const stopped = { error: { code: 'EXECUTION_STOPPED', severity: 'fatal' } }
  committer.begin(request)
  const outcome = await new Promise<CommitOutcome | undefined>((resolve) => committer.onOutcome(() => resolve(committer.take(false))))
  expect(outcome).toMatchObject(stopped)
  committer.begin(request)
  expect(committer.take(true)).toMatchObject(stopped)
  expect(failures).toMatchObject([stopped.error])
})

it('executionThread/commitThread: reports its end while no request is in progress (EXECUTION_STOPPED)', async () => {
  const file = join(base, 'another file')
  writeFileSync(file, '')
  const failure = Promise.withResolvers<Error>()
  await using committer = new CommitThread(join(file, 'tables'), { onFailure: failure.resolve })
  committer.start()
  expect(await failure.promise).toMatchObject({ code: 'EXECUTION_STOPPED', severity: 'fatal' })
})

it.each([
  ['near --memory-max it collects its garbage', 1, true],
  ['without a bound V8 decides', undefined, false],
])('executionThread/commitThread: %s', (what, memoryMaxBytes, collects) => {
  const dir = join(base, what)
  // the process has no other thread that collects: V8 prints each collection
  const script = join(base, `${what}.mjs`)
  const lines = `
    import { CommitThread } from ${JSON.stringify(new URL('./commitThread.ts', import.meta.url).href)}
    import { openChainKv } from ${JSON.stringify(new URL('../store/chainTables.ts', import.meta.url).href)}
    await using kv = openChainKv(${JSON.stringify(dir)})
    await using committer = new CommitThread(${JSON.stringify(dir)}, ${JSON.stringify({ memoryMaxBytes })})
    committer.start()
    await new Promise((resolve) => setTimeout(resolve, 1_500))
  `
  writeFileSync(script, lines)
  const told = execFileSync(process.execPath, ['--expose-gc', '--trace-gc', script], { encoding: 'utf8' })
  expect(/Mark-Compact \(reduce\).* testing;/.test(told), told).toBe(collects)
})

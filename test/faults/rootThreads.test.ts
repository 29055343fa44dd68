import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterAll, expect, it } from 'vitest'
import { createExecution } from '#blockchain/execution'
import { l2RefOf } from '#chainspec/l2Ref'
import { headerOfPayload } from '#engine/payloadHeader'
import { createWasmEvm } from '#evm/wasmEvm'
import { startExecutionWorker } from '#executionThread/executionThread'
import { SenderThreads, type SenderThreadsOptions } from '#executionThread/senderThreads'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { shareBytes } from '#lib/packedBytes'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { hashHeader } from '#types/header'
import { type Hash, parseAddress } from '#types/ids'
import type { Payload } from '#types/payload'
import { attributesAt, scheduleTo, signedBy, smallChain } from '../harness/chain/blocks.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-root-threads-'))
afterAll(() => rmSync(base, { recursive: true }))
let dirs = 0

const schedule = scheduleTo('jovian')
const { genesis, config } = smallChain(schedule)
const deps = { clock: systemClock, log: silentLog, genesis: () => genesis }
const recipients = 560
/** Without cached nodes all roots of these blocks are computed in parts. */
const cacheBytes = { senders: 2 ** 20, nodes: 0, branches: 2 ** 20, code: 2 ** 20 }

/** Transfers to accounts of their own: each changes a row of the state. */
const transfers = (block: number, branch: number): readonly Uint8Array[] =>
  Array.from({ length: recipients }, (_, n) => {
    const nonce = BigInt((block - 1) * recipients + n)
    return signedBy('alice', {
      nonce,
      to: parseAddress(`0x${(10_000 + n + 1_000 * branch).toString(16).padStart(40, '0')}`),
      value: BigInt(block),
    })
  })

/** Transfers to the same accounts on each branch. The values of half of them differ. */
const sameAccounts = (block: number, branch: number): readonly Uint8Array[] =>
  Array.from({ length: recipients }, (_, n) => {
    const nonce = BigInt((block - 1) * recipients + n)
    const to = parseAddress(`0x${(10_000 * (block === 1 ? 2 : 1) + n).toString(16).padStart(40, '0')}`)
    return signedBy('alice', { nonce, to, value: BigInt(block + (n % 2) * branch) })
  })

/** Builds blocks in one thread. @param branches of each block */
async function built(branches: readonly number[], sent: typeof transfers = transfers): Promise<readonly Payload[]> {
  await using execution = createExecution({ ...deps, kv: createMemoryKv(), evm: createWasmEvm(), config })
  const payloads: Payload[] = []
  for (const [i, branch] of branches.entries()) {
    const { unsafe } = await execution.heads()
    const result = await execution.build(unsafe, attributesAt(schedule, i + 1, sent(i + 1, branch), branch))
    if (result.kind === 'invalid') throw new Error(result.reason)
    payloads.push(result.payload)
    await execution.setHeads({ ...(await execution.heads()), unsafe: l2RefOf(config, result.payload) })
  }
  return payloads
}
const main = await built([0, 0, 0, 0])
const side = await built([0, 1, 1, 1, 1])

/** Number of works that the threads have taken. */
const takenBy = (senders: SenderThreads): number => senders.roots.reduce((sum, { queue }) => sum + (new Int32Array(queue)[2] ?? 0), 0)

/** Starts the threads, and waits until they take work. */
async function begun(senders: SenderThreads): Promise<void> {
  senders.post(shareBytes(main[0]?.transactions ?? []))?.[Symbol.dispose]()
  await expect.poll(() => senders.roots.every(({ queue }) => new Int32Array(queue)[0] === 1), { timeout: 20_000 }).toBe(true)
}

/** Inserts both branches, the second one as the canonical one. */
async function insertAll(senders: SenderThreads, dir: string): Promise<void> {
  await using worker = await startExecutionWorker({ ...deps, senders }, { dir, config, minFreeBytes: 0, cacheBytes })
  await begun(senders)
  for (const payload of [...main, ...side]) {
    expect(await worker.insert(payload)).toEqual({ kind: 'valid' })
    await worker.setHeads({ ...(await worker.heads()), unsafe: l2RefOf(config, payload) })
  }
  const head = l2RefOf(config, side.at(-1) ?? expect.fail())
  const next = await worker.build(head, attributesAt(schedule, 6, transfers(6, 1), 1))
  expect(next).toMatchObject({ kind: 'built' })
  const wrong = { ...(main[3] ?? expect.fail()), stateRoot: `0x${'11'.repeat(32)}` as Hash }
  const hashed = { ...wrong, blockHash: hashHeader(headerOfPayload(schedule, wrong)) }
  expect(await worker.insert(hashed)).toMatchObject({ kind: 'invalid' })
}

it('faults/rootThreads: large blocks of two branches are valid with the roots of one thread, and a block is built on them', async () => {
  const dir = join(base, String(dirs++))
  await using senders = new SenderThreads(deps, { count: 2, dir })
  await insertAll(senders, dir)
  expect(takenBy(senders)).toBeGreaterThan(0)
})

it('faults/rootThreads: the block after a reorg is valid when threads read the branch that was left, and it wrote the same accounts', async () => {
  const dir = join(base, String(dirs++))
  const [first, left] = await built([0, 0], sameAccounts)
  const [, sibling, next] = await built([0, 1, 0], sameAccounts)
  let commits = 0
  const onCommit = (phase: 'begin' | 'end'): void => {
    if (phase === 'end') commits++
  }
  await using senders = new SenderThreads(deps, { count: 2, dir })
  await using worker = await startExecutionWorker({ ...deps, senders, onCommit }, { dir, config, minFreeBytes: 0, cacheBytes })
  await begun(senders)
  const insert = async (payload: Payload = expect.fail()): Promise<void> => {
    expect(await worker.insert(payload)).toEqual({ kind: 'valid' })
    await worker.setHeads({ ...(await worker.heads()), unsafe: l2RefOf(config, payload) })
  }
  const committed = async (): Promise<void> => {
    const before = commits
    await expect.poll(() => commits, { timeout: 20_000 }).toBeGreaterThan(before)
  }
  await insert(first)
  await insert(left)
  await committed()
  await insert(sibling)
  await committed()
  await insert(next)
  expect(takenBy(senders)).toBeGreaterThan(0)
}, 60_000)

/** Begins a thread that takes work, and continues with more code for each message. */
const taking = (onWork: string): SenderThreadsOptions => ({
  count: 2,
  start: (workerData, transferList) =>
    new Worker(
      `const { parentPort, workerData } = require('node:worker_threads')
      const { port, queue } = workerData.tables.roots
      const ints = new Int32Array(queue)
      parentPort.on('message', (work) => { if (work === 'stop') process.exit(0) })
      port.on('message', ({ claims, parts, number }) => {
        const states = new Int32Array(claims)
        Atomics.add(ints, 2, 1)
        ${onWork}
      })
      Atomics.store(ints, 0, 1)`,
      { eval: true, workerData, transferList },
    ),
})
const claimAll = 'for (let part = 1; part <= parts.length; part++) Atomics.compareExchange(states, part, 0, 1);'

it.each([
  ['ends after it has claimed a part', `${claimAll} process.exit(0)`],
  ['hangs after it has claimed a part', `${claimAll} while (true);`],
  ['throws', `${claimAll} throw new Error('broken')`],
  ['ends parts without an answer', `${claimAll} states.fill(2, 1)`],
  [
    'answers with another root',
    `${claimAll} const nodes = new SharedArrayBuffer(20); new Int32Array(nodes).fill(20, 2); port.postMessage({ number, part: 0, root: '0x' + '22'.repeat(32), nodes, storageRoots: new Map() }); states.fill(2, 1)`,
  ],
])('faults/rootThreads: blocks are valid while a thread %s', async (_what, onWork) => {
  const dir = join(base, String(dirs++))
  await using senders = new SenderThreads(deps, { ...taking(onWork), dir })
  await insertAll(senders, dir)
  expect(takenBy(senders)).toBeGreaterThan(0)
})

it('faults/rootThreads: blocks are valid while a thread cannot read the tables', async () => {
  const dir = join(base, String(dirs++))
  await using senders = new SenderThreads(deps, { count: 2, dir: join(base, 'absent') })
  await insertAll(senders, dir)
  // once each
  expect(takenBy(senders)).toBe(2)
})

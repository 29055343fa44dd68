import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { afterAll, expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { createLog } from '#lib/log'
import { createSnapshot } from '#snapshot/create/createSnapshot'
import { restoreSnapshot } from '#snapshot/restore/restoreSnapshot'
import { accountOf } from '#test/harness/chain/blocks'
import { addBlock, openProvingHalf, provingConfig, untilRecorded } from '#test/harness/process/provingHalf'
import { verifyProof } from '#trie/proof'
import type { ExecutionHalf } from './executionHalf.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-proofs-'))
afterAll(() => rmSync(base, { recursive: true }))

/** Adds blocks three by three, and waits until they are recorded: the chain forgets states after three blocks. */
async function addBlocks(half: ExecutionHalf, first: number, count: number): Promise<void> {
  for (let nonce = first; nonce < first + count; nonce++) {
    await addBlock(half)
    if ((nonce + 1) % 3 === 0) await untilRecorded(half, Math.max(0, nonce + 1 - 9), nonce + 1)
  }
}

/** Proves an account at a block, whose number is its nonce. */
function proofOf(view: ReturnType<ExecutionHalf['execution']['view']>, number: number): string {
  const hash = view.canonicalHash(number) ?? expect.fail()
  const { stateRoot } = view.header(hash) ?? expect.fail()
  const proved = view.state({ number, hash })?.prove(accountOf('alice'), []) ?? expect.fail()
  expect(proved.account?.nonce).toBe(BigInt(number))
  return verifyProof(stateRoot, keccak256(fromHex(accountOf('alice'))), proved.proof).kind
}

it('node/parts/proofsPart: proves accounts at blocks that the chain has pruned, also after a restart, and reports how far it is', async () => {
  const datadir = join(base, 'restarted')
  {
    await using half = await openProvingHalf(datadir)
    await addBlocks(half, 0, 12)
    expect(half.proofsProblems()).toEqual([])
  }
  const registry = new Registry()
  await using half = await openProvingHalf(datadir, { registry })
  await addBlocks(half, 12, 3)
  {
    using view = half.execution.view()
    expect(view.oldestProof).toBe(6)
    for (const number of [6, 7, 8, 11, 15]) expect(proofOf(view, number)).toBe('present')
    expect(view.state({ number: 5, hash: view.canonicalHash(5) ?? expect.fail() })).toBeUndefined()
  }
  half.collect()
  const text = await registry.metrics()
  expect(text).toContain('basalt_proofs_latest_block_number 15')
  expect(text).toContain('basalt_proofs_earliest_block_number 6')
  expect(text).toContain('basalt_proofs_lag_blocks 0')
  expect(text).toContain('basalt_proofs_recording_state 1')
}, 60_000)

it('node/parts/proofsPart: a half that is restored from a snapshot of recorded proofs proves old accounts at once, and records on', async () => {
  const [source, datadir, out] = ['source', 'restored', 'snapshot'].map((name) => join(base, name)) as [string, string, string]
  const all = { history: 'all', windowSec: Number.MAX_SAFE_INTEGER } as const
  {
    await using half = await openProvingHalf(source, all)
    await untilRecorded(half, 0, 0)
    for (let number = 1; number <= 12; number++) {
      await addBlock(half)
      if (number % 3 === 0) await untilRecorded(half, 0, number)
    }
  }
  const { signal } = new AbortController()
  const [config, key] = [provingConfig(), generateKeyPairSync('ed25519').privateKey]
  const options = { chainDir: join(source, 'chain'), out, config, flavour: 'proofs', key } as const
  const made = (await createSnapshot({ signal, onProgress: () => {} }, options)) ?? expect.fail()
  const deps = { clock: systemClock, fetch, signal, onProgress: () => {} }
  await restoreSnapshot(deps, { from: out, config, given: made.manifest.block.hash, datadir, command: 'again' })
  await using half = await openProvingHalf(datadir, all)
  await untilRecorded(half, 0, 12)
  const proveAll = (numbers: readonly number[]): void => {
    using view = half.execution.view()
    for (const number of numbers) expect(proofOf(view, number)).toBe('present')
  }
  proveAll([1, 2, 7, 11, 12])
  for (let block = 0; block < 3; block++) await addBlock(half)
  await untilRecorded(half, 0, 15)
  proveAll([1, 2, 7, 11, 12, 13, 15])
  expect(half.proofsProblems()).toEqual([])
}, 60_000)

it('node/parts/proofsPart: says once that a window in blocks became a time, and that recorded proofs replace --rpc.eth-proof-window', async () => {
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  await using half = await openProvingHalf(join(base, 'logged'), {
    log,
    windowBlocks: 1_296_000,
    windowSec: 2_592_000,
    proofWindow: { sec: 60 },
  })
  await addBlocks(half, 0, 3)
  const said = (text: string): unknown[] => lines.filter((line) => line.includes(text)).map((line) => JSON.parse(line))
  expect(said('the window of proofs is a time')).toEqual([expect.objectContaining({ level: 'info', blocks: 1_296_000, days: 30 })])
  expect(said('--rpc.eth-proof-window')).toEqual([expect.objectContaining({ msg: expect.stringContaining('has no effect') })])
}, 60_000)

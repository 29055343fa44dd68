import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { afterAll, expect, it } from 'vitest'
import { l2RefOf } from '#chainspec/l2Ref'
import { systemClock } from '#lib/clock'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { silentLog } from '#lib/log'
import { accountOf, attributesAt, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { followConfig } from '#test/harness/consensus/follow'
import { verifyProof } from '#trie/proof'
import { createNodeMemory } from '../memory/nodeMemory.ts'
import type { ProofsOptions } from '../nodeOptions.ts'
import { type ExecutionHalf, openExecutionHalf } from './executionHalf.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-proofs-'))
afterAll(() => rmSync(base, { recursive: true }))

const schedule = scheduleTo('isthmus')
const { genesis, config } = smallChain(schedule)
const rollup = { ...followConfig, ...config, genesis: { ...followConfig.genesis, ...config.genesis } }
const hourSec = 3_600

/** Opens an execution half that keeps states of three hours in the chain, and proofs of nine. */
function open(name: string, registry: Registry, memory: ReturnType<typeof createNodeMemory>, given: Partial<ProofsOptions> = {}) {
  const datadir = join(base, name)
  const proofs = { dir: join(datadir, 'proofs'), windowSec: 9 * hourSec, isRequired: true, ...given }
  const retention = { history: { sec: 3 * hourSec } }
  const deps = { clock: systemClock, log: silentLog, registry, memory }
  return openExecutionHalf(deps, { config: rollup, genesis: () => genesis, datadir, minFreeBytes: 0, listen: {}, retention, proofs })
}

/** Adds blocks three by three, and waits until they are recorded: the chain forgets states after three blocks. */
async function addBlocks(half: ExecutionHalf, first: number, count: number): Promise<void> {
  for (let nonce = first; nonce < first + count; nonce++) {
    await addBlock(half, nonce)
    if ((nonce + 1) % 3 === 0) await recorded(half, Math.max(0, nonce + 1 - 9), nonce + 1)
  }
}

/** Adds a block an hour after the last one, with a transfer, and finalizes it. */
async function addBlock({ execution }: ExecutionHalf, nonce: number): Promise<void> {
  const heads = await execution.heads()
  const attributes = attributesAt(schedule, heads.unsafe.number + 1, [signedBy('alice', { nonce: BigInt(nonce) })])
  const built = await execution.build(heads.unsafe, { ...attributes, timestamp: heads.unsafe.timestamp + hourSec })
  if (built.kind === 'invalid') throw new Error(built.reason)
  const unsafe = l2RefOf(config, built.payload)
  await execution.setHeads({ unsafe, safe: unsafe, finalized: unsafe })
}

/** Waits until the recorded blocks are those of the window. */
async function recorded({ execution }: ExecutionHalf, earliest: number, latest: number): Promise<void> {
  for (let looks = 0; looks < 200; looks++) {
    using view = execution.view()
    const { window } = view.proofs ?? {}
    if (window?.earliest.number === earliest && window.latest.number === latest) return
    await systemClock.delay(100)
  }
  using view = execution.view()
  expect(view.proofs).toMatchObject({ window: { earliest: { number: earliest }, latest: { number: latest } } })
}

it('node/parts/proofsPart: proves accounts at blocks that the chain has pruned, also after a restart, and reports how far it is', async () => {
  const registry = new Registry()
  using memory = createNodeMemory({ registry, clock: systemClock }, { listen: {} })
  {
    await using half = await open('restarted', registry, memory)
    await addBlocks(half, 0, 12)
    expect(half.proofsProblems()).toEqual([])
  }
  const later = new Registry()
  await using half = await open('restarted', later, memory)
  await addBlocks(half, 12, 3)
  {
    using view = half.execution.view()
    expect(view.oldestProof).toBe(6)
    const proofOf = (number: number): string => {
      const hash = view.canonicalHash(number) ?? expect.fail()
      const { stateRoot } = view.header(hash) ?? expect.fail()
      const proved = view.state({ number, hash })?.prove(accountOf('alice'), []) ?? expect.fail()
      expect(proved.account?.nonce).toBe(BigInt(number))
      return verifyProof(stateRoot, keccak256(fromHex(accountOf('alice'))), proved.proof).kind
    }
    for (const number of [6, 7, 8, 11, 15]) expect(proofOf(number)).toBe('present')
    expect(view.state({ number: 5, hash: view.canonicalHash(5) ?? expect.fail() })).toBeUndefined()
  }
  half.collect()
  const text = await later.metrics()
  expect(text).toContain('basalt_proofs_latest_block_number 15')
  expect(text).toContain('basalt_proofs_earliest_block_number 6')
  expect(text).toContain('basalt_proofs_lag_blocks 0')
  expect(text).toContain('basalt_proofs_recording_state 1')
}, 60_000)

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { afterAll, expect, it } from 'vitest'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { accountOf } from '#test/harness/chain/blocks'
import { addBlock, openProvingHalf, untilRecorded } from '#test/harness/process/provingHalf'
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
  const text = await registry.metrics()
  expect(text).toContain('basalt_proofs_latest_block_number 15')
  expect(text).toContain('basalt_proofs_earliest_block_number 6')
  expect(text).toContain('basalt_proofs_lag_blocks 0')
  expect(text).toContain('basalt_proofs_recording_state 1')
}, 60_000)

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bytesFromBigint } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { verifyProof } from '#proofVerifier/proof'
import { latestState, stateAt, writeGenesis, writeState } from '#state/chainState'
import { computeStateRoot } from '#state/stateRoot'
import { createWorldReads } from '#state/worldReads'
import type { Kv } from '#store/ports'
import { dice } from '#test/harness/dice'
import { damaged } from '#test/harness/proofs/damage'
import type { ProofJson } from '#test/harness/proofs/recorded'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { noNodes } from '#trie/ports'
import { emptyCodeHash, emptyRoot, type Hash, parseAddress } from '#types/ids'
import type { StateDiff, StateDiffParts } from '#types/stateDiff'
import { createStateDiff } from '#types/stateDiffTable'
import { proofResult } from '../../src/rpc/results/proof.ts'

const noHash = (): undefined => undefined
const addresses = Array.from({ length: 10 }, (_, i) => parseAddress(`0x${(i + 1).toString(16).padStart(40, '0')}`))
const slotNames = Array.from({ length: 12 }, (_, i) => `0x${i.toString(16).padStart(64, '0')}` as Hash)

/** Slots by number, in an account. */
type Model = ReadonlyMap<number, { readonly nonce: bigint; readonly slots: ReadonlyMap<number, bigint> }>

/** Change of an account: `wipe` removes its slots before the new ones are set, as a contract that is destroyed and created again in one block. */
type Touch = {
  readonly account: number
  readonly kind: 'change' | 'wipe' | 'remove'
  readonly nonce: bigint
  readonly slots: readonly (readonly [number, bigint])[]
}

const anyTouch: fc.Arbitrary<Touch> = fc.record({
  account: fc.nat(8),
  kind: fc.constantFrom('change', 'change', 'wipe', 'remove'),
  nonce: fc.bigInt(1n, 2n ** 64n - 1n),
  slots: fc.uniqueArray(fc.tuple(fc.nat(10), fc.oneof(fc.constant(0n), fc.bigInt(1n, 200n), fc.bigInt(0n, 2n ** 256n - 1n))), {
    selector: ([slot]) => slot,
    maxLength: 8,
  }),
})
const anyBlocks = fc.array(fc.uniqueArray(anyTouch, { selector: ({ account }) => account, maxLength: 6 }), { minLength: 1, maxLength: 5 })

const keyOf = (hex: string | undefined): Uint8Array => keccak256(fromHex(hex ?? '0x'))

/** Applies a block to a model. Returns its diff and the model after it. */
function play(model: Model, block: readonly Touch[]): { diff: StateDiff; after: Model } {
  const after = new Map(model)
  const accounts: StateDiffParts['accounts'][number][] = []
  const slots: StateDiffParts['slots'][number][] = []
  for (const { account, kind, nonce, slots: changes } of block) {
    const key = keyOf(addresses[account])
    if (kind === 'remove') {
      if (after.delete(account)) accounts.push({ key, change: null, wiped: true })
      continue
    }
    const next = new Map(kind === 'wipe' ? [] : after.get(account)?.slots)
    for (const [slot, value] of changes) {
      next.set(slot, value)
      slots.push({ addressKey: key, slotKey: keyOf(slotNames[slot]), value: bytesFromBigint(value, 32) })
    }
    after.set(account, { nonce, slots: next })
    accounts.push({ key, change: { nonce, balance: nonce * 3n, codeHash: emptyCodeHash }, wiped: kind === 'wipe' })
  }
  return { diff: createStateDiff({ accounts, slots, codes: [] }), after }
}

/** Writes blocks from the genesis on. @returns the model and state root after each */
function writeBlocks(kv: Kv, blocks: readonly (readonly Touch[])[]): { model: Model; root: Hash }[] {
  const states: { model: Model; root: Hash }[] = []
  for (const [number, block] of blocks.entries()) {
    const { model, root } = states.at(-1) ?? { model: new Map(), root: emptyRoot }
    const { diff, after } = play(model, block)
    kv.write((tx) => {
      const result = computeStateRoot(number === 0 ? noNodes : latestState(tx, noHash).nodes, root, diff)
      if (number === 0) writeGenesis(tx, diff, result)
      else writeState(tx, number, diff, result)
      states.push({ model: after, root: result.root })
    })
  }
  return states
}

/** Returns the node's answer to `eth_getProof` for an account and all slots, at each block. */
function proofsOf(kv: Kv, roots: readonly Hash[], account: number): ProofJson[] {
  using snapshot = kv.snapshot()
  return roots.map((root, number) => {
    const reads = createWorldReads(stateAt(snapshot, number, noHash), root)
    const address = addresses[account] ?? expect.fail()
    const keys = slotNames.map((slot) => ({ slot, written: slot }))
    return proofResult.encode({ address, keys, proof: reads.prove(address, slotNames) }) as ProofJson
  })
}

it("proofVerifier/proof: finds in the node's proofs each account and slot of random blocks, absent and re-created accounts too", async () => {
  const roll = dice(2)
  await fc.assert(
    fc.asyncProperty(anyBlocks, async (blocks) => {
      await using kv = createMemoryKv()
      const states = writeBlocks(kv, blocks)
      for (const account of addresses.keys()) {
        const proofs = proofsOf(
          kv,
          states.map(({ root }) => root),
          account,
        )
        for (const [number, proof] of proofs.entries()) {
          const { model, root } = states[number] ?? expect.fail()
          const wanted = { stateRoot: root, address: proof.address, slots: slotNames }
          const known = model.get(account)
          expect(verifyProof(proof, wanted)).toMatchObject({
            kind: 'valid',
            account: { exists: known !== undefined, nonce: known?.nonce ?? 0n, balance: (known?.nonce ?? 0n) * 3n },
            slots: slotNames.map((key, i) => ({ key, value: known?.slots.get(i) ?? 0n })),
          })
          const wrong = damaged(proof, roll)
          expect(verifyProof(wrong.proof, wanted).kind, `block ${number}, ${wrong.what}`).toBe('invalid')
        }
      }
    }),
    { numRuns: 4 },
  )
})

it("proofVerifier/proof: verifies the node's proofs of a contract that is created, destroyed, created again, and wiped in one block", async () => {
  await using kv = createMemoryKv()
  const other: Touch = { account: 1, kind: 'change', nonce: 9n, slots: [] }
  const touch = (kind: Touch['kind'], ...slots: [number, bigint][]): Touch => ({ account: 0, kind, nonce: 1n, slots })
  const states = writeBlocks(kv, [
    [other],
    [touch('change', [1, 11n], [2, 12n])],
    [touch('remove')],
    [touch('change', [2, 22n])],
    [touch('wipe', [3, 33n])],
    [touch('wipe')],
  ])
  const verdicts = proofsOf(
    kv,
    states.map(({ root }) => root),
    0,
  ).map((proof, i) => verifyProof(proof, { stateRoot: states[i]?.root ?? '' }))
  const seen = verdicts.map((verdict) => {
    if (verdict.kind === 'invalid') return verdict.problems
    const { exists, storageHash } = verdict.account
    return [exists, storageHash === emptyRoot, ...[1, 2, 3].map((slot) => verdict.slots[slot]?.value)]
  })
  expect(seen).toEqual([
    [false, true, 0n, 0n, 0n],
    [true, false, 11n, 12n, 0n],
    [false, true, 0n, 0n, 0n],
    [true, false, 0n, 22n, 0n],
    [true, false, 0n, 0n, 33n],
    [true, true, 0n, 0n, 0n],
  ])
})

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { l2RefOf } from '#chainspec/l2Ref'
import { bytesFromBigint, concatBytes } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { silentLog } from '#lib/log'
import type { Kv } from '#store/ports'
import { tables } from '#store/tables'
import { attributesAt, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { createManualClock } from '#test/harness/clock'
import { testAccount, testAddress } from '#test/harness/evm/sessions'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { sampleOf } from '#test/harness/sample'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { withSameDigests } from '#test/harness/store/sameDigests'
import type { L2Ref } from '#types/blockRef'
import { createExecution } from './execution.ts'

/** SSTORE(first word of the calldata, second word) */
const storage = testAddress(0x55)
const schedule = scheduleTo('isthmus')
const { genesis, config } = smallChain(schedule, [testAccount(storage, { nonce: 1n, code: '0x6020355f355500' })])

function open(kv: Kv) {
  return createExecution({ kv, evm: sharedEvm, config, genesis: () => genesis, clock: createManualClock(), log: silentLog })
}

/** Rows of every table, except code, which is never removed, and marks of the index, which may differ. */
function contents(kv: Kv) {
  using reader = kv.snapshot()
  const kept = Object.values(tables).filter(({ name }) => name !== 'code' && name !== 'historyIndex')
  const rows = kept.flatMap(({ id, name }) => [...reader.range(id, {})].map(({ key, value }) => `${name} ${toHex(key)} ${toHex(value)}`))
  const marks = ['state.indexed', 'chain.headsSequence'].map((mark) => toHex(new TextEncoder().encode(mark)))
  return rows.filter((row) => !marks.some((mark) => row.includes(mark)))
}

/** A block: the index of its parent among the made blocks, and the writes of its transactions. */
const step = fc.record({
  parent: fc.nat(),
  writes: fc.array(fc.tuple(fc.bigInt(0n, 3n), fc.bigInt(0n, 2n)), { maxLength: 3 }),
  becomesHead: fc.boolean(),
  isCommitted: fc.boolean(),
})

it('blockchain/execution: has after any reorgs the store of a node that saw the final chain only', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
      const kv = withSameDigests(createMemoryKv())
      const execution = open(kv)
      const made: { ref: L2Ref; nonce: bigint }[] = [{ ref: (await execution.heads()).unsafe, nonce: 0n }]
      for (const [index, { parent, writes, becomesHead, isCommitted }] of steps.entries()) {
        const below = made[parent % made.length] ?? { ref: (await execution.heads()).unsafe, nonce: 0n }
        const transactions = writes.map(([slot, value], i) =>
          signedBy('alice', {
            nonce: below.nonce + BigInt(i),
            to: storage,
            gasLimit: 100_000n,
            data: concatBytes(bytesFromBigint(slot, 32), bytesFromBigint(value, 32)),
          }),
        )
        const result = await execution.build(below.ref, attributesAt(schedule, below.ref.number + 1, transactions, index + 1))
        if (result.kind === 'invalid') throw new Error(result.reason)
        const ref = l2RefOf(config, result.payload)
        made.push({ ref, nonce: below.nonce + BigInt(writes.length) })
        if (becomesHead) await execution.setHeads({ ...(await execution.heads()), unsafe: ref })
        if (isCommitted) execution.commit()
      }
      execution.commit()
      const freshKv = withSameDigests(createMemoryKv())
      const fresh = open(freshKv)
      const { unsafe } = await execution.heads()
      for (let number = 1; number <= unsafe.number; number++) {
        const payload = await execution.payload(number)
        if (payload === undefined) throw new Error(`no block ${number}`)
        expect(fresh.insertPayload(payload)).toEqual({ kind: 'valid' })
        await fresh.setHeads({ ...(await fresh.heads()), unsafe: l2RefOf(config, payload) })
      }
      fresh.commit()
      expect(contents(kv)).toEqual(contents(freshKv))
    }),
    { numRuns: sampleOf(10, 25) },
  )
})

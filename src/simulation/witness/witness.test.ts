import { expect, it } from 'vitest'
import { encodeAttributes } from '#engine/payloadJson'
import { fromHex } from '#lib/hex'
import { ethRegistry } from '#rpc/methods'
import { attributesAt } from '#test/harness/chain/blocks'
import { testAddress } from '#test/harness/evm/sessions'
import { openDenimChain } from '#test/harness/rpc/denimChain'
import { readResult } from '#test/harness/rpc/result'
import { encodeDeposit } from '#types/deposit'
import { zeroHash } from '#types/ids'
import { createCallTimer } from '../call/callTimer.ts'

/** A deposit whose initcode jumps to its start until its gas is used. */
const endless = (gasLimit: bigint): Uint8Array =>
  encodeDeposit({
    ...{ type: 0x7e, sourceHash: zeroHash, from: testAddress(1), to: null, mint: 0n, value: 0n, isSystemTransaction: false },
    ...{ gasLimit, data: fromHex('0x5b600056') },
  })

/**
 * Requests the witness of the first block with deposits.
 * @returns its nodes
 */
async function witnessNodes(gasLimit: bigint, deposits: readonly Uint8Array[]): Promise<unknown> {
  const { config, eth, execution } = openDenimChain()
  let ms = 0
  const timer = () => createCallTimer({ elapsedMs: () => ms++ }, 100) // each megagas takes a millisecond
  const attributes = encodeAttributes({ ...attributesAt(config.schedule, 1, deposits), gasLimit })
  const { call } = ethRegistry.get('debug_executePayload') ?? expect.fail()
  const context = { ...eth, executor: { ...eth.executor, timer }, cancellation: { isCancelled: false } }
  const { state } = readResult(await call(context, [execution.published.heads.unsafe.hash, attributes])) as { state: unknown[] }
  return state.length
}

it('simulation/witness: refuses attributes with a gas limit that no block of the chain can have (-32602)', async () => {
  const refused = { code: -32602, message: 'gas limit 4611686018427387903, at most 500000000 expected' }
  await expect(witnessNodes(0x3fff_ffff_ffff_ffffn, [endless(2n ** 61n)])).rejects.toMatchObject(refused)
})

it('simulation/witness: ends when a transaction of the attributes takes longer than a call may (-32000)', async () => {
  const timedOut = { code: -32000, message: 'execution aborted (timeout = 100ms)' }
  await expect(witnessNodes(400_000_000n, [endless(150_000_000n)])).rejects.toMatchObject(timedOut)
})

it('simulation/witness: limits the time of each transaction, not that of all together', async () => {
  expect(await witnessNodes(400_000_000n, [endless(60_000_000n), endless(60_000_000n), endless(60_000_000n)])).toBeGreaterThan(0)
})
